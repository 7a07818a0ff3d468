"""Stores as data: their arrays are mapped into memory, and loaded where they are used."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeGuard

import numpy as np

from ...joint.inputs import as_csr, is_on_disk, named_csr, names
from ...joint.joint import Joint, joint, with_names
from ...joint.messages import warn_user
from ...joint.weighting import Weighting, counted_rows, frequencies, row_sums, times_rows
from ..files import DATA_FILE, REFERENCE, errors_in_json, is_store, read_json
from ..read.data import Data, as_classes, as_names
from . import layout
from .building import canonical_blocks, map_joint, write_blocks
from .layout import COLUMNS_FOLDER, ROWS_FOLDER

MAX_COMPARED_BYTES = 1 << 26  # of a store that is compared with its checksums when it is opened
INDICES_AT_A_TIME = 1 << 22
LARGE_STORE = 10_000_000  # entries from which on data are not copied
REFERENCE_FACTS = ("row_kind", "column_kind", "entry_kind", "source")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Store(Data):
    """Data on disk, as ``read`` returns them for a folder that ``pack`` wrote.

    It is used like any :class:`Data`, and gives the same results. The arrays of the matrix are
    loaded where they are used, and the names when they are first asked for.
    """

    joint: Joint  #: the matrix as a fit takes it, without a copy
    path: Path  #: the folder

    def __init__(self, *, joint: Joint, path: Path, matrix: Any = None, **fields: Any) -> None:
        del matrix  # is that of the joint distribution; ``dataclasses.replace`` passes it
        for side, size in zip(("row", "column"), joint.shape, strict=True):
            names = fields.get(f"{side}_names")
            if names is not None and not isinstance(names, np.ndarray):
                fields[f"{side}_names"] = as_names(names, size, f"{side}_names")
            classes = fields.get(f"{side}_classes")
            fields[f"{side}_classes"] = as_classes(classes, size, f"{side}_classes")
        self.__dict__.update(joint=joint, path=path, **fields)  # frozen for all others

    @classmethod
    def of(cls, joint: Joint, path: Path, about: layout.Description, **more: Any) -> Self:
        """A matrix in a folder, with a description, and classes and texts if there are any."""
        facts = {name: getattr(about, name) for name in layout.FACTS}
        return cls(joint=joint, path=path, **{"texts": None, **facts, **more})

    def changed(self, **fields: Any) -> Self:
        """A copy with other values of some fields; what is not loaded yet stays so."""
        return type(self)(**{**self.__dict__, **fields})

    def __getattr__(self, name: str) -> Any:
        """Load what is first used: names, and the weights as CSR.

        The CSR shares the memory of the joint distribution, except for weights in another unit;
        in each row counts of 1 come first, then those of 2.
        """
        if name == "matrix":
            value = self.joint.unscaled
        elif name in ("row_names", "column_names"):
            arrays = vars(self).get("name_arrays")  # of before, if the folder was replaced
            arrays = layout.map_names(self.path) if arrays is None else arrays
            value = layout.names_in(arrays, name.split("_")[0], self.shape[name == "column_names"])
        else:
            raise AttributeError(f"a store has no attribute {name!r}")
        object.__setattr__(self, name, value)
        return value

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.joint.shape

    def __repr__(self) -> str:
        return super().__repr__().replace("Data(", "Store(", 1)


def open_store(path: str | os.PathLike[str]) -> Store:
    """Open a folder that ``pack`` wrote, after a check of its files."""
    folder = Path(path)
    about = layout.Description.read(folder)
    for side, size in zip((ROWS_FOLDER, COLUMNS_FOLDER), about.shape, strict=True):
        lengths = {"indptr": size + 1, "indices": about.entries, "weights": about.entries}
        for name, dtype in layout.MATRIX_TYPES.items():
            array = layout.map_array(path := folder / side / f"{name}.npy")
            is_right = array.dtype == (dtype or about.weights)
            if not is_right or array.shape != (lengths.get(name, size),):
                raise layout.damaged(path)
    if about.bytes <= MAX_COMPARED_BYTES:
        about.verify(folder)
    weights = map_joint(folder, about)
    _check_places(folder, weights)
    arrays = layout.map_names(folder)
    annotations = layout.annotations_of(arrays) | {"reading": about.reading, "name_arrays": arrays}
    return Store.of(weights, folder.absolute(), about, **annotations)


def _check_places(folder: Path, data: Joint) -> None:
    """An error if rows or indices lead out of the arrays, or if a weight is none."""
    for side, weights in ((folder / ROWS_FOLDER, data), (folder / COLUMNS_FOLDER, data.T)):
        matrix, (_, width), size = weights.matrix, weights.shape, weights.nnz
        lengths = np.diff(matrix.indptr)
        ends = matrix.indptr[0], matrix.indptr[-1]
        if ends != (0, size) or (lengths < 0).any():
            raise layout.damaged(side / "indptr.npy")
        are_counts = np.minimum(matrix.ones, matrix.twos).min() >= 0
        if not are_counts or (matrix.ones.astype(np.int64) + matrix.twos > lengths).any():
            raise layout.damaged(side / "ones.npy")
        if not ((matrix.mass >= 0) & (matrix.mass < np.inf)).all():
            raise layout.damaged(side / "mass.npy")
        for start in range(0, size, INDICES_AT_A_TIME):
            stop = min(start + INDICES_AT_A_TIME, size)
            if matrix.indices[start:stop].max() >= width:
                raise layout.damaged(side / "indices.npy")
            values = matrix.weights[start:stop]
            if not (values.min() > 0 and values.max() < np.inf):
                raise layout.damaged(side / "weights.npy")
            if weights.pages is not None:
                weights.pages.release(start, stop)


def is_large(data: Data) -> TypeGuard[Store]:
    """Are data in a store, and too large to be copied?"""
    return isinstance(data, Store) and data.joint.nnz >= LARGE_STORE


def keep_data(data: Data, folder: Path) -> None:
    """Write data into a folder of results; of a large store only where it is."""
    if not is_large(data):
        data.save(folder / DATA_FILE)
        return
    content = {"store": str(data.path), **{name: getattr(data, name) for name in REFERENCE_FACTS}}
    stored = layout.map_names(data.path)
    for side in ("row", "column"):
        names = vars(data).get(f"{side}_names")
        if names is None or np.array_equal(names, layout.names_in(stored, side, names.size)):
            continue
        content[f"{side}_names"] = names.tolist()
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / REFERENCE).write_text(text + "\n", encoding="utf-8")
    warn_user(
        f"The results refer to the data in {data.path}, which are too large to be copied. Keep "
        "them there for further reports."
    )


def open_reference(folder: Path) -> Store:
    """The store that results in a folder refer to."""
    with errors_in_json(folder / REFERENCE):
        content = read_json(folder / REFERENCE)
        path = Path(content.pop("store"))
        if not content.keys() <= {*REFERENCE_FACTS, "row_names", "column_names"}:
            raise ValueError("unknown parts")
    if not is_store(path):
        raise FileNotFoundError(
            f"{folder} refers to the data in {path}, which are missing. Move them back, or pack "
            f"their source again into {path}."
        )
    with errors_in_json(folder / REFERENCE):
        return open_store(path).changed(**content)


def weighted_joint(X: Any, weighting: Weighting | None, sample_weight: Any = None) -> Joint:
    """The joint distribution of the weighted X, with its names; fits the weighting."""
    if weighting is not None:
        fit_weighting(X, weighting)
    return joint_weighed_by(X, weighting, sample_weight)


def fit_weighting(X: Any, weighting: Weighting) -> None:
    """Let a weighting learn from X, a few rows at a time if it is on disk."""
    if not is_on_disk(X):
        weighting.fit(as_csr(X))
        return
    data, (n, m) = X.joint, X.shape
    lengths, entries = np.empty(n), np.zeros(m, np.int64)
    for rows, csr in canonical_blocks(data.matrix, m, data.scale):
        lengths[rows] = row_sums(csr)
        entries += frequencies(csr)
    weighting.learn(lengths, entries, (n, m))
    if weighting.makes_uniform:
        masses = np.empty(n)
        for rows, csr in canonical_blocks(data.matrix, m, data.scale):
            masses[rows] = row_sums(weighting.weigh_before_division(csr))
        weighting.row_masses_ = masses


def joint_weighed_by(X: Any, weighting: Weighting | None, sample_weight: Any = None) -> Joint:
    """The joint distribution of X, weighted by a weighting that is fitted already."""
    if weighting is None and sample_weight is None:
        return joint(X)
    if is_on_disk(X):
        return _weigh_on_disk(X, weighting, counted_rows(sample_weight, X.shape[0]))
    csr, rows, columns = named_csr(X)
    weights = csr if weighting is None else weighting.weigh_rows(csr)
    if sample_weight is not None:
        weights = times_rows(weights, counted_rows(sample_weight, csr.shape[0]))
    return replace(joint(weights), row_names=rows, column_names=columns)


def _weigh_on_disk(store: Store, weighting: Weighting | None, counted: np.ndarray) -> Joint:
    """The weighted matrix of a store in temporary files, which vanish when it is not used."""
    place = store.path.parent  # where there is room for such files
    place_or_usual = place if os.access(place, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix=".comarkov-", dir=place_or_usual))
    try:
        blocks = canonical_blocks(store.joint.matrix, store.shape[1], store.joint.scale)
        weights = (
            times_rows(csr if weighting is None else weighting.weigh_rows(csr), counted[rows])
            for rows, csr in blocks
        )
        weighted = map_joint(folder, write_blocks(folder, weights, np.float64))
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # mapped files stay where the system allows it
    if folder.exists():
        weakref.finalize(weighted.matrix.indices, shutil.rmtree, folder, ignore_errors=True)
    return with_names(weighted, *names(store))
