"""Results: the numbers against their definitions, and the files."""

import base64
import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers import models, numbers
from hypothesis import given, settings
from matplotlib.image import imread
from scipy.cluster.hierarchy import is_valid_linkage

from comarkov import AIB, SIB, CoClustering, Data, Results, cost, datasets, load, plot_heatmap, read
from comarkov.cli.saved_results import read_results
from comarkov.costs.objective import bits
from comarkov.io.csv_files import unquote_formula
from comarkov.joint.joint import joint
from comarkov.joint.messages import InputError
from comarkov.results.findings import findings_of
from comarkov.results.pictures import heatmap_svg

WOMEN = datasets.load("southern-women")
SVG = "{http://www.w3.org/2000/svg}"
FILES = {f"{name}.csv" for name in ("rows", "columns", "blocks", "indicators")}
FILES |= {"clusters.md", "summary.json", "heatmap.svg", "report.html", "model", "data.npz"}
NASTY = ["=1+1", 'say "hi", twice', "two\nlines", "<script>alert(1)</script>", "@ann", " spaced "]


@pytest.fixture(scope="module")
def model():
    return CoClustering((2, 3), n_init=10, random_state=0).fit(WOMEN.matrix)


@pytest.fixture(scope="module")
def results(model):
    return Results.of(model, WOMEN)


def lines(text):
    return list(csv.DictReader(io.StringIO(text)))


@settings(max_examples=40)
@given(models())
def test_all_parts_add_up_to_the_information_kept(problem):
    W, model = problem
    model.fit(W)
    result = findings_of(model, weights=joint(W).csr)
    kept = model.information_.row_clusters_column_clusters
    for parts in (
        result.rows.bits.sum(),
        result.columns.bits.sum(),
        bits(result.blocks).sum(),
    ):
        assert parts == pytest.approx(kept, abs=1e-9)
    for side in (result.rows, result.columns):
        if side.is_clustered:
            assert side.sizes.sum() == (side.labels >= 0).sum()
            for a in range(side.n_clusters):
                members = side.members(a)
                assert side.ranks[members].tolist() == list(range(1, members.size + 1))
                assert (np.diff(side.bits[members]) <= 1e-15).all()


def test_blocks_by_their_definition(model, results):
    P = WOMEN.matrix / WOMEN.matrix.sum()
    for line in lines(results.tables()["blocks.csv"]):
        sides = results.findings.sides
        rows, columns = (
            side.numbers_of(side.labels) == int(line[f"{side.axis}_cluster"]) for side in sides
        )
        share = P[np.ix_(rows, columns)].sum()
        expected = P[rows].sum() * P[:, columns].sum()
        assert (int(line["rows"]), int(line["columns"])) == (rows.sum(), columns.sum())
        assert float(line["mass"]) == pytest.approx(share * WOMEN.matrix.sum(), rel=1e-5)
        assert float(line["share"]) == pytest.approx(share, rel=1e-5)
        assert float(line["expected"]) == pytest.approx(expected, rel=1e-5)
        assert float(line["lift"]) == pytest.approx(share / expected, rel=1e-5)
        density = (WOMEN.matrix[np.ix_(rows, columns)] > 0).mean()
        assert float(line["density"]) == pytest.approx(density, rel=1e-5)


def test_distinctive_by_its_definition(model):
    P = WOMEN.matrix / WOMEN.matrix.sum()
    mass = P[model.row_labels_ == 0].sum(axis=0)
    lift = mass / mass.sum() / P.sum(axis=0)
    bits = np.where(mass > 0, mass * np.log2(np.where(mass > 0, lift, 1)), 0)
    best = np.argsort(-bits, kind="stable")[:3]
    result = model.top_features(0, n=3)
    assert [feature.name for feature in result] == [str(i) for i in best]
    assert [feature.lift for feature in result] == pytest.approx(lift[best])
    assert [feature.bits for feature in result] == pytest.approx(bits[best])
    assert len(model.top_features(side="columns")) == 3
    with pytest.raises(InputError):
        model.top_features(2)


@pytest.mark.parametrize("n_clusters", [(4, 3), (3, 2), (5, 6), "leaves"])
def test_the_merges_of_findings_lead_from_the_clusters_to_one(n_clusters):
    """Of a fit, of cuts on both sides of it, and of its leaves, which a cut numbers anew."""
    fit = CoClustering((4, 3), n_init=1, random_state=0).fit(WOMEN.matrix)
    model = fit.cut(fit.hierarchy_.n_leaves if n_clusters == "leaves" else n_clusters)
    result = findings_of(model)
    before = cost(WOMEN.matrix, model.row_labels_, model.column_labels_, model.beta_)
    after = cost(WOMEN.matrix, np.zeros(18, int), np.zeros(14, int), model.beta_)
    heights = [side.linkage[-1, 2] for side in (result.rows, result.columns)]
    assert max(heights) == pytest.approx(after - before, abs=1e-9)
    for side in (result.rows, result.columns):
        assert side.linkage.shape == (side.n_clusters - 1, 4)
        assert is_valid_linkage(side.linkage)


