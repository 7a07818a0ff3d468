"""Files and folders are written as a whole or not at all, whenever Ctrl-C comes."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import comarkov
from comarkov.io.files import free_place, whole_file, whole_folder, write_text

PARTS = {"one", "two", "three"}


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def old(tmp_path):
    """A file that is there already."""
    path = tmp_path / "file"
    path.write_text("old")
    return path


@pytest.fixture
def mask():
    """What new files are not allowed: group may read, others nothing."""
    previous = os.umask(0o027)
    yield
    os.umask(previous)


every_writer = pytest.mark.parametrize(
    "write",
    [
        lambda path: write_text(path, "new"),
        lambda path: comarkov.Data([[2, 0], [1, 3]]).save(path),
    ],
    ids=["text", "data"],
)


@every_writer
def test_new_files_have_the_usual_permissions(tmp_path, mask, write):
    write(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o640
    assert names(tmp_path) == ["file"]


@every_writer
def test_links_and_permissions_stay(tmp_path, old, mask, write):
    old.chmod(0o606)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "second").symlink_to("../file")
    link = tmp_path / "link"
    link.symlink_to("far/second")
    write(str(link))
    assert old.read_bytes() != b"old"
    assert mode(old) == 0o606
    assert link.readlink() == Path("far/second")
    assert names(tmp_path) == ["far", "file", "link"]


@every_writer
def test_pipes_are_written_through(tmp_path, write):
    write(tmp_path / "file")
    expected = (tmp_path / "file").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as reader:
        write(pipe)
        result = reader.read(1 << 16)
    assert result[:4] == expected[:4]
    assert len(result) == len(expected)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["file", "pipe"]


@every_writer
def test_folders_are_refused_by_name(tmp_path, write):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write(tmp_path / "folder")
    assert names(tmp_path) == ["folder"]


def test_two_drafts_of_a_file_do_not_meet(tmp_path, old):
    with whole_file(old) as one, whole_file(old) as two:
        assert one.parent == two.parent == tmp_path
        assert one != two
        assert old.read_text() == "old"
        one.write_text("one")
        two.write_text("two")
    assert old.read_text() == "one"  # which came last
    assert names(tmp_path) == ["file"]


def test_a_draft_is_no_more_public_than_the_file(tmp_path, old, mask):
    old.chmod(0o400)
    with whole_file(old) as draft:
        assert mode(draft) == 0o600
    assert mode(old) == 0o400
    with whole_folder(tmp_path / "new") as draft:
        (draft / "file").touch()
    assert mode(tmp_path / "new") == 0o750
    (tmp_path / "new").chmod(0o705)
    with whole_folder(tmp_path / "new", replace=True) as draft:
        assert mode(draft) == 0o700
    assert mode(tmp_path / "new") == 0o705
    assert names(tmp_path / "new") == []


# --- what stands in the way ---------------------------------------------------------------------


def test_a_link_to_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "dear").write_text("dear")
    (tmp_path / "link").symlink_to("ours")
    with pytest.raises(FileExistsError), whole_folder(tmp_path / "link", replace=True):
        pass
    assert (tmp_path / "link").readlink() == Path("ours")
    assert names(tmp_path / "ours") == ["dear"]


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, old, monkeypatch):
    def place(path):
        return free_place(tmp_path / path, False, Path.is_dir)

    assert place("missing/x") == tmp_path / "missing" / "x"
    with pytest.raises(OSError, match="name too long"):
        place("x" * 300)
    with pytest.raises(PermissionError):
        place("file/x")
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)  # root may write anywhere
    with pytest.raises(PermissionError):
        place("new/out")


def test_folders_above_are_made_and_may_be_there(tmp_path):
    for name in ("one/two/three", "one/two/four"):
        with whole_folder(tmp_path / name) as folder:
            (folder / "file").write_text(name)
        assert (tmp_path / name / "file").read_text() == name


@pytest.mark.parametrize("parent", ["nowhere", "file"])
def test_a_folder_that_is_missing_is_named(tmp_path, old, parent):
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / parent / "x", "new")


def test_files_that_may_not_be_written_stay(old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)  # tests may run as root
    with pytest.raises(PermissionError):
        write_text(old, "new")
    assert old.read_text() == "old"


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_standard_output_is_continued(tmp_path, old, kind):
    script = (
        "from comarkov.io.files import write_text; print('before'); "
        "write_text('/dev/stdout', 'text\\n'); print('after')"
    )
    command = [sys.executable, "-c", script]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if kind == "pipe":
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=buffered)
        assert done.stdout == "before\ntext\nafter\n"
    else:
        with old.open("a") as log:  # as by >> of a shell
            subprocess.run(command, stdout=log, check=True, env=buffered)
        assert old.read_text() == "oldbefore\ntext\nafter\n"
    assert names(tmp_path) == ["file"]


# --- failures, Ctrl-C and other processes -------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("target", ["file", "new", "pipe"])
def test_a_write_that_fails_changes_nothing(tmp_path, old, target, error):
    os.mkfifo(tmp_path / "pipe")

    def write_half():
        with whole_file(tmp_path / target) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert old.read_text() == "old"
    assert names(tmp_path) == ["file", "pipe"]


def test_errors_name_the_target(tmp_path, old):
    with pytest.raises(FileNotFoundError) as caught, whole_file(old) as draft:
        draft.unlink()
    assert caught.value.filename == str(old)
    with (
        pytest.raises(FileNotFoundError) as caught,
        whole_folder(tmp_path / "folder") as draft,
    ):
        (draft / "lost" / "x").touch()
    assert caught.value.filename == str(tmp_path / "folder" / "lost" / "x")
    assert names(tmp_path) == ["file"]


def write_folder(path, replace, content=""):
    with whole_folder(path, replace) as folder:
        for name in PARTS:
            (folder / name).write_text(content)


def test_an_old_folder_comes_back_if_the_new_one_cannot_take_its_name(tmp_path, monkeypatch):
    write_folder(tmp_path / "out", False, "old")
    rename = Path.rename

    def fail_at_the_end(self, target):
        if self.suffix == ".part" and not target.exists():
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_at_the_end)
    with pytest.raises(PermissionError):
        write_folder(tmp_path / "out", True, "new")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "one").read_text() == "old"


@pytest.mark.parametrize("replace", [False, True])
def test_processes_that_write_a_folder_at_the_same_time_leave_one_whole_folder(tmp_path, replace):
    code = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_files import write_folder
print("ready", flush=True)
sys.stdin.readline()
for _ in range(100):
    try:
        write_folder({str(tmp_path / "out")!r}, {replace}, sys.argv[1])
    except OSError:
        pass  # another process was faster
"""
    pipe = subprocess.PIPE
    children = [
        subprocess.Popen([sys.executable, "-c", code, name], stdin=pipe, stdout=pipe, text=True)
        for name in ("first", "second")
    ]
    for child in children:
        child.stdout.readline()
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == sorted(PARTS)
    assert len({(tmp_path / "out" / name).read_text() for name in PARTS}) == 1


