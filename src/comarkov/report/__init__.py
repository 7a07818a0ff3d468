"""The report."""

from __future__ import annotations

from typing import Any


def render(results: Any, tables: dict[str, str]) -> str:
    """The page as text."""
    return "<!doctype html>"
