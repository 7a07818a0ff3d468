"""Files and folders that are written atomically: all of them or nothing.

Content is written to a draft beside the target, ``.NAME.TOKEN.part``, which is then renamed.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

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
ABANDONED_AFTER = 86_400  # seconds; the process that wrote such a draft was killed


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
        raise InputError(
            "comarkov wrote this folder without the data that were clustered",
            file=folder,
            advice="Give the file or folder that they were read from.",
        )
    return path


@contextmanager
def errors_in_json(path: Path) -> Iterator[None]:
    """Name a JSON file that comarkov wrote if reading it fails, or if parts are of other types."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            "the file is damaged",
            file=path,
            advice="Write the results again with the command that made them.",
        ) from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file that comarkov wrote."""
    with errors_in_json(path):
        return dict(**json.loads(path.read_text(encoding="utf-8")))


# --- files --------------------------------------------------------------------------------------


@contextmanager
def whole_file(path: AnyPath) -> Iterator[Path]:
    """A draft to write to, which replaces the file if all went well, and is removed otherwise.

    A link is followed to the file that it names. A file that is there keeps its permissions.
    Devices, pipes and /dev/stdout get the content of the draft.
    """
    if os.fspath(path) in STREAMS or _is_device(Path(path)):
        with TemporaryDirectory(prefix="comarkov-") as folder:
            draft = Path(folder) / "draft"
            draft.touch()
            yield draft
            with draft.open("rb") as content, _open_device(os.fspath(path)) as device:
                shutil.copyfileobj(content, device)
        return
    target = linked_file(path)
    mode = draft_mode(target, 0o666)
    with _draft_beside(target) as draft:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield draft
        with delayed():
            _settle(draft, target)
            draft.replace(target)


def write_text(path: AnyPath, text: str) -> None:
    """Write a text file in UTF-8, atomically, with the line ends that the text has."""
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def linked_file(path: AnyPath) -> Path:
    """The file that a path names behind all links; an error if no file can be written there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    return target


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _open_device(path: str) -> IO[bytes]:
    """A device or a pipe, or the end of what standard output is connected to."""
    sys.stdout.flush()  # what was printed before comes first
    is_open = path in STREAMS
    return os.fdopen(os.dup(STREAMS[path]) if is_open else os.open(path, os.O_WRONLY), "wb")


# --- folders ------------------------------------------------------------------------------------


@contextmanager
def whole_folder(
    path: AnyPath, replace: bool = False, is_ours: IsOurs = Path.is_dir
) -> Iterator[Path]:
    """A new folder to write into, which gets its name if all went well, and is removed otherwise.

    An existing folder is replaced only if that is allowed and comarkov wrote it.
    """
    target = free_place(path, replace, is_ours)
    mode = draft_mode(target, 0o777)
    with _draft_beside(target) as draft:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.mkdir(mode)
        yield draft
        with delayed():
            put_folder(draft, target, replace, is_ours)


def free_place(
    path: AnyPath, replace: bool, is_ours: IsOurs, force: str = "overwrite=True"
) -> Path:
    """The absolute path of a folder; an error before the work if it cannot or must not be written.

    ``force`` is how a caller allows to replace a folder.
    """
    target = Path(os.path.abspath(path))
    parent = next(folder for folder in target.parents if folder.exists())
    try:
        TemporaryFile(dir=parent).close()  # without a name where the system can
    except (PermissionError, NotADirectoryError) as error:
        raise type(error)(f"{target} cannot be written ({parent}: {error.strerror}).") from error
    with suppress(FileNotFoundError):  # but not a name that is too long
        (parent / target.name).lstat()
    is_empty = False
    with suppress(FileNotFoundError):  # another process may replace it now
        is_empty = target.is_dir() and not target.is_symlink() and not any(target.iterdir())
    if not os.path.lexists(target) or is_empty:
        return target
    is_known = not target.is_symlink() and is_ours(target)
    if not is_known and os.path.lexists(target):
        fact = "holds other data of comarkov" if is_own(target) else "was not written by comarkov"
        raise FileExistsError(f"{target} {fact}, and is not replaced. Choose another path.")
    if is_known and not replace:
        raise FileExistsError(
            f"{target} exists already. Replace it with {force}, or choose another path."
        )
    return target


def put_folder(draft: Path, target: Path, replace: bool, is_ours: IsOurs) -> None:
    """Give the draft its name; a folder of that name is deleted only after that.

    If several processes do so at the same time, the last one replaces the others.
    """
    _settle(draft, target)
    replaced: list[Path] = []
    while True:
        free_place(target, replace, is_ours)
        try:
            draft.rename(target)
            break
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                if replaced and not target.exists():
                    replaced[-1].rename(target)
                raise
        with suppress(FileNotFoundError):
            replaced.append(target.rename(draft.with_suffix(f".old{len(replaced)}")))
    for old in replaced:
        shutil.rmtree(old, ignore_errors=True)


# --- drafts -------------------------------------------------------------------------------------


@contextmanager
def _draft_beside(target: Path) -> Iterator[Path]:
    """The path of a new draft, which is removed if anything fails; errors name the target."""
    start = f".{target.name[:50]}."
    draft = target.with_name(f"{start}{token_hex(8)}.part")  # cannot be guessed
    with room_for(target):
        for path in target.parent.glob(f"{escape(start)}*.part"):
            with suppress(FileNotFoundError):  # its process has finished
                if path.lstat().st_mtime < time.time() - ABANDONED_AFTER:
                    _remove(path)
        try:
            yield draft
        except BaseException as error:
            with delayed():
                _remove(draft)
            if isinstance(error, OSError) and str(error.filename).startswith(str(draft)):
                place = str(target) + str(error.filename).removeprefix(str(draft))
                raise OSError(error.errno, error.strerror, place) from error
            raise


def _remove(path: Path) -> None:
    """Remove a file or a folder, if that is possible."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


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


def draft_mode(target: Path, default: int) -> int:
    """The permissions of a new draft: the owner's alone until it gets those of an old file."""
    if not target.exists():
        return default
    if not os.access(target, os.W_OK) and target.exists():  # else another process replaces it now
        raise PermissionError(f"{target} is read-only. Choose another path, or make it writable.")
    return default & 0o700


def _settle(draft: Path, target: Path) -> None:
    """Before a draft replaces something: its permissions, and all content is on the disk."""
    if target.exists():
        with suppress(FileNotFoundError):  # another process may replace it now
            shutil.copymode(target, draft)
        for path in (draft, *draft.rglob("*")):
            if path.is_file():
                with path.open("rb+") as file:
                    os.fsync(file.fileno())
