"""Files and folders that are written atomically: all of them or nothing."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from .drafts import delayed, draft_of, draft_of_file, swap

TREE, ARRAYS = "model.json", "arrays.npz"  # in the folder of a model
MODEL, SUMMARY = "model", "summary.json"  # in a folder of results
DATA = "data.npz"  # in a folder of results, too, unless it is one of several types
REFERENCE = "data.json"  # instead of it, the place of a large store
STORE = "store.json"  # in a store of data


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
    path = (folder.parent if is_results(folder.parent) else folder) / DATA
    if not path.is_file():
        raise ValueError(
            f"{folder} was written by comarkov, but without the data that were clustered. Give the "
            "file or folder that they were read from."
        )
    return path


MOST_LINKS = 40  # from one to the next, as on Linux
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)  # which Windows does not have


# --- files --------------------------------------------------------------------------------------


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft to write to, which replaces the file if all went well, and is removed otherwise.

    A link is followed to the file that it names. A file that is there keeps its permissions.
    Devices, pipes and open files, such as /dev/stdout, get the content of the draft.
    """
    target = linked_file(path)
    if _is_stream(target):
        with TemporaryDirectory(prefix="comarkov-") as folder:
            draft = Path(folder) / "draft"
            draft.touch()
            yield draft
            _copy(draft, target)
        return
    mode = draft_mode(target, 0o666)
    with room_for(target), draft_of_file(target) as draft:
        _create(draft, mode)
        yield draft
        with delayed():
            put_file(draft, target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, atomically, with the line ends that the text has."""
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def put_file(draft: Path, target: Path) -> None:
    """Give a draft the name of a file, whose permissions it takes if there is one."""
    _keep_permissions(draft, target)
    draft.replace(target)


def no_link(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
    """Open a file itself, never one that a link leads to: the ``opener`` of Python's open."""
    return os.open(path, flags | NO_FOLLOW, mode)


def linked_file(path: str | os.PathLike[str]) -> Path:
    """The file that a path names behind all links, if a file can be written there.

    Links of /dev/stdout and the like end at the open file, whatever that is connected to.
    """
    place = Path(path)
    for _ in range(MOST_LINKS):
        parent = Path(os.path.realpath(place.parent))
        if parent.exists() and not parent.is_dir():
            raise NotADirectoryError(
                f"{path} cannot be written: {parent} is a file. Choose another path."
            )
        if not parent.exists():
            raise FileNotFoundError(
                f"{path} cannot be written: there is no folder {parent}. Create it first."
            )
        place = parent / place.name
        if _is_open_file(place) or not place.is_symlink():
            break
        place = parent / place.readlink()
    else:
        raise OSError(f"{path} cannot be written: its links form a circle. Choose another path.")
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the name of a file.")
    return place


def _is_open_file(place: Path) -> bool:
    """Is it one of the open files of this process? The path of its folder contains no links."""
    folders = ("/dev/fd", f"/proc/{os.getpid()}/fd")
    return str(place.parent) in folders and os.path.lexists(place)


def _create(draft: Path, mode: int) -> None:
    """An empty file where there was nothing, not even a link."""
    os.close(no_link(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _is_stream(target: Path) -> bool:
    """Is it something to write to rather than to replace?"""
    return _is_open_file(target) or (target.exists() and not target.is_file())


def _copy(draft: Path, target: Path) -> None:
    """Write a draft to a device or a pipe, or to the end of an open file."""
    with draft.open("rb") as source, os.fdopen(_descriptor(target), "wb") as stream:
        shutil.copyfileobj(source, stream)


def _descriptor(target: Path) -> int:
    if not _is_open_file(target):
        return os.open(target, os.O_WRONLY)
    sys.stdout.flush()  # what was printed before comes first
    return os.dup(int(target.name))


# --- folders ------------------------------------------------------------------------------------


@contextmanager
def whole_folder(
    path: str | os.PathLike[str],
    replace: bool = False,
    is_ours: Callable[[Path], bool] = Path.is_dir,
) -> Iterator[Path]:
    """A new folder to write into, which gets its name if all went well, and is removed otherwise.

    An existing folder is replaced only if that is allowed and comarkov wrote it.
    """
    target = free_place(path, replace, is_ours)
    mode = draft_mode(target, 0o777)
    with room_for(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target, mode) as draft:
            yield draft
            refuse_to_lose(target, replace, is_ours)
            with delayed():
                put_folder(draft, target)


def free_place(
    path: str | os.PathLike[str], replace: bool, is_ours: Callable[[Path], bool]
) -> Path:
    """The absolute path of a folder that may be written; an error with advice if it may not."""
    target = Path(os.path.abspath(path))
    try:
        refuse_to_lose(target, replace, is_ours)
    except NotOursError as error:
        raise NotOursError(f"{error} Choose another path.") from None
    except FileExistsError as error:
        raise FileExistsError(f"{error} Set overwrite=True, or choose another path.") from None
    return target


class NotOursError(FileExistsError):
    """There is something that comarkov never replaces."""


def refuse_to_lose(target: Path, replace: bool, is_ours: Callable[[Path], bool]) -> None:
    """An error if the target exists and must not be replaced, or if a parent is a file."""
    for parent in target.parents:
        if parent.exists() and not parent.is_dir():
            raise NotADirectoryError(
                f"{target} cannot be written: {parent} is a file. Choose another path."
            )
    if not os.path.lexists(target) or _is_empty_folder(target):
        return
    if target.is_symlink() or not is_ours(target):
        fact = "holds other data of comarkov" if is_own(target) else "was not written by comarkov"
        raise NotOursError(f"{target} {fact}, and is not replaced.")
    if not replace:
        raise FileExistsError(f"{target} exists already.")


@contextmanager
def room_for(target: Path) -> Iterator[None]:
    """Say so in words if the disk is full; the system's own error may name a draft, or nothing."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        full = f"There is no room on the disk for {target}. Free some, or choose another path."
        raise OSError(error.errno, full) from None


def check_place(target: Path) -> None:
    """An error if the folder of the target cannot be written: before the work, not after it."""
    parent = next(folder for folder in target.parents if folder.exists())
    try:
        TemporaryFile(dir=parent).close()  # without a name where the system can
    except PermissionError as error:
        raise PermissionError(
            f"{target} cannot be written: you have no permission to write into {parent}. Choose "
            "another path."
        ) from error
    with suppress(FileNotFoundError):  # but not a name that is too long
        (parent / target.name).lstat()


def put_folder(draft: Path, target: Path) -> None:
    """Give the draft its name; a folder of that name is deleted only after that."""
    _keep_permissions(draft, target)
    if not target.exists() or _is_empty_folder(target):
        draft.rename(target)
        return
    swap(draft, target)


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


# --- permissions ----------------------------------------------------------------------------------


def draft_mode(target: Path, default: int) -> int:
    """The permissions of a new draft: only those who may read the old file may read it."""
    if not target.exists():
        return default
    if not os.access(target, os.W_OK):
        raise PermissionError(f"{target} is read-only. Choose another path, or make it writable.")
    return _permissions(target) | default & 0o700


def _keep_permissions(draft: Path, target: Path) -> None:
    if target.exists():
        draft.chmod(_permissions(target))


def _permissions(target: Path) -> int:
    return stat.S_IMODE(target.stat().st_mode) & 0o777
