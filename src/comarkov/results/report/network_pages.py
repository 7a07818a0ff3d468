"""The pages of an aggregated Markov chain and of a multi-way clustering."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...costs.lift import expected_shares
from ...joint.messages import need
from .rendering import Page

if TYPE_CHECKING:
    from ..base_results import BaseResults
    from ..chain_results import ChainResults
    from ..multiway_results import MultiwayResults


MAX_TABLE_LETTERS = 3_000_000  # of tables, from which on they are only in the folder
ROUNDS_OF_SWAPS = 50  # in which clusters swap their places on the circle, at most
STYLES = ("report", "cards", "print", "network")
CHAIN_PAGE = Page("chain.html.j2", ("page", "numbers", "drawing", "graph"), STYLES)
MULTIWAY_PAGE = Page(
    "multiway.html.j2",
    ("page", "numbers", "colours", "drawing", "blocks", "multiway"),
    STYLES,
)


def _render(page: Page, results: BaseResults, shown: dict[str, Any], about: dict[str, Any]) -> str:
    """A page of these results, with their tables to download."""
    need("The report", "jinja2")
    tables = results.tables()
    if sum(map(len, tables.values())) > MAX_TABLE_LETTERS:
        tables = {}
    common = {"results": results, "downloads": list(tables)}
    return page.render(common | shown, about | {"tables": tables})


def chain_page(results: ChainResults) -> str:
    """The page of an aggregated chain."""
    clusters = range(results.n_clusters)
    flow = results.shares[:, None] * results.probabilities
    about = {
        "titles": results.titles,
        "sizes": [results.states.size(a) for a in clusters],
        "shares": results.shares.tolist(),
        "probabilities": results.probabilities.round(6).tolist(),
        "order": circle_order(flow + flow.T),
    }
    fitted = results.fitted
    kept = fitted.information_.row_clusters_column_clusters
    bits = np.array([kept, fitted.lumpability_loss_, fitted.prediction_loss_])  # of I(Z1;Z2)
    shown = {
        "steps": [_steps_text(results.mean_steps(a)) for a in clusters],
        "bits": bits,
        "shares": bits / (bits.sum() or 1.0),
        "can_test": not results.test and results.is_counted and not fitted.held_out,
    }
    return _render(CHAIN_PAGE, results, shown, about)


def _steps_text(steps: float) -> str:
    return "∞" if math.isinf(steps) else f"{steps:.3g}" if steps < 1000 else f"{steps:,.0f}"


def circle_order(links: np.ndarray) -> list[int]:
    """An order around a circle in which strongly linked clusters are close to each other.

    Starting with the given order, two clusters swap places as long as that lowers the sum of
    links times distances along the circle.
    """
    k = links.shape[0]
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    distance = np.minimum(steps, k - steps)
    order, best = np.arange(k), np.inf
    for _ in range(ROUNDS_OF_SWAPS):
        before = best
        for i, j in zip(*np.triu_indices(k), strict=True):  # i = j measures the order as it is
            swapped = order.copy()
            swapped[[i, j]] = order[[j, i]]
            length = float((links[np.ix_(swapped, swapped)] * distance).sum())
            if length < best * (1 - 1e-9):
                order, best = swapped, length
        if best >= before:
            break
    return [int(a) for a in order]


def multiway_page(results: MultiwayResults) -> str:
    """The page of a multi-way clustering."""
    types = list(results.types)
    about = {
        "types": [
            {"name": name, "elements": len(own.names), "titles": results.titles[name]}
            for name, own in results.types.items()
        ],
        "relations": [
            {
                "types": [types.index(name) for name in each.key],
                "kept": each.information.kept,
                "share": each.blocks.round(9).tolist(),
                "expected": expected_shares(each.blocks).round(9).tolist(),
            }
            for each in results.relations
        ],
    }
    return _render(MULTIWAY_PAGE, results, {}, about)
