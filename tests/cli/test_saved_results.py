"""``comarkov cut``, ``report`` and ``info``: what can be done with a folder of results."""

import csv
import json
import shlex
import shutil

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


def summary(folder):
    return json.loads((folder / "summary.json").read_text("utf-8"))


@pytest.mark.parametrize(
    "content",
    ["[1, 2]", "null", '"x"', "", "[" * 100_000, '{"data": 5}'],
)
def test_a_damaged_summary_is_one_line(out, content, tmp_path):
    folder = tmp_path / "women"
    shutil.copytree(out, folder)
    (folder / "summary.json").write_text(content)
    for command in (("report", folder), ("cut", folder, "-k", 3, "-o", tmp_path / "cut")):
        assert_refused(run(*command), "summary.json")


def test_a_cut_is_a_folder_like_that_of_fit(out, tmp_path):
    done = run("cut", out, "-k", 4, "-l", 2, "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "women-4x2"
    assert {path.name for path in out.iterdir()} <= {path.name for path in folder.iterdir()}
    expected = comarkov.load(out).cut((4, 2))
    assert np.array_equal(comarkov.load(folder).row_labels_, expected.row_labels_)
    with open(folder / "columns.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [int(line["cluster"]) for line in lines] == expected.column_labels_.tolist()
    about = summary(folder)
    assert about["cost"] == pytest.approx(expected.cost_)
    assert about["command"] == shlex.join(
        ["comarkov", "cut", str(out), *["-k", "4", "-l", "2", "-q"]]
    )
    assert about["data"]["source"] == "southern-women"
    assert run("predict", folder, "southern-women").returncode == 0
    assert run("report", folder).returncode == 0


def test_a_side_that_is_not_named_stays(out, tmp_path):
    about = json.loads(run("cut", out, "-l", 5, "-o", tmp_path / "five", "--json").stdout)
    assert [len(about[side]["clusters"]) for side in ("rows", "columns")] == [2, 5]
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
    assert_refused(done, str(tmp_path / "mine"))
    assert "--force" not in done.stderr
    assert run("cut", out, "-k", 1, "-qo", tmp_path / "one").returncode == 0
    assert_refused(run("cut", out, "-k", 3, "-o", tmp_path / "one"), "--force")
    assert run("cut", out, "-k", 3, "-qo", tmp_path / "one", "--force").returncode == 0
    assert comarkov.load(tmp_path / "one").row_labels_.max() == 2


@pytest.mark.parametrize(
    ("options", "word"),
    [("-k 99", "1 to 16"), ("-l 99", "1 to 14"), ("-k 0", "-k"), ("-l x", "-l")],
)
def test_errors_name_the_option_or_the_range(out, tmp_path, options, word):
    assert_refused(run("cut", out, *options.split(), cwd=tmp_path), word)
    assert not list(tmp_path.iterdir())


def test_a_side_without_clusters(tmp_path):
    folder = tmp_path / "rows"
    assert run("fit", "southern-women", "-k", 2, "-l", "none", "-qo", folder).returncode == 0
    assert_refused(run("cut", folder, "-k", 3, "-l", 2, cwd=tmp_path), "columns were not clustered")
    assert run("cut", folder, "-k", 3, "-q", cwd=tmp_path).returncode == 0
    assert comarkov.load(tmp_path / "rows-3").row_labels_.max() == 2


def test_a_place_without_results(tmp_path):
    assert_refused(run("cut", "nothing", "-k", 2, cwd=tmp_path), "'nothing'")
    assert_refused(run("cut", tmp_path, "-k", 2), str(tmp_path))
    (tmp_path / "wide.csv").touch()
    done = run("report", "wide.csv", cwd=tmp_path)
    assert_refused(done, "comarkov fit wide.csv -o wide-clusters")


def test_a_cut_has_no_reason_for_numbers_that_it_does_not_have(tmp_path):
    fit = run("fit", "southern-women", "-o", tmp_path / "auto")
    reason = summary(tmp_path / "auto")["selection_reason"]
    assert reason
    assert reason in fit.stdout
    cut = run("cut", tmp_path / "auto", "-k", 3, "-l", 2, "-o", tmp_path / "cut")
    assert cut.returncode == 0, cut.stderr
    assert reason not in cut.stdout
    about = summary(tmp_path / "cut")
    assert not about["selection_reason"]
    assert not about["selection"]
