"""The page of an aggregated Markov chain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...joint.messages import need
from ..findings import expected_of
from .content import brief
from .rendering import Page

if TYPE_CHECKING:
    from ..network.chain_results import ChainResults
    from ..network.multiway_results import MultiwayResults
    from ..network.type_findings import Relation


LARGE = 3_000_000  # characters of tables from which on they are only in the folder
STYLES = ("report", "layout", "cards", "print", "network")
CARD = 8  # names in each list of a card


def network_page(page: Page, results: Any, shown: dict[str, Any], about: dict[str, Any]) -> str:
    """A page of these results, with their tables to download."""
    need("The report", "jinja2")
    tables = results.tables()
    if sum(map(len, tables.values())) > LARGE:
        tables = {}
    common = {
        "results": results,
        "downloads": list(tables),
        "parameters": {name: brief(value) for name, value in results.parameters.items()},
        "repeat": results.python(),
    }
    return page.render(common | shown, about | {"tables": tables})


CHAIN_SCRIPTS = {
    "page": ("elements", "tooltip"),
    "data": ("numbers",),
    "drawing": ("svg",),
    "controls": ("downloads",),
    "network": ("about", "graph"),
}
CHAIN_PAGE = Page("chain.html.j2", CHAIN_SCRIPTS, "network/chain", STYLES)
SHADES = 9  # of the cells of the table
SWAPS = 50  # rounds in which clusters swap their places on the circle, at most


def chain_page(results: ChainResults) -> str:
    """The page of these results."""
    shown = {
        "cards": [_card(results, a) for a in range(results.n_clusters)],
        "losses": _losses(results),
        "can_test": not results.test and results.is_counted and not results.fitted.held_out,
    }
    return network_page(CHAIN_PAGE, results, shown, _about_chain(results))


def _about_chain(results: ChainResults) -> dict[str, Any]:
    """What the script needs."""
    flow = results.shares[:, None] * results.probabilities
    return {
        "titles": results.titles,
        "sizes": [int(results.members(a).size) for a in range(results.n_clusters)],
        "shares": results.shares.tolist(),
        "probabilities": results.probabilities.round(6).tolist(),
        "order": circle_order(flow + flow.T),
    }


def _card(results: ChainResults, cluster: int) -> dict[str, Any]:
    masses, members = results.fitted.stationary_distribution_, results.members(cluster)
    steps = results.mean_steps(cluster)
    return {
        "cluster": cluster,
        "title": results.titles[cluster],
        "share": float(results.shares[cluster]),
        "stays": float(results.probabilities[cluster, cluster]),
        "steps": "∞" if math.isinf(steps) else f"{steps:.3g}" if steps < 1000 else f"{steps:,.0f}",
        "row": [_cell(p) for p in results.probabilities[cluster].tolist()],
        "members": results.member_names(cluster),
        "visited": [(results.names[i], float(masses[i])) for i in members[:CARD]],
        "next": [(b, results.titles[b], p) for b, p in results.successors(cluster, CARD - 1)],
    }


def _cell(probability: float) -> dict[str, Any]:
    text = "0" if probability == 0 else f"{probability:.3f}" if probability >= 5e-4 else "<.001"
    return {"text": text, "heat": math.ceil(probability * SHADES)}


def _losses(results: ChainResults) -> list[dict[str, Any]]:
    """The three parts of I(Z1;Z2): kept, lumpability loss and prediction loss."""
    fitted = results.fitted
    kept = fitted.information_.row_clusters_column_clusters
    parts = [
        ("kept", "Kept", kept, "What a cluster reveals about the next cluster."),
        (
            "lumpability",
            "Lumpability loss",
            fitted.lumpability_loss_,
            "What the state would add about the next cluster: how far the clusters are from being "
            "a Markov chain. 0 if all states of a cluster go on alike.",
        ),
        (
            "prediction",
            "Prediction loss",
            fitted.prediction_loss_,
            "What is lost because only the next cluster is predicted, not the next state.",
        ),
    ]
    total = sum(bits for _, _, bits, _ in parts) or 1.0
    start, placed = 0.0, []
    for name, title, bits, meaning in parts:
        share = bits / total
        bar = {"start": round(1000 * start, 2), "width": round(1000 * share, 2)}
        placed.append({"id": name, "name": title, "bits": bits, "share": share} | bar)
        placed[-1]["meaning"] = meaning
        start += share
    return placed


def circle_order(links: np.ndarray) -> list[int]:
    """An order around a circle in which strongly linked clusters are close to each other.

    Starting with the given order, two clusters swap places as long as that lowers the sum of
    links times distances along the circle.
    """
    k = links.shape[0]
    order = np.arange(k)
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    distance = np.minimum(steps, k - steps)
    best = _length(links, distance, order)
    for _ in range(SWAPS):
        before = best
        for i in range(k):
            for j in range(i + 1, k):
                order[[i, j]] = order[[j, i]]
                length = _length(links, distance, order)
                if length < best * (1 - 1e-9):
                    best = length
                else:
                    order[[i, j]] = order[[j, i]]
        if best >= before:
            break
    return [int(a) for a in order]


def _length(links: np.ndarray, distance: np.ndarray, order: np.ndarray) -> float:
    return float((links[np.ix_(order, order)] * distance).sum())


MULTIWAY_SCRIPTS = {
    "page": ("elements", "tooltip", "arrows"),
    "data": ("numbers",),
    "drawing": ("lab", "colours", "canvas", "svg", "axis"),
    "heatmap": ("marks",),
    "charts": ("lift", "block_margins", "blocks"),
    "controls": ("downloads",),
    "network": ("about", "types"),
}
MULTIWAY_PAGE = Page("multiway.html.j2", MULTIWAY_SCRIPTS, "network/multiway", STYLES)
STRONGEST = 3  # blocks that are named in words


def multiway_page(results: MultiwayResults) -> str:
    """The page of these results."""
    shown = {
        "relations": [_relation(results, i, each) for i, each in enumerate(results.relations)],
        "types": [_type(results, i, name) for i, name in enumerate(results.fitted.types_)],
    }
    return network_page(MULTIWAY_PAGE, results, shown, _about_types(results))


def _about_types(results: MultiwayResults) -> dict[str, Any]:
    """What the script needs."""
    types = results.fitted.types_
    relations = [
        {
            "types": [types.index(name) for name in each.key],
            "kept": each.information.kept,
            "share": each.blocks.round(9).tolist(),
            "expected": expected_of(each.blocks).round(9).tolist(),
        }
        for each in results.relations
    ]
    return {
        "types": [
            {
                "name": name,
                "elements": int(results.fitted.labels_[name].size),
                "titles": results.titles[name],
            }
            for name in types
        ],
        "relations": relations,
    }


def _relation(results: MultiwayResults, number: int, relation: Relation) -> dict[str, Any]:
    rows, columns = relation.key
    return {
        "number": number,
        "name": relation.name,
        "rows": rows,
        "columns": columns,
        "source": results.data[relation.key].source,
        "entries": int(relation.share.nnz),
        "information": relation.information,
        "weight": relation.weight,
        "strongest": [
            (a, results.titles[rows][a], b, results.titles[columns][b], lift)
            for a, b, lift in relation.strongest(STRONGEST)
        ],
    }


def _type(results: MultiwayResults, number: int, name: str) -> dict[str, Any]:
    labels = results.fitted.labels_[name]
    cards = [
        {
            "cluster": a,
            "title": results.titles[name][a],
            "share": results.share(name, a),
            "typical": results.member_names(name, a, CARD),
            "members": results.member_names(name, a),
            "distinctive": results.distinctive(name, a, CARD),
        }
        for a in range(results.n_clusters(name))
    ]
    return {"number": number, "name": name, "cards": cards, "outside": int((labels < 0).sum())}
