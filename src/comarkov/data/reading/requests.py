"""What a user asks of ``read``, checked: before the source is read, and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..similar_names import did_you_mean
from .classes import classified
from .data import Data
from .kinds import CHAIN, KINDS, ReadOptions
from .naming import renamed
from .remembering import (
    reading_of,
    remembered,
    renamed_as_before,
    similar_kind,
    similar_options,
)


@dataclass(frozen=True)
class ReadRequest:
    """How a source is to be read, and what is done with the data afterwards."""

    kind: str | None
    options: ReadOptions
    names: Mapping[str, Any]  #: what replaces ids, by "row_names" and "column_names"
    before: Mapping[str, Any] | None  #: how the data of a model were read

    @classmethod
    def of(
        cls,
        source: Any,
        kind: str | None,
        names: Mapping[str, Any],
        like: Any,
        keywords: Mapping[str, Any],
    ) -> ReadRequest:
        """The keywords of ``read``; an error if one of them is wrong."""
        if kind is not None and kind not in (*KINDS, CHAIN):
            similar = did_you_mean(str(kind), KINDS)
            raise ValueError(f"kind={kind!r} is unknown.{similar} Use one of {', '.join(KINDS)}.")
        options = ReadOptions.of(keywords)
        if like is None:
            return cls(kind, options, names, None)
        before = remembered(like)
        kind = kind or similar_kind(source, before)
        return cls(kind, similar_options(before, keywords), names, before)

    def complete(self, data: Data, max_bytes: int | None) -> Data:
        """Data that were read, with names and classes from other files."""
        ids, encoding = data, self.options.encoding
        data = renamed(data, **self.names, encoding=encoding, max_bytes=max_bytes)
        if self.before is not None:
            data = renamed_as_before(data, self.before, self.names, encoding)
        data = classified(data, ids, self.options.classes, encoding)
        reading = reading_of(data, self.kind, self.options, self.names)
        return data if reading == data.reading else data.changed(reading=reading)
