"""Kinds of tests, and what all of them use: compiled kernels, data sets, a browser."""

import fcntl
import os
import signal
import sys
from inspect import getsource, ismodule
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import settings

pytest.register_assert_rewrite("commands", "contract", "helpers", "matrix_contract")

settings.register_profile("default", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=500)  # make nightly
settings.load_profile("default")

signal.signal(signal.SIGINT, signal.default_int_handler)  # which test workers and shells may ignore

ROOT = Path(__file__).parent.parent
TESTS = Path(__file__).parent
CORE = {"kernels", "costs", "joint", "search", "model", "estimators"}
#: files of these rooms that take long, or need extras that they do not import themselves
NOT_CORE = {
    *("test_calibration.py", "test_compiling.py", "test_contract.py", "test_dask_client.py"),
    *("test_estimate.py", "test_extreme_numbers.py", "test_markov.py", "test_progress.py"),
}
OPTIONAL = {"anndata", "dask", "distributed", "matplotlib", "networkx", "pandas", "polars", "typer"}
# tests outside of tests/kernels that need few enough steps to run without compiled kernels
UNCOMPILED_FILES = {"test_network.py", "test_seeding.py"}
UNCOMPILED_TESTS = {
    "test_pair_costs_are_sums_over_all_items_of_all_tables",
    "test_a_split_saves_what_it_promises",
    "test_profiles_are_compared_as_published",
    "test_masses_that_moved_are_those_of_the_labels",
    "test_aib_is_the_plain_one",
    "test_every_merge_of_two_sides_is_the_cheapest_there_is",
}
LINUX = ("/proc/", "/dev/full", "RLIMIT_AS")  # what macOS does not have
COMPILED_ONLY = {"test_compiling.py", "test_loops_become_vectors"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark each test with its kind, by its folder and what it imports."""
    for item in items:
        if isinstance(item, pytest.Function) and not {"nightly", "site"} & set(item.keywords):
            room = item.path.parent.name
            item.add_marker(_kind(item, room))
            if _is_fast_without_compiling(item, room):
                item.add_marker("uncompiled")
            if sys.platform != "linux" and any(word in getsource(item.module) for word in LINUX):
                item.add_marker(pytest.mark.skip(reason="its file uses what only Linux has"))


def _kind(item, room):
    if room == "install":
        return "install"
    if "browser" in item.fixturenames:
        return "browser"
    values = vars(item.module).values()
    imported = {v.__name__ if ismodule(v) else getattr(v, "__module__", "") for v in values}
    needs_extras = OPTIONAL & {str(name).split(".")[0] for name in imported}
    if room not in CORE or item.path.name in NOT_CORE or needs_extras:
        return "io"
    return "core"


def _is_fast_without_compiling(item, room):
    names = {item.path.name, item.originalname}
    if names & COMPILED_ONLY:
        return False
    listed = room == "search" and names & (UNCOMPILED_FILES | UNCOMPILED_TESTS)
    return room == "kernels" or bool(listed)


def pytest_xdist_auto_num_workers():
    """One worker more than processors: many tests wait for a browser or for other processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Do some work in the first worker that needs it, while the others wait; give their folder."""

    def do_once(name, work):
        folder = tmp_path_factory.getbasetemp()
        if "PYTEST_XDIST_WORKER" in os.environ:
            folder = folder.parent
        with open(folder / f"{name}.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if lock.seek(0, os.SEEK_END) == 0:
                work(folder)
                lock.write("done")
        return folder

    return do_once


@pytest.fixture(scope="session", autouse=True)
def kernels_are_compiled_once(once):
    """On a fresh machine one worker compiles for all, before any test looks at stderr."""
    if not numba.config.DISABLE_JIT:
        once("kernels", lambda folder: use_every_kernel())


def use_every_kernel():
    """Fits that need all kernels between them; those that are in numba's cache are only loaded."""
    import comarkov
    from comarkov.joint import parts
    from comarkov.joint.joint import MAX_DOUBLE_ENTRIES

    counts = np.eye(5, dtype=int) + 1
    many = np.tile(counts, (2, MAX_DOUBLE_ENTRIES // 40))  # enough for the kernels of integers
    for X in (counts, many):
        comarkov.CoClustering(2, random_state=0).fit(X)
        comarkov.ITCC(2, random_state=0).fit(X)
    with mock.patch.object(parts, "ENTRIES", 100), mock.patch.object(parts, "PER_COLUMN", 1):
        for X in (many, many * 0.5):
            comarkov.CoClustering(2, random_state=0, n_jobs=2).fit(X)
    comarkov.AIB(2).fit(counts)
    comarkov.IBCC(2).fit(counts)
    comarkov.MarkovAggregation(2, random_state=0).fit(counts)


@pytest.fixture(scope="session")
def data_file():
    """Find a file of the 20 Newsgroups or MovieLens archives, which the project does not hold."""

    def find(name: str) -> Path:
        for folder in (os.environ.get("COMARKOV_DATA"), ROOT.parent / "shared" / "data"):
            if folder and (Path(folder) / name).exists():
                return Path(folder) / name
        pytest.skip(f"{name} is neither in $COMARKOV_DATA nor in ../shared/data")

    return find


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A new folder, which is the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def browser():
    """Chromium, for a module."""
    from pages import chromium

    with chromium() as browser:
        yield browser
