"""Why this many clusters?

The evidence behind n_clusters="auto": the shortest description of planted blocks.
"""

import matplotlib.pyplot as plt

from comarkov import CoClustering, datasets

data = datasets.planted((200, 160), (5, 4), random_state=0)
table = CoClustering("auto", random_state=0).fit(data.matrix).selection_
total = table["row_clusters"] + table["column_clusters"]
chosen = table["suggested"]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(total, table["description_length"], "o", ms=4, color="0.6")
ax.plot(total[chosen], table["description_length"][chosen], "o", ms=12, color="#e08214")
ax.set(xlabel="clusters on both sides", ylabel="description length in nats", xlim=(0, 40))
