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

OK, MOVED = b"HTTP/1.0 200 OK\r\n", b"HTTP/1.0 302 Found\r\nLocation: "
HOSTILE = {  # what a server sends
    "endless": OK + b"\r\n",
    "too long": OK + b"Content-Length: 99999999999999999999999\r\n\r\n",
    "negative": OK + b"Content-Length: -5\r\n\r\nx",
    "no HTTP": bytes(range(256)) * 300,
    "nothing": b"",
    "long header": OK + b"X: " + b"x" * 10**6,
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "circle": MOVED + b"/data.bin\r\n\r\n",
    "to a file": MOVED + b"file:///etc/passwd\r\n\r\n",
    "to no address": MOVED + b"http://[::1/x\r\n\r\n",
    "to a port": MOVED + b"http://127.0.0.1:99999999/\r\n\r\n",
}


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT; the server's ``behaviour`` says how well."""

    def do_GET(self):
        server, behaviour = self.server, self.server.behaviour
        server.asked.append(self.path)
        if behaviour in HOSTILE:
            self.wfile.write(HOSTILE[behaviour])
            while behaviour == "endless":
                self.wfile.write(CONTENT)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        bodies = {"cut off": CONTENT[: len(CONTENT) // 2], "damaged": CONTENT[:-1] + b"!"}
        self.wfile.write(bodies.get(behaviour, CONTENT))

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


@pytest.mark.parametrize("behaviour", ["cut off", "damaged", *HOSTILE])
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


@pytest.mark.parametrize("make", [tar, zipped])
def test_contents_by_name(make, tmp_path):
    expected = {"data/a.txt": b"a", "data/b/c.txt": b"c" * 1000}
    files = dict(read_members(make(tmp_path / "x", expected)))
    assert files == {PurePosixPath(name): content for name, content in expected.items()}


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


@pytest.mark.parametrize("name", ["movielens", "newsgroups"])
@pytest.mark.parametrize("members", [{}, {"a/b/c": b"text"}, MOVIES])
@pytest.mark.parametrize("make", [tar, zipped, lambda path, _: path.write_bytes(b"<html>")])
def test_other_archives_are_not_taken_for_the_data_sets(name, members, make, tmp_path):
    path = tmp_path / datasets.CATALOGUE[name].archive.file
    make(path, members)
    for content in (path.read_bytes(), path.read_bytes()[: path.stat().st_size // 2]):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            datasets.load(name, tmp_path)
        assert caught.value.file == path
        assert "fetch it again" in caught.value.advice


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
