import os
import signal
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import settings

try:
    import fcntl
except ImportError:  # Windows, where one process runs all tests
    fcntl = None

pytest.register_assert_rewrite("commands", "contract", "helpers", "matrix_contract")

settings.register_profile("default", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
settings.load_profile("default")

signal.signal(signal.SIGINT, signal.default_int_handler)  # which test workers and shells may ignore

ROOT = Path(__file__).parent.parent


def pytest_xdist_auto_num_workers():
    """One worker more than processors: many tests wait for a browser or for other processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session", autouse=True)
def kernels_are_compiled_once(tmp_path_factory):
    """On a fresh machine one worker compiles for all, before any test looks at stderr."""
    if numba.config.DISABLE_JIT:
        return
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with open(folder / "kernels.lock", "w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        _use_every_kernel()


def _use_every_kernel():
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
    """Chromium; tests that need it fail without it where COMARKOV_NEEDS_CHROMIUM is set."""
    from pages import CHROMIUM

    driver_of = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        missing = "there is no chromium: install Debian's package of that name"
        pytest.fail(missing) if os.environ.get("COMARKOV_NEEDS_CHROMIUM") else pytest.skip(missing)
    with driver_of.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
