"""How certain is each label?

Images of digits by confidence: which clusters hold the doubtful ones?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from comarkov import CoClustering, plot_confidence

images = load_digits().data
model = CoClustering((10, 8), random_state=0).fit(images[:, images.any(axis=0)])
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_confidence(model, ax=ax)
ax.set_ylabel("images")
