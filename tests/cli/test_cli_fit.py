"""``comarkov fit`` and ``sweep``: from a file to a folder that is whole or absent."""

import csv
import html
import json
import os
import re
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import assert_refused, run, run_process, started

import comarkov
from comarkov.cli.results_folder import command

FILES = {
    "rows.csv",
    "columns.csv",
    "blocks.csv",
    "clusters.md",
    "summary.json",
    "heatmap.svg",
    "report.html",
    "model",
    "data.npz",
}
FIT = ("fit", "southern-women", "-k", "2", "-l", "3", "--seed", "0", "-o")
EDGES = """who,what,often
Ann,tea,3
Bob,tea,2
Ann,milk,1
Cid,beer,4
Dan,beer,2
Dan,ale,5
Cid,ale,1
"""


def contents(folder):
    """All files of a folder and what is in them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def timed_fit(tmp_path_factory):
    """What fit has said, its folder, and how many seconds it has computed."""
    folder = tmp_path_factory.mktemp("fit")
    before = os.times()
    done = run_process(*FIT, "women", cwd=folder)
    after = os.times()
    assert done.returncode == 0, done.stderr
    seconds = after.children_user - before.children_user
    return done, folder / "women", seconds + after.children_system - before.children_system


@pytest.fixture(scope="module")
def fitted(timed_fit):
    return timed_fit[:2]


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A file of counts that take long to settle."""
    counts = np.random.default_rng(0).poisson(0.3, (800, 600))
    rows, columns = counts.nonzero()
    path = tmp_path_factory.mktemp("noise") / "noise.csv"
    lines = (f"r{i},c{j},{counts[i, j]}\n" for i, j in zip(rows, columns, strict=True))
    path.write_text("row,column,weight\n" + "".join(lines))
    return path


def test_fit_writes_everything_and_says_where(fitted):
    done, out = fitted
    assert {path.name for path in out.iterdir()} == FILES
    assert os.listdir(out.parent) == ["women"]
    assert done.stderr == ""
    assert "18 women in 2 clusters and 14 events in 3 clusters keep 44.0% of the" in done.stdout
    assert done.stdout.endswith(f"\nThe report is {out / 'report.html'}\n")


def test_the_files_say_what_the_library_finds(fitted):
    _, out = fitted
    women = comarkov.datasets.load("southern-women")
    model = comarkov.CoClustering((2, 3), random_state=0).fit(women.matrix)
    rows = table(out / "rows.csv")
    assert [row["name"] for row in rows] == women.row_names
    assert [int(row["cluster"]) for row in rows] == model.row_labels_.tolist()
    assert [int(row["cluster"]) for row in table(out / "columns.csv")] == (
        model.column_labels_.tolist()
    )
    assert json.loads((out / "summary.json").read_text())["cost"] == model.cost_
    loaded = comarkov.load(out)
    assert loaded.cost_ == model.cost_
    assert loaded.row_names_in_.tolist() == women.row_names


def test_the_same_seed_gives_the_same_bytes(fitted, tmp_path):
    _, out = fitted
    assert run(*FIT, "women", cwd=tmp_path).returncode == 0
    assert contents(tmp_path / "women") == contents(out)


def test_what_is_there_is_left_as_it_is_unless_forced(fitted, tmp_path):
    _, out = fitted
    before = contents(out)
    assert_refused(run(*FIT, out), "exists already. Replace it with --force")
    assert contents(out) == before
    assert run(*FIT, tmp_path / "women").returncode == 0
    assert (
        run("fit", "southern-women", "-k", 3, "-l", 2, "-qfo", tmp_path / "women").returncode == 0
    )
    assert comarkov.load(tmp_path / "women").n_clusters == (3, 2)
    assert os.listdir(tmp_path) == ["women"]


def test_force_replaces_only_our_own(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "summary.json").write_text("years of work")
    done = run_process(*FIT, tmp_path / "thesis", "--force")
    assert_refused(done, "was not written by comarkov, and is not replaced")
    assert contents(tmp_path) == {"thesis/summary.json": b"years of work"}


def test_what_is_not_ours_is_never_offered_for_replacement(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    for place in ("folder", "folder/file"):
        done = run(*FIT, tmp_path / place)
        assert_refused(done, "was not written by comarkov, and is not replaced. Choose another")
        assert "--force" not in done.stderr


def test_standard_input_and_one_side(tmp_path):
    done = run("fit", "-", "-k", 2, "-l", "none", "--json", cwd=tmp_path, stdin=EDGES)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)  # and nothing else
    assert output["columns"]["clusters"] is None
    assert output["out"] == str(tmp_path / "stdin-clusters")
    assert done.stderr == ""
    rows = {row["name"]: row["cluster"] for row in table(tmp_path / "stdin-clusters" / "rows.csv")}
    assert rows["Ann"] == rows["Bob"] != rows["Cid"] == rows["Dan"]


