"""Archives of data sets: finding, downloading and safely reading them."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import sys
import tarfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from ...joint.messages import InputError
from ..files import linked_file, room_for

DOWNLOAD_CHUNK = 1 << 18  # bytes
DOWNLOAD_TIMEOUT = 30.0  # seconds
MAX_ARCHIVE_CONTENT = 200_000_000  # bytes
BAD_ARCHIVE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error),
    *(EOFError, OSError, RuntimeError),  # the last if it is encrypted
)
Report = Callable[[int, int], None]  # bytes so far, bytes in all


@dataclass(frozen=True)
class Archive:
    """A published file: its name and addresses, and the size and checksum that verify it."""

    file: str
    urls: tuple[str, ...]
    size: int
    sha256: str


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
    """The archive at ``path``, which is a file or its folder; None if it is not there.

    By default it is searched for in $COMARKOV_DATA, then in the cache folder.
    """
    if path is not None and Path(path).is_file():
        return Path(path)
    folders = [os.environ.get("COMARKOV_DATA"), cache_folder()] if path is None else [path]
    files = (Path(folder) / archive.file for folder in folders if folder)
    return next(filter(Path.is_file, files), None)


def not_published(path: Path, problem: object) -> InputError:
    """The error about a file that is not the archive that was published."""
    return InputError(str(problem), file=path, advice="Delete it, and fetch it again.")


def read_members(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Names and contents of the files in an archive; nothing is written, so names do no harm."""
    left = MAX_ARCHIVE_CONTENT
    try:
        for name, size, read in _from_zip(path) if zipfile.is_zipfile(path) else _from_tar(path):
            left -= size
            if left < 0:
                raise not_published(path, f"it unpacks to more than {MAX_ARCHIVE_CONTENT:,} bytes")
            yield PurePosixPath(name), read()
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
    ) as error:
        raise not_published(path, f"it is damaged ({error})") from error


ArchiveMember = tuple[str, int, Callable[[], bytes]]  # name, size, content


def _from_zip(path: Path) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            yield info.filename, info.file_size, partial(file.read, info)


def _from_tar(path: Path) -> Iterator[ArchiveMember]:
    with gzip.open(path) as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
        for member in tar:
            if member.isreg() and (file := tar.extractfile(member)) is not None:
                yield member.name, member.size, file.read
        while stream.read(DOWNLOAD_CHUNK):  # to the end, where the checksum is
            pass


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
    with urllib.request.urlopen(request, timeout=DOWNLOAD_TIMEOUT) as answer:
        part_of = answer.headers["Content-Range"] or ""
        resumes = answer.status == 206 and part_of.startswith(f"bytes {have}-")
        with open(part, "ab" if resumes else "wb") as file:
            _copy(answer, file, have if resumes else 0, archive.size, report)


def _copy(answer: IO[bytes], file: IO[bytes], done: int, total: int, report: Report) -> None:
    while done <= total and (chunk := answer.read(DOWNLOAD_CHUNK)):
        file.write(chunk)
        done += len(chunk)
        report(done, total)
    if done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")


def _is_whole(archive: Archive, path: Path) -> bool:
    if path.stat().st_size != archive.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == archive.sha256
