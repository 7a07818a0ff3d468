"""What the report shows and what its script needs, as plain data."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

import numpy as np

from ...costs.agreement import matching_accuracy
from ...costs.labels import ranks
from ...io.store.opening import is_large
from ..findings import Findings, SideFindings
from ..levels import SideLevels
from ..words.next_steps import next_steps, opening_of
from ..words.sentences import numbers_of_clusters
from .level_data import level_controls, level_sections, shown_elements
from .payload import compress, varints

SIDES = (("rows", "row"), ("columns", "column"))
MOST_MATCHED = 200  # classes that are matched with clusters: the table of a matching is dense


def class_sections(results: Any) -> dict[str, bytes]:
    """For each classification, the class of each element in the order of the data; 0 unknown."""
    return {
        f"{name} classes {i}": varints(_codes(classes))
        for _, name in SIDES
        for i, classes in enumerate(_known(results, name).values())
    }


def class_facts(results: Any) -> dict[str, list[dict[str, Any]]]:
    """For each side its classifications: title, classes by size, and accuracy if there is one.

    The accuracy is that of the fit, on elements whose class is known. The page computes the other
    scores, at any level.
    """
    return {
        side: [
            {
                "title": title,
                "classes": _by_size(classes),
                "accuracy": _accuracy(classes, getattr(results.findings, side)),
            }
            for title, classes in _known(results, name).items()
        ]
        for side, name in SIDES
    }


def _known(results: Any, name: str) -> dict[str, np.ndarray]:
    """The classifications of a side in which some class is known."""
    given: dict[str, np.ndarray] = getattr(results.data, f"{name}_classes")
    return {title: classes for title, classes in given.items() if (classes != "").any()}


def _by_size(classes: np.ndarray) -> list[str]:
    counts = Counter(classes[classes != ""].tolist())
    return sorted(counts, key=lambda each: (-counts[each], each))


def _codes(classes: np.ndarray) -> np.ndarray:
    code = {each: i for i, each in enumerate(["", *_by_size(classes)])}
    return np.array([code[each] for each in classes.tolist()], np.int64)


def _accuracy(classes: np.ndarray, side: SideFindings) -> float | None:
    """Accuracy of the fit under the best one-to-one matching; None if that means nothing."""
    known = classes != ""
    if not side.is_clustered or len(set(classes.tolist())) > MOST_MATCHED:
        return None
    return matching_accuracy(classes[known].tolist(), side.labels[known])


LARGE = 250_000  # compressed bytes from which a table of blocks is only in the folder
CARD = 8  # names in each list of a card
CHEAPEST = 6  # merges that are written out
PAIRS = 40  # the most clusters of which all pairs are drawn

Orders = list[tuple[np.ndarray, np.ndarray]]


def sections(results: Any, tables: dict[str, str]) -> dict[str, bytes]:
    """The tables, orders, levels, and the labels and blocks at other β, as bytes.

    A large table of blocks is only in the folder.
    """
    findings: Findings = results.findings
    parts = {name: text.encode() for name, text in tables.items()}
    if len(compress(parts["blocks.csv"])) > LARGE:
        del parts["blocks.csv"]
    parts["row order"] = varints(findings.orders.rows)
    parts["column order"] = varints(findings.orders.columns)
    parts |= level_sections(findings)
    for i, view in enumerate(results.views):
        if not view.is_fit:
            parts[f"row labels {i}"] = varints(view.row_labels + 1)
            parts[f"column labels {i}"] = varints(view.column_labels + 1)
            parts[f"blocks {i}"] = _blocks(findings, view.blocks)
    return parts


def _blocks(findings: Findings, blocks: np.ndarray) -> bytes:
    """The shares of the blocks that are shown, then those that chance would give them."""
    rows, columns = (
        np.arange(n) if (shown := shown_elements(findings, side)) is None else shown
        for side, n in zip(findings.sides, blocks.shape, strict=True)
    )
    shares = blocks[np.ix_(rows, columns)]
    expected = np.outer(blocks.sum(axis=1)[rows], blocks.sum(axis=0)[columns])
    return np.stack([shares, expected]).astype("<f4").tobytes()


def orders(results: Any) -> Orders:
    """The rows and columns in the order of each view, that of the fit first."""
    findings: Findings = results.findings
    others = [
        (
            _order(findings, findings.rows, view.row_labels),
            _order(findings, findings.columns, view.column_labels),
        )
        for view in results.views
        if not view.is_fit
    ]
    return [(findings.orders.rows, findings.orders.columns), *others]


def _order(findings: Findings, side: SideFindings, labels: np.ndarray) -> np.ndarray:
    """By cluster in the order of those of the fit, and inside a cluster as in the fit."""
    order, leaf_order = (
        getattr(each, f"{side.axis}s") for each in (findings.orders, findings.leaf_orders)
    )
    levels = SideLevels.of(side.tree, side.axis)
    if levels is None:
        return np.asarray(order)
    clusters = levels.clusters_as_drawn(side.n_clusters, leaf_order)
    place = np.arange(max(int(labels.max()) + 1, clusters.size) + 1)  # the last is that of -1
    place[: clusters.size] = ranks(clusters)
    return np.asarray(order[np.argsort(place[labels[order]], kind="stable")])


def about(results: Any) -> dict[str, Any]:
    """What the script needs to know beside the packed data."""
    findings: Findings = results.findings
    views = [
        {"beta": view.beta, "cost": view.cost, "kept": view.kept, "fit": view.is_fit}
        for view in results.views
    ]
    return {
        "rows": _side(findings, findings.rows),
        "columns": _side(findings, findings.columns),
        "views": views,
        "information": findings.information.rows_columns,
    }


def _side(findings: Findings, side: SideFindings) -> dict[str, Any]:
    shown = shown_elements(findings, side)
    few = side.merge_costs is not None and side.n_clusters <= PAIRS
    return {
        "kind": side.kind,
        "clusters": side.n_clusters,
        "stability": _stability(side),
        "pairs": [list(pair) for pair in _pairs(side)] if few else [],
        "shown": None if shown is None else shown.tolist(),
    }


def _stability(side: SideFindings) -> list[float | None]:
    """How stable each cluster is; None where that is not known."""
    if side.stability is None:
        return [None] * side.n_clusters
    return [None if np.isnan(value) else round(float(value), 4) for value in side.stability]


def _pairs(side: SideFindings) -> list[tuple[int, int, float]]:
    """Each pair of clusters with the bits that merging it costs, the cheapest first."""
    if side.merge_costs is None:
        return []
    first, second = np.triu_indices(side.n_clusters, 1)
    costs = side.merge_costs[first, second]
    order = np.argsort(costs, kind="stable")
    return [(int(first[i]), int(second[i]), round(float(costs[i]), 6)) for i in order]


def page(results: Any, parts: dict[str, bytes]) -> dict[str, Any]:
    """What the template shows."""
    findings: Findings = results.findings
    sides = [
        {
            "id": name,
            "side": side,
            "other": other,
            "cards": [_card(side, a) for a in range(side.n_clusters)],
            "nowhere": int((side.labels < 0).sum()),
            "cheapest": _pairs(side)[:CHEAPEST],
            "leaves": findings.leaf_orders[name == "columns"].size,
            "in_blocks": _in_blocks(findings, side),
        }
        for name, side, other in (
            ("rows", findings.rows, findings.columns),
            ("columns", findings.columns, findings.rows),
        )
    ]
    return {
        "sides": sides,
        "level_controls": level_controls(results),
        "opening": opening_of(results),
        "steps": next_steps(results),
        "shape": numbers_of_clusters(findings),
        "has_classes": any(class_facts(results).values()),
        "downloads": [name for name in ("rows.csv", "columns.csv", "blocks.csv") if name in parts],
        "parameters": {name: brief(value) for name, value in results.parameters.items()},
        "repeat": _repeat(results),
    }


def _in_blocks(findings: Findings, side: SideFindings) -> int:
    """How many elements stand in the block matrix: all, where clusters stand for them."""
    shown = shown_elements(findings, side)
    return side.names.size if shown is None else shown.size


def _card(side: SideFindings, cluster: int) -> dict[str, Any]:
    stability = None if side.stability is None else float(side.stability[cluster])
    features = side.distinctive(cluster, CARD)
    return {
        "cluster": cluster,
        "size": int(side.sizes[cluster]),
        "share": float(side.shares[cluster]),
        "stability": None if stability is None or np.isnan(stability) else stability,
        "title": side.titles[cluster],
        "typical": side.typical(cluster, CARD),
        "features": features,
    }


def brief(value: Any, most: int = 60) -> str:
    """The repr of a value, cut if it is long."""
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"


def _fitted_text(results: Any) -> str:
    """Python that fits the model and, if it is a cut, cuts it."""
    fitted = results.fitted.hierarchy_.n_fitted
    numbers = tuple(side.n_clusters or None for side in results.findings.sides)
    if fitted == numbers:
        return f"{results.model}.fit(data)"
    model = copy(results.fitted)
    model.n_clusters = fitted
    return f"{model!r}.fit(data).cut({numbers})"


def _repeat(results: Any) -> str:
    """Python that makes the same again; empty where the fit that was refined is not known."""
    if "--refine" in results.command.split():
        return ""
    name = results.model.split("(", 1)[0]
    betas = [round(view.beta, 12) for view in results.views if not view.is_fit]
    is_kept = results.parameters.get("keep_path")  # then the fit makes the path
    path = f", path=model.beta_path(data, {betas})" if betas and not is_kept else ""
    if is_large(results.data):
        source = f"{str(results.data.path)!r})"
    elif results.command:
        source = '"data.npz")  # beside this report'
    else:
        source = f"{results.source or '...'!r})"
    return (
        f"import comarkov\nfrom comarkov import {name}\n\n"
        f"data = comarkov.read({source}\n"
        f"model = {_fitted_text(results)}\n"
        f'comarkov.Results.of(model, data{path}).write("out")'
    )
