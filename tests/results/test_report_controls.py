"""The controls of the report: search, profiles, maps, the slider over β, downloads, and keys."""

import re
from pathlib import Path

import numpy as np
import pytest
from pages import picture

from comarkov import CoClustering, Data, Results


def test_search_finds_an_element_and_lights_its_cluster(opened, women):
    page = opened(women)
    before = picture(page)
    page.fill("#query", "nora")
    assert page.get_attribute("#query", "aria-expanded") == "true"
    assert page.locator("#matches [role=option]").all_inner_texts()[0].startswith("Nora Fayette")
    page.press("#query", "Enter")
    assert "Nora Fayette · woman cluster 1 · rank" in page.inner_text("#selection")
    assert page.locator(".card.lit").get_attribute("id") == "rows-1"
    assert picture(page) != before
    page.click("#selection >> text=Zoom to it")
    assert "rows " in page.inner_text("#where")
    page.click("#selection >> text=Clear")
    page.click("#zoom-all")
    assert page.locator(".card.lit").count() == 0
    assert picture(page) == before
    page.fill("#query", "nobody")
    assert page.inner_text("#matches") == "Nothing has this name."


def test_matches_are_chosen_by_arrows_and_by_pointer(opened, women):
    page = opened(women)
    page.fill("#query", "el")
    names = page.locator("#matches bdi").all_inner_texts()
    assert page.get_attribute("#query", "aria-activedescendant") == "match-0"
    for key, active in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 3), ("ArrowDown", 0)):
        page.press("#query", key)  # from either end to the other
        assert (
            page.locator("#matches [aria-selected=true]").get_attribute("id") == f"match-{active}"
        )
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


def test_the_name_itself_is_found_first(opened, women):
    page = opened(women)
    page.fill("#query", "e1")
    names = page.locator("#matches bdi").all_inner_texts()
    assert names[0] == "E1"
    assert sorted(names[1:]) == ["E10", "E11", "E12", "E13", "E14"]
    page.fill("#query", "el")  # begins one name, is inside others
    names = page.locator("#matches bdi").all_inner_texts()
    assert (names[0], names[3]) == ("Eleanor Nye", "Evelyn Jefferson")
    assert sorted(names[1:3]) == ["Helen Lloyd", "Myra Liddel"]
    page.fill("#query", "e")
    names = page.locator("#matches bdi").all_inner_texts()
    assert len(names) == 12
    assert [len(name) for name in names[:6]] == [2] * 6
    assert names[6:8] == ["Eleanor Nye", "Evelyn Jefferson"]


def test_the_slider_reorders_the_pictures(opened, women):
    page = opened(women)
    assert page.inner_text("#beta-name") == "= 0.7 (the fit)"
    fit, blocks = picture(page), page.inner_text("#blocks")
    page.focus("#beta")
    page.keyboard.press("Home")
    assert page.inner_text("#beta-name") == "= 0"
    assert picture(page) != fit
    assert page.inner_text("#blocks") != blocks
    assert page.inner_text("#kept") != "44.0%"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#beta-name") == "= 0.7 (the fit)"
    assert picture(page) == fit


def test_what_was_found_is_told_of_the_view_that_is_shown(opened, women):
    page = opened(women)

    def line():
        return page.inner_text("#selection").split(" Zoom")[0].strip()

    page.fill("#query", "pearl")
    page.press("#query", "Enter")
    of_fit = line()
    assert of_fit == "Pearl Oglethorpe · woman cluster 0 · rank 8 · confidence 0.83"
    assert page.locator(".card.lit").get_attribute("id") == "rows-0"
    page.focus("#beta")
    page.keyboard.press("Home")
    assert line() == "Pearl Oglethorpe · woman cluster 1 at β = 0"
    assert page.locator(".card.lit").get_attribute("id") == "rows-1"
    page.fill("#query", "pearl")
    assert page.inner_text("#matches small") == "woman · cluster 1"
    page.press("#query", "Enter")
    assert line() == "Pearl Oglethorpe · woman cluster 1 at β = 0"
    page.focus("#heatmap")
    page.keyboard.press("ArrowDown")
    assert "entry" in page.inner_text("#where")
    page.focus("#blocks td[tabindex='0']")
    page.keyboard.press("ArrowRight")
    assert "lift" in page.inner_text("#blocks-where")
    page.focus("#beta")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert line() == of_fit
    picture(page)
    assert page.inner_text("#where") == "all 18 rows × all 14 columns"
    assert page.inner_text("#blocks-where") == ""
    page.click("#columns-1 .show")  # another thing is shown
    assert page.locator("#selection").is_hidden()


