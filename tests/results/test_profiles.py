"""Profiles of elements, packed where the page has not all cells."""

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


def test_packed_profiles_are_those_of_all_cells(opened, results, tmp_path, monkeypatch):
    whole, part = tmp_path / "whole.html", tmp_path / "part.html"
    whole.write_text(results.to_html(), "utf-8")
    monkeypatch.setattr("comarkov.results.report.LIMIT", 0)
    monkeypatch.setattr("comarkov.results.report.payload.LEAST", 60)
    part.write_text(results.to_html(), "utf-8")
    page, other = opened(whole), opened(part)
    assert other.locator("#subset").is_visible()
    for name in ("r1", "r17", "c0", "c7"):
        assert profile(page, name) == profile(other, name)


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
