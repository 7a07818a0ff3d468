"""Results of a multi-way clustering: the clusters of each type in words, tables and a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score

from ..costs import objective as lifts
from ..costs.labels import membership, overlaps
from ..costs.objective import Information
from ..io.csv_files import csv_text
from ..io.read.fit_input import Key, read_relations
from ..joint.messages import listed, plural_of_kind
from ..joint.objects import as_objects
from .base_results import BaseResults, ClusteredElements, information_figures
from .describe import features_text, short
from .findings import Feature, features_of
from .words.figures import (
    are_readable,
    bits_text,
    count_text,
    is_informative,
    joined,
    lift_text,
    percent_text,
)
from .words.titles import Words, score_features, titles_from

RELATION_COLUMNS = (
    *("relation", "row_cluster", "column_cluster", "rows", "columns"),
    *("share", "expected", "lift", "row_title", "column_title"),
)
MAX_STEM = 60  # characters of the name of a type in the names of files


@dataclass(frozen=True, eq=False)
class RelationFindings:
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

    @cached_property
    def blocks(self) -> np.ndarray:
        """P(x̄, ȳ)."""
        rows, columns = self.members
        return np.asarray((rows.T @ self.share @ columns).toarray())

    @cached_property
    def across(self) -> tuple[np.ndarray, np.ndarray]:
        """P(x̄, y) by (cluster, element of the other side), for rows and for columns."""
        rows, columns = self.members
        return (rows.T @ self.share).toarray(), (columns.T @ self.share.T).toarray()

    def element_bits(self, axis: int) -> np.ndarray:
        """What each element of a side adds to the information kept."""
        share, blocks = (self.share.T, self.blocks.T) if axis else (self.share, self.blocks)
        onto = share @ self.members[1 - axis]
        gain = self.members[axis] @ lifts.octaves(lifts.lift(blocks))
        return np.asarray((onto.toarray() * gain).sum(axis=1))


class ClassAgreement(NamedTuple):
    """The clusters of a type beside known classes of its elements."""

    type: str
    title: str
    classes: list[str]
    counts: np.ndarray  # clusters x classes
    score: float  # adjusted mutual information

    @classmethod
    def of(cls, name: str, title: str, classes: np.ndarray, labels: np.ndarray) -> ClassAgreement:
        """Count the classes in each cluster, the most frequent first."""
        each, number = np.unique(classes, return_inverse=True)
        counts = overlaps(labels, number)
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        score = float(adjusted_mutual_info_score(classes, labels))
        return cls(name, title, each[order].tolist(), counts[:, order], score)

    @property
    def sentence(self) -> str:
        """How well they agree, in words."""
        most = percent_text(self.counts.max(axis=1).sum() / self.counts.sum())
        return (
            f"Known classes ({self.title}): {most} have the most frequent class of their cluster; "
            f"the adjusted mutual information is {self.score:.2f} (1 if equal, 0 by chance)."
        )


@dataclass(frozen=True, eq=False)
class MultiwayResults(BaseResults):
    """A fitted :class:`MultiwayClustering` on its relations, and the files about them.

    ``data`` is a dict of (type, type) to ``Data``, as ``fit`` takes it.

    Examples
    --------
    >>> import comarkov
    >>> rates = comarkov.Data([[3, 0], [2, 1], [0, 4]], list("abc"), ["apples", "pears"])
    >>> data = {("user", "item"): rates}
    >>> model = comarkov.MultiwayClustering(2, random_state=0).fit(data)
    >>> comarkov.MultiwayResults(model, data).titles["item"]
    ['apples', 'pears']
    """

    @property
    def groups(self) -> list[list[str]]:
        """The names in each cluster of the first type, the largest cluster first."""
        own = next(iter(self.types.values()))
        groups = [own.typical(a, None) for a in range(own.n_clusters)]
        return [sorted(names) for names in sorted(groups, key=len, reverse=True)]

    @property
    def source(self) -> str:
        """What was read: the names of all files."""
        return listed(dict.fromkeys(Path(each.source).name for each in self.data.values()))

    @cached_property
    def relations(self) -> list[RelationFindings]:
        """All relations, in the order of the fit."""
        weights, labels = self.fitted.weights or {}, self.fitted.labels_
        members = {name: membership(each, int(each.max()) + 1) for name, each in labels.items()}
        relations = []
        for key, joint in read_relations(self.data)[0].items():
            share = joint.csr.copy().astype(np.float64)  # SciPy may sort what it is given
            share.data /= share.data.sum()
            kept, weight = self.fitted.information_[key], float(weights.get(key, 1.0))
            both = members[key[0]], members[key[1]]
            relations.append(RelationFindings(key, share, both, kept, weight))
        return relations

    def _relations_of(self, name: str) -> list[tuple[RelationFindings, int]]:
        """The relations of a type, and whether it has their rows (0) or their columns (1)."""
        return [(each, i) for each in self.relations for i in (0, 1) if each.key[i] == name]

    @cached_property
    def types(self) -> dict[str, ClusteredElements]:
        """The elements of each type: their mean share, ranked by the information they add."""
        types = {}
        for name in self.fitted.types_:
            sides = self._relations_of(name)
            shares = [relation.share.sum(axis=1 - axis) for relation, axis in sides]
            bits = [relation.weight * relation.element_bits(axis) for relation, axis in sides]
            types[name] = ClusteredElements(
                kind=name,
                names=as_objects(str(each) for each in self.fitted.names_[name]),
                labels=self.fitted.labels_[name],
                masses=np.mean(shares, axis=0),
                typicality=np.sum(bits, axis=0),
            )
        return types

    def distinctive(self, name: str, cluster: int, n: int = 10) -> dict[str, list[Feature]]:
        """The most distinctive elements of each related type."""
        lists = {}
        for relation, axis in self._relations_of(name):
            other = relation.key[1 - axis]
            features = features_of(relation.across[axis], cluster, self.fitted.names_[other], n)
            own = ("to ", "from ")[axis] if other == name else ""
            lists[f"{own}{other}"] = [each for each in features if is_informative(each.lift)]
        return lists

    @cached_property
    def titles(self) -> dict[str, list[str]]:
        """A title for each cluster of each type: distinctive elements of related types.

        The groups of a network are named by the nodes with most edges inside their groups.
        """
        if self.network is not None:
            ((name, own),) = self.types.items()
            node = replace(own, kind="node")
            return {name: node.titles_by(self.links[np.arange(own.labels.size), own.labels])}
        return {name: self._titles_of(name, own) for name, own in self.types.items()}

    def _titles_of(self, name: str, own: ClusteredElements) -> list[str]:
        """Of elements of related types; of own members where these have no names or the same."""
        clusters = range(own.n_clusters)
        names: list[str] = []
        parts = [np.zeros((own.n_clusters, 0))]
        for relation, axis in self._relations_of(name):
            other = relation.key[1 - axis]
            is_other = set(own.names).isdisjoint(self.types[other].names)
            if is_other and are_readable(self.types[other].names, other):
                elements, scores = score_features(relation.across[axis])
                names += [short(each) for each in self.types[other].names[elements]]
                parts.append(scores)
        if not names and are_readable(own.names, name):
            return own.titles_by(np.maximum(own.typicality, 0))
        typical = [short(own.typical(a, 1)[0]) for a in clusters]
        alone = {a: typical[a] for a in clusters if own.sizes[a] == 1}
        words = Words(names, np.hstack(parts), "", typical, are_names=bool(names), alone=alone)
        return titles_from(words)

    @cached_property
    def network(self) -> RelationFindings | None:
        """The only relation, if it is one of a type with itself."""
        is_network = len(self.relations) == 1 and len(self.types) == 1
        return self.relations[0] if is_network else None

    @cached_property
    def links(self) -> np.ndarray:
        """The share of all edges of each node of a network with each group, both ways added up."""
        assert self.network is not None
        share, onto = self.network.share, self.network.members[0]
        return np.asarray(((share + share.T) @ onto).toarray() / 2)

    def hubs(self, cluster: int, n: int) -> list[str]:
        """The members of a group with the most edges."""
        (own,) = self.types.values()
        return [own.names[i] for i in own.members(cluster, self.links.sum(axis=1))[:n]]

    def bridges(self, cluster: int, n: int) -> list[tuple[str, int]]:
        """The members of a group with the most edges to another one, and that group."""
        own = next(iter(self.types.values()))
        others = self.links.copy()
        others[:, cluster] = 0
        order = own.members(cluster, others.max(axis=1))[:n]
        return [(own.names[i], int(others[i].argmax())) for i in order if others[i].any()]

    def _network_sentences(self, network: RelationFindings) -> list[str]:
        ((name, own),) = self.types.items()
        blocks, n_edges, k = network.blocks, network.share.nnz, own.n_clusters
        kind = "directed"
        if (abs(network.share - network.share.T) > 0).nnz == 0:
            kind = "undirected"
            n_edges = (n_edges + np.count_nonzero(network.share.diagonal())) // 2
        lines = [
            f"{_count(len(own.names), name)} in {count_text(k, 'group')}, linked by "
            f"{count_text(n_edges)} {kind} edges."
        ]
        if k > 1:
            expected = float(blocks.sum(axis=1) @ blocks.sum(axis=0))
            inside = float(np.trace(blocks))
            lines.append(
                f"{percent_text(inside)} of the weight of edges is inside groups; by degrees alone "
                f"it would be {percent_text(expected)}."
            )
            if not is_informative(inside / expected):
                lines[-1] += " Groups are nodes with edges to the same others, not communities."
            lines.append(self.strongest_text(network))
        alone = f"Without edges: {listed(own.outside, 5)}." if own.outside.size else ""
        return [*lines, self.fitted.selection_reason_, alone]

    def strongest_text(self, relation: RelationFindings, n: int = 3) -> str:
        """The strongest links of a relation, in words."""
        (rows, columns), lift = relation.key, lifts.lift(relation.blocks)
        is_own = rows == columns
        noun = "group" if self.network is not None else "cluster"
        first, second = (noun if is_own else f"{name} {noun}" for name in relation.key)
        parts = []
        for i in np.argsort(-lifts.bits(relation.blocks), axis=None, kind="stable")[: 2 * n]:
            a, b = divmod(int(i), lift.shape[1])
            if (is_own and a > b) or not is_informative(lift[a, b]):
                continue
            other = f"with {second} {b + 1} ({self.titles[columns][b]})"
            pair = "within itself" if is_own and a == b else other
            text = f"{first} {a + 1} ({self.titles[rows][a]}) {pair}, {lift_text(lift[a, b])}"
            parts.append(text)
        if not parts:
            return "No clusters go together more than by chance."
        return f"The strongest links, compared with chance: {'; '.join(parts[:n])}."

    @cached_property
    def agreements(self) -> list[ClassAgreement]:
        """The clusters beside all known classes of elements."""
        found = {}
        for key, data in self.data.items():
            for name, axis in zip(key, ("row", "column"), strict=True):
                label_of = dict(zip(self.types[name].names, self.types[name].labels, strict=True))
                names = getattr(data, f"{axis}_names").tolist()
                labels = np.array([label_of[str(each)] for each in names])
                for title, values in getattr(data, f"{axis}_classes").items():
                    known = (values != "") & (labels >= 0)
                    if known.any():
                        pair = values[known].astype(str), labels[known]
                        found[name, title] = ClassAgreement.of(name, title, *pair)
        return list(found.values())

    @property
    def sentences(self) -> list[str]:
        """What was clustered and what was kept, in plain words."""
        if self.network is not None:
            lines = self._network_sentences(self.network)
        else:
            types = self.types.items()
            sizes = [
                f"{_count(len(each.names), name)} in {count_text(each.n_clusters, 'cluster')}"
                for name, each in types
            ]
            relations = [
                f"{percent_text(each.information.kept)} of {each.name} "
                f"({bits_text(each.information.row_clusters_column_clusters)} of "
                f"{bits_text(each.information.rows_columns)} bits)"
                for each in self.relations
            ]
            kept = f"this much of the information in the tables: {joined(relations)}"
            empty = [_count(len(x.outside), name) for name, x in types if x.outside.size]
            lines = [
                f"{joined(sizes)}, from {count_text(len(relations), 'table')}.",
                self.fitted.selection_reason_,
                f"The clusters keep {kept}.",
                f"Empty, and in no cluster: {joined(empty)}." if empty else "",
            ]
        return [line for line in (*lines, *(each.sentence for each in self.agreements)) if line]

    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster of each type."""
        return [
            self._lines_about(name, own, a, n)
            for name, own in self.types.items()
            for a in range(own.n_clusters)
        ]

    def _lines_about(self, name: str, own: ClusteredElements, a: int, n: int) -> list[str]:
        head = f"{a + 1}: {self.titles[name][a]}"
        size = f"{count_text(own.sizes[a], 'member')}, {percent_text(own.shares[a])} of"
        if self.network is not None:
            hubs = f"hubs: {listed(map(short, self.hubs(a, n + 1)), n)}"
            bridges = [f"{short(member)} (to group {b + 1})" for member, b in self.bridges(a, n)]
            lines = [f"Group {head}", f"{size} all edges' ends", hubs]
            return [*lines, f"bridges: {listed(bridges, n)}"] if bridges else lines
        typical = f"typical: {listed(map(short, own.typical(a, None)), n)}"
        lists = self.distinctive(name, a, n).items()
        distinctive = [f"distinctive {kind}: {features_text(x) or 'none'}" for kind, x in lists]
        return [f"{name} cluster {head}", f"{size} the weight", typical, *distinctive]

    @cached_property
    def files(self) -> dict[str, str]:
        """The CSV file of each type. No two are one file where case does not count."""
        files: dict[str, str] = {}
        taken = {"blocks.csv"}
        for name in self.fitted.types_:
            stem = re.sub(r"[^\w-]+", "_", normalize("NFKC", name))[:MAX_STEM]
            while (file := f"{stem}.csv").casefold() in taken:
                stem += "_"
            taken.add(file.casefold())
            files[name] = file
        return files

    @property
    def data_files(self) -> dict[Key, str]:
        """The file of each relation."""
        stems = {name: file.removesuffix(".csv") for name, file in self.files.items()}
        return {(a, b): f"data/{i}-{stems[a]}-{stems[b]}.npz" for i, (a, b) in enumerate(self.data)}

    def tables(self) -> dict[str, str]:
        """The text of a CSV file for each type, and of blocks.csv."""
        tables = {
            file: self.types[name].table(self.titles[name], "mass")
            for name, file in self.files.items()
        }
        return tables | {"blocks.csv": csv_text(RELATION_COLUMNS, self._block_lines())}

    def _block_lines(self) -> Iterator[tuple[Any, ...]]:
        for relation in self.relations:
            blocks = relation.blocks
            expected, lift = lifts.expected_shares(blocks), lifts.lift(blocks)
            rows, columns = (self.types[name].sizes for name in relation.key)
            row_titles, column_titles = (self.titles[name] for name in relation.key)
            for a, b in np.ndindex(*blocks.shape):
                texts = (f"{number:.6g}" for number in (blocks[a, b], expected[a, b], lift[a, b]))
                sizes = rows[a], columns[b]
                yield relation.name, a + 1, b + 1, *sizes, *texts, row_titles[a], column_titles[b]

    def summary(self) -> dict[str, Any]:
        """All figures for summary.json."""
        return {
            "data": {"source": self.source},
            "beta": self.fitted.beta,
            "cost": self.fitted.cost_,
            "reason": self.fitted.selection_reason_,
            "types": {name: self._type_figures(name) for name in self.fitted.types_},
            "relations": [
                {
                    "types": list(each.key),
                    "source": self.data[each.key].source,
                    "file": self.data_files[each.key],
                    "weight": each.weight,
                    "cost": self.fitted.relation_costs_[each.key],
                    "information": information_figures(each.information),
                    "blocks": each.blocks,
                }
                for each in self.relations
            ],
            "agreement": [each._asdict() for each in self.agreements],
            "sentences": self.sentences,
        }

    def _type_figures(self, name: str) -> dict[str, Any]:
        own, clusters = self.types[name], []
        for a in range(own.n_clusters):
            lists = self.distinctive(name, a).items()
            distinctive = {kind: [each._asdict() for each in features] for kind, features in lists}
            clusters.append(own.cluster_figures(a, self.titles[name][a], distinctive))
        sizes = {"elements": len(own.names), "in_no_cluster": len(own.outside)}
        return {"file": self.files[name], **sizes, "clusters": clusters}

    def save_data(self, folder: Path) -> None:
        """Write each relation into a file of its own."""
        (folder / "data").mkdir()
        for key, file in self.data_files.items():
            self.data[key].save(folder / file)

    def to_html(self) -> str:
        """The page: one file that needs no network."""
        from .report.network_pages import multiway_page

        return multiway_page(self)

    @property
    def python(self) -> str:
        """Python code that repeats the fit."""
        lines = [
            f'    {key!r}: comarkov.read("{file}"),\n' for key, file in self.data_files.items()
        ]
        data = f"{{  # in the folder of this page\n{''.join(lines)}}}"
        return self._code(data, "print(model.labels_)")


def _count(n: int, name: str) -> str:
    """A number of elements of a type."""
    return f"{count_text(n)} {name if n == 1 else plural_of_kind(name, f'elements of {name}')}"
