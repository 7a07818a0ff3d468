"""The report of 20,000 x 10,000 with two million entries: its size, and how soon it is usable.

A page is usable when all is drawn and answers: its own mark. Needs Chromium.
"""

import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
from common import Report, planted, seconds
from playwright.sync_api import sync_playwright

from comarkov import CoClustering, Data, Results

CLUSTERS, RUNS = 8, 5


def page_of_large_data() -> str:
    matrix = planted(2_000_000, CLUSTERS, columns=10_000)
    rng = np.random.default_rng(0)
    labels = [rng.integers(CLUSTERS, size=size) for size in matrix.shape]
    model = CoClustering(CLUSTERS, init=tuple(labels), method="sequential", random_state=0)
    names = [
        [f"{what} {i}" for i in range(size)]
        for what, size in zip(("customer number", "article"), matrix.shape, strict=True)
    ]
    return Results.of(model.fit(matrix), Data(matrix, *names)).to_html()


def openings(path: Path) -> list[float]:
    """Seconds from the address to a page that is usable, each in a new browser."""
    times = []
    with sync_playwright() as playwright:
        for _ in range(RUNS):
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 900})

            def opened(page=page) -> None:
                page.goto(path.as_uri())
                page.wait_for_selector("html[data-ready]")

            times.append(seconds(opened))
            browser.close()
    return times


def main(report: Report) -> None:
    report.title("The report of 20,000 x 10,000, two million entries")
    if shutil.which("chromium") is None:
        report.fact("not measured", "there is no chromium")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page_of_large_data(), encoding="utf-8")
        report.figure("size", path.stat().st_size / 1e6, "<=", 5, "MB")
        report.figure("usable, median of five", statistics.median(openings(path)), "<=", 2, "s")


if __name__ == "__main__":
    main(Report())
