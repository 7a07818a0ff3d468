"""Without the packages of an extra: one line that says what to install, and nothing lost."""

import io
import sqlite3
from contextlib import closing

import pytest

import comarkov
from comarkov import CoClustering, Results, datasets
from comarkov.io.read import raw_tables
from comarkov.joint import messages
from comarkov.joint.messages import CLI, need, size_text, time_text

ADVICE = "Run: pip install 'comarkov[cli]'"


@pytest.fixture
def bare(monkeypatch):
    """As if nothing but the required packages were installed."""
    missing = {*CLI, "anndata", "duckdb", "networkx", "psycopg"}
    find = messages.find_spec
    vars(raw_tables.pl).clear()  # what it has imported
    monkeypatch.setattr(
        messages, "find_spec", lambda package: None if package in missing else find(package)
    )


@pytest.fixture
def women():
    return datasets.load("southern-women")


def test_what_is_missing_is_named(bare):
    need("Adding", "numpy")
    with pytest.raises(ImportError) as error:
        need("Reading", "polars", "numpy", "rich")
    assert str(error.value).endswith(f"polars, rich. {ADVICE}")


def database():
    """The bytes of an SQLite database with a table."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table bought (who, what)")
        connection.execute("insert into bought values ('Ann', 'tea')")
        connection.commit()
        return connection.serialize()


@pytest.mark.parametrize(
    ("name", "content", "packages", "install"),
    [
        ("edges.csv", b"Ann,tea,2\n", "polars", "comarkov[cli]"),
        ("edges.parquet", b"PAR1", "polars", "comarkov[cli]"),
        ("shop.db", database(), "polars", "comarkov[cli]"),
        ("edges.csv.zst", b"\x28\xb5\x2f\xfd", "zstandard", "comarkov[cli]"),
        ("cells.h5ad", b"?", "anndata", "comarkov[anndata]"),
        ("graph.gml", b"?", "networkx", "networkx"),
        ("postgresql://host/shop", None, "polars, psycopg", "comarkov[databases]"),
        ("duckdb:///shop.duckdb", None, "duckdb, polars", "comarkov[databases]"),
    ],
)
def test_what_reading_needs(bare, tmp_path, monkeypatch, name, content, packages, install):
    monkeypatch.chdir(tmp_path)
    (tmp_path / (name if content else "shop.duckdb")).write_bytes(content or b"")
    with pytest.raises(ImportError) as error:
        comarkov.read(name, query=None if content else "select 1")
    assert str(error.value).endswith(f"needs {packages}. Run: pip install '{install}'")


def test_what_needs_no_package_is_read(bare, tmp_path, women):
    data = comarkov.Data(women.matrix, women.row_names, women.column_names)
    data.save(tmp_path / "women.npz")
    again = comarkov.read(tmp_path / "women.npz")
    assert (again.matrix != data.matrix).nnz == 0
    texts = comarkov.read(["red tea", "red rum", "tea rum"])
    assert texts.column_names.tolist() == ["red", "rum", "tea"]
    fitted = CoClustering(2, random_state=0).fit(["red tea", "red rum", "tea rum"])
    assert fitted.feature_names_in_.tolist() == ["red", "rum", "tea"]
    market = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n"
    assert comarkov.read(io.BytesIO(market.encode())).matrix[0, 1] == 3


def test_results_are_not_begun(bare, tmp_path, women):
    model = CoClustering((2, 3), random_state=0).fit(women.matrix)
    results = Results.of(model, women)
    assert results.describe().startswith("18 rows in 2 clusters")
    with pytest.raises(ImportError):
        results.write(tmp_path / "new" / "women")
    assert not any(tmp_path.iterdir())


def test_sizes_and_times_in_words():
    assert [size_text(count) for count in (1_234_000_000, 5_000, 7)] == [
        "1.2 GB",
        "5 kB",
        "7 bytes",
    ]
    times = [time_text(seconds) for seconds in (1, 3.21, 200, 9000)]
    assert times == ["about a second", "about 3 seconds", "about 3 minutes", "about 2.5 hours"]
