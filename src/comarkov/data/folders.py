"""Folders that are whole or absent: written beside their place, then renamed."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from types import FrameType


@contextmanager
def whole_folder(
    path: str | os.PathLike[str],
    replace: bool = False,
    is_ours: Callable[[Path], bool] = Path.is_dir,
) -> Iterator[Path]:
    """A new folder to write into, which gets its name when all went well and vanishes otherwise.

    What is there already is replaced only if that is allowed and it is a folder that we wrote.
    """
    target = Path(os.path.abspath(path))
    refuse_to_lose(target, replace, is_ours)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = _beside(target)
    try:
        draft.mkdir()
        yield draft
        refuse_to_lose(target, replace, is_ours)
        with _undisturbed():
            _put(draft, target)
    except BaseException:
        with _undisturbed():
            shutil.rmtree(draft, ignore_errors=True)
        raise


def refuse_to_lose(target: Path, replace: bool, is_ours: Callable[[Path], bool]) -> None:
    """An error if something is there that must stay, or that nothing can be put into."""
    for parent in target.parents:
        if parent.exists() and not parent.is_dir():
            raise NotADirectoryError(f"{parent} is a file, so that {target} cannot be written.")
    if not os.path.lexists(target) or _is_empty_folder(target):
        return
    if not replace:
        raise FileExistsError(f"{target} exists already, and is left as it is.")
    if target.is_symlink() or not is_ours(target):
        raise FileExistsError(f"{target} was not written by comarkov, and is left as it is.")


def check_place(target: Path) -> None:
    """An error if nothing can be written beside the target: better now than after the work."""
    parent = next(folder for folder in target.parents if folder.exists())
    with TemporaryFile(dir=parent):  # without a name where the system can: nothing to leave behind
        pass
    with suppress(FileNotFoundError):  # but not a name that is too long
        (parent / _beside(target).name).lstat()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until the step within is done."""
    previous = signal.getsignal(signal.SIGINT)
    if previous is None or threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted; a handler that is not Python's stays
        return
    pressed = False

    def on_interrupt(signum: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pressed:
        signal.raise_signal(signal.SIGINT)


def _put(draft: Path, target: Path) -> None:
    """Give the draft its name; what had it before is gone only when the draft has it."""
    if not target.exists() or _is_empty_folder(target):
        draft.rename(target)
        return
    old = _beside(target)
    target.rename(old)
    try:
        draft.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _beside(target: Path) -> Path:
    """A name that nobody has, in the same folder, so that renaming is one step."""
    return target.with_name(f".{target.name}.{token_hex(4)}.part")


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
