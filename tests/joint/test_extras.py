"""Without the packages of an extra: one line that says what to install, and nothing lost."""

import io

import pytest

import comarkov
from comarkov import CoClustering, Results, datasets
from comarkov.joint import messages
from comarkov.joint.messages import CLI, need

ADVICE = r"Run: pip install 'comarkov\[cli\]'$"


@pytest.fixture
def bare(monkeypatch):
    """As if nothing but the required packages were installed."""
    missing = {*CLI, "anndata", "duckdb", "networkx", "psycopg"}
    find = messages.find_spec
    monkeypatch.setattr(
        messages, "find_spec", lambda package: None if package in missing else find(package)
    )


@pytest.fixture
def women():
    return datasets.load("southern-women")


def test_what_is_missing_is_named(bare):
    need("Adding", "numpy")
    with pytest.raises(ImportError, match=rf"^Reading needs polars, rich\. {ADVICE}"):
        need("Reading", "polars", "numpy", "rich")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("edges.csv", b"Ann,tea,2\n", "Reading tables needs polars"),
        ("edges.parquet", b"PAR1", "Reading tables needs polars"),
        ("shop.db", b"SQLite format 3\0", "Reading databases needs polars"),
        ("edges.csv.zst", b"\x28\xb5\x2f\xfd", "Unpacking .zst files needs zstandard"),
    ],
)
def test_files(bare, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ImportError, match=rf"^{message}\. {ADVICE}"):
        comarkov.read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "advice"), [("cells.h5ad", "comarkov[anndata]"), ("graph.gml", "networkx")]
)
def test_files_of_other_packages(bare, tmp_path, name, advice):
    (tmp_path / name).write_bytes(b"?")
    with pytest.raises(ImportError) as error:
        comarkov.read(tmp_path / name)
    assert str(error.value).endswith(f"Run: pip install '{advice}'")


@pytest.mark.parametrize(
    ("address", "packages", "extra"),
    [
        ("postgresql://host/shop", "polars, psycopg", "databases"),
        ("duckdb:///shop.duckdb", "duckdb, polars", "databases"),
        ("mysql://host/shop", "polars", "cli"),
    ],
)
def test_databases(bare, tmp_path, monkeypatch, address, packages, extra):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.duckdb").touch()
    advice = rf"needs {packages}\. Run: pip install 'comarkov\[{extra}\]'$"
    with pytest.raises(ImportError, match=advice):
        comarkov.read(address, query="select 1")


def test_lists(bare):
    with pytest.raises(ImportError, match=ADVICE):
        comarkov.read([("Ann", "tea"), ("Bob", "rum")])
    counts = comarkov.read([{"tea": 2}, {"rum": 1}])
    assert counts.column_names.tolist() == ["rum", "tea"]


def test_names_in_a_file(bare, tmp_path):
    (tmp_path / "names.csv").write_text("Ann\nBob\n")
    with pytest.raises(ImportError, match=ADVICE):
        comarkov.read([[1, 2], [3, 4]], row_names=tmp_path / "names.csv")


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
    with pytest.raises(ImportError, match=rf"^Writing results needs jinja2\. {ADVICE}"):
        results.write(tmp_path / "new" / "women")
    assert not any(tmp_path.iterdir())
    with pytest.raises(ImportError, match=rf"^The report needs jinja2\. {ADVICE}"):
        results.to_html()


def test_drawings(bare, women):
    model = CoClustering((2, 3), method="anneal", keep_path=True, random_state=0).fit(women.matrix)
    for draw in (
        lambda: comarkov.plot_heatmap(model, women.matrix),
        lambda: comarkov.plot_blocks(model),
        lambda: comarkov.plot_path(model),
    ):
        with pytest.raises(ImportError, match=rf"^Drawing needs matplotlib\. {ADVICE}"):
            draw()
