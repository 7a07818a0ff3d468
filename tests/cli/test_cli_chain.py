"""``comarkov chain``: transitions and sequences in, an aggregated chain in a folder out."""

import csv
import html
import json
import re

import numpy as np
import pytest
from commands import assert_refused, assert_report_is_written_again, run

import comarkov

STATES = ["fog", "rain", "storm", "sun"]
COUNTS = np.array([[30, 10, 10, 50], [12, 30, 40, 8], [3, 50, 20, 27], [20, 15, 5, 60]])
FILES = {"states.csv", "clusters.csv", "transitions.csv", "clusters.md"} | {
    *("summary.json", "report.html", "model", "data.npz")
}


def walk():
    """A sequence in which transitions between states are as often as in COUNTS, but for one."""
    left, state, path = COUNTS.copy(), 0, [0]
    rng = np.random.default_rng(0)
    while left[state].any():
        following = rng.choice(4, p=left[state] / left[state].sum())
        left[state, following] -= 1
        state = int(following)
        path.append(state)
    return path


def counts_of(path):
    counts = np.zeros((4, 4), int)
    np.add.at(counts, (path[:-1], path[1:]), 1)
    return counts


def edges(counts):
    return "".join(
        f"{STATES[i]},{STATES[j]},{counts[i, j]}\n" for i, j in np.ndindex(4, 4) if counts[i, j]
    )


