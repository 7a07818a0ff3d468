"""A path over β

With only two column clusters, β = 1/2 can no longer tell eight row groups apart.
Made-up counts, chosen to show where coupling hurts.
"""

import matplotlib.pyplot as plt
import numpy as np

from comarkov import CoClustering, evaluate

rng = np.random.default_rng(0)
rows, columns = rng.integers(8, size=150), rng.integers(8, size=120)
counts = rng.poisson(np.where(rows[:, None] == columns, 1.5, 0.3))
path = CoClustering((8, 2), random_state=0).beta_path(counts)

betas = [step.beta for step in path]
right = [evaluate.matching_accuracy(rows, step.row_labels) for step in path]
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot(betas, right, "o-", color="#2166ac", label="rows in the right group")
ax.plot(betas, [step.cost / path[0].cost for step in path], "s--", color="#b35806", label="cost")
ax.set(xlabel="β", ylim=(0, 1.05), ylabel="share, and cost relative to β = 1")
ax.legend(loc="lower right")
