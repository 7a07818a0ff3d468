"""Wide tables, matrices, AnnData, graphs, names from elsewhere, and fits of all of them."""

import gzip

import anndata
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import refusal
from numpy.testing import assert_array_equal
from scipy.io import mmwrite

import comarkov
from comarkov import CoClustering, Data, datasets
from comarkov.joint.joint import joint

COUNTS = np.array([[2, 0, 1, 0], [0, 3, 0, 0], [1, 1, 0, 4]])
ROWS, COLUMNS = ["r", "s", "t"], ["a", "b", "c", "d"]
WOMEN = datasets.load("southern-women")


def check(data, rows=ROWS, columns=COLUMNS, matrix=COUNTS):
    assert_array_equal(data.matrix.toarray(), matrix)
    assert data.matrix.has_canonical_format
    n, m = np.shape(matrix)
    assert data.row_names.tolist() == (rows or list(map(str, range(n))))
    assert data.column_names.tolist() == (columns or list(map(str, range(m))))
    assert data.named == (rows is not None, columns is not None)


def test_wide_tables(tmp_path):
    frame = pd.DataFrame(COUNTS, ROWS, COLUMNS)
    frame.to_csv(tmp_path / "t.csv")
    check(comarkov.read(tmp_path / "t.csv"))
    frame.to_csv(tmp_path / "t.tsv", sep="\t", header=False)
    check(comarkov.read(tmp_path / "t.tsv"), columns=None)
    frame.to_csv(tmp_path / "bare.csv", header=False, index=False)
    check(comarkov.read(tmp_path / "bare.csv", kind="table"), None, None)
    assert "kind='table'" in refusal(comarkov.read, tmp_path / "bare.csv").advice
    last = frame.assign(name=ROWS)
    last.to_csv(tmp_path / "t.csv.gz", index=False)
    check(comarkov.read(tmp_path / "t.csv.gz", rows="name"))
    pl.from_pandas(last).write_parquet(tmp_path / "t.parquet")
    check(comarkov.read(tmp_path / "t.parquet", rows="name"))
    frame[["a", "b"]].to_csv(tmp_path / "narrow.csv")
    check(comarkov.read(tmp_path / "narrow.csv", kind="table"), ROWS, ["a", "b"], COUNTS[:, :2])


def test_wide_tables_in_many_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.io.read.wide.CELLS_AT_ONCE", 8)
    table = np.arange(400).reshape(100, 4) % 7
    pd.DataFrame(table, [f"row {i}" for i in range(100)], COLUMNS).to_csv(tmp_path / "t.csv")
    data = comarkov.read(tmp_path / "t.csv")
    assert_array_equal(data.matrix.toarray(), table)
    assert data.row_names[99] == "row 99"


def test_objects():
    frame = pd.DataFrame(COUNTS, ROWS, COLUMNS)
    check(comarkov.read(frame))
    check(comarkov.read(frame.reset_index(names="name")))
    check(comarkov.read(frame.reset_index(drop=True)), None)
    check(comarkov.read(pl.from_pandas(frame.reset_index(names="name"))))
    check(comarkov.read(pl.from_pandas(frame.assign(name=ROWS)), rows="name"))
    check(comarkov.read(COUNTS), None, None)
    check(comarkov.read(sp.coo_array(COUNTS)), None, None)
    data = Data(COUNTS, ROWS, COLUMNS)
    assert comarkov.read(data) is data
    named = comarkov.read(data, row_kind="gene", entry_kind="read")
    assert (named.row_kind, named.column_kind, named.entry_kind) == ("gene", "column", "reads")
    assert comarkov.read(Data(COUNTS / 2), entry_kind="share").entry_kind == "share"
    assert "kind='edges'" in str(refusal(comarkov.read, data, kind="edges"))


