"""A dendrogram with names

Every level from single women to one group, at the bits that each merge loses.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.cluster.hierarchy import dendrogram

from comarkov import CoClustering, datasets

women = datasets.load("southern-women")
tree = CoClustering((4, 4), random_state=0).fit(women.matrix).hierarchy_
of_leaf = [np.array(women.row_names)[tree.row_leaves == i] for i in range(tree.n_leaves[0])]
names = [", ".join(members) for members in of_leaf]
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
dendrogram(tree.row_linkage, labels=names, orientation="left", ax=ax)
ax.set_xlabel("bits lost so far")
