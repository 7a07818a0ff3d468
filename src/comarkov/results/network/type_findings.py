"""Findings about several types of elements: members, what is distinctive, and titles."""

from __future__ import annotations

import os
import platform
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...costs.labels import membership
from ...costs.objective import Information
from ...io.csv_files import tables_for_spreadsheets
from ...io.files import MODEL, SUMMARY, is_results, whole_folder
from ...io.read.element_types import Key, read_relations
from ...joint.joint import Joint
from ...joint.messages import need
from ..files import FORMAT, json_text, markdown_text
from ..findings import Feature, features_of, lift_of, log2
from ..results import PACKAGES
from ..words.figures import are_readable, is_informative, short_name
from ..words.titles import Words, score_features, titles_from


class Relation(NamedTuple):
    """A relation between two types with their clusters."""

    key: Key
    share: sp.csr_array  # P(x, y), its weights divided by their sum
    members: tuple[sp.csr_array, sp.csr_array]  # elements x clusters, of rows and of columns
    information: Information
    weight: float

    @property
    def name(self) -> str:
        """The two types."""
        return " × ".join(self.key)

    @property
    def blocks(self) -> np.ndarray:
        """P(x̄, ȳ)."""
        rows, columns = self.members
        blocks: np.ndarray = (rows.T @ self.share @ columns).toarray()
        return blocks

    def across(self, axis: int) -> np.ndarray:
        """P(x̄, y) by (cluster of this side, element of the other side)."""
        share = self.share if axis == 0 else self.share.T
        masses: np.ndarray = (self.members[axis].T @ share).toarray()
        return masses

    def bits(self, axis: int) -> np.ndarray:
        """What each element of a side adds to the information kept."""
        share, blocks = (self.share, self.blocks) if axis == 0 else (self.share.T, self.blocks.T)
        onto = share @ self.members[1 - axis]
        gain = self.members[axis] @ log2(lift_of(blocks))
        bits: np.ndarray = (onto.toarray() * gain).sum(axis=1)
        return bits

    def strongest(self, n: int) -> list[tuple[int, int, float]]:
        """The n blocks that add most to the information kept, with their lifts."""
        blocks = self.blocks
        lift = lift_of(blocks)
        order = np.argsort(-(blocks * log2(lift)), axis=None, kind="stable")[:n]
        places = [divmod(int(i), blocks.shape[1]) for i in order]
        return [(a, b, float(lift[a, b])) for a, b in places if is_informative(lift[a, b])]