@pytest.mark.parametrize("field", ["integer", "real", "pattern"])
def test_matrix_market(field, tmp_path):
    matrix = (COUNTS > 0) * 1 if field == "pattern" else COUNTS
    mmwrite(tmp_path / "m.mtx", sp.coo_array(matrix), field=field)
    check(comarkov.read(tmp_path / "m.mtx"), None, None, matrix)
    packed = gzip.compress((tmp_path / "m.mtx").read_bytes())
    (tmp_path / "m.mtx.gz").write_bytes(packed)
    (tmp_path / "genes.tsv").write_text("r\tRay\ns\tSam\nt\tTim\n")
    (tmp_path / "cells.txt").write_text("a\nb\nc\nd\n")
    names = {"row_names": tmp_path / "genes.tsv", "column_names": tmp_path / "cells.txt"}
    check(comarkov.read(tmp_path / "m.mtx.gz", **names), ROWS, COLUMNS, matrix)
    symbols = f"{tmp_path / 'genes.tsv'}::1"
    assert comarkov.read(tmp_path / "m.mtx", row_names=symbols).row_names[0] == "Ray"
    error = refusal(comarkov.read, tmp_path / "m.mtx", row_names=tmp_path / "cells.txt")
    assert error.file == str(tmp_path / "cells.txt")


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_sparse_npz(make, tmp_path):
    sp.save_npz(tmp_path / "m.npz", make(COUNTS))
    check(comarkov.read(tmp_path / "m.npz"), None, None)


def test_npz_of_one_array_and_what_is_wrong(tmp_path):
    path = tmp_path / "m.npz"
    np.savez(path, X=COUNTS)
    check(comarkov.read(path), None, None)
    parts = {"format": b"csr", "shape": [2, 2], "data": [1.0], "indptr": [0, 1, 1]}
    for wrong, word in (
        ({"X": COUNTS, "Y": COUNTS}, "X, Y"),
        ({"X": np.array([{}], dtype=object)}, "pickle"),
        (parts, "indices"),
        (parts | {"indices": [7]}, "ind"),  # leads out of the matrix
    ):
        np.savez(path, **wrong)
        error = refusal(comarkov.read, path)
        assert error.file == str(path)
        assert word in str(error.args[0])
    path.write_bytes(b"PK\x03\x04 nothing")
    assert "Data.save" in refusal(comarkov.read, path).advice


def test_names_from_elsewhere(tmp_path):
    edges = pl.DataFrame({"user": [1, 2, 3], "item": [7, 7, 8]})
    (tmp_path / "u.txt").write_text("id;age;who\n3;30;Cy\n1;40;Al\n2;50;Al\n")
    for choice in (
        (tmp_path / "u.txt", "id", "who"),
        f"{tmp_path / 'u.txt'}:id:who",
        f"{tmp_path / 'u.txt'}:0:2",
        {"1": "Al", "2": "Al", 3: "Cy"},
        ["Al", "Al", "Cy"],
    ):
        result = comarkov.read(edges, row_names=choice).row_names.tolist()
        numbers = ("0", "1") if isinstance(choice, list) else ("1", "2")
        assert result == [f"Al [{number}]" for number in numbers] + ["Cy"]
    assert comarkov.read(edges, row_names={"1": "Al"}).row_names.tolist() == ["Al", "2", "3"]
    pl.DataFrame({"k": ["1", "2"], "n": ["Zoë", "Ida"]}).write_parquet(tmp_path / "n.parquet")
    named = comarkov.read(edges, row_names=tmp_path / "n.parquet", encoding="latin-1")
    assert named.row_names.tolist() == ["Zoë", "Ida", "3"]
    error = refusal(comarkov.read, edges, row_names=(tmp_path / "u.txt", "who", "id"))
    assert "FILE:IDS:NAMES" in error.advice
    error = refusal(comarkov.read, edges, row_names=(tmp_path / "u.txt", "id", "name"))
    assert f"row_names='{tmp_path / 'u.txt'}:id:who'" in error.advice
    with pytest.raises(FileNotFoundError):
        comarkov.read(edges, row_names="nowhere.csv")


