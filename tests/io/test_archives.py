"""Archives are found, fetched whole or not at all, and read without trusting them."""

import hashlib
import io
import re
import sys
import tarfile
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath

import numpy as np
import pytest

from comarkov import datasets
from comarkov.datasets import archives
from comarkov.io.datasets.archives import Archive

CONTENT = np.random.default_rng(0).bytes(1_000_000)


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT; the server's ``behaviour`` says how well."""

    def do_GET(self):
        server = self.server
        start = 0
        asked = self.headers.get("Range")
        server.asked.append(asked)
        content = CONTENT
        if server.behaviour == "damaged":
            content = content[:-1] + b"!"
        if asked and server.behaviour != "no ranges":
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        body = content[start:]
        if server.behaviour == "cut off":
            body = body[: len(body) // 2]
        self.wfile.write(body)

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
    return Archive("data.bin", (url,), len(CONTENT), digest, 10**7, ("data",))


def test_fetched_once(server, archive, tmp_path):
    seen = []
    path = archives.fetch(archive, tmp_path / "new", lambda done, total: seen.append(done))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == len(CONTENT)
    assert archives.fetch(archive, tmp_path / "new") == path
    assert len(server.asked) == 1


def test_a_download_that_was_cut_off_goes_on(server, archive, tmp_path):
    server.behaviour = "cut off"
    with pytest.raises(ConnectionError, match=r"could not be downloaded.*Try again"):
        archives.fetch(archive, tmp_path)
    assert not (tmp_path / "data.bin").exists()
    server.behaviour = "well"
    assert archives.fetch(archive, tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=500000-"]
    assert [file.name for file in tmp_path.iterdir()] == ["data.bin"]


def test_a_server_without_ranges_sends_all_again(server, archive, tmp_path):
    server.behaviour = "cut off"
    with pytest.raises(ConnectionError):
        archives.fetch(archive, tmp_path)
    server.behaviour = "no ranges"
    assert archives.fetch(archive, tmp_path).read_bytes() == CONTENT


def test_a_damaged_download_leaves_nothing_behind(server, archive, tmp_path):
    server.behaviour = "damaged"
    with pytest.raises(ConnectionError, match="checksum is wrong"):
        archives.fetch(archive, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_another_address_is_tried(server, archive, tmp_path):
    unreachable = "http://127.0.0.1:9/data.bin"
    archive = Archive(**(vars(archive) | {"urls": (unreachable, *archive.urls)}))
    assert archives.fetch(archive, tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_too_long_or_wrong_is_not_taken(server, archive, tmp_path):
    (tmp_path / "data.bin.part").write_bytes(b"x" * (len(CONTENT) + 1))
    with pytest.raises(ConnectionError):
        archives.fetch(archive, tmp_path)
    assert archives.fetch(archive, tmp_path).read_bytes() == CONTENT


def test_links_are_followed_to_the_archive_but_not_by_what_has_arrived(archive, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "old.bin").touch(0o600)
    (tmp_path / "data.bin").symlink_to("disk/old.bin")
    assert archives.fetch(archive, tmp_path) == tmp_path / "data.bin"
    assert (tmp_path / "data.bin").is_symlink()
    assert (tmp_path / "disk" / "old.bin").read_bytes() == CONTENT
    assert (tmp_path / "disk" / "old.bin").stat().st_mode & 0o777 == 0o600
    (tmp_path / "victim").write_bytes(b"dear")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "data.bin.part").symlink_to("../victim")
    with pytest.raises(ConnectionError, match="could not be downloaded"):
        archives.fetch(archive, tmp_path / "new")
    assert (tmp_path / "victim").read_bytes() == b"dear"


# --- finding ----------------------------------------------------------------------------------


def test_where_archives_are_looked_for(archive, tmp_path, monkeypatch):
    cache, mine, given = (tmp_path / name for name in ("cache", "mine", "given"))
    for folder in (cache, mine, given):
        folder.mkdir()
    monkeypatch.setattr(archives, "cache_folder", lambda: cache)
    monkeypatch.delenv("COMARKOV_DATA", raising=False)
    assert archives.find(archive) is None
    (cache / "data.bin").touch()
    assert archives.find(archive) == cache / "data.bin"
    (mine / "data.bin").touch()
    monkeypatch.setenv("COMARKOV_DATA", str(mine))
    assert archives.find(archive) == mine / "data.bin"
    assert archives.find(archive, given) is None  # what is given is what counts
    (given / "data").mkdir()
    assert archives.find(archive, given) == given  # unpacked
    assert archives.find(archive, given / "data") == given
    monkeypatch.setenv("COMARKOV_DATA", str(tmp_path / "another.zip"))
    (tmp_path / "another.zip").touch()
    assert archives.find(archive) == cache / "data.bin"  # a file is not taken for all data sets
    assert archives.find(archive, mine / "data.bin") == mine / "data.bin"


# --- reading ----------------------------------------------------------------------------------


def tar(path, *members):
    with tarfile.open(path, "w:gz") as file:
        for name, content, kind in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(content)
                file.addfile(info, io.BytesIO(content))
            else:
                info.linkname = content
                file.addfile(info)
    return path


def zipped(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            file.writestr(info, content)
    return path


def as_zip(archive):
    return replace(archive, file="data.zip")


def contents(archive, path):
    return dict(archives.members(archive, path))


def test_tar_zip_and_folder_read_the_same(archive, tmp_path):
    expected = {PurePosixPath("data/a.txt"): b"a", PurePosixPath("data/b/c.txt"): b"c" * 1000}
    named = [(str(name), content) for name, content in expected.items()]
    files = tar(tmp_path / "x.tar.gz", *[(*pair, tarfile.REGTYPE) for pair in named])
    assert contents(archive, files) == expected
    files = zipped(tmp_path / "x.zip", *[(*pair, 0o100644) for pair in named])
    assert contents(as_zip(archive), files) == expected
    for name, content in [*named, ("other/large", b"0" * (archive.unpacked + 1))]:
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(content)
    assert contents(archive, tmp_path / "folder") == expected  # and nothing that lies beside


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "data/../../evil.txt"])
def test_paths_that_lead_out_are_refused(archive, tmp_path, name):
    with pytest.raises(ValueError, match="leads out of it"):
        contents(archive, tar(tmp_path / "x.tar.gz", (name, b"evil", tarfile.REGTYPE)))
    with pytest.raises(ValueError, match="leads out of it"):
        contents(as_zip(archive), zipped(tmp_path / "x.zip", (name, b"evil", 0o100644)))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(archive, tmp_path, kind):
    with pytest.raises(ValueError, match="not a plain file"):
        contents(archive, tar(tmp_path / "x.tar.gz", ("data/link", "/etc/passwd", kind)))


def test_links_in_zip_and_folder_are_refused(archive, tmp_path):
    with pytest.raises(ValueError, match="not a plain file"):
        contents(
            as_zip(archive), zipped(tmp_path / "x.zip", ("data/link", b"/etc/passwd", 0o120777))
        )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="not a plain file"):
        contents(archive, tmp_path)


def test_bombs_are_refused(archive, tmp_path):
    bomb = b"\0" * (archive.unpacked + 1)
    with pytest.raises(ValueError, match="unpacks to more than"):
        contents(archive, tar(tmp_path / "x.tar.gz", ("data/0", bomb, tarfile.REGTYPE)))
    with pytest.raises(ValueError, match="unpacks to more than"):
        contents(as_zip(archive), zipped(tmp_path / "x.zip", ("data/0", bomb, 0o100644)))


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("harm", ["cut", "flip", "empty", "text"])
def test_damage_is_one_clear_error(archive, tmp_path, make, harm):
    kind = tarfile.REGTYPE if make is tar else 0o100644
    path = make(tmp_path / "x", ("data/noise", CONTENT, kind))
    whole = path.read_bytes()
    middle = len(whole) // 2
    harmed = {
        "cut": whole[:middle],
        "flip": whole[:middle]
        + bytes(b ^ 255 for b in whole[middle : middle + 50])
        + whole[middle + 50 :],
        "empty": b"",
        "text": b"<html>not found</html>",
    }[harm]
    path.write_bytes(harmed)
    with pytest.raises(ValueError, match=r"is damaged .*\. Delete it, and fetch it again"):
        contents(archive if make is tar else as_zip(archive), path)


# --- the data sets themselves -----------------------------------------------------------------


def test_published_archives_have_addresses_and_checksums():
    for entry in datasets.CATALOGUE.values():
        if entry.archive is not None:
            assert re.fullmatch("[0-9a-f]{64}", entry.archive.sha256)
            assert all(url.startswith("http") for url in entry.archive.urls)


def test_errors_say_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="There is no data set 'iris'"):
        datasets.load("iris")
    advice = f"Run: comarkov datasets fetch movielens --out {re.escape(str(tmp_path))}"
    with pytest.raises(FileNotFoundError, match=advice):
        datasets.load("movielens", tmp_path)
    with pytest.raises(ValueError, match="nothing to fetch"):
        datasets.fetch("southern-women")


def test_other_archives_are_not_taken_for_the_data_sets(tmp_path):
    zipped(tmp_path / "ml-100k.zip", ("ml-100k/u.data", b"1\t1\t5\t0\n", 0o100644))
    with pytest.raises(ValueError, match=r"u.genre, u.item is missing"):
        datasets.load("movielens", tmp_path)
    files = [("u.data", b"1\t1\t5\t0\n"), ("u.item", b"1|Film|1\n"), ("u.genre", b"Drama|0\n")]
    zipped(tmp_path / "ml-100k.zip", *[(f"ml-100k/{name}", text, 0) for name, text in files])
    with pytest.raises(ValueError, match="it has 1 ratings of 1 users and 1 movies"):
        datasets.load("movielens", tmp_path)
    tar(
        tmp_path / "20news-bydate.tar.gz",
        ("20news-bydate-train/sci.space/1", b"one text", tarfile.REGTYPE),
    )
    with pytest.raises(ValueError, match="it has 1 documents, not 18,846"):
        datasets.load("newsgroups", tmp_path)


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "home/.cache/comarkov"),
        ("linux", {"XDG_CACHE_HOME": "{}/cache"}, "cache/comarkov"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/comarkov"),
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
    assert archives.cache_folder() == tmp_path / folder
