"""Damage: of bytes, of the words and lines of a text, and of the members of a zip file."""

import io
import random
import zipfile
from collections.abc import Callable

Change = Callable[[random.Random, bytearray], bytearray]
NUMBERS = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1]
WORDS = [
    *(b"", b"NaN", b"inf", b"-1", b"0", b"1e999", b"1e-320", b"99999999999999999999", b"null"),
    *(b"\0", b'"', b"'", b",", b"\t", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x80\xae"),
    *(b"\x1b[31m", b"\x07", b"{", b"[" * 5000, b"x" * 5000, b"=1+1", b"%", b"../../etc/passwd"),
]


def mutate(chance: random.Random, content: bytes) -> bytes:
    """The content with one to four changes; half of the zip files are changed inside."""
    if content[:4] == b"PK\3\4" and chance.random() < 0.5:
        inside = _member(chance, content)
        if inside is not None:
            return inside
    changed = bytearray(content)
    changes = TEXT if b"\0" not in content and chance.random() < 0.7 else BYTES
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        changed = chance.choice(changes)(chance, changed)
    return bytes(changed)


def _member(chance: random.Random, content: bytes) -> bytes | None:
    """A zip file with sound checksums, one of whose members is damaged."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w") as copy:
        if not source.infolist():
            return None
        chosen = chance.choice(source.infolist())
        for info in source.infolist():
            inner = source.read(info)
            copy.writestr(info, mutate(chance, inner) if info is chosen else inner)
    return target.getvalue()


def _span(chance: random.Random, content: bytearray) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + int(2 ** chance.uniform(0, 10)))


def _set_byte(chance: random.Random, content: bytearray) -> bytearray:
    if content:
        content[chance.randrange(len(content))] = chance.randrange(256)
    return content


def _flip(chance: random.Random, content: bytearray) -> bytearray:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content


def _set_number(chance: random.Random, content: bytearray) -> bytearray:
    size = chance.choice([1, 2, 4, 8])
    start = chance.randrange(max(1, len(content) - size))
    number = chance.choice(NUMBERS) % 256**size
    content[start : start + size] = number.to_bytes(size, chance.choice(["little", "big"]))
    return content


def _delete(chance: random.Random, content: bytearray) -> bytearray:
    start, end = _span(chance, content)
    del content[start:end]
    return content


def _repeat(chance: random.Random, content: bytearray) -> bytearray:
    start, end = _span(chance, content)
    content[start:start] = content[start:end] * chance.choice([1, 2, 50])
    return content


def _noise(chance: random.Random, content: bytearray) -> bytearray:
    start, end = _span(chance, content)
    content[start:end] = chance.randbytes(end - start)
    return content


def _truncate(chance: random.Random, content: bytearray) -> bytearray:
    return content[: chance.randrange(len(content) + 1)]


def _set_word(chance: random.Random, content: bytearray) -> bytearray:
    """Replace what is between two separators."""
    start = chance.randrange(len(content) + 1)
    ends = [place for mark in b",\t\n :" if (place := content.find(mark, start)) >= 0]
    content[start : min(ends, default=len(content))] = chance.choice(WORDS)
    return content


def _shuffle_lines(chance: random.Random, content: bytearray) -> bytearray:
    """Delete, repeat, move or join a line."""
    lines = bytes(content).split(b"\n")
    place = chance.randrange(len(lines))
    line = lines.pop(place)
    copies = chance.choice([0, 1, 2])
    other = chance.randrange(len(lines) + 1)
    lines[other:other] = [line] * copies
    return bytearray(chance.choice([b"\n", b"\n", b"\n", b"\r", b"\r\n"]).join(lines))


BYTES: list[Change] = [_set_byte, _flip, _set_number, _delete, _repeat, _noise, _truncate]
TEXT: list[Change] = [_set_word, _set_word, _shuffle_lines, *BYTES]
