"""A matrix in the order of its clusters

Handwritten digits x pixels: images of one digit end up together.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from comarkov import CoClustering, plot_heatmap

images = load_digits().data
images = images[:, images.any(axis=0)]  # some pixels are never used
model = CoClustering((10, 8), random_state=0).fit(images)
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
plot_heatmap(model, images, ax=ax)
ax.set(xlabel="pixels", ylabel="images")
