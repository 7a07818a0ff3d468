"""Digits on a map

Images with similar profiles lie close together; colours are clusters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from comarkov import CoClustering, plot_map

images = load_digits().data
model = CoClustering((10, 8), random_state=0).fit(images[:, images.any(axis=0)])
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
plot_map(model, ax=ax)
