"""Checkpoints in files, which are validated like models, and belong to the data and parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..costs.labels import as_labels
from ..io.files import whole_file
from ..joint.joint import Joint
from ..joint.messages import InputError, listed
from ..search.checkpoint import Checkpoint, Content, Labels
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
            if not others and content.labels is not None:
                sides = zip(content.labels, (data.row_mass, data.column_mass), strict=True)
                content = content._replace(labels=[_check_labels(*side) for side in sides])
            if not others:
                return content
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            raise InputError(
                "this is not a checkpoint of comarkov, or it is damaged",
                file=self.path,
                advice="Choose another file, for example checkpoint='other.npz'.",
            ) from error
        which = "other data" if "data" in others else f"other values of {listed(others)}"
        raise InputError(
            f"this checkpoint belongs to a fit with {which}",
            file=self.path,
            advice="Delete it, or choose another file, for example checkpoint='other.npz'.",
        )

    def _write(self) -> None:
        begin = self._now()
        labels = self.content.labels if self._best_labels is None else self._best_labels
        small = labels and [  # in the smallest type that can hold them
            side if side is None else side.astype(np.min_scalar_type(-int(side.max()) - 1))
            for side in labels
        ]
        with whole_file(self.path) as draft:
            save_value(self.content._replace(labels=small)._asdict(), draft)
        end = self._now()
        self._next = end + TIMES_BETWEEN_WRITES * (end - begin)


def _check_labels(labels: Any, mass: np.ndarray) -> np.ndarray | None:
    """Return labels, if every element with mass has a cluster, and every other one -1."""
    if labels is None:
        return None
    checked = as_labels(labels, mass.size, "labels")
    if checked.max() >= mass.size or ((checked >= 0) != (mass > 0)).any():
        raise ValueError("labels do not match the data")
    return checked
