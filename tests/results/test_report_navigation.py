"""Moving about the report: wheel, drag, double click, pinch, keys, and what they may not do."""

import re

import numpy as np
import pytest
from pages import (
    a_dot,
    downloaded,
    fingers,
    page_of,
    picture,
    point,
    scroll_to,
    settle,
    tooltip,
    wait_until,
)

from comarkov import CoClustering, Data, datasets

WOMEN = datasets.load("southern-women")
ALL = "all 300 rows × all 200 columns"
LARGEST = 44  # pixels of a cell


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """300 x 200 in blocks of 4 x 5 clusters; an entry tells its row and column."""
    rows, columns = np.arange(300), np.arange(200)
    matrix = (rows[:, None] % 4 == columns % 4) * (1 + 1000 * rows[:, None] + columns)
    model = CoClustering((4, 5), init=(rows % 4, columns % 5), method="sequential").fit(matrix)
    names = [f"r{i}" for i in rows], [f"c{i}" for i in columns]
    return page_of(tmp_path_factory.mktemp("large"), model, Data(matrix, *names))


def where(page):
    settle(page)
    return page.inner_text("#where")


def shown(page):
    """The first and last row, then the first and last column, that are seen at least in part."""
    numbers = re.findall(r"(\d+)–(\d+) of|all (\d+)", where(page))
    return [(int(first or 1), int(last or every)) for first, last, every in numbers]


def under(page, x, y):
    """The row and the column at a point of the window, as the tooltip has them."""
    page.mouse.move(x + 1, y)
    page.mouse.move(x, y)
    return [line.split(" · ")[0] for line in tooltip(page)[:2]]


def zoomed(page, x=0.6, y=0.6, turns=4):
    """Zoom in by the wheel; where the pointer is."""
    at = point(page, x, y)
    page.mouse.move(*at)
    for _ in range(turns):
        page.mouse.wheel(0, -400)
        settle(page)
    return at


def test_the_wheel_zooms_about_the_pointer(opened, large):
    page = opened(large)
    whole = picture(page)
    assert where(page) == ALL
    at = point(page, 0.85, 0.8)
    names = under(page, *at)
    page.mouse.wheel(0, -150)  # not so far that names need room beside the matrix
    assert where(page) != ALL
    assert under(page, *at) == names
    zoomed(page, 0.85, 0.8)
    row, column = (int(name[1:]) for name in under(page, *at))
    entry = tooltip(page)[2]
    assert entry == (f"entry {1 + 1000 * row + column:,}" if row % 4 == column % 4 else "entry 0")
    page.click("#zoom-all")
    page.mouse.move(0, 0)
    assert picture(page) == whole


def test_zoom_ends_at_the_largest_cell_and_at_the_whole(opened, large):
    page = opened(large)
    at = zoomed(page, turns=15)
    box = page.locator("#heatmap").bounding_box()
    (top, bottom), (left, right) = shown(page)
    assert (bottom - top - 1) * LARGEST <= box["height"] <= (bottom - top + 4) * LARGEST
    assert (right - left - 1) * LARGEST <= box["width"] <= (right - left + 6) * LARGEST
    near, scrolled = where(page), page.evaluate("scrollY")
    page.mouse.wheel(0, -400)
    assert where(page) == near
    assert page.evaluate("scrollY") == scrolled
    for _ in range(15):
        page.mouse.wheel(0, 400)
        settle(page)
        if where(page) == ALL:
            break
    assert where(page) == ALL
    page.mouse.dblclick(*at)
    (top, bottom), (left, right) = shown(page)
    assert bottom - top + 1 == pytest.approx(300 / 2.5, abs=2)
    assert right - left + 1 == pytest.approx(200 / 2.5, abs=2)


def test_the_wheel_scrolls_the_page_where_there_is_nothing_to_zoom(opened, large):
    page = opened(large)
    page.mouse.move(*point(page, 0.5, 0.5))
    page.mouse.wheel(0, 300)
    wait_until(page, "scrollY > 200")
    assert where(page) == ALL


