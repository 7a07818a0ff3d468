"""Progress bars for work that counts its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bars(unit: str = "count") -> Iterator[Callable[[str, int, int], None]]:
    """Show bars; yields the function to call with a name, how much is done, and the total."""
    from ..search.progress import bar

    tasks: dict[str, int] = {}
    with bar(unit, transient=True) as bars:

        def advance(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(f"{name:<14}", total=total)
            bars.update(tasks[name], completed=done)

        yield advance