def test_results_take_the_weighted_data_of_the_fit(model, results, monkeypatch):
    monkeypatch.setattr("comarkov.results.results.joint_of_fit", lambda *given: 1 / 0)
    weighted = joint(WOMEN.matrix)
    assert Results.of(model, WOMEN, weighted=weighted).tables() == results.tables()
    with pytest.raises(ZeroDivisionError):
        Results.of(model, WOMEN)  # weights and checks the data again


@pytest.mark.parametrize(
    ("n_clusters", "weighting"), [((2, 3), "bm25"), ((3, None), None), ((None, 3), None), (1, None)]
)
def test_all_files_of_all_kinds_of_fits(tmp_path, n_clusters, weighting):
    matrix = WOMEN.matrix.copy()
    matrix[3] = 0  # a row without mass
    model = CoClustering(n_clusters, weighting=weighting, reject=0.8, random_state=0).fit(matrix)
    results = Results.of(model, Data(matrix, WOMEN.row_names, WOMEN.column_names))
    results.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    rows = lines((tmp_path / "rows.csv").read_text())
    assert [line["name"] for line in rows] == WOMEN.row_names
    if n_clusters != (None, 3):
        assert [int(line["cluster"]) for line in rows] == numbers(model)
        assert all((line["rank"] == "") == (line["cluster"] == "-1") for line in rows)
        given_confidence = [float(line["confidence"]) for line in rows]
        assert given_confidence == pytest.approx(model.row_confidence_, abs=1e-4)
    else:
        assert {line["cluster"] for line in rows} == {""}
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["information"]["kept"] == pytest.approx(model.information_.kept)
    assert summary["parameters"]["random_state"] == 0
    for text in (results.describe(), model.describe()):
        assert text.startswith("No clusters were found" if n_clusters == 1 else "18 rows")


@pytest.mark.parametrize(
    "fitted",
    [
        lambda W: SIB(3, random_state=0).fit(W),
        lambda W: AIB(3).fit(W),
        lambda W: CoClustering((4, 4), random_state=0).fit(W).cut((2, 3)),
        lambda W: CoClustering((2, 3), method="anneal", random_state=0).fit(W),
        lambda W: CoClustering("auto", beta="auto", random_state=0).fit(W),
    ],
    ids=["SIB", "AIB", "cut", "anneal", "auto"],
)
def test_all_files_of_all_kinds_of_models(tmp_path, fitted):
    model = fitted(WOMEN.matrix)
    results = Results.of(model, WOMEN)
    results.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    page = (tmp_path / "report.html").read_text()
    assert f"from comarkov import {type(model).__name__}" in page
    assert ("How β was chosen" in page) == hasattr(model, "beta_selection_")
    assert ("How many clusters: the evidence" in page) == hasattr(model, "selection_")


