"""Sources opened: files, stdin and open files as one plain file, unpacked within a limit."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from ..extras import need
from ..quoting import shortened
from ..similar_names import similar_file
from ..user_warnings import warn_user
from .encodings import TITLES, advice, codec, detect, detect_in_file

CHUNK = 1 << 20
LEAST_LIMIT = 1 << 28  # what any file may unpack to
MOST_TIMES = 100  # how many times its size a file may unpack to
PACKED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip"}
SPREADSHEET = ".xlsx"
DAMAGED = (
    zlib.error,
    lzma.LZMAError,
    EOFError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    struct.error,
    UnicodeDecodeError,
)
#: What Python raises for the list of members of a zip file.
UNOPENED = (zipfile.BadZipFile, NotImplementedError, struct.error, UnicodeDecodeError)
KEPT = (".npz", SPREADSHEET)  # zip archives that are formats of their own


@dataclass(frozen=True)
class Opened:
    """A plain file on this machine, and what to call it."""

    name: str  #: for messages
    path: Path
    suffix: str  #: in lower case, without that of the packing: ".csv" for data.csv.gz


@contextmanager
def opened(source: Any, max_bytes: int | None = None) -> Iterator[Opened]:
    """A path, "-" for stdin, or an open file, as a plain file that exists for a while."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comarkov-")))
        file = _on_disk(source, folder)
        yield unpacked(file, folder, max_bytes)


def _on_disk(source: Any, folder: Path) -> Opened:
    if source == "-":
        return _spooled(sys.stdin.buffer, "stdin", folder)
    if hasattr(source, "read"):
        name = getattr(source, "name", "the open file")
        return _spooled(source, str(name), folder)
    path = Path(source)
    if not path.exists():
        advice = similar_file(path) or " Check the path."
        raise FileNotFoundError(f"There is no file {str(source)!r}.{advice}")
    if path.is_dir():
        raise ValueError(f"{source} is a folder. Give the path of a file in it.")
    return Opened(str(source), path, path.suffix.lower())


def _spooled(stream: IO[Any], name: str, folder: Path) -> Opened:
    path = folder / "spooled"
    with path.open("wb") as file:
        while chunk := stream.read(CHUNK):
            file.write(chunk.encode() if isinstance(chunk, str) else chunk)
    return Opened(name, path, Path(name).suffix.lower())


def unpacked(file: Opened, folder: Path, max_bytes: int | None) -> Opened:
    """The file itself or, if its first bytes show that it is compressed, its content."""
    with file.path.open("rb") as stream:
        start = stream.read(4)
    packing = next((suffix for mark, suffix in PACKED.items() if start.startswith(mark)), None)
    if packing is None or file.suffix in KEPT:
        return file
    if packing == ".zip" and is_spreadsheet(file.path):
        return replace(file, suffix=SPREADSHEET)
    limit = unpacking_limit(file.path, max_bytes)
    target = folder / "unpacked"
    name = file.name.removesuffix(file.suffix) if file.suffix == packing else file.name
    try:
        with ExitStack() as stack:
            inner, inside = _inside(file, packing, stack)
            _copy(inside, target, limit, file.name)
    except DAMAGED as error:
        why = shortened(str(error)).rstrip(".")
        raise ValueError(
            f"{file.name} is damaged: {why}. Download or compress it again."
        ) from error
    except NotImplementedError as error:  # a method or version that Python does not know
        raise ValueError(
            f"{file.name} cannot be unpacked here: {error}. Unpack it with another program, and "
            "give the file in it."
        ) from error
    suffix = Path(inner or name).suffix.lower()
    return replace(file, path=target, suffix=suffix)


def is_spreadsheet(path: Path) -> bool:
    """Is a zip file one of Excel?"""
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except UNOPENED:
        return False


def unpacking_limit(path: Path, max_bytes: int | None) -> int:
    """The largest size, in bytes, that a compressed file may unpack to."""
    if max_bytes is not None:
        return max_bytes
    return max(LEAST_LIMIT, MOST_TIMES * path.stat().st_size)


