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
from comarkov import CoClustering
from comarkov.estimators import estimate as estimates
from comarkov.estimators.fitting import data_bytes, fit_bytes
from comarkov.joint import parts
from comarkov.joint.joint import joint


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
    data = joint(X)
    assert 1 / 1.5 < (data_bytes(data) + fit_bytes(data, (k, k), 1)) / peak < 1.5


def test_an_estimate_fits_only_a_sample(monkeypatch):
    X = random_matrix()
    sizes = []
    fit = CoClustering._fit

    def counted(self, X, *rest):
        sizes.append(X.nnz)
        return fit(self, X, *rest)

    monkeypatch.setattr(CoClustering, "_fit", counted)
    model = CoClustering(5, random_state=0)
    estimate = model.estimate(X)
    assert max(sizes) <= X.nnz / 3
    assert not hasattr(model, "row_labels_")
    assert (estimate.shape, estimate.entries) == (X.shape, X.nnz)
    assert estimate.seconds > 0
    assert estimate.memory > data_bytes(joint(X))


@pytest.mark.parametrize("make", [lambda X: X, lambda X: comarkov.read(X.toarray())])
@pytest.mark.parametrize("n_clusters", [(3, None), "auto"])
def test_all_input_can_be_estimated(make, n_clusters):
    X = random_matrix((300, 80)).tolil()
    X[7] = 0  # a row that cannot be in the sample
    estimate = CoClustering(n_clusters, weighting="bm25", random_state=0).estimate(make(X.tocsr()))
    assert estimate.entries == np.count_nonzero(X.toarray())
    assert "300 rows x 80 columns" in str(estimate)


@pytest.mark.parametrize(
    ("parameters", "X"),
    [
        ({}, np.zeros((4, 3))),
        ({"n_clusters": (None, None)}, np.ones((4, 3))),
        ({"n_clusters": (5, "auto")}, np.ones((4, 3))),
        ({"n_clusters": 2, "weighting": "bm25"}, np.eye(4)),
    ],
)
def test_what_cannot_be_fitted_is_refused_as_by_a_fit(parameters, X):
    errors = []
    for method in (CoClustering.fit, CoClustering.estimate):
        with pytest.raises(ValueError) as caught:  # noqa: PT011, both give the same
            method(CoClustering(**parameters), X)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def advice_with(monkeypatch, available, X, **parameters):
    monkeypatch.setattr(estimates, "available_memory", lambda: available)
    monkeypatch.setattr(estimates, "own_memory", lambda: 0)
    return CoClustering(4, random_state=0, **parameters).estimate(X)


def test_the_advice_for_too_little_memory(monkeypatch, tmp_path):
    X = random_matrix()
    assert advice_with(monkeypatch, 10**12, X).fits
    estimate = advice_with(monkeypatch, 1000, X)
    assert not estimate.fits
    assert "comarkov.pack(X, 'store')" in estimate.advice
    store = comarkov.pack(comarkov.read(X.toarray()), tmp_path / "store")
    assert advice_with(monkeypatch, 1000, store).memory < estimate.memory  # data stay on disk


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


def test_workers_share_the_data(monkeypatch):
    X = random_matrix()
    workers = SimpleNamespace(workers=["a", "b"])
    monkeypatch.setattr(estimates, "current", lambda: workers)
    monkeypatch.setattr(estimates, "read_weighted", lambda *given: (X, None, joint(X)))
    estimate = CoClustering((4, None), engine="dask", random_state=0).estimate(X)
    assert estimate.threads == 2
    assert estimate.worker_memory > X.nnz * 8
    assert "2 workers" in str(estimate)


def test_the_command_prints_an_estimate_and_writes_nothing(tmp_path):
    result = run("fit", "southern-women", "-k", 2, "-l", 3, "--estimate", cwd=tmp_path)
    assert "18 rows x 14 columns, 89 entries" in result.stdout
    assert "It fits into memory." in result.stdout
    assert list(tmp_path.iterdir()) == []
