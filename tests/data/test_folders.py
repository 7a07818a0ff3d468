"""Folders are whole or absent, whenever Ctrl-C comes."""

import signal
import time

import pytest

from comarkov.data.folders import check_place, whole_folder

PARTS = {"one", "two", "three"}


def write(path, replace):
    with whole_folder(path, replace) as folder:
        for name in PARTS:
            (folder / name).write_text(name)


@pytest.fixture
def interrupt_after():
    """Ctrl-C after so many seconds, wherever the program is then."""
    previous = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
@pytest.mark.parametrize("replace", [False, True])
def test_ctrl_c_at_any_moment_leaves_a_folder_whole_or_absent(tmp_path, interrupt_after, replace):
    began = time.perf_counter()
    write(tmp_path / "first", False)
    usual = time.perf_counter() - began
    for step in range(400):
        target = tmp_path / f"{step}" / "out"
        target.parent.mkdir()
        if replace:
            write(target, False)
        try:
            interrupt_after(usual * (step + 1) / 200)
            check_place(target)
            write(target, replace)
            interrupt_after(0)
        except KeyboardInterrupt:
            pass
        found = [path.name for path in target.parent.iterdir()]
        assert found == ["out"] or (not replace and found == [])
        if found:
            assert {path.name for path in target.iterdir()} == PARTS
