"""MarkovAggregation: clusters of the states of a Markov chain."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from .._compat import Interval, StrOptions, fit_context
from ..costs.labels import as_labels, renumbered
from ..costs.lumpability import GTest, Lumpability, g_test, lumpability
from ..costs.objective import markov
from ..joint import chains
from ..joint.chains import Chain, Transitions, read_transitions
from ..joint.inputs import is_matrix
from ..joint.joint import joint
from ..joint.messages import InputError
from ..joint.objects import is_graph
from ..joint.scale import are_whole
from ..model.aggregated_chain import AggregatedChain
from ..model.leaves import canonical_orders
from ..search.run import Purpose, Run, Seed
from ..search.select.chain_numbers import (
    BETAS,
    ChainNumber,
    choose_number,
    slowest_processes,
    slowness,
)
from ..search.state.network_problem import NetworkProblem
from ..search.state.network_state import Graph, Network, WeightedRelation
from ..search.state.starts import ElementWords, Start, start_for
from .base import COUNT, NETWORK, NetworkMethod, Searches, SearchParameters, warn_if_unfinished

if TYPE_CHECKING:
    from ..results.chain_results import ChainResults

STATES = ElementWords("state", "states", "n_samples")


@dataclass(eq=False, repr=False)
class MarkovAggregation(SearchParameters, Searches):
    """Aggregate the states of a Markov chain into clusters that form a chain themselves.

    Z1 and Z2 are two successive states of the stationary chain, Z̄1 and Z̄2 their clusters. The
    clusters minimise

        L_β = β L_1 + (1-β) L_0     in bits
        L_1 = I(Z1;Z2) - I(Z1;Z̄2)   what a state reveals about the next state but not about the
                                    next cluster: ``prediction_loss_``
        L_0 = I(Z1;Z̄2) - I(Z̄1;Z̄2)   what a state reveals about the next cluster beyond what its
                                    own cluster reveals: ``lumpability_loss_``

    L_0 is 0 exactly if the chain is strongly lumpable: all states of a cluster go to each cluster
    with the same probability, so that the clusters form a Markov chain wherever it starts. It is
    also 0, uselessly, if the states reveal nothing about the next cluster: look at I(Z̄1;Z̄2), too,
    which alone counts at β = 1/2: 2 L = I(Z1;Z2) - I(Z̄1;Z̄2). Chains may be periodic, need not be
    reversible, may end, or fall into parts between which nothing moves.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        The number of clusters. You get exactly that many, and none is empty. "auto" looks for a gap
        between slow processes and all others (``selection_``); without one it chooses as
        :class:`CoClustering` does, if X has counts.
    beta : float in [0, 1] or "auto", default="auto"
        Which question to answer. From 1/2 to 1: which clusters predict best what comes next? Large
        clusters count most. Near 0: which sets of states behave like a Markov chain? Small sets
        that are rarely left count, too. "auto" keeps the better of 1/2 and 0.2, by the sum of
        squared correlations from step to step.
    method : {"auto", "anneal", "sequential"}, default="auto"
        As in :class:`CoClustering`. "auto" also starts from eigenvectors, which are constant on the
        clusters of a lumpable chain. Tiny chains (up to about 11 states) get the global optimum.
    kind : {"auto", "probabilities", "counts", "rates", "sequences"}, default="auto"
        What X is in ``fit``. "auto" takes a square matrix whose rows sum to 1 as probabilities,
        one of whole numbers as counts of transitions, one with a negative diagonal whose rows sum
        to 0 as rates of a continuous-time chain, and any other as weights, whose rows it divides
        by their sums. It takes a 1-D array, or a list that is no square matrix, as sequences.
    restrict : bool, default=False
        What to do if some states cannot be reached from others. False clusters all of them: steps
        count as often as they were observed, or as symmetric weights state, and states that are
        never left stay; if only probabilities are known, the chain restarts anywhere after 15 % of
        all steps. True keeps the largest set of states that all lead to each other; others get -1.
    stationary : array-like of shape (n_states,), default=None
        The stationary distribution, for chains that have several because not all states lead to
        each other: the mass of each state; states with mass 0 get label -1. None computes it.
    held_out : float in [0, 1), default=0
        The share of observed transitions to keep out of the fit and use for ``lumpability_test_``:
        the ends of sequences, or counts drawn by binomial thinning.
    ends : {"stay", "restart"}, default="stay"
        What follows the last state of a sequence. "stay": nothing, so that a state that is only
        reached at the end is never left. "restart": the first state of the same sequence, as if
        every visit began anew. A matrix is taken as it is.
    init, fixed : None or array-like, default=None
        Labels to start from, and labels that must not change; -1 for none. Clusters keep these
        numbers.
    n_init, max_iter, tol, beta_step, max_time, callback, random_state, n_jobs, verbose
        As in :class:`CoClustering`; ``n_init="auto"`` makes at most 6 starts.

    Attributes
    ----------
    labels_ : ndarray of int
        The cluster of each state, numbered by decreasing stationary mass, unless ``init`` or
        ``fixed`` gave numbers; -1 outside a restricted chain.
    states_ : ndarray
        The states in the order of ``labels_``: those of the sequences, sorted; the names of a data
        frame's columns (of its rows, if only these have names); or numbers.
    stationary_distribution_ : ndarray of float
        Of the states; 0 outside a restricted chain. If the chain has none, the share of time in
        each state.
    origin_ : {"stationary", "observed", "restarts", "given"}
        Where the frequency of steps comes from; see ``restrict`` and ``stationary``.
    chain_ : AggregatedChain
        The chain of clusters, to use at once: ``predict_next``, ``simulate``, ``time_scales``.
    transition_matrix_ : ndarray of shape (n_clusters, n_clusters)
        The probability of each next cluster, given the cluster, in the stationary chain.
    cluster_distribution_ : ndarray of float
        The share of time in each cluster.
    n_clusters_, beta_ : int, float
        The number of clusters and β, given or chosen.
    selection_ : ndarray or None
        For each number of clusters the correlation, how many steps the slowest process lasts that
        it adds, and how many times longer that is than the next; None if the number was given.
    selection_reason_ : str or None
        Why there are this many clusters.
    step_ : float
        The time that a step takes, in the unit of rates; else 1.
    time_scales_ : ndarray of float
        How long the slowest processes between states last, one for each cluster but the first:
        compare with ``chain_.time_scales()``. Empty for chains of more than 20,000 states.
    cost_, prediction_loss_, lumpability_loss_ : float
        L_β, L_1 and L_0 in bits.
    information_ : Information
        In bits: I(Z1;Z2), I(Z1;Z̄2), I(Z̄1;Z2) and I(Z̄1;Z̄2), in this order.
    lumpability_ : Lumpability
        The two states of one cluster whose probabilities of going to some cluster differ most.
        ``holds()`` is True if no states differ.
    lumpability_test_, step_test_ : GTest, ndarray
        The results of these methods on what was held out; ``step_test_`` needs sequences.
    n_iter_ : int
        The number of sweeps over all states, for all β together.
    n_features_in_, feature_names_in_
        The number of the matrix' columns and their names, if the input is a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from comarkov import MarkovAggregation
    >>> P = np.array([[.6, .3, .1, 0.], [.4, .5, 0., .1], [.2, 0., .3, .5], [0., .2, .6, .2]])
    >>> model = MarkovAggregation(2, random_state=0).fit(P)
    >>> print(model.labels_, model.lumpability_.holds())
    [0 0 1 1] True
    >>> print(model.transition_matrix_)
    [[0.9 0.1]
     [0.2 0.8]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NETWORK,
        "n_clusters": [COUNT, StrOptions({"auto"})],
        "beta": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"})],
        "kind": [StrOptions({"auto", "probabilities", "counts", "rates", "sequences"})],
        "restrict": ["boolean"],
        "stationary": [None, "array-like"],
        "held_out": [Interval(Real, 0, 1, closed="left")],
        "ends": [StrOptions({"stay", "restart"})],
        "init": [None, "array-like"],
        "fixed": [None, "array-like"],
    }

    n_clusters: int | Literal["auto"] = "auto"
    beta: float | Literal["auto"] = "auto"
    _: KW_ONLY
    method: NetworkMethod = "auto"
    kind: Literal["auto", "probabilities", "counts", "rates", "sequences"] = "auto"
    restrict: bool = False
    stationary: ArrayLike | None = None
    held_out: float = 0.0
    ends: Literal["stay", "restart"] = "stay"
    init: ArrayLike | None = None
    fixed: ArrayLike | None = None
    beta_step: float = 0.1

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the states of a chain.

        Parameters
        ----------
        X : square array-like, sparse matrix or data frame; sequence(s) of states; or a graph
            Probabilities or counts of transitions from rows to columns, or the visited states; see
            ``kind``. Rows and columns of a data frame or of ``Data`` are matched by name, if both
            have names. A graph of networkx or igraph stands for a random walk on it.
        y : ignored
        """
        data = read_transitions(X, self.kind, self.ends)
        run = self._parameters().run(BETAS[0] if self.beta == "auto" else float(self.beta))
        fitted, tested = data.weights, None
        if self.held_out:
            rng = run.seed.stream(Purpose.HELD_OUT)
            fitted, tested = chains.hold_out(data, float(self.held_out), rng)
        if self.stationary is None:
            walk = chains.chain(fitted, data.is_counted, self.restrict)
        elif self.restrict:
            what = "restrict=True has no effect with stationary, whose masses decide what counts"
            raise InputError(what, advice="Leave it out, and give other states no mass.")
        else:
            walk = chains.chain_from(fitted, data.states, self.stationary)
        number = self._number(walk, fitted if data.is_counted else None, run)
        graph = Graph((WeightedRelation(0, 0, joint(walk.flow), markov),), 1)
        problem = NetworkProblem(graph, [self._start(number.number, walk, data.states.size)])
        method = self._parameters().search_method()
        runs = [run.at(beta) for beta in BETAS] if self.beta == "auto" else [run]
        found = [(method.solve(problem, each).state, each) for each in runs]
        state, run = max(found, key=lambda one: round(slowness(one[0].block_masses(0)), 9))
        warn_if_unfinished(state.converged, run)
        for name in ("n_features_in_", "feature_names_in_", "lumpability_test_", "step_test_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if data.sequences is None and not is_graph(X):
            validate_data(self, X, skip_check_array=True)
        self.n_clusters_, self.selection_, self.selection_reason_ = number
        self.beta_ = run.beta
        self._keep(state, problem.starts[0], walk, data)
        if tested is not None:
            self.lumpability_test_ = self._tested(tested, run.seed)
        if tested is not None and data.sequences is not None:
            ends = chains.divided(data.sequences, float(self.held_out))[1]
            self.step_test_ = self.chain_.compare_steps([self.labels_[end] for end in ends])
        return self

    def _number(self, walk: Chain, counts: Any, run: Run) -> ChainNumber:
        if self.n_clusters != "auto":
            return ChainNumber(int(self.n_clusters), None, None)
        self._parameters().refuse_labels(3)
        inside = None if counts is None else sp.csr_array(counts[walk.inside][:, walk.inside])
        own = replace(run, seed=run.seed.child(Purpose.NUMBERS))
        return choose_number(walk.flow, inside, own)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the labels of the states."""
        return self.fit(X).labels_

    def results(self, X: Any) -> ChainResults:
        """The results of this model on X, what was passed to ``fit``, with tables and a report."""
        from ..results.chain_results import ChainResults

        return ChainResults(self, X)

    @property
    def chain_(self) -> AggregatedChain:
        """The chain of clusters."""
        check_is_fitted(self)
        shares = self.cluster_distribution_, self.states_, self.labels_
        return AggregatedChain(self.transition_matrix_, *shares, self.step_)

    def _start(self, k: int, walk: Chain, n_states: int) -> Start:
        given = {"init": self.init, "fixed": self.fixed}
        inside = {
            name: as_labels(labels, n_states, f"{name} state labels")[walk.inside]
            for name, labels in given.items()
            if labels is not None
        }
        return start_for(k, inside.get("init"), inside.get("fixed"), walk.occupancy, STATES)

    def _keep(self, state: Network, start: Start, walk: Chain, data: Transitions) -> None:
        k = self.n_clusters_
        order = canonical_orders(state.every_side(), [start])[0]
        labels = renumbered(state.partitions[0].label, order)
        n = data.states.size
        self.states_ = data.states
        self.labels_ = np.full(n, -1)
        self.labels_[walk.inside] = labels
        self.stationary_distribution_ = np.zeros(n)
        self.stationary_distribution_[walk.inside] = walk.occupancy
        self.cluster_distribution_ = (labels == np.arange(k)[:, None]) @ walk.occupancy
        self.origin_, self.step_ = walk.origin, data.step
        flow = state.block_masses(0)
        flow = flow if order is None else flow[np.ix_(order, order)]
        out = flow.sum(axis=1, keepdims=True)  # 0 for clusters that are never left
        self.transition_matrix_ = np.divide(flow, out, out=np.eye(k), where=out > 0)
        self.information_ = state.information(0)
        self.cost_, self.prediction_loss_, self.lumpability_loss_ = (
            markov(beta).cost(self.information_) for beta in (self.beta_, 1.0, 0.0)
        )
        self.time_scales_ = data.step * slowest_processes(walk.transition, k - 1)
        worst = lumpability(walk.transition, labels, k)
        first, second = (int(walk.inside[state]) for state in worst.states)
        self.lumpability_: Lumpability = worst._replace(states=(first, second))
        self.n_iter_ = state.n_iter

    def test_steps(self, X: Any) -> np.ndarray:
        """Compare what the chain of clusters predicts with other sequences, some steps ahead.

        If the clusters form a Markov chain, n steps lead where the n-th power of
        ``transition_matrix_`` predicts (the Chapman-Kolmogorov test).

        Parameters
        ----------
        X : sequence(s) of states
            With states of the fit, in which they were not used.

        Returns
        -------
        ndarray with fields
            ``steps`` ahead, ``pairs`` of states that far apart, ``error``: the total variation
            distance of predicted and observed clusters, ``bits`` of surprise per prediction, and
            ``kept``: the share by which they are fewer than if the present cluster is ignored.
        """
        check_is_fitted(self)
        data = read_transitions(X, "sequences")
        labels = self.labels_[chains.places_of(data, self.states_)]
        return self.chain_.compare_steps([labels[sequence] for sequence in data.sequences or []])

    def test_lumpability(self, X: Any) -> GTest:
        """Test on other transitions whether the chain is strongly lumpable.

        The null hypothesis is that the next cluster depends only on the current cluster, not on
        the state. A small p-value rejects it; the clusters can still form a Markov chain from some
        starts. G is compared with that of random tables, so the test is valid for rare states. X
        must not have been used in the fit, because clusters are chosen to make it look lumpable.

        Parameters
        ----------
        X : square matrix of counts, or sequence(s) of states
            With the states of the fit, matched by name if both have names, else by position.
            States that do not occur may be missing if they have names.

        Returns
        -------
        GTest
            ``p_value`` is nan if there is nothing to compare. The same ``random_state`` gives the
            same value.
        """
        check_is_fitted(self)
        n = self.states_.size
        is_matrix_of_counts = is_matrix(X) or getattr(X, "shape", None) == (n, n)
        is_sequence = self.kind == "sequences" and not is_matrix_of_counts
        data = read_transitions(X, "sequences" if is_sequence else "auto")
        if data.sequences is None and not are_whole(data.weights.data):
            raise ValueError("The test needs counts of transitions, whole numbers, or sequences.")
        place, entries = chains.places_of(data, self.states_), data.weights.tocoo()
        places = tuple(place[each] for each in entries.coords)
        counts = sp.csr_array((entries.data, places), (n, n))
        return self._tested(counts, Seed.of(self.random_state))

    def _tested(self, counts: sp.csr_array, seed: Seed) -> GTest:
        return g_test(counts, self.labels_, self.n_clusters_, seed.stream(Purpose.NULL_TABLES))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True  # square: rows and columns are the same states
        return tags
