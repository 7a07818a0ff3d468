"""Files read once by a child process, where a crash or an endless loop ends nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tokenize
from functools import lru_cache
from pathlib import Path

import numpy as np

from .checks.limits import BAD

SECONDS = 30.0  # that the check of a file may take
BYTES_PER_SECOND = 2_000_000  # for which it may take a second more


class UnreadableError(ValueError):
    """Why a file must not be read; ``is_refused`` if it is sound, but leads elsewhere."""

    def __init__(self, reason: str, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


def check_in_child(check: str, path: Path, limit: int) -> None:
    """Run a script of ``io.checks`` on a file; raise if it fails, crashes or does not end.

    A file that was checked is not checked again unless it has changed. The child runs a module of
    its own and not the user's script, which therefore needs no ``if __name__ == "__main__"``.
    """
    status = path.stat()
    state = status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
    problem = _problem(check, str(path.resolve()), limit, state)
    if problem is not None:
        raise UnreadableError(problem.removeprefix("!"), is_refused=problem.startswith("!"))


def command(check: str) -> list[str]:
    """How to run a check: without the folder of the script, whose modules may have any name."""
    return [sys.executable, "-P", "-m", f"comarkov.io.checks.{check}"]


@lru_cache(maxsize=256)
def _problem(check: str, path: str, limit: int, state: tuple[int, ...]) -> str | None:
    """What is wrong with a file, or None."""
    if not sys.executable or hasattr(sys, "frozen"):  # Python is part of another program
        return None
    seconds = SECONDS + state[-1] / BYTES_PER_SECOND
    search_path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(
            [*command(check), path, str(limit)],
            env={**os.environ, "PYTHONPATH": search_path, "RUST_BACKTRACE": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"reading it takes more than {seconds:.0f} seconds"
    reason = done.stdout.decode("utf-8", "replace").rstrip(". ")
    if done.returncode == 0:
        return None
    return reason if done.returncode == BAD and reason else "it crashes the program that reads it"


#: What NumPy raises, beside ValueError, for a header that is not Python.
BAD_HEADER = (tokenize.TokenError, SyntaxError)


def is_text(array: np.ndarray) -> bool:
    """Are all characters of an array of text characters? Python ends with SystemError if not."""
    if array.dtype.kind != "U" or array.dtype.itemsize == 0 or array.size == 0:
        return True
    code = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    codes = np.ascontiguousarray(array).reshape(-1).view(code)
    return bool(codes.max() <= sys.maxunicode)
