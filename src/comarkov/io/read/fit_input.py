"""What estimators take beside matrices: objects in which every item is a row; several relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint import objects
from ...joint.chains import with_all_states
from ...joint.inputs import NamedMatrix, align, are_numbers, as_csr, named_csr
from ...joint.inputs import names as names_of
from ...joint.joint import Joint, joint
from ...joint.messages import InputError, quote, warn_user
from ...joint.objects import names_rows, refuse_frame, texts_in
from ..read_options import NETWORK, ReadOptions
from .columns import FEW_RECORDS, doubtful_units, number_profile
from .data import Data
from .formats import read_any
from .headers import is_heading, is_heading_of_identifiers
from .naming import distinct
from .texts import TEXT_WEIGHTING, word_counter

Key = tuple[str, str]


def fit_input(X: Any) -> Any:
    """X as a matrix with names, if it is AnnData, texts or a data frame with a column of names.

    The rows of the matrix are the items of X in their order, so that labels go with them. All
    other input comes back as it is, or is an error with the call that reads it.
    """
    return _with_names(X, _check_frame, lambda texts: read_any(texts, None, ReadOptions()))


def new_input(X: Any, words: np.ndarray | None) -> Any:
    """New rows, whose columns are those of a fit, as a matrix with names; of texts its words."""
    return _with_names(X, lambda frame, columns: None, lambda texts: _count_known(texts, words))


def _with_names(
    X: Any, check: Callable[[Any, objects.FrameColumns], None], count: Callable[[list[str]], Data]
) -> Any:
    if objects.is_anndata(X):
        return read_any(X, None, ReadOptions())
    X = X.collect() if objects.is_lazy(X) else X
    if not (objects.is_frame(X) and hasattr(X, "dtypes")):
        texts = texts_in(X)
        return X if texts is None else count(texts)
    columns = objects.columns_of(X)
    check(X, columns)
    if not columns.texts or not names_rows(X, columns):
        return X
    (name,) = columns.texts
    rows = distinct("" if value is None else value for value in objects.values_of(X, name))
    return Data(objects.without(X, [name]), rows, columns.numbers)


def _count_known(texts: list[str], words: np.ndarray | None) -> Data:
    """Counts of the words of a fit in new texts."""
    if words is None:
        raise ValueError(
            "X is a list of texts, but the columns of the fit have no names, so that words cannot "
            "be found among them. Fit the model to texts, too: model.fit(texts)"
        )
    counter = word_counter(vocabulary=list(map(str, words)))
    counts = sp.csr_array(counter.transform(texts))
    return Data(counts, None, words, "document", "word", "the texts", TEXT_WEIGHTING)


def _check_frame(frame: Any, columns: objects.FrameColumns) -> None:
    """Refuse a frame that is no matrix; warn if columns of numbers seem to be no weights."""
    if not names_rows(frame, columns):
        refuse_frame(frame, columns)
    names = columns.numbers
    if not columns.texts and len(names) in (2, 3) and all(map(is_heading, names)):
        warn_user(
            f"Columns {', '.join(names)} look like those of an edge list, but each line of X was "
            "taken for a row of a matrix. If each line is one pair of a row and a column, pass "
            "comarkov.read(X)."
        )
    elif identifiers := list(filter(is_heading_of_identifiers, names)):
        columns_to_drop = f"columns={identifiers}" if objects.is_pandas(frame) else identifiers
        warn_user(
            f"Column {quote(identifiers[0])} of X seems to number the rows, but was read as "
            f"weights. If it does, pass X.drop({columns_to_drop})."
        )
    elif len(frame) >= FEW_RECORDS and len(names) > 1:
        values = (np.asarray(objects.values_of(frame, name)[:1000], float) for name in names)
        profiles = map(number_profile, names, values)
        if why := doubtful_units(list(profiles)):
            warn_user(
                f"The columns of X seem to be in different units ({why}), but were read as weights "
                "of one unit. If they are not, pass comarkov.records(X)."
            )


class NetworkInput(NamedTuple):
    """A square matrix of edges with the names of its nodes."""

    data: Data
    is_directed: bool
    note: str  # how the direction was found, if it was not given


def network_input(X: Any, is_directed: bool | None = None) -> NetworkInput:
    """The edges of a graph, of an edge list or of a square matrix.

    Without ``is_directed``, a symmetric matrix is undirected, and so is one in which no pair of
    nodes has edges in both directions. Edges without a direction are in both places.
    """
    data = given = X if isinstance(X, Data) else read_any(X, NETWORK, ReadOptions())
    square = with_all_states(data)
    if isinstance(square, NamedMatrix):
        nodes, kind = square.row_names, data.row_kind
        data = Data(square.matrix, nodes, nodes, kind, kind, data.source, reading=data.reading)
    names = [list(side) for side in (data.row_names, data.column_names)]
    if data.shape[0] != data.shape[1] or (all(data.named) and {*names[0]} != {*names[1]}):
        fact = f"{data.shape[0]} rows and {data.shape[1]} columns have no name in common"
        advice = "To cluster them as two kinds of things, use CoClustering (comarkov fit)."
        problem = f"A network has the same nodes as rows and as columns, but {fact}"
        raise InputError(problem, advice=advice)
    place = {name: i for i, name in enumerate(names[0])}
    is_sorted = names[0] == names[1]
    matrix = data.matrix if is_sorted else data.matrix[[place[name] for name in names[1]]]
    is_directed, note = _direction(matrix, data.reading.get("directed", is_directed), is_directed)
    if not is_directed:
        matrix = sp.csr_array(matrix.maximum(matrix.T))
    is_kind = data.row_kind not in ("row", "source", "from")
    is_kind = is_kind and given.column_kind in (data.row_kind, "column")
    kind = data.row_kind if is_kind else "node"
    nodes = data.column_names if data.named[1] else None
    classes = _classes_of_nodes(given, data.column_names)
    both = {"classes": classes, "names": nodes, "kind": kind}
    sides = {f"{side}_{what}": both[what] for side in ("row", "column") for what in both}
    named, reading = (data.named[1], data.named[1]), data.reading | {"directed": is_directed}
    data = data.changed(**sides, matrix=matrix, named=named, reading=reading)
    return NetworkInput(data, is_directed, note)


def _classes_of_nodes(data: Data, nodes: np.ndarray) -> dict[str, np.ndarray]:
    """The known classes of nodes, from those of the rows and columns that they are."""
    known: dict[str, dict[Any, Any]] = {}
    for side in ("column", "row"):
        names = getattr(data, f"{side}_names")
        for title, values in getattr(data, f"{side}_classes").items():
            pairs = zip(names.tolist(), values.tolist(), strict=True)
            known.setdefault(title, {}).update(pair for pair in pairs if pair[1] != "")
    each = nodes.tolist()
    return {t: objects.as_objects(by.get(node, "") for node in each) for t, by in known.items()}


def _direction(matrix: sp.csr_array, known: bool | None, is_asked: bool | None) -> tuple[bool, str]:
    """Whether edges have a direction, and a note if that is a guess."""
    if is_asked is not None or known is not None:
        return bool(known if is_asked is None else is_asked), ""
    there = sp.csr_array(matrix > 0)
    mutual = sp.csr_array(there.multiply(there.T))
    mutual.setdiag(False)
    mutual.eliminate_zeros()
    if mutual.nnz == 0:
        note = "No two nodes are linked in both directions, so edges were read as undirected."
        return False, f"{note} If they have a direction, set directed=True."
    is_directed = (abs(matrix - matrix.T) > 0).nnz > 0
    return is_directed, "Edges were read as directed." if is_directed else ""


class TypeElements(NamedTuple):
    """The elements of a type, as one relation has them or as all have them together."""

    size: int  # in the first relation, and in all that have no names for them
    names: list[Any] | None
    relation: Key  # which named them first; the first one if none has names

    def listed(self) -> np.ndarray:
        """Their names, or their numbers if they have none."""
        return objects.as_objects(range(self.size) if self.names is None else self.names)


def read_relations(X: Any) -> tuple[dict[Key, Joint], dict[str, np.ndarray]]:
    """All relations, and the names of the elements of each type.

    Elements with names are matched by name and need not be in every relation; those without are
    matched by position. Errors name the relation.
    """
    if not isinstance(X, Mapping) or not X:
        raise ValueError(
            "X must be a dict of relations to matrices, as {('documents', 'words'): W}, "
            f"got {type(X).__name__}."
        )
    given: dict[Key, NamedMatrix] = {}
    types: dict[str, TypeElements] = {}
    for key, matrix in X.items():
        if not (isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, str) for k in key)):
            example = "('documents', 'words')"
            raise ValueError(f"A relation is a pair of types, as {example}, got {key!r}.")
        with _errors_name(key):
            given[key] = named_csr(fit_input(matrix))
            for axis, name in enumerate(key):
                new = TypeElements(given[key].matrix.shape[axis], _names(given[key], axis), key)
                types[name] = _union(name, types.get(name), new)
    relations = {}
    for key, part in given.items():
        with _errors_name(key):
            relations[key] = joint(_place(part, [types[name] for name in key]))
    return relations, {name: elements.listed() for name, elements in types.items()}


def read_new(
    X: Mapping[Key, Any], element_type: str, known: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, dict[Key, sp.csr_array]]:
    """New elements of a type, and each relation with them as rows, matched as by read_relations."""
    given: dict[Key, NamedMatrix] = {}
    for key, matrix in X.items():
        with _errors_name(key):
            given[key] = _new_rows(matrix, key, element_type, known)
    sizes = sorted({part.matrix.shape[0] for part in given.values()})
    elements = [TypeElements(part.matrix.shape[0], _names(part, 0), k) for k, part in given.items()]
    if len(elements) == 1 or any(each.names is None for each in elements):
        if len(sizes) > 1:
            raise ValueError(
                f"Relations have different numbers of new elements of {element_type!r}: "
                f"{', '.join(map(str, sizes))}. Name them, as in pandas.DataFrame(W, index=names), "
                "or give every relation one row for each."
            )
        return elements[0].listed(), {key: part.matrix for key, part in given.items()}
    names = list(dict.fromkeys(name for each in elements for name in each.names or ()))
    whole = TypeElements(len(names), names, elements[0].relation)
    others = {key: TypeElements(part.matrix.shape[1], None, key) for key, part in given.items()}
    placed = {key: _place(part, [whole, others[key]]) for key, part in given.items()}
    return whole.listed(), placed


def _new_rows(X: Any, key: Key, element_type: str, known: Mapping[str, np.ndarray]) -> NamedMatrix:
    """New elements as rows, and the known ones of the other type as columns."""
    axis = key.index(element_type)
    others = known[key[1 - axis]]
    X = new_input(X, others)
    names = names_of(X)[axis]
    csr = as_csr(align(X, others, 1 - axis))
    csr = csr if axis == 0 else csr.T.tocsr()
    if csr.shape[1] != others.size:
        raise ValueError(
            f"X has {csr.shape[1]} elements of type {key[1 - axis]!r}, but the fit had "
            f"{others.size}. Pass a data frame that names them, or all of them in the order of "
            f"model.names_[{key[1 - axis]!r}]."
        )
    if names is not None and len(set(names.tolist())) < names.size:
        names = None  # repeated names identify nothing
    return NamedMatrix(csr, names, None)


@contextmanager
def _errors_name(key: Key) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Relation {key}: {error}") from error


def _names(given: NamedMatrix, axis: int) -> list[Any] | None:
    """The names of rows or columns; None if there are none, or only numbers."""
    names = given[1 + axis]
    return None if names is None or are_numbers(names) else names.tolist()


def _union(name: str, known: TypeElements | None, new: TypeElements) -> TypeElements:
    """The elements of a type in the relations so far and in one more."""
    if new.names is not None and len(set(new.names)) < len(new.names):
        raise ValueError(f"names of type {name!r} occur twice: give every element its own name.")
    if known is None:
        return new
    if known.names is None or new.names is None:
        if new.size != known.size:
            raise ValueError(
                f"type {name!r} has {new.size} elements, but {known.size} in {known.relation}."
            )
        return known if new.names is None else new
    names = list(dict.fromkeys([*known.names, *new.names]))
    if len(names) == len(known.names) + len(new.names):
        raise ValueError(
            f"the names of type {name!r} are not those in {known.relation}: no name is in both. "
            "Give the same element the same name in all relations, or use two types."
        )
    return known._replace(names=names)


def _place(given: NamedMatrix, types: list[TypeElements]) -> sp.csr_array:
    """The matrix with all elements of both types, in their order."""
    entries = given.matrix.tocoo()
    places = list(entries.coords)
    for axis, elements in enumerate(types):
        own = _names(given, axis)
        if own is not None and own != elements.names:
            position = {name: i for i, name in enumerate(elements.names or own)}
            places[axis] = np.array([position[name] for name in own])[places[axis]]
    shape = tuple(elements.listed().size for elements in types)
    return sp.csr_array((entries.data, tuple(places)), shape)
