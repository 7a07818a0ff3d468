"""Metastable sets of a chain, beside PCCA+

A walk between four wells, seen every 100 steps: both methods find the wells.
The energies are made up. PCCA+ (from deeptime) needs a reversible chain, and this one is.
"""

import matplotlib.pyplot as plt
import numpy as np
from deeptime.markov import pcca

from comarkov import MarkovAggregation

place = np.linspace(0, 4, 120, endpoint=False) + 1 / 60
energy = 2.5 * (1 + np.cos(2 * np.pi * place)) - 0.6 * np.floor(place)
uphill = np.maximum(energy - energy[:, None], 0)
P = (np.eye(120, k=1) + np.eye(120, k=-1)) * np.exp(-uphill) / 2  # Metropolis steps
P = np.linalg.matrix_power(P + np.diag(1 - P.sum(axis=1)), 100)
labels = MarkovAggregation(4, beta=0.1, random_state=0).fit(P).labels_, pcca(P, 4).assignments

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.plot(place, energy, color="0.6")
for height, name, groups in zip((-3, -4), ("comarkov", "PCCA+"), labels, strict=True):
    ax.scatter(place, np.full(120, height), c=groups, cmap="tab10", marker="s")
    ax.text(4.05, height, name, va="center")
ax.set(xlabel="position", ylabel="energy", xlim=(0, 4.9))
