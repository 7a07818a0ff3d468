"""Methods side by side

Seven methods from the same starts: which keeps most information?
On these planted blocks the methods differ; on easy data most of them agree.
"""

import matplotlib.pyplot as plt

from comarkov import compare, datasets

data = datasets.planted((150, 100), (8, 6), mean=0.3, random_state=1)
methods = ["auto", "sequential", "anneal", "batch", "itcc", "idc", "ibcc"]
table = compare(data.matrix, (8, 6), methods, n_init=5)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for beta, color in ((0.5, "#f4a582"), (0.75, "#4393c3")):
    costs = table[f"cost_{beta}"]
    ax.plot(costs - costs.min(), table["method"], "o", ms=11, color=color, label=f"at β = {beta}")
ax.set_xlabel("bits above the best")
ax.invert_yaxis()
ax.grid(axis="x", color="0.9")
ax.legend()
