"""Known classes in the report: the strip beside the matrix, its legend, table and scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import fits_the_window, page_of, picture, scroll_to, tooltip

from comarkov import CoClustering, Data
from comarkov.costs.agreement import (
    adjusted_rand_index,
    normalized_mutual_information,
    purity,
)
from comarkov.results.findings import findings_of

EVIL = "<b>species</b>"


@pytest.fixture(scope="module")
def fitted():
    """60 rows in three clusters, whose classes are known but for three, in two classifications."""
    rng = np.random.default_rng(1)
    topic = np.arange(60) % 3
    matrix = rng.poisson(np.where(topic[:, None] == np.arange(12) // 4, 3, 0.4)) + np.eye(60, 12)
    species = np.array(["ant", "bee", EVIL])[np.where(rng.random(60) < 0.2, 0, topic)].tolist()
    species[:3] = ["", "", ""]
    classes = {"species": species, "number": [f"no. {i % 20:02}" for i in range(60)]}
    data = Data(matrix, row_classes=classes, column_classes={"half": ["first", "second"] * 6})
    return CoClustering((3, 3), random_state=0).fit(matrix), data


@pytest.fixture(scope="module")
def path(fitted, tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("classes"), *fitted)


def cells(page, part="#rows-classes"):
    rows = page.locator(f"{part} tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].slice(1).map(cell => +cell.innerText))"
    )
    return np.array(rows)


def test_the_table_counts_and_the_scores_are_those_of_python(opened, path, fitted):
    model, data = fitted
    page = opened(path)
    known = data.row_classes["species"] != ""
    classes, clusters = data.row_classes["species"][known], model.row_labels_[known]
    names = page.locator("#rows-classes thead bdi").all_inner_texts()
    assert sorted(names) == sorted({"ant", "bee", EVIL})
    order = findings_of(model).rows.cluster_order
    by_hand = [[((clusters == a) & (classes == c)).sum() for c in names] for a in order]
    assert (cells(page) == by_hand).all()
    scores = [
        normalized_mutual_information(classes, clusters),
        adjusted_rand_index(classes, clusters),
        purity(classes, clusters),
    ]
    shown = page.locator("#rows-classes .scores b").all_inner_texts()
    assert shown == [f"{score:.2f}" for score in scores]
    assert "3 without a known class" in page.inner_text("#rows-classes")
    assert page.locator("b:text('species')").count() == 0
    total = cells(page).sum(axis=0)
    page.click("#rows-fewer")  # the table follows the level
    assert cells(page).shape == (2, 3)
    assert (cells(page).sum(axis=0) == total).all()


def test_the_strip_has_the_colour_of_each_class_and_the_legend_selects_one(opened, path):
    page = opened(path)
    every = picture(page)
    legend = page.locator("#rows-legend .class")
    assert sorted(legend.all_inner_texts()) == sorted(["ant", "bee", EVIL])
    legend.nth(0).click()
    one = picture(page)
    assert one != every
    assert legend.nth(0).get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.ariaPressed") == "true"
    legend.nth(0).click()
    assert picture(page) == every
    page.select_option("#rows-legend select", label="number")
    assert picture(page) != every
    assert legend.count() == 12  # the other eight are in a menu
    page.select_option("#rows-legend select >> nth=1", label="no. 19")
    assert page.locator("#rows-classes thead bdi").count() == 20
    assert page.locator("#columns-legend .class").all_inner_texts() == ["first", "second"]
    page = opened(path, 400, has_touch=True, is_mobile=True)
    every = picture(page)
    for is_one in (True, False):
        page.locator("#columns-legend .class").nth(1).tap()
        assert (picture(page) != every) == is_one


def test_the_class_of_an_element_is_told(opened, path, fitted):
    page = opened(path)
    page.fill("#query", "37")
    page.press("#query", "Enter")
    assert f"class {fitted[1].row_classes['species'][37]}" in page.inner_text("#selection")
    scroll_to(page, "#heatmap")
    box = page.locator("#heatmap").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert tooltip(page)[1].split(" · ")[2] in ("first", "second")


def test_a_wide_table_stays_in_its_box(opened, path):
    page = opened(path, 390)
    box = page.locator("#rows-classes .scroll")
    assert box.evaluate("box => box.clientWidth - box.scrollWidth") >= 0  # three classes fit
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.select_option("#rows-legend select", label="number")
        fits_the_window(page)


@given(
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 2)), min_size=1, max_size=30),
)
def test_scores_are_those_of_python(run, pairs):
    classes, clusters = map(np.array, zip(*pairs, strict=True))
    _, codes = np.unique(classes, return_inverse=True)
    counts = np.zeros((4, codes.max() + 1), int)
    np.add.at(counts, (clusters, codes), 1)  # -1 is the last
    scores = ("normalizedMutualInformation", "adjustedRandIndex", "purity")
    call = f"(counts) => [{', '.join(scores)}].map((score) => score(counts))"
    expected = [
        score(classes, clusters)
        for score in (normalized_mutual_information, adjusted_rand_index, purity)
    ]
    assert run(["classes"], call, counts.tolist()) == pytest.approx(expected, abs=1e-9)
