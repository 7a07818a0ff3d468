"""How much does each level keep?

The information kept by every level of the hierarchy; the fit is marked.
"""

import matplotlib.pyplot as plt

from comarkov import CoClustering, datasets, plot_information

women = datasets.load("southern-women")
model = CoClustering(random_state=0).fit(women)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
plot_information(model, ax=ax)
