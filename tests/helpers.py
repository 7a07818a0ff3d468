"""What several tests need: input formats, random matrices, slow oracles."""

from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib import import_module as package
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from numba import njit
from scipy.special import xlogy
from sklearn.base import BaseEstimator

from comarkov import CoClustering, cost, read
from comarkov.joint.joint import joint
from comarkov.joint.messages import InputError
from comarkov.results.findings import findings_of
from comarkov.search.progress import Monitor
from comarkov.search.run import Run, Seed
from comarkov.search.select.number_ladder import Agreement
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import free_start


def refusal(function, *arguments, **keywords):
    """The error with which bad input is refused; it has its place and advice."""
    with pytest.raises(InputError) as caught:
        function(*arguments, **keywords)
    return caught.value


def from_file(name, write):
    """A format: what ``read`` makes of a matrix in a file."""

    def make(X):
        with TemporaryDirectory() as folder:
            write(Path(folder) / name, X)
            return read(Path(folder) / name, kind="table" if name.endswith("xlsx") else None)

    return make


FORMATS = {
    **{
        f"{name}_{flavour}": getattr(sp, f"{name}_{flavour}")
        for name in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
        for flavour in ("array", "matrix")
    },
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "big-endian": lambda X: X.astype(">f8"),
    "longdouble": lambda X: X.astype(np.longdouble),
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X.astype(float),
    "int8": lambda X: X.astype(np.int8),
    "object": lambda X: X.astype(object),
    "pandas": lambda X: package("pandas").DataFrame(X),
    "sparse pandas": lambda X: (
        package("pandas").DataFrame(X).astype(package("pandas").SparseDtype(X.dtype, 0))
    ),
    "polars": lambda X: package("polars").DataFrame(X),
    "npy": from_file("m.npy", np.save),
    "xlsx": from_file(
        "m.xlsx", lambda path, X: package("spreadsheets").write_xlsx(path, {"m": X.tolist()})
    ),
}


def numbers(model, side="rows"):
    """The number of the cluster of each element, as reports and files have it."""
    own = getattr(findings_of(model), side)
    return own.numbers_of(own.labels).tolist()


def run_at(beta, seed=0, **kinds):
    """A run that sweeps until nothing moves; a time limit or a monitor may be given."""
    monitor = kinds.pop("monitor", None) or Monitor(kinds.pop("max_time", None))
    return Run(beta, Seed((seed,)), monitor, rng=np.random.default_rng(seed), **kinds)


def problem_of(W, k, l):
    """The problem of clustering a matrix from random starts; counts are int32, as in large data."""
    data = joint(W, small=0)
    return CoClusterProblem(data, (free_start(k, data.row_mass), free_start(l, data.column_mass)))


def relation_cost(W, source_labels, target_labels, coefficients):
    """The loss of a relation in bits from sums of f(v) = v ln v: an oracle of its own."""
    W = sp.coo_array(W.csr if hasattr(W, "csr") else W).astype(float)
    w, (x, y) = W.data / W.data.sum(), W.coords
    rows, columns = np.asarray(source_labels), np.asarray(target_labels)

    def f(*keys):
        sums = pd.Series(w).groupby([pd.Series(key) for key in keys]).sum().to_numpy()
        return float(xlogy(sums, sums).sum())

    source, target, both = coefficients
    loss = -target * f(x, columns[y]) - source * f(rows[x], y) - both * f(rows[x], columns[y])
    loss += (source + both) * f(rows[x]) + (target + both) * f(columns[y])
    loss += sum(coefficients) * f(x, y) - (source + both) * f(x) - (target + both) * f(y)
    return float(loss / np.log(2))


def costs_by_definition(W, rows, columns, beta, x):
    """What L_β of a matrix is with row x in each cluster, in nats per unit of its mass."""
    moved = [np.where(np.arange(rows.size) == x, a, rows) for a in range(rows.max() + 1)]
    nats = np.array([cost(W, labels, columns, beta) for labels in moved]) * np.log(2)
    return nats * W.sum() / W[x].sum()


