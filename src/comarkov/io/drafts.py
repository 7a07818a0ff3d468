"""Drafts of files and folders: where they are, who owns them, and how they get their names.

A process keeps a lock on its draft. The system releases the lock when the process ends, however it
ends, so that the next one recognises a draft that nobody will finish, and removes it.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers


@contextmanager
def handling_interrupts(handler: Handler, unless_handled: bool = False) -> Iterator[None]:
    """Let ``handler`` answer Ctrl-C within; afterwards the previous handler does so again.

    Nothing changes outside the main thread, which alone may set handlers, or if the previous
    handler was not set from Python, which could not restore it. With ``unless_handled`` any
    handler but Python's default stays, too: somebody else has set it.
    """
    previous = signal.getsignal(signal.SIGINT)
    is_handled = unless_handled and previous is not signal.default_int_handler
    is_main = threading.current_thread() is threading.main_thread()
    if previous is None or is_handled or not is_main:
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def delayed() -> Iterator[None]:
    """Let Ctrl-C wait until the step within is done, or has failed."""
    is_pressed = False

    def remember(signum: int, frame: FrameType | None) -> None:
        nonlocal is_pressed
        is_pressed = True

    try:
        with handling_interrupts(remember):
            yield
    finally:
        if is_pressed:
            signal.raise_signal(signal.SIGINT)


class _Last:
    """The last signal that asked this process to end."""

    number = int(signal.SIGINT)


def end_like_ctrl_c() -> None:
    """Let the signals by which systems end programs do what Ctrl-C does.

    Signals that are ignored, as by nohup, or handled by somebody else stay so.
    """

    def forward(signum: int, frame: FrameType | None) -> None:
        _Last.number = signum
        signal.raise_signal(signal.SIGINT)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has not all of them
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, forward)


def ended() -> tuple[str, int]:
    """What to print after Ctrl-C or another request to end, and the exit code, as of shells."""
    word = "Interrupted." if _Last.number == signal.SIGINT else "Terminated."
    return word, 128 + _Last.number


if sys.platform != "win32":  # which has no such locks: there drafts of killed processes stay
    import fcntl

TOKEN = 8  # bytes of a name that cannot be guessed
NAME = 50  # characters of the target in the names of its drafts
PART, OLD = "part", "old"  # a draft; a folder whose name its successor is about to get
CONTENT = "content"  # the file in a draft of a file
ATTEMPTS, PAUSE = 50, 0.01  # to lock a folder that another process has locked; seconds
HERE, EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def draft_of(target: Path, mode: int) -> Iterator[Path]:
    """A new folder beside the target that is removed if anything fails; errors name the target."""
    draft = beside(target, PART)
    is_there = False
    with ExitStack() as stack:
        try:
            with delayed(), _locked_folder(target.parent):
                clean(target)
                draft.mkdir(mode)
                is_there = True
                _lock(draft, stack)
            yield draft
        except BaseException as error:
            if is_there:
                with delayed():
                    remove(draft)
            if isinstance(error, OSError) and str(error.filename).startswith(str(draft)):
                place = str(target) + str(error.filename).removeprefix(str(draft))
                place = place.removesuffix(f"/{CONTENT}")
                raise OSError(error.errno, error.strerror, place) from error
            raise


@contextmanager
def draft_of_file(target: Path) -> Iterator[Path]:
    """The path of a draft in a folder of its own: libraries lock the files that they write."""
    with draft_of(target, 0o700) as folder:
        yield folder / CONTENT
        with delayed():
            remove(folder)


def beside(target: Path, kind: str) -> Path:
    """A unique name that cannot be guessed, in the same folder, so that renaming is one step."""
    return target.with_name(f".{target.name[:NAME]}.{token_hex(TOKEN)}.{kind}")


def clean(target: Path) -> None:
    """Remove drafts of processes that were killed; restore a folder that lost its name then."""
    name = re.escape(target.name[:NAME])
    form = re.compile(rf"\.{name}\.[0-9a-f]{{{2 * TOKEN}}}\.({PART}|{OLD})")
    for path in _entries(target.parent):
        match = form.fullmatch(path.name)
        if match is None or not _is_abandoned(path):
            continue
        if match[1] == OLD and not os.path.lexists(target):
            path.rename(target)
        else:
            remove(path)


def swap(draft: Path, target: Path) -> None:
    """Exchange the names of a draft and of the folder that it replaces, which is then removed.

    Where the system can do that in one step, there is always a complete folder of this name. If
    not, and the process is killed between two steps, ``clean`` gives the old folder its name back.
    """
    old = draft
    if not _exchange(draft, target):
        old = beside(target, OLD)
        with _locked_folder(target.parent):
            target.rename(old)
            try:
                draft.rename(target)
            except BaseException:
                old.rename(target)
                raise
    shutil.rmtree(old, ignore_errors=True)


def remove(draft: Path) -> None:
    """Remove a file or a folder, if that is possible."""
    if draft.is_dir() and not draft.is_symlink():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink()


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False if the system cannot."""
    rename = getattr(_libc(), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)


def _libc() -> ctypes.CDLL | None:
    """The C library, unless it is none whose functions have these names and arguments."""
    try:
        return ctypes.CDLL(None) if os.name == "posix" else None
    except OSError:
        return None


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_abandoned(path: Path) -> bool:
    """Does a draft belong to this user, and to no process?"""
    with ExitStack() as stack:
        descriptor = _opened(path, stack)
        if descriptor is None or os.fstat(descriptor).st_uid != os.geteuid():
            return False
        return _is_locked_by_us(descriptor)


def _lock(draft: Path, stack: ExitStack) -> None:
    """Lock a draft until the stack is closed."""
    descriptor = _opened(draft, stack)
    if descriptor is not None:
        _is_locked_by_us(descriptor)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Let no other process look for abandoned drafts while one is made but not locked yet.

    Somebody else may lock the folder for long. Then nobody waits.
    """
    with ExitStack() as stack:
        descriptor = _opened(folder, stack)
        for _ in range(ATTEMPTS):
            if descriptor is None or _is_locked_by_us(descriptor):
                break
            time.sleep(PAUSE)
        yield


def _opened(path: Path, stack: ExitStack) -> int | None:
    """A file or folder, but nothing behind a link; None if it cannot be opened, or not locked."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    stack.callback(os.close, descriptor)
    return descriptor


def _is_locked_by_us(descriptor: int) -> bool:
    """Lock an open file; False if somebody else has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
