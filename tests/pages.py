"""Reports in a real browser: what tests read from a page and do to it."""

import os
import shutil
from contextlib import contextmanager
from importlib.resources import files

import pytest

from comarkov import CoClustering, Results

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
ASSETS = files("comarkov.results.report") / "assets"


@contextmanager
def chromium():
    """A browser; tests that need it fail without it where COMARKOV_NEEDS_CHROMIUM is set."""
    driver_of = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        missing = "there is no chromium: install Debian's package of that name"
        pytest.fail(missing) if os.environ.get("COMARKOV_NEEDS_CHROMIUM") else pytest.skip(missing)
    with driver_of.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def written(folder, data, n_clusters):
    """The report of a fit."""
    model = CoClustering(n_clusters, n_init=10, random_state=0).fit(data.matrix)
    Results.of(model, data, command="comarkov fit women.csv").write(folder)
    return folder / "report.html"


def page_of(folder, model, data):
    """The report alone of a fitted model."""
    path = folder / "report.html"
    path.write_text(Results.of(model, data).to_html(), "utf-8")
    return path


def downloaded(page, button, tap=False):
    """The name and the content of the file that a button saves."""
    first = page.locator(button).first
    with page.expect_download() as download:
        first.tap() if tap else first.click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def settle(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def wait_until(page, condition):
    """Wait for an expression to be true, which the page's policy does not let Playwright do."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"still not: {condition}")


def fits_the_window(page):
    """Wait for a page to be no wider than its window; it is drawn again after a resize."""
    wait_until(page, "document.documentElement.scrollWidth <= innerWidth")


def scroll_to(page, selector):
    """Bring an element into view and wait for the end of the scrolling, which hides the tooltip."""
    page.locator(selector).scroll_into_view_if_needed()
    settle(page)


def tooltip(page):
    """The lines of the tooltip, once it is shown."""
    wait_until(page, "!document.getElementById('tip').hidden")
    return page.inner_text("#tip").split("\n")


def picture(page, selector="#heatmap"):
    """What a canvas shows, as text that can be compared, once it has been drawn."""
    settle(page)
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


def point(page, x, y, selector="#heatmap"):
    """The pixel at a share of the width and height of a picture, scrolled into view."""
    scroll_to(page, selector)
    box = page.locator(selector).bounding_box()
    return round(box["x"] + x * box["width"]), round(box["y"] + y * box["height"])


def fingers(page):
    """A function that puts down, moves or lifts fingers."""
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    return touch


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


def a_dot(page, side):
    """Where a dot of a map is, from its top left."""
    dots = page.evaluate(DOTS, side)
    return dots[len(dots) // 2]
