"""Results of a multi-way clustering: the clusters of each type in words, tables and a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...io.csv_files import csv_text
from ...io.files import DATA_FILE
from ...io.read import read
from ...io.read.element_types import Key
from ...joint.messages import plural
from ..findings import Feature, expected_of, lift_of
from ..words.figures import bits_text, count_text, lift_text, percent_text
from .chain_results import ChainResults
from .type_findings import NetworkResults, TypeFindings, listed, short

ELEMENTS = ("name", "cluster", "mass", "rank", "title")
BLOCKS = (
    *("relation", "row_cluster", "column_cluster", "rows", "columns"),
    *("share", "expected", "lift", "row_title", "column_title"),
)
OTHER_FILES = ("blocks",)  # names of files that are not those of types


@dataclass(frozen=True, eq=False)
class MultiwayResults(TypeFindings):
    """A fitted :class:`MultiwayClustering` on its relations, and the files about them.

    ``data`` is a dict of (type, type) to ``Data``, as ``fit`` takes it.

    Examples
    --------
    >>> import comarkov
    >>> rates = comarkov.Data([[3, 0], [2, 1], [0, 4]], list("abc"), ["apples", "pears"])
    >>> data = {("user", "item"): rates}
    >>> model = comarkov.MultiwayClustering(2, random_state=0).fit(data)
    >>> comarkov.MultiwayResults(model, data).titles["item"]  # by their users
    ['a', 'c']
    """

    @property
    def source(self) -> str:
        """What was read: the first file, and how many more there are."""
        files = list(dict.fromkeys(Path(each.source).name for each in self.data.values()))
        return files[0] if len(files) == 1 else " + ".join(files[:3]) + ("…" * (len(files) > 3))

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
        from ..report.network_pages import multiway_page

        return multiway_page(self)

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


def _counted(n: int, name: str) -> str:
    """A number of elements of a type, whose name may be a plural already."""
    return f"{count_text(n)} {name if n == 1 or name.endswith('s') else plural(name)}"


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _features(features: list[Feature]) -> str:
    return ", ".join(f"{short(each.name)} {lift_text(each.lift)}" for each in features)


def network_results(folder: Path, model: Any, about: dict[str, Any]) -> NetworkResults | None:
    """The results of a model in a folder, given its summary; None for co-clusterings."""
    command = str(about.get("command", ""))
    match type(model).__name__:
        case "MarkovAggregation":
            data = replace(read(folder / DATA_FILE), source=str(about["data"]["source"]))
            return ChainResults(model, data, command)
        case "MultiwayClustering":
            tables = {
                tuple(each["types"]): replace(read(folder / each["file"]), source=each["source"])
                for each in about["relations"]
            }
            return MultiwayResults(model, tables, command)
    return None
