"""The report in Chromium: its size, how soon it is usable, and how fast its sliders answer.

A page is usable when it sets its own mark: all is drawn, and all answers. What a step of a slider
takes is the time of the page's main thread, which other processes do not change.
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
LEVELS = (9, 10, 7, 2, 1, 20, 48, 47, 8)  # one after the other
STEP = """async ([side, clusters]) => {
  const slider = document.getElementById(`${side}-level`);
  slider.value = clusters;
  slider.dispatchEvent(new Event("input"));
  await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
}"""


def page(entries: int, columns: int, words: tuple[str, str]) -> str:
    """The report of planted data with hierarchies of 48 x 48 leaves."""
    matrix = planted(entries, CLUSTERS, columns=columns)
    rng = np.random.default_rng(0)
    labels = [rng.integers(CLUSTERS, size=size) for size in matrix.shape]
    model = CoClustering(CLUSTERS, init=tuple(labels), random_state=0, max_time=60, n_init=1)
    names = [
        [f"{word} {i}" for i in range(size)] for word, size in zip(words, matrix.shape, strict=True)
    ]
    return Results.of(model.fit(matrix), Data(matrix, *names)).to_html()


def openings(path: Path) -> list[float]:
    """Seconds from the address to a page that is usable, each in a new browser."""
    times = []
    with sync_playwright() as playwright:
        for _ in range(RUNS):
            browser = _browser(playwright)
            tab = browser.new_page(viewport={"width": 1280, "height": 900})

            def opened(tab=tab) -> None:
                tab.goto(path.as_uri())
                tab.wait_for_selector("html[data-ready]")

            times.append(seconds(opened))
            browser.close()
    return times


def steps(path: Path) -> list[float]:
    """Milliseconds of the main thread for each step of the sliders."""
    with sync_playwright() as playwright:
        browser = _browser(playwright)
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        tools = tab.context.new_cdp_session(tab)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent() -> float:
            metrics = tools.send("Performance.getMetrics")["metrics"]
            return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

        times = []
        for side in ("rows", "columns"):
            for clusters in LEVELS:
                before = spent()
                tab.evaluate(STEP, [side, clusters])
                times.append(1000 * (spent() - before))
        browser.close()
    return times


def _browser(playwright):
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
    )


def measure(report: Report, entries: int, columns: int, most_mb: float, most_seconds: float):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        text = page(entries, columns, ("customer number", "article"))
        path.write_text(text, encoding="utf-8")
        report.figure("size", path.stat().st_size / 1e6, "<=", most_mb, "MB")
        usable = statistics.median(openings(path))
        report.figure("usable, median of five", usable, "<=", most_seconds, "s")
        times = steps(path)
        report.figure("a step of a slider, median", statistics.median(times), "<=", 100, "ms")
        report.figure("a step of a slider, slowest", max(times), "<=", 100, "ms")


def main(report: Report) -> None:
    for entries, columns, size, most in ((200_000, 2_000, 2, 1.5), (2_000_000, 10_000, 6, 2)):
        report.title(f"The report of {entries:,} entries in {columns:,} columns")
        if shutil.which("chromium") is None:
            report.fact("not measured", "there is no chromium")
            return
        measure(report, entries, columns, size, most)


if __name__ == "__main__":
    main(Report())
