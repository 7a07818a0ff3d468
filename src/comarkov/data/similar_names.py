"""Names that a user may have meant, where there is no file or choice of the name typed."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A question that names the most similar choice; empty if none is similar.

    Examples
    --------
    >>> did_you_mean("edge", ["edges", "table"])
    " Did you mean 'edges'?"
    """
    similar = get_close_matches(name, list(choices), n=1)
    return f" Did you mean {similar[0]!r}?" if similar else ""


def similar_file(path: Path) -> str:
    """The same for a file or folder that does not exist: a similar name beside it."""
    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:  # the folder does not exist either, or must not be listed
        return ""
    similar = get_close_matches(path.name, names, n=1)
    return f" Did you mean {str(path.with_name(similar[0]))!r}?" if similar else ""
