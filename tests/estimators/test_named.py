"""The named methods beyond the contract: what each name stands for."""

import numpy as np
import pytest
from helpers import blocks_with_gaps, refused
from numpy.testing import assert_allclose, assert_array_equal

from comarkov import AIB, IBCC, IDC, ITCC, SIB, CoClustering, IBDouble, datasets


@pytest.fixture(scope="module")
def planted():
    return blocks_with_gaps(60, 40)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SIB(0), "n_clusters"),
        (SIB((2, 2)), "n_clusters"),
        (ITCC(2, doublings=-1), "doublings"),
        (IBCC(2, method="magic"), "method"),
        (IDC(2, max_rounds=0), "max_rounds"),
    ],
)
def test_bad_parameters_get_a_clear_error(model, message):
    with refused(message):
        model.fit(np.ones((4, 4)))


TINY = datasets.load("southern-women").matrix[:11, :8]  # whose global optimum is known


@pytest.mark.parametrize(
    ("named", "plain"),
    [
        (SIB(3), CoClustering((3, None), beta=1.0, method="sequential")),
        (ITCC(3, doublings=0), CoClustering(3, beta=0.5, method="batch")),
        (IBCC(3, method="iterative"), CoClustering(3, beta=0.75, method="batch")),
    ],
)
def test_tiny_data_get_the_result_of_the_method_and_not_the_optimum(named, plain):
    costs = [named.set_params(random_state=seed).fit(TINY).cost_ for seed in range(6)]
    expected = [plain.set_params(random_state=seed).fit(TINY).cost_ for seed in range(6)]
    assert_allclose(costs, expected, atol=1e-12)
    assert max(costs) > min(costs) + 1e-4
    best = CoClustering(plain.n_clusters, beta=named.beta_, random_state=0).fit(TINY).cost_
    assert best < max(costs) - 1e-4


def test_double_clustering_is_aib_of_columns_and_then_of_rows():
    X = np.random.default_rng(3).poisson(1.0, (12, 9)) + 1
    columns = AIB(3).fit(X.T).row_labels_
    rows = AIB(4).fit(X @ (columns[:, None] == np.arange(3))).row_labels_
    model = IBDouble((4, 3)).fit(X)
    assert_array_equal(model.row_labels_, rows)
    assert_array_equal(model.column_labels_, columns)
    assert IDC((4, 3)).fit(X).cost_ <= model.cost_


def test_settings_of_the_search_are_refused_where_nothing_is_searched():
    with refused("n_init=3", "method='iterative'"):
        IBCC(2, n_init=3).fit(TINY)


@pytest.mark.parametrize("kind", [SIB, AIB, ITCC, IBDouble, IDC, IBCC])
def test_named_methods_have_only_their_own_parameters(kind):
    own = kind()
    for name in ("beta_path", "estimate", "engine", "checkpoint", "reject", "beta"):
        assert not hasattr(own, name)
