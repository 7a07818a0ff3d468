"""``comarkov multi``: several tables in, clusters of every type in a folder out."""

import csv
import html
import json
import re

import pytest
from commands import assert_refused, assert_report_is_written_again, run

import comarkov

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
FILES = {"user.csv", "item.csv", "tag.csv", "blocks.csv", "clusters.md"} | {
    *("summary.json", "report.html", "model", "data")
}


def labels(path):
    with open(path, newline="", encoding="utf-8") as file:
        return {line["name"]: int(line["cluster"]) for line in csv.DictReader(file)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("multi")
    (folder / "ratings.csv").write_text(RATINGS)
    (folder / "tags.csv").write_text(TAGS)
    return folder


@pytest.fixture(scope="module")
def fitted(folder):
    done = run("multi", *TABLES, "-k", 2, "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done, folder / "out"


def test_multi_writes_what_the_library_computes(folder, fitted):
    done, out = fitted
    assert {path.name for path in out.iterdir()} == FILES
    data = {
        ("user", "item"): comarkov.read(folder / "ratings.csv"),
        ("user", "tag"): comarkov.read(folder / "tags.csv"),
    }
    model = comarkov.MultiwayClustering(2, random_state=0).fit(data)
    for name in ("user", "item", "tag"):
        expected = dict(zip(model.names_[name], model.labels_[name].tolist(), strict=True))
        assert labels(out / f"{name}.csv") == expected
    assert json.loads((out / "summary.json").read_text())["cost"] == model.cost_
    users = labels(out / "user.csv")  # Eve has rated nothing, but has tags
    assert users["Ann"] == users["Bob"] != users["Cid"] == users["Dan"] == users["Eve"]
    assert done.stdout.startswith("5 users in 2 clusters, 4 items in 2 clusters and 3 tags in 2")
    assert done.stdout.endswith(f"The report is {out / 'report.html'}\n")


def test_blocks_have_the_shares_of_the_tables(fitted):
    _, out = fitted
    with open(out / "blocks.csv", newline="", encoding="utf-8") as file:
        blocks = [line for line in csv.DictReader(file) if line["relation"] == "user × item"]
    assert sum(float(line["share"]) for line in blocks) == pytest.approx(1)
    shares = {(line["row_cluster"], line["column_cluster"]): line["share"] for line in blocks}
    users, items = labels(out / "user.csv"), labels(out / "item.csv")
    assert float(shares[str(users["Ann"]), str(items["tea"])]) == pytest.approx(18 / 35, abs=1e-6)


def test_numbers_weights_and_columns_of_each_table(folder):
    tables = ["user,item=ratings.csv:user:item", "user,tag=tags.csv:person:tag"]
    options = ["-k", "user=3,item=2,tag=1", "--weight", "user,tag=2", "--json", "-qo", "other"]
    done = run("multi", *tables, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    numbers = {name: len(part["clusters"]) for name, part in summary["types"].items()}
    assert numbers == {"user": 3, "item": 2, "tag": 1}
    assert [relation["weight"] for relation in summary["relations"]] == [1, 2]
    stars = comarkov.read(folder / "other" / summary["relations"][0]["file"])
    assert stars.matrix.sum() == 8  # every line counts once, as no weights are named


def test_other_commands_know_the_folder(fitted, folder):
    _, out = fitted
    assert_report_is_written_again(out)
    assert "clusters of user" in run("info", out).stdout


def test_new_elements_of_a_type_are_placed_by_all_their_tables(fitted, folder):
    _, out = fitted
    (folder / "new.csv").write_text("user,item,stars\nFay,tea,3\nFay,gin,1\nGil,ale,2\n")
    (folder / "new_tags.csv").write_text("who,tag\nHal,calm\nIda,odd\n")
    tables = ("user,item=new.csv", "user,tag=new_tags.csv")
    done = run("predict", out / "model", *tables, cwd=folder)
    assert done.returncode == 0, done.stderr
    header, *placed = csv.reader(done.stdout.splitlines())
    assert header == ["name", "cluster", "title"]
    users = labels(out / "user.csv")
    clusters = {"Fay": users["Ann"], "Gil": users["Cid"], "Hal": users["Ann"], "Ida": -1}
    assert {name: int(label) for name, label, _ in placed} == clusters
    titles = json.loads((out / "summary.json").read_text())["types"]["user"]["clusters"]
    assert placed[0][2] == titles[users["Ann"]]["title"]
    items = (
        "user,item,stars\nAnn,juice,3\nBob,juice,1\nDan,gin,4\n",
        {"juice": labels(out / "item.csv")["tea"], "gin": labels(out / "item.csv")["beer"]},
    )
    (folder / "items.csv").write_text(items[0])
    for side in ("item", "columns"):
        done = run("predict", out, "items.csv", "--side", side, "--json", cwd=folder)
        assert {line["name"]: line["cluster"] for line in json.loads(done.stdout)} == items[1]


def test_evaluate_names_the_tables_of_the_types(fitted, folder):
    (folder / "truth.csv").write_text("name,class\nAnn,x\nCid,y\n")
    done = run("evaluate", "out", "truth.csv", cwd=folder)
    assert_refused(done, "out/user.csv")
    assert run("evaluate", "out/user.csv", "truth.csv", cwd=folder).returncode == 0


def test_tables_that_no_type_connects_get_a_note(folder):
    done = run("multi", *TABLES, "a,b=tags.csv", "-k", 1, "-o", "parts", cwd=folder)
    assert done.returncode == 0
    assert "Note: No type connects the tables user,item and a,b, so they are" in done.stderr


WRONG = {
    "unknown table": (["user,place=new.csv"], "comarkov predict out user,item=new.csv"),
    "types unknown": (["bare.csv"], "Name them: comarkov predict out user,item=bare.csv"),
    "unknown side": (["user,item=new.csv", "--side", "tag"], "user,item=new.csv --side user"),
    "strangers": (["user,tag=new.csv"], "comarkov predict out user,tag=new.csv:ROWS:COLUMNS"),
}


@pytest.mark.parametrize("case", WRONG)
def test_predict_refuses_with_a_command(fitted, folder, case):
    (folder / "bare.csv").write_text("1,2,3\n5,6,7\n9,2,3\n")
    (folder / "new.csv").write_text("user,item,stars\nFay,tea,3\nGil,ale,2\n")
    arguments, message = WRONG[case]
    assert_refused(run("predict", "out", *arguments, cwd=folder), message)


def test_the_python_on_the_page_gives_the_same_clusters(fitted, monkeypatch, capsys):
    _, out = fitted
    page = (out / "report.html").read_text(encoding="utf-8")
    script = html.unescape(re.search(r"import comarkov\nfrom .*?print\(.*?\)", page, re.DOTALL)[0])
    monkeypatch.chdir(out)
    exec(script, {})
    assert capsys.readouterr().out == f"{comarkov.load(out).labels_}\n"


MALFORMED = {
    "no such file": (["user,item=nowhere.csv"], "There is no file 'nowhere.csv'"),
    "types unknown": (["bare.csv"], "Name them: comarkov multi user,item=bare.csv"),
    "twice": (["user,item=ratings.csv", "user,item=tags.csv"], "Two tables relate user and item"),
    "one number missing": (
        [*TABLES, "-k", "user=2,item=2"],
        "no number is given for tag: try -k user=3",
    ),
    "unknown type": (
        [*TABLES, "-k", "foo=2,user=2"],
        "no type foo in the tables; no number is given for item or tag: try -k user=3,item=3",
    ),
    "too many": ([*TABLES, "-k", 4], "only 3 elements of 'tag' have mass. Use at most 3."),
    "no number": ([*TABLES, "-k", "few"], "not 'few': try -k 3 or"),
    "weight": ([*TABLES, "--weight", "user=2"], "try --weight user,item=2."),
    "columns": (["user,item=ratings.csv:user"], "ratings.csv:user:item:stars"),
    "nothing shared": (["a,b=ratings.csv", "b,c=tags.csv"], "b,c=tags.csv: the names of type"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_mistakes_get_one_line_and_write_nothing(folder, case):
    (folder / "bare.csv").write_text("1,2,3\n5,6,7\n9,2,3\n")
    options, message = MALFORMED[case]
    assert_refused(run("multi", *options, "-qo", "bad", cwd=folder), message)
    assert not (folder / "bad").exists()
