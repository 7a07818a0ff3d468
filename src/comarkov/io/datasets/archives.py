"""Archives of data sets: finding, downloading and safely reading them."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import stat
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from ...joint.messages import shortened
from ..files import linked_file, room_for

AGAIN = "Delete it, and fetch it again."
CHUNK = 1 << 18
TIMEOUT = 30.0
Report = Callable[[int, int], None]  # bytes so far, bytes in all


@dataclass(frozen=True)
class Archive:
    """A published file: its name and addresses, and the size and checksum that verify it."""

    file: str
    urls: tuple[str, ...]
    size: int
    sha256: str
    unpacked: int  #: the largest size, in bytes, that it may unpack to
    folders: tuple[str, ...]  #: the folders in it


def cache_folder() -> Path:
    """The folder for downloaded archives: where this system keeps caches."""
    home = Path.home()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
        return Path(local) / "comarkov" / "comarkov" / "Cache"
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # the standard ignores any other
        return Path(named) / "comarkov"
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "comarkov"


def find(archive: Archive, path: str | os.PathLike[str] | None = None) -> Path | None:
    """The archive, or the folder that it was unpacked into; None if there is neither.

    The search is at ``path`` or, if that is None, in $COMARKOV_DATA, then in the cache folder.
    """
    if path is not None:
        return Path(path) if Path(path).is_file() else _find_at(archive, Path(path))
    places = [os.environ.get("COMARKOV_DATA"), cache_folder()]
    matches = (_find_at(archive, Path(place)) for place in places if place)
    return next((place for place in matches if place is not None), None)


def _find_at(archive: Archive, path: Path) -> Path | None:
    if path.name in archive.folders and path.is_dir():
        path = path.parent
    if (path / archive.file).is_file():
        return path / archive.file
    if all((path / folder).is_dir() for folder in archive.folders):
        return path
    return None


# --- reading ----------------------------------------------------------------------------------


def members(archive: Archive, path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Names and contents of the files in an archive, or in the folder that it was unpacked into.

    Nothing is written. Links, paths that lead out of the archive, and more than
    ``archive.unpacked`` bytes are refused.
    """
    if path.is_dir():
        entries = _from_folders(path, archive.folders)
    else:
        entries = _from_zip(path) if archive.file.endswith(".zip") else _from_tar(path)
    left = archive.unpacked
    try:
        for name, size, is_plain, open_ in entries:
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or "\\" in name:
                raise ValueError(f"{path} is not safe: {name!r} leads out of it. {AGAIN}")
            if not is_plain:
                raise ValueError(f"{path} is not safe: {name!r} is not a plain file. {AGAIN}")
            left -= size
            if left < 0:
                raise ValueError(
                    f"{path} is not safe: it unpacks to more than {archive.unpacked:,} bytes. "
                    f"{AGAIN}"
                )
            yield place, open_()
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"{path} is damaged ({shortened(str(error))}). {AGAIN}") from error


Member = tuple[str, int, bool, Callable[[], bytes]]  # name, size, plain file?, contents


def _from_tar(path: Path) -> Iterator[Member]:
    with gzip.open(path) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
        for member in tar:
            if not member.isdir():
                yield member.name, member.size, member.isreg(), partial(_all, tar, member)
        while rest := stream.read(CHUNK):  # to the end of the stream, where its checksum is
            if rest.count(0) < len(rest):
                raise tarfile.TarError("there are data after its end")


def _all(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None
    content = file.read()
    if len(content) < member.size:
        raise EOFError("it is incomplete")
    return content


def _from_zip(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                kind = stat.S_IFMT(info.external_attr >> 16)
                is_plain = kind in (0, stat.S_IFREG) and not info.flag_bits & 1  # 1: encrypted
                yield info.filename, info.file_size, is_plain, partial(archive.read, info)


def _from_folders(path: Path, folders: tuple[str, ...]) -> Iterator[Member]:
    for file in sorted(file for folder in folders for file in (path / folder).rglob("*")):
        status = file.lstat()
        if not stat.S_ISDIR(status.st_mode):
            name = file.relative_to(path).as_posix()
            yield name, status.st_size, stat.S_ISREG(status.st_mode), file.read_bytes


# --- fetching ---------------------------------------------------------------------------------


def fetch(archive: Archive, folder: Path | None = None, report: Report | None = None) -> Path:
    """Download an archive into a folder (the cache folder), verify it, and return its path.

    An interrupted download continues where it stopped. The file gets its name only when its size
    and checksum are right.
    """
    folder = cache_folder() if folder is None else folder
    place = folder / archive.file
    if place.is_file() and _is_whole(archive, place):
        return place
    folder.mkdir(parents=True, exist_ok=True)
    target = linked_file(place)
    part = target.with_name(target.name + ".part")  # a later download continues it
    problems = []
    for url in archive.urls:
        try:
            with room_for(target):
                _download(url, archive, part, report or (lambda done, total: None))
        except (OSError, http.client.HTTPException) as error:
            problems.append(f"{url}: {error}")
            continue
        if _is_whole(archive, part):
            part.replace(target)
            return place
        part.unlink()
        problems.append(f"{url}: its size or checksum is wrong")
    kept = " to continue the download" if part.exists() else ""
    raise ConnectionError(
        f"{archive.file} could not be downloaded ({'; '.join(problems)}). Try again{kept}. Or put "
        "a copy into a folder, and set the environment variable COMARKOV_DATA to that folder."
    )


def _download(url: str, archive: Archive, part: Path, report: Report) -> None:
    """Download the rest of a partial file."""
    have = part.stat().st_size if part.exists() else 0
    if have >= archive.size:  # the checksum shows whether it is right
        return
    headers = {"User-Agent": "comarkov"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        resumes = answer.status == 206 and _starts_at(answer.headers["Content-Range"], have)
        with open(part, "ab" if resumes else "wb") as file:
            _copy(answer, file, have if resumes else 0, archive.size, report)


def _copy(answer: IO[bytes], file: IO[bytes], done: int, total: int, report: Report) -> None:
    while done <= total and (chunk := answer.read(CHUNK)):
        file.write(chunk)
        done += len(chunk)
        report(done, total)
    if done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")


def _starts_at(content_range: str | None, start: int) -> bool:
    return (content_range or "").startswith(f"bytes {start}-")


def _is_whole(archive: Archive, path: Path) -> bool:
    if path.stat().st_size != archive.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == archive.sha256