def _inside(file: Opened, packing: str, stack: ExitStack) -> tuple[str, Any]:
    """The name of the compressed file, if it is stored, and a stream of its content."""
    if packing == ".gz":
        return "", stack.enter_context(gzip.open(file.path))
    if packing == ".zst":
        return "", _Zstandard(stack.enter_context(file.path.open("rb")))
    archive = stack.enter_context(zipfile.ZipFile(file.path))
    members = [info for info in archive.infolist() if not info.filename.endswith("/")]
    if len(members) != 1:
        raise ValueError(
            f"{file.name} contains {len(members)} files. Unpack it, and give one of them."
        )
    if members[0].flag_bits & 1:
        raise ValueError(f"{file.name} is encrypted. Unpack it, and give the file in it.")
    return members[0].filename, stack.enter_context(archive.open(members[0]))


class _Zstandard:
    """A stream that detects a truncated file, which that of the library does not."""

    PART = 2048  # bytes, which can unpack to 64 MB at most

    def __init__(self, packed: IO[bytes]) -> None:
        need("Unpacking .zst files", "zstandard")
        import zstandard

        self.packed = packed
        self.begin = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
        self.error = zstandard.ZstdError
        self.frame = self.begin()

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end; one frame may follow another."""
        try:
            while True:
                part = self.frame.unused_data if self.frame.eof else b""
                part = part or self.packed.read(self.PART)
                if not part and self.frame.eof:
                    return b""
                if not part:
                    raise EOFError("it is incomplete")
                if self.frame.eof:
                    self.frame = self.begin()
                if content := self.frame.decompress(part):
                    return content
        except self.error as error:
            raise EOFError(str(error)) from error


def _copy(source: Any, target: Path, limit: int, name: str) -> None:
    left = limit
    with target.open("wb") as file:
        while chunk := source.read(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise ValueError(
                    f"{name} unpacks to more than {limit:,} bytes, which may be a trap. If you "
                    f"trust it, raise the limit, for example max_bytes={10 * limit}."
                )
            file.write(chunk)


@contextmanager
def as_utf8(file: Opened, encoding: str | None) -> Iterator[Opened]:
    """A text file in UTF-8: the file itself if that is its encoding, detected if it is None."""
    if encoding is None:
        encoding = _with_note(detect_in_file(file.path), file.name)
    if codec(encoding).name in ("utf-8", "utf-8-sig", "ascii"):
        yield file
        return
    descriptor, target = tempfile.mkstemp(prefix="comarkov-")
    os.close(descriptor)
    try:
        _recode(file, encoding, Path(target))
        yield replace(file, path=Path(target))
    finally:
        Path(target).unlink()


def _with_note(encoding: str, name: str) -> str:
    """A detected encoding, with a warning if it is only likely."""
    if encoding in TITLES:
        warn_user(advice(f"{name} is", encoding))
    return encoding


def _recode(file: Opened, encoding: str, target: Path) -> None:
    try:
        with (
            file.path.open(encoding=encoding, newline="") as source,
            target.open("w", encoding="utf-8", newline="") as copy,
        ):
            shutil.copyfileobj(source, copy, CHUNK)
    except UnicodeError as error:
        decoded(file.path.read_bytes(), file.name, encoding)  # which knows the line
        raise ValueError(f"{file.name} is not {encoding}: {error}.") from error


def decoded(content: bytes, name: str, encoding: str | None, line: int = 1) -> str:
    """A text, or an error that states where it is not in this encoding. It begins on ``line``.

    If the encoding is None it is detected.
    """
    if encoding is None:
        encoding = _with_note(detect(content), name)
    codec(encoding)
    try:
        return content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except UnicodeDecodeError as error:
        line += content.count(b"\n", 0, error.start)
        raise ValueError(
            f"{name}, line {line}: the byte 0x{content[error.start]:02x} is not {encoding}. Set "
            'another encoding, for example encoding="latin-1".'
        ) from error
