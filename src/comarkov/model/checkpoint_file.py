"""Checkpoints in files, which are validated like models, and belong to the data and parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..io.files import whole_file
from ..joint.joint import Joint
from ..joint.messages import InputError, listed
from ..search.checkpoint import Checkpoint, Content, Labels
from ..search.select.beta import EVIDENCE_DTYPE
from ..search.select.choose_numbers import TABLE
from .storage import digest_of, load_value, save_value

TIMES_BETWEEN_WRITES = 20  # the time that a write takes, so that writing takes little of all


class FileCheckpoint(Checkpoint):
    """A checkpoint in a file, which is written atomically, and removed when a search has ended."""

    def __init__(
        self, path: str | os.PathLike[str], data: Joint, parameters: Mapping[str, Any]
    ) -> None:
        self.path = Path(path)
        digests = {name: digest_of(value) for name, value in parameters.items()}
        super().__init__(data, self._read(data, {"data": data.digest, **digests}))

    def begin(self, problem: Any, beta: float) -> None:
        """Set what is searched for: a clustering for a problem, with a low cost at β."""
        for start, side in zip(problem.starts, self.labels or [], strict=False):
            if side is not None and (side != start.labels)[start.fixed].any():
                raise self._damaged()
        super().begin(problem, beta)

    def end(self, labels: Labels, is_early: bool) -> None:
        """Remove the file or, if the search was stopped early, write the labels it returns."""
        if is_early:
            self.write(labels)
        else:
            self.path.unlink(missing_ok=True)

    def _read(self, data: Joint, belongs_to: dict[str, str]) -> Content:
        if not self.path.exists():
            return Content(belongs_to)
        try:
            content = Content(**load_value(self.path))
            others = [name for name, of in belongs_to.items() if content.belongs_to[name] != of]
            is_sound = bool(others) or _is_sound(content, data)
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
        sides = content.labels
        return content._replace(labels=sides and [_changed_type(side, np.int64) for side in sides])

    def _damaged(self) -> InputError:
        return InputError(
            "this is not a checkpoint of comarkov, or it is damaged",
            file=self.path,
            advice="Choose another file, for example checkpoint='other.npz'.",
        )

    def _write(self) -> None:
        begin = self._now()
        labels = self.content.labels if self._best_labels is None else self._best_labels
        small = labels and [_changed_type(side, None) for side in labels]
        with whole_file(self.path) as draft:
            save_value(self.content._replace(labels=small)._asdict(), draft)
        end = self._now()
        self._next = end + TIMES_BETWEEN_WRITES * (end - begin)


def _changed_type(labels: np.ndarray | None, dtype: Any) -> np.ndarray | None:
    """Labels of a type, or of the smallest that can hold them."""
    if labels is None:
        return None
    return labels.astype(dtype or np.min_scalar_type(-int(labels.max()) - 1))


def _is_sound(content: Content, data: Joint) -> bool:
    """Can a search on the data go on from this, even if the digest of the file was corrected?"""
    return (
        (content.chosen is None or _is_choice(data.shape, *content.chosen))
        and (content.betas is None or _is_evidence(content.betas))
        and (content.labels is None or _are_labels(content.labels, data))
    )


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
