"""Profiles of elements, also where the page does not have all cells."""

import re

import numpy as np
import pytest

from comarkov import CoClustering, Data, Results

NAMES = [f"r{i}" for i in range(30)], [f"c{i}" for i in range(12)]


@pytest.fixture
def results():
    rng = np.random.default_rng(3)
    matrix = rng.poisson(np.where(np.arange(30)[:, None] % 3 == np.arange(12) // 4, 4, 0.4))
    return Results.of(CoClustering(3, random_state=0).fit(matrix), Data(matrix, *NAMES))


def profile(page, name):
    page.fill("#query", name)
    page.press("#query", "Enter")
    return page.inner_text("#selection .profile")


def test_a_page_with_the_largest_entries_names_them(opened, results, tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.results.report.MAX_PAGE_BYTES", 0)
    monkeypatch.setattr("comarkov.results.report.payload.MIN_CELL_BYTES", 60)
    path = tmp_path / "part.html"
    path.write_text(results.to_html(), "utf-8")
    page = opened(path)
    assert page.locator("#subset").is_visible()
    column = results.matrix.toarray()[:, 7]
    names = re.findall(r"r(\d+) \((\d+)\)", profile(page, "c7"))
    assert names
    for row, value in names:
        assert column[int(row)] == int(value) >= np.sort(column)[-8]


def test_a_profile_is_what_the_data_say(opened, results, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(results.to_html(), "utf-8")
    matrix = results.matrix.toarray()
    text = profile(opened(path), "r4")
    lift = matrix[4] / matrix[4].sum() / (matrix.sum(axis=0) / matrix.sum())
    bits = matrix[4] * np.log2(np.maximum(lift, 1e-9))
    expected = [NAMES[1][i] for i in np.argsort(-bits)[:3]]
    assert re.findall(r"c\d+", text) == expected
    count = (matrix[4] > 0).sum()
    assert text.endswith(f" · row total {matrix[4].sum()} · {count} columns")
    assert float(re.search(r"×([\d.]+)", text)[1]) == pytest.approx(lift[np.argmax(bits)], rel=0.05)
