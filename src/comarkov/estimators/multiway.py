"""MultiwayClustering: clusters of several types of elements by all their relations."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..costs.labels import renumbered
from ..costs.relations import Coefficients, Information, co_clustering
from ..data.contract import fit_context
from ..data.inputs import are_numbers, as_csr, names
from ..data.joint import Joint, joint
from ..data.reading.fit_input import fit_input
from ..model.numbering import canonical_orders
from ..search.graph import Graph, Relation
from ..search.methods import warn_if_unfinished
from ..search.network_problem import problem_of
from ..search.starts import Elements, Start, start_for
from .base import COUNT, NETWORK, NetworkParameters, Searches

Key = tuple[str, str]


@dataclass(eq=False, repr=False)
class MultiwayClustering(NetworkParameters, Searches):
    """Clusters of several types of elements at once, by a graph of relations between them.

    Documents have words and authors, users have items and tags: each relation e is a nonnegative
    matrix between two types S and T. All types are clustered so that they minimise

        Σ_e weight_e [I(S;T) - I(S̄;T̄)]     in bits

    (Bekkerman, El-Yaniv and McCallum 2005). With two types and one relation it is co-clustering
    at β = 1/2. With another β it is the sum of L_β over the relations, as in
    :class:`CoClustering`.

    Parameters
    ----------
    n_clusters : int or dict of type to int, default=3
        The numbers of clusters; one number stands for all types. Exactly as many are returned,
        none of them empty.
    weights : None or dict of relation to float, default=None
        How much each relation counts; 1 for those that are not named.
    beta : float in [0, 1], default=0.5
        The coupling of the two sides of each relation.
    method : {"auto", "anneal", "sequential"}, default="auto"
        "auto" begins with singular vectors of the relations, or with many small clusters of which
        it merges those that cost least, then splits and merges as long as that pays. A consensus
        of all results is tried after every third start. Tiny data get the global optimum, as in
        :class:`CoClustering`. Elements with labels in ``init`` or
        ``fixed`` stay where they are until the others have found their clusters. "anneal" solves
        at 1 and lowers β in steps, "sequential" solves at β; both from random clusters.
    n_init : int or "auto", default="auto"
        How often to start; the best is kept. "auto" is at most 6, for small data and
        ``method="auto"``.
    init : None or dict of type to array-like, default=None
        Labels to start from, -1 for an element that starts at random. They keep their numbers.
    fixed : None or dict of type to array-like, default=None
        Labels that must not change, -1 for an element that is free. They keep their numbers.
    max_iter, tol, beta_step, max_time, callback, random_state, n_jobs, verbose
        As those of :class:`CoClustering`.

    Attributes
    ----------
    labels_ : dict of type to ndarray of int
        Clusters, numbered by falling mass unless ``init`` or ``fixed`` gave numbers; the mass of
        an element is its share of each relation, summed. -1 for elements without mass in any
        relation; a warning tells how many there are.
    cost_ : float
        In bits.
    information_ : dict of relation to Information
        The four informations of each relation, in bits.
    relation_costs_ : dict of relation to float
        What each relation adds to the cost, its weight included.
    types_ : list of str
        The types, in the order in which they appear.
    n_iter_ : int
        Sweeps over all types, at all β together.

    Notes
    -----
    A relation of a type to itself, as ``("papers", "papers")`` for citations, has one partition
    on both sides.

    Examples
    --------
    >>> import numpy as np
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
        "n_clusters": [COUNT, dict],
        "weights": [None, dict],
        "init": [None, dict],
        "fixed": [None, dict],
    }

    n_clusters: int | dict[str, int] = 3
    _: KW_ONLY
    weights: dict[Key, float] | None = None
    init: dict[str, ArrayLike] | None = None
    fixed: dict[str, ArrayLike] | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Mapping[Key, Any], y: Any = None) -> Self:
        """Cluster all types.

        Parameters
        ----------
        X : dict of (type, type) to array-like, sparse matrix or data frame
            Nonnegative weights; rows are elements of the first type, columns of the second. The
            elements of a type are in the same order in all its relations, or have the same names
            in data frames, which are then brought into the order of the first.
        y : ignored
        """
        data = _read(X)
        types = list(dict.fromkeys(name for key in data for name in key))
        for name in ("n_clusters", "init", "fixed"):
            _check_names(name, getattr(self, name), types, "type")
        graph = self._graph(data, types)
        starts = [self._start(name, graph.weights[t]) for t, name in enumerate(types)]
        run = self._run(float(self.beta))
        state = self._method(self.method).solve(problem_of(graph, starts), run).state
        warn_if_unfinished(state, run, 3)
        self._keep(types, list(data), starts, state)
        self._report(starts)
        return self

    def _graph(self, data: dict[Key, Joint], types: list[str]) -> Graph:
        """Types by number, and what relations cost at each β, in units of the largest weight."""
        _check_names("weights", self.weights, list(data), "relation")
        for key, weight in (self.weights or {}).items():
            if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
                raise ValueError(f"The weight of {key} must be a number above 0, got {weight!r}.")
        number = {name: t for t, name in enumerate(types)}
        unit = max(self._weight(key) for key in data)
        relations = tuple(
            Relation(
                number[s], number[t], matrix, partial(_weighted, weight=self._weight((s, t)) / unit)
            )
            for (s, t), matrix in data.items()
        )
        return Graph(relations, len(types))

    def _start(self, name: str, mass: np.ndarray) -> Start:
        """How the elements of a type begin."""
        k = self.n_clusters.get(name) if isinstance(self.n_clusters, dict) else self.n_clusters
        if k is None:
            raise ValueError(f"n_clusters says nothing about type {name!r}.")
        init, fixed = ((given or {}).get(name) for given in (self.init, self.fixed))
        words = Elements(repr(name), f"elements of {name!r}", "in all")
        return start_for(k, init, fixed, mass, words)

    def _keep(
        self, types: list[str], relations: list[Key], starts: list[Start], state: Any
    ) -> None:
        """Set the fitted attributes, clusters in canonical order."""
        orders = canonical_orders(state.every_side(), starts)
        labels = [
            renumbered(given, order) for given, order in zip(state.labels(), orders, strict=True)
        ]
        self.types_ = types
        self.labels_ = dict(zip(types, labels, strict=True))
        self.information_: dict[Key, Information] = dict(
            zip(relations, state.informations(), strict=True)
        )
        self.relation_costs_ = {
            key: self._weight(key) * co_clustering(self.beta).cost(part)
            for key, part in self.information_.items()
        }
        self.cost_ = sum(self.relation_costs_.values())
        self.n_iter_ = state.n_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.dict = True
        return tags

    def _weight(self, key: Key) -> float:
        return float((self.weights or {}).get(key, 1.0))

    def _report(self, starts: list[Start]) -> None:
        """Warn of elements that belong nowhere."""
        empty = [
            f"{(~start.has_mass).sum()} of {start.has_mass.size} in {name!r}"
            for name, start in zip(self.types_, starts, strict=True)
            if not start.has_mass.all()
        ]
        if empty:
            message = (
                f"Elements have no mass in any relation: {', '.join(empty)}; their label is -1."
            )
            warnings.warn(message, stacklevel=4)


