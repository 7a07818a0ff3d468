"""Data, clocks, the table that benchmarks print, and how they run."""

import os
import platform
import re
import sys
import tarfile
import time
import warnings
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

import comarkov
from comarkov import datasets
from comarkov.io.datasets.collections import read_newsgroups

HERE = Path(__file__).parent
NEWSGROUPS = "20news-bydate.tar.gz"


def data_folder() -> Path:
    """Where 20 Newsgroups and MovieLens are."""
    for folder in (os.environ.get("COMARKOV_DATA"), HERE.parent.parent / "shared" / "data"):
        if folder and (Path(folder) / NEWSGROUPS).exists():
            return Path(folder)
    sys.exit(f"{NEWSGROUPS} is needed: put it into a folder and set COMARKOV_DATA to that folder.")


def newsgroups() -> sp.csr_array:
    """All 18,846 documents of 20 Newsgroups by date, the 10,000 most frequent words, counts."""
    with tarfile.open(data_folder() / NEWSGROUPS) as archive:
        files = (archive.extractfile(member) for member in archive if member.isfile())
        texts = [file.read().decode("latin-1") for file in files if file is not None]
    return CountVectorizer(max_features=10_000).fit_transform(texts)


def letters_of_subject_and_body(text: str) -> str:
    """The text that is compared: words of letters, without the rest of the header."""
    header, _, body = text.partition("\n\n")
    subject = re.findall(r"^subject:(.*)$", header, re.IGNORECASE | re.MULTILINE)
    return " ".join(re.findall("[a-z]{2,}", " ".join([*subject, body]).lower()))


@cache
def documents() -> datasets.Dataset:
    """All documents of 20 Newsgroups as counts of the words of letters in subject and body."""
    return read_newsgroups(datasets.find("newsgroups", data_folder()), letters_of_subject_and_body)


def planted(nnz: int, clusters: int, columns: int = 5_000, seed: int = 0) -> sp.csr_array:
    """Counts with planted blocks: 100 words a row, drawn from the row's cluster; rows ~ nnz."""
    rng = np.random.default_rng(seed)
    rows = nnz // 100
    label = rng.integers(clusters, size=rows)
    width = columns // clusters
    inside = rng.random((rows, 100)) < 0.6
    drawn = np.where(
        inside,
        label[:, None] * width + rng.integers(width, size=(rows, 100)),
        rng.integers(columns, size=(rows, 100)),
    )
    places = (np.repeat(np.arange(rows), 100), drawn.ravel())
    return sp.coo_array((np.ones(rows * 100, np.int64), places), shape=(rows, columns)).tocsr()


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def least_seconds(work, repeats: int = 7) -> float:
    """The least of several times: what the work takes when nothing else is in the way."""
    return min(seconds(work) for _ in range(repeats))


def circumstances() -> str:
    """The date, the machine and the version, which belong to any figure."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}"
    versions = f"Python {platform.python_version()}, comarkov {comarkov.__version__}"
    return f"{date.today():%d %B %Y}, {machine}, {versions}"


class Report:
    """Prints figures beside their targets as they come."""

    def __init__(self) -> None:
        self.missed = 0
        print(circumstances(), flush=True)

    def title(self, text: str) -> None:
        print(f"\n{text}\n{'-' * len(text)}", flush=True)

    def fact(self, what: str, value: str) -> None:
        print(f"{what:<58} {value:>12}", flush=True)

    def figure(self, what: str, value: float, sign: str, target: float, unit: str = "x") -> None:
        met = value <= target if sign == "<=" else value >= target
        self.missed += not met
        verdict = "met" if met else "MISSED"
        print(f"{what:<58} {value:>10.2f} {unit}   {sign} {target:g} {unit}  {verdict}", flush=True)


def run(main: Callable[..., None], *arguments: object) -> None:
    """Run a benchmark by itself: on one thread, with exit code 1 if a target is missed."""
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")  # of empty rows, and of convergence where the paper stops early
    report = Report()
    with threadpool_limits(1):
        main(report, *arguments)
    print(f"\n{report.missed} targets missed")
    sys.exit(report.missed > 0)