def test_the_command_line_takes_the_folder(tmp_path):
    frame = pd.DataFrame(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names)
    model = CoClustering("auto", random_state=0).fit(frame)
    labels = model.row_labels_
    results = Results.of(model, frame)
    model.set_params(n_clusters=1).fit(frame)  # of which the results know nothing
    results.write(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert read_results(tmp_path / "out").to_html() == results.to_html()
    assert (load(tmp_path / "out").predict(read(tmp_path / "out" / "data.npz")) == labels).all()


def test_a_folder_is_whole_or_as_it_was(results, tmp_path, monkeypatch):
    out = tmp_path / "out"
    results.write(out)
    with pytest.raises(FileExistsError):
        results.write(out)
    (out / "rows.csv").unlink()
    results.write(out, overwrite=True)
    assert {path.name for path in out.iterdir()} == FILES
    monkeypatch.setattr("comarkov.results.results.heatmap_svg", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        results.write(tmp_path / "other")
    assert list(tmp_path.iterdir()) == [out]


def test_rejected_elements_have_no_rank(results):
    model = CoClustering((2, 3), n_init=5, reject=0.9, random_state=0).fit(WOMEN.matrix)
    out = model.row_labels_ < 0
    assert out.any()
    result = findings_of(model)
    assert (result.rows.ranks[out] == 0).all()
    assert (result.rows.ranks[~out] > 0).all()
    assert set(result.orders.rows[-out.sum() :]) == set(np.flatnonzero(out))
    assert result.blocks == pytest.approx(results.findings.blocks)  # what was rejected still counts


def test_names_come_back_from_the_csv_as_they_were(tmp_path):
    matrix = sp.random_array((6, 6), density=0.9, random_state=np.random.default_rng(0))
    results = Results.of(CoClustering(2, random_state=0).fit(matrix), Data(matrix, NASTY, NASTY))
    results.write(tmp_path, for_spreadsheets=True)
    names = [line["name"] for line in lines((tmp_path / "rows.csv").read_text("utf-8-sig"))]
    assert not [name for name in names if name[0] in "=+-@"]
    assert list(map(unquote_formula, names)) == NASTY
    assert [line["name"] for line in lines(results.tables()["columns.csv"])] == NASTY
    markdown = (tmp_path / "clusters.md").read_text()
    assert "<script" not in markdown
    assert "\nlines" not in markdown


def test_the_same_results_are_the_same_bytes(results):
    assert results.texts() == results.texts()


def test_the_heatmap_is_the_reordered_matrix_with_names_titles_and_borders(results):
    svg = ElementTree.fromstring(results.texts()["heatmap.svg"])
    texts = [element.text for element in svg.iter(f"{SVG}text")]
    titles = [f"{i}  {title}"[:20] for i, title in enumerate(results.findings.rows.titles, 1)]
    assert set(WOMEN.row_names + WOMEN.column_names) <= set(texts)
    assert {text[:20] for text in texts} >= set(titles)
    assert len(list(svg.iter(f"{SVG}path"))) == 1 + 2  # borders between clusters
    (image,) = svg.iter(f"{SVG}image")
    pixels = imread(io.BytesIO(base64.b64decode(image.get("href").partition(",")[2])))
    ordered = WOMEN.matrix[np.ix_(*results.findings.orders)]
    assert np.array_equal(pixels[..., 0] < 0.5, ordered > 0)


def test_a_large_heatmap_is_reduced_and_hostile_names_are_text():
    matrix = sp.random_array((900, 50), density=0.05, random_state=np.random.default_rng(0))
    names = [f"<b>{i}\x00\uffff</b>" for i in range(50)]
    labels = np.arange(900) % 4, np.arange(50) % 3
    model = CoClustering((4, 3), init=labels, method="sequential", max_iter=1, tol=1e9)
    model.fit(matrix)
    svg = heatmap_svg(findings_of(model, (None, names)), sp.csr_array(matrix))
    texts = [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert "<b>0</b>" in texts
    assert len(texts) == 50 + 4 + 3  # names of columns, titles of clusters


def test_results_take_what_fit_takes(model, results):
    frame = pd.DataFrame(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names)
    named = CoClustering((2, 3), n_init=10, random_state=0).fit(frame)
    bare = pd.DataFrame(WOMEN.matrix)
    for X in (frame, WOMEN.matrix, sp.coo_array(WOMEN.matrix), WOMEN.matrix.tolist(), bare):
        assert Results.of(named, X).tables() == results.tables()
    assert Results.of(model, frame).tables() == results.tables()
    assert Results.of(model, bare).findings.rows.names[:2].tolist() == ["0", "1"]
    renamed = Data(WOMEN.matrix, [name.split()[0] for name in WOMEN.row_names], None, "woman")
    rows, columns = Results.of(named, renamed).findings.sides
    assert (rows.names[0], columns.names[0], rows.kind) == ("Evelyn", "E1", "woman")


def test_documents_without_names_are_numbered_from_1():
    texts = ["sun sea", "sea sun", "ice snow", "snow ice"]
    model = CoClustering(2, random_state=0).fit(texts)
    lines = model.results(texts).tables()["rows.csv"].splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["1", "2", "3", "4"]


def test_elements_that_share_a_name_are_told_apart():
    frame = pd.DataFrame(WOMEN.matrix, ["x", "x", *WOMEN.row_names[2:]], WOMEN.column_names)
    model = CoClustering((2, 3), n_init=10, random_state=0).fit(frame)
    results = Results.of(model, frame)
    names = [line["name"] for line in lines(results.tables()["rows.csv"])]
    assert names == ["x [0]", "x [1]", *WOMEN.row_names[2:]]
    for output in (results.describe(), model.describe()):
        assert "typical: x [0], x [1], " in output
    assert model.top_features(1, n=1, side="columns")[0].name == "x [0]"


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.T,
        lambda frame: frame.iloc[:10],
        lambda frame: frame.iloc[::-1],
        lambda frame: frame.to_numpy()[:, ::-1],
    ],
)
def test_data_that_are_not_those_of_the_fit(change):
    frame = pd.DataFrame(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names)
    model = CoClustering((2, 3), weighting="bm25", random_state=0).fit(frame)
    for use in (Results.of, plot_heatmap):
        with pytest.raises(InputError) as error:
            use(model, change(frame))
        assert "same order" in error.value.advice


def test_a_notebook_shows_the_small_report_once_fitted(model):
    frame = pd.DataFrame(WOMEN.matrix, [f"<b>{n}</b>" for n in WOMEN.row_names], WOMEN.column_names)
    named = CoClustering((2, 3), n_init=5, random_state=0).fit(frame)
    page = named._repr_mimebundle_()["text/html"]
    assert f"{named.information_.kept:.1%}" in page
    assert "&lt;b&gt;Evelyn Jefferson&lt;/b&gt;" in page
    assert "<b>Evelyn" not in page
    assert "&lt;b&gt;Evelyn" in named._repr_html_()
    assert "bits kept" not in CoClustering()._repr_html_()
    assert "Evelyn" not in model._repr_html_()
    assert "<svg" in Results.of(named, frame)._repr_html_()
