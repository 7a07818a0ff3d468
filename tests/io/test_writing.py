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
from comarkov.io import drafts, files
from comarkov.io.files import check_place, whole_file, whole_folder, write_text

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


def save_data(path):
    comarkov.Data([[2, 0], [1, 3]]).save(path)


def save_h5ad(path):
    anndata = pytest.importorskip("anndata")
    X = comarkov.datasets.load("southern-women").matrix.astype("float32")
    model = comarkov.CoClustering(2, random_state=0).fit(X)
    comarkov.write_h5ad(anndata.AnnData(X), path, model)


WRITERS = [lambda path: write_text(path, "new"), save_data, save_h5ad]


# --- every writer -------------------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITERS)
def test_new_files_have_the_usual_permissions(tmp_path, mask, write):
    write(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o640
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("write", WRITERS)
def test_links_and_permissions_stay(tmp_path, old, mask, write):
    old.chmod(0o606)
    link = tmp_path / "link"
    link.symlink_to("file")
    write(str(link))
    assert old.read_bytes() != b"old"
    assert mode(old) == 0o606
    assert link.readlink() == Path("file")
    assert names(tmp_path) == ["file", "link"]


@pytest.mark.parametrize("write", WRITERS)
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


@pytest.mark.parametrize("write", WRITERS)
def test_folders_are_refused_by_name(tmp_path, write):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder is a folder\. Give the name of a file\.$"):
        write(tmp_path / "folder")
    assert names(tmp_path) == ["folder"]


# --- drafts -------------------------------------------------------------------------------------


def test_a_draft_is_in_a_new_folder_beside_the_target(tmp_path, old):
    with whole_file(old) as one, whole_file(old) as two:
        assert one.parent.parent == two.parent.parent == tmp_path
        assert one.parent != two.parent
        assert one.is_file()
        assert old.read_text() == "old"
        one.write_text("one")
        two.write_text("two")
    assert old.read_text() == "one"  # which came last
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("make", [whole_file, whole_folder])
def test_a_draft_takes_nobody_elses_place(tmp_path, monkeypatch, make):
    monkeypatch.setattr(drafts, "token_hex", lambda size: "guessed")
    (tmp_path / "victim").write_text("dear")
    trap = tmp_path / ".file.guessed.part"
    trap.symlink_to("victim")
    with pytest.raises(FileExistsError) as caught, make(tmp_path / "file"):
        pytest.fail("there is no draft")
    assert caught.value.filename == str(tmp_path / "file")
    assert trap.is_symlink()
    assert (tmp_path / "victim").read_text() == "dear"


def test_a_draft_is_no_more_public_than_the_file(old, mask):
    old.chmod(0o400)
    with whole_file(old) as draft:
        assert mode(draft) == 0o600
        draft.write_text("new")
    assert mode(old) == 0o400


def test_folders_keep_their_permissions(tmp_path, mask):
    with whole_folder(tmp_path / "new"):
        pass
    assert mode(tmp_path / "new") == 0o750
    (tmp_path / "new" / "file").touch()
    (tmp_path / "new").chmod(0o705)
    with whole_folder(tmp_path / "new", replace=True) as draft:
        assert mode(draft) == 0o700
    assert mode(tmp_path / "new") == 0o705
    assert names(tmp_path / "new") == []


# --- what stands in the way ---------------------------------------------------------------------


def test_links_are_followed_to_their_end(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "second").symlink_to("../third")
    (tmp_path / "first").symlink_to("far/second")
    write_text(tmp_path / "first", "new")  # where the last link leads, there is nothing yet
    assert (tmp_path / "third").read_text() == "new"
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "far" / "second").is_symlink()
    assert names(tmp_path / "far") == ["second"]


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "here").symlink_to("there")
    (tmp_path / "there").symlink_to("here")
    with pytest.raises(OSError, match="here cannot be written: its links form a circle"):
        write_text(tmp_path / "here", "new")
    assert names(tmp_path) == ["here", "there"]


@pytest.mark.parametrize(("links", "is_written"), [(39, True), (40, False)])
def test_forty_links_are_too_many(tmp_path, links, is_written):
    for i in range(links):
        (tmp_path / str(i)).symlink_to(str(i + 1))
    if is_written:
        write_text(tmp_path / "0", "new")
        assert (tmp_path / str(links)).read_text() == "new"
    else:
        with pytest.raises(OSError, match="form a circle"):
            write_text(tmp_path / "0", "new")


