"""``comarkov chain`` and ``multi``: transitions or several tables in, a folder of clusters out."""

import csv
import html
import json
import re

import networkx as nx
import numpy as np
import pytest
from commands import assert_refused, assert_report_is_rebuilt, run

import comarkov

STATES = ["fog", "rain", "storm", "sun"]
COUNTS = np.array([[30, 10, 10, 50], [12, 30, 40, 8], [3, 50, 20, 27], [20, 15, 5, 60]])
RATINGS = """user,item,stars
Ann,tea,5
Ann,milk,4
Bob,tea,4
Bob,milk,5
Cid,beer,5
Cid,ale,3
Dan,beer,4
Dan,ale,5
"""
TAGS = """person,tag,times
Ann,calm,1
Bob,calm,1
Cid,loud,1
Cid,late,1
Eve,late,1
Eve,loud,1
"""
TABLES = ("ratings.csv", "user,tag=tags.csv")
COMMON_FILES = {"clusters.md", "summary.json", "report.html", "model"}


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


def labels(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {line["name"]: int(line["cluster"]) for line in csv.DictReader(file)}


def summary(out):
    return json.loads((out / "summary.json").read_text())


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    (folder / "weather.txt").write_text(" ".join(STATES[i] for i in walk()) + "\n")
    done = run("chain", "weather.txt", "-k", 2, "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done, folder / "out"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("multi")
    (folder / "ratings.csv").write_text(RATINGS)
    (folder / "tags.csv").write_text(TAGS)
    (folder / "bare.csv").write_text("1,2,3\n5,6,7\n9,2,3\n")
    (folder / "new.csv").write_text("user,item,stars\nFay,tea,3\nFay,gin,1\nGil,ale,2\n")
    return folder


@pytest.fixture(scope="module")
def multi(folder):
    done = run("multi", *TABLES, "-k", 2, "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done, folder / "out"


@pytest.fixture(scope="module")
def model():
    return comarkov.MarkovAggregation(2, random_state=0).fit(counts_of(walk()))


def test_chain_writes_what_the_library_computes(chain, model):
    done, out = chain
    files = COMMON_FILES | {"states.csv", "clusters.csv", "transitions.csv", "data.npz"}
    assert {path.name for path in out.iterdir()} == files
    assert labels(out / "states.csv") == dict(
        zip(STATES, (model.labels_ + 1).tolist(), strict=True)
    )
    about = summary(out)
    assert about["cost"] == model.cost_
    assert about["transition_matrix"] == model.transition_matrix_.tolist()
    assert about["clusters"][0]["title"] in done.stdout
    assert done.stdout.startswith("4 states in 2 clusters")
    assert done.stdout.endswith(f"{out / 'report.html'}\n")


def test_a_cluster_that_is_never_left_lasts_for_ever(tmp_path):
    steps = [(i, j) for i in range(8) for j in range(i) if (i < 4) == (j < 4) or (i, j) == (4, 3)]
    (tmp_path / "ends.csv").write_text("from,to\n" + "".join(f"n{i},n{j}\n" for i, j in steps))
    done = run("chain", "ends.csv", "-k", 2, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "for ever." in done.stdout


def sequence_table():
    """One visited state per line, two sequences, the lines in no order."""
    path = walk()
    lines = [f"a,{100 * t},{STATES[i]}" for t, i in enumerate(path[:200])]
    lines += [f"b,{t}.5,{STATES[i]}" for t, i in enumerate(path[199:])]
    np.random.default_rng(1).shuffle(lines)
    return "\n".join(["id,seconds,state", *lines]) + "\n"


INPUTS = {
    "edge list": (lambda: "from,to,n\n" + edges(counts_of(walk())), ""),
    "square table": (lambda: wide(counts_of(walk())), ""),
    "one state per line": (lambda: "\n".join(STATES[i] for i in walk()), ""),
    "letters": (
        lambda: "".join("frts"[i] for i in walk()),
        "--kind sequences --separator none",
    ),
    "events": (sequence_table, "--kind sequences --rows id --columns state --time seconds"),
}


@pytest.mark.parametrize("case", INPUTS)
def test_every_kind_of_input_gives_the_same_chain(tmp_path, model, case):
    content, options = INPUTS[case]
    name = "in.csv" if "," in content() else "in.txt"
    (tmp_path / name).write_text(content())
    done = run("chain", name, "-k", 2, *options.split(), "--json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cost"] == pytest.approx(model.cost_, abs=1e-12)


def test_trajectories_of_numbers_in_a_folder(tmp_path):
    path = walk()
    (tmp_path / "runs").mkdir()
    np.save(tmp_path / "runs" / "a.npy", path[:150])
    np.savetxt(tmp_path / "runs" / "b.txt", path[149:])
    done = run("chain", "runs", "-k", 2, "--held-out", 0.3, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(labels(tmp_path / "out" / "states.csv")) == ["0", "1", "2", "3"]
    tested = comarkov.load(tmp_path / "out").lumpability_test_
    assert 0 < tested.n_transitions < len(path) / 2


def test_multi_writes_what_the_library_computes(folder, multi):
    done, out = multi
    files = COMMON_FILES | {"user.csv", "item.csv", "tag.csv", "blocks.csv", "data"}
    assert {path.name for path in out.iterdir()} == files
    data = {
        ("user", "item"): comarkov.read(folder / "ratings.csv"),
        ("user", "tag"): comarkov.read(folder / "tags.csv"),
    }
    fitted = comarkov.MultiwayClustering(2, random_state=0).fit(data)
    for name in ("user", "item", "tag"):
        expected = dict(zip(fitted.names_[name], (fitted.labels_[name] + 1).tolist(), strict=True))
        assert labels(out / f"{name}.csv") == expected
    assert summary(out)["cost"] == fitted.cost_
    users = labels(out / "user.csv")
    # Eve has rated nothing, but has tags
    assert users["Ann"] == users["Bob"] != users["Cid"] == users["Dan"] == users["Eve"]
    assert done.stdout.startswith("5 users in 2 clusters, 4 items in 2 clusters and 3 tags in 2")
    assert done.stdout.endswith(f"{out / 'report.html'}\n")


def test_numbers_and_columns_of_each_table(folder):
    tables = ["user,item=ratings.csv:user:item", "user,tag=tags.csv:person:tag"]
    options = ["-k", "user=3,item=2,tag=1", "--json", "-qo", "other"]
    done = run("multi", *tables, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    about = json.loads(done.stdout)
    numbers = {name: len(part["clusters"]) for name, part in about["types"].items()}
    assert numbers == {"user": 3, "item": 2, "tag": 1}
    stars = comarkov.read(folder / "other" / about["relations"][0]["file"])
    assert stars.matrix.sum() == 8  # every line counts once, as no weights are named


def test_new_elements_of_a_type_are_placed_by_all_their_tables(multi, folder):
    _, out = multi
    (folder / "new_tags.csv").write_text("who,tag\nHal,calm\nIda,odd\n")
    tables = ("user,item=new.csv", "user,tag=new_tags.csv")
    done = run("predict", out / "model", *tables, cwd=folder)
    assert done.returncode == 0, done.stderr
    header, *placed = csv.reader(done.stdout.splitlines())
    assert header == ["name", "cluster", "confidence", "title"]
    users, items = labels(out / "user.csv"), labels(out / "item.csv")
    clusters = {"Fay": users["Ann"], "Gil": users["Cid"], "Hal": users["Ann"], "Ida": -1}
    assert {name: int(label) for name, label, *_ in placed} == clusters
    assert all((float(sure) > 0) == (name != "Ida") for name, _, sure, _ in placed)
    titles = summary(out)["types"]["user"]["clusters"]
    assert placed[0][3] == titles[users["Ann"] - 1]["title"]
    (folder / "items.csv").write_text("user,item,stars\nAnn,juice,3\nBob,juice,1\nDan,gin,4\n")
    for side in ("item", "columns"):
        done = run("predict", out, "items.csv", "--side", side, "--json", cwd=folder)
        placed = {line["name"]: line["cluster"] for line in json.loads(done.stdout)}
        assert placed == {"juice": items["tea"], "gin": items["beer"]}


@pytest.mark.parametrize("kind", ["chain", "multi"])
def test_other_commands_read_the_folder(request, kind, monkeypatch, capsys):
    _, out = request.getfixturevalue(kind)
    assert_report_is_rebuilt(out)
    estimator = {"chain": "MarkovAggregation", "multi": "MultiwayClustering"}[kind]
    assert json.loads(run("info", out, "--json").stdout)["model"] == estimator
    page = (out / "report.html").read_text(encoding="utf-8")
    script = html.unescape(re.search(r"import comarkov\nfrom .*?print\(.*?\)", page, re.DOTALL)[0])
    monkeypatch.chdir(out)
    exec(script, {})  # the Python on the page gives the same clusters
    assert capsys.readouterr().out == f"{comarkov.load(out).labels_}\n"


def test_evaluate_takes_the_table_of_states_or_of_one_type(chain, multi, tmp_path):
    (tmp_path / "known.csv").write_text("name,class\nfog,dry\nsun,dry\nrain,wet\nstorm,wet\n")
    done = run("evaluate", chain[1], tmp_path / "known.csv", "--json")
    assert json.loads(done.stdout)["elements"] == 4
    (tmp_path / "truth.csv").write_text("name,class\nAnn,x\nCid,y\n")
    table = multi[1] / "user.csv"
    assert_refused(run("evaluate", multi[1], tmp_path / "truth.csv"), str(table))
    assert run("evaluate", table, tmp_path / "truth.csv").returncode == 0


def test_a_table_that_no_type_connects_gets_a_note(folder):
    done = run("multi", *TABLES, "a,b=tags.csv", "-k", 1, "-o", "parts", cwd=folder)
    assert done.returncode == 0
    assert "Note: No type connects a,b " in done.stderr


def test_network_finds_groups_in_files_of_any_kind(tmp_path):
    graph = nx.relabel_nodes(nx.ring_of_cliques(4, 6), str)
    nx.write_graphml(graph, tmp_path / "ring.graphml")
    nx.write_edgelist(graph, tmp_path / "ring.csv", delimiter=",", data=False)
    (tmp_path / "headed.csv").write_text("a,b\n" + (tmp_path / "ring.csv").read_text())
    expected = {*map(frozenset, comarkov.communities(graph).groups)}
    for file, options, note in (
        ("ring.graphml", (), ""),
        ("ring.csv", (), "--directed"),
        ("ring.csv", ("--undirected", "-k", 4), ""),
        ("headed.csv", ("--header",), "--directed"),  # nodes are neither "a" nor "b"
    ):
        done = run("network", file, *options, "-o", "out", "--force", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert note in done.stderr
        groups = {}
        for line in csv.DictReader((tmp_path / "out" / "node.csv").read_text().splitlines()):
            groups.setdefault(line["cluster"], set()).add(line["name"])
        assert {*map(frozenset, groups.values())} == expected
    assert_refused(run("network", "ring.csv", "-k", "x", "-qo", "no", cwd=tmp_path), "-k 5")


MISTAKES = {
    "not square": ("-k 2", "x,a,1\ny,b,2\n", "a, b, x"),
    "automatic": ("-k many", edges(COUNTS), "-k 5"),
    "no counts": ("-k 2 --held-out 0.5", "a,b,0.5\nb,a,0.5\na,a,0.25\n", "--held-out"),
    "one state": ("--kind sequences", "a\n", "two states"),
    "column": ("--kind sequences --columns page", "id,state\n1,a\n1,b\n", "'page'"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_in_chains_get_one_line_and_write_nothing(tmp_path, case):
    options, content, word = MISTAKES[case]
    (tmp_path / "bad.csv").write_text(content)
    assert_refused(run("chain", "bad.csv", *options.split(), "-qo", "out", cwd=tmp_path), word)
    assert not (tmp_path / "out").exists()


def test_a_table_of_visits_is_recognised(tmp_path):
    lines = ["visit,page,clicked", "1,home,10:01", "1,shop,10:02", "2,cart,10:04"]
    (tmp_path / "clicks.csv").write_text("\n".join(lines))
    done = run("chain", "clicks.csv", "-k", 2, "-q", cwd=tmp_path)
    assert_refused(done, "--kind sequences --rows visit --columns page --time clicked")


MISTAKES_IN_TABLES = {
    "no such file": ("multi user,item=nowhere.csv", "'nowhere.csv'"),
    "types unknown": ("multi bare.csv", "comarkov multi user,item=bare.csv"),
    "twice": ("multi user,item=ratings.csv user,item=tags.csv", "comarkov multi "),
    "one number missing": ("multi ratings.csv -k user=2", "-k user=3,item=3"),
    "too many": ("multi ratings.csv -k 5", "at most 4"),
    "columns": ("multi user,item=ratings.csv:user", "ratings.csv:user:item:stars"),
    "nothing shared": ("multi a,b=ratings.csv b,c=tags.csv", "'b', 'c'"),
    "predict: unknown table": ("predict out user,place=new.csv", "out user,item=new.csv"),
    "predict: types unknown": ("predict out bare.csv", "predict out user,item=bare.csv"),
    "predict: unknown side": ("predict out user,item=new.csv --side tag", "--side user"),
    "predict: strangers": ("predict out user,tag=new.csv", "user,tag=new.csv:ROWS:COLUMNS"),
}


@pytest.mark.parametrize("case", MISTAKES_IN_TABLES)
def test_mistakes_in_tables_get_one_line_and_write_nothing(multi, folder, case):
    words, advice = MISTAKES_IN_TABLES[case]
    before = sorted(folder.iterdir())
    assert_refused(run(*words.split(), "-q", cwd=folder), advice)
    assert sorted(folder.iterdir()) == before
