"""Titles that people give to clusters: read, checked, and written beside the results.

They come as JSON from the report, or as the same from Python:

    {"n_clusters": [2, 3], "rows": {"0": "insiders"}, "columns": {"2": "late events"}}

``n_clusters`` may be missing, and the titles of a side may be a list in the order of the clusters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...joint.messages import did_you_mean, similar_file
from ..findings import Findings, SideFindings
from .figures import short_name

FILE = "titles.json"
KEYS = {"n_clusters", "rows", "columns"}
LONGEST = 120  # characters

Titles = Mapping[str, Any] | str | os.PathLike[str]


class OtherNumbersError(ValueError):
    """The titles belong to other numbers of clusters."""

    def __init__(self, theirs: tuple[int | None, int | None], ours: tuple[int, int]) -> None:
        self.n_clusters = theirs
        wanted = " x ".join(str(n or 0) for n in theirs)
        super().__init__(
            f"The titles are for {wanted} clusters, but there are {ours[0]} x {ours[1]}. Cut the "
            f"model to these numbers first: model.cut({theirs})."
        )


def entitled(findings: Findings, titles: Titles | None) -> Findings:
    """The same findings with these titles."""
    if titles is None:
        return findings
    table = _table(titles)
    sides = findings.rows, findings.columns
    numbers = table.get("n_clusters")
    ours = findings.rows.n_clusters, findings.columns.n_clusters
    if numbers is not None and tuple(n or 0 for n in numbers) != ours:
        raise OtherNumbersError((numbers[0], numbers[1]), ours)
    rows, columns = (
        replace(side, given_titles=_checked(table.get(f"{side.axis}s") or {}, side))
        for side in sides
    )
    return replace(findings, rows=rows, columns=columns)


def titles_json(findings: Findings) -> str | None:
    """The titles that were given, as the text of titles.json; None if there are none."""
    sides = {"rows": findings.rows, "columns": findings.columns}
    if not any(side.given_titles for side in sides.values()):
        return None
    table = {
        "n_clusters": [side.n_clusters if side.is_clustered else None for side in sides.values()]
    } | {
        name: {str(a): title for a, title in sorted(side.given_titles.items())}
        for name, side in sides.items()
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def _table(titles: Titles) -> Mapping[str, Any]:
    """The titles as a mapping, read from a file if need be."""
    where = "titles="
    if not isinstance(titles, Mapping):
        where = str(titles)
        try:
            titles = json.loads(Path(titles).read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            advice = similar_file(Path(where)) or " Check the path."
            raise FileNotFoundError(f"There is no file {where!r}.{advice}") from None
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{where} is not JSON: {error}. {_EXPECTED}") from None
    if not isinstance(titles, Mapping):
        raise ValueError(f"{where} does not hold titles. {_EXPECTED}")
    for key in titles:
        if key not in KEYS:
            similar = did_you_mean(str(key), sorted(KEYS))
            raise ValueError(f"{where} has the unknown key {key!r}.{similar} {_EXPECTED}")
    numbers = titles.get("n_clusters", (None, None))
    if not isinstance(numbers, list | tuple) or len(numbers) != 2:
        raise ValueError(f"{where}: n_clusters must be two numbers, not {numbers!r}.")
    return titles


_EXPECTED = 'It must look like {"n_clusters": [2, 3], "rows": {"0": "a title"}, "columns": {}}.'


def _checked(titles: Any, side: SideFindings) -> dict[int, str]:
    """Titles by the number of the cluster; empty ones are left out."""
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(titles, Mapping):
        pairs = titles.items()
    elif isinstance(titles, list | tuple):
        pairs = enumerate(titles)
    else:
        raise ValueError(f"The titles of {side.axis}s must be a list or a mapping: {_EXPECTED}")
    given = {}
    for key, title in pairs:
        if not str(key).isdecimal() or int(key) >= side.n_clusters:
            raise ValueError(
                f"There is no {side.axis} cluster {key}, which the titles name {title!r}: there "
                f"are {side.n_clusters}, from 0 to {side.n_clusters - 1}."
            )
        if not isinstance(title, str):
            raise ValueError(f"The title of {side.axis} cluster {key} must be text, not {title!r}.")
        if text := short_name(title, LONGEST):
            given[int(key)] = text
    return given
