"""Every estimator keeps the contract."""

import itertools

import numpy as np
import pytest
from contract import EstimatorContract, SearchContract, blocks, shuffled
from helpers import relation_cost
from matrix_contract import CoClusteringContract, TwoSidedContract
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_checks

import comarkov
from comarkov import (
    AIB,
    IBCC,
    IDC,
    ITCC,
    SIB,
    CoClustering,
    IBDouble,
    MarkovAggregation,
    MultiwayClustering,
)
from comarkov.costs.objective import co_clustering, markov

CHECKS_WITHOUT_DATA = ("estimator_cloneable", "estimator_repr", "get_params_invariance")
CHECKS_WITHOUT_DATA += ("mixin_order", "no_attributes_set_in_init", "set_params", "valid_tag_types")
CHECKS_WITHOUT_DATA += ("parameters_default_constructible",)


class Variant:
    """Another method of a class whose parameters and input are tested elsewhere."""

    test_scikit_learn_checks_pass = None
    test_every_format_gives_the_same_answer_and_is_left_as_it_is = None
    test_new_rows_may_have_any_format = None
    test_bad_input_is_refused = None


class TestAuto(SearchContract, TwoSidedContract):
    kind = CoClustering


class TestAnneal(Variant, SearchContract, TwoSidedContract):
    kind, parameters = CoClustering, {"method": "anneal", "n_init": 4, "random_state": 0}


class TestSequential(Variant, SearchContract, TwoSidedContract):
    kind, parameters = CoClustering, {"method": "sequential", "n_init": 8, "random_state": 0}


class TestBatch(Variant, SearchContract, TwoSidedContract):
    kind, parameters = CoClustering, {"method": "batch", "n_init": 16, "random_state": 0}


class TestSIB(SearchContract, CoClusteringContract):
    kind, parameters, clusters_columns = SIB, {"n_init": 8, "random_state": 0}, False


class TestAIB(CoClusteringContract):
    kind, parameters, clusters_columns = AIB, {}, False


class TestITCC(SearchContract, TwoSidedContract):
    kind, parameters = ITCC, {"n_init": 8, "random_state": 0}


class TestIBDouble(TwoSidedContract):
    kind, parameters = IBDouble, {}


class TestIDC(TwoSidedContract):
    kind, parameters = IDC, {}


class TestIBCCAgglomerative(TwoSidedContract):
    kind = IBCC


class TestIBCCIterative(Variant, SearchContract, TwoSidedContract):
    kind, parameters = IBCC, {"method": "iterative", "n_init": 16, "random_state": 0}


class ChainContract(SearchContract):
    """Of the states of a chain; those that no transition reaches have no mass."""

    method: str

    def estimator(self, **parameters):
        asked = {"method": self.method, "n_init": 3, "restrict": True, "random_state": 0}
        return MarkovAggregation(3, **asked | parameters)

    def for_scikit_learn(self):
        return MarkovAggregation(2, 0.5, n_init=1, restrict=True, random_state=0)

    def data(self):
        rng = np.random.default_rng(0)
        states = shuffled(rng, [9, 7, 5])
        X = blocks(rng, [[0.2, 5, 0.2], [0.2, 0.2, 4], [6, 0.3, 1]], states, states)
        X[4] = X[:, 4] = 0
        return X

    def labels(self, model):
        return {"states": model.labels_}

    def counts(self):
        return {"states": 3}

    def masses(self, X):
        """The stationary distribution, by powers of the transition matrix."""
        inside = X.any(axis=1)
        P = X[np.ix_(inside, inside)] / X[inside].sum(axis=1, keepdims=True)
        mass = np.zeros(inside.size)
        mass[inside] = np.linalg.matrix_power(P, 2**12)[0]
        return {"states": mass}

    def oracle(self, X, model):
        mass = self.masses(X)["states"]
        inside = mass > 0
        flow = X[np.ix_(inside, inside)] / X[inside].sum(axis=1, keepdims=True) * mass[inside, None]
        labels = model.labels_[inside]
        return relation_cost(flow, labels, labels, markov(model.beta_))

    def permuted(self, X, orders):
        return X[np.ix_(orders["states"], orders["states"])]

    def with_an_empty_element(self, X):
        return np.pad(X, (0, 1))

    def as_start(self, labels):
        return labels["states"]


