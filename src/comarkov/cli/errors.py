"""Errors are one line on stderr and an exit code; warnings and log messages are notes."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from ..data.internal import InternalError
from ..data.interrupts import ended
from .terminal import echo
from .wording import as_options

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
    from .inputs import with_options

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
