"""The report in a real browser: what it says, how it looks, and what it never does."""

import base64
import hashlib
import re
from html import escape

import numpy as np
import pytest
from pages import (
    downloaded,
    fits_the_window,
    picture,
    pixel,
    point,
    scroll_to,
    settle,
    tooltip,
    written,
)

from comarkov import Data, datasets

WOMEN = datasets.load("southern-women")
EVIL = "<script>alert(1)</script>"


def test_it_opens_and_says_what_was_found(opened, women):
    page = opened(women)
    assert page.title() == "women.csv · co-clustering"
    assert page.inner_text("#kept") == "44.0%"
    lead = "18 women in 2 clusters and 14 events in 3 clusters keep 44.0% of the information"
    assert page.inner_text(".lead").strip() == lead
    assert page.locator("#heatmap").bounding_box()["y"] < 300  # the picture comes first
    assert page.locator("#findings li").count() == 2
    assert page.get_attribute("#query", "placeholder") == "Find woman or event …"
    assert page.locator(".card").count() == 5
    card = page.inner_text("#rows-0")
    assert "9 members" in card
    assert "Evelyn Jefferson" in card
    assert "E5" in card
    assert "random_state=0" in page.inner_text("#download")
    assert page.locator(".lift-legend .field").count() >= 3
    assert page.locator("#classes").count() == 0  # none are known
    assert page.locator("#rows-legend").is_hidden()


