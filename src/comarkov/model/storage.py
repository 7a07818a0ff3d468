"""Models in a folder: versioned JSON and plain arrays, written atomically, without any code."""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from textwrap import shorten
from typing import Any, BinaryIO

import numpy as np

from ..io.files import ARRAYS, MODEL, SUMMARY, TREE, is_model, is_results, whole_folder
from ..io.isolation import BAD_HEADER
from ..joint.messages import similar_file
from .validation import check

#: All classes that a file may name: public ones, and the modules of the others.
PUBLIC = (
    *("AIB", "IBCC", "IBDouble", "IDC", "ITCC", "SIB"),
    *("CoClustering", "MarkovAggregation", "MultiwayClustering", "Weighting"),
    *("Hierarchy", "Information", "MergeTree", "Step"),
)
INNER = {
    "GTest": "costs.lumpability",
    "Leaves": "model.leaves",
    "Lumpability": "costs.lumpability",
    "Model": "model.placing",
}
NOT_STORED = ("callback", "checkpoint")  # parameters that have no meaning in another process

Arrays = dict[str, np.ndarray]


class Packer:
    """Converts values to trees; shared arrays are stored once."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._names: dict[int, str] = {}

    def pack(self, value: Any) -> Any:
        """Return the tree of a value."""
        if value is None or isinstance(value, str | bool) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"is": "float", "text": repr(value)}
        if type(value) is list:
            return [self.pack(item) for item in value]
        if type(value) is tuple:
            return {"is": "tuple", "items": [self.pack(item) for item in value]}
        if type(value) is dict:
            return {"is": "dict", "items": [[self.pack(x) for x in pair] for pair in value.items()]}
        if isinstance(value, np.generic):
            return {"is": "scalar", "name": self._keep(np.asarray(value))}
        if isinstance(value, np.ndarray):
            return self._pack_array(value)
        return self._pack_object(value)

    def _pack_array(self, array: np.ndarray) -> Any:
        if array.dtype != object:
            return {"is": "array", "name": self._keep(array)}
        items = [self.pack(item) for item in array.ravel().tolist()]
        return {"is": "objects", "items": items, "shape": list(array.shape)}

    def _pack_object(self, value: Any) -> Any:
        name = type(value).__name__
        if isinstance(value, np.random.RandomState):
            return {"is": "RandomState", "state": self.pack(value.get_state(legacy=False))}
        if _is_known(name) and type(value) is _class(name):
            return {"is": name, **_taken_apart(value, self.pack)}
        if hasattr(value, "__array__"):  # labels as a pandas or polars series
            return self.pack(np.asarray(value))
        raise TypeError(f"A {name} of {type(value).__module__} cannot be saved: {value!r:.60}.")

    def _keep(self, array: np.ndarray) -> str:
        if id(array) not in self._names:
            name = f"a{len(self.arrays)}"
            self.arrays[name] = array  # keeping it alive also reserves its id
            self._names[id(array)] = name
        return self._names[id(array)]


def unpack(tree: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the value of a tree."""
    if isinstance(tree, list):
        return [unpack(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree["is"]
    if kind in ("array", "scalar"):
        return arrays[tree["name"]] if kind == "array" else arrays[tree["name"]][()]
    if kind in _PLAIN:
        return _PLAIN[kind](tree, lambda part: unpack(part, arrays))
    if not _is_known(kind):
        raise ValueError(f"it names an unknown class, {kind!r}")
    parts = {
        group: {name: unpack(part, arrays) for name, part in tree[group].items()}
        for group in tree.keys() - {"is"}
    }
    return check(_put_together(_class(kind), **parts))


def _objects(tree: Any, inner: Callable[[Any], Any]) -> np.ndarray:
    array = np.empty(len(tree["items"]), object)
    array[:] = [inner(item) for item in tree["items"]]
    return array.reshape(tree["shape"])


def _random_state(tree: Any, inner: Callable[[Any], Any]) -> np.random.RandomState:
    state = np.random.RandomState()
    state.set_state(inner(tree["state"]))
    return state


_PLAIN: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "float": lambda tree, inner: float(tree["text"]),
    "tuple": lambda tree, inner: tuple(inner(tree["items"])),
    "dict": lambda tree, inner: dict(inner(tree["items"])),
    "objects": _objects,
    "RandomState": _random_state,
}


def _is_known(name: Any) -> bool:
    return name in PUBLIC or name in INNER


def _class(name: str) -> Any:
    package = __package__.partition(".")[0]
    home = package if name in PUBLIC else f"{package}.{INNER[name]}"
    return getattr(import_module(home), name)


def _taken_apart(value: Any, pack: Callable[[Any], Any]) -> dict[str, dict[str, Any]]:
    """Return the fields of a named tuple or dataclass; of an estimator, everything it stores."""
    if hasattr(value, "_asdict"):
        return {"parts": {name: pack(part) for name, part in value._asdict().items()}}
    if is_dataclass(value) and not hasattr(value, "get_params"):
        return {"parts": {part.name: pack(getattr(value, part.name)) for part in fields(value)}}
    parameters = value.get_params(deep=False)
    learnt = {name: part for name, part in vars(value).items() if name not in parameters}
    return {
        "parameters": {
            name: pack(part) for name, part in parameters.items() if name not in NOT_STORED
        },
        "learnt": {name: pack(part) for name, part in learnt.items()},
    }


def _put_together(
    cls: Any,
    parts: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    learnt: dict[str, Any] | None = None,
) -> Any:
    if parts is not None:
        return cls(**parts)
    value = cls(**(parameters or {}))
    for name, part in (learnt or {}).items():
        if not (name.startswith("_") or name.endswith("_")):
            raise ValueError(f"a {cls.__name__} has no attribute {name!r}")
        setattr(value, name, part)
    return value


__all__ = ["MODEL", "SUMMARY", "Savable", "is_model", "is_results", "load"]
__all__ += ["load_value", "save_value"]
VERSION = 1  # increased when older versions of comarkov cannot read the new format
LONGEST = 300  # characters of a reason
LEAF = "tree"  # the entry of a single file that holds its JSON
DAMAGE = (
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    *BAD_HEADER,
)


class Savable:
    """An estimator that can be saved in a folder."""

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model into a new folder, from which ``comarkov.load`` reads it.

        The folder contains JSON and NumPy arrays with a format version, and no code. It is written
        atomically: you get all of it or none. ``callback`` and ``checkpoint`` are not
        saved.

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
    folder = _model_folder(Path(path))
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
    """Write a value that ``packing`` supports, such as a path, into one file."""
    packer = Packer()
    document = _document("comarkov value", packer.pack(value), packer.arrays)
    tree = np.frombuffer(document.encode("utf-8"), np.uint8)
    _write_arrays(path, {LEAF: tree, **packer.arrays})


def load_value(path: Path) -> Any:
    """Read a value that ``save_value`` wrote."""
    try:
        with open(path, "rb") as file:
            arrays = _read_arrays(file)
        return _value("comarkov value", arrays.pop(LEAF).tobytes().decode("utf-8"), arrays)
    except DAMAGE as error:
        raise _damaged(path, error) from error


def _model_folder(path: Path) -> Path:
    for folder in (path, path / MODEL):
        if is_model(folder):
            return folder
    if not path.exists():
        advice = similar_file(path) or " Check the path."
        raise FileNotFoundError(f"There is no folder {str(path)!r}.{advice}")
    raise FileNotFoundError(
        f"There is no model in {path}: {TREE} or {ARRAYS} is missing. Give a folder that comarkov "
        "fit or model.save wrote."
    )


def _document(kind: str, tree: Any, arrays: Arrays) -> str:
    head = {"format": kind, "version": VERSION, "written_by": version("comarkov")}
    rest = {"digest": _digest(tree, arrays), "value": tree}
    return json.dumps(head | rest, allow_nan=False)


def _digest(tree: Any, arrays: Arrays) -> str:
    """A digest of the tree and of the arrays."""
    digest = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _value(kind: str, text: str, arrays: Arrays) -> Any:
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != kind:
        raise ValueError(f"it is not a {kind}")
    if document["version"] != VERSION:
        raise ValueError(
            f"it has format version {document['version']!r}, and this comarkov reads only "
            f"{VERSION}: install comarkov {document.get('written_by')} or newer"
        )
    if document["digest"] != _digest(document["value"], arrays):
        raise ValueError("it was changed after it was written")
    return unpack(document["value"], arrays)


def _damaged(path: Path, error: BaseException) -> ValueError:
    reason = str(error).rstrip(".") or type(error).__name__
    if isinstance(error, KeyError):
        reason = f"{error.args[0]} is missing"
    return ValueError(f"{path} cannot be read: {shorten(reason, LONGEST, placeholder=' ...')}.")


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
        for entry in entries:
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise ValueError(f"{entry.filename} in it is compressed")
        if sum(entry.file_size for entry in entries) > os.fstat(file.fileno()).st_size:
            raise ValueError("its arrays are larger than the file")
        return {
            entry.filename.removesuffix(".npy"): _array(archive.read(entry)) for entry in entries
        }


def _array(content: bytes) -> np.ndarray:
    """An array, if its header states the size that it has."""
    file = BytesIO(content)
    major, _ = np.lib.format.read_magic(file)
    read_header = getattr(np.lib.format, f"read_array_header_{major}_0")
    shape, _, dtype = read_header(file)
    count = 1
    for length in shape:
        count *= length
    if dtype.hasobject or count * dtype.itemsize != len(content) - file.tell():
        raise ValueError("an array in it does not have the size that its header states")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
