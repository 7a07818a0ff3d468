"""One algorithm: the same labels from memory, from disk and from Dask, by any number of threads."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask_processes import processes
from distributed import Client
from helpers import refused, same

import comarkov
from comarkov import CoClustering
from comarkov.io.store import building
from comarkov.joint import joint, parts

FITTED = (
    "row_labels_",
    "column_labels_",
    "row_confidence_",
    "column_margins_",
    "information_",
    "digest",
)


@pytest.fixture(scope="module", autouse=True)
def dask_client(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("dask"), 2) as started, Client(started.address) as own:
        own.wait_for_workers(2, timeout=120)
        yield own


@pytest.fixture(autouse=True)
def many_parts(monkeypatch):
    """Divide even small matrices, and treat them like large ones."""
    monkeypatch.setattr(parts, "ENTRIES", 300)
    monkeypatch.setattr(parts, "PER_COLUMN", 1)
    monkeypatch.setattr(joint, "MAX_DOUBLE_ENTRIES", 0)
    monkeypatch.setattr(building, "MAX_DOUBLE_ENTRIES", 0)


@pytest.fixture(scope="module", params=["counts", "weights"])
def data(request):
    rng = np.random.default_rng(3)
    rates = rng.gamma(0.4, 4.0, (5, 4))[rng.integers(5, size=90)][:, rng.integers(4, size=70)]
    X = rng.poisson(rates).astype(float)
    if request.param == "weights":
        X *= rng.uniform(0.1, 3.0, X.shape)
    return comarkov.Data(X, [f"u{i:02}" for i in range(90)], [f"i{i:02}" for i in range(70)])


def fitted(X, **parameters):
    method = {"method": "sequential", "max_iter": 2, "random_state": 0, **parameters}
    model = CoClustering((4, 3), **method)
    model.digest = model._fit(X).digest  # of the data, for checkpoints
    return model


def edges(data):
    coo = sp.coo_array(data.matrix)
    return pd.DataFrame(
        {"user": data.row_names[coo.row], "item": data.column_names[coo.col], "n": coo.data}
    )


def stored(data, folder):
    return comarkov.pack(data, folder / "store")


def in_parquet(data, folder):
    edges(data).to_parquet(folder / "edges.parquet", row_group_size=500)
    return folder


SOURCES = {
    "memory": lambda data, folder: data,
    "store": stored,
    "parquet": in_parquet,
    "frame": lambda data, folder: dd.from_pandas(edges(data), npartitions=3),
    "array": lambda data, folder: da.from_array(data.matrix.toarray(), chunks=(40, 50)),
}


@pytest.mark.filterwarnings("ignore:No convergence")
def test_every_engine_and_source_gives_the_same_fit(data, tmp_path):
    models = {"one thread": fitted(data), "two threads": fitted(data, n_jobs=2)}
    models["disk"] = fitted(stored(data, tmp_path / "disk"), n_jobs=2)
    for name, make in SOURCES.items():
        (tmp_path / name).mkdir()
        models[name] = fitted(make(data, tmp_path / name), engine="dask")
    for name, model in models.items():
        for attribute in (*FITTED, "digest"):
            one, other = getattr(model, attribute), getattr(models["one thread"], attribute)
            assert same(one, other), (name, attribute)


@pytest.mark.filterwarnings("ignore:No convergence")
def test_names_and_weights_come_from_the_cluster(data, tmp_path):
    frame = dd.from_pandas(edges(data), npartitions=3)
    model = fitted(frame, engine="dask", weighting="bm25")
    local = fitted(data, weighting="bm25")
    assert same(model.row_labels_, local.row_labels_)
    assert model.feature_names_in_.tolist() == data.column_names.tolist()
    assert model.row_names_in_.tolist() == data.row_names.tolist()
    assert same(model.weighting_.idf_, local.weighting_.idf_)
    assert same(model.predict(data), local.predict(data))


def test_objects_of_dask_need_the_engine():
    with refused('CoClustering(engine="dask")'):
        CoClustering(2).fit(da.ones((4, 4)))
