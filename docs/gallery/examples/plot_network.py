"""A network of many links

6,000 readers x 1,500 articles: hidden groups come out of what looks like noise.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from comarkov import CoClustering, plot_heatmap

rng = np.random.default_rng(0)
readers, articles = rng.integers(7, size=6000), rng.integers(6, size=1500)
taste = rng.gamma(0.4, size=(7, 6)).clip(0.05, 1)
pairs = np.stack([rng.integers(6000, size=1_000_000), rng.integers(1500, size=1_000_000)])
is_read = rng.random(1_000_000) < taste[readers[pairs[0]], articles[pairs[1]]]
links = pairs[:, is_read]
network = sp.csr_array((np.ones(links.shape[1]), links), shape=(6000, 1500))

model = CoClustering((7, 6), random_state=0).fit(network)
fig, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
axes[0].spy(network, markersize=0.08, aspect="auto")
axes[0].set(title="as it came", xticks=[], yticks=[])
plot_heatmap(model, network, ax=axes[1])
axes[1].set(title="by cluster", xlabel="articles", ylabel="readers")