def test_the_file_is_small_and_its_policy_allows_its_own_script_and_style_alone(women):
    text = women.read_text("utf-8")
    assert len(text.encode()) < 170_000  # of which the data of a hundred entries take 2 kB
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        (source,) = re.findall(f"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{kind}-src &#39;sha256-{escape(digest)}&#39;;" in policy
    markup = re.sub("<(script|style)[^>]*>.*?</\\1>", "", text, flags=re.DOTALL)
    assert re.findall(r"<[^>]*\s(?:style|on\w+)=", markup) == []


def test_a_cell_is_what_the_data_say(opened, women):
    page = opened(women)
    scroll_to(page, "#heatmap")
    box = page.locator("#heatmap").bounding_box()
    read = set()
    for x in np.linspace(0.35, 0.8, 6):
        for y in np.linspace(0.3, 0.9, 7):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
            first, second, entry = tooltip(page)
            row = WOMEN.row_names.index(first.split(" · ")[0])
            column = WOMEN.column_names.index(second.split(" · ")[0])
            assert entry == f"entry {WOMEN.matrix[row, column]}"
            read.add((row, column))
    assert len(read) > 20


@pytest.mark.parametrize("density", [1, 2])
def test_pictures_follow_the_window_and_are_sharp(opened, women, density):
    page = opened(women, device_scale_factor=density)
    for width in (400, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        fits_the_window(page)
        box = page.locator("#heatmap").bounding_box()
        assert box["width"] <= width
        beside = page.locator("#opening").bounding_box()["x"] >= box["x"] + box["width"]
        assert beside == (width >= 1280)
        canvas = "document.getElementById('heatmap')"
        assert page.evaluate(f"{canvas}.width / {canvas}.clientWidth") == density


def test_dark_mode_and_a_change_of_mind(opened, women):
    page = opened(women, color_scheme="dark")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", paper)) < 60
    dark = picture(page)
    page.emulate_media(color_scheme="light")
    assert picture(page) != dark
    assert min(pixel(page, 0.75, 0.25)) > 240  # no entry: paper


def test_without_scripts_the_page_says_so_where_the_picture_would_be(opened, women):
    page = opened(women, java_script_enabled=False)
    assert "need JavaScript" in page.locator("#heatmap-frame noscript").inner_text()
    assert page.locator("#heatmap-frame noscript p").is_visible()
    assert page.locator("#loading").is_hidden()
    assert not any(page.locator(each).is_visible() for each in ("#query", ".downloads"))
    tables = page.locator("table.plain-clusters")
    assert tables.locator("tbody tr").count() == 5
    first = tables.first.locator("tbody tr").first.inner_text().split("\t")
    assert (first[0], first[2]) == ("1", "9")
    assert first[4].startswith("Evelyn Jefferson, Laura Mandeville")
    assert tables.first.is_visible()


def test_names_are_only_text(opened, tmp_path):
    rows = [f'{EVIL}"{i}", or\r{i}\nso' for i in range(18)]
    columns = [f"</script><img src=x onerror=alert({i})>" for i in range(14)]
    data = Data(WOMEN.matrix, rows, columns, "<b>r</b>", "c\u2028</title>", f"{EVIL}.csv")
    page = opened(written(tmp_path, data, (2, 3)))
    assert page.locator("script").count() == 3
    assert page.inner_text("#rows-title") == "2 <b>r</b> clusters"
    assert page.inner_text("#rows-0-title").startswith("</script><img")
    assert page.locator(".lead b").count() == 3  # none of them from the data
    page.fill("#query", '"17", or')
    assert EVIL in page.inner_text("#matches")
    page.press("#query", "Enter")
    assert page.locator("#selection bdi").first.text_content() == rows[17]
    page.mouse.move(*point(page, 0.5, 0.5))
    assert EVIL in "\n".join(tooltip(page))
    assert page.locator("img").count() == 0


def test_a_name_never_turns_what_is_around_it(opened, tmp_path):
    """Controls are spelt out, and names from right to left stay where they are."""
    rows = [f"שם{i}\u2069\u202egpj" for i in range(18)]
    columns = [f"עמודה {i}" for i in range(14)]
    data = Data(WOMEN.matrix, rows, columns, "אדם", "\u202emoc", "\u202efdp.csv")
    page = opened(written(tmp_path, data, (2, 3)))
    assert page.title() == "[U+202E]fdp.csv · co-clustering"
    page.fill("#query", "שם17\u2069")
    assert page.locator("#matches bdi").all_inner_texts() == ["שם17[U+2069][U+202E]gpj"]
    page.press("#query", "Enter")
    page.focus("#heatmap")
    page.keyboard.press("ArrowDown")
    assert re.search("[\u202a-\u202e\u2066\u2067]", page.inner_text("body")) is None
    for line in ("#where", ".lead"):
        first, second = page.locator(f"{line} bdi").all()
        assert first.bounding_box()["x"] < second.bounding_box()["x"], line
    assert rows[17] in downloaded(page, "[data-file='rows.csv']")[1].decode()


@pytest.mark.parametrize(
    ("n_clusters", "left_out"),
    [((3, None), ["5 of 14 columns"]), (1, [])],
)
def test_one_side_and_one_cluster(opened, tmp_path, monkeypatch, n_clusters, left_out):
    monkeypatch.setattr("comarkov.results.report.content.BLOCK_ELEMENTS", 5)
    weights = WOMEN.matrix * np.arange(1, 15)  # one cluster of these has shares that sum to 1 - ε
    data = Data(weights, WOMEN.row_names, WOMEN.column_names)
    page = opened(written(tmp_path, data, n_clusters))
    assert page.locator(".card").count() == (3 if n_clusters != 1 else 0)
    if n_clusters == 1:  # no cards, maps or levels of what was not found
        assert page.inner_text("#opening-title") == "No clusters were found"
        assert page.locator("#blocks, #map, #rows-level, .finding").count() == 0
    notes = page.locator(".block-matrix .chosen-few").all_inner_texts()
    assert [note.split(",")[0] for note in notes] == left_out
    page.fill("#query", "E5")
    page.press("#query", "Enter")
    assert page.inner_text("#selection").startswith("E5 · ")
    page.click("#zoom-in")
    picture(page)


def test_entries_of_any_size(opened, tmp_path):
    """Single precision does not hold them, the page does."""
    data = Data(WOMEN.matrix * 3e200, WOMEN.row_names, WOMEN.column_names)
    page = opened(written(tmp_path, data, (2, 3)))
    page.mouse.move(*point(page, 0.41, 0.3))
    assert "entry 3e+200" in tooltip(page)
    assert page.inner_text("#high") == "3e+200"
    assert sum(pixel(page, 0.41, 0.3)[:3]) < 400  # dark: an entry
