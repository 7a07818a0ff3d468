"""Relations between types of elements: several matrices, the elements of each type in one order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.alignment import align
from ...joint.inputs import NamedMatrix, are_numbers, as_csr, named_csr
from ...joint.inputs import names as names_of
from ...joint.joint import Joint, joint
from .fit_input import fit_input, new_input

Key = tuple[str, str]


class Elements(NamedTuple):
    """The elements of a type, as one relation has them or as all have them together."""

    size: int  # in the first relation, and in all that have no names for them
    names: list[Any] | None
    relation: Key  # which named them first; the first one if none has names

    def listed(self) -> np.ndarray:
        """Their names, or their numbers if they have none."""
        names = range(self.size) if self.names is None else self.names
        array = np.empty(len(names), dtype=object)
        array[:] = names
        return array


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
    types: dict[str, Elements] = {}
    for key, matrix in X.items():
        if not (isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, str) for k in key)):
            raise ValueError(
                f"A relation is a pair of types, as ('documents', 'words'), got {key!r}."
            )
        with _errors_name(key):
            given[key] = named_csr(fit_input(matrix))
            for axis, name in enumerate(key):
                new = Elements(given[key].matrix.shape[axis], _names(given[key], axis), key)
                types[name] = _joined(name, types.get(name), new)
    relations = {}
    for key, part in given.items():
        with _errors_name(key):
            relations[key] = joint(_placed(part, [types[name] for name in key]))
    return relations, {name: elements.listed() for name, elements in types.items()}


def read_new(
    X: Mapping[Key, Any], element_type: str, known: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, dict[Key, sp.csr_array]]:
    """The names of new elements of a type, and each relation with them as rows.

    The columns are the known elements of the other type. New elements with names are matched by
    name and need not be in every relation; those without are matched by position.
    """
    given: dict[Key, NamedMatrix] = {}
    for key, matrix in X.items():
        with _errors_name(key):
            given[key] = _new_rows(matrix, key, element_type, known)
    elements = [Elements(part.matrix.shape[0], _names(part, 0), key) for key, part in given.items()]
    if len(elements) == 1 or any(each.names is None for each in elements):
        _check_sizes(element_type, elements)
        return elements[0].listed(), {key: part.matrix for key, part in given.items()}
    names = list(dict.fromkeys(name for each in elements for name in each.names or ()))
    whole = Elements(len(names), names, elements[0].relation)
    columns = [Elements(part.matrix.shape[1], None, key) for key, part in given.items()]
    return whole.listed(), {
        key: _placed(part, [whole, others])
        for (key, part), others in zip(given.items(), columns, strict=True)
    }


def _check_sizes(element_type: str, elements: list[Elements]) -> None:
    sizes = sorted({each.size for each in elements})
    if len(sizes) > 1:
        raise ValueError(
            f"Relations have different numbers of new elements of {element_type!r}: "
            f"{', '.join(map(str, sizes))}. Name them, as in pandas.DataFrame(W, index=names), or "
            "give every relation one row for each."
        )


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
        names = None  # they tell nothing apart
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


def _joined(name: str, known: Elements | None, new: Elements) -> Elements:
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


def _placed(given: NamedMatrix, types: list[Elements]) -> sp.csr_array:
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