def test_a_file_of_names_with_spaces_and_no_ids(tmp_path):
    (tmp_path / "n.txt").write_text("Ann Lee\nBob\nCy Ray\n")
    named = comarkov.read(COUNTS, row_names=tmp_path / "n.txt")
    assert named.row_names.tolist() == ["Ann Lee", "Bob", "Cy Ray"]


def adata():
    table = sp.csr_matrix(WOMEN.matrix.astype(np.float32))
    sides = (pd.DataFrame(index=names) for names in (WOMEN.row_names, WOMEN.column_names))
    annotated = anndata.AnnData(table, *sides)
    annotated.layers["double"] = table * 2
    return annotated


def test_anndata(tmp_path):
    path = tmp_path / "women.h5ad"
    adata().write_h5ad(path)
    for source in (path, adata()):
        check(comarkov.read(source), WOMEN.row_names, WOMEN.column_names, WOMEN.matrix)
        double = comarkov.read(source, layer="double")
        assert_array_equal(double.matrix.toarray(), 2 * WOMEN.matrix)
        assert refusal(comarkov.read, source, layer="duble").advice == "Use layer='double'."
    path.write_bytes(b"\x89HDF\r\n\x1a\n nothing")
    assert refusal(comarkov.read, path).file == str(path)


def test_clusters_are_written_back_to_h5ad(tmp_path):
    path, out = tmp_path / "women.h5ad", tmp_path / "clusters.h5ad"
    adata().write_h5ad(path)
    model = CoClustering((2, 3), random_state=0).fit(comarkov.read(path))
    comarkov.write_h5ad(path, out, model)
    again = anndata.read_h5ad(out)
    assert again.obs["comarkov"].astype(int).tolist() == model.row_labels_.tolist()
    assert again.var["comarkov"].astype(int).tolist() == model.column_labels_.tolist()
    assert_array_equal(again.var["comarkov_confidence"], model.column_confidence_)
    assert again.uns["comarkov"]["n_clusters"].tolist() == [2, 3]
    assert_array_equal(again.X.toarray(), WOMEN.matrix)
    mine = adata()
    comarkov.write_h5ad(mine, path, model, key="blocks")  # in place of the old file
    assert "blocks" in anndata.read_h5ad(path).obs
    assert "blocks" not in mine.obs
    comarkov.write_h5ad(mine, None, model, key="blocks")
    assert "blocks" in mine.obs
    assert sorted(file.name for file in tmp_path.iterdir()) == ["clusters.h5ad", "women.h5ad"]


def test_clusters_of_other_data_are_not_written(tmp_path):
    model = CoClustering((2, 3), random_state=0).fit(adata())
    for other in (adata()[1:], adata()[::-1].copy()):
        error = refusal(comarkov.write_h5ad, other, tmp_path / "out.h5ad", model)
        assert "its 18 rows" in str(error)
    assert not list(tmp_path.iterdir())


def graph(kind=nx.Graph, marks=True):
    made = kind()
    for side, names in enumerate((ROWS, COLUMNS)):
        made.add_nodes_from(names, **({"bipartite": side} if marks else {}))
    for i, j in np.argwhere(COUNTS):
        made.add_edge(ROWS[i], COLUMNS[j], weight=int(COUNTS[i, j]))
    return made


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
@pytest.mark.parametrize("marks", [True, False])
def test_bipartite_graphs(kind, marks):
    check(comarkov.read(graph(kind, marks)))


def test_edges_of_a_graph_weigh_what_is_said():
    ones = comarkov.read(graph(), weights="nothing")
    assert_array_equal(ones.matrix.toarray(), COUNTS > 0)
    many = graph(nx.MultiGraph)
    many.add_edge("c", "s", weight=2)  # from either end, and a second one is added
    many.add_edge("c", "s", weight=3)
    assert comarkov.read(many).matrix[1, 2] == 5


