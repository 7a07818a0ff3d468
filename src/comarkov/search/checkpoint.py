"""Checkpoints: the best clustering of a search so far in a file, from which a search can go on."""

from __future__ import annotations

import json
import os
import threading
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from ..io.files import whole_file
from ..joint.joint import Joint
from ..joint.messages import InputError

TIMES_BETWEEN_WRITES = 20  # the time that a write takes, so that writing takes little of all
LABEL_PARTS = ("rows", "columns")  # of a checkpoint


class Chosen(NamedTuple):
    """Numbers of clusters that were chosen, and the evidence."""

    numbers: tuple[int, int]
    table: np.ndarray
    reason: str


class Checkpoint:
    """A file with the choices and the best labels of a search on some data.

    It is written atomically, after a sweep that reaches the lowest cost so far, but not so often
    that it takes much time. A search that is stopped early writes the labels that it returns.
    """

    def __init__(
        self, path: str | os.PathLike[str], data: Joint, parameters: Sequence[Any]
    ) -> None:
        self.path = Path(path)
        entries = data.shape, data.nnz, data.total * data.scale
        self._about = json.dumps([*entries, *parameters], default=str)
        self._expect(data, self._read())

    def _expect(self, data: Joint, content: dict[str, np.ndarray]) -> None:
        """Wait for a search on these data; the content is that of the file."""
        self._data, self._content = data, content
        self._best_labels: dict[str, np.ndarray] = {}  # of this search, unlike those in the content
        self._beta = 1.0
        self._counts: list[int | None] = [None, None]
        self._best, self._next = np.inf, 0.0
        self._lock = threading.Lock()

    @property
    def labels(self) -> list[np.ndarray | None] | None:
        """The labels of an earlier search from which to go on; None if there are none."""
        if not any(side in self._content for side in LABEL_PARTS):
            return None
        labels = [self._content.get(side) for side in LABEL_PARTS]
        return [None if side is None else side.astype(np.int64) for side in labels]

    @property
    def chosen(self) -> Chosen | None:
        """The numbers of clusters that were chosen."""
        if "numbers" not in self._content:
            return None
        rows, columns = self._content["numbers"].tolist()
        return Chosen((rows, columns), self._content["table"], str(self._content["reason"]))

    @property
    def beta_evidence(self) -> np.ndarray | None:
        """The evidence by which β was chosen."""
        return self._content.get("betas")

    def remember(self, **choices: Any) -> None:
        """Write what was chosen before the search."""
        self._content |= {name: np.asarray(choice) for name, choice in choices.items()}
        self._write()

    def begin(self, problem: Any, beta: float) -> None:
        """Set what is searched for: a clustering for a problem, with a low cost at β."""
        self._beta, self._counts = beta, [start.k for start in problem.starts]
        labels = self.labels
        if labels is None:
            return
        if _counts(labels) == self._counts:
            self._best = problem.with_labels(labels).cost(beta)
        else:  # of numbers whose choice was stopped early; now others were chosen
            self._content = {
                name: part for name, part in self._content.items() if name not in LABEL_PARTS
            }

    def keep(self, state: Any, stage: str) -> None:
        """Write the labels of a clustering of the data, if it is the best so far."""
        if getattr(state, "joint", None) is not self._data or self._now() < self._next:
            return
        labels = state.labels()
        if _counts(labels) != self._counts:
            return  # with more clusters than in the end, or of one side alone
        cost = state.cost(self._beta)
        with self._lock:
            if cost < self._best:
                self._best = cost
                self._write_labels(labels, stage)

    def end(self, labels: Sequence[np.ndarray | None], is_early: bool) -> None:
        """Remove the file or, if the search was stopped early, write the labels it returns."""
        if is_early:
            self._write_labels(labels, "stopped")
        else:
            self.path.unlink(missing_ok=True)

    @property
    def content(self) -> dict[str, np.ndarray]:
        """What an earlier search has left."""
        return self._content

    def write(self, best: dict[str, np.ndarray]) -> None:
        """Write the best labels that the search has found elsewhere."""
        self._best_labels = best
        self._write()

    def _now(self) -> float:
        return time.monotonic()

    def _read(self) -> dict[str, np.ndarray]:
        if not self.path.exists():
            return {}
        try:
            with np.load(self.path, allow_pickle=False) as file:
                content = dict(file)
            about = str(content["about"])
            if not all(isinstance(part, np.ndarray) for part in content.values()):
                raise ValueError("a part is not an array")
        except (OSError, ValueError, KeyError, BadZipFile, zlib.error) as error:
            raise InputError(
                "this is not a checkpoint of comarkov",
                file=self.path,
                advice="Choose another file, for example checkpoint='other.npz'.",
            ) from error
        if about != self._about:
            raise InputError(
                "this checkpoint belongs to other data or parameters",
                file=self.path,
                advice="Delete it, or choose another file, for example checkpoint='other.npz'.",
            )
        return content

    def _write_labels(self, labels: Sequence[np.ndarray | None], stage: str) -> None:
        self._best_labels = {"stage": np.asarray(stage)} | {
            name: side.astype(np.min_scalar_type(-int(side.max()) - 1))
            for name, side in zip(LABEL_PARTS, labels, strict=True)
            if side is not None
        }
        self._write()

    def _write(self) -> None:
        begin = time.monotonic()
        with whole_file(self.path) as draft, draft.open("wb") as file:
            about = {"about": np.asarray(self._about)}
            content: dict[str, Any] = self._content | self._best_labels | about
            np.savez(file, **content)
        end = time.monotonic()
        self._next = end + TIMES_BETWEEN_WRITES * (end - begin)


def _counts(labels: Sequence[np.ndarray | None]) -> list[int | None]:
    """Return the number of clusters of each side; None if it is not clustered."""
    return [None if side is None else int(side.max()) + 1 for side in labels]
