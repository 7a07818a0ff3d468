"""Known classes: subfolders, columns of tables, .obs and .var of AnnData, files, Python objects."""

import json

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import refusal
from numpy.testing import assert_array_equal
from refusals import noted

import comarkov

EDGES = (
    "user,item,n,sex,taste\nAnn,tea,1,f,soft\nBob,rum,2,m,hard\nAnn,rum,1,f,hard\nCid,gin,1,,hard\n"
)
SEXES = ["f", "m", ""]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    return tmp_path


def listed(classes):
    return {title: values.tolist() for title, values in classes.items()}


def edges(**keywords):
    return comarkov.read("e.csv", rows="user", columns="item", weights="n", **keywords)


def test_columns_of_an_edge_list(here):
    assert edges().row_classes == {}
    data = edges(row_classes="sex", column_classes=["taste"])
    assert listed(data.row_classes) == {"sex": SEXES}
    assert data.column_names.tolist() == ["gin", "rum", "tea"]
    assert listed(data.column_classes) == {"taste": ["hard", "hard", "soft"]}
    with noted("column taste"):
        several = edges(row_classes="taste")
    assert listed(several.row_classes) == {"taste": ["hard", "hard", "hard"]}


@pytest.mark.parametrize("choose", [str, lambda path: path, lambda path: (path, 0, 1)])
def test_files(here, choose):
    path = here / "c.csv"
    path.write_text("name,sex\nCid,m\nAnn,f\nZoe,f\n")
    data = edges(row_classes=choose(path))
    assert next(iter(data.row_classes.values())).tolist() == ["f", "", "m"]
    assert data.reading == edges().reading  # the classes of these rows are not those of others


def test_the_columns_of_a_file(here):
    (here / "c.tsv").write_text("x\twho\tsex\n1\tAnn\tf\n2\tBob\tm\n")
    expected = {"sex": SEXES}
    assert listed(edges(row_classes="c.tsv:who:sex").row_classes) == expected
    assert listed(edges(row_classes=("c.tsv", "who", "sex")).row_classes) == expected
    assert listed(edges(row_classes=["c.tsv:1:2", "taste"][:1]).row_classes) == expected
    (here / "bare.csv").write_text("Ann,f\nBob,m\n")  # no header: Ann is a user
    assert listed(edges(row_classes="bare.csv").row_classes) == {"bare": SEXES}
    pl.DataFrame({"name": ["Ann", "Bob"], "class": ["f", "m"]}).write_parquet("c.parquet")
    assert listed(edges(row_classes="c.parquet").row_classes) == {"class": SEXES}


def test_files_may_have_ids_or_names(here):
    (here / "n.csv").write_text("Ann,Anna A.\nBob,Robert B.\n")
    for content in ("name,sex\nAnn,f\nBob,m\n", "name,sex\nAnna A.,f\nRobert B.,m\n"):
        (here / "c.csv").write_text(content)
        data = edges(row_names="n.csv", row_classes="c.csv")
        assert data.row_names[0] == "Anna A."
        assert listed(data.row_classes) == {"sex": SEXES}


def test_python_objects(here):
    given = {"Ann": "f", "Bob": "m"}
    for choice in (
        {"sex": given},
        {"sex": ["f", "m", None]},
        {"sex": np.array(["f", "m", ""])},
        pd.Series(given, name="sex"),
    ):
        assert listed(edges(row_classes=choice).row_classes) == {"sex": SEXES}
    assert listed(edges(row_classes=given).row_classes) == {"class": SEXES}


def test_anndata(here):
    rng = np.random.default_rng(0)
    obs = pd.DataFrame(
        {
            "louvain": pd.Categorical(["a", "b", None, "a"]),
            "batch": ["1", "1", "2", "2"],
            "n_genes": [5, 5, 6, 6],
            "barcode": ["w", "x", "y", "z"],
            "comarkov": pd.Categorical(["0", "1", "0", "1"]),
        },
        index=list("wxyz"),
    )
    var = pd.DataFrame({"type": ["p", "q"] * 2}, index=list("ABCD"))
    annotated = anndata.AnnData(rng.poisson(3.0, (4, 4)).astype(float), obs, var)
    annotated.write_h5ad("a.h5ad")
    for source in (annotated, "a.h5ad"):
        data = comarkov.read(source)
        assert listed(data.row_classes) == {
            "louvain": ["a", "b", "", "a"],
            "batch": ["1", "1", "2", "2"],
        }
        assert listed(data.column_classes) == {"type": ["p", "q", "p", "q"]}
        for choice in ("n_genes", "obs:n_genes"):
            chosen = comarkov.read(source, row_classes=choice)
            assert listed(chosen.row_classes) == {"n_genes": ["5", "5", "6", "6"]}
        several = comarkov.read(source, row_classes="louvain,n_genes", column_classes="var:type")
        assert list(several.row_classes) == ["louvain", "n_genes"]
        assert comarkov.read(source, row_classes=[]).row_classes == {}


def test_texts(here):
    records = [{"text": "sun sea", "kind": "a", "year": 1990 + i, "id": i} for i in range(4)]
    records[3]["kind"] = "b"
    for i, each in enumerate(records):
        each["is_new"] = i < 2  # a mark of true and false is no class unless it is chosen
    (here / "t.jsonl").write_text("\n".join(map(json.dumps, records)))
    pl.DataFrame(records).write_csv("t.csv")
    for source in ("t.jsonl", "t.csv"):
        data = comarkov.read(source, text="text")
        assert listed(data.row_classes) == {"kind": ["a", "a", "a", "b"]}
        data = comarkov.read(source, text="text", rows="id", row_classes="year")
        assert listed(data.row_classes) == {"year": ["1990", "1991", "1992", "1993"]}
    for name in ("x/1", "x/2", "y/3"):
        (here / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "f" / name).write_text("sun sea")
    data = comarkov.read("f", row_classes="folder")
    assert listed(data.row_classes) == {"folder": ["x", "x", "y"]}
    assert_array_equal(comarkov.read("f", row_classes={"c": ["1", "2", "1"]}).shape, (3, 2))


@pytest.mark.parametrize(
    ("content", "choice", "words"),
    [
        ("name,c\nx,1\n", "c.csv", 'row_classes="c.csv:name:class"'),
        ("name,c\nAnn,1\nAnn,2\n", "c.csv", "c.csv, line 3: 'Ann'"),
        ("name,c\nAnn\n", "c.csv", "c.csv, line 2"),
        ("name\nAnn\n", "c.csv", "c.csv"),
        ("", "c.csv", "c.csv"),
        ("name,c\n", "c.csv", "c.csv"),
        ("name,c\nAnn,1\n", "c.csv:name:group", "row_classes='c.csv:name:c'"),
        ("", "gender", "user, item, n, sex, taste"),
    ],
)
def test_what_is_refused(here, content, choice, words):
    (here / "c.csv").write_text(content)
    assert words in str(refusal(edges, row_classes=choice))
