"""The report in a real browser: what it says, how it looks, and what it never does."""

import base64
import hashlib
import re
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from pages import picture, pixel, scroll_to, settle, tooltip, written

from comarkov import CoClustering, Data, Results, datasets

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
    assert len(set(picture(page))) > 10


def test_a_small_report_is_a_small_file(women):
    """Of which the data of a hundred entries take 2 kB."""
    assert len(women.read_bytes()) < 170_000


def test_the_policy_allows_the_script_and_the_style_of_the_page_alone(women):
    text = women.read_text("utf-8")
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
    for x in np.linspace(0.35, 0.8, 9):
        for y in np.linspace(0.3, 0.9, 9):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
            first, second, entry = tooltip(page)
            row = WOMEN.row_names.index(first.split(" · ")[0])
            column = WOMEN.column_names.index(second.split(" · ")[0])
            assert entry == f"entry {WOMEN.matrix[row, column]}"
            read.add((row, column))
    assert len(read) > 30


def test_pictures_follow_the_window_and_are_sharp(opened, women):
    page = opened(women, device_scale_factor=2)
    wide = page.evaluate("document.getElementById('heatmap').width")
    assert wide == 2 * page.evaluate("document.getElementById('heatmap').clientWidth")
    page.set_viewport_size({"width": 600, "height": 900})
    settle(page)
    narrow = page.evaluate("document.getElementById('heatmap').width")
    assert narrow == 2 * page.evaluate("document.getElementById('heatmap').clientWidth") < wide


