"""Tables of results: aligned for people, CSV and JSON for programs."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import shlex
import sqlite3
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer

from ..io.drafts import ended
from ..joint.messages import InternalError
from ..results.base_results import csv_text

# Control characters but tab and line feed, marks of direction, line separators, lone surrogates.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: object) -> str:
    r"""A text whose control characters are escaped: ESC is ``\u001b``, in JSON and elsewhere."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))


def echo(text: object = "", err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a text on stdout or stderr, in a style of ``typer.secho`` if one is given."""
    typer.secho(printable(text), err=err, nl=nl, **style)


Records = list[dict[str, Any]]


def records(table: np.ndarray) -> Records:
    """The lines of a structured array as plain values; what is unknown is None."""
    names = table.dtype.names or ()
    return [
        {name: _known(value) for name, value in zip(names, line, strict=True)}
        for line in table.tolist()
    ]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def aligned(lines: Records, spaced: bool = True) -> str:
    """A table for people: numbers to the right, marks of what is true at the end of the line.

    If ``spaced``, headings have spaces for underscores.
    """
    marks = [name for name, value in lines[0].items() if isinstance(value, bool)]
    shown = [name for name in lines[0] if name not in marks and _is_known(name, lines)]
    titles = [name.replace("_", " ") if spaced else name for name in shown]
    columns = [
        _column(title, [line[name] for line in lines])
        for title, name in zip(titles, shown, strict=True)
    ]
    arrows = [[f"← {mark}" for mark in marks if line[mark]] for line in lines]
    cells = zip(*columns, strict=True)
    return "\n".join(
        "  ".join([*row, *arrow]).rstrip() for row, arrow in zip(cells, [[], *arrows], strict=True)
    )


def _is_known(name: str, lines: Records) -> bool:
    return any(line[name] not in (None, "") for line in lines)


def _column(name: str, values: list[Any]) -> list[str]:
    """A column under its name, its cells equally wide."""
    texts = [name, *map(_cell, values)]
    width = max(map(len, texts))
    is_number = any(isinstance(value, int | float) for value in values)
    return [text.rjust(width) if is_number else text.ljust(width) for text in texts]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def records_csv(lines: Records) -> str:
    """Records as CSV."""
    return csv_text(list(lines[0]), (list(line.values()) for line in lines))


def print_json(value: Any) -> None:
    """Print JSON on stdout."""
    echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


VALUE = r"'[^']*'|\"[^\"]*\"|True|False|-?\d+"


def as_options(message: str, keywords: Collection[str]) -> str:
    """A message about keywords as one about options: ``header=True`` is ``--header``.

    Several keywords in a row, ``rows='user', columns='item'``, become options without commas.
    """
    if not keywords:
        return message
    keyword = rf"\b(?:{'|'.join(keywords)})="
    several = rf"{keyword}(?:{VALUE})(?:, {keyword}(?:{VALUE}))*"
    message = re.sub(several, lambda match: _options(match[0]), message)
    return re.sub(keyword, lambda match: _option(match[0][:-1]), message)


def _options(call: str) -> str:
    """Keywords with values, as options."""
    return " ".join(
        _flag(name, value) or f"{_option(name)} {shlex.quote(value.strip(chr(34) + chr(39)))}"
        for name, value in re.findall(rf"(\w+)=({VALUE})", call)
    )


def _flag(name: str, value: str) -> str | None:
    """The option for a keyword that is True or False."""
    if value not in ("True", "False"):
        return None
    return _option(name if value == "True" else f"no_{name}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


NO_ROOM = re.compile("failed to map segment|[Cc]annot allocate memory")  # for a library
SIZES = re.compile(r" \((?:n_samples|n_features|in all)=\d+\)")  # for users of Python


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print an error that the user can mend as one line, with exit code 2; Ctrl-C is 130."""
    try:
        yield
    except BrokenPipeError:  # who reads our results has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (ValueError, OSError, ImportError, MemoryError, sqlite3.Error) as error:
        echo(f"Error: {_one_line(error)}", fg="red", err=True)
        raise typer.Exit(2) from None
    except InternalError as error:
        echo(f"Error: {_one_line(error)}", fg="red", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise ended_by_user() from None


def ended_by_user(advice: str = "") -> typer.Exit:
    """Print that the user ended the command, and what to do now; return how to exit."""
    word, code = ended()
    echo(" ".join([word, advice]).rstrip(), err=True)
    return typer.Exit(code)


def _one_line(error: BaseException) -> str:
    """The message, with the file that the system complains about."""
    message = str(error)
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, MemoryError) or NO_ROOM.search(message):
        message = f"There is not enough memory. {message}"
    message = as_options(SIZES.sub("", message), ("checkpoint", "scheduler"))
    return " ".join(message.split()) or type(error).__name__


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Print warnings and log messages on stderr: each once, in one line, keywords as options."""
    from .input_options import with_options

    printed: set[str] = set()

    def print_note(message: object) -> None:
        note = " ".join(str(message).split()).replace("max_time", "the time limit")
        note = with_options(note)
        if not quiet and note not in printed:
            printed.add(note)
            echo(f"Note: {note}", fg="yellow", err=True)

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not issubclass(category, DeprecationWarning):
            print_note(message)

    with warnings.catch_warnings(), _logging_to(print_note):
        warnings.simplefilter("always")
        warnings.showwarning = show  # type: ignore[assignment]
        yield


@contextmanager
def _logging_to(print_note: Callable[[str], None]) -> Iterator[None]:
    """Pass the messages of this package's logger to a function."""
    handler = _NoteHandler(print_note)
    logger = logging.getLogger("comarkov")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _NoteHandler(logging.Handler):
    """A handler that passes messages to a function."""

    def __init__(self, print_note: Callable[[str], None]) -> None:
        super().__init__()
        self.print_note = print_note

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on the message of a record."""
        self.print_note(record.getMessage())


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
    from ..search.progress import PATH, WEIGHTS, begin_stage, expect, fit_stages, showing

    stages = {READING: 2.0, **fit_stages(numbers, beta)}
    stages |= {PATH: WEIGHTS[PATH]} if path else {}
    with showing({**stages, WRITING: 4.0}, int(is_shown)):
        expect(EXPECTED)
        yield begin_stage