@pytest.fixture
def interrupt_after():
    """Ctrl-C after so many seconds, wherever the program is then."""
    previous = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def seconds_of(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
@pytest.mark.parametrize("replace", [False, True])
def test_ctrl_c_at_any_moment_leaves_a_folder_whole_or_absent(tmp_path, interrupt_after, replace):
    usual = seconds_of(lambda: write_folder(tmp_path / "first", False))
    for step in range(100):
        target = tmp_path / f"{step}" / "out"
        target.parent.mkdir()
        if replace:
            write_folder(target, False)
        try:
            interrupt_after(usual * (step + 1) / 50)
            write_folder(target, replace)
            interrupt_after(0)
        except KeyboardInterrupt:
            pass
        result = [path.name for path in target.parent.iterdir()]
        assert result == ["out"] or (not replace and result == [])
        if result:
            assert {path.name for path in target.iterdir()} == PARTS


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
def test_ctrl_c_at_any_moment_leaves_a_file_old_or_new(tmp_path, old, interrupt_after):
    usual = seconds_of(lambda: write_text(old, "new"))
    result = set()
    for step in range(100):
        old.write_text("old")
        try:
            interrupt_after(usual * (step + 1) / 50)
            write_text(old, "new")
            interrupt_after(0)
        except KeyboardInterrupt:
            pass
        assert names(tmp_path) == ["file"]
        result.add(old.read_text())
    assert result == {"old", "new"}
