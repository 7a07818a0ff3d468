"""Stores: the same data, and the same clusters, from disk."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import assert_same_joints

import comarkov
from comarkov.io.store import building
from comarkov.io.store.opening import weighted_joint
from comarkov.joint import parts
from comarkov.joint.joint import MAX_DOUBLE_ENTRIES, joint


def random_matrix(kind, n=400, m=120, entries=6_000, seed=0):
    """Counts, numbers or single-precision numbers at random places; some rows are empty."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(5, n, entries), rng.integers(0, m, entries)
    counts = rng.poisson(1.0, entries) + 1.0
    weights = counts if kind == "counts" else rng.random(entries) + 0.1
    matrix = sp.csr_array((weights, (rows, columns)), shape=(n, m))
    return matrix.astype(np.float32) if kind == "single" else matrix


KINDS = {
    "few": ("counts", {}),
    "counts": ("counts", {"entries": 2 * MAX_DOUBLE_ENTRIES, "m": 300}),
    "numbers": ("numbers", {"entries": 2 * MAX_DOUBLE_ENTRIES, "m": 300}),
    "single": ("single", {"entries": 2 * MAX_DOUBLE_ENTRIES, "m": 300}),
}


@pytest.fixture(scope="module", params=KINDS)
def packed(request, tmp_path_factory):
    kind, sizes = KINDS[request.param]
    matrix = random_matrix(kind, **sizes)
    data = comarkov.Data(
        matrix,
        [f"r{i}" for i in range(matrix.shape[0])],
        None,
        "user",
        "item",
        "somewhere",
        row_classes={"group": np.arange(matrix.shape[0]) % 3},
        texts=["ü" * (i % 4) for i in range(matrix.shape[0])],
        entry_kind="clicks",
        reading={"kind": "edges"},
    )
    folder = tmp_path_factory.mktemp("store") / "store"
    return data, comarkov.pack(data, folder), folder


def test_a_store_is_read_as_the_data_that_were_packed(packed):
    data, _, folder = packed
    store = comarkov.read(folder)
    assert (store.matrix != data.matrix).nnz == 0
    for name in ("row_names", "column_names", "texts"):
        assert getattr(store, name).tolist() == getattr(data, name).tolist()
    for name in ("row_kind", "column_kind", "source", "weighting", "named", "shape"):
        assert getattr(store, name) == getattr(data, name)
    assert store.row_classes["group"].tolist() == data.row_classes["group"].tolist()
    assert (store.entry_kind, store.reading) == ("clicks", {"kind": "edges"})
    assert repr(store) == repr(data).replace("Data", "Store")


def test_its_arrays_are_those_of_the_joint_distribution(packed):
    data, store, _ = packed
    assert_same_joints(store.joint, joint(data))
    assert store.joint.T.T is store.joint
    assert store.joint.matrix.indices.flags.writeable  # or numba compiles another version
    assert not isinstance(store.joint.matrix.indices, np.memmap)


@pytest.mark.filterwarnings("ignore:5 of")  # rows have no mass
def test_the_same_clusters_as_in_memory(packed, monkeypatch):
    monkeypatch.setattr(parts, "ENTRIES", 1 << 10)
    monkeypatch.setattr(parts, "PER_COLUMN", 1)
    data, store, _ = packed
    models = [comarkov.CoClustering((3, 4), random_state=0).fit(each) for each in (data, store)]
    for name in ("row_labels_", "column_labels_", "row_confidence_"):
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))
    labels = models[0].row_labels_, models[0].column_labels_
    assert comarkov.cost(store, *labels, 0.7) == comarkov.cost(data, *labels, 0.7)
    assert comarkov.information(store, *labels) == comarkov.information(data, *labels)
    monkeypatch.setattr(parts, "ENTRIES", 1000)
    of_store = models[1].predict(store, return_confidence=True)
    of_data = models[0].predict(data, return_confidence=True)
    np.testing.assert_array_equal(of_store[0], of_data[0])
    np.testing.assert_allclose(of_store[1], of_data[1], rtol=1e-12)
    about = [comarkov.Results.of(model, data).describe() for model in models]
    assert about[0] == about[1] == comarkov.Results.of(models[0], store).describe()


@pytest.mark.filterwarnings("ignore:5 of")
@pytest.mark.parametrize("scheme", ["bm25", "uniform"])
def test_weights_are_computed_on_disk(packed, scheme, monkeypatch):
    monkeypatch.setattr(parts, "ENTRIES", 1000)
    monkeypatch.setattr(building, "TRANSPOSE_MEMORY", 100_000)
    data, store, folder = packed
    weightings = comarkov.Weighting(scheme), comarkov.Weighting(scheme)
    expected, mine = (
        weighted_joint(each, own) for each, own in zip((data, store), weightings, strict=True)
    )
    assert_same_joints(mine, expected)
    assert mine.row_names.tolist() == expected.row_names.tolist()
    assert mine.pages is not None
    for name in ("idf_", "mean_length_", "relative_lengths_", "row_masses_"):
        np.testing.assert_array_equal(*(getattr(each, name) for each in weightings))
    assert [path.name for path in folder.parent.iterdir()] == ["store"]
    if scheme == "bm25":
        models = [
            comarkov.CoClustering((3, 3), weighting=scheme, random_state=0).fit(each)
            for each in (data, store)
        ]
        np.testing.assert_array_equal(*(model.row_labels_ for model in models))
        about = [comarkov.Results.of(models[0], each).describe() for each in (data, store)]
        assert about[0] == about[1]


def test_rows_that_are_released_are_read_again(packed):
    data, store, _ = packed
    before = store.joint.matrix.indices.copy(), store.joint.matrix.weights.copy()
    store.joint.release_rows(0, store.shape[0])
    store.joint.release_rows(3, 7)
    np.testing.assert_array_equal(store.joint.matrix.indices, before[0])
    np.testing.assert_array_equal(store.joint.matrix.weights, before[1])
    joint(data).release_rows(0, 5)  # does nothing in memory
