"""What all kinds of results share: a fitted model with its data, in words, tables and files."""

from __future__ import annotations

import json
import os
import platform
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..costs.objective import Information
from ..io.csv_files import csv_text, tables_for_spreadsheets
from ..io.files import DATA_FILE, MODEL, SUMMARY, is_results, whole_folder
from ..joint.messages import need
from .describe import short, text_of
from .findings import Elements
from .words.titles import Words, titles_from

SUMMARY_FORMAT = 2  # of summary.json; in 1, of comarkov 0.2, clusters counted from 0
PACKAGES = ("comarkov", "numpy", "scipy", "scikit-learn", "numba")
ELEMENT_COLUMNS = ("name", "cluster", "confidence", "rank", "title")


@dataclass(frozen=True, eq=False)
class BaseResults(ABC):
    """A fitted model with its data, and all that can be written about them."""

    fitted: Any
    data: Any
    command: str = ""
    folder: str = ""

    def __post_init__(self) -> None:
        check_is_fitted(self.fitted)
        object.__setattr__(self, "fitted", copy(self.fitted))  # later fits leave results alone

    @property
    @abstractmethod
    def sentences(self) -> list[str]:
        """What was clustered and what was kept, in plain words."""

    @abstractmethod
    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster, with at most n names in a list."""

    @abstractmethod
    def tables(self) -> dict[str, str]:
        """The text of each CSV file."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """All figures for summary.json that are not about single elements."""

    @abstractmethod
    def to_html(self) -> str:
        """The report: one page that needs no network."""

    @property
    @abstractmethod
    def python(self) -> str:
        """Python code that repeats the fit from the files in the folder of results."""

    def _code(self, data: str, use: str, cut: str = "", **parameters: Any) -> str:
        """Python code that reads data, fits a model and uses it."""
        model = copy(self.fitted)
        if hasattr(model, "n_jobs"):
            model.n_jobs = None  # it is of the machine, and does not change the clusters
        vars(model).update(parameters)
        return (
            f"import comarkov\nfrom comarkov import {type(model).__name__}\n\n"
            f"data = {data}\nmodel = {model!r}.fit(data){cut}\n{use}"
        )

    @property
    def source(self) -> str:
        """What was read."""
        return str(self.data.source)

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
        """The versions of Python and of the packages used."""
        return {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}

    def describe(self, n: int = 5) -> str:
        """The results in sentences, then each cluster with its members and distinctive elements."""
        return text_of(self.sentences, self.cluster_lines(n))

    def texts(self) -> dict[str, str]:
        """All text files of results, by name."""
        summary = {
            "format": SUMMARY_FORMAT,
            **self.summary(),
            "model": repr(self.fitted),
            "parameters": self.parameters,
            "command": self.command,
            "versions": self.versions,
        }
        parts = [f"# {markdown_text(self.title)}", *map(markdown_text, self.sentences)]
        for head, *lines in self.cluster_lines(10):
            parts.append(f"## {markdown_text(head)}")
            parts.append("\n".join(f"- {markdown_text(line)}" for line in lines))
        pages = {"clusters.md": "\n\n".join(parts) + "\n", "report.html": self.to_html()}
        text = json.dumps(plain_data(summary), indent=1, ensure_ascii=False, allow_nan=False)
        return self.tables() | pages | {SUMMARY: f"{text}\n"}

    def save_data(self, folder: Path) -> None:
        """Write the data, so that a page can be made again."""
        self.data.save(folder / DATA_FILE)

    def write(
        self,
        folder: str | os.PathLike[str],
        overwrite: bool = False,
        for_spreadsheets: bool = False,
    ) -> None:
        """Write all files into a new folder, atomically: you get all of it or none.

        The files are those that the command line writes. ``comarkov.load`` and the command line
        read the folder.

        Parameters
        ----------
        folder : path
            Missing parent folders are created.
        overwrite : bool, default=False
            Replace earlier results; any other folder is left as it is.
        for_spreadsheets : bool, default=False
            Write CSV files for spreadsheet programs: names that these would run as formulas, such
            as =1+1, get an apostrophe in front. By default all names are unchanged.
        """
        need("Writing results", "jinja2")  # before a folder is made
        with whole_folder(folder, overwrite, is_results) as draft:
            replace(self, folder=str(folder)).fill(draft, for_spreadsheets)

    def fill(self, folder: Path, for_spreadsheets: bool = False) -> None:
        """Write all files into an existing folder."""
        need("Writing results", "jinja2")
        for name, text in tables_for_spreadsheets(self.texts(), for_spreadsheets).items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        self.fitted.save(folder / MODEL)
        self.save_data(folder)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusteredElements(Elements):
    """The elements of one type, with their shares of all mass."""

    masses: np.ndarray  #: the share of each element

    @property
    def shares(self) -> np.ndarray:
        """The share of each cluster."""
        return np.bincount(self.labels[self.labels >= 0], self.masses[self.labels >= 0])

    def titles_by(self, weights: np.ndarray) -> list[str]:
        """Titles made of the members with the largest weights."""
        inside = np.flatnonzero(self.labels >= 0)
        names = [short(self.names[i]) for i in inside]
        scores = np.zeros((self.n_clusters, inside.size))
        scores[self.labels[inside], np.arange(inside.size)] = weights[inside]
        prefix = f"{self.kind} " if all(name.isdecimal() for name in names) else ""
        first = [short(self.names[self.members(a, weights)[0]]) for a in range(self.n_clusters)]
        return titles_from(Words(names, scores, prefix, first))

    def table(self, titles: Sequence[str], mass: str) -> str:
        """CSV with the name, cluster, mass, rank and title of each element."""
        return element_table(self, titles, mass, [f"{share:.6g}" for share in self.masses])


def element_table(
    own: Elements,
    titles: Sequence[str],
    figure: str,
    texts: Iterable[str],
    more: Mapping[str, np.ndarray] = {},
) -> str:
    """CSV with the name, cluster, a figure, rank and title of each element, and more columns."""
    numbers = clusters = [""] * own.names.size
    if own.n_clusters:
        numbers = own.numbers_of(own.labels).tolist()
        clusters = np.array([*titles, ""], object)[own.labels].tolist()
    ranks = [rank or "" for rank in own.ranks.tolist()]
    columns = own.names.tolist(), numbers, texts, ranks, clusters
    heads = [f"{each} class" if each in ELEMENT_COLUMNS else each for each in more]
    lines = zip(*columns, *(each.tolist() for each in more.values()), strict=True)
    return csv_text(("name", "cluster", figure, "rank", "title", *heads), lines)


def information_figures(information: Information) -> dict[str, float]:
    """All amounts of information, for summary.json."""
    return information._asdict() | {"kept": information.kept}


def records(table: np.ndarray | None) -> list[dict[str, Any]] | None:
    """A structured array as one dict for each line; what is not finite is None."""
    if table is None:
        return None
    lines = (dict(zip(table.dtype.names or (), line, strict=True)) for line in table.tolist())
    return [plain_data(line) for line in lines]


def plain_data(value: Any) -> Any:
    """The value with types that JSON has: null if not finite, the repr if not data."""
    if isinstance(value, dict):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain_data(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)


def markdown_text(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]#|])", r"\\\1", escape(" ".join(text.split()), quote=False))
