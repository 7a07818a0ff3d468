"""Titles of clusters: distinct, short, stable, and made of what distinguishes a cluster."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from commands import run
from helpers import models
from hypothesis import given, settings
from hypothesis import strategies as st

from comarkov import CoClustering, Data, Results, datasets
from comarkov.cli.saved_results import read_results
from comarkov.joint.messages import InputError
from comarkov.results.findings import findings_of
from comarkov.results.report.content import node_titles
from comarkov.results.words.figures import NAME_LENGTH, are_positions, are_readable, short_name
from comarkov.results.words.titles import BETWEEN, TITLE_LENGTH

WOMEN = datasets.load("southern-women")
HOSTILE = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ["", " ", "·", " · ", "a · b", "cars", "car", "CAR", "\x00", "\u202eevil", "x" * 200, "mixed"]
)


def planted(row_names, column_names, kinds=("row", "column"), **fitting):
    """Three blocks of six rows and four columns, with some noise."""
    rng = np.random.default_rng(0)
    block = np.equal.outer(np.arange(18) % 3, np.arange(12) % 3)
    X = rng.poisson(np.where(block, 20, 2))
    model = CoClustering((3, 3), n_init=3, random_state=0, **fitting).fit(X)
    return findings_of(model, (row_names, column_names), kinds)


@settings(max_examples=20)
@given(models(), st.data())
def test_titles_are_distinct_short_and_stable(problem, data):
    W, model = problem
    model.fit(W)
    named = [data.draw(st.lists(HOSTILE, min_size=n, max_size=n) | st.none()) for n in W.shape]
    kinds = data.draw(st.sampled_from([("row", "column"), ("document", "word"), ("", "hour")]))
    result = findings_of(model, named, kinds)
    again = findings_of(model, named, kinds)
    for side, other in zip(result.sides, again.sides, strict=True):
        assert side.titles == other.titles
        assert len(set(side.titles)) == side.n_clusters
        assert all(title.strip() and "\n" not in title for title in side.titles)
        assert all(len(title) <= TITLE_LENGTH + NAME_LENGTH + 20 for title in side.titles)
        if side.levels is not None:
            nodes = np.array(node_titles(side, side.levels))
            assert nodes[side.levels.nodes_at(side.n_clusters)].tolist() == side.titles
            assert all(nodes)


def test_titles_are_made_of_what_distinguishes_clusters():
    columns = [f"{'abc'[i % 3]}{letter}" for i, letter in enumerate("mnopqrstuvwx")]
    result = planted([f"{'xyz'[i % 3]}{'mnopqrstuvwxyzabcd'[i]}" for i in range(18)], columns)
    for a, title in enumerate(result.rows.titles):
        words = title.split(BETWEEN)
        best = {feature.name for feature in result.rows.distinctive(a, 4)}
        assert len(words) == 3
        assert set(words) <= best
    words = [word for title in result.rows.titles for word in title.split(BETWEEN)]
    assert len(set(words)) == len(words)  # no word stands twice


@pytest.mark.parametrize(
    ("matrix", "names"),
    [
        (  # everywhere with much mass, once with little, and the theme of each cluster
            [[90, 0, 9, 0], [80, 1, 8, 0], [90, 0, 9, 0], [60, 0, 0, 9], [60, 0, 0, 8]],
            ["the", "rare", "cat", "dog"],
        ),
        (  # a common one with a lift of 1.3, filler, and the theme of each cluster
            [[30, 60, 10, 0]] * 3 + [[15, 75, 0, 10]] * 3,
            ["the", "filler", "cat", "dog"],
        ),
    ],
)
def test_rare_and_common_elements_do_not_come_first(matrix, names):
    model = CoClustering((2, None), random_state=0).fit(matrix)
    result = findings_of(model, (list("abcdef")[: len(matrix)], names))
    first = sorted(title.split(BETWEEN)[0] for title in result.rows.titles)
    assert first == ["cat", "dog"]


def test_words_name_the_clusters_of_both_sides():
    words = ["bike", "bikes", "ride", "orbit", "moon", "nasa", "game", "team", "win", "a", "b", "c"]
    result = planted([f"post {i}" for i in range(18)], words, ("document", "word"))
    for side in (result.rows, result.columns):
        assert {word for title in side.titles for word in title.split(BETWEEN)} <= set(words)
    for a, title in enumerate(result.columns.titles):
        assert set(title.split(BETWEEN)) <= set(result.columns.typical(a))


def test_names_that_say_nothing_are_not_used():
    people = ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil", "Hal", "Ian", "Jan", "Kim", "Lea"]
    numbers = [str(i) for i in range(18)]
    rows = planted(numbers, people).rows
    assert all(set(title.split(BETWEEN)) <= set(people) for title in rows.titles)
    columns = planted(numbers, people).columns  # named by their own members
    assert all(set(title.split(BETWEEN)) <= set(people) for title in columns.titles)
    plots = planted([f"plot {i}" for i in range(18)], people).columns
    assert plots.titles == columns.titles  # rather than "plot 1 · plot 4"
    nameless = planted(numbers, numbers[:12])
    assert nameless.rows.titles == ["cluster 1", "cluster 2", "cluster 3"]


def test_other_levels_have_titles_made_of_those_of_the_clusters():
    side = planted([f"n{letter}" for letter in "abcdefghijklmnopqr"], list("ABCDEFGHIJKL")).rows
    levels, titles = side.levels, node_titles(side, side.levels)
    for k in range(1, levels.n_leaves + 1):
        assert len({titles[node] for node in levels.nodes_at(k)}) == k  # all different
    merged, alone = sorted((titles[node] for node in levels.nodes_at(2)), key=len, reverse=True)
    assert set(merged.split(" + ")) == set(side.titles) - {alone}
    for node in levels.nodes_at(levels.n_leaves):
        if titles[node] not in side.titles:  # a part, named after one of its members
            member, _, whole = titles[node].removesuffix(")").partition(" (")
            assert whole in side.titles
            assert member in side.names[np.isin(levels.leaves.leaf, levels.members[node])]
    assert titles[-1] == "all rows"


def test_a_few_numbers_of_something_known_are_names():
    hours = planted(["Ann"] * 18, [str(i) for i in range(12)], ("person", "hour"))
    assert all(title.startswith("hour ") for title in hours.rows.titles)


def test_nothing_distinctive_is_said_so():
    one = CoClustering(1, random_state=0).fit(WOMEN.matrix)
    result = findings_of(one, (WOMEN.row_names, WOMEN.column_names), ("woman", "event"))
    assert (result.rows.titles, result.columns.titles) == (["all women"], ["all events"])
    noise = 1000 + np.random.default_rng(0).integers(0, 20, (12, 6))
    flat = CoClustering(2, random_state=0).fit(noise)
    titles = findings_of(flat, (list("abcdefghijkl"), list("uvwxyz"))).rows.titles
    assert set(BETWEEN.join(titles).split(BETWEEN)) <= set("abcdefghijkl")  # typical members


def test_a_cluster_of_one_has_its_name_and_numbers_say_what_they_number():
    matrix = np.kron(np.eye(3), np.full((1, 4), 30)) + 1
    matrix = matrix[[0, 0, 1, 2]]
    names = ["40", "41", "52", "63"], [str(7 * i) for i in range(12)]
    result = findings_of(CoClustering(3, random_state=0).fit(matrix), names, ("", "column"))
    assert {"number 52", "number 63"} < set(result.rows.titles)
    assert all(title.startswith(("column ", "number ")) for title in result.rows.titles)


def test_given_titles_are_kept_and_others_differ_from_them():
    side = planted([f"n{'abcdefghijklmnopqr'[i]}" for i in range(18)], list("abcdefghijkl")).rows
    theirs = replace(side, given_titles={1: side.titles[0]})
    assert theirs.titles[1] == side.titles[0]
    assert len(set(theirs.titles)) == 3
    assert replace(side, given_titles={0: "mine"}).titles == ["mine", *side.titles[1:]]


def test_rejected_elements_name_nothing():
    X = np.kron(np.eye(2), np.full((4, 3), 9)) + 1
    X[0] = X.sum(axis=0)  # belongs to both
    words = ["both", "ant", "bee", "cow", "dog", "eel", "fox", "gnu"]
    data = Data(X, words, list("123456"), "word", "page")
    model = CoClustering(2, reject=0.9, random_state=0).fit(data)
    assert model.row_labels_[0] == -1
    side = findings_of(model, (words, list("123456")), ("word", "page")).rows
    assert "both" not in BETWEEN.join(side.titles).split(BETWEEN)


def test_short_names():
    assert short_name("two\nlines") == "two lines"
    assert short_name("bell\x07 and \x1b[31mred") == "bell and [31mred"
    assert short_name("x" * 24) == "x" * 24
    assert short_name("x" * 25) == "x" * 23 + "…"
    assert short_name("abc def ghi", 5) == "abc…"


def test_which_names_people_can_read():
    barcodes = [f"{a}{b}ACGTACGTTGCA-1" for a in "ACGT" for b in "ACGT"]
    unreadable = [
        [str(i) for i in range(5)],
        [f"user {i}" for i in range(1, 100)],
        [f"sci.med/{59000 + i}" for i in range(100)],
        barcodes,
        ["550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
        [],
    ]
    assert [are_readable(names) for names in unreadable] == [False] * len(unreadable)
    assert are_readable([f"E{i}" for i in range(1, 15)])
    assert are_readable(["x" * 2**24, "y"])  # at once
    assert are_readable([f"Film {'abcdefgh'[i % 8]}{'klmnop'[i % 6]} (19{i})" for i in range(48)])
    assert are_readable([str(year) for year in range(1990, 2010)])
    assert are_readable([f"{month} {y}" for y in range(1990, 2010) for month in ("May", "June")])
    assert are_positions(["2", "1", "3"])
    assert not are_positions(["2", "1", "3"], "month")
    assert not are_positions(["1", "3", "4"])


# --- titles that people give ---

DATA = Data(WOMEN.matrix, WOMEN.row_names, WOMEN.column_names, "woman", "event")
GIVEN = {"n_clusters": [2, 3], "rows": {"1": "insiders"}, "columns": {"3": " late\nevents "}}


@pytest.fixture(scope="module")
def model():
    return CoClustering((2, 3), n_init=5, random_state=0).fit(DATA)


@pytest.mark.parametrize(
    "titles",
    [
        GIVEN,
        {"rows": ["insiders", ""], "columns": {3: "late events"}},
        {"rows": {1: "insiders"}, "columns": ["", "", "late events"]},
    ],
)
def test_given_titles_stand_everywhere(model, titles):
    results = Results.of(model, DATA, titles=titles)
    computed = Results.of(model, DATA).findings
    assert results.findings.rows.titles == ["insiders", computed.rows.titles[1]]
    assert results.findings.columns.titles[2] == "late events"
    assert "“insiders”" in results.describe()
    rows, columns = results.findings.cluster_orders
    for line in csv.DictReader(results.tables()["blocks.csv"].splitlines()):
        assert line["row_title"] == results.findings.rows.titles[rows[int(line["row_cluster"]) - 1]]
        assert (
            line["column_title"]
            == results.findings.columns.titles[columns[int(line["column_cluster"]) - 1]]
        )


@pytest.mark.parametrize(
    ("titles", "advice"),
    [
        ({"n_clusters": [4, 3], "rows": {}}, "model.cut((4, 3))"),
        ({"rows": {"3": "x"}}, "from 1 to 2"),
        ({"rows": {"0": "x"}}, "from 1 to 2"),
        ({"columns": ["a", "b", "c", "d"]}, "from 1 to 3"),
        *(
            (titles, '"rows": {"1": "a title"}')
            for titles in ({"rows": {"1": 7}}, {"rows": "abc"}, {"row": {}}, {"n_clusters": 3})
        ),
    ],
)
def test_what_is_wrong_with_titles(model, titles, advice):
    with pytest.raises(InputError) as error:
        Results.of(model, DATA, titles=titles)
    assert advice in error.value.advice


def test_titles_from_a_file_stay_in_the_folder(model, tmp_path):
    out, file = tmp_path / "out", tmp_path / "mine.json"
    Results.of(model, DATA).write(out)
    before = {path.name for path in out.iterdir()}
    file.write_text(json.dumps(GIVEN | {"rows": {"1": "heaviest"}}), encoding="utf-8")
    error = run("report", str(out), "--titles", str(file)).stderr  # may be 0.2's second cluster
    assert 'add "numbered_from": 1' in error
    file.write_text(json.dumps(GIVEN | {"numbered_from": 1}), encoding="utf-8")
    run("report", str(out), "--titles", str(file))
    assert {path.name for path in out.iterdir()} - before == {"titles.json"}
    for name in ("rows.csv", "blocks.csv", "clusters.md", "summary.json", "heatmap.svg"):
        assert "insiders" in (out / name).read_text(), name
    assert "late events" in (out / "columns.csv").read_text()
    page = (out / "report.html").read_text()
    run("report", str(out))  # finds the titles again
    assert (out / "report.html").read_text() == page
    assert read_results(out).findings.rows.titles[0] == "insiders"
    file.write_text(
        json.dumps(GIVEN | {"n_clusters": [4, 5], "numbered_from": 1}), encoding="utf-8"
    )
    error = run("report", str(out), "--titles", str(file)).stderr
    assert f"comarkov cut {out} -k 4 -l 5" in error
    assert "nowhere.json" in run("report", str(out), "--titles", "nowhere.json").stderr
    file.write_text("rows: insiders", encoding="utf-8")
    assert "mine.json: " in run("report", str(out), "--titles", str(file)).stderr