def test_what_is_dragged_stays_under_the_pointer(opened, large):
    page = opened(large)
    x, y = zoomed(page, turns=2)
    names = under(page, x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y - 70, steps=5)
    page.mouse.up()
    settle(page)
    assert under(page, x - 150, y - 70) == names
    page.mouse.down()
    page.mouse.move(x + 9000, y + 9000, steps=3)  # no further than the first row and column
    page.mouse.up()
    (top, _), (left, _) = shown(page)
    assert (top, left) == (1, 1)
    page.click("#zoom-all")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=3)  # the whole does not move
    page.mouse.up()
    assert where(page) == ALL


def test_buttons_and_keys_zoom_alike(opened, large):
    page = opened(large)
    whole = picture(page)
    page.click("#zoom-in")
    page.mouse.move(0, 0)
    once = picture(page)
    assert once != whole
    page.click("#zoom-out")
    page.focus("#heatmap")
    for larger, smaller in ("+-", "=_", "+0"):
        page.keyboard.press(larger)
        assert picture(page) == once
        page.keyboard.press(smaller)
        assert where(page) == ALL
    page.evaluate(
        "document.getElementById('heatmap').dispatchEvent("
        "new KeyboardEvent('keydown', { key: '+', ctrlKey: true }))"
    )
    assert where(page) == ALL  # the browser's own zoom


def test_arrows_move_a_cell_and_the_matrix_follows(opened, women):
    page = opened(women)
    scroll_to(page, "#heatmap")
    page.focus("#heatmap")
    page.keyboard.press("ArrowDown")
    text = page.inner_text("#where")
    name, event = (part.split(" · ")[0] for part in text.split(", ")[:2])
    row, column = WOMEN.row_names.index(name), WOMEN.column_names.index(event)
    assert text.endswith(f"entry {WOMEN.matrix[row, column]}")
    assert tooltip(page)[0].startswith(name)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#where") == text
    page.keyboard.press("Escape")
    assert where(page) == "all 18 rows × all 14 columns"


def test_arrows_stop_at_the_edge(opened, large):
    page = opened(large)
    zoomed(page, turns=15)
    page.focus("#heatmap")
    page.keyboard.press("ArrowRight")
    for _ in range(30):
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowDown")
    last = page.inner_text("#where")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#where") == last
    tip = page.locator("#tip").bounding_box()
    assert tip["x"] + tip["width"] <= 1280
    page.keyboard.press("-")  # about the cursor, which is in the last corner
    page.keyboard.press("Escape")
    (_, bottom), (_, right) = shown(page)
    assert (bottom, right) == (300, 200)


def test_blocks_by_keys_and_pointer(opened, women):
    page = opened(women)
    whole = where(page)
    page.focus("#blocks td[tabindex='0']")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    block = page.inner_text("#blocks-where").split(", lift")[0]
    row, column = page.locator("#blocks tbody th").nth(1), page.locator("#blocks thead th").nth(1)
    assert block == f"{row.inner_text()} × {column.inner_text()}"
    page.keyboard.press("Enter")
    by_key = where(page)
    assert by_key != whole
    page.click("#zoom-all")
    cell = page.locator("#blocks tbody tr").nth(1).locator("td").nth(1)
    scroll_to(page, "#blocks")
    page.mouse.move(0, 0)
    cell.hover()
    assert tooltip(page)[0] == block
    cell.click()
    assert where(page) == by_key
    page.click("#zoom-all")
    page.click("#findings li >> nth=0")  # its block
    assert where(page) != whole


def phone(opened, path):
    page = opened(path, 400, has_touch=True, is_mobile=True)
    return page, fingers(page)


