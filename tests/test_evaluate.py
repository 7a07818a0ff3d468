import itertools

import numpy as np
import pytest

from comarkov.evaluate import matching_accuracy


def test_is_the_best_over_all_matchings():
    rng = np.random.default_rng(0)
    for _ in range(30):
        classes, clusters = rng.integers(4, size=20), rng.integers(4, size=20)
        best = max(
            np.mean(np.array(p)[clusters] == classes) for p in itertools.permutations(range(4))
        )
        assert matching_accuracy(classes, clusters) == pytest.approx(best)


def test_labels_must_match_in_number():
    with pytest.raises(ValueError, match="inconsistent numbers"):
        matching_accuracy([0, 1, 0], [0])
    with pytest.raises(ValueError, match="no labels"):
        matching_accuracy([], [])


def test_more_clusters_than_classes():
    assert matching_accuracy(["a", "a", "b", "b"], [0, 1, 2, 2]) == 0.75