class TestMarkovAuto(ChainContract):
    method = "auto"


class TestMarkovAnneal(Variant, ChainContract):
    method = "anneal"


class TestMarkovSequential(Variant, ChainContract):
    method = "sequential"


class TypesContract(SearchContract):
    """Of several types of elements, by all relations between them."""

    method: str

    def estimator(self, **parameters):
        asked = {"method": self.method, "n_init": 3, "random_state": 0}
        return MultiwayClustering(self.counts(), **asked | parameters)

    def data(self):
        rng = np.random.default_rng(0)
        sizes = {"documents": [9, 7, 5], "words": [8, 6, 4], "authors": [6, 5]}
        truth = {name: shuffled(rng, size) for name, size in sizes.items()}
        rates = np.full((3, 3), 0.3) + 4.7 * np.eye(3)
        X = {
            (s, t): blocks(rng, rates, truth[s], truth[t])
            for s, t in itertools.combinations(sizes, 2)
        }
        X["documents", "words"][3] = X["documents", "authors"][3] = 0
        return X

    def labels(self, model):
        return model.labels_

    def counts(self):
        return {"documents": 3, "words": 3, "authors": 2}

    def masses(self, X):
        """An element's shares of all its relations, summed."""
        result = {}
        for key, W in X.items():
            for side, axis in zip(key, (1, 0), strict=True):
                result[side] = result.get(side, 0) + W.sum(axis=axis) / W.sum()
        return result

    def oracle(self, X, model):
        labels = {side: np.maximum(result, 0) for side, result in model.labels_.items()}
        return sum(
            relation_cost(W, labels[s], labels[t], co_clustering(model.beta))
            for (s, t), W in X.items()
        )

    def each(self, X, change):
        return {key: change(W) for key, W in X.items()}

    def permuted(self, X, orders):
        return {(s, t): W[np.ix_(orders[s], orders[t])] for (s, t), W in X.items()}

    def with_an_empty_element(self, X):
        return {
            key: np.vstack([W, np.zeros_like(W[:1])]) if key[0] == "documents" else W
            for key, W in X.items()
        }

    def as_start(self, labels):
        return labels

    def test_scikit_learn_checks_pass(self):
        """Those that fit nothing: the others fit matrices, and the tags say that it takes none."""
        takes = self.estimator().__sklearn_tags__().input_tags
        assert (takes.dict, takes.two_d_array) == (True, False)
        for check in CHECKS_WITHOUT_DATA:
            getattr(estimator_checks, f"check_{check}")("MultiwayClustering", self.estimator())

    def test_the_direction_of_relations_does_not_matter(self, X, model):
        turned = self.estimator().fit({(t, s): W.T for (s, t), W in X.items()})
        self.assert_same_labels(model, turned)
        assert turned.cost_ == pytest.approx(model.cost_, abs=1e-12)


class TestMultiwayAuto(TypesContract):
    method = "auto"


class TestMultiwayAnneal(Variant, TypesContract):
    method = "anneal"


class TestMultiwaySequential(Variant, TypesContract):
    method = "sequential"


def test_every_estimator_is_here():
    public = {
        name
        for name in comarkov.__all__
        if isinstance(result := getattr(comarkov, name), type) and issubclass(result, BaseEstimator)
    }
    tested = {
        type(each().estimator()).__name__
        for name, each in globals().items()
        if name.startswith("Test") and issubclass(each, EstimatorContract)
    }
    assert tested == public - {"Weighting"}
