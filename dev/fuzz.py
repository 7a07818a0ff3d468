"""make fuzz: damage files of every format for a while; keep what the command line cannot take."""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import pkgutil
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

os.environ |= {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "MPLBACKEND": "agg"}
sys.path.append(str(Path(__file__).parents[1] / "tests"))  # for spreadsheets

from fuzz_samples import Sample, correct_digest, mutate, write_all

NOT_IMPORTED = ("comarkov.__main__", "comarkov.search.parallel.dask_joint")
LIBRARIES = ("anndata", "fastexcel", "h5py", "matplotlib.pyplot", "polars", "scipy.io")
FINDINGS = Path(__file__).parent / "findings"
MAX_SECONDS = 75
MAX_ADDRESS_SPACE = 12 << 30  # bytes
MAX_LINE = 3000  # characters of a line on stderr
# what threads of polars print about a panic, which is an error of one line in the end
PANIC = re.compile(
    r"\n?thread '[^']*' \(\d+\) panicked at crates/polars.*?\nnote: .*?\n", re.DOTALL
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def main() -> int:
    """Run cases until the time is over, or one by its seed; return 1 if there is a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=None, help="the seed of the first case")
    parser.add_argument("--seed", type=int, help="run this case only, and print what it prints")
    parser.add_argument("--only", default="", help="only samples with this text in their names")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="comarkov-fuzz-") as folder:
        every = _samples(Path(folder) / "samples", options.only)
        if options.seed is not None:
            return int(_one(every, options.seed, Path(folder)))
        first = int(time.time()) * 1000 if options.first is None else options.first
        return int(_many(every, first, options.seconds, Path(folder)))


def _samples(folder: Path, only: str) -> list[Sample]:
    """The samples, written by another process: this one must not start threads before it forks."""
    folder.mkdir()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        every = pool.apply(write_all, (folder,))
    _warm_up()
    return [sample for sample in every if only in sample.path.name]


def _warm_up() -> None:
    """Import once what all cases need, and load the kernels; polars must not run before a fork."""
    import comarkov

    for module in pkgutil.walk_packages(comarkov.__path__, "comarkov."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    for name in LIBRARIES:
        importlib.import_module(name)
    comarkov.CoClustering((2, 2), random_state=0, n_jobs=1).fit([[5, 1, 0], [4, 0, 1], [0, 3, 4]])


def _many(every: list[Sample], first: int, seconds: float, folder: Path) -> bool:
    end = time.monotonic() + seconds
    count, refused, problems = 0, 0, Counter[str]()
    while time.monotonic() < end:
        seed = first + count
        place = folder / "case"
        place.mkdir()
        copy, words = damage(every, seed, place)
        kept = folder / "kept"
        (shutil.copytree if copy.is_dir() else shutil.copy)(copy, kept)  # commands may change it
        outcome = run(words, place)
        refused += outcome.code == 2
        if outcome.problem:
            problems[outcome.problem] += 1
            _keep(seed, kept, words, outcome)
        shutil.rmtree(place)
        shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        count += 1
    listed = ", ".join(f"{number} x {name}" for name, number in problems.items())
    print(f"{count} cases from seed {first}, of which {refused} were refused with an error")
    print(f"{problems.total()} findings" + (f": {listed}, in {FINDINGS}" if listed else ""))
    return bool(problems)


def _keep(seed: int, copy: Path, words: list[str], outcome: Outcome) -> None:
    """Keep the input of a case, how to repeat it, and what it printed."""
    folder = FINDINGS / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    name = words[1] if not words[1].startswith("/") else words[2]
    (shutil.copytree if copy.is_dir() else shutil.copy)(copy, folder / name)
    (folder / "finding.txt").write_text(
        f"{outcome.problem}\ncomarkov {shlex.join(words)}\n"
        f"python dev/fuzz.py --seed {seed}\n\n{outcome.stderr[-20_000:]}"
    )
    print(f"seed {seed}: {outcome.problem}: comarkov {shlex.join(words)}", flush=True)


def _one(every: list[Sample], seed: int, folder: Path) -> bool:
    place = folder / "case"
    place.mkdir()
    _, words = damage(every, seed, place)
    outcome = run(words, place)
    print(f"comarkov {shlex.join(words)}\nexit code {outcome.code}: {outcome.problem}")
    print(outcome.stdout[-2000:], outcome.stderr[-5000:], sep="\n")
    return outcome.problem is not None


# --- one case ---------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How a command ended: its exit code, negative for a signal, and what it printed."""

    code: int
    stdout: str
    stderr: str

    @property
    def problem(self) -> str | None:
        """What is wrong, or None: an error is one line on stderr, beside notes."""
        printed = PANIC.sub("", self.stderr)
        errors = [line for line in printed.splitlines() if not line.startswith("Note: ")]
        if self.code == -signal.SIGKILL:
            return "hang"
        if self.code < 0:
            return f"signal {-self.code}"
        if "Traceback" in printed or "panicked" in printed:
            return "traceback"
        if self.code not in (0, 2):
            return f"exit code {self.code}"
        if len(errors) > 1:
            return "several lines"
        if max(map(len, printed.splitlines()), default=0) > MAX_LINE:
            return "long line"
        return "control characters" if CONTROL.search(self.stdout + printed) else None


def damage(samples: list[Sample], seed: int, folder: Path) -> tuple[Path, list[str]]:
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
    target = Path(target)
    target.write_bytes(mutate(chance, target.read_bytes()))
    if chance.random() < 0.5:
        correct_digest(target)
    sound = sample.path.parent
    names = {"{}": copy.name, "RESULTS": str(sound / "results"), "EDGES": str(sound / "edges.csv")}
    return copy, [names.get(word, word) for word in chance.choice(sample.commands)]


def run(words: list[str], folder: Path) -> Outcome:
    """Run the command in a fork of this process, which has imported all and run nothing."""
    child = os.fork()
    if child == 0:
        _exec(words, folder)
    deadline = time.monotonic() + MAX_SECONDS
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)  # with the readers that it has started
        time.sleep(0.005)
    texts = [(folder / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return Outcome(os.waitstatus_to_exitcode(status), *texts)


def _exec(words: list[str], folder: Path) -> None:
    """Run the command: in the folder, with its streams in files there."""
    os.setsid()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
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
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
