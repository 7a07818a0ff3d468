"""HDF5 and Parquet files read once by a child process, where a crash or an endless loop ends.

``python -m comarkov.io.isolation hdf5 FILE LIMIT`` reads all of a file and keeps nothing. If the
file must not be read, it prints the reason in one line and exits with code ``BAD_FILE``.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import tokenize
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

BAD_FILE = 3  # exit code
CHILD_SECONDS = 30.0  # that a child may take
CHILD_BYTES_PER_SECOND = 2_000_000  # of the file, for which it may take a second more
LEAST_ADDRESS_SPACE = 4 << 30  # bytes
MAX_DATASET_READ = 1 << 26  # bytes; of larger data sets only the index of the chunks is read
MAX_PARQUET_READ = 1 << 24  # bytes; of larger files only the index, the first and last rows
DATASET_LINES = 10_000  # that are read at a time
RUST_PANIC = b"panicked at"  # which Rust prints before its threads end, or wait for each other

#: What NumPy raises, beside ValueError, for the header of an array that is not Python.
BAD_HEADER = (tokenize.TokenError, SyntaxError)


class UnreadableError(ValueError):
    """Why a file must not be read; ``is_refused`` if it is sound, but leads elsewhere."""

    def __init__(self, reason: str, is_refused: bool = True) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


def check_in_child(kind: str, path: Path, limit: int) -> None:
    """Read an "hdf5" or "parquet" file in a child; raise if it fails, crashes or does not end.

    A file that was checked is not checked again unless it has changed. The child runs this module
    and not the user's script, which therefore needs no ``if __name__ == "__main__"``.
    """
    status = path.stat()
    state = status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
    problem = _problem(kind, str(path.resolve()), limit, state)
    if problem is not None:
        raise UnreadableError(problem.removeprefix("!"), is_refused=problem.startswith("!"))


def command(kind: str) -> list[str]:
    """How to run a check: without the folder of the script, whose modules may have any name."""
    return [sys.executable, "-P", "-m", __name__, kind]


@lru_cache(maxsize=256)
def _problem(kind: str, path: str, limit: int, state: tuple[int, ...]) -> str | None:
    """What is wrong with a file, or None; "!" comes first if the file is sound, but refused."""
    if not sys.executable or hasattr(sys, "frozen"):  # Python is part of another program
        return None
    seconds = CHILD_SECONDS + state[-1] / CHILD_BYTES_PER_SECOND
    search_path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(
            [*command(kind), path, str(limit)],
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
    is_known = done.returncode == BAD_FILE and reason
    return reason if is_known else "it crashes the program that reads it"


# --- in the child -------------------------------------------------------------------------------


def _main(kind: str, path: str, limit: str) -> None:
    """Read a file whose content may have ``limit`` bytes."""
    _limit_memory()
    try:
        _read_parquet(path) if kind == "parquet" else _read_hdf5(path, int(limit))
    except UnreadableError as error:
        _end(f"!{error}")
    except BaseException as error:  # a panic of Rust is not an Exception
        _end(str(error).strip() or type(error).__name__)


def _limit_memory() -> None:
    """Allow at most the memory of the machine, so that the system kills no other process."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has limits
        import resource

        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = max(LEAST_ADDRESS_SPACE, memory)
        limit = limit if soft == resource.RLIM_INFINITY else min(limit, soft)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _end(reason: str) -> NoReturn:
    """Print why the file is bad, and end at once: threads that have panicked may never end."""
    os.write(1, reason.splitlines()[0].encode("utf-8", "backslashreplace"))
    os._exit(BAD_FILE)


def _read_parquet(path: str) -> None:
    """Decode every page, or the first and last rows of a large file; end when polars panics."""
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    threading.Thread(target=_watch_for_panic, args=(reading,), daemon=True).start()
    import polars as pl

    frame = pl.scan_parquet(path, low_memory=True, glob=False)
    if os.path.getsize(path) > MAX_PARQUET_READ:
        frame = pl.concat([frame.head(1), frame.tail(1)])
    frame.sink_ipc(os.devnull)


def _watch_for_panic(stream: int) -> None:
    text = b""
    while part := os.read(stream, 1 << 16):
        text = text[-len(RUST_PANIC) :] + part
        if RUST_PANIC in text:
            _end("its pages do not match its index")


def _read_hdf5(path: str, limit: int) -> None:
    """Visit everything in the file, once; raise for what is wrong, or leads out of the file."""
    import h5py

    size = 0

    def visit(name: str, member: Any) -> None:
        nonlocal size
        dict(member.attrs)
        if isinstance(member, h5py.Group):
            _refuse_other_files(member)
        elif isinstance(member, h5py.Dataset):
            _refuse_outside_values(member)
            size += 0 if member.shape is None else member.size * member.dtype.itemsize
            if size > limit:
                raise UnreadableError(
                    f"its data sets claim more than {limit:,} bytes, which may be a trap"
                )
            _read_dataset(member)

    with h5py.File(path, "r") as file:
        visit("/", file)
        file.visititems(visit)


def _refuse_other_files(group: Any) -> None:
    """Raise for a link that leads out of the file: one of another file, or of an unknown type."""
    import h5py

    for name in group:
        encoded = name.encode("utf-8", "surrogateescape")
        if group.id.links.get_info(encoded).type in (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT):
            continue
        link = group.get(name, getlink=True)
        raise UnreadableError(
            f"its member {group.name.rstrip('/')}/{name} is a link to another file"
            + (f", {link.filename}" if isinstance(link, h5py.ExternalLink) else "")
        )


def _refuse_outside_values(dataset: Any) -> None:
    import h5py

    plan = dataset.id.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL:
        raise UnreadableError(f"its data set {dataset.name} is virtual: its values are elsewhere")
    if plan.get_external_count():
        outside = plan.get_external(0)[0].decode(errors="replace")
        raise UnreadableError(
            f"the values of its data set {dataset.name} are in another file, {outside}"
        )


def _read_dataset(dataset: Any) -> None:
    """Read all values, some at a time; of large data sets of numbers only the index."""
    if dataset.shape is None:
        return
    is_small = dataset.size * dataset.dtype.itemsize <= MAX_DATASET_READ
    if not (dataset.dtype.hasobject or is_small or dataset.chunks is None):
        dataset.id.chunk_iter(lambda chunk: None)
    elif dataset.shape == ():
        dataset[()]
    else:
        for start in range(0, dataset.shape[0], DATASET_LINES):
            dataset[start : start + DATASET_LINES]


if __name__ == "__main__":
    _main(*sys.argv[1:])
