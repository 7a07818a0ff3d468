"""The named methods beyond the contract: what each name stands for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from comarkov import AIB, IBCC, IDC, ITCC, SIB, CoClustering, IBDouble


@pytest.fixture(scope="module")
def planted():
    """Counts with 4 x 3 blocks, a row and a column without mass."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(4, size=60), rng.integers(3, size=40)
    X = rng.poisson(rng.gamma(0.5, 2.0, size=(4, 3))[rows][:, columns])
    X[7] = 0
    X[:, 11] = 0
    return X


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
    with pytest.raises(ValueError, match=message):
        model.fit(np.ones((4, 4)))


def test_names_stand_for_what_they_say(planted):
    """Each preset is CoClustering with the parameters that its docstring names."""
    sib = SIB(4, n_init=3, random_state=0).fit(planted)
    same = CoClustering((4, None), method="sequential", n_init=3, random_state=0).fit(planted)
    assert_array_equal(sib.row_labels_, same.row_labels_)
    for named, beta in (
        (ITCC((4, 3), doublings=0, random_state=0), 0.5),
        (IBCC((4, 3), method="iterative", random_state=0), 0.75),
    ):
        plain = CoClustering((4, 3), beta=beta, method="batch", random_state=0).fit(planted)
        assert_array_equal(named.fit(planted).row_labels_, plain.row_labels_)
        assert named.beta_ == beta


@pytest.mark.parametrize("seed", range(8))
def test_tiny_data_get_the_global_optimum(seed):
    X = np.random.default_rng(seed).poisson(1.0, (7, 6)) + np.eye(7, 6, dtype=int)
    X[6, 0] += 1  # some mass everywhere
    least = CoClustering((3, None), random_state=0).fit(X).cost_
    assert SIB(3, random_state=0).fit(X).cost_ == pytest.approx(least, abs=1e-9)
    for beta, *models in (
        (0.5, ITCC((3, 2), random_state=0), IBDouble((3, 2)), IDC((3, 2))),
        (0.75, IBCC((3, 2)), IBCC((3, 2), method="iterative", random_state=0)),
    ):
        least = CoClustering((3, 2), beta=beta, random_state=0).fit(X).cost_
        for model in models:
            assert model.fit(X).cost_ == pytest.approx(least, abs=1e-9)


def test_clusters_of_aib_are_those_of_its_tree():
    X = np.random.default_rng(0).poisson(1.0, (9, 7)) + 1
    model = AIB(3).fit(X)
    assert_array_equal(model.row_labels_, model.tree_.cut(3))


def test_sib_mostly_ends_below_aib(planted):
    sib = SIB(4, n_init=20, random_state=0).fit(planted)
    assert sib.cost_ <= AIB(4).fit(planted).cost_ + 1e-12


@pytest.mark.parametrize("kind", [SIB, AIB, ITCC, IBDouble, IDC, IBCC])
def test_methods_of_one_beta_have_no_path(kind):
    assert not hasattr(kind(), "beta_path")
    assert hasattr(CoClustering(), "beta_path")
