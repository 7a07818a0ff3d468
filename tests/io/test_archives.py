"""Archives are found, fetched whole or not at all, and refused if they are not the right ones."""

import hashlib
import io
import sys
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath

import numpy as np
import pytest

from comarkov import datasets
from comarkov.io.datasets import collections
from comarkov.io.datasets.collections import Archive, read_members
from comarkov.joint.messages import InputError

CONTENT = np.random.default_rng(0).bytes(1_000_000)


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT; the server's ``behaviour`` says how well."""

    def do_GET(self):
        server = self.server
        server.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        bodies = {"cut off": CONTENT[: len(CONTENT) // 2], "damaged": CONTENT[:-1] + b"!"}
        self.wfile.write(bodies.get(server.behaviour, CONTENT))

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.behaviour = "well"
        server.asked = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def archive(server):
    url = f"http://127.0.0.1:{server.server_port}/data.bin"
    digest = hashlib.sha256(CONTENT).hexdigest()
    return Archive("data.bin", (url,), len(CONTENT), digest)


def test_fetched_once(server, archive, tmp_path):
    seen = []
    path = archive.fetch(tmp_path / "new", lambda done, total: seen.append(done))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == len(CONTENT)
    assert archive.fetch(tmp_path / "new") == path
    assert len(server.asked) == 1


@pytest.mark.parametrize("behaviour", ["cut off", "damaged"])
def test_a_download_that_fails_leaves_nothing_behind(behaviour, server, archive, tmp_path):
    server.behaviour = behaviour
    with pytest.raises(ConnectionError) as caught:
        archive.fetch(tmp_path)
    assert "data.bin" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    server.behaviour = "well"
    assert archive.fetch(tmp_path).read_bytes() == CONTENT


def test_another_address_is_tried(server, archive, tmp_path):
    unreachable = "http://127.0.0.1:9/data.bin"
    archive = Archive(**(vars(archive) | {"urls": (unreachable, *archive.urls)}))
    assert archive.fetch(tmp_path).read_bytes() == CONTENT


# --- finding ----------------------------------------------------------------------------------


def test_where_archives_are_looked_for(archive, tmp_path, monkeypatch):
    cache, mine, given = (tmp_path / name for name in ("cache", "mine", "given"))
    for folder in (cache, mine, given):
        folder.mkdir()
    monkeypatch.setattr(collections, "cache_folder", lambda: cache)
    monkeypatch.delenv("COMARKOV_DATA", raising=False)
    assert archive.find() is None
    (cache / "data.bin").touch()
    assert archive.find() == cache / "data.bin"
    (mine / "data.bin").touch()
    monkeypatch.setenv("COMARKOV_DATA", str(mine))
    assert archive.find() == mine / "data.bin"
    assert archive.find(given) is None  # what is given is what counts
    monkeypatch.setenv("COMARKOV_DATA", str(tmp_path / "another.zip"))
    (tmp_path / "another.zip").touch()
    assert archive.find() == cache / "data.bin"  # a file is not taken for all data sets
    assert archive.find(mine / "data.bin") == mine / "data.bin"


# --- reading ----------------------------------------------------------------------------------


def tar(path, members):
    with tarfile.open(path, "w:gz") as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


both_formats = pytest.mark.parametrize("make", [tar, zipped])


def assert_refused(path, read=lambda path: dict(read_members(path))):
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.file == path
    assert "fetch it again" in caught.value.advice


@both_formats
def test_contents_by_name(make, tmp_path):
    expected = {"data/a.txt": b"a", "data/b/c.txt": b"c" * 1000}
    files = dict(read_members(make(tmp_path / "x", expected)))
    assert files == {PurePosixPath(name): content for name, content in expected.items()}


@both_formats
def test_bombs_are_refused(make, tmp_path, monkeypatch):
    monkeypatch.setattr(collections, "MAX_ARCHIVE_CONTENT", 10**6)
    assert_refused(make(tmp_path / "x", {"data/0": bytes(10**6), "data/1": b"1"}))


def test_links_in_an_archive_lead_nowhere(tmp_path):
    with tarfile.open(tmp_path / "x", "w:gz") as file:
        info = tarfile.TarInfo("data/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(info)
    assert dict(read_members(tmp_path / "x")) == {}


@both_formats
@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "text"])
def test_damage_is_one_clear_error(tmp_path, make, harm):
    path = make(tmp_path / "x", {"data/noise": CONTENT})
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = bytes(b ^ 255 for b in whole[middle : middle + 50])
    harmed = {
        "cut": whole[:middle],
        "flip": whole[:middle] + flipped + whole[middle + 50 :],
        "empty": b"",
        "text": b"<html>not found</html>",
    }
    path.write_bytes(harmed[harm])
    assert_refused(path)


# --- the data sets themselves -----------------------------------------------------------------


def test_errors_say_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="southern-women, movielens"):
        datasets.load("iris")
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load("movielens", tmp_path)
    assert f"comarkov datasets fetch movielens --out {tmp_path}" in str(caught.value)
    with pytest.raises(ValueError, match="southern-women"):
        datasets.fetch("southern-women")


MOVIES = {"u.data": b"1\t1\t5\t0\n", "u.item": b"1|Film|1\n", "u.genre": b"Drama|0\n"}


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("movielens", {"ml-100k/u.data": MOVIES["u.data"]}),
        ("movielens", {f"ml-100k/{name}": text for name, text in MOVIES.items()}),
        ("newsgroups", {"20news-bydate-train/sci.space/1": b"one text"}),
    ],
)
def test_other_archives_are_not_taken_for_the_data_sets(name, members, tmp_path):
    make = zipped if name == "movielens" else tar
    path = make(tmp_path / datasets.CATALOGUE[name].archive.file, members)
    assert_refused(path, lambda path: datasets.load(name, path.parent))


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "home/.cache/comarkov"),
        ("linux", {"XDG_CACHE_HOME": "{}/cache"}, "cache/comarkov"),
        ("darwin", {}, "home/Library/Caches/comarkov"),
        ("win32", {"LOCALAPPDATA": "{}/Local"}, "Local/comarkov/comarkov/Cache"),
        ("win32", {}, "home/AppData/Local/comarkov/comarkov/Cache"),
    ],
)
def test_the_cache_folder_is_where_the_system_has_its_caches(
    monkeypatch, tmp_path, platform, environment, folder
):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "platform", platform)
    assert collections.cache_folder() == tmp_path / folder
