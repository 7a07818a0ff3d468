"""Make the runs of an experiment in several processes, and store each so that none is lost."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

from ..io import datasets
from ..io.files import room_for
from ..io.interrupts import handling_interrupts
from .experiment import Experiment, Key, RunOptions

PACKAGE = Path(__file__).parent.parent
Values = dict[Key, Any]


class RunFile:
    """Results of runs, one in each line of a file; a line that was cut off does not count.

    Runs are stored under the name of the experiment and its edition, a digest of code and data.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        self._path = path

    def read(self, experiment: str, edition: str) -> Values:
        """Return all stored runs."""
        values: Values = {}
        for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError):
                *of, key, value = json.loads(line)
                if of == [experiment, edition]:
                    values[tuple(key)] = value
        return values

    def append(self, experiment: str, edition: str, values: Values) -> None:
        """Store runs."""
        rows = [(experiment, edition, key, value) for key, value in values.items()]
        with room_for(self._path.parent), self._path.open("a", encoding="utf-8") as file:
            file.write("".join(f"\n{json.dumps(row)}" for row in rows))


def complete(
    experiment: Experiment,
    options: RunOptions,
    edition: str,
    file: RunFile,
    n_jobs: int,
    advance: Callable[[int, int], None],
) -> Values:
    """Make the planned runs that are not stored yet; return all planned runs.

    ``advance`` is called with the number of finished runs and of planned runs.
    """
    keys = experiment.keys(options, experiment.repetitions(options))
    stored = file.read(experiment.name, edition)
    done = {key: stored[key] for key in keys if key in stored}
    advance(len(done), len(keys))
    missing = [key for key in keys if key not in done]
    size = experiment.batch
    batches = [missing[i : i + size] for i in range(0, len(missing), size)]
    for values in _work(partial(_run_batch, experiment.run, options), batches, n_jobs):
        file.append(experiment.name, edition, values)
        done |= values
        advance(len(done), len(keys))
    return {key: done[key] for key in keys}


def _run_batch(
    run: Callable[[Key, RunOptions], Any], options: RunOptions, keys: list[Key]
) -> Values:
    # through JSON and back, so that new results equal stored ones
    return {key: json.loads(json.dumps(run(key, options))) for key in keys}


def _work(
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


def editions(experiments: Sequence[Experiment], options: RunOptions) -> dict[str, str]:
    """Return the edition of each experiment by name; raise an error if its data are missing."""
    names = [experiment.dataset for experiment in experiments if experiment.dataset is not None]
    data = {}
    for name in names:
        place = datasets.find(name, options.data)
        if place is None:
            raise FileNotFoundError(datasets.missing(name, options.data))
        data[name] = hashlib.sha256(place.read_bytes()).hexdigest()[:16]
    code = f"{version('comarkov')} {code_digest(PACKAGE)}"
    return {one.name: f"{code} {data.get(one.dataset or '', '')}" for one in experiments}


def code_digest(package: Path) -> str:
    """Return a digest of the package at this path; only its command line makes no runs."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        if not name.startswith("cli/"):
            digest.update(f"{name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]