def test_columns_of_a_file_by_name_and_a_weighting(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)
    arguments = ["--rows", "what", "--columns", "who", "--weights", "often", "--weighting", "log"]
    done = run("fit", "edges.csv", *arguments, "-k", 2, "-l", 2, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters"]["weighting"] == "log"
    names = {row["name"] for row in table(tmp_path / "edges-clusters" / "rows.csv")}
    assert names == {"tea", "milk", "beer", "ale"}


MALFORMED = {
    "no such file": (["nowhere.csv"], None, "There is no file 'nowhere.csv', and no data set"),
    "empty": (["bad.csv"], b"", "empty"),
    "ragged": (["bad.csv"], b"a,b,w\nx,y,1\nx,y\n", "line 3"),
    "text for weights": (["bad.csv"], b"user,item,weight\nx,y,1\nx,z,much\n", "line 3"),
    "wrong encoding": (["bad.csv", "--encoding", "utf-8"], b"a,b\nx,\xe4\n", "UTF-8"),
    "no column": (["bad.csv", "--rows", "user", "--columns", "what"], EDGES.encode(), "'user'"),
    "too many clusters": (["bad.csv", "-k", 9], EDGES.encode(), "only 4 rows have mass"),
    "k is no number": (["bad.csv", "-k", "few"], EDGES.encode(), "-k must be a whole number"),
    "k is 0": (["bad.csv", "-k", 0], EDGES.encode(), "-k must be a whole number from 1"),
    "k is a fraction": (["bad.csv", "-k", 2.5], EDGES.encode(), "-k must be a whole number"),
    "beta": (["bad.csv", "--beta", 2], EDGES.encode(), "--beta must be from 0 to 1"),
    "weighting": (["bad.csv", "--weighting", "x"], EDGES.encode(), "Unknown weighting 'x'"),
    "time": (["bad.csv", "--time-limit", "soon"], EDGES.encode(), "--time-limit must be a time"),
    "no time": (["bad.csv", "--time-limit", 0], EDGES.encode(), "--time-limit must be above 0"),
    "nothing to do": (["bad.csv", "-k", "none", "-l", "none"], EDGES.encode(), "leave nothing"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_input_is_one_line_and_writes_nothing(tmp_path, case):
    arguments, content, message = MALFORMED[case]
    if content is not None:
        (tmp_path / "bad.csv").write_bytes(content)
    before = contents(tmp_path)
    assert_refused(run("fit", *arguments, "-o", "out", cwd=tmp_path), message)
    assert contents(tmp_path) == before
    assert not (tmp_path / "out").exists()


def test_one_row_and_one_column_are_nothing_to_cluster(tmp_path):
    (tmp_path / "hello.txt").write_text("hello world\n")
    done = run("fit", "hello.txt", "--no-header", "-o", "out", cwd=tmp_path)
    assert_refused(done, "nothing to cluster")
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert_refused(run(*FIT, tmp_path / "file" / "out"), "file is a file. Choose another path")
    output = run("fit", tmp_path / "file", "-o", "x" * 300, cwd=tmp_path)
    assert_refused(output, "File name too long")  # before the file is read, which is empty


def test_passwords_do_not_get_into_the_files(monkeypatch):
    words = ["comarkov", "fit", "postgresql://me:secret@host/base", "--query", "select 1"]
    monkeypatch.setattr(sys, "argv", words)
    assert command() == "comarkov fit postgresql://me@host/base --query 'select 1'"


def assert_python_makes_the_same_again(out, monkeypatch):
    """Run the Python that the report shows."""
    page = (out / "report.html").read_text(encoding="utf-8")
    script = html.unescape(re.search("import comarkov\nfrom .*?write.*?\\)", page, re.DOTALL)[0])
    monkeypatch.chdir(out)
    exec(script, {})
    for name in ("rows.csv", "columns.csv", "blocks.csv"):
        assert (out / "out" / name).read_bytes() == (out / name).read_bytes()
    shutil.rmtree(out / "out")


def test_the_python_in_the_report_makes_the_same_again(fitted, monkeypatch):
    assert_python_makes_the_same_again(fitted[1], monkeypatch)


def test_a_full_disk(tmp_path):
    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = run_process(*FIT, "out", cwd=tmp_path, limits=full, NUMBA_CACHE_DIR=os.devnull)
    assert_refused(done, "File too large")
    assert os.listdir(tmp_path) == []


# --- long work --------------------------------------------------------------------------------


def test_a_time_limit_keeps_the_best_so_far(tmp_path, noise):
    arguments = ["-k", 9, "-l", 8, "--starts", 100_000, "--time-limit", "1.5s", "-o", "out"]
    done = run("fit", noise, *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == (
        "Note: The fit was stopped because the time limit was reached: the best so far is kept.\n"
    )
    assert comarkov.load(tmp_path / "out").hierarchy_.n_fitted == (9, 8)


def test_ctrl_c_keeps_the_best_so_far(tmp_path, noise, timed_fit):
    process = started(
        "fit", noise, "-k", 9, "-l", 8, "--starts", 100_000, "-o", "out", cwd=tmp_path
    )
    wait_until_busy(process, timed_fit[2])
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "it was interrupted: the best so far is kept." in errors
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_ctrl_c_before_there_is_a_result_leaves_nothing(tmp_path):
    process = started("fit", "-", "-o", "out", cwd=tmp_path)
    wait_until_idle(process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "Interrupted.\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_is_killed_while_it_writes_is_absent_or_whole(tmp_path, how):
    process = started(*FIT, "out", cwd=tmp_path)
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.001)
    process.send_signal(how)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    if (tmp_path / "out").exists():
        assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    elif how == signal.SIGINT:
        assert (process.returncode, os.listdir(tmp_path)) == (130, [])
    else:
        assert run(*FIT, "out", cwd=tmp_path).returncode == 0


def state(process):
    """What a process is doing, and how many seconds it has computed."""
    result = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return result[0], sum(map(int, result[11:13])) / os.sysconf("SC_CLK_TCK")


def wait_until_busy(process, seconds):
    """Wait until a process has computed longer than a small fit takes from beginning to end."""
    while process.poll() is None and state(process)[1] < seconds:
        time.sleep(0.05)


def wait_until_idle(process):
    """Wait until a process has begun and waits for its input."""
    asleep = 0
    while process.poll() is None and asleep < 20:
        doing, seconds = state(process)
        asleep = asleep + 1 if doing == "S" and seconds > 0.5 else 0
        time.sleep(0.02)


# --- sweep ------------------------------------------------------------------------------------


def test_sweep_says_what_is_suggested_and_why(tmp_path, monkeypatch):
    done = run("sweep", "southern-women", "--betas", "1,0.7,0.5", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES | {
        "numbers.csv",
        "betas.csv",
        "path.npz",
    }
    suggested = [
        line for line in table(tmp_path / "out" / "numbers.csv") if line["suggested"] == "True"
    ]
    model = comarkov.load(tmp_path / "out")
    counts = model.hierarchy_.n_fitted
    assert [(int(s["row_clusters"]), int(s["column_clusters"])) for s in suggested] == [counts]
    betas = {float(line["beta"]): line for line in table(tmp_path / "out" / "betas.csv")}
    assert {1.0, 0.7, 0.5} <= betas.keys()
    assert [beta for beta in betas if betas[beta]["suggested"] == "True"] == [model.beta_]
    path = comarkov.CoClustering(counts, random_state=0).beta_path(
        comarkov.datasets.load("southern-women").matrix, [1, 0.7, 0.5]
    )
    assert float(betas[1.0]["cost"]) == path[0].cost
    assert "← suggested" in done.stdout
    before = (tmp_path / "out" / "report.html").read_bytes()
    (tmp_path / "out" / "report.html").unlink()
    assert run("report", "out", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    assert_python_makes_the_same_again(tmp_path / "out", monkeypatch)


def test_sweep_leaves_alone_what_is_given(tmp_path):
    given = "sweep southern-women -k 2 -l 3 --beta 0.8 --json -o out"
    done = run_process(
        *given.split(),
        cwd=tmp_path,
    )
    output = json.loads(done.stdout)
    assert (output["numbers"], output["beta"]) == ([], 0.8)
    assert len(output["betas"]) == 11
    assert not (tmp_path / "out" / "numbers.csv").exists()
    assert_refused(
        run("sweep", "southern-women", "--betas", "1,x", cwd=tmp_path), "--betas must be numbers"
    )
