"""A Dask scheduler and its workers in processes of their own, on loopback."""

import json
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

PATIENCE = 120  # seconds in which a process must be up, or gone
SECONDS_TO_END = 10  # before a process is killed
DASK = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
WORKER = [sys.executable, "-m", "distributed.cli.dask_worker"]
OWN = ["--host", "127.0.0.1", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]


class Processes:
    """A scheduler and the workers that were started for it, with one thread each."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.log = folder / "log"
        self.workers = []
        self.scheduler = self._start(DASK, "--port", "0")

    @property
    def address(self) -> str:
        """The address of the scheduler, once it listens."""
        for _ in range(PATIENCE * 20):
            with suppress(FileNotFoundError, json.JSONDecodeError):  # it may be half written
                return json.loads(self.file.read_text())["address"]
            time.sleep(0.05)
        raise TimeoutError(self.log.read_text())

    def start_worker(self, threads=1) -> None:
        """Start a worker without a nanny, which would start it again."""
        limits = "--nthreads", str(threads), "--no-nanny", "--death-timeout", str(PATIENCE)
        self.workers.append(self._start(WORKER, *limits, "--local-directory", self.file.parent))

    def close(self) -> None:
        """End all processes: workers so that they can write what coverage has measured."""
        for process in self.workers:
            process.terminate()
        for process in self.workers:
            with suppress(subprocess.TimeoutExpired):
                process.wait(SECONDS_TO_END)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(PATIENCE)

    def _start(self, command, *more) -> subprocess.Popen:
        with self.log.open("a") as log:
            return subprocess.Popen(
                [*command, *OWN, "--scheduler-file", self.file, *more], stdout=log, stderr=log
            )


@contextmanager
def processes(folder: Path, n_workers: int):
    """Start a scheduler and workers, and end them afterwards."""
    with ExitStack() as stack:
        started = Processes(folder)
        stack.callback(started.close)
        _ = started.address
        for _ in range(n_workers):
            started.start_worker()
        yield started
