"""Encodings of text: detected from the bytes of a file, unless the user names one."""

from __future__ import annotations

import codecs
import io
from pathlib import Path

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
