"""Views of database files that never end: limits on the time and on the number of records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .opening import unpacking_limit

SECONDS = 60.0  # to wait for all records of a view
BYTES_PER_SECOND = 1_000_000  # of the file, for which it may take a second more
STEPS = 100_000  # of SQLite between two looks at signals such as Ctrl-C
CELL = 50  # bytes of a value in Python, about


class Impatient:
    """Waits for a cursor as long as a whole table can take; a query of users may take longer."""

    def __init__(self, cursor: Any, name: str, path: Path | None) -> None:
        self.cursor, self.name = cursor, name
        self.path = path  #: the file of a table or view; None without limits
        self.cells = 0
        self.seconds = SECONDS + (path.stat().st_size / BYTES_PER_SECOND if path else 0.0)
        self.start = time.monotonic()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of ``function``, which waits for the database."""
        if self.path is None:
            return function(*arguments)
        ended = threading.Event()
        connection = getattr(self.cursor, "connection", self.cursor)

        def end() -> None:
            ended.set()
            connection.interrupt()

        timer = threading.Timer(self.start + self.seconds - time.monotonic(), end)
        timer.daemon = True
        timer.start()
        try:
            return function(*arguments)
        except Exception as error:
            if ended.is_set():
                raise ValueError(
                    f"{self.name}: reading it takes more than {self.seconds:.0f} seconds, so its "
                    "view may be endless. If you trust it, state what to read: query='select ...'"
                ) from error
            raise
        finally:
            timer.cancel()

    def batches(self, size: int) -> Iterator[list[Any]]:
        """The records of the answer, many at a time."""
        while records := self.call(self.cursor.fetchmany, size):
            self._count(records)
            yield records

    def _count(self, records: list[Any]) -> None:
        self.cells += len(records) * len(records[0])
        if self.path is not None and CELL * self.cells > unpacking_limit(self.path, None):
            raise ValueError(
                f"{self.name}: the view has more than {self.cells:,} values, far more than its "
                "file, and may be endless. If you trust it, state what to read: query='select ...'"
            )


@contextmanager
def heeding_signals(connection: Any) -> Iterator[None]:
    """Let Ctrl-C end a statement of SQLite, which knows no signals by itself."""
    signals: list[KeyboardInterrupt] = []

    def look() -> int:
        try:
            for _ in range(2):  # Python calls handlers of signals between steps of a loop
                pass
        except KeyboardInterrupt as signal:
            signals.append(signal)
        return len(signals)

    connection.set_progress_handler(look, STEPS)
    try:
        yield
    except Exception as error:
        if signals or "interrupted" in str(error):
            raise KeyboardInterrupt from error
        raise
