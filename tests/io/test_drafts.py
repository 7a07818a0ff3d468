"""Drafts: those of killed processes are removed, and folders are exchanged in one step."""

import os
import signal
import subprocess
import sys
import time

import pytest

from comarkov.io import drafts
from comarkov.io.files import whole_file, whole_folder

TOKEN = "0123456789abcdef"
HOLD = """
import sys, time
from pathlib import Path
from comarkov.io.files import {make}
with {make}(Path(sys.argv[1]), {more}) as draft:
    print(draft, flush=True)
    time.sleep(60)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def start(make, target):
    """A process that has a draft and does not finish it."""
    more = "replace=True" if make is whole_folder else ""
    code = HOLD.format(make=make.__name__, more=more)
    child = subprocess.Popen([sys.executable, "-c", code, target], stdout=subprocess.PIPE)
    assert child.stdout.readline()
    return child


def finish(make, target):
    with make(target) as draft:
        (draft / "new" if make is whole_folder else draft).write_text("new")


@pytest.mark.parametrize("make", [whole_file, whole_folder])
def test_the_draft_of_a_killed_process_is_removed_by_the_next(tmp_path, make):
    child = start(make, tmp_path / "out")
    child.kill()
    child.communicate()
    assert len(names(tmp_path)) == 1
    finish(make, tmp_path / "out")
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("make", [whole_file, whole_folder])
def test_the_draft_of_a_living_process_stays(tmp_path, make):
    child = start(make, tmp_path / "out")
    finish(make, tmp_path / "out")
    assert len(names(tmp_path)) == 2
    child.terminate()
    child.communicate()


def test_only_drafts_of_the_same_target_are_removed(tmp_path):
    kept = [
        f".other.{TOKEN}.part",
        f".out.{TOKEN[:-1]}.part",
        f".out.{TOKEN}.partial",
        f".outer.{TOKEN}.part",
        "out.part",
    ]
    for name in (*kept, f".out.{TOKEN}.part"):
        (tmp_path / name).write_text("")
    (tmp_path / f".out.{TOKEN[::-1]}.part").symlink_to("out.part")
    finish(whole_file, tmp_path / "out")
    assert names(tmp_path) == sorted([*kept, "out", f".out.{TOKEN[::-1]}.part"])


def test_what_belongs_to_others_stays(tmp_path, monkeypatch):
    (tmp_path / f".out.{TOKEN}.part").write_text("")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    finish(whole_file, tmp_path / "out")
    assert len(names(tmp_path)) == 2


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_is_replaced_and_nothing_is_left(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(drafts, "_libc", lambda: None)
    elif sys.platform != "linux":
        pytest.skip("only Linux exchanges names")
    else:
        monkeypatch.setattr(drafts.Path, "rename", None)  # it takes no other step
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("")
    with whole_folder(tmp_path / "out", replace=True) as draft:
        (draft / "new").write_text("")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["new"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges names")
def test_names_are_exchanged_in_the_current_folder_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "other"):
        drafts.Path(name).write_text(name)
    assert drafts._exchange(drafts.Path("one"), drafts.Path("other"))
    assert drafts.Path("one").read_text() == "other"
    assert drafts.Path("other").read_text() == "one"
    assert not drafts._exchange(drafts.Path("one"), drafts.Path("nothing"))


def test_where_nothing_can_be_listed_there_is_nothing_to_clean(tmp_path):
    drafts.clean(tmp_path / "missing" / "out")
    assert names(tmp_path) == []


def test_a_folder_without_a_name_gets_it_back(tmp_path, monkeypatch):
    """As if the process was killed between two renames, where they are not one step."""
    monkeypatch.setattr(drafts, "_libc", lambda: None)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("dear")
    code = f"""
import os, signal, sys
from pathlib import Path
from comarkov.io import drafts
from comarkov.io.files import whole_folder
drafts._libc = lambda: None
rename, count = Path.rename, 0
def killed(self, target):
    global count
    count += 1
    if count == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)
Path.rename = killed
with whole_folder(Path({str(tmp_path / "out")!r}), replace=True) as draft:
    (draft / "new").write_text("new")
"""
    child = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    with pytest.raises(FileExistsError, match="exists already"):
        finish(whole_folder, tmp_path / "out")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "old").read_text() == "dear"


def test_a_folder_that_somebody_locks_delays_nobody_for_long(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    start = time.monotonic()
    finish(whole_file, tmp_path / "out")
    assert time.monotonic() - start < 30  # it gives up waiting at all
    os.close(descriptor)
    assert names(tmp_path) == ["out"]


def test_while_a_draft_is_made_others_do_not_look_for_abandoned_ones(tmp_path, monkeypatch):
    """The folder is locked between making a draft and locking it."""
    fcntl = pytest.importorskip("fcntl")
    is_free = []

    def lock(draft, stack):
        descriptor = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_free.append(True)
        except OSError:
            is_free.append(False)
        os.close(descriptor)

    monkeypatch.setattr(drafts, "_lock", lock)
    finish(whole_file, tmp_path / "out")
    assert is_free == [False]
