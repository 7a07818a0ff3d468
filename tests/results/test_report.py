"""The report in a real browser: opened, searched, zoomed, slid, downloaded."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from comarkov import CoClustering, Data, Results, datasets

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

WOMEN = datasets.load("southern-women")
EVIL = "<script>alert(1)</script>"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        missing = "there is no chromium: install Debian's package of that name"
        pytest.fail(missing) if os.environ.get("COMARKOV_NEEDS_CHROMIUM") else pytest.skip(missing)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def written(folder, data, n_clusters, betas=None):
    model = CoClustering(n_clusters, n_init=10, random_state=0).fit(data.matrix)
    path = None if betas is None else model.beta_path(data.matrix, betas)
    Results.of(model, data, path=path, command="comarkov fit women.csv").write(folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def women(tmp_path_factory):
    data = Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names, "woman", "event", "women.csv")
    return written(tmp_path_factory.mktemp("women"), data, (2, 3), [1.0, 0.5, 0.0])


@pytest.fixture
def opened(browser):
    """Open a report; at the end there must be no complaint and no request."""
    contexts, complaints = [], []

    def open_page(path: Path, width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: seen(request.url))
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]")
        return page

    def seen(url):
        if not url.startswith(("file:", "data:,", "blob:")):
            complaints.append(f"request: {url}")

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def picture(page, selector="#heatmap"):
    """What a canvas shows, as text that can be compared, once it has been drawn."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    return page.evaluate(f"document.querySelector('{selector}').toDataURL()")


def pixel(page, x, y):
    """The colour of the heatmap at a share of its width and height, without its labels."""
    return page.evaluate(
        """([x, y]) => {
          const canvas = document.getElementById("heatmap");
          return [...canvas.getContext("2d").getImageData(
            Math.round(x * canvas.width), Math.round(y * canvas.height), 1, 1).data];
        }""",
        [x, y],
    )


def test_it_opens_and_says_what_was_found(opened, women):
    page = opened(women)
    assert page.title() == "women.csv · co-clustering"
    assert page.inner_text("#kept") == "44.0 %"
    lead = "18 rows (woman) in 2 clusters × 14 columns (event) in 3 clusters"
    assert page.inner_text(".lead") == lead
    assert page.inner_text("label[for=query]") == "Find by name: woman or event"
    assert page.locator(".card").count() == 5
    card = page.inner_text("#rows-0")
    assert "9 members" in card
    assert "Evelyn Jefferson" in card
    assert "E5" in card
    assert page.locator("#rows-tree .forks path").count() == 1
    assert page.locator("#columns-tree .forks path").count() == 2
    assert "random_state=0" in page.inner_text(".details")
    assert page.locator(".lift-legend .tick").count() >= 3
    assert len(set(picture(page))) > 10


def test_search_finds_an_element_and_lights_its_cluster(opened, women):
    page = opened(women)
    before = picture(page)
    page.fill("#query", "nora")
    assert page.get_attribute("#query", "aria-expanded") == "true"
    assert page.locator("#matches [role=option]").all_inner_texts()[0].startswith("Nora Fayette")
    page.press("#query", "Enter")
    assert "Nora Fayette · woman cluster 1 · rank" in page.inner_text("#found")
    assert page.locator(".card.lit").get_attribute("id") == "rows-1"
    assert picture(page) != before
    page.click("#found >> text=Zoom to it")
    assert "rows " in page.inner_text("#where")
    page.click("#found >> text=Clear")
    page.click("#zoom-all")
    assert page.locator(".card.lit").count() == 0
    assert picture(page) == before
    page.fill("#query", "nobody")
    assert page.inner_text("#matches") == "Nothing has this name."


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


def test_zoom_by_wheel_buttons_drag_and_keys(opened, women):
    page = opened(women)
    whole = picture(page)
    where = "all 18 rows × all 14 columns"
    assert page.inner_text("#where") == where
    box = page.locator("#heatmap").bounding_box()
    middle = box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.6
    page.mouse.move(*middle)
    assert "entry" in page.inner_text("#tip")
    page.mouse.wheel(0, -400)
    near = picture(page)
    assert near != whole
    zoomed = page.inner_text("#where")
    assert zoomed != where
    page.mouse.down()
    page.mouse.move(middle[0] + 120, middle[1] + 60, steps=4)
    page.mouse.up()
    assert picture(page) != near
    page.focus("#heatmap")
    page.keyboard.press("0")
    page.mouse.move(0, 0)
    assert picture(page) == whole
    page.keyboard.press("+")
    assert picture(page) != whole
    page.keyboard.press("-")
    page.click("#zoom-in")
    page.click("#zoom-all")
    assert picture(page) == whole
    page.focus("#heatmap")
    page.keyboard.press("ArrowDown")
    told = page.inner_text("#where")
    assert any(name in told for name in WOMEN.row_names)
    assert "entry" in told


