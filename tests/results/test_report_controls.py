"""The controls of the report: search, profiles, maps, downloads, and keys."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from pages import a_dot, downloaded, page_of, picture, point, tooltip

from comarkov import CoClustering, Data

SVG = "{http://www.w3.org/2000/svg}"


def test_search_finds_an_element_and_lights_its_cluster(opened, women):
    page = opened(women)
    before = picture(page)
    page.fill("#query", "nora")
    assert page.get_attribute("#query", "aria-expanded") == "true"
    assert page.locator("#matches [role=option]").all_inner_texts()[0].startswith("Nora Fayette")
    page.press("#query", "Enter")
    assert "Nora Fayette · woman cluster 2 · rank" in page.inner_text("#selection")
    assert page.locator(".card.lit").get_attribute("id") == "rows-1"
    assert picture(page) != before
    page.click("#selection >> text=Zoom to it")
    assert "rows " in page.inner_text("#where")
    page.click("#selection >> text=Clear")
    page.click("#zoom-all")
    assert page.locator(".card.lit").count() == 0
    assert picture(page) == before
    page.fill("#query", "nobody")
    assert page.locator("#matches [role=option]").count() == 0
    page.fill("#query", "e1")
    names = page.locator("#matches bdi").all_inner_texts()
    assert names[0] == "E1"  # the name itself is found first
    assert sorted(names[1:]) == ["E10", "E11", "E12", "E13", "E14"]
    page.fill("#query", "e")
    names = page.locator("#matches bdi").all_inner_texts()
    assert [len(name) for name in names[:6]] == [2] * 6
    assert names[6:8] == ["Eleanor Nye", "Evelyn Jefferson"]
    assert len(names) == 12


def test_matches_are_chosen_by_arrows_and_by_pointer(opened, women):
    page = opened(women)
    page.fill("#query", "el")  # begins one name, is inside others
    names = page.locator("#matches bdi").all_inner_texts()
    assert (names[0], names[3]) == ("Eleanor Nye", "Evelyn Jefferson")
    assert page.get_attribute("#query", "aria-activedescendant") == "match-0"
    for key, active in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 3), ("ArrowDown", 0)):
        page.press("#query", key)  # from either end to the other
        chosen = page.locator("#matches [aria-selected=true]")
        assert chosen.get_attribute("id") == f"match-{active}"
    page.press("#query", "ArrowDown")
    page.press("#query", "Enter")
    assert page.inner_text("#selection").startswith(names[1])
    page.fill("#query", "el")
    page.click("#match-2")
    assert page.inner_text("#selection").startswith(names[2])
    assert page.locator("#matches").is_hidden()
    page.click("#selection >> text=Its cluster")
    assert "lit" in page.evaluate("document.activeElement.className")
    page.focus("#query")
    page.press("#query", "Escape")  # closes the list, then clears
    assert page.locator("#selection").is_visible()
    page.press("#query", "Escape")
    assert page.locator("#selection").is_hidden()
    assert page.input_value("#query") == ""


def test_downloads_are_the_files(opened, women):
    page = opened(women)
    for name in ("rows.csv", "columns.csv", "blocks.csv"):
        content = (women.parent / name).read_bytes()
        assert downloaded(page, f"[data-file='{name}']") == (name, content)


def test_all_that_can_be_done_can_be_reached_by_tab(opened, women):
    page = opened(women)
    reached = []
    for _ in range(200):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.className")
        )
        if page.evaluate("document.activeElement === document.body"):
            break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached[-1]
    assert {"query", "zoom-in", "zoom-out", "zoom-all", "heatmap", "colour"} <= set(reached)
    assert {"show", "save", "download"} <= set(reached)


def test_a_dot_of_the_map_has_a_name_and_marks_its_element(opened, women):
    page = opened(women)
    before = picture(page)
    page.locator("#columns-map").hover(position={"x": 9, "y": 9})
    assert page.locator("#tip").is_hidden()  # no dot is near
    x, y = a_dot(page, "rows")
    page.locator("#rows-map").hover(position={"x": x, "y": y})
    name = page.inner_text("#tip .strong")
    assert name in page.inner_text("#clusters")
    page.locator("#rows-map").click(position={"x": x, "y": y})
    assert page.inner_text("#selection").startswith(name)
    assert picture(page) != before


def test_a_profile_is_what_the_data_say(opened, tmp_path):
    rng = np.random.default_rng(3)
    matrix = rng.poisson(np.where(np.arange(30)[:, None] % 3 == np.arange(12) // 4, 4, 0.4))
    names = [f"r{i}" for i in range(30)], [f"c{i}" for i in range(12)]
    model = CoClustering(3, random_state=0).fit(matrix)
    page = opened(page_of(tmp_path, model, Data(matrix, *names)))
    page.fill("#query", "r4")
    page.press("#query", "Enter")
    text = page.inner_text("#selection .profile")
    lift = matrix[4] / matrix[4].sum() / (matrix.sum(axis=0) / matrix.sum())
    bits = matrix[4] * np.log2(np.maximum(lift, 1e-9))
    assert re.findall(r"c\d+", text) == [names[1][i] for i in np.argsort(-bits)[:3]]
    count = (matrix[4] > 0).sum()
    assert text.endswith(f" · row total {matrix[4].sum()} · {count} columns")
    assert float(re.search(r"×([\d.]+)", text)[1]) == pytest.approx(lift[np.argmax(bits)], rel=0.05)


def test_a_page_with_the_largest_entries_alone(opened, tmp_path, monkeypatch):
    """Where cells had to be left out, the page says so, and the far view shows all of them."""
    monkeypatch.setattr("comarkov.results.report.content.MAX_PAGE_BYTES", 0)
    monkeypatch.setattr("comarkov.results.report.payload.MIN_CELL_BYTES", 3000)
    monkeypatch.setattr("comarkov.results.report.payload.OVERVIEW_PIXELS", 80)
    n, m = 400, 200
    matrix = np.random.default_rng(0).poisson(0.5, (n, m))
    labels = np.arange(n) % 8, np.arange(m) % 6
    model = CoClustering((8, 6), init=labels, method="sequential", max_iter=1, tol=1e9).fit(matrix)
    names = [f"customer number {i}" for i in range(n)], [f"article {i}" for i in range(m)]
    page = opened(page_of(tmp_path, model, Data(matrix, *names)))
    assert page.locator("#subset").is_visible()
    far = picture(page)
    page.fill("#query", "1")  # in twelve names of either side, and many more
    kinds = page.locator("#matches small").all_inner_texts()
    assert sorted(kind.split(" · ")[0] for kind in kinds) == ["column"] * 6 + ["row"] * 6
    page.fill("#query", "customer number 123")
    page.press("#query", "Enter")
    for _ in range(14):
        page.click("#zoom-in")
    assert picture(page) != far
    page.mouse.move(*point(page, 0.6, 0.6))
    *places, entry = tooltip(page)
    row, column = (int(text.split(" · ")[0].split()[-1]) for text in places)
    assert re.fullmatch(rf"entry {matrix[row, column]}|entry 0, or below \d", entry)


def test_every_picture_is_saved_as_png_and_svg(opened, women):
    page = opened(women)
    page.fill("#query", "nora")
    page.press("#query", "Enter")
    lit = picture(page)
    for i in range(page.locator("button.save").count()):
        name, content = downloaded(page, f"button.save >> nth={i}")
        if name.endswith("png"):
            assert content.startswith(b"\x89PNG")
        else:
            svg = ElementTree.fromstring(content)
            texts = {text.text for text in svg.iter(f"{SVG}text")}
            assert "E5 · E3 · E6" in texts or "map" in name
            drawn = {"heatmap": "image", "blocks": "rect"}.get(name.removesuffix(".svg"), "path")
            assert len(list(svg.iter(SVG + drawn))) >= {"image": 1, "rect": 7}.get(drawn, 14)
    assert picture(page) == lit  # what is selected stays so
