"""Models and checkpoints in files: versioned JSON and plain arrays, written atomically, no code."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO

import numpy as np

from ..costs.labels import as_labels
from ..io.files import ARRAYS, BAD_HEADER, MODEL, TREE, is_model, whole_file, whole_folder
from ..joint.joint import Joint
from ..joint.messages import InputError, listed, similar_file
from ..search.checkpoint import Checkpoint, Content, Labels
from .serialise import Arrays, Packer, unpack

MODEL_VERSION = 1  # increased when older versions of comarkov cannot read the new format
LONGEST_REASON = 300  # characters
JSON_ENTRY = "tree"  # of a single file, which holds its JSON
TIMES_BETWEEN_WRITES = 20  # the time that a write of a checkpoint takes: little of all
DAMAGE = (
    *(AttributeError, EOFError, IndexError, KeyError, MemoryError, NotImplementedError),
    *(RecursionError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile, *BAD_HEADER),
)


class Savable:
    """An estimator that can be saved in a folder."""

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model into a new folder, from which ``comarkov.load`` reads it.

        The folder contains JSON and NumPy arrays with a format version, and no code. It is written
        atomically: you get all of it or none. ``callback`` and ``checkpoint`` are not saved.

        Parameters
        ----------
        path : path
            The folder. Missing parents are created.
        overwrite : bool, default=False
            Replace an existing model. Any other folder is left as it is.
        """
        from sklearn.utils.validation import check_is_fitted  # slow to import

        check_is_fitted(self)
        packer = Packer()
        tree = packer.pack(self)
        with whole_folder(path, overwrite, is_model) as folder:
            document = _document("comarkov model", tree, packer.arrays)
            (folder / TREE).write_text(document, encoding="utf-8")
            _write_arrays(folder / ARRAYS, packer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that ``save`` wrote.

    It equals the saved one, with its parameters and everything it has learnt, except for a
    callback. Nothing in the files is executed: they contain JSON and plain arrays.

    Parameters
    ----------
    path : path
        The folder of a model, or a folder of results.

    Examples
    --------
    >>> import tempfile, comarkov
    >>> women = comarkov.datasets.load("southern-women").matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     comarkov.CoClustering((2, 3), random_state=0).fit(women).save(f"{folder}/model")
    ...     comarkov.load(f"{folder}/model").predict(women[:3])
    array([0, 0, 0])
    """
    path = Path(path)
    folder = next((each for each in (path, path / MODEL) if is_model(each)), None)
    if folder is None:
        problem = f"There is no folder {str(path)!r}.{similar_file(path) or ' Check the path.'}"
        if path.exists():
            advice = "Give a folder that comarkov fit or model.save wrote."
            problem = f"There is no model in {path}. {advice}"
        raise FileNotFoundError(problem)
    try:
        text = (folder / TREE).read_text(encoding="utf-8")
        with open(folder / ARRAYS, "rb") as file:
            model = _value("comarkov model", text, _read_arrays(file))
        if not isinstance(model, Savable):
            raise ValueError("it contains no model")
    except DAMAGE as error:
        raise _damaged(folder, error) from error
    return model


def save_value(value: Any, path: Path) -> None:
    """Write a value that ``Packer`` supports, such as a path, into one file."""
    packer = Packer()
    document = _document("comarkov value", packer.pack(value), packer.arrays)
    tree = np.frombuffer(document.encode("utf-8"), np.uint8)
    _write_arrays(path, {JSON_ENTRY: tree, **packer.arrays})


def load_value(path: Path) -> Any:
    """Read a value that ``save_value`` wrote."""
    try:
        with open(path, "rb") as file:
            arrays = _read_arrays(file)
        return _value("comarkov value", arrays.pop(JSON_ENTRY).tobytes().decode("utf-8"), arrays)
    except DAMAGE as error:
        raise _damaged(path, error) from error


def digest_of(value: Any) -> str:
    """A digest of a value that ``Packer`` supports."""
    packer = Packer()
    return _digest(packer.pack(value), packer.arrays)


def _document(kind: str, tree: Any, arrays: Arrays) -> str:
    head = {"format": kind, "version": MODEL_VERSION, "written_by": version("comarkov")}
    return json.dumps(head | {"digest": _digest(tree, arrays), "value": tree}, allow_nan=False)


def _digest(tree: Any, arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _value(kind: str, text: str, arrays: Arrays) -> Any:
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != kind:
        raise ValueError(f"it is not a {kind}")
    if document["version"] != MODEL_VERSION:
        raise ValueError(
            f"it has format version {document['version']!r}, and this comarkov reads only "
            f"{MODEL_VERSION}: install comarkov {document.get('written_by')} or newer"
        )
    if document["digest"] != _digest(document["value"], arrays):
        raise ValueError("it was changed after it was written")
    return unpack(document["value"], arrays)


def _damaged(path: Path, error: BaseException) -> InputError:
    reason = str(error).rstrip(".") or type(error).__name__
    if isinstance(error, KeyError):
        reason = f"{error.args[0]} is missing"
    short = shorten(reason, LONGEST_REASON, placeholder=" ...")
    return InputError(f"the model cannot be read: {short}", file=path, advice="Save it again.")


# --- arrays -----------------------------------------------------------------------------------


def _write_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays without compression and without a date: equal arrays give equal bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _read_arrays(file: BinaryIO) -> Arrays:
    """All arrays of a file, which cannot use more memory than the file has bytes."""
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("an array in it is compressed")
        if sum(entry.file_size for entry in entries) > os.fstat(file.fileno()).st_size:
            raise ValueError("its arrays are larger than the file")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


# --- checkpoints --------------------------------------------------------------------------------


class FileCheckpoint(Checkpoint):
    """A checkpoint in a file of its data and parameters, removed when a search has ended."""

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
            which = "other data" if "data" in others else f"other values of {listed(others)}"
            problem = f"this checkpoint belongs to a fit with {which}"
        except (AttributeError, KeyError, OSError, TypeError, ValueError):
            problem = "this is not a checkpoint of comarkov, or it is damaged"
        advice = "Delete it, or choose another file, for example checkpoint='other.npz'."
        raise InputError(problem, file=self.path, advice=advice)

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