def wide(counts):
    lines = (",".join([name, *map(str, row)]) for name, row in zip(STATES, counts, strict=True))
    return "\n".join([",".join(["from", *STATES]), *lines]) + "\n"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    (folder / "weather.txt").write_text(" ".join(STATES[i] for i in walk()) + "\n")
    done = run("chain", "weather.txt", "-k", 2, "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done, folder / "out"


@pytest.fixture(scope="module")
def model():
    return comarkov.MarkovAggregation(2, random_state=0).fit(counts_of(walk()))


def labels(out):
    with open(out / "states.csv", newline="", encoding="utf-8") as file:
        return {line["name"]: int(line["cluster"]) for line in csv.DictReader(file)}


def test_chain_writes_what_the_library_computes(fitted, model):
    done, out = fitted
    assert {path.name for path in out.iterdir()} == FILES
    assert labels(out) == dict(zip(STATES, model.labels_.tolist(), strict=True))
    summary = json.loads((out / "summary.json").read_text())
    assert summary["cost"] == model.cost_
    assert summary["transition_matrix"] == model.transition_matrix_.tolist()
    assert summary["clusters"][0]["title"] in done.stdout
    assert done.stdout.startswith("4 states in 2 clusters: the clusters keep ")
    assert done.stdout.endswith(f"The report is {out / 'report.html'}\n")


def sequence_table():
    """One visited state per line, two sequences, the lines in no order."""
    path = walk()
    lines = [f"a,{100 * t},{STATES[i]}" for t, i in enumerate(path[:200])]
    lines += [f"b,{t}.5,{STATES[i]}" for t, i in enumerate(path[199:])]
    np.random.default_rng(1).shuffle(lines)
    return "\n".join(["id,seconds,state", *lines]) + "\n"


INPUTS = {
    "edge list": ("edges.csv", lambda: "from,to,n\n" + edges(counts_of(walk())), []),
    "square table": ("table.csv", lambda: wide(counts_of(walk())), []),
    "one state per line": ("path.txt", lambda: "\n".join(STATES[i] for i in walk()), []),
    "letters": (
        *("letters.txt", lambda: "".join("frts"[i] for i in walk())),
        ["--kind", "sequences", "--separator", "none"],
    ),
    "events": (
        *("events.csv", sequence_table),
        ["--kind", "sequences", "--rows", "id", "--columns", "state", "--time", "seconds"],
    ),
}


@pytest.mark.parametrize("case", INPUTS)
def test_every_kind_of_input_gives_the_same_chain(tmp_path, model, case):
    name, content, options = INPUTS[case]
    (tmp_path / name).write_text(content())
    done = run("chain", name, "-k", 2, *options, "--json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cost"] == pytest.approx(model.cost_, abs=1e-12)


def test_trajectories_of_numbers_in_a_folder(tmp_path, model):
    path = walk()
    (tmp_path / "runs").mkdir()
    np.save(tmp_path / "runs" / "a.npy", path[:150])
    np.savetxt(tmp_path / "runs" / "b.txt", path[149:])
    done = run("chain", "runs", "-k", 2, "--held-out", 0.3, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(labels(tmp_path / "out")) == ["0", "1", "2", "3"]
    assert "held-out transitions" in done.stdout
    tested = comarkov.load(tmp_path / "out").lumpability_test_
    assert 0 < tested.n_transitions < len(path) / 2


def test_other_commands_know_the_folder(fitted, tmp_path):
    _, out = fitted
    assert_report_is_written_again(out)
    assert "MarkovAggregation" in run("info", out).stdout
    (tmp_path / "known.csv").write_text("name,class\nfog,dry\nsun,dry\nrain,wet\nstorm,wet\n")
    assert "4" in run("evaluate", out, tmp_path / "known.csv").stdout.splitlines()[0]


def test_new_states_are_placed_by_where_they_go(fitted, tmp_path):
    _, out = fitted
    lines = "drizzle,rain,30\ndrizzle,storm,40\nheat,sun,9\nheat,hail,3\nvoid,hail,2\n"
    (tmp_path / "new.csv").write_text("from,to,n\n" + lines)
    done = run("predict", out, "new.csv", cwd=tmp_path)
    assert "1 of 4 states is not in the model and was ignored: hail" in done.stderr
    header, *placed = csv.reader(done.stdout.splitlines())
    assert header == ["name", "cluster", "confidence", "title"]
    known, titles = labels(out), json.loads((out / "summary.json").read_text())["clusters"]
    for line, name, like in zip(placed, ("drizzle", "heat"), ("rain", "sun"), strict=False):
        assert line[:2] == [name, str(known[like])]
        assert float(line[2]) > 0.9
        assert line[3] == titles[known[like]]["title"]
    assert placed[2] == ["void", "-1", "0.0000", ""]
    command = f"comarkov predict {out} new.csv"
    refused = run("predict", out, "new.csv", "--side", "columns", cwd=tmp_path)
    assert_refused(refused, f"Run: {command}")
    assert_refused(run("predict", out, "new.csv", "new.csv", cwd=tmp_path), f"Run: {command}")
    turned = run("predict", out, "new.csv", "--rows", "to", "--columns", "from", cwd=tmp_path)
    assert_refused(turned, f"{command} --rows FROM --columns TO")


def test_the_python_on_the_page_gives_the_same_clusters(fitted, monkeypatch, capsys):
    _, out = fitted
    page = (out / "report.html").read_text(encoding="utf-8")
    script = html.unescape(re.search(r"import comarkov\nfrom .*?print\(.*?\)", page, re.DOTALL)[0])
    monkeypatch.chdir(out)
    exec(script, {})
    assert capsys.readouterr().out == f"{comarkov.load(out).labels_}\n"


def test_what_is_there_is_left_unless_forced(fitted):
    _, out = fitted
    again = ("chain", out.parent / "weather.txt", "-k", 3, "-qo", out)
    assert_refused(run(*again), "--force")
    assert run(*again, "--force").returncode == 0
    assert comarkov.load(out).n_clusters == 3


MALFORMED = {
    "falls apart": (["-k", 2], "a,b,1\nb,a,2\nb,c,1\n", "To aggregate only these, set --restrict"),
    "not square": (["-k", 2], "x,a,1\ny,b,2\n", "only rows have x, y; only columns have a, b"),
    "automatic": (["-k", "auto"], edges(COUNTS), "not 'auto': try -k 3."),
    "too many": (["-k", 5], edges(COUNTS), "states have mass. Use at most 4"),
    "beta": (["--beta", "auto"], edges(COUNTS), "try --beta 0.5"),
    "no counts": (["-k", 2, "--held-out", 0.5], "a,b,0.5\nb,a,0.5\na,a,0.25\n", "--held-out needs"),
    "one state": (["--kind", "sequences"], "a\n", "a sequence needs two states"),
    "column": (
        *(["--kind", "sequences", "--columns", "page"], "id,state\n1,a\n1,b\n", "no column 'page'"),
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_mistakes_get_one_line_and_write_nothing(tmp_path, case):
    options, content, message = MALFORMED[case]
    (tmp_path / "bad.csv").write_text(content)
    assert_refused(run("chain", "bad.csv", *options, "-qo", "out", cwd=tmp_path), message)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("time", ["10:0", "10"])
def test_a_table_of_visits_is_recognised(tmp_path, time):
    lines = ["visit,page,clicked", f"1,home,{time}1", f"1,shop,{time}2", f"2,cart,{time}4"]
    (tmp_path / "clicks.csv").write_text("\n".join(lines))
    done = run("chain", "clicks.csv", "-k", 2, cwd=tmp_path)
    assert_refused(done, "--kind sequences --rows visit --columns page --time clicked")
    assert "X" not in done.stderr
