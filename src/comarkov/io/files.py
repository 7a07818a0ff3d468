"""Files and folders that are written atomically: all of them or nothing.

Content is written to a draft beside the target, ``.NAME.TOKEN.part``, which is then renamed.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tokenize
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from ..joint.messages import InputError
from .interrupts import delayed

TREE, ARRAYS = "model.json", "arrays.npz"  # in the folder of a model
MODEL, SUMMARY = "model", "summary.json"  # in a folder of results
DATA_FILE = "data.npz"  # in a folder of results, too, unless it is one of several types
REFERENCE = "data.json"  # instead of it, the place of a large store
STORE = "store.json"  # in a store of data

AnyPath = str | os.PathLike[str]
IsOurs = Callable[[Path], bool]
STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
#: What NumPy raises, beside ValueError, for the header of an array that is not Python.
BAD_HEADER = (tokenize.TokenError, SyntaxError)


def is_model(folder: Path) -> bool:
    """Is there a model in a folder?"""
    return (folder / TREE).is_file() and (folder / ARRAYS).is_file()


def is_results(folder: Path) -> bool:
    """Are there results in a folder, with their model?"""
    return (folder / SUMMARY).is_file() and is_model(folder / MODEL)


def is_store(folder: Path) -> bool:
    """Is the folder a store of data?"""
    return (folder / STORE).is_file()


def is_own(folder: Path) -> bool:
    """Did comarkov write the folder?"""
    return is_model(folder) or is_results(folder) or is_store(folder)


def data_in(folder: Path) -> Path:
    """The file with the data of a folder that comarkov wrote; an error if there is none."""
    path = (folder.parent if is_results(folder.parent) else folder) / DATA_FILE
    if not path.is_file():
        problem = "comarkov wrote this folder without the data that were clustered"
        advice = "Give the file or folder that they were read from."
        raise InputError(problem, file=folder, advice=advice)
    return path


@contextmanager
def errors_in_json(path: Path) -> Iterator[None]:
    """Name a JSON file that comarkov wrote if reading it fails, or if parts are of other types."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        advice = "Write the results again with the command that made them."
        raise InputError("the file is damaged", file=path, advice=advice) from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file that comarkov wrote."""
    with errors_in_json(path):
        return dict(**json.loads(path.read_text(encoding="utf-8")))


@contextmanager
def whole_file(path: AnyPath) -> Iterator[Path]:
    """A draft to write to, which replaces the file if all went well, and is removed otherwise.

    A link is followed to the file that it names. A file that is there keeps its permissions.
    Devices, pipes and /dev/stdout get the content of the draft.
    """
    stream = STREAMS.get(os.fspath(path))
    is_plain = os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)
    if stream is not None or not is_plain:
        with TemporaryDirectory(prefix="comarkov-") as folder:
            draft = Path(folder) / "draft"
            yield draft
            sys.stdout.flush()  # what was printed before comes first
            device = os.open(path, os.O_WRONLY) if stream is None else os.dup(stream)
            with draft.open("rb") as content, os.fdopen(device, "wb") as file:
                shutil.copyfileobj(content, file)
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{target} is read-only. Choose another path, or make it writable.")
    with _draft_of(target) as draft:
        draft.touch(0o600 if target.exists() else 0o666)
        yield draft
        with delayed():
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file in UTF-8, atomically, with the line ends that the text has."""
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


@contextmanager
def whole_folder(
    path: AnyPath, replace: bool = False, is_ours: IsOurs = Path.is_dir
) -> Iterator[Path]:
    """A new folder to write into, which gets its name if all went well, and is removed otherwise.

    An existing folder is replaced only if that is allowed and comarkov wrote it; it is deleted
    after the new one has its name.
    """
    target = free_place(path, replace, is_ours)
    with _draft_of(target) as draft:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.mkdir(0o700 if target.exists() else 0o777)
        yield draft
        with delayed():
            free_place(target, replace, is_ours)
            old = draft.with_suffix(".old")
            if target.exists():
                shutil.copymode(target, draft)
                target.rename(old)
            try:
                draft.rename(target)
            except OSError:
                if old.exists() and not target.exists():
                    old.rename(target)
                raise
            finally:
                shutil.rmtree(old, ignore_errors=True)


def free_place(
    path: AnyPath, replace: bool, is_ours: IsOurs, force: str = "overwrite=True"
) -> Path:
    """The absolute path of a folder; an error before the work if it cannot or must not be written.

    ``force`` is how a caller allows to replace a folder.
    """
    target = Path(os.path.abspath(path))
    parent = next(folder for folder in target.parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise PermissionError(f"{target} cannot be written: {parent} is not a writable folder.")
    with suppress(FileNotFoundError):  # but not a name that is too long
        (parent / target.name).lstat()
    if not os.path.lexists(target):
        return target
    is_link = target.is_symlink()
    if target.is_dir() and not is_link and not any(target.iterdir()):
        return target
    if is_link or not is_ours(target):
        fact = "holds other data of comarkov" if is_own(target) else "was not written by comarkov"
        raise FileExistsError(f"{target} {fact}, and is not replaced. Choose another path.")
    if not replace:
        raise FileExistsError(
            f"{target} exists already. Replace it with {force}, or choose another path."
        )
    return target


@contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """The path of a new draft, which is removed if anything fails; errors name the target."""
    draft = target.with_name(f".{target.name[:50]}.{token_hex(8)}.part")  # cannot be guessed
    try:
        with room_for(target):
            yield draft
    except BaseException as error:
        with delayed():
            shutil.rmtree(draft, ignore_errors=True)
            with suppress(OSError):
                draft.unlink()
        if isinstance(error, OSError) and str(error.filename).startswith(str(draft)):
            place = str(error.filename).replace(str(draft), str(target))
            raise OSError(error.errno, error.strerror, place) from error
        raise


@contextmanager
def room_for(target: Path) -> Iterator[None]:
    """Name the target if the disk is full; the system's own error may name a draft, or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        full = f"There is no room on the disk for {target}. Free some, or choose another path."
        raise OSError(error.errno, full) from None
