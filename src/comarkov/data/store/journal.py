"""A draft that survives an interruption: what is done is noted, and not done again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..interrupts import delayed
from ..writing import draft_mode, put_folder, refuse_to_lose, room_for

JOURNAL, LOCK = "journal.jsonl", "lock"


class Journal(NamedTuple):
    """A draft folder, and the steps in it that are complete."""

    folder: Path
    steps: dict[str, Any]  #: what is known about each complete step

    def note(self, step: str, about: Any = None) -> None:
        """Note that a step is complete; its files are on the disk already."""
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(json.dumps([step, about]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.steps[step] = about


def draft_of(target: Path) -> Path:
    """Where the draft of a folder is, again and again."""
    return target.with_name(f".{target.name[:200]}.packing")


def has_draft(path: str | os.PathLike[str]) -> bool:
    """Is there a draft that can be continued?"""
    return (draft_of(Path(os.path.abspath(path))) / JOURNAL).is_file()


@contextmanager
def resumable_folder(
    target: Path, replace: bool, is_ours: Callable[[Path], bool], task: Any
) -> Iterator[Journal]:
    """A draft to write into, which gets the name of the target if all went well.

    If the work is interrupted or the disk is full, the draft stays, and the same ``task``
    continues it. If the work fails for another reason, it is removed.
    """
    draft, mode = draft_of(target), draft_mode(target, 0o777)
    with room_for(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            draft.mkdir(mode)
    with room_for(target), _locked(draft):
        journal = _continued(draft, json.loads(json.dumps(task)))
        try:
            yield journal
            refuse_to_lose(target, replace, is_ours)
        except (KeyboardInterrupt, OSError, MemoryError):
            raise
        except BaseException:
            with delayed():
                shutil.rmtree(draft, ignore_errors=True)
            raise
        with delayed():
            (draft / JOURNAL).unlink()
            (draft / LOCK).unlink()
            put_folder(draft, target)


def _continued(draft: Path, task: Any) -> Journal:
    """The journal of a draft; a new one, in an empty folder, if it is that of another task."""
    steps: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        for line in (draft / JOURNAL).read_text(encoding="utf-8").splitlines():
            step, about = json.loads(line)  # the last may be incomplete
            steps[step] = about
    if steps.get("task") == task:
        return Journal(draft, steps)
    for path in draft.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
    journal = Journal(draft, {})
    journal.note("task", task)
    return journal


@contextmanager
def _locked(draft: Path) -> Iterator[None]:
    """Refuse to write into a draft that another process writes into."""
    try:
        import fcntl
    except ImportError:  # Windows, which has no such locks
        (draft / LOCK).touch()
        yield
        return
    with (draft / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BlockingIOError(
                f"{draft} is being written by another process. Wait for it, or choose another path."
            ) from None
        yield
