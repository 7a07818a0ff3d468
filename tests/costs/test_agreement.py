"""Agreement of partitions is what scikit-learn's two measures say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from comarkov.costs.agreement import agreement

LABELS = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 5)), min_size=1, max_size=40)


@given(LABELS)
def test_agreement_is_the_mean_of_both_measures(pairs):
    a, b = np.array(pairs).T
    both = (a >= 0) & (b >= 0)
    if not both.any():
        assert agreement(a, b) == 0
        return
    rand = adjusted_rand_score(a[both], b[both])
    information = adjusted_mutual_info_score(a[both], b[both])
    if rand == 1:  # scikit-learn before 1.7 returns 0 if all clusters are single elements
        information = 1.0
    expected = rand + information
    assert agreement(a, b) == pytest.approx(expected / 2, abs=1e-9)


def test_random_partitions_do_not_agree():
    rng = np.random.default_rng(0)
    a, b = rng.integers(8, size=(2, 500))
    assert abs(agreement(a, b)) < 0.02
    assert agreement(a, a) == pytest.approx(1)
