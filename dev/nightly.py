"""make nightly: run the long tests of what docs/trust.md promises, and put their figures there.

Each step is a command, and its figure is the last line of its output. Failed steps are marked.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "trust.md"
DETAILS = re.compile(r"(, \d+ deselected)? in [\d.]+s( \([\d:]+\))?$")  # of pytest
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
PYTEST = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]

STEPS = {
    "tests that take long": [*PYTEST, "-m", "nightly", "tests"],
    "properties, 500 examples": [*PYTEST, "-m", "core", "--hypothesis-profile=thorough", "tests"],
    "damaged files, for 60 seconds": ["make", "--silent", "fuzz", "SECONDS=60"],
    "signals at random moments": [sys.executable, "dev/faults.py"],
    "mutants": [sys.executable, "dev/mutate.py"],
    "coverage": ["make", "--silent", "coverage"],
}


def main() -> None:
    """Run the steps, and write their figures into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", help=f"some of: {', '.join(STEPS)}; default: all")
    chosen = parser.parse_args().steps or list(STEPS)
    figures = dict(_figures())
    failed = False
    for name in chosen:
        begin = time.monotonic()
        child = subprocess.run(STEPS[name], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        minutes = (time.monotonic() - begin) / 60
        lines = child.stdout.strip().splitlines() or ["no output"]
        outcome = DETAILS.sub("", lines[-1].strip(" =")).replace("|", "/")
        if child.returncode:
            failed, outcome = True, f"**failed**: {outcome}"
        figures[name] = f"{outcome} ({date.today():%d %B %Y}, {minutes:.0f} min)"
        print(f"{name}: {figures[name]}", flush=True)
        _write(figures)
    sys.exit(failed)


def _figures() -> list[tuple[str, str]]:
    """What the page says now, by step."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [(row[0], row[1]) for row in rows[1:]]


def _write(figures: dict[str, str]) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    rows = [f"| {name} | {figures[name]} |" for name in STEPS if name in figures]
    table = ["", f"| what | outcome, on {machine} |", "|---|---|", *rows, ""]
    PAGE.write_text(before + BEGIN + "\n".join(table) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
