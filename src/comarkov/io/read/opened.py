"""Sources opened: files, stdin and open files as one plain file, unpacked within a limit."""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import mmap
import os
import re
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import IO, Any

from ...joint.messages import InputError, listed, need, shortened, similar_file, warn_user
from ..files import is_own

COPY_CHUNK = 1 << 20  # bytes
BYTE_ORDER_MARKS = {  # UTF-32 comes first, as its mark begins like that of UTF-16
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
    codecs.BOM_UTF8: "utf-8-sig",
}
#: What text that is not UTF-8 may be. Five bytes are no character of the first.
WESTERN = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
NOT_TEXT = (  # how PDF, images, archives, Office files, audio, video and databases begin
    *(b"%PDF-", b"%!PS", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"RIFF"),
    *(b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!"),
    *(b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"{\\rtf", b"ID3", b"OggS", b"fLaC", b"PAR1"),
)
TEXT_BYTES = bytes(range(32, 256)) + b"\t\n\r\x0b\x0c\x1b\x08"
MAX_CONTROLS = 0.1  # of all bytes; a text has next to none
FREE_UNPACKED_BYTES = 1 << 28  # what any file may unpack to
MAX_UNPACKED_RATIO = 100  # how many times its size a file may unpack to
CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,3})(\d{1,9})""")
FAR_CELL = re.compile(rb"""\br\s*=\s*["'](?:[A-Za-z]{3}\d|[A-Za-z]{0,2}\d{5})""")
MAX_EMPTY_CELLS = 1 << 24
PACKING_MARKS = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip"}
SPREADSHEET = ".xlsx"
ZIP_FORMATS = (".npz", SPREADSHEET)  # zip archives that are formats of their own
#: What Python raises for packed files: RuntimeError if they are encrypted or of a later version.
DAMAGED = (
    *(zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile),
    *(zipfile.BadZipFile, struct.error, UnicodeDecodeError, RuntimeError),
)


@dataclass(frozen=True)
class Opened:
    """A plain file on this machine, and what to call it."""

    name: str  #: for messages
    path: Path
    suffix: str  #: in lower case, without that of the packing: ".csv" for data.csv.gz

    @cached_property
    def content(self) -> bytes | mmap.mmap:
        """All bytes. They are mapped, so a file of any size is opened once and not copied."""
        with self.path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@contextmanager
