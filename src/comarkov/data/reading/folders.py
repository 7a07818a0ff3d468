"""Folders of texts: each file is a document, and the subfolders are known classes."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..own_folders import is_own
from ..user_warnings import warn_user
from .encodings import TITLES, advice, detect, is_text
from .opening import Opened, as_utf8, decoded
from .texts import Documents


def read_folder(folder: Path, encoding: str | None) -> Documents:
    """All texts in a folder and its subfolders, in the order of their paths, which are their names.

    Hidden files and the results of comarkov are ignored. Files that are not text are skipped, and a
    note reports how many; so does one about files that are not UTF-8 if no encoding is set.
    """
    names, texts, skipped, western = [], [], [], []
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        content = path.read_bytes()
        if not is_text(content, encoding):
            skipped.append(name)
            continue
        own = encoding or detect(content)
        if encoding is None and own in TITLES:
            western.append(own)
        names.append(name)
        texts.append(as_document(decoded(content, str(path), own)))
    if not names:
        raise ValueError(_empty(folder, skipped))
    if skipped:
        count = _some(len(skipped), len(skipped) + len(names))
        warn_user(
            f"{count} not text and {'was' if len(skipped) == 1 else 'were'} skipped: "
            f"{', '.join(skipped[:3])}{' and others' if len(skipped) > 3 else ''}."
        )
    if western:
        most = max(TITLES, key=western.count)
        warn_user(advice(_some(len(western), len(names)), most))
    return Documents(names, texts, folder_classes(names))


def names_in(folder: Path) -> list[str]:
    """The paths of all texts in a folder, relative to it: those that ``read_folder`` reads."""
    return [path.relative_to(folder).as_posix() for path in _files(folder) if _holds_text(path)]


def _holds_text(path: Path, encoding: str | None = None) -> bool:
    with path.open("rb") as start:
        return is_text(start.read(1 << 16), encoding)


def read_document(file: Opened, encoding: str | None) -> Documents:
    """One file as one text."""
    if not _holds_text(file.path, encoding):
        raise ValueError(f"{file.name} is not text. Convert it to plain text (.txt) first.")
    with as_utf8(file, encoding) as plain:
        text = decoded(plain.path.read_bytes(), file.name, "utf-8")
    return Documents([file.name], [as_document(text)], {})


def as_document(text: str) -> str:
    """A text with the line ends of Unix."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _files(folder: Path) -> Iterator[Path]:
    """All files that are neither hidden nor written by comarkov, in the order of their paths."""
    paths: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith(".") and not is_own(Path(place, name))
        ]
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    yield from sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


def _some(count: int, of: int) -> str:
    if of == 1:
        return "The only file is"
    return f"{count:,} of {of:,} files {'is' if count == 1 else 'are'}"


def _empty(folder: Path, skipped: Sequence[str]) -> str:
    if not skipped:
        return f"{folder} contains no files. Give a folder of text files, or one file."
    count = len(skipped)
    example = f"1 file, {skipped[0]}" if count == 1 else f"{count:,} files such as {skipped[0]}"
    return f"{folder} contains no text, only {example}. Convert to plain text (.txt) first."


def folder_classes(names: Sequence[str]) -> dict[str, np.ndarray]:
    """Known classes from the paths of files: the names of the folders that they are in.

    "folder" is the folder of the first level on which paths differ, "subfolder" the one in it.
    """
    folders = [name.split("/")[:-1] for name in names]
    levels = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*folders, strict=False))
    shared = len(list(levels))
    classes = {
        title: np.array([(folder[shared + depth :] or [""])[0] for folder in folders], object)
        for depth, title in enumerate(("folder", "subfolder"))
    }
    return {title: listed for title, listed in classes.items() if len(set(listed) - {""}) > 1}
