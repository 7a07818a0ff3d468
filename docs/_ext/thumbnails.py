"""Small pictures of reports and plots."""

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from PIL import Image

WIDTH, HEIGHT = 640, 480  # of a small picture
VIEW = {"width": 1280, "height": 960}
PARTS = ("#matrix-title", "#chain-title")  # headings of the pictures in reports
SHOW = "part => document.querySelector(part)?.scrollIntoView()"
SETTLED = 500  # milliseconds until what has come into view is drawn
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Camera:
    """Takes pictures of pages with Chromium, if there is one and playwright is installed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._browser: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def take(self, page: Path, picture: Path) -> bool:
        """Write a small picture of a report; False if there is no browser."""
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        if program is None:
            return False
        try:
            from playwright.sync_api import sync_playwright
        except ImportError:
            return False
        if self._browser is None:
            driver = self._stack.enter_context(sync_playwright())
            options = {"executable_path": program, "args": ["--no-sandbox"]}
            self._browser = self._stack.enter_context(driver.chromium.launch(**options))
        view = self._browser.new_page(viewport=VIEW)
        view.goto(page.absolute().as_uri())
        view.wait_for_selector("html[data-ready]")
        for part in PARTS:
            view.evaluate(SHOW, part)
        view.wait_for_timeout(SETTLED)
        view.screenshot(path=picture)
        view.close()
        shrunk(picture, picture)
        return True


def shrunk(source: Path, target: Path) -> None:
    """The same picture as small as a card shows it, on white, in the shape that all cards have."""
    with Image.open(source) as whole:
        picture = whole.convert("RGB")
    picture.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    card = Image.new("RGB", (WIDTH, HEIGHT), "white")
    card.paste(picture, ((WIDTH - picture.width) // 2, (HEIGHT - picture.height) // 2))
    card.quantize(64).save(target, optimize=True)


def fallback(results: Any, picture: Path) -> None:
    """The picture of a card without a browser: the matrix, or the blocks of the first relation."""
    from matplotlib.figure import Figure

    from comarkov import plot_heatmap

    figure = Figure(figsize=(8, 6), layout="constrained")
    if hasattr(results, "findings"):
        plot_heatmap(results, ax=figure.subplots())
    elif hasattr(results, "probabilities"):
        figure.subplots().imshow(results.probabilities, cmap="Blues")
    else:
        figure.subplots().imshow(results.relations[0].blocks, cmap="Blues")
    figure.savefig(picture, dpi=100)
    shrunk(picture, picture)
