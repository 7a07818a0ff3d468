"""A million visits of readers to articles, in a Parquet file, with groups to be found.

python examples/visits.py
comarkov choose visits.parquet -o visits
"""

import numpy as np
import polars as pl

READERS, ARTICLES, VISITS = 20_000, 3_000, 1_000_000
GROUPS = 7, 6


def visits(seed=0):
    """Who read what: groups of readers prefer groups of articles; few are read by many."""
    rng = np.random.default_rng(seed)
    groups = [rng.integers(k, size=n) for k, n in zip(GROUPS, (READERS, ARTICLES), strict=True)]
    zeal = [rng.pareto(2.5, READERS) + 0.3, rng.pareto(1.8, ARTICLES) + 0.2]
    taste = rng.gamma(0.35, size=GROUPS) + 0.05
    mass = [np.bincount(group, weights=weight) for group, weight in zip(groups, zeal, strict=True)]
    share = taste * np.outer(*mass)
    counts = rng.multinomial(VISITS, (share / share.sum()).ravel()).reshape(GROUPS)
    pairs = []
    for block, count in np.ndenumerate(counts):
        members = [np.flatnonzero(group == a) for group, a in zip(groups, block, strict=True)]
        chances = [
            weight[who] / weight[who].sum() for weight, who in zip(zeal, members, strict=True)
        ]
        pairs.append([rng.choice(who, count, p=p) for who, p in zip(members, chances, strict=True)])
    return rng.permutation(np.hstack(pairs), axis=1)


if __name__ == "__main__":
    readers, articles = visits()
    frame = pl.DataFrame(
        {
            "reader": [f"reader {i}" for i in readers],
            "article": [f"article {i}" for i in articles],
        }
    )
    frame.write_parquet("visits.parquet")
    print("The file is visits.parquet")
