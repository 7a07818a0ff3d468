"""compare: the same starts for all, and a table that says what the labels say."""

import numpy as np
import pandas as pd
import pytest
from helpers import refused
from numpy.testing import assert_allclose, assert_array_equal

import comarkov
from comarkov import AIB, CoClustering
from comarkov.estimators import comparison
from comarkov.estimators.comparison import BASELINES
from comarkov.estimators.prediction import CoClusterEstimator
from comarkov.search.optimise import agglomeration as agglomerate

W = np.random.default_rng(0).poisson(
    np.kron(np.array([[2.0, 0.3], [0.4, 1.5], [0.3, 0.3]]), np.ones((10, 12)))
)
ROWS, COLUMNS = np.arange(30) // 10, np.arange(24) // 12


@pytest.fixture
def fits(monkeypatch):
    """What each method was fitted with, in order: its class, shape of the matrix, init."""
    seen = []
    fit = CoClusterEstimator.fit

    def spy(self, X, y=None):
        seen.append((type(self).__name__, X.shape, getattr(self, "init", None)))
        return fit(self, X, y)

    monkeypatch.setattr(CoClusterEstimator, "fit", spy)
    return [lambda: [one for one in seen if one[1][0] != one[1][1]]][0]  # but for loading kernels


def test_all_begin_with_the_same_labels(fits):
    started = ["anneal", "sequential", "batch", "itcc", "ibcc-iterative"]
    comarkov.compare(W, (3, 2), [*started, "sib", "auto"], n_init=2, random_state=5)
    first, second = comparison.same_starts(W, (3, 2), 2, 5)
    assert not np.array_equal(first[0], second[0])
    begun = [fit for fit in fits() if fit[0] != "SIB"]
    assert len(begun) == 2 * len(started) + 1
    for fit, start in zip(begun, [first, second] * len(started), strict=False):
        assert_array_equal(fit[2][0], start[0])
        assert_array_equal(fit[2][1], start[1])
    assert begun[-1][2] is None
    one_sided = [fit[2][0] for fit in fits() if fit[0] == "SIB"]
    for labels, expected in zip(one_sided, [*first, *second], strict=True):
        assert_array_equal(labels, expected)


def test_the_table_says_what_the_labels_say():
    methods, classes = ["sequential", "aib"], (ROWS, COLUMNS)
    table = comarkov.compare(W, (3, 2), methods, beta=0.6, n_init=3, classes=classes)
    frame = pd.DataFrame(table).set_index("method")
    assert frame.columns.tolist() == [
        "beta",
        "cost_0",
        "cost_0.5",
        "cost_0.75",
        "cost_1",
        "kept",
        "seconds",
        *(f"{side}_{measure}" for side in ("row", "column") for measure in ("map", "nmi", "ari")),
    ]
    fits = [
        CoClustering((3, 2), beta=0.6, method="sequential", init=start).fit(W)
        for start in comparison.same_starts(W, (3, 2), 3, 0)
    ]
    best = min(fits, key=lambda model: model.cost_)
    aib = AIB(3).fit(W).row_labels_, AIB(2).fit(W.T).row_labels_
    for name, labels in (("sequential", (best.row_labels_, best.column_labels_)), ("aib", aib)):
        line = frame.loc[name]
        for beta in (0, 0.5, 0.75, 1):
            assert_allclose(line[f"cost_{beta:g}"], comarkov.cost(W, *labels, beta))
        assert_allclose(line["kept"], comarkov.information(W, *labels).kept)
        assert line["row_map"] == comarkov.evaluate.matching_accuracy(ROWS, labels[0])
        assert_allclose(
            line["column_ari"], comarkov.evaluate.adjusted_rand_index(COLUMNS, labels[1])
        )
        assert 0 < line["seconds"] < 60
    assert frame["beta"].tolist() == [0.6, 1.0]


def test_all_methods_by_default():
    weights = W * (np.arange(30) != 4)[:, None]
    table = comarkov.compare(weights, (3, 2), weighting="log")
    assert table["method"].tolist() == list(comparison.METHODS)
    assert table.dtype.names[-1] == "seconds"
    least = dict(zip(table["method"], table["cost_0.5"], strict=True))
    assert least["idc"] <= least["ib-double"] + 1e-9
    again = comarkov.compare(weights, (3, 2), weighting="log")
    for name in ("cost_0", "cost_1", "kept"):
        assert_array_equal(table[name], again[name])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"methods": ["sib", "magic"]}, "'magic'"),
        ({"methods": []}, ""),
        ({"n_clusters": (2, None)}, "(2, None)"),
        ({"n_clusters": 2.5}, "2.5"),
        ({"n_clusters": (2, 0)}, "got 0"),
        ({"beta": "auto"}, "'beta' parameter"),
        ({"n_init": 0}, "'n_init' parameter"),
        ({"classes": (list("abc") * 9, None)}, "30 rows"),
        ({"classes": (None, ROWS)}, "24 columns"),
        ({"classes": ([np.nan] + [1.0] * 29, None)}, "row classes"),
        ({"classes": ([pd.NA, *"a" * 29], None)}, "row classes"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_runs(fits, arguments, words):
    with refused(words):
        comarkov.compare(W, **{"n_clusters": 2, "methods": ["sib", "aib"]} | arguments)
    assert not fits()


def test_what_has_no_mass_is_told_once():
    weights = W.copy()
    weights[4] = weights[:, [2, 3]] = 0
    with pytest.warns(UserWarning, match="2 of 24") as output:
        comarkov.compare(weights, (3, 2), ["sequential", "sib", "aib"], n_init=2)
    assert [one.filename for one in output] == [__file__]


def test_methods_that_do_not_fit_into_memory_are_left_out(monkeypatch):
    monkeypatch.setattr(agglomerate, "total_memory", lambda: 8000.0)
    with pytest.warns(UserWarning, match="is left out") as output:
        table = comarkov.compare(W, (3, 2))
    left_out = {"aib", "ib-double", "idc", "ibcc"}
    assert {str(one.message).split("'")[1] for one in output} == left_out
    assert table["method"].tolist() == [name for name in comparison.METHODS if name not in left_out]
    with pytest.raises(MemoryError):
        comarkov.compare(W, (3, 2), ["sib", "aib"])


def test_methods_with_other_objectives_run_beside_ours():
    X = 20 * np.kron(np.eye(3), np.ones((8, 6))) + 0.01
    X = np.vstack([X, np.zeros(18)])  # an empty row
    truth = np.append(np.repeat(range(3), 8), 3)
    with pytest.warns(UserWarning, match="1 of 25 rows"):
        table = comparison.compare(X, 3, ["auto", *BASELINES], classes=(truth, None))
    assert table["method"].tolist()[1:] == list(BASELINES)
    assert np.isnan(table["beta"]).tolist() == [False] + [True] * len(BASELINES)
    others = table[table["method"] != "lda"]  # which ends in a local optimum
    assert_allclose(others["row_ari"], 1)
    assert_allclose(others["cost_0.5"], table["cost_0.5"][0], atol=1e-9)
