"""Input in messages: short enough for one line."""

from __future__ import annotations

MOST = 200  # characters of input in a message


def shortened(text: str) -> str:
    """The text, or its beginning and its length if it is long."""
    return text if len(text) <= MOST else f"{text[:MOST]}... ({len(text):,} characters)"


def quote(value: object) -> str:
    """A value as Python writes it, or the beginning of that."""
    if isinstance(value, str) and len(value) > MOST:
        return f"{value[:MOST]!r}... ({len(value):,} characters)"
    return shortened(repr(value))
