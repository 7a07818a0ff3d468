"""Matrices on Dask workers: the same as in memory, to the last bit, however they came there."""

import logging
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask_processes import processes
from distributed import Client
from helpers import same

import comarkov
from comarkov.io.store.opening import weighted_joint
from comarkov.joint import parts
from comarkov.joint.joint import joint
from comarkov.joint.weighting import Weighting
from comarkov.search.parallel import dask_client
from comarkov.search.parallel.dask_inputs import cluster_joint

FIELDS = ("shape", "scale", "is_count", "row_names", "column_names", "row_mass", "column_mass")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("dask"), 2) as started, Client(started.address) as own:
        own.wait_for_workers(2, timeout=30)
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
    "digits": lambda codes: [f"{code}" for code in codes],
    "words": lambda codes: [f" é{code}" if code % 3 else f"z{code} " for code in codes],
    "gaps": lambda codes: [
        None if code == 3 else "NA" if code == 4 else f"u{code}" for code in codes
    ],
    "floats": lambda codes: np.where(codes == 3, np.nan, codes.astype(float)),
}


def assert_same(distributed, local):
    """Bit for bit, in both orientations."""
    for one, other in ((distributed, local), (distributed.T, local.T)):
        assert one.parts.bounds.size - 1 == parts.count_parts(
            other.matrix.indices.size, one.shape[1]
        )
        for field in FIELDS:
            assert same(getattr(one, field), getattr(other, field)), field
        gathered = one.gather()
        for name, array in other.matrix._asdict().items():
            assert same(getattr(gathered.matrix, name), array), name
        assert one.mass_dtype == other.mass_dtype
        assert one.T.T is one


@pytest.mark.parametrize(
    "kind", ["counts", "quarters", "even", "floats", "float32", "wide", "small"]
)
def test_a_matrix_in_memory(cluster, kind):
    X = pd.DataFrame(matrix(kind).toarray()).add_prefix("c")
    assert_same(cluster_joint(X, None, cluster), joint(X))


@pytest.mark.parametrize("kind", ["counts", "float32"])
@pytest.mark.parametrize("chunks", [(70, 200), (128, 90)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_dask_array(cluster, kind, chunks, make):
    X = matrix(kind)
    blocks = da.from_array(X.toarray(), chunks=chunks).map_blocks(make, dtype=X.dtype)
    assert_same(cluster_joint(blocks, None, cluster), joint(X))


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("counts", "numbers"),
        ("quarters", "numbers"),
        ("floats", "digits"),
        ("wide", "words"),
        ("small", "words"),
    ],
)
def test_a_dask_frame_of_edges(cluster, kind, names):
    frame = edges(matrix(kind), NAMES[names])
    own = cluster_joint(dd.from_pandas(frame, npartitions=5), None, cluster)
    assert_same(own, joint(comarkov.read(frame, rows="user", columns="item", weights="weight")))


@pytest.mark.parametrize("names", ["gaps", "floats"])
def test_lines_without_a_name_are_skipped(cluster, names):
    frame = edges(matrix("counts"), NAMES[names])[["user", "item"]]
    with pytest.warns(UserWarning, match="lines without a name skipped"):
        own = cluster_joint(dd.from_pandas(frame, npartitions=3), None, cluster)
    with pytest.warns(UserWarning, match="without a name skipped"):
        local = joint(comarkov.read(frame, rows="user", columns="item"))
    assert_same(own, local)


def test_a_folder_of_parquet(cluster, tmp_path):
    frame = edges(matrix("floats"), NAMES["words"])
    (tmp_path / "deep").mkdir()
    for i, name in enumerate(("a.parquet", "b.parquet", "deep/c.parquet")):
        frame[i * 9000 : (i + 1) * 9000].to_parquet(tmp_path / name, row_group_size=2000)
    assert_same(
        cluster_joint(tmp_path, None, cluster),
        joint(comarkov.read(frame[:27000], rows="user", columns="item", weights="weight")),
    )


