"""Results of a multi-way clustering: the clusters of each type in words, tables and a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import membership
from ...data.joint import Joint
from ...data.relations import Key, read_relations
from ..findings import Feature, expected_of, features_of, lift_of
from ..formats import csv_text
from ..names import are_readable
from ..numbers import bits_text, count_text, is_informative, lift_text, percent_text, plural
from ..title_words import Words, score_features
from ..titles import titles_from
from .base import NetworkResults, listed, short
from .relation import Relation

ELEMENTS = ("name", "cluster", "mass", "rank", "title")
BLOCKS = (
    *("relation", "row_cluster", "column_cluster", "rows", "columns"),
    *("share", "expected", "lift", "row_title", "column_title"),
)
MEMBERS = 5  # of a cluster that may stand in its title
OTHER_FILES = ("blocks",)  # names of files that are not those of types


class Distinctive(NamedTuple):
    """The elements of a related type that tell most for a cluster."""

    kind: str
    features: list[Feature]


@dataclass(frozen=True, eq=False)
class MultiwayResults(NetworkResults):
    """A fitted :class:`MultiwayClustering` on its relations, and the files about them.

    ``data`` is a dict of (type, type) to ``Data``, as ``fit`` takes it.
    """

    @property
    def source(self) -> str:
        """What was read: the first file, and how many more there are."""
        files = list(dict.fromkeys(Path(each.source).name for each in self.data.values()))
        return files[0] if len(files) == 1 else " + ".join(files[:3]) + ("…" * (len(files) > 3))

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

    # --- words ------------------------------------------------------------------------------

    @property
    def sentences(self) -> list[str]:
        """What was clustered and what was kept, in plain words."""
        sizes = [
            f"{_counted(self.fitted.labels_[name].size, name)} in "
            f"{count_text(self.n_clusters(name), 'cluster')}"
            for name in self.fitted.types_
        ]
        relations = [
            f"{percent_text(each.information.kept)} of {each.name} "
            f"({bits_text(each.information.row_clusters_column_clusters)} of "
            f"{bits_text(each.information.rows_columns)} bits)"
            for each in self.relations
        ]
        lines = [
            f"{_and(sizes)}, from {count_text(len(relations), 'table')}.",
            f"The clusters keep this much of the information in the tables: {_and(relations)}.",
        ]
        outside = {name: int((x < 0).sum()) for name, x in self.fitted.labels_.items()}
        empty = [_counted(n, name) for name, n in outside.items() if n]
        if empty:
            lines.append(f"In no cluster, because they are empty: {_and(empty)}.")
        return lines

    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster of each type."""
        return [
            [
                f"{name} cluster {a}: {self.titles[name][a]}",
                f"{count_text(self.members(name, a).size, 'member')}, "
                f"{percent_text(self.share(name, a))} of the weight",
                f"typical: {listed(self.member_names(name, a, n), self.members(name, a).size)}",
                *(
                    f"distinctive {part.kind}: {_features(part.features) or 'none'}"
                    for part in self.distinctive(name, a, n)
                ),
            ]
            for name in self.fitted.types_
            for a in range(self.n_clusters(name))
        ]

    # --- files ------------------------------------------------------------------------------

    @cached_property
    def files(self) -> dict[str, str]:
        """The CSV file of each type."""
        files: dict[str, str] = {}
        for name in self.fitted.types_:
            stem = re.sub(r"[^\w-]+", "_", name)
            while f"{stem}.csv" in files.values() or stem in OTHER_FILES:
                stem += "_"
            files[name] = f"{stem}.csv"
        return files

    @property
    def data_files(self) -> dict[Key, str]:
        """The file of each relation."""
        stems = {name: Path(file).stem for name, file in self.files.items()}
        return {
            key: f"data/{i}-{stems[key[0]]}-{stems[key[1]]}.npz" for i, key in enumerate(self.data)
        }

    def tables(self) -> dict[str, str]:
        """The text of a CSV file for each type, and of blocks.csv."""
        tables = {
            file: csv_text(ELEMENTS, self._element_lines(name)) for name, file in self.files.items()
        }
        return tables | {"blocks.csv": csv_text(BLOCKS, self._block_lines())}

    def _element_lines(self, name: str) -> list[tuple[Any, ...]]:
        rank = {
            int(i): place
            for a in range(self.n_clusters(name))
            for place, i in enumerate(self.members(name, a), 1)
        }
        columns = zip(self.names(name), self.fitted.labels_[name], self.masses[name], strict=True)
        titles = self.titles[name]
        return [
            (each, label, f"{mass:.6g}", rank.get(i, ""), "" if label < 0 else titles[label])
            for i, (each, label, mass) in enumerate(columns)
        ]

    def _block_lines(self) -> Iterator[tuple[Any, ...]]:
        for relation in self.relations:
            blocks = relation.blocks
            expected, lift = expected_of(blocks), lift_of(blocks)
            rows, columns = (self.titles[name] for name in relation.key)
            sizes = [member.sum(axis=0).astype(int) for member in relation.members]
            for a, b in np.ndindex(*blocks.shape):
                numbers = blocks[a, b], expected[a, b], lift[a, b]
                texts = (f"{number:.6g}" for number in numbers)
                yield relation.name, a, b, sizes[0][a], sizes[1][b], *texts, rows[a], columns[b]

    def figures(self) -> dict[str, Any]:
        """All figures for summary.json."""
        return {
            "data": {"source": self.source},
            "beta": self.fitted.beta,
            "cost": self.fitted.cost_,
            "types": {name: self._type_figures(name) for name in self.fitted.types_},
            "relations": [
                {
                    "types": list(each.key),
                    "source": self.data[each.key].source,
                    "file": self.data_files[each.key],
                    "weight": each.weight,
                    "cost": self.fitted.relation_costs_[each.key],
                    "information": each.information._asdict() | {"kept": each.information.kept},
                    "blocks": each.blocks,
                }
                for each in self.relations
            ],
            "sentences": self.sentences,
        }

    def _type_figures(self, name: str) -> dict[str, Any]:
        labels = self.fitted.labels_[name]
        clusters = [
            {
                "cluster": a,
                "title": self.titles[name][a],
                "size": self.members(name, a).size,
                "share": self.share(name, a),
                "typical": self.member_names(name, a, 10),
                "distinctive": {
                    part.kind: [each._asdict() for each in part.features]
                    for part in self.distinctive(name, a)
                },
            }
            for a in range(self.n_clusters(name))
        ]
        return {
            "file": self.files[name],
            "elements": labels.size,
            "in_no_cluster": int((labels < 0).sum()),
            "clusters": clusters,
        }

    def save_data(self, folder: Path) -> None:
        """Write each relation into a file of its own."""
        (folder / "data").mkdir()
        for key, file in self.data_files.items():
            self.data[key].save(folder / file)

    def to_html(self) -> str:
        """The page: one file that needs no network."""
        from ..report.multiway import render

        return render(self)

    def python(self) -> str:
        """Python code that repeats the fit."""
        lines = [f'    {key!r}: comarkov.read("{file}"),' for key, file in self.data_files.items()]
        return "\n".join(
            [
                "import comarkov\nfrom comarkov import MultiwayClustering\n",
                "data = {  # in the folder of this page",
                *lines,
                "}",
                f"model = {self.fitted!r}.fit(data)\nprint(model.labels_)",
            ]
        )


def _shares(joint: Joint) -> sp.csr_array:
    """P(x, y); a copy, because SciPy may sort the entries of what it is given."""
    matrix = joint.csr.copy().astype(np.float64)
    matrix.data /= matrix.data.sum()
    return matrix


def _counted(n: int, name: str) -> str:
    """A number of elements of a type, whose name may be a plural already."""
    return f"{count_text(n)} {name if n == 1 or name.endswith('s') else plural(name)}"


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _features(features: list[Feature]) -> str:
    return ", ".join(f"{short(each.name)} {lift_text(each.lift)}" for each in features)
