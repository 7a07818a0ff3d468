"""comarkov cut: from a folder of results to another level of the hierarchy."""

import csv
import json
import shlex

import numpy as np
import pytest
from commands import assert_refused, run

import comarkov


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A folder of results."""
    folder = tmp_path_factory.mktemp("cut") / "women"
    done = run("fit", "southern-women", "-k", 2, "-l", 3, "-qo", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_cut_is_a_folder_like_that_of_fit(out, tmp_path):
    done = run("cut", out, "-k", 4, "-l", 2, "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "women-4x2"
    files = {path.name for path in out.iterdir()}
    assert files <= {path.name for path in folder.iterdir()}
    fit, cut = comarkov.load(out), comarkov.load(folder)
    expected = fit.cut((4, 2))
    assert np.array_equal(cut.row_labels_, expected.row_labels_)
    with open(folder / "columns.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [int(line["cluster"]) for line in lines] == expected.column_labels_.tolist()
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert summary["cost"] == pytest.approx(expected.cost_)
    words = ["comarkov", "cut", str(out), "-k", "4", "-l", "2", "-q"]
    assert summary["command"] == shlex.join(words)
    assert summary["data"]["source"] == "southern-women"
    assert run("predict", folder, "southern-women").returncode == 0
    assert run("report", folder).returncode == 0


def test_a_side_that_is_not_named_stays(out, tmp_path):
    done = run("cut", out, "-l", 5, "-o", tmp_path / "five", "--json")
    summary = json.loads(done.stdout)
    assert [len(summary[side]["clusters"]) for side in ("rows", "columns")] == [2, 5]
    done = run("cut", tmp_path / "five", "-l", 3, "-qo", tmp_path / "back")  # a cut can be cut
    assert done.returncode == 0, done.stderr
    back, fit = comarkov.load(tmp_path / "back"), comarkov.load(out)
    assert np.array_equal(back.column_labels_, fit.column_labels_)


def test_refining_lowers_the_cost(out, tmp_path):
    for name, more in (("plain", []), ("refined", ["--refine"])):
        done = run("cut", out, "-k", 4, "-l", 4, *more, "-qo", tmp_path / name)
        assert done.returncode == 0, done.stderr
    plain, refined = (comarkov.load(tmp_path / name) for name in ("plain", "refined"))
    assert refined.cost_ < plain.cost_
    assert refined.hierarchy_.n_fitted == (4, 4)


def test_what_is_there_is_kept(out, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").touch()
    done = run("cut", out, "-k", 1, "-o", tmp_path / "mine")
    assert_refused(done, "was not written by comarkov")
    assert run("cut", out, "-k", 1, "-qo", tmp_path / "one").returncode == 0
    assert_refused(run("cut", out, "-k", 3, "-o", tmp_path / "one"), "--force")
    assert run("cut", out, "-k", 3, "-qo", tmp_path / "one", "--force").returncode == 0
    assert comarkov.load(tmp_path / "one").row_labels_.max() == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", 99], "-k must be a whole number from 1 to 16, the finest row clusters, not '99'."),
        (["-l", "many"], "-l must be a whole number from 1 to 14"),
        (["-k", 0], "not '0'"),
        (["-k", "none"], "not 'none'"),
    ],
)
def test_errors_end_with_a_command_that_works(out, tmp_path, options, message):
    done = run("cut", out, *options)
    assert_refused(done, message)
    words = shlex.split(done.stderr.split("This works: comarkov ")[1])
    assert run(*words, "-qo", tmp_path / "cut").returncode == 0


def test_a_side_without_clusters(tmp_path):
    folder = tmp_path / "rows"
    assert run("fit", "southern-women", "-k", 2, "-l", "none", "-qo", folder).returncode == 0
    done = run("cut", folder, "-k", 3, "-l", 2)
    assert_refused(done, "-l 2: the columns are not clustered, so leave -l out.")
    assert run("cut", folder, "-k", 3, "-l", "none", "-q", cwd=tmp_path).returncode == 0
    assert comarkov.load(tmp_path / "rows-3").row_labels_.max() == 2


def test_a_folder_without_results(tmp_path):
    assert_refused(run("cut", "nothing", "-k", 2, cwd=tmp_path), "There is no folder 'nothing'.")
    done = run("cut", tmp_path, "-k", 2)
    assert_refused(done, f"There are no results in {tmp_path}. Give a folder that comarkov fit")


def test_a_file_instead_of_a_folder_of_results(tmp_path):
    (tmp_path / "wide.csv").touch()
    done = run("cut", "wide.csv", "-k", 2, cwd=tmp_path)
    assert_refused(done, "cluster them first: comarkov fit wide.csv -o wide-clusters")


def test_a_cut_has_no_reason_for_numbers_that_it_does_not_have(tmp_path):
    fit = run("fit", "southern-women", "-o", tmp_path / "auto")
    reason = json.loads((tmp_path / "auto" / "summary.json").read_text("utf-8"))["selection_reason"]
    assert reason
    assert reason in fit.stdout
    cut = run("cut", tmp_path / "auto", "-k", 3, "-l", 2, "-o", tmp_path / "cut")
    assert cut.returncode == 0, cut.stderr
    assert reason not in cut.stdout
    summary = json.loads((tmp_path / "cut" / "summary.json").read_text("utf-8"))
    assert not summary["selection_reason"]
    assert not summary["selection"]


def test_an_estimate_is_not_offered_for_a_cut(out, tmp_path):
    done = run("cut", out, "-k", 2, "--estimate", cwd=tmp_path)
    assert done.returncode == 2
    assert not list(tmp_path.iterdir())