def test_the_davis_graph_is_the_southern_women(tmp_path):
    davis = nx.davis_southern_women_graph()
    davis.graph.clear()  # lists, which GraphML cannot hold
    nx.write_graphml(davis, tmp_path / "davis.graphml")
    for source in (davis, tmp_path / "davis.graphml"):
        check(comarkov.read(source), WOMEN.row_names, WOMEN.column_names, WOMEN.matrix)
    nx.write_gml(nx.Graph(davis.edges), tmp_path / "davis.gml")
    assert comarkov.read(tmp_path / "davis.gml").shape == (18, 14)
    (tmp_path / "davis.gml").write_text("graph [ node")
    assert refusal(comarkov.read, tmp_path / "davis.gml").file == str(tmp_path / "davis.gml")


def test_graphs_that_are_not_bipartite():
    half = nx.Graph([(0, 1)])
    half.nodes[0]["bipartite"] = 0
    heavy = graph()
    heavy.add_edge("r", "b", weight="much")
    inside = graph()
    inside.add_edge(*ROWS[:2])
    for wrong, advice in (
        (inside, "comarkov.communities(graph)"),
        (nx.Graph([(0, 1), (2, 3)]), "['bipartite'] = 0"),
        (nx.Graph(), "graph.add_edge("),
        (half, "graph.nodes[1]['bipartite'] = 0"),
        (heavy, "graph.edges['r', 'b']['weight'] = 1"),
    ):
        assert advice in refusal(comarkov.read, wrong).advice


def test_the_nodes_of_other_graphs_are_rows_and_columns(tmp_path):
    karate = nx.karate_club_graph()
    expected = nx.to_numpy_array(karate)
    for source in (karate, nx.DiGraph(karate)):
        data = comarkov.read(source)
        assert_array_equal(data.matrix.toarray(), expected)
        assert_array_equal(data.row_names, data.column_names)
    path = nx.path_graph(["a", "b", "c"])  # bipartite, but a network all the same
    assert comarkov.read(path).shape == (2, 1)
    assert comarkov.read(path, kind="network").shape == (3, 3)
    writers = {"graphml": nx.write_graphml, "gml": nx.write_gml, "gexf": nx.write_gexf}
    for suffix, write in (writers | {"net": nx.write_pajek}).items():
        write(nx.Graph(karate.edges), tmp_path / f"karate.{suffix}")
        data = comarkov.read(tmp_path / f"karate.{suffix}", kind="network")
        assert data.matrix.sum() == 2 * karate.number_of_edges()


def test_igraph():
    igraph = pytest.importorskip("igraph")
    made = igraph.Graph.TupleList([("a", "b", 2), ("b", "c", 1), ("c", "a", 1)], weights=True)
    data = comarkov.read(made, kind="network")
    assert data.matrix[*[list(data.row_names).index(name) for name in "ab"]] == 2
    assert comarkov.read(made).shape == (3, 3)


SOURCES = {
    "Data": lambda: Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names),
    "Dataset": lambda: WOMEN,
    "AnnData": adata,
    "graph": nx.davis_southern_women_graph,
}


@pytest.mark.parametrize("name", SOURCES)
def test_fits_take_it_and_carry_names(name):
    source = SOURCES[name]()
    model = CoClustering((2, 3), random_state=0).fit(source)
    plain = CoClustering((2, 3), random_state=0).fit(WOMEN.matrix)
    assert_array_equal(model.row_labels_, plain.row_labels_)
    assert model.feature_names_in_.tolist() == WOMEN.column_names
    assert model.row_names_in_.tolist() == WOMEN.row_names
    assert model.n_features_in_ == 14
    assert_array_equal(model.predict(source), plain.predict(WOMEN.matrix))
    assert_array_equal(model.predict(source, "columns"), plain.predict(WOMEN.matrix, "columns"))
    assert model.score(source) == plain.score(WOMEN.matrix)
    assert model.cut((2, 2), source).cost_ > 0
    assert joint(source).row_names.tolist() == WOMEN.row_names


def test_numbers_made_up_are_no_names():
    nameless = Data(WOMEN.matrix)
    model = CoClustering((2, 3), random_state=0).fit(nameless)
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "row_names_in_")
    assert_array_equal(model.predict(Data(WOMEN.matrix)), model.row_labels_)