def test_a_cell_is_what_the_data_say(opened, women):
    page = opened(women)
    page.locator("#heatmap").scroll_into_view_if_needed()
    box = page.locator("#heatmap").bounding_box()
    read = set()
    for x in np.linspace(0.3, 0.97, 9):
        for y in np.linspace(0.25, 0.97, 9):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
            first, second, entry = page.inner_text("#tip").split("\n")
            row = WOMEN.row_names.index(first.split(" · ")[0])
            column = WOMEN.column_names.index(second.split(" · ")[0])
            assert entry == f"entry {WOMEN.matrix[row, column]}"
            read.add((row, column))
    assert len(read) > 30


def test_the_slider_reorders_the_pictures(opened, women):
    page = opened(women)
    assert page.inner_text("#beta-name") == "= 0.7 (the fit)"
    fit, blocks = picture(page), picture(page, "#blocks")
    page.focus("#beta")
    page.keyboard.press("Home")
    assert page.inner_text("#beta-name") == "= 0"
    assert picture(page) != fit
    assert picture(page, "#blocks") != blocks
    assert page.inner_text("#kept") != "44.0 %"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#beta-name") == "= 0.7 (the fit)"
    assert picture(page) == fit


def test_what_was_found_is_told_of_the_view_that_is_shown(opened, women):
    page = opened(women)

    def line():
        return page.inner_text("#found").split(" Zoom")[0].strip()

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
    page.focus("#blocks")
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
    assert page.locator("#found").is_hidden()


@pytest.mark.parametrize("name", ["rows.csv", "columns.csv", "blocks.csv"])
def test_downloads_are_the_files(opened, women, name):
    page = opened(women)
    with page.expect_download() as download:
        page.click(f"text=Download {name}")
    assert download.value.suggested_filename == name
    assert Path(download.value.path()).read_bytes() == (women.parent / name).read_bytes()


def test_blocks_by_keys_and_pointer(opened, women):
    page = opened(women)
    whole = page.inner_text("#where")
    page.focus("#blocks")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert "woman cluster 1 × event cluster 1" in page.inner_text("#blocks-where")
    page.keyboard.press("Enter")
    picture(page)
    assert page.inner_text("#where") != whole


def test_all_that_can_be_done_can_be_reached_by_tab(opened, women):
    page = opened(women)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.className")
        )
        if page.evaluate("document.activeElement === document.body"):
            break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", reached[-1]
    assert {"query", "beta", "zoom-in", "zoom-out", "zoom-all", "heatmap", "blocks"} <= set(reached)
    assert {"show", "download"} <= set(reached)


def test_dark_mode_and_a_change_of_mind(opened, women):
    page = opened(women, color_scheme="dark")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", paper)) < 60
    dark = picture(page)
    page.emulate_media(color_scheme="light")
    assert picture(page) != dark
    assert min(pixel(page, 0.97, 0.25)) > 240  # no entry: paper


def test_without_scripts_the_page_says_so_where_the_picture_would_be(opened, women):
    page = opened(women, java_script_enabled=False)
    assert "need JavaScript" in page.locator("#heatmap-frame noscript").inner_text()
    assert page.locator("#heatmap-frame noscript p").is_visible()
    assert page.locator("#loading").is_hidden()
    assert not any(page.locator(each).is_visible() for each in ("#query", "#beta", ".downloads"))
    assert page.locator(".card").count() == 5


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_nothing_is_wider_than_the_screen(opened, women, width):
    page = opened(women, width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#heatmap").bounding_box()
    assert box["width"] <= width
    beside = page.locator("#blocks").bounding_box()["x"] > box["x"] + box["width"]
    assert beside == (width >= 1280)


def test_tables_on_a_phone(opened, tmp_path):
    """Wide ones scroll in their box, and lines are as high as their text."""
    model = CoClustering((2, 3), random_state=0).fit(WOMEN.matrix)
    evidence = np.zeros(3, [(f"column_agreement_{i}", float) for i in range(8)])
    path = tmp_path / "report.html"
    path.write_text(replace(Results.of(model, WOMEN), selection=evidence).to_html(), "utf-8")
    page = opened(path, 400)
    for summary in ("How the numbers", "Parameters, seed"):
        page.click(f"summary >> text={summary}")
    heights = page.locator(".details tr").evaluate_all("all => all.map(row => row.clientHeight)")
    assert len(heights) > 20
    assert max(heights) < 40
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_finger_taps_and_pinches(opened, women):
    page = opened(women, 400, has_touch=True, is_mobile=True)
    box = page.locator("#heatmap").bounding_box()
    x, y = box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.6
    page.touchscreen.tap(x, y)
    assert "entry" in page.inner_text("#tip")
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
            {"x": px, "y": py, "id": i} for i, (px, py) in enumerate(points)]})  # fmt: skip

    touch("touchStart", (x - 20, y), (x + 20, y))
    for spread in (30, 50, 80):
        touch("touchMove", (x - spread, y), (x + spread, y))
    touch("touchEnd")
    picture(page)
    assert page.inner_text("#where") != "all 18 rows × all 14 columns"


