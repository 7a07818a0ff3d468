"""``comarkov fit`` and ``choose``: from a file to a folder that is whole or absent."""

import csv
import html
import json
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from commands import assert_refused, assert_report_is_rebuilt, run, run_process, started
from dask_processes import processes
from helpers import numbers

import comarkov

FILES = {f"{name}.csv" for name in ("rows", "columns", "blocks", "indicators")}
FILES |= {"clusters.md", "summary.json", "heatmap.svg", "report.html", "model", "data.npz"}
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
def fitted(tmp_path_factory):
    """What fit has printed, and its folder."""
    folder = tmp_path_factory.mktemp("fit")
    done = run_process(*FIT, "women", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done, folder / "women"


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A file of counts that take long to settle."""
    counts = np.random.default_rng(0).poisson(0.3, (800, 600))
    rows, columns = counts.nonzero()
    path = tmp_path_factory.mktemp("noise") / "noise.csv"
    lines = (f"r{i},c{j},{counts[i, j]}\n" for i, j in zip(rows, columns, strict=True))
    path.write_text("row,column,weight\n" + "".join(lines))
    return path


def test_the_files_hold_what_the_library_finds(fitted):
    done, out = fitted
    assert {path.name for path in out.iterdir()} == FILES
    assert os.listdir(out.parent) == ["women"]
    assert done.stderr == ""
    assert done.stdout.startswith("18 women in 2 clusters and 14 events in 3 clusters keep 44.0%")
    assert done.stdout.endswith(f"\nThe report is {out / 'report.html'}\n")
    women = comarkov.datasets.load("southern-women")
    model = comarkov.CoClustering((2, 3), random_state=0).fit(women.matrix)
    rows, columns = table(out / "rows.csv"), table(out / "columns.csv")
    assert [row["name"] for row in rows] == women.row_names
    assert [int(row["cluster"]) for row in rows] == numbers(model)
    assert [int(row["cluster"]) for row in columns] == numbers(model, "columns")
    loaded = comarkov.load(out)
    assert json.loads((out / "summary.json").read_text())["cost"] == loaded.cost_ == model.cost_
    assert loaded.row_names_in_.tolist() == women.row_names


def test_results_are_replaced_only_if_forced(fitted, tmp_path):
    shutil.copytree(fitted[1], tmp_path / "women")
    assert_refused(run(*FIT, tmp_path / "women"), "--force")
    assert contents(tmp_path / "women") == contents(fitted[1])
    again = run("fit", "southern-women", "-k", 3, "-l", 2, "-qfo", tmp_path / "women")
    assert again.returncode == 0
    assert comarkov.load(tmp_path / "women").n_clusters == (3, 2)
    assert os.listdir(tmp_path) == ["women"]


@pytest.mark.parametrize("place", ["thesis", "thesis/summary.json"])
def test_what_is_not_ours_is_never_replaced(tmp_path, place):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "summary.json").write_text("years of work")
    done = run(*FIT, tmp_path / place, "--force")
    assert_refused(done, str(tmp_path / place))
    assert "--force" not in done.stderr
    assert contents(tmp_path) == {"thesis/summary.json": b"years of work"}


def test_standard_input_and_one_side(tmp_path):
    done = run("fit", "-", "-k", 2, "-l", "none", "--json", cwd=tmp_path, stdin=EDGES)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)  # and nothing else
    assert output["columns"]["clusters"] is None
    assert output["out"] == str(tmp_path / "stdin-clusters")
    assert done.stderr == ""
    rows = {row["name"]: row["cluster"] for row in table(tmp_path / "stdin-clusters" / "rows.csv")}
    assert rows["Ann"] == rows["Bob"] != rows["Cid"] == rows["Dan"]


MALFORMED = {  # the options, what the file holds, and what the error must name
    "empty": ("", b"", "bad.csv"),
    "text for weights": ("", b"user,item,weight\nx,y,1\nx,z,much\n", "line 3"),
    "one row and column": ("--no-header", b"hello world\n", "--kind texts"),
    "too many clusters": ("-k 9", EDGES.encode(), "only 4 rows"),
    "k is no number": ("-k few", EDGES.encode(), "-k 5"),
    "k is 0": ("-k 0", EDGES.encode(), "-k 5"),
    "beta": ("--beta 2", EDGES.encode(), "--beta 0.7"),
    "weighting": ("--weighting x", EDGES.encode(), "bm25"),
    "time": ("--time-limit soon", EDGES.encode(), "'soon'"),
    "no time": ("--time-limit 0", EDGES.encode(), "--time-limit"),
    "nothing to do": ("-k none -l none", EDGES.encode(), "-k auto"),
    "engine": ("--engine spark", EDGES.encode(), "local, dask"),
    "scheduler": ("--scheduler tcp://127.0.0.1:9", EDGES.encode(), "--engine dask"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_input_is_one_line_and_writes_nothing(tmp_path, case):
    options, content, word = MALFORMED[case]
    (tmp_path / "bad.csv").write_bytes(content)
    assert_refused(run("fit", "bad.csv", *options.split(), "-o", "out", cwd=tmp_path), word)
    assert contents(tmp_path) == {"bad.csv": content}


def test_a_place_that_cannot_be_read_or_written(tmp_path):
    assert_refused(run("fit", "nowhere.csv", cwd=tmp_path), "'nowhere.csv'")
    (tmp_path / "file").write_text("")
    assert_refused(run(*FIT, tmp_path / "file" / "out"), str(tmp_path / "file"))
    output = run("fit", tmp_path / "file", "-o", "x" * 300, cwd=tmp_path)
    assert_refused(output, "x" * 300)  # before the file is read, which is empty


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


# --- long work --------------------------------------------------------------------------------


def test_rows_and_columns_with_the_same_names_may_be_a_network(tmp_path):
    (tmp_path / "trade.csv").write_text(",fr,de,it\nfr,0,9,1\nde,8,0,2\nit,1,2,0\n")
    done = run("fit", "trade.csv", "-o", "out", cwd=tmp_path)
    advised = done.stderr.partition("comarkov ")[2].split()
    assert advised == ["network", "trade.csv"]
    assert run(*advised, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [("--time-limit 1.5s", "--time-limit was reached"), ("", "it was interrupted")],
)
def test_what_is_cut_short_keeps_the_best_so_far(tmp_path, noise, options, reason):
    search = ["-k", 9, "-l", 8, "--starts", 100_000, "-o", "out"]
    ctrl_c = threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT))
    if not options:  # a small fit first, as compiling cannot be interrupted
        run("fit", noise, *search, "--time-limit", "0.1s", "--force", cwd=tmp_path)
        ctrl_c.start()
    done = run("fit", noise, *search, *options.split(), "--force", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert comarkov.load(tmp_path / "out").hierarchy_.n_fitted == (9, 8)


def test_what_is_killed_while_it_writes_is_absent_or_whole(tmp_path):
    process = started(*FIT, "out", cwd=tmp_path)
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.001)
    process.kill()
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    if (tmp_path / "out").exists():
        assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    else:
        assert run(*FIT, "out", cwd=tmp_path).returncode == 0


# --- choose -----------------------------------------------------------------------------------


def test_choose_says_what_is_suggested_and_why(tmp_path, monkeypatch):
    done = run("choose", "southern-women", "-o", "out", cwd=tmp_path)
    out = tmp_path / "out"
    assert done.returncode == 0, done.stderr
    more = {"numbers.csv", "betas.csv"}
    assert {path.name for path in out.iterdir()} == FILES | more
    suggested = [line for line in table(out / "numbers.csv") if line["suggested"] == "True"]
    model = comarkov.load(out)
    counts = model.hierarchy_.n_fitted
    assert [(int(s["row_clusters"]), int(s["column_clusters"])) for s in suggested] == [counts]
    betas = {float(line["beta"]): line for line in table(out / "betas.csv")}
    assert [beta for beta in betas if betas[beta]["chosen"] == "True"] == [model.beta_]
    assert {1.0, 0.7, 0.5} <= betas.keys()
    assert "← suggested" in done.stdout
    assert_report_is_rebuilt(out)
    assert_python_makes_the_same_again(out, monkeypatch)


def test_choose_leaves_alone_what_is_given(tmp_path):
    given = "choose southern-women -k 2 -l 3 --beta 0.8 --json -o out"
    output = json.loads(run(*given.split(), cwd=tmp_path).stdout)
    assert (output["numbers"], output["beta"]) == ([], 0.8)
    assert output["betas"] == []
    assert not {"numbers.csv", "betas.csv"} & {path.name for path in (tmp_path / "out").iterdir()}


# --- engines and checkpoints ------------------------------------------------------------------


def test_workers_of_a_scheduler(fitted, tmp_path):
    with processes(tmp_path, 1) as started_workers:
        options = ["--engine", "dask", "--scheduler", started_workers.address]
        done = run(*FIT, "dask", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "distributed" not in done.stderr
    for name in ("rows.csv", "columns.csv", "blocks.csv"):
        assert (tmp_path / "dask" / name).read_text() == (fitted[1] / name).read_text()


def test_a_checkpoint_is_removed_at_the_end(tmp_path):
    (tmp_path / "fit.npz").write_text("something else")
    done = run(*FIT, "out", "--checkpoint", "fit.npz", cwd=tmp_path)
    assert_refused(done, "--checkpoint other.npz")
    (tmp_path / "fit.npz").unlink()
    assert run(*FIT, "out", "--checkpoint", "fit.npz", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "fit.npz").exists()