def test_parquet_files_that_are_damaged_or_different_are_named(cluster, tmp_path):
    frame = edges(matrix("counts"), NAMES["words"])
    for name in ("a.parquet", "b.parquet"):
        frame.to_parquet(tmp_path / name)
    content = (tmp_path / "b.parquet").read_bytes()
    middle = content[:100] + b"x" * 500 + content[600:]
    for damaged in (content[:-50], middle):
        (tmp_path / "b.parquet").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"b\.parquet cannot be read: .*Write the file again"):
            cluster_joint(tmp_path, None, cluster)
    frame.rename(columns={"item": "product"}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet has no column 'item'"):
        cluster_joint(tmp_path, None, cluster)


@pytest.mark.parametrize("scheme", ["bm25", "tfidf", "uniform", "log", "presence"])
def test_weights_are_those_of_the_whole(cluster, scheme):
    X = matrix("counts")
    blocks = da.from_array(X.toarray(), chunks=(70, 90))
    own, local = Weighting(scheme), Weighting(scheme)
    assert_same(cluster_joint(blocks, own, cluster), weighted_joint(X, local))
    assert same(vars(own), vars(local))


def test_lost_parts_come_back(tmp_path):
    X = matrix("floats")
    with processes(tmp_path, 2) as started, Client(started.address) as own:
        own.wait_for_workers(2, timeout=30)
        cluster = dask_client.Cluster(own)
        sent = cluster_joint(X, None, cluster)
        computed = cluster_joint(da.from_array(X.toarray(), chunks=(70, 200)), None, cluster)
        started.workers[0].kill()
        started.workers[0].wait(30)
        while len(own.nthreads()) > 1:
            time.sleep(0.05)
        assert sent.parts.restore()
        assert not sent.parts.restore()
        assert sent.T.parts.restore()
        assert not computed.parts.restore()
        for each in (sent, computed):
            assert_same(each, joint(X))


def test_gathering_is_announced(cluster, caplog, monkeypatch):
    own = cluster_joint(matrix("counts"), None, cluster)
    with caplog.at_level(logging.WARNING, "comarkov"):
        assert own.csr.shape == (300, 200)
    assert "gathered from the Dask workers in one place, which takes 0.19 MB" in caplog.text
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 1000}))
    with pytest.raises(MemoryError, match=r"takes 0.19 MB, but this machine has"):
        own.gather()


def test_information(cluster):
    X = matrix("floats")
    own = cluster_joint(X, None, cluster)
    assert own.information == pytest.approx(joint(X).information, rel=1e-11)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"a": [1.5], "b": [1], "c": [1]}, "'a' of names holds 1.5, which is not a whole number"),
        ({"a": [1], "b": [1], "c": [-2]}, "A weight in column 'c' is -2, but"),
        ({"a": [1], "b": [1], "c": [np.nan]}, "A weight in column 'c' is missing, but"),
        ({"a": [1], "b": [1], "c": ["x"]}, "column 'c' of weights is not numeric"),
        ({"a": [1], "b": [1], "c": [1], "d": [1]}, r"has 4 columns \(a, b, c, d\), but"),
        ({"a": [1], "b": [1], "c": [0]}, "no mass: all its entries are zero"),
        ({"a": ["NA"], "b": ["NA"]}, "has no edges"),
    ],
)
def test_what_is_wrong_with_edges(cluster, frame, message):
    with pytest.raises(ValueError, match=message):
        cluster_joint(dd.from_pandas(pd.DataFrame(frame), npartitions=1), None, cluster)


@pytest.mark.parametrize("scheme", [None, "bm25"])
def test_a_store(cluster, tmp_path, scheme):
    frame = edges(matrix("counts"), NAMES["words"])
    data = comarkov.read(frame, rows="user", columns="item", weights="weight")
    comarkov.pack(data, tmp_path / "store")
    own, local = (None if scheme is None else Weighting(scheme) for _ in range(2))
    expected = weighted_joint(data, local)
    for store in (tmp_path / "store", comarkov.read(tmp_path / "store")):
        assert_same(cluster_joint(store, own, cluster), expected)
