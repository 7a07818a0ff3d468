"""Sizes as people write them."""

from __future__ import annotations

import re

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])?i?b)?", re.IGNORECASE)


def bytes_of(text: str) -> int | None:
    """A size such as 500000, 300MB or 2GB in bytes; None if it is none.

    Examples
    --------
    >>> bytes_of("1.5 GB"), bytes_of("much")
    (1500000000, None)
    """
    parts = SIZE.fullmatch(text.strip())
    if parts is None:
        return None
    return int(float(parts[1]) * 1000 ** " kmgt".index((parts[2] or " ").lower()))


def size_text(count: float) -> str:
    """A number of bytes as people write it.

    Examples
    --------
    >>> size_text(1_234_000_000), size_text(5_000)
    ('1.2 GB', '5 kB')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return (
                f"{count / unit:.2g} {name}" if count < 10 * unit else f"{count / unit:.0f} {name}"
            )
    return f"{count:.0f} bytes"
