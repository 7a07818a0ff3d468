"""How certain is each label?

Images of digits by confidence: wrong labels are rarely confident. A label is right if the image
shows the digit of most images in its cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from comarkov import CoClustering

digits = load_digits()
images = digits.data[:, digits.data.any(axis=0)]
model = CoClustering((16, 8), random_state=0).fit(images)
votes = np.zeros((16, 10))
np.add.at(votes, (model.row_labels_, digits.target), 1)
is_right = votes.argmax(axis=1)[model.row_labels_] == digits.target
shown = [model.row_confidence_[is_right], model.row_confidence_[~is_right]]
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.hist(shown, bins=12, stacked=True, color=["#2166ac", "#e08214"], label=["right", "wrong"])
ax.set(xlabel="confidence", ylabel="images")
ax.legend(title="label")
