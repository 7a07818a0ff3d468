"""make fuzz: damage files of every format for a while; keep what the command line cannot take."""

import argparse
import importlib
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "MPLBACKEND": "agg"}
sys.path.append(str(Path(__file__).parents[1] / "tests"))  # for spreadsheets

import cases
import samples

SLOW = ("comarkov.__main__", "comarkov.search.parallel.dask_joint", "comarkov.io.isolation")
LIBRARIES = ("anndata", "fastexcel", "h5py", "matplotlib.pyplot", "polars", "scipy.io")
FINDINGS = Path(__file__).parent / "findings"


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


def _samples(folder: Path, only: str) -> list[samples.Sample]:
    """The samples, written by another process: this one must not start threads before it forks."""
    import multiprocessing

    folder.mkdir()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        every = pool.apply(samples.write_all, (folder,))
    _warm_up()
    return [sample for sample in every if only in sample.path.name]


def _warm_up() -> None:
    """Import once what all cases need, and load the kernels; polars must not run before a fork."""
    import pkgutil

    import comarkov

    for module in pkgutil.walk_packages(comarkov.__path__, "comarkov."):
        if not module.name.startswith(SLOW):
            importlib.import_module(module.name)
    for name in LIBRARIES:
        importlib.import_module(name)
    comarkov.CoClustering((2, 2), random_state=0, n_jobs=1).fit([[5, 1, 0], [4, 0, 1], [0, 3, 4]])


def _many(every: list[samples.Sample], first: int, seconds: float, folder: Path) -> bool:
    end = time.monotonic() + seconds
    count, refused, problems = 0, 0, Counter[str]()
    while time.monotonic() < end:
        seed = first + count
        place = folder / "case"
        place.mkdir()
        copy, words = cases.damaged(every, seed, place)
        kept = folder / "kept"
        (shutil.copytree if copy.is_dir() else shutil.copy)(copy, kept)  # commands may change it
        outcome = cases.run(words, place)
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


def _keep(seed: int, copy: Path, words: list[str], outcome: cases.Outcome) -> None:
    """Keep the input of a case, how to repeat it, and what it printed."""
    folder = FINDINGS / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    name = words[1] if not words[1].startswith("/") else words[2]
    (shutil.copytree if copy.is_dir() else shutil.copy)(copy, folder / name)
    (folder / "finding.txt").write_text(
        f"{outcome.problem}\ncomarkov {shlex.join(words)}\n"
        f"python fuzz/run.py --seed {seed}\n\n{outcome.stderr[-20_000:]}"
    )
    print(f"seed {seed}: {outcome.problem}: comarkov {shlex.join(words)}", flush=True)


def _one(every: list[samples.Sample], seed: int, folder: Path) -> bool:
    place = folder / "case"
    place.mkdir()
    _, words = cases.damaged(every, seed, place)
    outcome = cases.run(words, place)
    print(f"comarkov {shlex.join(words)}\nexit code {outcome.code}: {outcome.problem}")
    print(outcome.stdout[-2000:], outcome.stderr[-5000:], sep="\n")
    return outcome.problem is not None


if __name__ == "__main__":
    sys.exit(main())
