"""Make the runs of an experiment in several processes, and store each so that none is lost."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import partial
from importlib.metadata import version
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

from ..io import datasets
from ..io.files import room_for
from ..io.interrupts import handling_interrupts
from .experiment import Experiment, Key, RunOptions

Values = dict[Key, Any]


class Store:
    """Results of runs in one SQLite file; a run is stored completely or not at all.

    Runs are stored under the name of the experiment and its edition, a digest of code and data.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = sqlite3.connect(path, timeout=60)
        try:
            with self._changing():
                self._database.execute(
                    "CREATE TABLE IF NOT EXISTS runs "
                    "(experiment TEXT, edition TEXT, key TEXT, value TEXT, "
                    "PRIMARY KEY (experiment, edition, key)) WITHOUT ROWID"
                )
        except OSError:
            self._database.close()
            raise
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise ValueError(
                f"{path} holds no results that can be read ({error}): delete it to begin anew."
            ) from error

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """All changes or none; a full disk is an error of the system, as everywhere."""
        try:
            with self._database:
                yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_FULL:
                raise
            with room_for(self._path.parent):
                raise OSError(errno.ENOSPC, str(error)) from None

    def get(self, experiment: str, edition: str) -> Values:
        """Return all stored runs."""
        rows = self._database.execute(
            "SELECT key, value FROM runs WHERE experiment = ? AND edition = ?",
            (experiment, edition),
        )
        return {tuple(json.loads(key)): json.loads(value) for key, value in rows}

    def put(self, experiment: str, edition: str, values: Values) -> None:
        """Store runs, all of them or none."""
        rows = [
            (experiment, edition, json.dumps(key), json.dumps(value))
            for key, value in values.items()
        ]
        with self._changing():
            self._database.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", rows)

    def forget(self, experiment: str) -> None:
        """Delete all runs of an experiment."""
        with self._database:
            self._database.execute("DELETE FROM runs WHERE experiment = ?", (experiment,))

    def close(self) -> None:
        """Close the file."""
        self._database.close()


@contextmanager
def open_store(path: Path) -> Iterator[Store]:
    """A store that is closed at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(Store(path)) as store:
        yield store


def complete(
    experiment: Experiment,
    options: RunOptions,
    edition: str,
    store: Store,
    n_jobs: int,
    advance: Callable[[int, int], None],
) -> Values:
    """Make the planned runs that are not stored yet; return all planned runs.

    ``advance`` is called with the number of finished runs and of planned runs.
    """
    keys = experiment.plan(options)
    planned = set(keys)
    kept = store.get(experiment.name, edition)
    done = {key: value for key, value in kept.items() if key in planned}
    advance(len(done), len(keys))
    missing = [key for key in keys if key not in done]
    size = experiment.batch
    batches = [missing[i : i + size] for i in range(0, len(missing), size)]
    for values in _results(partial(_batch, experiment.run, options), batches, n_jobs):
        store.put(experiment.name, edition, values)
        done |= values
        advance(len(done), len(keys))
    return {key: done[key] for key in keys}


def _batch(run: Callable[[Key, RunOptions], Any], options: RunOptions, keys: list[Key]) -> Values:
    # through JSON and back, so that new results equal stored ones
    return {key: json.loads(json.dumps(run(key, options))) for key in keys}


def _results(
    work: Callable[[list[Key]], Values], batches: list[list[Key]], n_jobs: int
) -> Iterator[Values]:
    """Yield the result of ``work`` for each batch as it finishes."""
    if n_jobs == 1 or len(batches) < 2:
        with handling_interrupts(_interrupt):
            yield from map(work, batches)
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(min(n_jobs, len(batches)), get_context("spawn"), _end_with_parent)
    try:
        # the processes inherit this and ignore Ctrl-C: the parent ends them
        with handling_interrupts(signal.SIG_IGN):
            futures = [pool.submit(work, batch) for batch in batches]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "A process was killed, perhaps for want of memory. What is done is kept: start again "
            "with fewer --jobs."
        ) from error
    finally:  # also when the user interrupts: unfinished runs are not stored
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()


def _end_with_parent() -> None:
    """End this process when its parent was killed."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _interrupt(signum: int, frame: Any) -> None:
    """End a run by Ctrl-C; a fit must not return its best result so far, which is not a full run.

    Fits handle Ctrl-C themselves if they find Python's default handler.
    """
    raise KeyboardInterrupt


PACKAGE = Path(__file__).parent.parent

# The code that runs depend on. A run starts in the module of its experiment, loads a data set and
# fits an estimator; it neither reads files of users nor renders anything. So changes in results,
# cli, data/reading and the rest of reproduce do not change the edition.
ROOMS = (
    "kernels",
    "joint",
    "io",
    "costs",
    "search",
    "model",
    "estimators",
    "reproduce/experiments",
)
UNUSED = "io/read"


def editions(experiments: Sequence[Experiment], options: RunOptions) -> dict[str, str]:
    """Return the edition of each experiment by name; raise an error if its data are missing."""
    names = [experiment.dataset for experiment in experiments if experiment.dataset is not None]
    for name in names:
        if datasets.find(name, options.data) is None:
            raise FileNotFoundError(datasets.missing(name, options.data))
    data = {name: data_digest(datasets.load(name, options.data)) for name in names}
    code = f"{version('comarkov')} {code_digest(PACKAGE)}"
    return {one.name: f"{code} {data.get(one.dataset or '', '')}" for one in experiments}


def code_digest(package: Path) -> str:
    """Return a digest of the code that runs depend on, in the package at this path."""
    digest = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((package / room).rglob("*.py")):
            name = file.relative_to(package).as_posix()
            if not name.startswith(f"{UNUSED}/"):
                digest.update(f"{name} {file.stat().st_size}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def data_digest(data: datasets.Dataset) -> str:
    """Return a digest of the matrix of a data set."""
    digest = hashlib.sha256()
    for array in (data.matrix.indptr, data.matrix.indices, data.matrix.data):
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
