"""How much information does each level keep?

What row clusters, column clusters and blocks keep of I(X;Y): at every level of the hierarchy,
where a line marks the fit, and at every β, where dotted lines mark a change of the optimum.
"""

import matplotlib.pyplot as plt

from comarkov import CoClustering, datasets, plot_information

women = datasets.load("southern-women")
model = CoClustering(random_state=0).fit(women)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_information(model, ax=axes[0])
plot_information(model, women, ax=axes[1])
