"""What commands print: tables, JSON, errors in one line, notes, and how far they are."""

from __future__ import annotations

import json
import logging
import re
import shlex
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import typer

from ..io.csv_files import csv_text
from ..io.interrupts import ended
from ..joint.messages import InternalError

# Control characters but tab and line feed, marks of direction, line separators, lone surrogates.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
Records = list[dict[str, Any]]


def echo(text: object = "", err: bool = False, nl: bool = True, **style: Any) -> None:
    r"""Print on stdout or stderr; control characters are escaped: ESC is ``\u001b``."""
    escaped = UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))
    with suppress(OSError) if err else nullcontext():  # results matter, notes need not be read
        typer.secho(escaped, err=err, nl=nl, **style)


def print_json(value: Any) -> None:
    """Print JSON on stdout."""
    echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def report_in(out: Path) -> Path:
    """The report in a folder of results."""
    return (out / "report.html").absolute()


def report_line(out: Path) -> str:
    """Where the report in a folder of results is, for people."""
    return f"The report is {report_in(out)}"


def command_line() -> str:
    """The running command, so that it can be repeated; without passwords in addresses."""
    public = [re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", part) for part in sys.argv[1:]]
    return shlex.join(["comarkov", *public])


# --- tables -------------------------------------------------------------------------------------


def aligned(lines: Records) -> str:
    """A table for people: numbers to the right, marks of what is true at the end of the line."""
    marks = [name for name, value in lines[0].items() if isinstance(value, bool)]
    columns = []
    for name in (each for each in lines[0] if each not in marks):
        values = [line[name] for line in lines]
        if all(value in (None, "") for value in values):
            continue
        texts = ["" if value is None else number_text(value) for value in values]
        texts.insert(0, name.replace("_", " "))
        to_the_right = any(isinstance(value, int | float) for value in values)
        place = str.rjust if to_the_right else str.ljust
        columns.append([place(text, max(map(len, texts))) for text in texts])
    columns.append(["", *(" ".join(f"← {mark}" for mark in marks if line[mark]) for line in lines)])
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def number_text(value: Any) -> str:
    """A number with four digits or all before the point, or another value as text."""
    if isinstance(value, float) and abs(value) < 10_000:
        return f"{value:.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def records_csv(lines: Records) -> str:
    """Records as CSV."""
    return csv_text(list(lines[0]), (list(line.values()) for line in lines))


# --- messages in terms of options ---------------------------------------------------------------

# The options of the commands that are imported, by the parameter of Python; some have other names.
OPTIONS_BY_PARAMETER = {
    "max_time": "--time-limit",
    "n_init": "--starts",
    "n_jobs": "--jobs",
    "n_clusters": "-k",
    "random_state": "--seed",
    "overwrite": "--force",
}
VALUE = r"'[^']*'|\"[^\"]*\"|True|False|-?\d+"
NO_ROOM = re.compile("failed to map segment|[Cc]annot allocate memory")  # for a library
SIZES = re.compile(r" \((?:n_samples|n_features|in all)=\d+\)")  # for users of Python


def as_options(message: str, more: Iterable[str] = ()) -> str:
    """A message about parameters of Python, also ``more`` of them, as one about options.

    ``header=True`` becomes ``--header``, and ``rows='user', columns='item'`` options without
    commas. Names with an underscore need no value: ``held_out`` becomes ``--held-out``.
    """
    options = {name: f"--{name.replace('_', '-')}" for name in more} | OPTIONS_BY_PARAMETER
    names = "|".join(options)
    long = "|".join(name for name in options if "_" in name)
    pattern = rf"(?<!['\"\w.-])(?:({names})=({VALUE})?(, (?=(?:{names})=(?:{VALUE})))?|({long})\b)"

    def option(match: re.Match[str]) -> str:
        flag, value = options[match[1] or match[4]], match[2] or ""
        words = [flag.replace("--", "--no-") if value == "False" else flag]
        if value not in ("", "True", "False"):
            words.append(shlex.quote(value.strip("'\"")))
        return " ".join([*words, ""] if match[3] else words)

    return re.sub(pattern, option, message)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Print an error that the user can mend as one line, with exit code 2; Ctrl-C is 130."""
    try:
        yield
    except BrokenPipeError:  # the reader of our output has closed the pipe, which Typer expects
        raise
    except (ValueError, OSError, ImportError, MemoryError, sqlite3.Error, InternalError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.strerror:
            message = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
        if isinstance(error, MemoryError) or NO_ROOM.search(message):
            message = f"There is not enough memory. {message}"
        one_line = " ".join(as_options(SIZES.sub("", message)).split())
        print_error(one_line or type(error).__name__)
        raise typer.Exit(1 if isinstance(error, InternalError) else 2) from None
    except KeyboardInterrupt as advice:
        word, code = ended()
        echo(f"{word} {advice}".rstrip(), err=True)
        raise typer.Exit(code) from None


def print_error(message: str) -> None:
    """Print an error on stderr, if that takes it."""
    echo(f"Error: {message}", fg="red", err=True)


@contextmanager
def notes(quiet: bool = False) -> Iterator[None]:
    """Print warnings and log messages on stderr: each once, in one line, in terms of options."""
    printed: set[str] = set()

    def show(message: object, category: type[Warning] = UserWarning, *where: Any) -> None:
        note = as_options(" ".join(str(message).split()))
        if not quiet and note not in printed and not issubclass(category, DeprecationWarning):
            printed.add(note)
            echo(f"Note: {note}", fg="yellow", err=True)

    logger, handler = logging.getLogger("comarkov"), logging.Handler()
    handler.emit = lambda record: show(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show  # type: ignore[assignment]
            yield
    finally:
        logger.removeHandler(handler)


# --- progress -----------------------------------------------------------------------------------

WRITING = "Writing the results"


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each part of the work while stderr is a terminal.

    Yields the function to call with the name of a part, how much of it is done, and the total.
    """
    from ..search.progress import showing

    with showing([], int(sys.stderr.isatty())) as bar:
        yield bar.reach if bar is not None else lambda name, done, total: None


@contextmanager
def fit_stages(parameters: dict[str, Any]) -> Iterator[None]:
    """Show progress from reading the data to writing the results of a fit with these parameters."""
    from ..search.progress import fit_stages as stages_of
    from ..search.progress import showing

    fit = stages_of(parameters["n_clusters"], parameters["beta"])
    with showing(["Reading the data", *fit, WRITING], parameters["verbose"]):
        yield
