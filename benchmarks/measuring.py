"""Measure work in a process of its own: seconds, and the peak of resident and anonymous memory.

Anonymous memory is what the process itself allocates. Resident memory also has the pages of files
that are mapped, which the system takes back when others need the room.
"""

import importlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
INTERVAL = 0.02  # seconds between two looks at the memory


class Measurement(NamedTuple):
    """What some work took; memory in bytes, of the whole process."""

    seconds: float
    cpu: float  # seconds of all threads: if far below the seconds, something else was running
    resident: int
    anonymous: int
    result: Any


class Clock:
    """The time of the part of the work that counts: ``with clock: ...``."""

    def __init__(self) -> None:
        self.seconds = self.cpu = 0.0

    def __enter__(self) -> "Clock":
        self._start, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds += time.perf_counter() - self._start
        self.cpu += time.process_time() - self._cpu


def measure(task: str, *arguments: Any, threads: int = 1) -> Measurement:
    """Run ``task``, the name of ``module:function``, in a process of its own.

    The function gets a clock and the arguments, which must be values of JSON, and returns one.
    """
    command = [sys.executable, str(Path(__file__)), task, json.dumps(arguments)]
    env = os.environ | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    child = subprocess.run(command, capture_output=True, text=True, cwd=HERE, env=env)
    if child.returncode:
        sys.exit(f"{task} failed:\n{child.stderr}")
    return Measurement(**json.loads(child.stdout.splitlines()[-1]))


def status(field: str) -> int:
    """A field of /proc/self/status, in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


class AnonymousPeak(threading.Thread):
    """Looks at the anonymous memory of this process again and again."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0

    def run(self) -> None:
        while True:
            self.peak = max(self.peak, status("RssAnon"))
            time.sleep(INTERVAL)


def _child(task: str, arguments: str) -> None:
    module, function = task.split(":")
    watch, clock = AnonymousPeak(), Clock()
    watch.start()
    result = getattr(importlib.import_module(module), function)(clock, *json.loads(arguments))
    figures = Measurement(clock.seconds, clock.cpu, status("VmHWM"), watch.peak, result)
    print(json.dumps(figures._asdict()))


if __name__ == "__main__":
    _child(*sys.argv[1:])
