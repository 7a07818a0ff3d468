"""Known classes and remembered options on the command line: fit, predict, evaluate."""

import csv
import json
import shutil

import anndata
import numpy as np
import pandas as pd
import pytest
from commands import assert_refused, run

SEA = ["sun and sea and sand", "sea sand shell", "sun sea shell sand", "sand sea sun"]
ICE = ["snow and ice", "ice snow frost", "frost and ice and snow", "frost snow"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A folder of texts in two subfolders, and the results of fit on it."""
    here = tmp_path_factory.mktemp("texts")
    for folder, listed in (("sea", SEA), ("ice", ICE)):
        (here / "all" / folder).mkdir(parents=True)
        for i, text in enumerate(listed):
            (here / "all" / folder / f"{i}.txt").write_bytes(f"{text} caf\xe9\r\n".encode("cp1252"))
    (here / "all" / "photo.png").write_bytes(b"\x89PNG\0")
    done = run("fit", "all", "-k", 2, "-l", 2, "--stop-words", "none", "-o", "out", cwd=here)
    assert done.returncode == 0, done.stderr
    assert "8 of 8 files" in done.stderr
    assert "--encoding latin-2" in done.stderr
    assert "photo.png" in done.stderr
    return here


def predicted(*arguments, cwd):
    done = run("predict", "out", *arguments, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return [line["cluster"] for line in json.loads(done.stdout)], done.stderr


def test_predict_reads_new_texts_like_the_old_ones(texts):
    (texts / "letter.txt").write_text("sand and sea\n\nsun today")
    one, note = predicted("letter.txt", cwd=texts)
    assert "today" in note
    printed = run("predict", "out", "letter.txt", cwd=texts).stdout.splitlines()
    assert printed[0] == "name,cluster,confidence,title"
    assert "sea" in printed[1].split(",")[3]
    (texts / "new").mkdir()
    shutil.copy(texts / "letter.txt", texts / "new" / "a")
    (texts / "new" / "b").write_text("snow and ice")
    both, _ = predicted("new", cwd=texts)
    assert both == [one[0], 3 - one[0]]
    (texts / "new.csv").write_text("id,body\n1,sand and sea\n2,snow and ice\n")
    assert predicted("new.csv", "--text", "body", cwd=texts) == (both, "")


def test_predict_texts_without_a_known_word(texts):
    (texts / "unknown.txt").write_text("quartz vexed")
    clusters, note = predicted("unknown.txt", cwd=texts)
    assert clusters == [-1]
    assert "quartz, vexed" in note
    (texts / "empty.txt").write_text("")
    assert_refused(run("predict", "out", "empty.txt", cwd=texts), "empty.txt")


def test_evaluate_with_the_subfolders(texts):
    for arguments in (["out"], ["out", "folder"]):
        done = run("evaluate", *arguments, "--json", cwd=texts)
        scores = json.loads(done.stdout)
        assert (scores["map"], scores["elements"], scores["classification"]) == (1, 8, "folder")
    printed = run("evaluate", "out", cwd=texts).stdout
    assert printed.startswith("100.0% of 8 elements are in the cluster that matches their class: 2")
    assert "4 elements, 100% sea" in printed


def test_evaluate_with_anndata(tmp_path):
    matrix = np.kron(np.eye(2), np.ones((3, 3))) * 5 + 1
    obs = pd.DataFrame({"kind": ["x"] * 3 + ["y"] * 3, "n": [1, 2, 3] * 2}, index=list("abcdef"))
    obs["half"] = ["u", "v"] * 3
    var = pd.DataFrame({"group": ["p"] * 3 + ["q"] * 3}, index=list("ABCDEF"))
    anndata.AnnData(matrix, obs, var).write_h5ad(tmp_path / "cells.h5ad")
    run("fit", "cells.h5ad", "-k", 2, "-l", 2, "-o", "out", cwd=tmp_path)
    done = run("evaluate", "out", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["map"] == 1
    assert "comarkov evaluate out half" in done.stderr
    for arguments, score, value in (
        (["out", "half"], "map", 4 / 6),
        (["out", "--side", "columns"], "map", 1),
        (["out", "out"], "map", 1),  # clusters are compared with clusters
    ):
        done = run("evaluate", *arguments, "--json", cwd=tmp_path)
        assert json.loads(done.stdout)[score] == value
    assert_refused(run("evaluate", "out", "x", cwd=tmp_path), "kind, half")


def test_classes_from_a_file_and_options_that_are_remembered(tmp_path):
    lines = [f"u{i};7;{'ab'[i // 3]}{j};1" for i in range(6) for j in range(3)]
    (tmp_path / "e.csv").write_text("\n".join(lines))
    (tmp_path / "c.csv").write_text("who,what\n" + "\n".join(f"u{i},{i // 3}" for i in range(5)))
    reading = ["--rows", 0, "--columns", 2, "--weights", 3, "--row-classes", "c.csv:who:what"]
    done = run("fit", "e.csv", "-k", 2, "-l", 2, *reading, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Of 5 rows with a known what, 100% are in a cluster in which" in done.stdout
    with open(tmp_path / "out" / "rows.csv", newline="") as file:
        known = {line["name"]: line["what"] for line in csv.DictReader(file)}
    assert known == {f"u{i}": str(i // 3) if i < 5 else "" for i in range(6)}
    scores = json.loads(run("evaluate", "out", "--json", cwd=tmp_path).stdout)
    assert (scores["map"], scores["elements"], scores["without_a_class"]) == (1, 5, 1)
    (tmp_path / "new.csv").write_text("x;9;a0;1\nx;9;a1;1\ny;9;b2;1\n")
    labels, note = predicted("new.csv", cwd=tmp_path)
    assert sorted(labels) == [1, 2]
    assert note == ""


def test_what_evaluate_refuses(texts, tmp_path):
    (texts / "flat").mkdir()
    (texts / "flat" / "a").write_text("sea")
    for arguments, words in (
        (["out", "nowhere.csv"], "'nowhere.csv'"),
        (["out", "--side", "both"], "rows, columns"),
        (["out", "--side", "columns"], "comarkov evaluate OUT classes.csv"),
        (["out/rows.csv"], "comarkov evaluate OUT classes.csv"),
        (["out", "flat"], "flat/rows.csv"),
    ):
        assert_refused(run("evaluate", *arguments, cwd=texts), words)
