"""What a store is on disk: a folder of plain arrays, and store.json, which describes them.

``rows`` holds the arrays of ``Joint.matrix``, ``columns`` those of its transpose, ``names`` the
names of rows and columns, and what else is known about them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..own_folders import STORE
from .arrays import Written, damaged_file, digest_of

FORMAT = 1
ROWS, COLUMNS, NAMES = "rows", "columns", "names"  # folders in a store
ARRAYS = ("indptr", "indices", "weights", "ones", "twos", "mass")  # of a matrix, as kernels take it

WEIGHTS = ("int32", "float32", "float64")
#: What a description and ``Data`` have in common.
FACTS = ("row_kind", "column_kind", "source", "weighting", "named", "entry_kind", "reading")


@dataclass(frozen=True)
class Description:
    """The content of store.json."""

    shape: tuple[int, int]
    entries: int
    is_count: bool
    scale: float
    spread: float
    weights: str  #: the type of the weights
    row_kind: str = "row"
    column_kind: str = "column"
    source: str = ""
    weighting: str | None = None
    named: tuple[bool, bool] = (False, False)
    entry_kind: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Written] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The description as plain values."""
        content = asdict(self)
        content["spread"] = None if np.isinf(self.spread) else self.spread
        content["files"] = {name: written._asdict() for name, written in self.files.items()}
        return content

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Description:
        """The description from plain values."""
        values = dict(content)
        values["shape"], values["named"] = tuple(values["shape"]), tuple(values["named"])
        values["spread"] = np.inf if values["spread"] is None else values["spread"]
        values["files"] = {name: Written(**each) for name, each in values["files"].items()}
        return cls(**values)

    def write(self, folder: Path) -> None:
        """Write store.json, the last file of a store."""
        content = {"format": FORMAT, **self.as_json()}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (folder / STORE).write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Description:
        """Read store.json, and check that all files have their sizes."""
        content = _content(folder)
        try:
            description = cls.of_json(content)
            is_sound = description._is_sound()
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise damaged(folder, STORE) from error
        if not is_sound:
            raise damaged(folder, STORE)
        for name, written in description.files.items():
            path = folder / name
            if not path.is_file() or path.stat().st_size != written.bytes:
                raise damaged(folder, name)
        return description

    def _is_sound(self) -> bool:
        """Have all values their types, and numbers that can be?"""
        counts = (*self.shape, self.entries)
        texts = (self.row_kind, self.column_kind, self.source, self.entry_kind)
        return (
            len(self.shape) == 2
            and all(type(count) is int and count > 0 for count in counts)
            and type(self.is_count) is bool
            and self.weights in WEIGHTS
            and all(isinstance(value, int | float) for value in (self.scale, self.spread))
            and 0 < self.scale < math.inf
            and self.spread > 0
            and all(isinstance(text, str) for text in texts)
            and len(self.named) == 2
            and isinstance(self.reading, dict)
            and not any(".." in name or name.startswith("/") for name in self.files)
        )

    def verify(self, folder: Path, advance: Any = None) -> None:
        """Compare all files with their checksums; an error names the first that differs."""
        done, total = 0, sum(written.bytes for written in self.files.values())
        for name, written in self.files.items():
            if digest_of(folder / name) != written.sha256:
                raise damaged(folder, name)
            done += written.bytes
            if advance is not None:
                advance(done, total)


def _content(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / STORE).read_text(encoding="utf-8"))
        version = content.pop("format")
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise damaged(folder, STORE) from error
    if version != FORMAT:
        raise ValueError(
            f"{folder} is a store of format {version}, but this version of comarkov reads format "
            f"{FORMAT}. Pack its source again, or install the version that wrote it."
        )
    return dict(content)


def damaged(folder: Path, name: str) -> ValueError:
    """The error about a file of a store that is not as it was written."""
    return damaged_file(folder / name)