def opened(source: Any, max_bytes: int | None = None) -> Iterator[Opened]:
    """A path, "-" for stdin, or an open file, as a plain file that exists for a while."""
    with temporary_folder() as folder:
        yield _unpack(_on_disk(source, folder), folder, max_bytes)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is there for a while."""
    with tempfile.TemporaryDirectory(prefix="comarkov-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _on_disk(source: Any, folder: Path) -> Opened:
    stream = sys.stdin.buffer if source == "-" else source
    if hasattr(stream, "read"):
        name = "stdin" if source == "-" else str(getattr(source, "name", "the open file"))
        with (folder / "spooled").open("wb") as file:
            file.writelines(_chunks(stream))
        return Opened(name, folder / "spooled", Path(name).suffix.lower())
    path = Path(source)
    if not path.exists():
        advice = similar_file(path) or " Check the path."
        raise FileNotFoundError(f"There is no file {str(source)!r}.{advice}")
    if path.is_dir():
        raise InputError("it is a folder", file=source, advice="Give the path of a file in it.")
    return Opened(str(source), path, path.suffix.lower())


def _unpack(file: Opened, folder: Path, max_bytes: int | None) -> Opened:
    """The file itself or, if its first bytes show that it is compressed, its content."""
    packing = _first(PACKING_MARKS, file.content[:4])
    if packing is None or file.suffix in ZIP_FORMATS:
        return file
    target, inner = folder / "unpacked", ""
    name = file.name.removesuffix(file.suffix) if file.suffix == packing else file.name
    try:
        with ExitStack() as stack:
            if packing == ".zst":
                content = _zstandard(stack.enter_context(file.path.open("rb")))
            elif packing == ".gz":
                content = _chunks(stack.enter_context(gzip.open(file.path)))
            else:
                archive = stack.enter_context(zipfile.ZipFile(file.path))
                if "xl/workbook.xml" in archive.namelist():
                    return replace(file, suffix=SPREADSHEET)
                members = [each for each in archive.namelist() if not each.endswith("/")]
                if len(members) != 1:
                    problem = f"it contains {len(members)} files"
                    advice = "Unpack it, and give one of them."
                    raise InputError(problem, file=file.name, advice=advice)
                inner = members[0]
                content = _chunks(stack.enter_context(archive.open(inner)))
            _copy(content, target, unpacking_limit(file.path, max_bytes), file.name)
    except DAMAGED as error:
        problem = f"it cannot be unpacked: {shortened(str(error)).rstrip('.')}"
        advice = "Download it again, or unpack it with another program."
        raise InputError(problem, file=file.name, advice=advice) from error
    return Opened(file.name, target, Path(inner or name).suffix.lower())


def _first(marks: Mapping[bytes, str], start: bytes) -> str | None:
    return next((what for mark, what in marks.items() if start.startswith(mark)), None)


def plain_suffix(path: Path) -> str:
    """The suffix of a file in lower case, without that of its packing: ".csv" for data.csv.gz."""
    suffix = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if suffix in PACKING_MARKS.values() else suffix


def refuse_far_cells(file: Opened, advice: str) -> None:
    """Refuse sheets with a cell far from all others: their reader makes room for all between."""
    with zipfile.ZipFile(file.path) as archive:
        for member in archive.namelist():
            content = archive.read(member)
            if b"sheetData" not in content or not FAR_CELL.search(content):
                continue
            columns, rows = zip(*CELL.findall(content), strict=True)
            height, width = max(map(int, rows)), max(map(_column, set(columns)))
            if height * width > max(MAX_EMPTY_CELLS, MAX_UNPACKED_RATIO * content.count(b"<c")):
                place = f"a cell in {height:,} rows and {width:,} columns of {member}"
                problem, how = f"{place} is far away from all others", f"Delete it. {advice}"
                raise InputError(problem, file=file.name, advice=how)


def _column(letters: bytes) -> int:
    """The number of the column with these letters: A is 1, AA is 27."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)


def unpacking_limit(path: Path, max_bytes: int | None) -> int:
    """The largest size, in bytes, that a compressed file may unpack to."""
    if max_bytes is not None:
        return max_bytes
    return max(FREE_UNPACKED_BYTES, MAX_UNPACKED_RATIO * path.stat().st_size)


def _chunks(stream: Any) -> Iterator[bytes]:
    while chunk := stream.read(COPY_CHUNK):
        yield chunk.encode() if isinstance(chunk, str) else chunk


def _zstandard(packed: IO[bytes]) -> Iterator[bytes]:
    """The content of frames; unlike the stream of the library, it detects a truncated file."""
    need("Unpacking .zst files", "zstandard")
    import zstandard

    begin = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj
    frame = begin()
    try:
        while part := (frame.unused_data if frame.eof else b"") or packed.read(2048):
            # so many bytes can unpack to 64 MB at most
            frame = begin() if frame.eof else frame
            yield frame.decompress(part)
    except zstandard.ZstdError as error:
        raise EOFError(str(error)) from error
    if not frame.eof:
        raise EOFError("it is incomplete")


def _copy(chunks: Iterable[bytes], target: Path, limit: int, name: str) -> None:
    left = limit
    with target.open("wb") as file:
        for chunk in chunks:
            left -= len(chunk)
            if left < 0:
                problem = f"it unpacks to more than {limit:,} bytes, which may be a trap"
                advice = f"If you trust it, raise the limit: max_bytes={10 * limit}"
                raise InputError(problem, file=name, advice=advice)
            file.write(chunk)


def files_in(folder: Path, hidden: tuple[str, ...] = (".",), is_noted: bool = True) -> list[Path]:
    """The files in a folder and its subfolders by path, but hidden ones and what comarkov wrote.

    Each is listed once, even if links lead to it. Links to folders are not followed.
    """
    paths: list[Path] = []
    for place, folders, names in os.walk(folder):
        shown = [name for name in folders if not name.startswith(hidden)]
        folders[:] = [name for name in shown if not is_own(Path(place, name))]
        paths += [Path(place, name) for name in names if not name.startswith(hidden)]
        paths += [path for path in (Path(place, name) for name in folders) if path.is_symlink()]
    skipped = sorted(path for path in paths if not path.is_file())
    files = sorted(set(paths) - set(skipped), key=lambda path: (path.is_symlink(), path.as_posix()))
    targets = dict(reversed([(path.resolve(), path) for path in files]))  # files, rather than links
    again = sorted(set(files) - set(targets.values()))
    for reason, left_out in (("a broken link or no file", skipped), ("read already", again)):
        if left_out and is_noted:
            warn_user(f"Skipped, because it is {reason}: {listed(left_out)}.")
    return sorted(targets.values(), key=Path.as_posix)


