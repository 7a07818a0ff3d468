"""Estimates: memory as measured, time by formula, and advice that can be followed."""

import re
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from commands import run

import comarkov
from comarkov import CoClustering, Weighting
from comarkov.estimators import estimate as estimates
from comarkov.estimators.estimate import Size, Source, data_bytes, search_bytes
from comarkov.joint import parts


def random_matrix(shape=(3000, 400), is_count=True):
    """Four sharp blocks, which a fit finds at once."""
    rng = np.random.default_rng(0)
    same = np.arange(shape[0])[:, None] % 4 == np.arange(shape[1]) % 4
    X = sp.csr_array(rng.poisson(np.where(same, 0.6, 0.05)).astype(np.int32))
    return X if is_count else X * rng.random()


@pytest.mark.parametrize(
    ("shape", "k", "is_count", "is_divided"),
    [
        ((3000, 400), 4, True, True),
        ((3000, 400), 8, False, True),
        ((3000, 400), 8, False, False),
        ((20_000, 40), 4, True, False),
    ],
)
def test_the_memory_of_a_fit_is_that_of_the_formula(shape, k, is_count, is_divided, monkeypatch):
    monkeypatch.setattr(parts, "ENTRIES", 1 << 16 if is_divided else 1 << 30)
    monkeypatch.setattr(parts, "PER_COLUMN", 2)
    X = random_matrix(shape, is_count)
    model = CoClustering(k, n_init=1, random_state=0)
    model.fit(X[:1500])  # which may compile
    tracemalloc.start()
    model.fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    mass = 4 if is_count else 8
    size = Size(*shape, X.nnz, mass, mass, shared=0 if is_count else 4)
    predicted = data_bytes(size, True) + search_bytes(size, (k, k), 1)
    assert 1 / 1.5 < predicted / peak < 1.5


def test_an_estimate_fits_only_a_sample(monkeypatch):
    X = random_matrix()
    sizes = []
    fit = CoClustering._fit
    monkeypatch.setattr(CoClustering, "_fit", lambda self, X: sizes.append(X.nnz) or fit(self, X))
    model = CoClustering(5, random_state=0)
    estimate = model.estimate(X)
    assert max(sizes) <= X.nnz / 3
    assert not hasattr(model, "row_labels_")
    assert (estimate.shape, estimate.entries) == (X.shape, X.nnz)
    assert estimate.seconds > 0
    assert estimate.memory > data_bytes(Size(*X.shape, X.nnz, 4, 4), True)


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X,
        lambda X: X.astype(np.float32) / 3,
        lambda X: X.toarray(),
        lambda X: comarkov.read(X.toarray()),
    ],
)
@pytest.mark.parametrize("n_clusters", [4, (3, None), "auto"])
def test_all_input_can_be_estimated(make, n_clusters):
    X = make(random_matrix((300, 80)))
    estimate = CoClustering(n_clusters, random_state=0).estimate(X)
    assert estimate.entries == np.count_nonzero(random_matrix((300, 80)).toarray())
    assert "300 rows x 80 columns" in str(estimate)


def test_only_rows_and_columns_with_entries_are_sampled():
    X = sp.csr_array((20_000, 3000), dtype=np.int8).tolil()
    X[:40] = 1 + np.random.default_rng(0).poisson(1, (40, 3000)).astype(np.int8)
    assert CoClustering((3, 3), random_state=0).estimate(X.tocsr()).seconds > 0
    assert CoClustering((3, 3), random_state=0).estimate(X.tocsr().T).seconds > 0


