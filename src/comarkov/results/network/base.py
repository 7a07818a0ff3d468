"""What results of chains and of several types share: files, a page, and how to repeat them."""

from __future__ import annotations

import os
import platform
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ...data.extras import need
from ...data.spreadsheets import raw_names as names_as_given
from ...data.writing import whole_folder
from ...model.storage import MODEL, SUMMARY, is_results
from ..files import FORMAT
from ..formats import json_text, markdown_text
from ..names import short_name
from ..results import PACKAGES


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
        self, folder: str | os.PathLike[str], overwrite: bool = False, raw_names: bool = False
    ) -> None:
        """Write all files into a new folder, atomically: you get all of it or none.

        Names in CSV files that a spreadsheet would compute, such as =1+1, begin with an apostrophe,
        unless you want ``raw_names``.
        """
        need("Writing results", "jinja2")
        with whole_folder(folder, overwrite, is_results) as draft, names_as_given(raw_names):
            self.fill(draft)

    def fill(self, folder: Path) -> None:
        """Write all files into an existing folder."""
        texts = self.tables() | {
            "clusters.md": self.clusters_md(),
            SUMMARY: self.summary_json(),
            "report.html": self.to_html(),
        }
        for name, text in texts.items():
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
