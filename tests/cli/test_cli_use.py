"""Commands that use what fit has left, or judge it."""

import csv
import io
import json
import shlex
import shutil

import numpy as np
import pandas as pd
import pytest
from commands import assert_refused, run, run_process, started
from helpers import numbers

import comarkov
from comarkov.results.findings import findings_of


@pytest.fixture(scope="module")
def women():
    return comarkov.datasets.load("southern-women")


@pytest.fixture(scope="module")
def frame(women):
    return pd.DataFrame(women.matrix, women.row_names, women.column_names)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A folder of results."""
    folder = tmp_path_factory.mktemp("use") / "women"
    done = run("fit", "southern-women", "-k", 2, "-l", 3, "-qo", folder)
    assert done.returncode == 0, done.stderr
    return folder


def parsed(text):
    return list(csv.DictReader(io.StringIO(text)))


# --- predict ----------------------------------------------------------------------------------


def test_predict_says_what_the_library_says(out, frame):
    new = frame.iloc[3:9, ::-1]
    edges = new.stack().reset_index().set_axis(["who", "what", "n"], axis=1)
    done = run_process("predict", out, "-", stdin=edges.to_csv(index=False))
    assert done.returncode == 0, done.stderr
    labels, sure = comarkov.load(out).predict(new, return_confidence=True)
    result = {line["name"]: line for line in parsed(done.stdout)}
    assert result.keys() == set(new.index)
    of_label = findings_of(comarkov.load(out)).rows.numbers
    for name, label, confidence in zip(new.index, labels, sure, strict=True):
        assert int(result[name]["cluster"]) == of_label[label]
        assert float(result[name]["confidence"]) == pytest.approx(confidence, abs=6e-5)


def test_predict_columns_as_json_into_a_file(out, frame, tmp_path):
    edges = frame.iloc[:, :4].stack().reset_index().set_axis(["who", "what", "n"], axis=1)
    edges.to_csv(tmp_path / "new.csv", index=False)
    arguments = ["--side", "columns", "--json", "-o", tmp_path / "result.csv"]
    done = run("predict", out / "model", tmp_path / "new.csv", *arguments)
    output = json.loads(done.stdout)
    assert {line["name"]: line["cluster"] for line in output} == {f"E{i}": 1 for i in (1, 2, 3, 4)}
    assert [line["name"] for line in parsed((tmp_path / "result.csv").read_text())] == [
        line["name"] for line in output
    ]


def test_predict_writes_to_standard_output_and_to_files(out, tmp_path):
    plain = run("predict", out, "southern-women")
    piped = run_process("predict", out, "southern-women", "-o", "/dev/stdout")
    assert piped.stdout == plain.stdout != ""
    (tmp_path / "real.csv").write_text("mine")
    again = "predict", out, "southern-women", "-o", tmp_path / "real.csv"
    assert_refused(run(*again), "--force")
    assert (tmp_path / "real.csv").read_text() == "mine"
    run(*again, "--force")
    assert (tmp_path / "real.csv").read_text() == plain.stdout
    nowhere = run("predict", out, "southern-women", "-o", tmp_path / "nowhere" / "x.csv")
    assert_refused(nowhere, "not a writable folder")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "-"], "'nowhere'"),
        (["women", "-", "--side", "both"], "--side rows"),
        (["women", "nowhere.csv"], "'nowhere.csv'"),
        (["women", "-"], "stdin (u, y)"),
        (["women", "-", "more.csv"], "comarkov predict women -"),
    ],
)
def test_predict_refuses(out, arguments, message):
    done = run("predict", *arguments, cwd=out.parent, stdin="a,b,w\nx,y,1\nz,u,2\n")
    assert_refused(done, message)


# --- evaluate ---------------------------------------------------------------------------------


@pytest.fixture
def truth(out, tmp_path):
    """Classes of 16 women in another order, one of them wrong, and of one who was not there."""
    rows = parsed((out / "rows.csv").read_text())
    lines = [f"{row['name']},group {row['cluster']}" for row in rows[:0:-1]][:16]
    lines[0] = lines[0].replace("group 2", "group 1")
    path = tmp_path / "truth.csv"
    path.write_text("\n".join(["name,class", *lines, "Zelda,group 1"]) + "\n")
    return path


def test_evaluate_joins_by_name(out, truth):
    output = json.loads(run_process("evaluate", out / "rows.csv", truth, "--json").stdout)
    assert (output["elements"], output["only_in_labels"], output["only_in_truth"]) == (16, 2, 1)
    assert output["map"] == output["purity"] == 15 / 16
    classes = np.array([0] + [1] * 8 + [0] * 7)
    clusters = np.array([1] * 9 + [0] * 7)
    assert output["ari"] == pytest.approx(comarkov.evaluate.adjusted_rand_index(classes, clusters))
    text = run("evaluate", out, truth).stdout
    assert text.startswith("93.8% of 16 elements")
    assert ": 9 elements, 89% group 2, 11% group 1\n" in text
    assert output["table"]["counts"] == [[7, 0], [1, 8]]


def test_evaluate_counts_those_in_no_cluster(tmp_path):
    (tmp_path / "labels.tsv").write_text("id\tfound\na\t0\nb\t0\nc\t\nd\t-1\n")
    (tmp_path / "truth.csv").write_text("id,kind,other\na,x,1\nb,x,2\nc,y,3\nd,y,4\n")
    done = run("evaluate", "labels.tsv", "truth.csv", "--json", cwd=tmp_path)
    output = json.loads(done.stdout)
    assert (output["in_no_cluster"], output["clusters"], output["map"]) == (2, 1, 0.5)
    done = run("evaluate", "labels.tsv:id:found", "truth.csv::other", cwd=tmp_path)
    assert "classes                    4" in done.stdout


@pytest.mark.parametrize(
    ("labels", "truth", "message"),
    [
        ("name,cluster\na,1\n", "name,class\nb,1\n", "'a'; classes of 'b'"),
        ("name,cluster\na,1\na,2\n", "name,class\na,1\n", "labels.csv, line 3: 'a'"),
        (None, "name,class\na,1\n", "'labels.csv'"),
    ],
)
def test_evaluate_refuses(tmp_path, labels, truth, message):
    for name, text in (("labels.csv", labels), ("truth.csv", truth)):
        if text is not None:
            (tmp_path / name).write_text(text)
    assert_refused(run("evaluate", "labels.csv", "truth.csv", cwd=tmp_path), message)


# --- compare, report, info --------------------------------------------------------------------


def test_compare_says_what_the_library_says(tmp_path, women, truth):
    arguments = ["-k", 2, "-l", 3, "--methods", "sequential,itcc,aib", "--starts", 5]
    csv_file = tmp_path / "table.csv"
    done = run_process("compare", "southern-women", *arguments, "--json", "-o", csv_file)
    output = json.loads(done.stdout)
    table = comarkov.compare(women.matrix, (2, 3), ["sequential", "itcc", "aib"], n_init=5)
    assert [line["method"] for line in output] == table["method"].tolist()
    assert [line["cost_1"] for line in output] == table["cost_1"].tolist()
    assert [float(line["kept"]) for line in parsed(csv_file.read_text())] == table["kept"].tolist()
    again = run("compare", "southern-women", *arguments, "-o", csv_file)
    assert_refused(again, "--force")
    done = run("compare", "southern-women", *arguments, "--row-classes", truth)
    assert "'Evelyn Jefferson', 'Laura Mandeville'" in done.stderr
    assert_refused(run("compare", "southern-women"), "for example: -k 2 -l 3")


def test_report_is_made_anew_without_its_source(out, tmp_path):
    copy = tmp_path / out.name  # which the commands in the report name
    shutil.copytree(out, copy)
    before = (copy / "report.html").read_text("utf-8")
    (copy / "report.html").write_text("lost")
    done = run_process("report", copy)
    assert done.stdout == f"The report is {copy / 'report.html'}\n"
    after = (copy / "report.html").read_text("utf-8").replace(str(copy), "OUT")
    assert after.replace(str(out), "OUT") == before.replace(str(out), "OUT")  # in commands
    (copy / "data.npz").write_bytes(b"no data")
    assert_refused(run("report", copy), "data.npz")
    (tmp_path / "wide.csv").touch()
    for folder, advice in (
        ("nothing", "'nothing'"),
        (tmp_path, f"'{tmp_path}'"),
        ("wide.csv", "comarkov fit wide.csv -o wide-clusters"),
    ):
        assert_refused(run("report", folder, cwd=tmp_path), advice)


def test_info_tells_of_chains_and_types_too(women, tmp_path):
    states = np.arange(60) % 3
    comarkov.MarkovAggregation(2, random_state=0).fit(states).save(tmp_path / "chain")
    output = json.loads(run("info", tmp_path / "chain", "--json").stdout)
    facts = [output[name] for name in ("model", "states", "clusters")]
    assert facts == ["MarkovAggregation", 3, [2, 1]]
    types = {("women", "events"): women.matrix}
    comarkov.MultiwayClustering(2, random_state=0).fit(types).save(tmp_path / "types")
    text = run("info", tmp_path / "types").stdout
    assert "clusters of women       2, with 8 and 10 members" in text
    output = run("predict", tmp_path / "chain", "southern-women")
    assert_refused(output, "holds a chain")


def test_info_says_what_a_model_is(out):
    output = json.loads(run_process("info", out, "--json").stdout)
    model = comarkov.load(out)
    assert output["cost"] == model.cost_
    assert output["row_clusters"] == np.bincount(model.row_labels_).tolist()
    assert output["parameters"]["random_state"] == 0
    text = run("info", out / "model").stdout
    assert "column clusters  3, with 3, 6 and 5 members" in text
    assert "information      1.172 bits\nkept             44.0%" in text
    assert_refused(run("info", out.parent), "There is no model in")


def test_a_reader_that_has_seen_enough_is_no_error(out):
    process = started("info", out)
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (1, "")


# --- cut ----------------------------------------------------------------------------------------


def summary(folder):
    return json.loads((folder / "summary.json").read_text("utf-8"))


@pytest.mark.parametrize(
    "content",
    ["null", "", "[" * 100_000, '{"data": 5}'],
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
    lines = parsed((folder / "columns.csv").read_text())
    assert [int(line["cluster"]) for line in lines] == numbers(expected, "columns")
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
    assert_refused(run("cut", out, "-k", 3, "-o", tmp_path / "five"), "--force")
    done = run("cut", tmp_path / "five", "-l", 3, "-qo", tmp_path / "back")  # a cut can be cut
    assert done.returncode == 0, done.stderr
    back, fit = comarkov.load(tmp_path / "back"), comarkov.load(out)
    assert np.array_equal(back.column_labels_, fit.column_labels_)
    refine = ("-k", 4, "-l", 4, "--refine", "-qo", tmp_path / "refined")
    assert run("cut", out, *refine).returncode == 0
    assert comarkov.load(tmp_path / "refined").cost_ < fit.cut((4, 4)).cost_


@pytest.mark.parametrize(
    ("options", "word"),
    [("-k 99", "1 to 16"), ("-l x", "-l")],
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
