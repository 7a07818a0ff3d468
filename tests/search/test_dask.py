"""Matrices on Dask workers: the same as in memory, to the last bit, however they came there."""

import gc
import tempfile

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask_processes import processes
from distributed import Client
from helpers import assert_same_joints, same

import comarkov
from comarkov.io.store.opening import weighted_joint
from comarkov.joint import parts
from comarkov.joint.joint import joint
from comarkov.joint.messages import InputError
from comarkov.joint.weighting import Weighting
from comarkov.search.parallel import dask_client
from comarkov.search.parallel.dask_joint import is_distributed, joined, local_store, on_cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("dask"), 2) as started, Client(started.address) as own:
        own.wait_for_workers(2, timeout=120)
        yield dask_client.current()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "ENTRIES", 1 << 12)


def matrix(kind):
    """A sparse matrix with an empty row and an empty column."""
    rng = np.random.default_rng(0)
    X = sp.random_array(
        (300, 200), density=0.005 if kind == "small" else 0.4, random_state=rng
    ).tocsr()
    values = {
        "floats": lambda: rng.gamma(1.0, size=X.nnz),
        "float32": lambda: rng.gamma(1.0, size=X.nnz).astype(np.float32),
        "quarters": lambda: rng.integers(1, 5, X.nnz) / 4,
        "even": lambda: rng.integers(1, 5, X.nnz) * 6,
        "wide": lambda: 10.0 ** rng.uniform(-60, 60, X.nnz),
    }
    X.data = values.get(kind, lambda: rng.integers(1, 5, X.nnz))()
    X = X.tolil()
    X[7], X[:, 9] = 0, 0
    return sp.csr_array(X)


def edges(X, names):
    """An edge list in random order, in which some edges occur several times."""
    coo = sp.coo_array(X)
    frame = pd.DataFrame({"user": names(coo.row), "item": coo.col * 7 - 50, "weight": coo.data})
    frame = pd.concat([frame, frame[::10]]).sample(frac=1.0, random_state=0)
    return frame.reset_index(drop=True)


NAMES = {
    "numbers": lambda codes: codes.astype(np.int32) - 5,
    "words": lambda codes: [f" é{code}" if code % 3 else f"z{code} " for code in codes],
    "gaps": lambda codes: np.where(codes == 3, np.nan, codes.astype(float)),
}


def assert_on_workers(data, local):
    """The parts of rows and of columns are those of the matrix, bit for bit."""
    assert_same_joints(data, local)
    for side, whole in zip(data.sides, (local, local.T), strict=True):
        assert side.bounds.size - 1 == parts.count_parts(whole.nnz, whole.shape[1]) > 1
        together = joined(data.cluster.results(side.futures))
        for name, array in whole.matrix._asdict().items():
            assert same(getattr(together, name), array), name


@pytest.mark.parametrize("kind", ["counts", "floats"])
def test_a_matrix_in_memory(cluster, kind):
    local = joint(pd.DataFrame(matrix(kind).toarray()).add_prefix("c"))
    assert_on_workers(on_cluster(local, cluster), local)


@pytest.mark.parametrize("kind", ["counts", "quarters", "even", "float32", "wide", "small"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_dask_array(cluster, kind, make):
    X = matrix(kind)
    blocks = da.from_array(X.toarray(), chunks=(128, 90)).map_blocks(make, dtype=X.dtype)
    assert_same_joints(local_store(blocks, cluster).joint, joint(X))


@pytest.mark.parametrize(
    ("kind", "names"), [("counts", "numbers"), ("wide", "words"), ("floats", "gaps")]
)
@pytest.mark.filterwarnings("ignore:.*without a name skipped")
def test_edges(cluster, kind, names, tmp_path):
    frame = edges(matrix(kind), NAMES[names])
    expected = comarkov.read(frame, rows="user", columns="item", weights="weight")
    for i in range(2):
        frame[i * 20_000 : (i + 1) * 20_000].to_parquet(tmp_path / f"{i}.parquet")
    for source in (dd.from_pandas(frame, npartitions=5), tmp_path):
        store = local_store(source, cluster)
        assert_same_joints(store.joint, joint(expected))
        assert store.row_names.tolist() == expected.row_names.tolist()
        assert store.column_names.tolist() == expected.column_names.tolist()


def test_temporary_files_vanish_with_the_data(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = dd.from_pandas(edges(matrix("counts"), NAMES["words"]), npartitions=2)
    store = local_store(frame, cluster)
    data = on_cluster(weighted_joint(store, Weighting("bm25")), cluster)
    assert data.row_names.size == 299
    assert list(tmp_path.glob("comarkov-*/store"))
    del data, store
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError):
        local_store(dd.from_pandas(pd.DataFrame({"a": [1], "b": [1], "c": [-2]})), cluster)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", [None, "bm25", "uniform"])
def test_weights_are_those_of_the_whole(cluster, tmp_path, scheme):
    frame = edges(matrix("counts"), NAMES["words"])
    data = comarkov.read(frame, rows="user", columns="item", weights="weight")
    comarkov.pack(data, tmp_path / "store")
    blocks = da.from_array(data.matrix.toarray(), chunks=(70, 90))
    local = scheme and Weighting(scheme)
    expected = weighted_joint(data, local)
    for source in (blocks, tmp_path / "store", comarkov.read(tmp_path / "store")):
        own = scheme and Weighting(scheme)
        X = local_store(source, cluster) if is_distributed(source) else source
        assert_on_workers(on_cluster(weighted_joint(X, own), cluster), expected)
        assert scheme is None or same(vars(own), vars(local))


@pytest.mark.parametrize(
    ("X", "fact"),
    [
        (da.ones((2, 2, 2)), "3 dimensions"),
        (dd.from_pandas(pd.DataFrame(np.ones((2, 4)), columns=[*"abcd"])), "a, b, c, d"),
    ],
)
def test_what_is_no_matrix_or_edge_list(cluster, X, fact):
    with pytest.raises(ValueError, match=fact):
        local_store(X, cluster)