@dataclass(frozen=True, eq=False)
class NetworkResults(ABC):
    """A fitted model with its data, and all that can be written about them."""

    fitted: Any
    data: Any
    command: str = ""

    def __post_init__(self) -> None:
        check_is_fitted(self.fitted)
        object.__setattr__(self, "fitted", copy(self.fitted))  # later fits leave results alone

    # --- what each kind of results has ------------------------------------------------------

    @property
    @abstractmethod
    def source(self) -> str:
        """What was read."""

    @property
    @abstractmethod
    def sentences(self) -> list[str]:
        """What was clustered and what was kept, in plain words; the first one is the headline."""

    @abstractmethod
    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster, with at most n names in a list."""

    @abstractmethod
    def tables(self) -> dict[str, str]:
        """The text of each CSV file."""

    @abstractmethod
    def figures(self) -> dict[str, Any]:
        """All figures for summary.json."""

    @abstractmethod
    def save_data(self, folder: Path) -> None:
        """Write the data, so that a page can be made again."""

    @abstractmethod
    def to_html(self) -> str:
        """The page: one file that needs no network."""

    @abstractmethod
    def python(self) -> str:
        """Python code that repeats the fit from the files in the folder of results."""

    # --- what they share --------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The name of the data."""
        return Path(self.source).name or type(self.fitted).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the model."""
        parameters: dict[str, Any] = self.fitted.get_params(deep=False)
        return parameters

    @property
    def versions(self) -> dict[str, str]:
        """The versions of Python and of the packages that take part."""
        return {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}

    def describe(self, n: int = 5) -> str:
        """The result in words: what was kept, then each cluster."""
        blocks = [
            "\n".join([head, *(f"  {line}" for line in rest)])
            for head, *rest in self.cluster_lines(n)
        ]
        return "\n\n".join(["\n".join(self.sentences), *blocks])

    def summary_json(self) -> str:
        """All figures that are not about single elements, and what is needed to repeat them."""
        about = {
            "model": repr(self.fitted),
            "parameters": self.parameters,
            "command": self.command,
            "versions": self.versions,
        }
        return json_text({"format": FORMAT, **self.figures(), **about})

    def clusters_md(self) -> str:
        """The clusters in Markdown, for people."""
        lines = [f"# {markdown_text(self.title)}", "", markdown_text(" ".join(self.sentences)), ""]
        for head, *rest in self.cluster_lines(10):
            lines += [
                f"## {markdown_text(head)}",
                "",
                *(f"- {markdown_text(each)}" for each in rest),
                "",
            ]
        return "\n".join(lines).rstrip() + "\n"

    def write(
        self,
        folder: str | os.PathLike[str],
        overwrite: bool = False,
        for_spreadsheets: bool = False,
    ) -> None:
        """Write all files into a new folder, atomically: you get all of it or none.

        With ``for_spreadsheets``, names in CSV files that a spreadsheet would run as formulas, such
        as =1+1, get an apostrophe in front.
        """
        need("Writing results", "jinja2")
        with whole_folder(folder, overwrite, is_results) as draft:
            self.fill(draft, for_spreadsheets)

    def fill(self, folder: Path, for_spreadsheets: bool = False) -> None:
        """Write all files into an existing folder."""
        texts = self.tables() | {
            "clusters.md": self.clusters_md(),
            SUMMARY: self.summary_json(),
            "report.html": self.to_html(),
        }
        for name, text in tables_for_spreadsheets(texts, for_spreadsheets).items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        self.fitted.save(folder / MODEL)
        self.save_data(folder)


def listed(names: Sequence[str], size: int) -> str:
    """The first names of a list, and how many more there are."""
    text = ", ".join(map(short, names))
    return f"{text}, and {size - len(names):,} more" if size > len(names) else text


def short(name: str) -> str:
    """A name in one line, cut if it is long; quoted if it is blank."""
    return short_name(name) or repr(name)


MEMBERS = 5  # of a cluster that may stand in its title


class Distinctive(NamedTuple):
    """The elements of a related type that tell most for a cluster."""

    kind: str
    features: list[Feature]


@dataclass(frozen=True, eq=False)
class TypeFindings(NetworkResults):
    """The clusters of each type of a fitted :class:`MultiwayClustering`, as numbers with names."""

    @cached_property
    def relations(self) -> list[Relation]:
        """All relations, in the order of the fit."""
        joints, _ = read_relations(self.data)
        weights = self.fitted.weights or {}
        members = {
            name: membership(labels, self.n_clusters(name))
            for name, labels in self.fitted.labels_.items()
        }
        return [
            Relation(
                key,
                _shares(joint),
                (members[key[0]], members[key[1]]),
                self.fitted.information_[key],
                float(weights.get(key, 1.0)),
            )
            for key, joint in joints.items()
        ]

    def _sides(self, name: str) -> Iterator[tuple[Relation, int]]:
        """The relations of a type, and whether it has their rows (0) or their columns (1)."""
        for relation in self.relations:
            for axis in (0, 1):
                if relation.key[axis] == name:
                    yield relation, axis

    def n_clusters(self, name: str) -> int:
        """The number of clusters of a type."""
        return int(self.fitted.labels_[name].max()) + 1

    def names(self, name: str) -> list[str]:
        """The names of the elements of a type."""
        return [str(each) for each in self.fitted.names_[name]]

    @cached_property
    def masses(self) -> dict[str, np.ndarray]:
        """The share of each element in all relations of its type, on average."""
        return {
            name: np.mean(
                [relation.share.sum(axis=1 - axis) for relation, axis in self._sides(name)], axis=0
            )
            for name in self.fitted.types_
        }

    @cached_property
    def bits(self) -> dict[str, np.ndarray]:
        """What each element adds to the information kept, in all relations of its type."""
        return {
            name: np.sum(
                [relation.weight * relation.bits(axis) for relation, axis in self._sides(name)],
                axis=0,
            )
            for name in self.fitted.types_
        }

    def members(self, name: str, cluster: int) -> np.ndarray:
        """The members of a cluster, the most typical first."""
        inside = np.flatnonzero(self.fitted.labels_[name] == cluster)
        return inside[np.argsort(-self.bits[name][inside], kind="stable")]

    def member_names(self, name: str, cluster: int, n: int | None = None) -> list[str]:
        """The names of the n most typical members of a cluster."""
        names = self.fitted.names_[name]
        return [str(names[i]) for i in self.members(name, cluster)[:n]]

    def share(self, name: str, cluster: int) -> float:
        """The share of a cluster in the relations of its type."""
        return float(self.masses[name][self.members(name, cluster)].sum())

    @cached_property
    def _across(self) -> dict[tuple[Key, int], np.ndarray]:
        return {
            (relation.key, axis): relation.across(axis)
            for relation in self.relations
            for axis in (0, 1)
        }

    def distinctive(self, name: str, cluster: int, n: int = 10) -> list[Distinctive]:
        """For each relation of a type, the elements on the other side that tell most."""
        lists = []
        for relation, axis in self._sides(name):
            other = relation.key[1 - axis]
            across = self._across[relation.key, axis]
            features = features_of(across, cluster, self.fitted.names_[other], n)
            own = ("to", "from")[axis] if other == name else ""
            strong = [each for each in features if is_informative(each.lift)]
            lists.append(Distinctive(f"{own} {other}".strip(), strong))
        return lists

    @cached_property
    def titles(self) -> dict[str, list[str]]:
        """A title for each cluster of each type: distinctive elements of related types."""
        return {name: titles_from(self._words(name)) for name in self.fitted.types_}

    def _words(self, name: str) -> Words:
        """Elements of related types that may stand in titles; own members if these say more."""
        k = self.n_clusters(name)
        typical = [short(self.member_names(name, a, 1)[0]) for a in range(k)]
        names: list[str] = []
        parts = [np.zeros((k, 0))]
        for relation, axis in self._sides(name):
            other = relation.key[1 - axis]
            if are_readable(self.names(other), other):
                elements, scores = score_features(self._across[relation.key, axis], [])
                names += [short(self.names(other)[i]) for i in elements]
                parts.append(scores)
        if not names and are_readable(self.names(name), name):
            for a in range(k):
                members = self.members(name, a)[:MEMBERS]
                names += [short(self.names(name)[i]) for i in members]
                parts.append(np.zeros((k, members.size)))
                parts[-1][a] = np.maximum(self.bits[name][members], 0)
        return Words(names, np.hstack(parts), "", typical, are_names=bool(names))


def _shares(joint: Joint) -> sp.csr_array:
    """P(x, y); a copy, because SciPy may sort the entries of what it is given."""
    matrix = joint.csr.copy().astype(np.float64)
    matrix.data /= matrix.data.sum()
    return matrix