def test_all_permissions_that_the_mask_leaves(tmp_path):
    previous = os.umask(0)
    try:
        write_text(tmp_path / "file", "new")
        with whole_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(previous)
    assert mode(tmp_path / "file") == 0o666
    assert mode(tmp_path / "folder") == 0o777


def test_the_owner_may_use_a_draft_whatever_the_target_allows(tmp_path, old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: True)  # as for root
    old.chmod(0o044)
    assert files.draft_mode(old, 0o666) == 0o644
    (tmp_path / "folder").mkdir(0o050)
    assert files.draft_mode(tmp_path / "folder", 0o777) == 0o750


def test_a_link_to_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "dear").write_text("dear")
    (tmp_path / "link").symlink_to("ours")
    with (
        pytest.raises(FileExistsError, match="link was not written by comarkov"),
        whole_folder(tmp_path / "link", replace=True),
    ):
        pass
    assert (tmp_path / "link").readlink() == Path("ours")
    assert names(tmp_path / "ours") == ["dear"]


def test_a_name_that_is_too_long_is_refused_before_the_work(tmp_path):
    with pytest.raises(OSError, match="name too long"):
        check_place(tmp_path / ("x" * 300))
    check_place(tmp_path / "x")
    check_place(tmp_path / "missing" / "x")


def test_folders_above_are_made_and_may_be_there(tmp_path):
    for name in ("one/two/three", "one/two/four"):
        with whole_folder(tmp_path / name) as folder:
            (folder / "file").write_text(name)
        assert (tmp_path / name / "file").read_text() == name


def test_a_place_without_permission_is_refused_before_the_work(tmp_path, monkeypatch):
    def refused(**place):
        assert place == {"dir": tmp_path}
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "TemporaryFile", refused)  # root may write anywhere
    with pytest.raises(PermissionError, match=r"new/out cannot be written: you have no permission"):
        check_place(tmp_path / "new" / "out")


def test_a_folder_that_is_missing_is_named(tmp_path, old):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere"):
        write_text(tmp_path / "nowhere" / "x", "new")
    with pytest.raises(NotADirectoryError, match=r"x cannot be written: .*file is a file"):
        write_text(old / "x", "new")


def test_files_that_may_not_be_written_stay(old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)  # tests may run as root
    with pytest.raises(PermissionError, match="file is read-only"):
        write_text(old, "new")
    assert old.read_text() == "old"


@pytest.mark.parametrize("number", [(1, 3), (1, 7)], ids=["null", "full"])
def test_devices_are_written_through(tmp_path, number):
    device = tmp_path / "device"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(*number))
        device.write_bytes(b"")
    except PermissionError:
        pytest.skip("devices cannot be made or opened here")
    if number == (1, 3):
        write_text(device, "new")
    else:
        with pytest.raises(OSError, match="No space left"):
            write_text(device, "new")
    assert stat.S_ISCHR(device.stat().st_mode)
    assert names(tmp_path) == ["device"]


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


# --- failures and Ctrl-C ------------------------------------------------------------------------


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
    assert "part" not in str(caught.value)
    with (
        pytest.raises(FileNotFoundError) as caught,
        whole_folder(tmp_path / "folder") as draft,
    ):
        (draft / "lost" / "x").touch()
    assert caught.value.filename == str(tmp_path / "folder" / "lost" / "x")
    assert names(tmp_path) == ["file"]


def write_folder(path, replace):
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


def seconds_of(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed files
@pytest.mark.parametrize("replace", [False, True])
def test_ctrl_c_at_any_moment_leaves_a_folder_whole_or_absent(tmp_path, interrupt_after, replace):
    usual = seconds_of(lambda: write_folder(tmp_path / "first", False))
    for step in range(400):
        target = tmp_path / f"{step}" / "out"
        target.parent.mkdir()
        if replace:
            write_folder(target, False)
        try:
            interrupt_after(usual * (step + 1) / 200)
            check_place(target)
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
    for step in range(400):
        old.write_text("old")
        try:
            interrupt_after(usual * (step + 1) / 200)
            write_text(old, "new")
            interrupt_after(0)
        except KeyboardInterrupt:
            pass
        assert names(tmp_path) == ["file"]
        result.add(old.read_text())
    assert result == {"old", "new"}


def test_a_draft_for_a_device_is_there_from_the_start():
    with whole_file("/dev/null") as draft:
        assert draft.read_text() == ""