def test_print_leaves_out_what_paper_cannot_do(opened, women):
    page = opened(women)
    page.emulate_media(media="print")
    for control in ("#query", "#zoom-in", "#beta", ".card .show", ".downloads"):
        assert page.locator(control).first.is_hidden(), control
    for content in ("#heatmap", "#blocks", "#rows-0", "#rows-map"):
        assert page.locator(content).is_visible(), content


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
    assert not any(page.locator(each).is_visible() for each in ("#query", "#beta", ".downloads"))
    tables = page.locator("table.plain-clusters")
    assert tables.locator("tbody tr").count() == 5
    first = tables.first.locator("tbody tr").first.inner_text().split("\t")
    assert (first[0], first[2]) == ("0", "9")
    assert first[4].startswith("Evelyn Jefferson, Laura Mandeville")
    assert tables.first.is_visible()


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_nothing_is_wider_than_the_screen(opened, women, width):
    page = opened(women, width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#heatmap").bounding_box()
    assert box["width"] <= width
    beside = page.locator("#opening").bounding_box()["x"] >= box["x"] + box["width"]
    assert beside == (width >= 1280)


def test_tables_on_a_phone(opened, tmp_path):
    """Wide ones scroll in their box, and lines are as high as their text."""
    model = CoClustering((2, 3), random_state=0).fit(WOMEN.matrix)
    numbers = [(f"{side}_clusters", int) for side in ("row", "column")] + [("suggested", bool)]
    numbers += [(f"{side}_rule", "U8") for side in ("row", "column")]
    evidence = np.zeros(3, [(f"column_agreement_{i}", float) for i in range(8)] + numbers)
    evidence["suggested"][1] = True
    path = tmp_path / "report.html"
    path.write_text(replace(Results.of(model, WOMEN), selection=evidence).to_html(), "utf-8")
    page = opened(path, 400)
    for summary in ("How many clusters", "Parameters, seed"):
        page.click(f"summary >> text={summary}")
    heights = page.locator("#download tr").evaluate_all("all => all.map(row => row.clientHeight)")
    assert len(heights) > 20
    assert max(heights) < 40
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_names_are_only_text(opened, tmp_path):
    rows = [f"{EVIL}{i}" for i in range(18)]
    columns = [f"</script><img src=x onerror=alert({i})>" for i in range(14)]
    data = Data(WOMEN.matrix, rows, columns, "<b>r</b>", "c\u2028</title>", f"{EVIL}.csv")
    page = opened(written(tmp_path, data, (2, 3), [1.0]))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    assert page.inner_text("#rows-title") == "2 <b>r</b> clusters"
    assert page.inner_text("#rows-0-title").startswith("</script><img")
    assert "<b>r</b>s" in page.inner_text(".lead")
    page.fill("#query", "alert(1)")
    assert EVIL in page.inner_text("#matches")
    page.press("#query", "Enter")
    assert "alert(1)" in page.inner_text("#selection")
    scroll_to(page, "#heatmap")
    box = page.locator("#heatmap").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert EVIL in "\n".join(tooltip(page))
    assert page.locator("img").count() == 0


def test_names_with_quotes_commas_and_line_ends(opened, tmp_path):
    rows = [f'"{i}", or\r{i}\nso' for i in range(18)]
    data = Data(WOMEN.matrix, rows, WOMEN.column_names)
    page = opened(written(tmp_path, data, (2, 3)))
    page.fill("#query", '"17", or')
    page.press("#query", "Enter")
    assert page.locator("#selection bdi").first.text_content() == rows[17]


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
    with page.expect_download() as download:
        page.click("[data-file='rows.csv']")
    assert rows[17] in Path(download.value.path()).read_text("utf-8")


@pytest.mark.parametrize(
    ("n_clusters", "left_out"),
    [((3, None), ["5 of 14 columns"]), ((None, 3), ["5 of 18 rows"]), (1, [])],
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
    assert page.locator("#beta").count() == 0
    page.fill("#query", "E5")
    page.press("#query", "Enter")
    assert page.inner_text("#selection").startswith("E5 · ")
    page.click("#zoom-in")
    picture(page)


def test_entries_of_any_size(opened, tmp_path):
    """Single precision does not hold them, the page does."""
    data = Data(WOMEN.matrix * 3e200, WOMEN.row_names, WOMEN.column_names)
    page = opened(written(tmp_path, data, (2, 3)))
    scroll_to(page, "#heatmap")
    box = page.locator("#heatmap").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.41, box["y"] + box["height"] * 0.3)
    assert "entry 3e+200" in tooltip(page)
    assert page.inner_text("#high") == "3e+200"
    assert sum(pixel(page, 0.41, 0.3)[:3]) < 400  # dark: an entry


def test_twenty_thousand_by_ten_thousand(opened, tmp_path, monkeypatch):
    """All fits into 5 MB; where cells had to be left out, the page says so."""
    n, m = 20_000, 10_000
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, n, 3_600_000), rng.integers(0, m, 3_600_000)
    matrix = sp.csr_array((np.ones(rows.size, np.int64), (rows, columns)), (n, m))
    matrix.sum_duplicates()
    labels = np.arange(n) % 8, np.arange(m) % 6
    model = CoClustering((8, 6), init=labels, method="sequential", max_iter=1, tol=1e9).fit(matrix)
    names = [f"customer number {i}" for i in range(n)], [f"article {i}" for i in range(m)]
    page_text = Results.of(model, Data(matrix, *names)).to_html()
    assert len(page_text.encode()) < 5_000_000
    path = tmp_path / "report.html"
    path.write_text(page_text, encoding="utf-8")
    page = opened(path)
    assert "largest of" in page.inner_text("#subset")
    far = picture(page)
    for name in ("customer number 1", "article 12"):
        page.fill("#query", name)
        assert page.locator("#matches bdi").first.inner_text() == name
    page.fill("#query", "1")  # in twelve names of either side, and many more
    kinds = page.locator("#matches small").all_inner_texts()
    assert sorted(kind.split(" · ")[0] for kind in kinds) == ["column"] * 6 + ["row"] * 6
    page.fill("#query", "customer number 12345")
    page.press("#query", "Enter")
    for _ in range(14):
        page.click("#zoom-in")
    assert picture(page) != far
    box = page.locator("#heatmap").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6)
    first, second, entry = tooltip(page)
    place = [int(text.split(" · ")[0].split()[-1]) for text in (first, second)]
    value = matrix[place[0], place[1]]
    assert entry in (f"entry {value}", "entry 0, or below 1")


def test_names_that_spreadsheets_would_compute_are_shown_as_they_are(opened, tmp_path):
    matrix = np.array([[9, 0, 1], [8, 1, 0], [0, 7, 9]])
    data = Data(matrix, ["=1+1", "'@x", "c"], ["d", "e", "f"])
    model = CoClustering((2, 2), random_state=0).fit(data)
    Results.of(model, data).write(tmp_path / "out")
    text = opened(tmp_path / "out" / "report.html").inner_text("body")
    assert "=1+1" in text
    assert "'=1+1" not in text
    assert "'@x" in text
    assert "''@x" not in text
