"""How much does each level keep, and each β?

The information that clusters of each side, and blocks, keep of I(X;Y): at every level of the
hierarchy, with the fit marked, and at every β, with the break points of the least cost.
"""

import matplotlib.pyplot as plt

from comarkov import CoClustering, datasets, plot_information

women = datasets.load("southern-women")
model = CoClustering(random_state=0).fit(women)
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_information(model, ax=axes[0])
plot_information(model, women, ax=axes[1])
