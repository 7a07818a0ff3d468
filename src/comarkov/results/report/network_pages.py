"""The pages of an aggregated Markov chain and of a multi-way clustering."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...costs.labels import membership
from ...costs.objective import expected_shares
from ...joint.messages import need
from .rendering import Page

if TYPE_CHECKING:
    from ..base_results import BaseResults
    from ..chain_results import ChainResults
    from ..multiway_results import MultiwayResults


MAX_TABLE_LETTERS = 3_000_000  # of tables, from which on they are only in the folder
MAX_DRAWN_NODES, MAX_DRAWN_EDGES = 1000, 5000
LAYOUT_ROUNDS = 80
STYLES = ("report", "cards", "print", "network")
CHAIN_PAGE = Page(
    "chain.html.j2", ("page", "numbers", "colours", "drawing", "saving", "graph"), STYLES
)
MULTIWAY_PAGE = Page(
    "multiway.html.j2",
    ("page", "numbers", "colours", "drawing", "saving", "blocks", "multiway"),
    STYLES,
)


def _render(page: Page, results: BaseResults, shown: dict[str, Any], about: dict[str, Any]) -> str:
    need("The report", "jinja2")
    tables = results.tables()
    if sum(map(len, tables.values())) > MAX_TABLE_LETTERS:
        tables = {}
    common = {"results": results, "downloads": list(tables)}
    return page.render(common | shown, about | {"tables": tables})


def chain_page(results: ChainResults) -> str:
    """The page of an aggregated chain."""
    flow = results.shares[:, None] * results.probabilities
    about = {
        "titles": results.titles,
        "sizes": results.states.sizes.tolist(),
        "shares": results.shares.tolist(),
        "probabilities": results.probabilities.round(6).tolist(),
        "order": circle_order(flow + flow.T),
    }
    fitted = results.fitted
    kept = fitted.information_.row_clusters_column_clusters
    bits = np.array([kept, fitted.lumpability_loss_, fitted.prediction_loss_])  # of I(Z1;Z2)
    shown = {
        "steps": [
            "∞" if math.isinf(steps) else f"{steps:.3g}" if steps < 1000 else f"{steps:,.0f}"
            for steps in map(results.mean_steps, range(results.n_clusters))
        ],
        "bits": bits,
        "shares": bits / (bits.sum() or 1.0),
        "can_test": not results.test and results.is_counted and not fitted.held_out,
    }
    return _render(CHAIN_PAGE, results, shown, about)


def circle_order(links: np.ndarray) -> list[int]:
    """An order around a circle in which strongly linked clusters are close to each other.

    It is that of their angles in the plane of the two smoothest eigenvectors of the links.
    """
    between = links * (1 - np.eye(len(links)))
    axes = np.linalg.eigh(np.diag(between.sum(axis=1)) - between)[1]
    angles = np.arctan2(axes[:, 2], axes[:, 1]) if len(links) > 2 else np.arange(len(links))
    return [int(a) for a in np.argsort(angles, kind="stable")]


def multiway_page(results: MultiwayResults) -> str:
    """The page of a multi-way clustering."""
    types = list(results.types)
    about: dict[str, Any] = {
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
    if drawn := _drawn(results):
        about["network"] = drawn
    return _render(MULTIWAY_PAGE, results, {"drawn": drawn}, about)


def _drawn(results: MultiwayResults) -> dict[str, Any] | None:
    """The nodes of a network with their places, groups and degrees, and the heaviest edges."""
    if results.network is None or results.network.share.shape[0] > MAX_DRAWN_NODES:
        return None
    (own,) = results.types.values()
    links = sp.csr_array(results.network.share + results.network.share.T)
    edges = sp.triu(links, 1).tocoo()
    order = np.argsort(-edges.data, kind="stable")[:MAX_DRAWN_EDGES]
    degree = links.sum(axis=1) / max(links.sum(axis=1).max(), 1e-300)
    places = places_of_nodes(links, own.labels).round(4).tolist()
    nodes = [
        [*place, int(label), round(float(size), 3)]
        for place, label, size in zip(places, own.labels, degree, strict=True)
    ]
    return {
        "nodes": nodes,
        "edges": np.column_stack([edges.row, edges.col])[order].tolist(),
        "strengths": (edges.data / edges.data.max(initial=1e-300))[order].round(2).tolist(),
        "names": own.names.tolist(),
        "hubs": [int(own.members(a, degree)[0]) for a in range(own.n_clusters)],
        "all_edges": edges.nnz,
    }


def places_of_nodes(links: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Places from 0 to 1 at which linked nodes are near each other, by springs and repulsion.

    Nodes begin around the places of their groups on a circle.
    """
    n, rng = links.shape[0], np.random.default_rng(0)
    k = int(labels.max()) + 1
    onto = membership(labels, k)
    order = circle_order((onto.T @ links @ onto).toarray())
    angle = 2 * np.pi * np.argsort(order)[labels] / k
    middle = np.where(labels[:, None] >= 0, np.column_stack([np.cos(angle), np.sin(angle)]), 1.5)
    at = middle + 0.2 * rng.normal(size=(n, 2))
    ends = sp.triu(links, 1).tocoo().coords
    step, distance = 0.2, 1.5 / np.sqrt(n)
    for _ in range(LAYOUT_ROUNDS):
        apart = at[:, None] - at[None]
        squares = np.maximum((apart**2).sum(axis=2), 1e-4)
        force = (apart * (distance**2 / squares)[..., None]).sum(axis=1) - 0.05 * at
        pull = at[ends[0]] - at[ends[1]]
        pull *= (np.sqrt((pull**2).sum(axis=1)) / distance)[:, None]
        np.add.at(force, ends[0], -pull)
        np.add.at(force, ends[1], pull)
        length = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        at += force / length * np.minimum(length, step)
        step = max(step * 0.95, 0.005)
    low, high = at.min(axis=0), at.max(axis=0)
    return np.asarray((at - low) / np.maximum(high - low, 1e-9))
