"""Packages that only some users need: what to install where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

#: The packages of the extra ``cli``, by the names they are imported under.
CLI = ("jinja2", "matplotlib", "polars", "rich", "typer", "zstandard")


def need(purpose: str, *packages: str, install: str = "comarkov[cli]") -> None:
    """Raise an error of one line, which says what to install, if a package is missing.

    Call it before the import, and before work that would be lost.

    Examples
    --------
    >>> need("Reading tables", "no_such_package")
    Traceback (most recent call last):
    ImportError: Reading tables needs no_such_package. Run: pip install 'comarkov[cli]'
    """
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        raise ImportError(f"{purpose} needs {', '.join(missing)}. Run: pip install '{install}'")


def is_installed(package: str) -> bool:
    """Can the package be imported? It is not imported to find out."""
    return find_spec(package) is not None
