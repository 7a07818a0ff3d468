"""One case: a damaged sample, the command on it in a process with limits, and a verdict."""

import os
import random
import re
import resource
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from mutations import mutate
from samples import Sample

SECONDS = 75  # more than a check in a child process may take
MEMORY = 12 << 30  # bytes of address space
LONGEST = 3000  # characters of a line on stderr
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Outcome(NamedTuple):
    """How a command ended: its exit code, negative for a signal, and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def problem(self) -> str | None:
        """What is wrong, or None: an error is one line on stderr, beside notes."""
        errors = [line for line in self.stderr.splitlines() if not line.startswith("Note: ")]
        if self.code == -signal.SIGKILL:
            return "hang"
        if self.code < 0:
            return f"signal {-self.code}"
        if "Traceback" in self.stderr or "panicked" in self.stderr:
            return "traceback"
        if self.code not in (0, 2):
            return f"exit code {self.code}"
        if len(errors) > 1:
            return "several lines"
        if max(map(len, self.stderr.splitlines()), default=0) > LONGEST:
            return "long line"
        return "control characters" if CONTROL.search(self.stdout + self.stderr) else None


def damaged(samples: list[Sample], seed: int, folder: Path) -> tuple[Path, list[str]]:
    """A damaged copy of a sample in a folder, and the command that reads it."""
    chance = random.Random(seed)
    sample = chance.choice(samples)
    copy = folder / sample.path.name
    if sample.path.is_dir():
        shutil.copytree(sample.path, copy)
        target = chance.choice(sorted(path for path in copy.rglob("*") if path.is_file()))
    else:
        target = shutil.copy(sample.path, copy)
    if target.suffix in (".html", ".png"):
        target = copy / "summary.json"  # pictures and pages are never read
    target.write_bytes(mutate(chance, target.read_bytes()))
    sound = sample.path.parent
    names = {"{}": copy.name, "RESULTS": str(sound / "results"), "EDGES": str(sound / "edges.csv")}
    return copy, [names.get(word, word) for word in chance.choice(sample.commands)]


def run(words: list[str], folder: Path) -> Outcome:
    """Run the command in a fork of this process, which has imported all and run nothing."""
    child = os.fork()
    if child == 0:
        _become(words, folder)
    deadline = time.monotonic() + SECONDS
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)  # with the readers that it has started
        time.sleep(0.005)
    texts = [(folder / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return Outcome(os.waitstatus_to_exitcode(status), *texts)


def _become(words: list[str], folder: Path) -> None:
    """Be the command: in the folder, with its streams in files there."""
    os.setsid()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["comarkov", *words]
    from comarkov.__main__ import main

    code = 1
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