def test_a_sample_is_weighted_as_all_data_are():
    """A column of a small sample has hardly ever entries in the two rows that bm25 needs."""
    n = 3000
    pairs = sp.csr_array((np.ones(2 * n), (np.arange(2 * n) % n, np.arange(2 * n) // 2)), (n, n))
    X = sp.hstack([pairs, sp.eye_array(n)]).tocsr()  # columns that only one row has get weight 0
    source = Source.of(X, CoClustering(3, weighting="bm25")._parameters())
    weights = Weighting("bm25").fit_transform(X)
    sample = source.sample(100)
    assert sample.row_mass.min() > 0
    assert set(sample.unscaled.data.round(9)) <= set(weights.data.round(9))
    assert CoClustering(3, weighting="bm25", random_state=0).estimate(X).seconds > 0


EMPTY_ROWS = np.pad(np.random.default_rng(0).poisson(5, (40, 20)), ((0, 10), (0, 0)))
REFUSED = [
    ({}, np.zeros((4, 3)), "has no mass"),
    ({"n_clusters": (None, None)}, EMPTY_ROWS, "nothing to cluster"),
    ({"n_clusters": (1000, 3)}, EMPTY_ROWS, "1000 .* 40 rows"),
    ({"n_clusters": (45, "auto")}, EMPTY_ROWS, "45 .* 40 rows"),
    ({"n_clusters": 2, "weighting": "bm25"}, np.eye(4), "min_df=2"),
]


@pytest.mark.parametrize(("parameters", "X", "words"), REFUSED)
def test_what_cannot_be_fitted_is_refused_as_by_a_fit(parameters, X, words):
    model = CoClustering(**parameters)
    with pytest.raises(ValueError, match=words) as of_fit:
        model.fit(X)
    with pytest.raises(ValueError, match=re.escape(str(of_fit.value))):
        model.estimate(X)


def test_a_store_needs_no_memory_for_data(tmp_path):
    X = random_matrix()
    store = comarkov.pack(comarkov.read(X.toarray()), tmp_path / "store")
    size = Source.of(store, CoClustering(4)._parameters()).size()
    assert size == Size(*X.shape, X.nnz, 4, 4, is_on_disk=True)
    assert CoClustering(4, random_state=0).estimate(store).entries == X.nnz


def advice_with(monkeypatch, available, X, **parameters):
    monkeypatch.setattr(estimates, "available_memory", lambda: available)
    monkeypatch.setattr(estimates, "own_memory", lambda: 0)
    return CoClustering(4, random_state=0, **parameters).estimate(X)


def test_the_advice_for_too_little_memory(monkeypatch, tmp_path):
    X = random_matrix()
    estimate = advice_with(monkeypatch, 10**12, X)
    assert (estimate.fits, estimate.advice) == (True, ("It fits into memory.",))
    estimate = advice_with(monkeypatch, 1000, X)
    assert not estimate.fits
    assert "comarkov.pack(X, 'store')" in estimate.advice[0]
    store = comarkov.pack(comarkov.read(X.toarray()), tmp_path / "store")
    assert "n_jobs=1" in advice_with(monkeypatch, 1000, store, n_jobs=2).advice[0]
    assert "engine='dask'" in advice_with(monkeypatch, 1000, store).advice[0]


UNDER_A_LIMIT = """
import resource, sys
import numpy as np, scipy.sparse as sp
from comarkov import CoClustering

model = CoClustering((100, 100), n_init=1, random_state=0)
rng = np.random.default_rng(0)
model.fit(sp.csr_array(rng.poisson(1, (200, 150))))  # all that is loaded and compiled
n = 400_000
rows, columns = np.arange(n).repeat(2), rng.integers(n, size=2 * n)
X = sp.csr_array((np.ones(2 * n), (rows, columns)), (n, n))
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
own = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (own + 300_000_000, hard))
try:
    model.fit(X)
except MemoryError as error:
    print(error)
"""


def test_a_fit_that_does_not_fit_ends_before_it_begins():
    """The limit is one that the system keeps: 300 MB, of which tables of 100 clusters need more."""
    script = [sys.executable, "-c", UNDER_A_LIMIT]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert re.search(r"[\d.]+ GB .* \d+ MB .* comarkov.pack\(X, 'store'\)$", done.stdout.strip())


def test_the_advice_for_too_little_time(monkeypatch):
    monkeypatch.setattr(estimates, "_time_on_sample", lambda *given: (1000.0, 30))
    monkeypatch.setattr(parts, "ENTRIES", 1000)
    monkeypatch.setattr(parts, "PER_COLUMN", 1)
    monkeypatch.setattr(estimates, "n_threads", lambda n_jobs: 4 if n_jobs == -1 else 1)
    (advice,) = advice_with(monkeypatch, 10**12, random_matrix()).advice
    assert "n_jobs=4" in advice


def test_workers_share_the_data(monkeypatch):
    monkeypatch.setattr(estimates, "current", lambda: SimpleNamespace(workers=["a", "b"]))
    X = random_matrix()
    estimate = CoClustering((4, None), engine="dask", random_state=0).estimate(X)
    assert estimate.threads == 2
    assert estimate.worker_memory > X.nnz * 8
    assert "2 workers" in str(estimate)


def test_the_command_prints_an_estimate_and_writes_nothing(tmp_path):
    result = run("fit", "southern-women", "-k", 2, "-l", 3, "--estimate", cwd=tmp_path)
    assert "18 rows x 14 columns, 89 entries" in result.stdout
    assert "It fits into memory." in result.stdout
    assert list(tmp_path.iterdir()) == []