def test_names_are_only_text(opened, tmp_path):
    rows = [f"{EVIL}{i}" for i in range(18)]
    columns = [f"</script><img src=x onerror=alert({i})>" for i in range(14)]
    data = Data(WOMEN.matrix, rows, columns, "<b>r</b>", "c\u2028</title>", f"{EVIL}.csv")
    page = opened(written(tmp_path, data, (2, 3), [1.0]))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    assert page.inner_text("#rows-0-title").endswith("<b>r</b> cluster 0")
    page.fill("#query", "alert(1)")
    assert EVIL in page.inner_text("#matches")
    page.press("#query", "Enter")
    assert "alert(1)" in page.inner_text("#found")
    box = page.locator("#heatmap").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert EVIL in page.inner_text("#tip")
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
    for line in ("#where", ".lead", "label[for=query]"):
        first, second = page.locator(f"{line} bdi").all()
        assert first.bounding_box()["x"] < second.bounding_box()["x"], line
    tree = page.locator("#rows-tree").bounding_box()
    for name in page.locator("#rows-tree g text:not(.number)").all():
        box = name.bounding_box()
        assert box["x"] + box["width"] <= tree["x"] + tree["width"]
    with page.expect_download() as download:
        page.click("text=Download rows.csv")
    assert rows[17] in Path(download.value.path()).read_text("utf-8")


@pytest.mark.parametrize(
    ("n_clusters", "left_out"),
    [((3, None), ["5 of 14 columns"]), ((None, 3), ["5 of 18 rows"]), (1, [])],
)
def test_one_side_and_one_cluster(opened, tmp_path, monkeypatch, n_clusters, left_out):
    monkeypatch.setattr("comarkov.results.report.content.CHOSEN", 5)
    weights = WOMEN.matrix * np.arange(1, 15)  # one cluster of these has shares that sum to 1 - ε
    data = Data(weights, WOMEN.row_names, WOMEN.column_names)
    page = opened(written(tmp_path, data, n_clusters))
    assert page.locator(".card").count() == (3 if n_clusters != 1 else 2)
    like_the_whole = page.locator(".card >> text=None: it is like the whole.")
    assert like_the_whole.count() == (0 if n_clusters != 1 else 2)
    notes = page.locator(".block-matrix .chosen-few").all_inner_texts()
    assert [note.split(",")[0] for note in notes] == left_out
    assert page.locator("#beta").count() == 0
    page.fill("#query", "E5")
    page.press("#query", "Enter")
    assert page.inner_text("#found").startswith("E5 · ")
    page.click("#zoom-in")
    picture(page)


def test_entries_of_any_size(opened, tmp_path):
    """Single precision does not hold them, the page does."""
    data = Data(WOMEN.matrix * 3e200, WOMEN.row_names, WOMEN.column_names)
    page = opened(written(tmp_path, data, (2, 3)))
    page.locator("#heatmap").scroll_into_view_if_needed()
    box = page.locator("#heatmap").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.3)
    assert "entry 3e+200" in page.inner_text("#tip")
    assert page.inner_text("#high") == "3e+200"
    assert sum(pixel(page, 0.5, 0.3)[:3]) < 400  # dark: an entry


def test_twenty_thousand_by_ten_thousand(opened, tmp_path, monkeypatch):
    """All fits into 5 MB; where cells had to be left out, the page says so."""
    n, m = 20_000, 10_000
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, n, 3_000_000), rng.integers(0, m, 3_000_000)
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
    assert "heaviest are in this file" in page.inner_text("#subset")
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
    first, second, entry = page.inner_text("#tip").split("\n")
    place = [int(text.split(" · ")[0].split()[-1]) for text in (first, second)]
    value = matrix[place[0], place[1]]
    assert entry in (f"entry {value}", "entry 0, or below 1")