def test_a_finger_taps_and_two_pinch(opened, large):
    page, touch = phone(opened, large)
    x, y = point(page, 0.6, 0.6)
    page.touchscreen.tap(x, y)
    assert page.locator("#tip").is_visible()
    touch("touchStart", (x - 20, y), (x + 20, y))
    for spread in (40, 80, 160):
        touch("touchMove", (x - spread, y), (x + spread, y))
    settle(page)
    (top, bottom), (left, right) = shown(page)
    assert bottom - top + 1 == pytest.approx(300 / 8, abs=3)
    assert right - left + 1 == pytest.approx(200 / 8, abs=3)
    assert page.locator("#tip").is_hidden()
    for shift in (20, 40, 60):  # two fingers move what is between them
        touch("touchMove", (x - 160 - shift, y), (x + 160 - shift, y))
    (same, _), (now_left, now_right) = shown(page)
    assert same == pytest.approx(top, abs=1)
    assert now_left > left
    assert now_right - now_left == pytest.approx(right - left, abs=1)
    for spread in (80, 20, 5):
        touch("touchMove", (x - spread, y), (x + spread, y))
    touch("touchEnd")
    assert where(page) == ALL


def test_one_finger_scrolls_the_page_or_moves_the_matrix(opened, large):
    page, touch = phone(opened, large)

    def swipe():
        x, y = point(page, 0.6, 0.6)
        touch("touchStart", (x, y))
        for shift in range(20, 220, 20):
            touch("touchMove", (x, y - shift))
        touch("touchEnd")
        settle(page)

    swipe()
    wait_until(page, "scrollY > 50")
    assert where(page) == ALL
    for _ in range(5):
        page.click("#zoom-in")
    point(page, 0.6, 0.6)
    before, scrolled = shown(page), page.evaluate("scrollY")
    swipe()
    assert shown(page)[0][0] > before[0][0]
    assert page.evaluate("scrollY") == scrolled


def test_a_tap_on_a_match_finds_it_and_nothing_below(opened, large):
    page, _ = phone(opened, large)
    page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    page.evaluate("document.getElementById('query').scrollIntoView({ behavior: 'instant' })")
    page.fill("#query", "r17")
    page.touchscreen.tap(*point(page, 0.3, 0.5, "#match-0"))
    wait_until(page, "!document.getElementById('selection').hidden")
    assert page.inner_text("#selection").startswith("r17 ·")
    assert page.evaluate("document.activeElement.id") == "heatmap"
    assert 0 <= page.locator("#heatmap").bounding_box()["y"] < 844  # scrolled to what was found


def test_every_control_answers_a_finger(opened, women):
    page = opened(women, 400, has_touch=True, is_mobile=True)

    def tap(selector):
        page.locator(selector).first.tap()
        settle(page)

    everything = page.inner_text("#where")
    for control in ("#findings [data-rows]", "#blocks tbody td", "#zoom-in"):
        tap(control)
        assert page.inner_text("#where") != everything, control
        tap("#zoom-all")
        assert page.inner_text("#where") == everything
    tap("#rows-more")
    assert page.inner_text("#rows-level-now") == "3"
    tap("#back-to-fit")
    assert page.inner_text("#rows-level-now") == "2"
    tap("#rows-0 .unfold")
    tap("#rows-0 .more")
    assert page.locator("#rows-0 .long li").count() == 9
    tap("#rows-0 .show")
    assert page.locator(".card.lit").get_attribute("id") == "rows-0"
    tap("#rows-0-title .title")
    assert page.locator("#rows-0-title input").is_visible()
    tap("h1")
    x, y = a_dot(page, "rows")
    page.locator("#rows-map").tap(position={"x": x, "y": y})
    assert page.inner_text("#selection bdi >> nth=0") in WOMEN.row_names
    tap("#columns-map-legend button")
    assert page.locator(".card.lit").get_attribute("id").startswith("columns-")
    tap("#columns summary")
    assert not page.locator("#columns-0").is_visible()
    before = picture(page)
    tap("#colour")
    page.select_option("#colour", "lift")
    assert picture(page) != before
    for button in ("button.save[data-kind=svg]", "button.download", "#download-titles"):
        assert downloaded(page, button, tap=True)