def same(one, other):
    """Equal to the last bit, in type too."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and one.dtype == object:
        return one.shape == other.shape and same(one.tolist(), other.tolist())
    if isinstance(one, np.ndarray | np.generic):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, BaseEstimator):
        return same(vars(one), vars(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return one == other or (one != one and other != other)


@st.composite
def weights(draw, max_rows=9, max_columns=8):
    """A small matrix with some mass: counts, floats, or weights of very different sizes."""
    n = draw(st.integers(1, max_rows))
    m = draw(st.integers(1, max_columns))
    kind = draw(
        st.sampled_from(["ones", "counts", "large counts", "floats", "huge", "tiny", "wide"])
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.3, 0.7, 1.0]))
    values = {
        "ones": lambda: np.ones((n, m)),
        "counts": lambda: rng.integers(1, 6, (n, m)).astype(float),
        "large counts": lambda: rng.integers(1, 10**6, (n, m)).astype(float),
        "floats": lambda: rng.gamma(0.5, size=(n, m)) + 1e-6,
        "huge": lambda: rng.gamma(2.0, size=(n, m)) * 1e250,
        "tiny": lambda: rng.gamma(2.0, size=(n, m)) * 1e-250,
        "wide": lambda: 10.0 ** rng.uniform(-60, 60, (n, m)),
    }[kind]()
    W = values * (rng.random((n, m)) < density)
    if not W.any():
        W[rng.integers(n), rng.integers(m)] = values.flat[0]
    return W


def counts_for(draw, W):
    """Numbers of clusters that the matrix has enough elements for, the extremes among them."""
    return tuple(draw(st.integers(1, int((W.sum(axis=axis) > 0).sum()))) for axis in (1, 0))


@st.composite
def problems(draw):
    """A matrix, numbers of clusters, β, and a seed."""
    W = draw(weights())
    k, l = counts_for(draw, W)
    beta = draw(st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.75, 1.0]))
    return W, k, l, beta, draw(st.integers(0, 1000))


@st.composite
def models(draw):
    """A matrix and a model to fit, by two methods, of both sides or of one."""
    W, k, l, beta, seed = draw(problems())
    counts = draw(st.sampled_from([(k, l), (k, l), (k, None), (None, l)]))
    method = draw(st.sampled_from(["auto", "auto", "anneal"]))
    return W, CoClustering(counts, beta=beta, method=method, n_init=1, random_state=seed)


def started(W, k, l, seed):
    """A co-clustering from a random start."""
    problem = problem_of(W, k, l)
    return problem.begin(problem.starts, np.random.default_rng(seed))


def callable_from_python(step):
    """A step of kernels, which else only they can call."""
    return njit(lambda *arguments: step(*arguments))


def agreement(ceiling=None, **means):
    """The same agreement in four halvings, for numbers of clusters such as k2."""
    values = {int(name[1:]): np.full(4, mean) for name, mean in means.items()}
    return Agreement(values, ceiling or max(values, default=1))


def enter(w, v):
    """f(v + w) - f(v) for f(v) = v ln v, without cancellation, as precisely as w and v are."""
    w, v = np.broadcast_arrays(w, v)
    positive = np.where(v > 0, v, 1)
    joined = w * np.log(positive) + (v + w) * np.log1p(w / positive)
    return np.where(v > 0, joined, w * np.log(np.where(w > 0, w, 1)))


def assert_same_joints(mine, expected):
    """Equal arrays of equal types, and those of the transpose."""
    for own, other in ((mine, expected), (mine.T, expected.T)):
        for array, wanted in zip(own.matrix, other.matrix, strict=True):
            np.testing.assert_array_equal(array, wanted)
            assert getattr(array, "dtype", None) == getattr(wanted, "dtype", None)
        assert (own.shape, own.scale, own.is_count) == (other.shape, other.scale, other.is_count)


def contrast(first, second):
    """The contrast of two colours (red, green, blue in [0, 1]) by WCAG; 4.5 is enough."""
    dark, light = sorted(_luminance(np.asarray(colour[:3])) for colour in (first, second))
    return (light + 0.05) / (dark + 0.05)


def _luminance(channels):
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def lumpable(seed, n=32, k=4, concentration=1.0, Q=None):
    """A chain that is strongly lumpable by construction, and its clusters."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % k)
    if Q is None:
        Q = 0.95 * rng.dirichlet(np.full(k, 0.5), size=k) + 0.05 / k
    P = np.empty((n, n))
    for b in range(k):
        members = labels == b
        within = rng.dirichlet(np.full(members.sum(), concentration), size=n)
        P[:, members] = Q[labels, b][:, None] * within
    return P, labels, Q


def is_nested(fine, coarse):
    """Is every cluster of one labelling inside one cluster of the other?"""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def framed(X):
    """A matrix as a data frame with names of rows and columns."""
    return pd.DataFrame(X).rename(index="r{}".format, columns="c{}".format)


def blocks_with_gaps(n, m):
    """Counts with 4 x 3 blocks, a row and a column without mass."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=n), rng.integers(3, size=m)
    X = rng.poisson(rng.gamma(0.5, 2.0, size=(4, 3))[rows][:, columns])
    X[7] = 0
    X[:, 11] = 0
    return X


@contextmanager
def refused(*words):
    """Input is refused, and the error mentions these names, numbers or calls, however it is put."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the words are compared
        yield caught
    for word in words:
        assert word in str(caught.value)