@pytest.mark.parametrize("name", ["rows.csv", "columns.csv", "blocks.csv"])
def test_downloads_are_the_files(opened, women, name):
    page = opened(women)
    with page.expect_download() as download:
        page.click(f"[data-file='{name}']")
    assert download.value.suggested_filename == name
    assert Path(download.value.path()).read_bytes() == (women.parent / name).read_bytes()


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
    assert {"query", "beta", "zoom-in", "zoom-out", "zoom-all", "heatmap", "colour"} <= set(reached)
    assert {"show", "save", "download"} <= set(reached)


DOTS = """side => {
  const canvas = document.getElementById(side + "-map"), pen = canvas.getContext("2d");
  const { data, width } = pen.getImageData(0, 0, canvas.width, canvas.height), dots = [];
  for (let i = 0; i < data.length; i += 4) {
    const most = Math.max(...data.slice(i, i + 3)), least = Math.min(...data.slice(i, i + 3));
    const at = [i / 4 % width, Math.floor(i / 4 / width)];
    if (data[i + 3] > 150 && most - least > 60) dots.push(at);
  }
  const box = canvas.getBoundingClientRect();
  return dots.map(([x, y]) => [x * box.width / width, y * box.height / canvas.height]);
}"""


def test_a_dot_of_the_map_has_a_name_and_marks_its_element(opened, women):
    page = opened(women)
    before = picture(page)
    dots = page.evaluate(DOTS, "rows")
    x, y = dots[len(dots) // 2]
    page.locator("#rows-map").hover(position={"x": x, "y": y})
    name = page.inner_text("#tip .strong")
    assert name in page.inner_text("#clusters")
    page.locator("#rows-map").click(position={"x": x, "y": y})
    assert page.inner_text("#selection").startswith(name)
    assert picture(page) != before


def test_the_map_names_nothing_where_there_is_no_dot(opened, women):
    page = opened(women)
    page.locator("#columns-map").hover(position={"x": 9, "y": 9})
    assert page.locator("#tip").is_hidden()


NAMES = [f"r{i}" for i in range(30)], [f"c{i}" for i in range(12)]


@pytest.fixture
def random_blocks():
    rng = np.random.default_rng(3)
    matrix = rng.poisson(np.where(np.arange(30)[:, None] % 3 == np.arange(12) // 4, 4, 0.4))
    return Results.of(CoClustering(3, random_state=0).fit(matrix), Data(matrix, *NAMES))


def profile(page, name):
    page.fill("#query", name)
    page.press("#query", "Enter")
    return page.inner_text("#selection .profile")


def test_a_page_with_the_largest_entries_names_them(opened, random_blocks, tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.results.report.MAX_PAGE_BYTES", 0)
    monkeypatch.setattr("comarkov.results.report.payload.MIN_CELL_BYTES", 60)
    path = tmp_path / "part.html"
    path.write_text(random_blocks.to_html(), "utf-8")
    page = opened(path)
    assert page.locator("#subset").is_visible()
    column = random_blocks.matrix.toarray()[:, 7]
    names = re.findall(r"r(\d+) \((\d+)\)", profile(page, "c7"))
    assert names
    for row, value in names:
        assert column[int(row)] == int(value) >= np.sort(column)[-8]


def test_a_profile_is_what_the_data_say(opened, random_blocks, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(random_blocks.to_html(), "utf-8")
    matrix = random_blocks.matrix.toarray()
    text = profile(opened(path), "r4")
    lift = matrix[4] / matrix[4].sum() / (matrix.sum(axis=0) / matrix.sum())
    bits = matrix[4] * np.log2(np.maximum(lift, 1e-9))
    expected = [NAMES[1][i] for i in np.argsort(-bits)[:3]]
    assert re.findall(r"c\d+", text) == expected
    count = (matrix[4] > 0).sum()
    assert text.endswith(f" · row total {matrix[4].sum()} · {count} columns")
    assert float(re.search(r"×([\d.]+)", text)[1]) == pytest.approx(lift[np.argmax(bits)], rel=0.05)
