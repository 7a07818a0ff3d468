"""The built site in Chromium, at the widths of a desktop and of a phone (`make docs-check`)."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pages import fits_the_window

SITE = Path(__file__).parent.parent.parent / "site"
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
PAGES = [page for page in PAGES if not page.startswith(("reports/", "_static/"))]
SIZES = {"desktop": 1400, "phone": 390}
CHATTER = "[PST]"  # what the theme prints about itself

pytestmark = pytest.mark.site


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *args):
        """Nothing."""


@pytest.fixture(scope="module")
def address():
    """The site on a server of this machine, which search needs to show excerpts."""
    assert (SITE / "index.html").exists(), "Build the site first: make docs"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=SIZES.values(), ids=SIZES)
def page(request, browser, address):
    """A page; at the end there must be no complaint, and no request to another machine."""
    complaints = []
    context = browser.new_context(
        viewport={"width": request.param, "height": 900}, color_scheme="light", base_url=address
    )
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("response", lambda reply: reply.status < 400 or complaints.append(reply.url))
    page.on("request", lambda asked: asked.url.startswith(address) or complaints.append(asked.url))
    yield page
    context.close()
    assert [text for text in complaints if not text.startswith((CHATTER, "data:"))] == []


# What is cut off at the right: wide elements that are in no part of the article that scrolls.
CUT_OFF = """() => {
  const isWide = element => element.getBoundingClientRect().right > innerWidth + 1;
  const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const isReachable = element => {
    const parent = element.parentElement;
    if (parent.matches("article.bd-article")) return false;
    return (scrolls(parent) && !isWide(parent)) || isReachable(parent);
  };
  return [...document.querySelectorAll("article.bd-article *")]
    .filter(element => isWide(element) && !isReachable(element))
    .map(element => element.outerHTML.slice(0, 80));
}"""


def test_nothing_is_wider_than_the_screen(page):
    wide = {}
    for name in PAGES:
        page.goto(f"/{name}")
        if cut_off := page.evaluate(CUT_OFF):
            wide[name] = cut_off
        fits_the_window(page)
    assert wide == {}


def test_search_finds_a_class(page):
    page.goto("/search.html?q=CoClustering")
    first = page.locator("#search-results a", has_text="CoClustering").first
    first.wait_for()
    first.click()
    assert "CoClustering" in page.locator("h1").inner_text()


def test_the_search_button_opens_the_search(page):
    page.goto("/index.html")
    page.locator("button.search-button__button:visible").first.click()
    field = page.locator("dialog input[type=search]")
    field.fill("lumpability")
    field.press("Enter")
    page.locator("#search-results a").first.wait_for()


def test_dark_mode_can_be_switched_on(page):
    page.goto("/getting_started.html")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    if page.viewport_size["width"] < 960:
        page.locator("button.primary-toggle").click()
    page.locator("button.theme-switch-button:visible").click()
    page.locator("button[data-mode=dark]:visible, a[data-mode=dark]:visible").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_every_section_can_be_reached_from_the_first_page(page):
    page.goto("/index.html")
    links = page.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    sections = "getting_started tutorials/index how_to/index concepts/index gallery/index"
    sections += " reference/index trust benchmarks/index faq changelog citation"
    missing = {f"{name}.html" for name in sections.split()} - {str(link) for link in links}
    assert missing == set()
