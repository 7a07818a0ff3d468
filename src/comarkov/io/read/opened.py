"""Sources opened: files, stdin and open files as one plain file, unpacked within a limit."""

from __future__ import annotations

import codecs
import gzip
import io
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

from ...joint.messages import need, shortened, similar_file, warn_user

CHUNK = 1 << 20
MARKS = (  # UTF-32 comes first, as its mark begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = ("cp1252", "latin-1")  # Windows-1252 has no character for five bytes; Latin-1 has for all
TITLES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
NOT_TEXT = (  # how PDF, images, archives, Office files, audio, video and databases begin
    *(b"%PDF-", b"%!PS", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"RIFF"),
    *(b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!"),
    *(b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"{\\rtf", b"ID3", b"OggS", b"fLaC", b"PAR1"),
)
PRINTED = bytes(range(32, 256)) + b"\t\n\r\x0b\x0c\x1b\x08"
MOST_CONTROLS = 0.1  # of all bytes; a text has next to none


def codec(encoding: str) -> codecs.CodecInfo:
    """The codec of an encoding of text, or an error if there is none."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # which refuses those of bytes, as base64
        return codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(
            f"There is no encoding {encoding!r}. Omit it to have it detected, or set one that "
            'Python knows, such as encoding="utf-8" or encoding="latin-1".'
        ) from error


def marked(start: bytes) -> str | None:
    """The encoding that a byte order mark at the start states, if there is one."""
    return next((encoding for mark, encoding in MARKS if start.startswith(mark)), None)


def detect(content: bytes) -> str:
    """The encoding of a text: by its byte order mark, UTF-8 if that fits, else a Western one."""
    encoding = marked(content)
    if encoding is not None:
        return encoding
    for encoding in ("utf-8", WESTERN[0]):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return WESTERN[1]


def detect_in_file(path: Path) -> str:
    """The same for a file of any size, which is not held in memory.

    What is not text counts as UTF-8: its reader reports what is wrong with it.
    """
    with path.open("rb") as file:
        start = file.read(CHUNK)
    encoding = marked(start)
    if encoding is not None or not is_text(start):
        return encoding or "utf-8"
    return next((name for name in ("utf-8", WESTERN[0]) if _fits(path, name)), WESTERN[1])


def _fits(path: Path, encoding: str) -> bool:
    try:
        with path.open(encoding=encoding, newline="") as file:
            while file.read(CHUNK):
                pass
    except UnicodeDecodeError:
        return False
    return True


def advice(what: str, encoding: str) -> str:
    """A note about text that was read in an encoding that is only likely."""
    return (
        f"{what} not UTF-8 and read as {TITLES[encoding]}. If letters look wrong, set the "
        'encoding, for example encoding="latin-2".'
    )


def is_text(content: bytes, encoding: str | None = None) -> bool:
    """Is it text, as far as its bytes show? It may be in a given encoding."""
    if content.startswith(NOT_TEXT):
        return False
    encoding = marked(content) or encoding or ""
    if encoding.lower().startswith(("utf-16", "utf16", "utf_16", "utf-32", "utf32", "utf_32")):
        return True  # where zero bytes are normal
    controls = content.translate(None, PRINTED)
    return 0 not in controls and len(controls) <= MOST_CONTROLS * len(content)


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
