"""What commands print: tables, JSON, errors in one line, notes, and how far they are."""

from __future__ import annotations

import json
import logging
import math
import os
import re
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ..io.csv_files import csv_text
from ..io.interrupts import ended
from ..joint.messages import InternalError
from .options import as_options

if TYPE_CHECKING:
    import numpy as np


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


def records(table: np.ndarray | None) -> Records:
    """The lines of a structured array, if there is one, as plain values; None if unknown."""
    if table is None:
        return []
    lines = [dict(zip(table.dtype.names or (), line, strict=True)) for line in table.tolist()]
    for line in lines:
        numbers = {name: each for name, each in line.items() if isinstance(each, float)}
        line.update({name: None for name, each in numbers.items() if not math.isfinite(each)})
    return lines


def aligned(lines: Records, spaced: bool = True) -> str:
    """A table for people: numbers to the right, marks of what is true at the end of the line.

    If ``spaced``, headings have spaces for underscores.
    """
    marks = [name for name, value in lines[0].items() if isinstance(value, bool)]
    columns = []
    for name in (each for each in lines[0] if each not in marks):
        values = [line[name] for line in lines]
        if any(value not in (None, "") for value in values):
            columns.append(_column(name.replace("_", " ") if spaced else name, values))
    columns.append(["", *(" ".join(f"← {mark}" for mark in marks if line[mark]) for line in lines)])
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


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


NO_ROOM = re.compile("failed to map segment|[Cc]annot allocate memory")  # for a library
SIZES = re.compile(r" \((?:n_samples|n_features|in all)=\d+\)")  # for users of Python


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print an error that the user can mend as one line, with exit code 2; Ctrl-C is 130."""
    try:
        yield
    except BrokenPipeError:  # the reader of our output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (ValueError, OSError, ImportError, MemoryError, sqlite3.Error, InternalError) as error:
        print_error(_one_line(error))
        raise typer.Exit(1 if isinstance(error, InternalError) else 2) from None
    except KeyboardInterrupt:
        raise ended_by_user() from None


def print_error(message: str) -> None:
    """Print an error on stderr."""
    echo(f"Error: {message}", fg="red", err=True)


def ended_by_user(advice: str = "") -> typer.Exit:
    """Print that the user ended the command, and what to do now; return how to exit."""
    word, code = ended()
    echo(f"{word} {advice}".rstrip(), err=True)
    return typer.Exit(code)


def _one_line(error: BaseException) -> str:
    """The message in terms of options, with the file that the system complains about."""
    message = str(error)
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, MemoryError) or NO_ROOM.search(message):
        message = f"There is not enough memory. {message}"
    return " ".join(as_options(SIZES.sub("", message)).split()) or type(error).__name__


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Print warnings and log messages on stderr: each once, in one line, in terms of options."""
    printed: set[str] = set()

    def print_note(message: object) -> None:
        note = as_options(" ".join(str(message).split()))
        if not quiet and note not in printed:
            printed.add(note)
            echo(f"Note: {note}", fg="yellow", err=True)

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not issubclass(category, DeprecationWarning):
            print_note(message)

    logger, handler = logging.getLogger("comarkov"), logging.Handler()
    handler.emit = lambda record: print_note(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show  # type: ignore[assignment]
            yield
    finally:
        logger.removeHandler(handler)


WRITING = "Writing the results"


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each part of the work while stderr is a terminal.

    Yields the function to call with the name of a part, how much of it is done, and the total.
    """
    from ..search.progress import showing

    bar: Any = None
    finished: dict[str, int] = {}
    with ExitStack() as stack:

        def advance(name: str, done: int, total: int) -> None:
            nonlocal bar
            bar = bar or stack.enter_context(showing([name], 1))
            if name not in finished:
                bar.begin(name, total)
            bar.advance(done - finished.get(name, 0))
            finished[name] = done

        yield advance if sys.stderr.isatty() else lambda name, done, total: None


@contextmanager
def fit_stages(parameters: dict[str, Any], path: bool = False) -> Iterator[Callable[[str], None]]:
    """Show progress from reading the data to writing the results of a fit with these parameters.

    Yields the function that begins WRITING; a fit, and a path if there is one, begin their own.
    """
    from ..search.progress import PATH, begin_stage, showing
    from ..search.progress import fit_stages as stages_of

    fit = stages_of(parameters["n_clusters"], parameters["beta"])
    with showing(["Reading the data", *fit, *[PATH] * path, WRITING], parameters["verbose"]):
        yield begin_stage
