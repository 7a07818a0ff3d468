"""Reports opened in Chromium, which must find nothing to complain about."""

from pathlib import Path

import pytest
from pages import ASSETS, chromium, written

from comarkov import Data, datasets


@pytest.fixture(scope="package")
def browser():
    """One Chromium for all of these tests."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser):
    """Open a report; at the end there must be no complaint and no request."""
    contexts, complaints = [], []

    def open_page(path: Path, width=1280, script="", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.add_init_script(script)
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


@pytest.fixture(scope="module")
def run(browser):
    """Call a function of the scripts that are named, on an empty page."""
    page = browser.new_page()

    def call(scripts, function, argument=None):
        source = "\n".join((ASSETS / f"{name}.js").read_text("utf-8") for name in scripts)
        body = f"{source}\nreturn ({function})(argument);"
        evaluate = "([body, argument]) => new Function('argument', body)(argument)"
        return page.evaluate(evaluate, [body, argument])

    yield call
    page.close()


@pytest.fixture(scope="package")
def women(tmp_path_factory):
    """The report of the Southern Women, with a path over β."""
    result = datasets.load("southern-women")
    data = Data(result.matrix, result.row_names, result.column_names, "woman", "event", "women.csv")
    return written(tmp_path_factory.mktemp("women"), data, (2, 3))
