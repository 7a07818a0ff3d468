"""Why this many clusters?

The evidence behind n_clusters="auto": how well halves of the data agree, or how short a
description of the data is.
"""

import matplotlib.pyplot as plt

from comarkov import CoClustering, datasets, plot_selection

data = datasets.planted((200, 160), (5, 4), random_state=0)
model = CoClustering("auto", random_state=0).fit(data.matrix)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plot_selection(model, ax=ax)
