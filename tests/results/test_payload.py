"""The packed data of the report, read back."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from comarkov import CoClustering, Results
from comarkov.joint import parts
from comarkov.results.report import payload
from comarkov.results.report.payload import (
    heaviest_cells,
    pack_cells,
    pack_snippets,
    snippet,
    varints,
)


def unpacked(data):
    """The numbers of a section, byte by byte."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    return numbers


def matrix_of(packed, shape):
    parts = packed.sections
    counts, gaps, codes = (unpacked(parts[name]) for name in ("counts", "gaps", "codes"))
    dense = np.zeros(shape)
    at = 0
    for row, count in enumerate(counts):
        column = -1
        for _ in range(count):
            column += gaps[at] + 1
            dense[row, column] = packed.facts["values"][codes[at]]
            at += 1
    return dense


@given(st.lists(st.integers(0, 2**40)))
def test_numbers_come_back(numbers):
    assert unpacked(varints(np.array(numbers, dtype=np.int64))) == numbers


@pytest.mark.parametrize("whole", [True, False])
def test_cells_come_back_in_the_order_of_the_fit(whole):
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (30, 40)) * (1.0 if whole else np.pi)
    dense[4] = 0
    rows, columns = rng.permutation(30), rng.permutation(40)
    packed = pack_cells(sp.csr_array(dense), (rows, columns), 10**6)
    ordered = dense[np.ix_(rows, columns)]
    assert matrix_of(packed, ordered.shape) == pytest.approx(ordered, rel=1e-3)
    assert packed.facts["cells"] == packed.facts["all_cells"] == (dense > 0).sum()
    assert "overview" not in packed.sections


def test_what_does_not_fit_is_the_lightest(monkeypatch):
    monkeypatch.setattr("comarkov.results.report.payload.MIN_CELL_BYTES", 1000)
    monkeypatch.setattr("comarkov.results.report.payload.OVERVIEW_PIXELS", 50)
    rng = np.random.default_rng(0)
    matrix = sp.random_array(
        (500, 400),
        density=0.2,
        random_state=rng,
        format="csr",
        data_sampler=lambda size: rng.integers(1, 250, size),
    ).astype(np.uint8)  # whose negatives wrap around
    order = np.arange(500), np.arange(400)
    budget = 60_000
    packed = pack_cells(matrix, order, budget)
    assert len(gzip.compress(b"".join(packed.sections.values()))) <= budget * 1.02
    assert 0 < packed.facts["cells"] < packed.facts["all_cells"] == matrix.nnz
    shown = matrix_of(packed, matrix.shape)
    left_out = matrix.toarray()[shown == 0]
    assert left_out.max() <= packed.facts["least"]
    overview = np.frombuffer(packed.sections["overview"], np.uint8)  # a picture of all cells
    assert overview.size == np.prod(packed.facts["overview"])
    assert overview.any()


@pytest.mark.parametrize("kind", ["counts", "numbers"])
def test_the_heaviest_cells_of_a_matrix_that_is_not_copied(kind, monkeypatch):
    monkeypatch.setattr(parts, "ENTRIES", 50)
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(rng.poisson(0.8, (60, 40)) * 1.0)
    if kind == "numbers":
        matrix.data = rng.random(matrix.nnz)
    kept = heaviest_cells(matrix, 300)
    assert kept.shape == matrix.shape
    assert abs(kept.nnz - 300) < (40 if kind == "counts" else 1)
    least = kept.data.min()
    assert (kept.data > least).sum() == (matrix.data > least).sum()
    assert (kept.toarray()[kept.toarray() > 0] == matrix.toarray()[kept.toarray() > 0]).all()
    assert (np.diff(kept.indptr) > 0).mean() > 0.9  # from everywhere


def test_a_matrix_that_is_not_copied_is_packed_alike(monkeypatch):
    rng = np.random.default_rng(1)
    matrix = sp.csr_array(rng.random((80, 30)) * (rng.random((80, 30)) < 0.4))
    order = rng.permutation(80), rng.permutation(30)
    monkeypatch.setattr(payload, "MAX_CELLS", 200)
    whole = pack_cells(matrix, order, 10**6)
    assert (whole.facts["cells"], whole.facts["all_cells"]) == (200, matrix.nnz)
    monkeypatch.setattr(payload, "MAX_COPIED_CELLS", 400)  # so that a sample decides
    part = pack_cells(matrix, order, 10**6)
    assert part.facts["cells"] == pytest.approx(200, abs=40)
    assert part.sections["overview"] == whole.sections["overview"]


# --- snippets ---

WORDS = {"tea": 3.0, "rum": 2.0, "milk": 1.0}
TEXTS = st.lists(st.sampled_from([*WORDS, "Tea", "and", "the", "a\u2028b", "\x00"]), max_size=60)


@given(words=TEXTS, width=st.integers(12, 60))
def test_a_snippet_is_a_part_with_words_of_the_cluster(words, width):
    text = " ".join(words)
    part = snippet(text, WORDS, width)
    plain = " ".join(text.replace("\x00", " ").split())
    inside = part.removeprefix("… ").removesuffix(" …")
    assert len(part) <= width + 4
    assert inside in plain
    assert part == plain or len(plain) > width
    assert WORDS.keys().isdisjoint(plain.lower().split()) != (
        not WORDS.keys().isdisjoint(inside.lower().split())
    )


def test_a_text_without_the_words_begins_at_its_beginning():
    assert snippet("one two three four", WORDS, 9) == "one two …"


def fitted(n=40):
    topic = np.arange(n) % 2
    matrix = 1 + 9 * (topic[:, None] == np.arange(6) // 3)
    return Results.of(CoClustering(2, random_state=0).fit(matrix), matrix).findings.rows


def test_the_most_typical_keep_their_snippets_when_room_is_short():
    side = fitted()
    rng = np.random.default_rng(0)
    texts = np.array([" ".join(map(str, rng.integers(0, 10**9, 30))) for _ in range(40)], object)
    assert pack_snippets(texts, side)[1] == 40
    text, number = pack_snippets(texts, side, budget=2000)
    kept = np.array([bool(line) for line in text.decode().split("\n")])
    assert 5 < kept.sum() == number < 40
    assert side.ranks[kept].max() <= side.ranks[~kept].min()
