"""Progress bars: one for the stages of a command, or several for work that counts its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

READING, WRITING = "Reading the data", "Writing the results"
EXPECTED = 10.0  # seconds for all stages, until the size of the data is known


@contextmanager
def progress_bars(unit: str = "count") -> Iterator[Callable[[str, int, int], None]]:
    """Show bars of "count" or "bytes", with the time left, while stderr is a terminal.

    Yields the function to call with a name, how much is done, and the total.
    """
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:  # rich before 14.3 prints an empty line even for hidden bars
        yield lambda name, done, total: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn() if unit == "count" else progress.DownloadColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    tasks: dict[str, progress.TaskID] = {}
    with progress.Progress(*columns, console=console, transient=True) as bars:

        def advance(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"{name:<14}", total=total)
            bars.update(tasks[name], completed=done)

        yield advance


@contextmanager
def stage_bar(
    numbers: tuple[Any, Any], beta: Any, is_shown: bool, path: bool = False
) -> Iterator[Callable[[str], None]]:
    """One bar from reading the data to writing the results of a fit, and of a path if there is one.

    Yields the function that begins the stages READING and WRITING; a fit begins its own.
    """
    from ..search.display import begin_stage, expect, showing
    from ..search.progress import PATH, WEIGHTS, fit_stages

    stages = {READING: 2.0, **fit_stages(numbers, beta)}
    stages |= {PATH: WEIGHTS[PATH]} if path else {}
    with showing({**stages, WRITING: 4.0}, int(is_shown)):
        expect(EXPECTED)
        yield begin_stage
