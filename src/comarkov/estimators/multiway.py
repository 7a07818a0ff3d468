"""MultiwayClustering: clusters of several types of elements, from all relations between them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from .._compat import StrOptions, fit_context
from ..costs.labels import membership, renumbered
from ..costs.objective import Coefficients, Information, co_clustering
from ..costs.selection import cluster_sizes, description_length, partition_nats
from ..io.read import Data, read
from ..io.read.fit_input import Key, NetworkInput, network_input, read_new, read_relations
from ..joint.joint import Joint, joint
from ..joint.messages import InputError, plural_of_kind, warn_user
from ..joint.objects import is_graph
from ..model.leaves import canonical_orders, onto, relation_model
from ..search.run import Purpose, Run
from ..search.select import choose_numbers
from ..search.select.communities import communities as communities_of
from ..search.state.network_problem import GivenGroups, problem_of
from ..search.state.network_state import Graph, WeightedRelation
from ..search.state.starts import ElementWords, Start, start_for
from .base import COUNT, NETWORK, NetworkMethod, Searches, SearchParameters, warn_if_unfinished

if TYPE_CHECKING:
    from ..results.multiway_results import MultiwayResults

AUTO: Literal["auto"] = "auto"
NODES = ("node", "node")
SENDERS = ("sender", "receiver")
TWO_SIDES = "Nodes are clustered twice, as senders and as receivers: that describes the edges best."
Number = int | Literal["auto"]
Sides = Literal["auto", "one", "two"]
Chosen = tuple[dict[str, Any], list[np.ndarray] | None, str | None]


@dataclass(eq=False, repr=False)
class MultiwayClustering(SearchParameters, Searches):
    """Cluster several types of elements at once, using all relations between them.

    Documents have words and authors; users have items and tags. Each relation e is a nonnegative
    matrix between two types S and T. All types are clustered together to minimise

        Σ_e weight_e [I(S;T) - I(S̄;T̄)]     in bits

    (Bekkerman, El-Yaniv and McCallum 2005). With two types and one relation this is co-clustering
    at β = 1/2. With another β, it is the sum of L_β over all relations, as in
    :class:`CoClustering`.

    Parameters
    ----------
    n_clusters : int, "auto" or dict of type to these, default=3
        The number of clusters of each type; a single number applies to all types. "auto" chooses
        it: of a single type that is related to itself, as in a network, by the shortest description
        of its edges; else as :class:`CoClustering` does, for each relation, of which the largest
        number counts.
    beta : float in [0, 1], default=0.5
        The coupling of the two sides of each relation.
    method : {"auto", "anneal", "sequential"}, default="auto"
        As in :class:`CoClustering`.
    weights : None or dict of relation to float, default=None
        How much each relation counts; 1 for relations that are not in the dict.
    init, fixed : None or dict of type to array-like, default=None
        Labels to start from, and labels that must not change; -1 for none. Clusters keep these
        numbers.
    n_init, max_iter, tol, beta_step, max_time, callback, random_state, n_jobs, verbose
        As in :class:`CoClustering`; ``n_init="auto"`` makes at most 6 starts.

    Attributes
    ----------
    labels_ : dict of type to ndarray of int
        The cluster of each element, in the order of ``names_``, numbered by decreasing mass (shares
        of all relations, summed) unless ``init`` or ``fixed`` gave numbers; -1 if it is empty.
    names_ : dict of type to ndarray
        The names of the elements, those of the first relation first; numbers if there are none.
    cost_ : float
        In bits.
    information_, relation_costs_ : dict of relation to Information, to float
        The four mutual informations of each relation, in bits, and what it adds to the cost.
    types_ : list of str
        The types, in order of appearance.
    n_clusters_ : dict of type to int
        The number of clusters of each type.
    selection_reason_ : str or None
        Why there are this many clusters, if that was chosen.
    n_iter_ : int
        The number of sweeps over all types, for all β together.

    Notes
    -----
    A relation of a type with itself, such as ``("papers", "papers")`` for citations, has the same
    clusters on both sides.

    Examples
    --------
    >>> from comarkov import MultiwayClustering
    >>> words = [[3, 2, 0, 0], [2, 4, 0, 1], [0, 0, 5, 2], [0, 1, 2, 3]]
    >>> authors = [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> model = MultiwayClustering(2, random_state=0)
    >>> model = model.fit({("documents", "words"): words, ("documents", "authors"): authors})
    >>> for kind, labels in model.labels_.items():
    ...     print(kind, labels)
    documents [0 0 1 1]
    words [1 1 0 0]
    authors [0 0 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NETWORK,
        "n_clusters": [COUNT, StrOptions({AUTO}), dict],
        "weights": [None, dict],
        "init": [None, dict],
        "fixed": [None, dict],
    }

    n_clusters: Number | dict[str, Number] = 3
    beta: float = 0.5
    _: KW_ONLY
    method: NetworkMethod = "auto"
    weights: dict[Key, float] | None = None
    init: dict[str, ArrayLike] | None = None
    fixed: dict[str, ArrayLike] | None = None
    beta_step: float = 0.1

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Mapping[Key, Any], y: Any = None) -> Self:
        """Cluster all types.

        Parameters
        ----------
        X : dict of (type, type) to array-like, sparse matrix or data frame; or a graph
            Nonnegative weights; rows are elements of the first type, columns of the second.
            Elements with names are matched by name, and need not occur in every relation; others
            are matched by position. A graph is the relation ("node", "node").
        y : ignored
        """
        if is_graph(X):
            X = {NODES: network_input(X).data}
        data, names = read_relations(X)
        types, asked = list(names), self._parameters()
        for name in ("n_clusters", "init", "fixed"):
            _check_names(name, getattr(self, name), types, "type")
        graph, run = self._graph(data, types), asked.run(float(self.beta))
        counts, chosen_labels, reason = self._choose(data, types, run)
        starts = [self._start(t, counts[t], m) for t, m in zip(types, graph.weights, strict=True)]
        if chosen_labels is None:
            state: Any = asked.search_method().solve(problem_of(graph, starts), run).state
            warn_if_unfinished(state.converged, run)
        else:
            state = GivenGroups(graph, chosen_labels)
        self.n_clusters_ = {name: start.k for name, start in zip(types, starts, strict=True)}
        self.selection_reason_, self.types_, self.names_ = reason, types, names
        self._keep(data, starts, state)
        empty = [
            f"{n:,} of {start.has_mass.size:,} {plural_of_kind(name, f'elements of {name}')}"
            for name, start in zip(types, starts, strict=True)
            if (n := int((~start.has_mass).sum()))
        ]
        if empty:
            warn_user(f"{' and '.join(empty)} are empty (label -1).")
        return self

    def results(self, X: Mapping[Key, Any]) -> MultiwayResults:
        """The results of this model on X, what was passed to ``fit``, with tables and a report."""
        from ..results.multiway_results import MultiwayResults

        return MultiwayResults(self, X)

    def _choose(self, data: dict[Key, Joint], types: list[str], run: Run) -> Chosen:
        """How many clusters each type gets; if chosen, labels that came with them, and why."""
        given = self.n_clusters
        wanted = {name: given.get(name) if isinstance(given, dict) else given for name in types}
        if AUTO not in wanted.values():
            return wanted, None, None
        self._parameters().refuse_labels(dict.fromkeys(types, 3))
        own = replace(run, seed=run.seed.child(Purpose.NUMBERS))
        if len(types) == 1 and len(data) == 1:
            found = communities_of(next(iter(data.values())), own)
            return {types[0]: int(found.labels.max()) + 1}, [found.labels], found.reason
        if list(data) == [SENDERS] and {*wanted.values()} == {AUTO}:
            both, weights = _two_sides(data[SENDERS], own), data[SENDERS].csr.data
            if max(both[0].values()) > 1 or weights.min() == weights.max():
                return both
            # All nodes are linked alike, so that only the weights of links can tell them apart.
        return _numbers_by_relation(data, wanted, own)

    def _graph(self, data: dict[Key, Joint], types: list[str]) -> Graph:
        """The types as numbers, and the cost of each relation in units of the largest weight."""
        _check_names("weights", self.weights, list(data), "relation")
        for key, weight in (self.weights or {}).items():
            if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
                raise ValueError(f"The weight of {key} must be a number above 0, got {weight!r}.")
        unit = max(self._weight(key) for key in data)
        relations = []
        for (s, t), matrix in data.items():

            def cost(beta: float, weight: float = self._weight((s, t)) / unit) -> Coefficients:
                return co_clustering(beta).times(weight)

            relations.append(WeightedRelation(types.index(s), types.index(t), matrix, cost))
        return Graph(tuple(relations), len(types))

    def _start(self, name: str, k: Any, mass: np.ndarray) -> Start:
        if k is None:
            raise ValueError(f"n_clusters has no number for the type {name!r}.")
        init, fixed = ((given or {}).get(name) for given in (self.init, self.fixed))
        words = ElementWords(repr(name), f"elements of {name!r}", "in all")
        return start_for(k, init, fixed, mass, words)

    def _keep(self, data: dict[Key, Joint], starts: list[Start], state: Any) -> None:
        orders = canonical_orders(state.every_side(), starts)
        labels = map(renumbered, state.labels(), orders)
        self.labels_: dict[str, np.ndarray] = dict(zip(self.types_, labels, strict=True))
        informations = zip(data, state.informations(), strict=True)
        self.information_: dict[Key, Information] = dict(informations)
        self.relation_costs_ = {
            key: self._weight(key) * co_clustering(self.beta).cost(part)
            for key, part in self.information_.items()
        }
        self.cost_ = sum(self.relation_costs_.values())
        self.n_iter_ = state.n_iter
        self._models = {
            key: relation_model(matrix, [self.labels_[name] for name in key], 2 * self.beta - 1)
            for key, matrix in data.items()
        }

    @overload
    def predict(
        self, X: Any, element_type: str | None = None, *, return_confidence: Literal[False] = False
    ) -> np.ndarray: ...
    @overload
    def predict(
        self, X: Any, element_type: str | None = None, *, return_confidence: Literal[True]
    ) -> tuple[np.ndarray, np.ndarray]: ...
    def predict(
        self, X: Any, element_type: str | None = None, *, return_confidence: bool = False
    ) -> Any:
        """The cluster of each new element of a type, where it costs least.

        Each new element is added alone, with all its weights, to the data of the fit, and goes to
        the cluster that makes ``cost_`` least. With one relation this is
        :meth:`CoClustering.predict`.

        Parameters
        ----------
        X : dict of (type, type) to matrix, data frame or Data; or one matrix
            The weights of new elements in one or more relations of the fit, whose types may be in
            either order; in a relation of the type with itself, they are the rows. One matrix will
            do for a type with one relation. Known elements are matched by name: those that the fit
            did not have are ignored with a warning, and missing ones count as 0. New elements are
            matched by name across relations, or by position without names.
        element_type : None or str, default=None
            The type of the new elements. None is the type that all relations in X share, the first
            one if they share both.
        return_confidence : bool, default=False
            Also return the posterior of each label: as in :class:`CoClustering` at γ = 1, with
            the costs of all relations added up. It is too high for counts that come in bursts.

        Returns
        -------
        labels, and confidence if ``return_confidence`` : ndarray
            In the order of the rows of the first relation, followed by names that only others
            have; -1 and 0 for elements that have no weight with a known one.

        Examples
        --------
        >>> from comarkov import MultiwayClustering
        >>> words = [[3, 2, 0, 0], [2, 4, 0, 1], [0, 0, 5, 2], [0, 1, 2, 3]]
        >>> model = MultiwayClustering(2, random_state=0).fit({("documents", "words"): words})
        >>> model.predict([[2, 1, 0, 0], [0, 0, 1, 1]])
        array([1, 0])
        """
        _, labels, confidence = self._place(X, element_type)
        return (labels, confidence) if return_confidence else labels

    def _place(
        self, X: Any, element_type: str | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The names of new elements, their clusters, and the confidence in these."""
        check_is_fitted(self)
        X, element_type = self._new_relations(X, element_type)
        names, new = read_new(X, element_type, self.names_)
        costs, nats = np.zeros((2, names.size, self.labels_[element_type].max() + 1))
        has_mass = np.zeros(names.size, bool)
        unit = max(map(self._weight, self._models))
        for given, weights in new.items():
            key = self._key_of_fit(given)
            axis = key.index(element_type)
            model, weight = self._models[key], self._weight(key)
            rows = joint(weights @ onto(self.labels_[key[1 - axis]], model.coupling), model.scale)
            each = (model.column_costs if axis else model.row_costs)(rows)
            there = rows.row_mass > 0
            mass = rows.row_mass[there]
            costs[there] += weight * (each / (model.total + rows.row_mass)[:, None])[there]
            n = (weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1).clip(1e-300))[there]
            nats[there] += each[there] * (weight / unit * n / mass)[:, None]
            has_mass |= there
        best = costs.argmin(axis=1)
        sure = softmax(-nats, axis=1)[np.arange(names.size), best]
        return names, np.where(has_mass, best, -1), np.where(has_mass, sure, 0.0)

    def _new_relations(self, X: Any, element_type: str | None) -> tuple[dict[Key, Any], str]:
        """The relations of new elements, which the fit must have, and the type of the elements."""
        if element_type is not None:
            _check_names("element_type", {element_type: X}, self.types_, "type")
        if not isinstance(X, Mapping):
            name = element_type or self.types_[0]
            keys = [key for key in self._models if name in key]
            if len(keys) > 1:
                raise ValueError(
                    f"X is one matrix, but {name!r} has {len(keys)} relations. Name the one that X "
                    f"is: model.predict({{{keys[0]!r}: X}}, {name!r})"
                )
            return {(name, keys[0][1 - keys[0].index(name)]): X}, name
        for key in X:
            self._key_of_fit(key)
        shared = [name for name in next(iter(X), ()) if all(name in key for key in X)]
        if not shared or element_type not in (None, *shared):
            key = next(iter(X), next(iter(self._models)))
            raise ValueError(
                "The relations of X do not all have the type of the new elements. Pass those of "
                f"one type: model.predict({{{key!r}: W}})"
            )
        return dict(X), element_type or shared[0]

    def _key_of_fit(self, given: Any) -> Key:
        """A relation as the fit had it, for a pair of types in either order."""
        turned = given[::-1] if isinstance(given, tuple) else given
        if given not in self._models and turned not in self._models:
            known = ", ".join(map(repr, self._models))
            raise ValueError(f"The fit had no relation {given!r}. Choose from {known}.")
        return given if given in self._models else turned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = True
        return tags

    def _weight(self, key: Key) -> float:
        return float((self.weights or {}).get(key, 1.0))


def _two_sides(edges: Joint, run: Run) -> Chosen:
    """Senders and receivers in the groups that describe the edges best; each edge counts once."""
    labels = choose_numbers.shortest_description(joint(edges.csr > 0), run)
    numbers = [int(each.max()) + 1 for each in labels]
    reason = f"{numbers[0]} and {numbers[1]} groups give the shortest description of the edges."
    return dict(zip(SENDERS, numbers, strict=True)), labels, reason


def _numbers_by_relation(data: dict[Key, Joint], wanted: dict[str, Any], run: Run) -> Chosen:
    """Choose numbers for each relation alone; a type gets the largest of its numbers."""
    numbers = {name: 1 if number == AUTO else number for name, number in wanted.items()}
    reasons: list[str] = []
    for (source, target), matrix in data.items():
        pair = wanted[source], wanted[target]
        if AUTO not in pair:
            continue
        if source == target:
            found = communities_of(matrix, run)
            decided, reason = [(source, int(found.labels.max()) + 1)], found.reason
        else:
            choice = choose_numbers.select(pair, matrix, run)
            decided = list(zip((source, target), choice.numbers, strict=True))
            reason = choice.reason.replace("row cluster", f"{source} cluster")
            reason = reason.replace("column cluster", f"{target} cluster")
        reasons.append(f"{source} × {target}: {reason}")
        for name, number in decided:
            if wanted[name] == AUTO:
                numbers[name] = max(number, numbers[name])
    return numbers, None, " ".join(reasons)


def communities(
    graph: Any,
    n_clusters: Number = AUTO,
    *,
    directed: bool | None = None,
    sides: Sides = AUTO,
    random_state: Any = 0,
    **search: Any,
) -> MultiwayResults:
    """Find groups of the nodes of a network, and how many there are.

    Parameters
    ----------
    graph : networkx or igraph graph, square matrix, list of edges, data frame, Data or path
        Edges with or without direction and weights. Isolated nodes are in no group. Attributes of
        nodes that look like known classes are compared with the groups.
    n_clusters : int or "auto", default="auto"
        The number of groups. "auto" takes as many as shorten the description of the edges.
    directed : bool or None, default=None
        Whether edges have a direction. None detects it: a graph states it, and a matrix or an edge
        list is undirected if it is symmetric or if no two nodes are linked in both directions.
    sides : {"auto", "one", "two"}, default="auto"
        "one" puts each node into one group. "two" clusters nodes twice: as senders, by whom they
        link to, and as receivers, by who links to them. "auto" does so if edges have a direction
        and two sides give the shorter description of them.
    random_state, **search
        Parameters of :class:`MultiwayClustering`.

    Returns
    -------
    MultiwayResults
        ``groups`` are lists of names, the largest group first.

    Examples
    --------
    >>> import comarkov
    >>> edges = [("a", "b"), ("b", "c"), ("a", "c"), ("x", "y"), ("y", "z"), ("x", "z")]
    >>> comarkov.communities(edges + [("c", "x")], 2, directed=False).groups
    [['a', 'b', 'c'], ['x', 'y', 'z']]
    """
    if isinstance(graph, str | os.PathLike):
        graph = read(graph, kind="network")
    given = network_input(graph, directed)
    if given.note:
        warn_user(given.note)
    parameters = {"n_clusters": n_clusters, "random_state": random_state, **search}
    model, relations = fit_network(given, sides, parameters)
    return model.results(relations)


def fit_network(
    given: NetworkInput, sides: str, parameters: dict[str, Any]
) -> tuple[MultiwayClustering, dict[Key, Data]]:
    """Fit groups of nodes, or of senders and receivers; return the model and its relation."""
    if sides not in (AUTO, "one", "two"):
        raise InputError(f"sides={sides!r} is not a choice", advice='Set sides="auto".')
    one = {(given.data.row_kind, given.data.row_kind): given.data}
    model = MultiwayClustering(**parameters)
    if sides == "one" or (sides == AUTO and not given.is_directed):
        return model.fit(one), one
    csr = given.data.matrix
    used = [np.flatnonzero(csr.sum(axis=axis)) for axis in (1, 0)]
    fields: dict[str, Any] = {}
    for side, kind, nodes in zip(("row", "column"), SENDERS, used, strict=True):
        classes = {title: each[nodes] for title, each in given.data.row_classes.items()}
        names = getattr(given.data, f"{side}_names")[nodes]
        fields |= {f"{side}_names": names, f"{side}_kind": kind, f"{side}_classes": classes}
    two = {SENDERS: given.data.changed(matrix=csr[used[0]][:, used[1]], **fields)}
    if sides == "two":
        return MultiwayClustering(**parameters).fit(two), two
    model.fit(one)
    (labels,) = model.labels_.values()
    k = int(labels.max()) + 1
    if k > 1:
        starts = {side: labels[each] for side, each in zip(SENDERS, used, strict=True)}
        near = MultiwayClustering(**parameters | {"n_clusters": k, "n_init": 1, "init": starts})
        if _description(near.fit(two), two) >= _description(model, one):
            return model, one
    both = MultiwayClustering(**parameters).fit(two)
    if _description(both, two) >= _description(model, one):
        return model, one
    both.selection_reason_ = " ".join(filter(None, [TWO_SIDES, both.selection_reason_]))
    return both, two


def _description(model: MultiwayClustering, relations: dict[Key, Data]) -> float:
    """The nats that describe edges by blocks; each edge counts once, whatever its weight."""
    ((key, data),) = relations.items()
    labels = [model.labels_[name] for name in key]
    members = [membership(each, int(each.max()) + 1) for each in labels]
    blocks = (members[0].T @ data.matrix @ members[1]).toarray()
    sizes = cluster_sizes(labels[0]), cluster_sizes(labels[1])
    nats = description_length(blocks * (data.matrix.nnz / blocks.sum()), sizes)
    return nats - (partition_nats(sizes[0]) if len(model.types_) == 1 else 0.0)


def _check_names(parameter: str, given: Any, known: list[Any], what: str) -> None:
    """An error if a dict names something that is not in the data."""
    for name in given if isinstance(given, dict) else ():
        if name not in known:
            listed = ", ".join(map(repr, known))
            raise ValueError(f"{parameter} names the {what} {name!r}; there are {listed}.")
