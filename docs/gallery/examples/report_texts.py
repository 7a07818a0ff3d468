"""What NumPy's functions are about

Docstrings and their words; each text has a snippet with its distinctive words marked.
"""

import numpy as np

import comarkov

names = [name for name in np.__all__ if len(getattr(np, name).__doc__ or "") > 600]
texts = [getattr(np, name).__doc__ for name in names]
data = comarkov.read(texts, row_names=names, n_words=1000)
data = data.changed(source="What NumPy can do")
model = comarkov.CoClustering((8, 10), random_state=0).fit(data)
results = comarkov.Results.of(model, data)
