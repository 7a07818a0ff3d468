"""Checkpoints: the best clustering of a search so far in a file, from which a search can go on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..io.files import whole_file
from ..joint.joint import Joint
from ..joint.messages import InputError, listed
from ..search.select.beta import EVIDENCE_DTYPE
from ..search.select.choose_numbers import TABLE
from .storage import digest_of, load_value, save_value

TIMES_BETWEEN_WRITES = 20  # the time that a write takes, so that writing takes little of all

Labels = list[np.ndarray | None]


class Chosen(NamedTuple):
    """Numbers of clusters that were chosen, and the evidence."""

    numbers: tuple[int, int]
    table: np.ndarray
    reason: str


class Content(NamedTuple):
    """What a checkpoint stores: what it belongs to, what was chosen, and the best labels."""

    belongs_to: dict[str, str]  # digests of the data and of each parameter
    chosen: tuple[Any, ...] | None = None
    betas: np.ndarray | None = None
    labels: Labels | None = None
    stage: str = ""  # of the search in which the labels were found

    def is_sound(self, data: Joint) -> bool:
        """Can a search on the data go on from this, whatever was changed in the file?"""
        return (
            (self.chosen is None or _is_choice(data.shape, *self.chosen))
            and (self.betas is None or _is_evidence(self.betas))
            and (self.labels is None or _are_labels(self.labels, data))
        )


class Checkpoint:
    """A file with the choices and the best labels of a search on some data.

    It is written atomically, after a sweep that reaches the lowest cost so far, but not so often
    that it takes much time. A search that is stopped early writes the labels that it returns.
    """

    def __init__(
        self, path: str | os.PathLike[str], data: Joint, parameters: Mapping[str, Any]
    ) -> None:
        self.path = Path(path)
        self._data = data
        digests = {name: digest_of(value) for name, value in parameters.items()}
        self._content = self._read({"data": data.digest, **digests})
        self._best_labels: Labels | None = None  # of this search, unlike those in the content
        self._stage = ""
        self._beta = 1.0
        self._counts: list[int | None] = [None, None]
        self._best, self._next = np.inf, 0.0
        self._lock = threading.Lock()

    @property
    def labels(self) -> Labels | None:
        """The labels of an earlier search from which to go on; None if there are none."""
        labels = self._content.labels
        return labels and [None if side is None else side.astype(np.int64) for side in labels]

    @property
    def chosen(self) -> Chosen | None:
        """The numbers of clusters that were chosen."""
        return None if self._content.chosen is None else Chosen(*self._content.chosen)

    @property
    def beta_evidence(self) -> np.ndarray | None:
        """The evidence by which β was chosen."""
        return self._content.betas

    def remember(self, **choices: Any) -> None:
        """Write what was chosen before the search."""
        self._content = self._content._replace(**choices)
        self._write()

    def begin(self, problem: Any, beta: float) -> None:
        """Set what is searched for: a clustering for a problem, with a low cost at β."""
        self._beta, self._counts = beta, [start.k for start in problem.starts]
        labels = self.labels
        if labels is None:
            return
        if _counts(labels) != self._counts:  # of a choice that was stopped; now others were chosen
            self._content = self._content._replace(labels=None)
            return
        for start, side in zip(problem.starts, labels, strict=True):
            if side is not None and (side != start.labels)[start.fixed].any():
                raise self._damaged()
        self._best = problem.with_labels(labels).cost(beta)

    def keep(self, state: Any, stage: str) -> None:
        """Write the labels of a clustering of the data, if it is the best so far."""
        if getattr(state, "joint", None) is not self._data or time.monotonic() < self._next:
            return
        labels = state.labels()
        if _counts(labels) != self._counts:
            return  # with more clusters than in the end, or of one side alone
        cost = state.cost(self._beta)
        with self._lock:
            if cost < self._best:
                self._best, self._best_labels, self._stage = cost, labels, stage
                self._write()

    def end(self, state: Any, is_early: bool) -> None:
        """Remove the file or, if the search was stopped early, write the labels it returns."""
        if is_early:
            self._best_labels, self._stage = state.labels(), "stopped"
            self._write()
        else:
            self.path.unlink(missing_ok=True)

    def _read(self, belongs_to: dict[str, str]) -> Content:
        if not self.path.exists():
            return Content(belongs_to)
        try:
            content = Content(**load_value(self.path))
            others = [name for name, of in belongs_to.items() if content.belongs_to[name] != of]
            is_sound = bool(others) or content.is_sound(self._data)
        except (OSError, TypeError, KeyError, InputError) as error:
            raise self._damaged() from error
        if others:
            which = "other data" if "data" in others else f"other values of {listed(others)}"
            raise InputError(
                f"this checkpoint belongs to a fit with {which}",
                file=self.path,
                advice="Delete it, or choose another file, for example checkpoint='other.npz'.",
            )
        if not is_sound:
            raise self._damaged()
        return content

    def _damaged(self) -> InputError:
        return InputError(
            "this is not a checkpoint of comarkov, or it is damaged",
            file=self.path,
            advice="Choose another file, for example checkpoint='other.npz'.",
        )

    def _write(self) -> None:
        begin = time.monotonic()
        content = self._content
        if self._best_labels is not None:
            content = content._replace(labels=_compact(self._best_labels), stage=self._stage)
        with whole_file(self.path) as draft:
            save_value(content._asdict(), draft)
        end = time.monotonic()
        self._next = end + TIMES_BETWEEN_WRITES * (end - begin)


def _counts(labels: Sequence[np.ndarray | None]) -> list[int | None]:
    """Return the number of clusters of each side; None if it is not clustered."""
    return [None if side is None else int(side.max()) + 1 for side in labels]


def _compact(labels: Labels) -> Labels:
    """Return labels in the smallest type for them."""
    return [
        None if side is None else side.astype(np.min_scalar_type(-int(side.max()) - 1))
        for side in labels
    ]


def _is_choice(shape: tuple[int, int], numbers: Any, table: Any, reason: Any) -> bool:
    are_counts = isinstance(numbers, tuple) and len(numbers) == len(shape)
    return (
        are_counts
        and all(type(k) is int and 1 <= k <= n for k, n in zip(numbers, shape, strict=True))
        and getattr(table, "dtype", None) == TABLE
        and table.ndim == 1
        and isinstance(reason, str)
    )


def _is_evidence(betas: Any) -> bool:
    return (
        getattr(betas, "dtype", None) == EVIDENCE_DTYPE
        and betas.ndim == 1
        and betas["chosen"].sum() == 1
        and bool(((betas["beta"] >= 0) & (betas["beta"] <= 1)).all())
    )


def _are_labels(labels: Any, data: Joint) -> bool:
    if not isinstance(labels, list) or len(labels) != 2:
        return False
    masses = data.row_mass, data.column_mass
    return all(
        side is None or _are_side_labels(side, mass)
        for side, mass in zip(labels, masses, strict=True)
    )


def _are_side_labels(labels: Any, mass: np.ndarray) -> bool:
    """Has every element with mass a cluster, and every other one -1?"""
    if not isinstance(labels, np.ndarray) or labels.dtype.kind != "i" or labels.shape != mass.shape:
        return False
    has_mass = mass > 0
    least = np.where(has_mass, 0, -1)
    most = np.where(has_mass, mass.size - 1, -1)
    return bool(((least <= labels) & (labels <= most)).all())
