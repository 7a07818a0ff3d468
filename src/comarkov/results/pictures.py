"""Pictures without a drawing library: the reordered matrix as SVG, and elements in the plane."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import membership
from ..joint.messages import InputError
from ..joint.parts import block_sums
from .findings import Findings, SideFindings
from .words.figures import short_name

MAX_PIXELS = 800  # rows or columns of a picture
MAX_NAMED = 60  # elements whose names are written beside a picture
LABEL_LETTERS = 30  # of a name or a title
LETTER_PIXELS = 6.5  # roughly
LINE_PIXELS = 12  # between labels
COLOURS = ("weight", "share", "lift")  # by which cells may be coloured
CLEARLY_BETTER = 0.02  # of the variance that blocks must explain more than those of weights
COMPARED_PIXELS = 200  # of a side of the pictures that are compared
FAR_LIFTS = 0.5, 1, 2, 3  # octaves that may be at the ends of the colours
BEYOND = 0.02  # of the cells may be further from what is expected than the ends of the colours
Colours = tuple[tuple[int, int, int], ...]
CELL_COLOURS: Colours = ((255, 255, 255), (169, 201, 232), (47, 114, 180), (8, 38, 77))
LIFT_COLOURS: Colours = (
    *((70, 54, 140), (178, 170, 214), (246, 244, 240), (244, 162, 76), (127, 59, 8)),
)
NOT_IN_XML = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")
EQUAL_PROFILES = 1e-20  # variance of their square roots


def binned(
    matrix: sp.csr_array, rows: np.ndarray, columns: np.ndarray, most: int = MAX_PIXELS
) -> np.ndarray:
    """The reordered matrix, reduced to pixels that each hold the mean of their cells."""
    bins, areas = [], []
    for order in (rows, columns):
        count = min(order.size, most)
        bin_of = np.empty(order.size, np.int64)
        bin_of[order] = np.arange(order.size) * count // order.size
        bins.append(bin_of)
        areas.append(np.bincount(bin_of, minlength=count))
    total = block_sums(matrix, (bins[0], bins[1]), (areas[0].size, areas[1].size))
    return np.asarray(total / np.outer(*areas))


def highest(means: np.ndarray) -> float:
    """The mean from which on pixels have the darkest colour: one in a hundred is above it."""
    return float(np.quantile(means[means > 0], 0.99)) if means.any() else 1.0


def shades(means: np.ndarray, by: str = "weight") -> np.ndarray:
    """Pixels as shades from 0 to 255."""
    return np.round(255 * cell_shades(means, by)).astype(np.uint8)


def cell_shades(means: np.ndarray, by: str) -> np.ndarray:
    """Pixels as shades from 0 to 1, by "weight", by "share" of the row, or by "lift".

    A lift of 1 is in the middle of the shades, one of ``far_lift`` at their ends.
    """
    if by == "lift":
        return np.asarray(np.clip(0.5 + _octaves(means) / (2 * far_lift(means)), 0, 1))
    means = row_shares(means) if by == "share" else means
    return np.asarray(np.sqrt(np.minimum(means / highest(means), 1)))  # so that small ones show


def _octaves(means: np.ndarray) -> np.ndarray:
    """The lift of pixels, in octaves.

    A small entry is added to what a pixel has and to what its row and column lead one to expect,
    so that few entries mean little, as in the report.
    """
    means = means / (means.max(initial=0.0) or 1.0)  # products of sums cannot overflow
    rows, columns = means.sum(axis=1, keepdims=True), means.sum(axis=0)
    expected = rows * columns / max(float(rows.sum()), np.finfo(float).tiny)
    small = float(np.quantile(means[means > 0], 0.05)) if means.any() else 1.0
    return np.asarray(np.log2((means + small) / (expected + small)))


def far_lift(means: np.ndarray) -> float:
    """The octaves at the ends of the colours: fewer where all cells are about as expected."""
    far = float(np.quantile(np.abs(_octaves(means)), 1 - BEYOND)) if means.size else 0.0
    return min((each for each in FAR_LIFTS if each >= far), default=FAR_LIFTS[-1])


def row_shares(means: np.ndarray) -> np.ndarray:
    """Each pixel as a share of its row."""
    rows = means.sum(axis=1, keepdims=True)
    return np.divide(means, rows, out=np.zeros_like(means), where=rows > 0)


def best_colour(findings: Findings, matrix: sp.csr_array) -> str:
    """The way to colour cells in which the blocks stand out most: weight, share or lift.

    They stand out as much as they explain of the variance of the shades. Weights that are all
    equal are coloured by weight.
    """
    if not matrix.nnz or matrix.data.min() == matrix.data.max():
        return "weight"
    means = binned(matrix, *findings.orders, COMPARED_PIXELS)
    labels = []
    for side, order, n in zip(findings.sides, findings.orders, means.shape, strict=True):
        middle = (np.arange(n) * 2 + 1) * order.size // (2 * n)  # of the elements of a pixel
        labels.append(side.group[order[middle]])
    rows, columns = labels
    block = (rows[:, None] + 1) * (int(columns.max()) + 2) + columns + 1
    block = np.unique(block, return_inverse=True)[1].ravel()

    def explained(by: str) -> float:
        """The share of the variance that is between blocks."""
        values = cell_shades(means, by).ravel()
        between = (np.bincount(block, values) ** 2 / np.bincount(block)).sum()
        whole = values.sum() ** 2 / values.size
        return float((between - whole) / max((values**2).sum() - whole, np.finfo(float).tiny))

    return max(COLOURS, key=lambda by: explained(by) + CLEARLY_BETTER * (by == "weight"))


def heatmap_svg(findings: Findings, matrix: sp.csr_array) -> str:
    """The reordered matrix with lines between clusters, names of few elements, and titles."""
    rows, columns = findings.sides
    high, wide = (float(np.clip(16 * n, 240, 720)) for n in matrix.shape)
    left, top = (_room(_names(side)) for side in findings.sides)
    right, bottom = (_room(labels_of_clusters(side)) for side in findings.sides)
    total = f"{left + wide + right:.0f}", f"{top + high + bottom:.0f}"
    by = best_colour(findings, matrix)
    pixels = png(
        shades(binned(matrix, *findings.orders), by), LIFT_COLOURS if by == "lift" else CELL_COLOURS
    )
    size = f'width="{wide:g}" height="{high:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total[0]}" height="{total[1]}" '
        f'viewBox="0 0 {total[0]} {total[1]}" font-family="system-ui, sans-serif" font-size="11">\n'
        f"<title>{_xml(rows.kind)} by {_xml(columns.kind)}, ordered by cluster</title>\n"
        '<rect width="100%" height="100%" fill="white"/>\n'
        f'<g transform="translate({left:g},{top:g})">\n<image {size} preserveAspectRatio="none" '
        'style="image-rendering:pixelated" href="data:image/png;base64,'
        f'{base64.b64encode(pixels).decode()}"/>\n<rect {size} fill="none" stroke="#999"/>\n'
        f"{''.join(_labels(findings, 0, high, wide))}"
        '<g transform="matrix(0,1,1,0,0,0)">\n'
        f"{''.join(_labels(findings, 1, wide, high))}"
        "</g>\n</g>\n</svg>\n"
    )


def png(pixels: np.ndarray, colours: Colours = CELL_COLOURS) -> bytes:
    """A picture whose pixels are shades, from 0 to 255, of these colours."""
    stops, shares = np.array(colours).T, np.linspace(0, len(colours) - 1, 256)
    palette = np.array([np.interp(shares, range(len(colours)), stop) for stop in stops]).T
    lines = np.insert(pixels, 0, 0, axis=1)  # each begins with its filter, which is none
    chunks = {
        b"IHDR": struct.pack(">2I5B", pixels.shape[1], pixels.shape[0], 8, 3, 0, 0, 0),
        b"PLTE": palette.round().astype(np.uint8).tobytes(),
        b"IDAT": zlib.compress(lines.tobytes(), 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks.items()
    )


def _names(side: SideFindings) -> list[str]:
    """The names of few elements, else none."""
    is_few = side.names.size <= MAX_NAMED
    return [short_name(name, LABEL_LETTERS) for name in side.names] if is_few else []


def labels_of_clusters(side: SideFindings) -> list[str]:
    """The number and title of each cluster, by label; the number alone if it has no other name."""
    pairs = zip(side.numbers, side.titles, strict=True)
    return [
        f"{n}" if title == f"cluster {n}" else f"{n}  {short_name(title, LABEL_LETTERS)}"
        for n, title in pairs
    ]


def _room(labels: list[str]) -> float:
    return 14 + LETTER_PIXELS * max(map(len, labels), default=0)


def _labels(findings: Findings, i: int, length: float, across: float) -> Iterator[str]:
    """Names at the start of each line and titles at its end, with lines between clusters.

    They are those of rows; the same in a mirror on the diagonal are those of columns, whose text
    is mirrored back. A title that would touch the one before is left out.
    """
    side, order = findings.sides[i], findings.orders[i]
    cell, names, titles = length / order.size, _names(side), labels_of_clusters(side)
    for place, element in enumerate(order if names else []):
        yield _text(i, -6, (place + 0.5) * cell, names[element])
    end, last = 0.0, -np.inf
    for cluster in findings.cluster_orders[i] if side.is_clustered else []:
        start, end = end, end + cell * float(side.sizes[cluster])
        if (start + end) / 2 >= last + LINE_PIXELS:
            last = (start + end) / 2
            yield _text(i, across + 6, last, titles[cluster])
        if end < length - 1e-6:
            yield f'<path d="M0,{end:.2f}H{across:g}" stroke="#555" stroke-width="0.7"/>\n'


def _text(i: int, x: float, y: float, text: str) -> str:
    turn = " matrix(0,1,1,0,0,0) rotate(-90)" if i else ""
    anchor = "end" if (x < 0) == (i == 0) else "start"
    place = f'transform="translate({x:g},{y:.2f}){turn}" text-anchor="{anchor}"'
    return f'<text {place} dy="0.35em">{_xml(text)}</text>\n'


def _xml(text: str) -> str:
    return escape(NOT_IN_XML.sub("", text))


class ElementMap(NamedTuple):
    """Elements in the plane."""

    points: np.ndarray  #: (element, axis); NaN for an element without mass
    shares: np.ndarray  #: of the variation between profiles, along each axis; 0 if there is none


def map_of_side(findings: Findings, matrix: sp.csr_array | None, side: SideFindings) -> ElementMap:
    """The map of one side; the matrix is needed if the other side is not clustered."""
    is_row = side.axis == "row"
    other = side.tree.columns if is_row else side.tree.rows
    if other is not None:
        return element_map(other.masses)
    if matrix is None:
        raise InputError("The matrix of the fit is missing.", advice="plot_map(model, X)")
    group = findings.sides[is_row].group  # the other side is not clustered, but has groups
    masses = (matrix if is_row else matrix.T) @ membership(group, int(group.max()) + 1)
    return element_map(masses.toarray())


def element_map(masses: np.ndarray) -> ElementMap:
    """The map of elements with these masses (element, part of the other side).

    Examples
    --------
    >>> import numpy as np
    >>> from comarkov.results.pictures import element_map
    >>> apart = element_map(np.array([[4.0, 0.0], [2.0, 0.0], [0.0, 6.0]]))
    >>> apart.points.round(3).tolist()
    [[0.707, 0.0], [0.707, 0.0], [-0.707, 0.0]]
    >>> apart.shares.tolist()
    [1.0, 0.0]
    """
    masses = np.asarray(masses, np.float64)
    weight = masses.sum(axis=1)
    has_mass = weight > 0
    weight = weight[has_mass] / weight.sum()
    roots = np.sqrt(masses[has_mass] / masses[has_mass].sum(axis=1, keepdims=True))
    roots -= weight @ roots
    variances, axes = np.linalg.eigh((roots * weight[:, None]).T @ roots)
    variances, axes = np.maximum(variances[::-1], 0.0), axes[:, ::-1]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    axes = axes * np.where(largest < 0, -1.0, 1.0)  # an eigenvector has no sign of its own
    n_axes = min(2, variances.size)
    points = np.full((masses.shape[0], 2), np.nan)
    points[has_mass] = 0.0
    points[has_mass, :n_axes] = roots @ axes[:, :n_axes]
    shares = np.zeros(2)
    if variances.sum() > EQUAL_PROFILES:
        shares[:n_axes] = np.maximum((variances / variances.sum())[:n_axes].round(12), 0.0)
    return ElementMap(points, shares)