def _weighted(beta: float, weight: float) -> Coefficients:
    """L_β, so many times."""
    return co_clustering(beta).times(weight)


def _read(X: Any) -> dict[Key, Joint]:
    """All relations, a type's elements in one order, or an error that names what is wrong."""
    if not isinstance(X, Mapping) or not X:
        raise ValueError(
            "X must be a dict of relations to matrices, as {('documents', 'words'): W}, "
            f"got {type(X).__name__}."
        )
    data = {}
    types: dict[str, Type] = {}
    for key, matrix in X.items():
        if not (isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, str) for k in key)):
            raise ValueError(
                f"A relation is a pair of types, as ('documents', 'words'), got {key!r}."
            )
        try:
            matrix = fit_input(matrix)
            data[key] = joint(_aligned(as_csr(matrix), key, names(matrix), types))
        except ValueError as error:
            raise ValueError(f"Relation {key}: {error}") from error
    return data


class Type(NamedTuple):
    """The elements of a type, as the first relation that names them has them, or the first."""

    size: int
    names: list[Any] | None
    relation: Key


def _aligned(csr: sp.csr_array, key: Key, given: Any, types: dict[str, Type]) -> sp.csr_array:
    """Rows and columns in the order of their types, which learn of new names."""
    for axis, (name, labels) in enumerate(zip(key, given, strict=True)):
        found = None if labels is None or are_numbers(labels) else labels.tolist()
        known = types.setdefault(name, Type(csr.shape[axis], found, key))
        if csr.shape[axis] != known.size:
            raise ValueError(
                f"type {name!r} has {csr.shape[axis]} elements, but {known.size} in "
                f"{known.relation}."
            )
        if known.names is None:
            types[name] = known._replace(names=found, relation=key)
        elif found is not None and found != known.names:
            order = _order(found, known.names)
            if order is None:
                raise ValueError(
                    f"the names of type {name!r} are not those in {known.relation}, or not unique: "
                    "give every relation all elements, by the same names."
                )
            csr = csr[order] if axis == 0 else csr[:, order]
    return csr


def _order(found: list[Any], wanted: list[Any]) -> np.ndarray | None:
    """Where names are found in the order that is wanted; None if they are not the same."""
    place = {name: i for i, name in enumerate(found)}
    if len(place) < len(found) or set(place) != set(wanted):
        return None
    return np.array([place[name] for name in wanted])


def _check_names(parameter: str, given: Any, known: list[Any], what: str) -> None:
    """A dict names only what there is."""
    if isinstance(given, dict):
        for name in given:
            if name not in known:
                some = ", ".join(map(repr, known))
                raise ValueError(f"{parameter} names the {what} {name!r}; there are {some}.")
