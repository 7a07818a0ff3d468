"""Archives of data sets: finding, downloading and safely reading them."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
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

from ...joint.messages import InputError
from ..files import whole_file

DOWNLOAD_CHUNK = 1 << 18  # bytes
DOWNLOAD_TIMEOUT = 30.0  # seconds
MAX_ARCHIVE_CONTENT = 200_000_000  # bytes
BAD_ARCHIVE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error),
    *(EOFError, OSError, RuntimeError),  # the last if it is encrypted
)
NO_DOWNLOAD = (ConnectionError, TimeoutError, urllib.error.URLError, http.client.HTTPException)
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
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "comarkov" / "comarkov" / "Cache"
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if os.path.isabs(named) else usual) / "comarkov"


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
    except BAD_ARCHIVE as error:
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

    The file gets its name only when its checksum is right.
    """
    folder = cache_folder() if folder is None else folder
    place = folder / archive.file
    if place.is_file() and _is_whole(archive, place):
        return place
    folder.mkdir(parents=True, exist_ok=True)
    problems = []
    for url in archive.urls:
        try:
            with whole_file(place) as draft:
                _download(url, archive, draft, report or (lambda done, total: None))
        except NO_DOWNLOAD as error:
            problems.append(f"{url}: {error}")
        else:
            return place
    raise ConnectionError(
        f"{archive.file} could not be downloaded ({'; '.join(problems)}). Try again. Or put a copy "
        "into a folder, and set the environment variable COMARKOV_DATA to that folder."
    )


def _download(url: str, archive: Archive, draft: Path, report: Report) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "comarkov"})
    done = 0
    with (
        urllib.request.urlopen(request, timeout=DOWNLOAD_TIMEOUT) as answer,
        draft.open("wb") as file,
    ):
        while done <= archive.size and (chunk := answer.read(DOWNLOAD_CHUNK)):
            file.write(chunk)
            done += len(chunk)
            report(done, archive.size)
    if not _is_whole(archive, draft):
        raise ConnectionError(f"what came ({done:,} bytes) is not what was published")


def _is_whole(archive: Archive, path: Path) -> bool:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == archive.sha256