def is_text(content: bytes, encoding: str | None = None) -> bool:
    """Is it text, as far as its bytes show? It may be in a given encoding."""
    if content.startswith(NOT_TEXT):
        return False
    encoding = _first(BYTE_ORDER_MARKS, content) or encoding or ""
    if encoding.lower().replace("-", "").replace("_", "").startswith(("utf16", "utf32")):
        return True  # where zero bytes are normal
    controls = content.translate(None, TEXT_BYTES)
    return 0 not in controls and len(controls) <= MAX_CONTROLS * len(content)


def detect(content: bytes | mmap.mmap) -> str:
    """The encoding: by the byte order mark, UTF-8 if that fits or it is no text, else Western."""
    start = content[:COPY_CHUNK]
    encoding = _first(BYTE_ORDER_MARKS, start)
    if encoding is not None or not is_text(start):
        return encoding or "utf-8"
    return next((name for name in ("utf-8", "cp1252") if _fits(content, name)), "latin-1")


def _fits(content: bytes | mmap.mmap, encoding: str) -> bool:
    decoder, size = codecs.getincrementaldecoder(encoding)(), len(content)
    with suppress(UnicodeDecodeError):
        for begin in range(0, size, COPY_CHUNK):
            decoder.decode(content[begin : begin + COPY_CHUNK], final=begin + COPY_CHUNK >= size)
        return True
    return False


def western_note(what: str, encoding: str) -> str:
    """A note about text that was read in an encoding that is only likely."""
    return (
        f"{what} not UTF-8 and read as {WESTERN[encoding]}. If letters look wrong, set the "
        'encoding, for example encoding="latin-2".'
    )


def _chosen(encoding: str | None, content: bytes | mmap.mmap, name: str) -> str:
    """An encoding of text; if it is None it is detected, with a warning if it is only likely."""
    if encoding is None:
        encoding = detect(content)
        if encoding in WESTERN:
            warn_user(western_note(f"{name} is", encoding))
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # which refuses those of bytes, such as base64
    except LookupError as error:
        advice = 'Omit it to have it detected, or set another, such as encoding="latin-1".'
        raise InputError(f"There is no encoding {encoding!r}", advice=advice) from error
    return codecs.lookup(encoding).name


@contextmanager
def as_utf8(file: Opened, encoding: str | None) -> Iterator[Opened]:
    """A text file in UTF-8 with lines that end as everywhere: the file itself if it has these."""
    encoding = _chosen(encoding, file.content, file.name)
    is_of_old_mac = file.content.find(b"\r") >= 0 > file.content.find(b"\n")
    if encoding in ("utf-8", "utf-8-sig", "ascii") and not is_of_old_mac:
        yield file
        return
    with temporary_folder() as folder:
        target = folder / "utf-8"
        try:
            with (
                file.path.open(encoding=encoding, newline=None if is_of_old_mac else "") as source,
                target.open("w", encoding="utf-8", newline="") as copy,
            ):
                shutil.copyfileobj(source, copy, COPY_CHUNK)
        except UnicodeError as error:
            decoded(file.content[:], file.name, encoding)  # raises with the line
            raise InputError(f"it is not {encoding}: {error}", file=file.name) from error
        yield replace(file, path=target)


def decoded(content: bytes, name: str, encoding: str | None, line: int = 1) -> str:
    """A text with Unix line ends, or an error that states where it is not in this encoding.

    It begins on ``line``. If the encoding is None it is detected.
    """
    encoding = _chosen(encoding, content, name)
    try:
        text = content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(
            f"the byte 0x{content[error.start]:02x} is not {encoding}",
            file=name,
            line=line + content.count(b"\n", 0, error.start),
            advice='Set another encoding, for example encoding="latin-1".',
        ) from error
