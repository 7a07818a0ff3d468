"""The 2-D maps of rows and of columns, packed for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..element_map import ElementMap, map_of_side
from .payload import Packed

STEPS = 4094  # along the longer axis; one more marks an element without a place


def map_sections(results: Any) -> Packed:
    """The places of all elements, in the order of the page, and what the axes show."""
    sections: dict[str, bytes] = {}
    facts: dict[str, Any] = {}
    findings = results.findings
    for name, side in zip(("rows", "columns"), findings.sides, strict=True):
        places = map_of_side(results, side)
        if is_flat(places):
            continue
        sections[f"{name} map"] = _packed(places, getattr(findings.orders, name))
        facts[name] = places.shares.round(4).tolist()
    return Packed(sections, {"maps": facts})


def is_flat(places: ElementMap) -> bool:
    """True if all elements lie on one point, so that a map shows nothing."""
    return not places.shares.any()


def _packed(places: ElementMap, order: np.ndarray) -> bytes:
    """Two numbers for each element, with the same unit on both axes."""
    points = places.points[order]
    low = np.nanmin(points, axis=0)
    unit = np.nanmax(points - low)
    steps = np.where(np.isnan(points), STEPS + 1, np.round(STEPS * (points - low) / unit))
    return steps.astype("<u2").tobytes()
