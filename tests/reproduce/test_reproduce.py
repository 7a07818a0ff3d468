"""The paper's numbers come out again, and runs are kept so that none is lost."""

import csv
import re
import shutil
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from comarkov import reproduce
from comarkov.io.datasets import Dataset
from comarkov.reproduce import EXPERIMENTS
from comarkov.reproduce.experiment import (
    Curve,
    Experiment,
    RunOptions,
    Status,
    claim,
    in_random_range,
    published_curve,
    published_table,
)
from comarkov.reproduce.experiments.newsgroups import Preparation, without_stop_words, words_of
from comarkov.reproduce.experiments.real_tables import barber_modules, together
from comarkov.reproduce.experiments.synthetic import circulant_blocks, noisy_blocks
from comarkov.reproduce.runs import PACKAGE, RunFile, code_digest, complete, editions


def concluded(name, options):
    """The result of an experiment, with nothing kept."""
    experiment = EXPERIMENTS[name]
    keys = experiment.keys(options, experiment.repetitions(options))
    return experiment.conclude({key: experiment.run(key, options) for key in keys}, options)


def reproduced(names, folder, options=None):
    """Run experiments into a folder, and give what comes of them."""
    options = options or RunOptions()
    return list(reproduce.reproduce(names, folder, options, 1, lambda *args: None))


def verdicts(result):
    """The verdict on each statement, by its text."""
    return {claim.text: claim.status for claim in result.claims}


# --- the paper --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "statements", "differs"),
    [
        ("stuck", 4, []),
        ("unequal", 7, []),
        # the curves of P2 cross at 0.165, the paper has 0.15
        ("trading", 5, ["P2: the alternative costs less for all β in [0.15, 1]"]),
    ],
)
def test_worked_examples_are_exact(name, statements, differs):
    result = concluded(name, RunOptions())
    found = verdicts(result)
    assert len(found) == statements
    assert [text for text, status in found.items() if status == Status.DIFFERS] == differs
    assert result.statuses == [Status.AGREES] * (44 if name == "trading" else 0)


@pytest.mark.parametrize("runs", [1, 4, pytest.param(24, marks=pytest.mark.nightly)])
def test_circulant_blocks_agree_with_the_published_means(runs):
    result = concluded("circulant", RunOptions(runs=runs))
    assert sum(curve.x.size for curve in result.curves) == len(published_table("circulant")) == 66
    assert Status.DIFFERS not in result.statuses
    if runs == 1:
        assert set(result.statuses) == {Status.UNTESTABLE, Status.AGREES}
    # proved, not searched for
    assert verdicts(result)["The global optimum of L_1 is the truth"] == Status.AGREES


def test_guidelines_are_judged_on_the_strongest_degree():
    result = concluded("guidelines", RunOptions(runs=4))
    unequal, *_ = result.claims
    assert unequal.status == Status.AGREES
    assert len(result.claims) == len(result.diagrams) == 4
    for diagram in result.diagrams:
        assert diagram.table.shape == (5, 11)
        assert diagram.table[0].mean() > diagram.table[-1].mean()  # from mild to strong


def test_a_matrix_that_was_fitted_tests_nothing():
    result = concluded("noise", RunOptions(runs=3))
    assert len(result.statuses) == 110
    assert result.statuses.count(Status.FITTED) == 88
    assert list(verdicts(result).values()).count(Status.FITTED) == 3


def test_blocks_are_circulant_and_noise_is_a_mixture():
    blocks = circulant_blocks(6)
    assert (blocks.sum(axis=0) == 6).all()
    assert (blocks.sum(axis=1) == 6).all()
    assert blocks[30:60, 30:60].sum() == 180
    for epsilon in (0.0, 0.5, 0.8):
        assert noisy_blocks(epsilon, 1).sum() == pytest.approx(1)
    np.testing.assert_allclose(noisy_blocks(0, 1), noisy_blocks(0, 2))
    mixture = (noisy_blocks(0, 1) + noisy_blocks(1, 1)) / 2
    np.testing.assert_allclose(noisy_blocks(0.5, 1), mixture)


def test_southern_women():
    found = list(verdicts(concluded("southern-women", RunOptions(runs=12))).values())
    assert found == ["agrees", "agrees", "differs", "differs", "agrees", "differs"]


def test_barbers_modules_are_those_that_the_paper_compares_with():
    women, events, modularity = barber_modules()
    assert events == [[1, 2, 3, 4, 5, 6], [7, 8], [9, 11], [10, 12, 13, 14]]
    assert women[0] == [1, 2, 3, 4, 5, 6]
    assert modularity == pytest.approx(0.34554, abs=1e-5)  # as published


def test_movielens(data_file):
    result = concluded("movielens", RunOptions(runs=50, data=data_file("ml-100k.zip").parent))
    found = verdicts(result)
    for text in (
        "Random clusters have a MAP' of 0.431",
        "100,000 ratings of 1,682 movies by 943 users",
        "725 movies are Drama, 505 Comedy, 24 Film-Noir",
        "The solution at β = 0 has a lower cost than the one at β = 1",
    ):
        assert found[text] == Status.AGREES
    assert found["82.5 % of the ratings are above 3"] == Status.DIFFERS
    named = " ".join(row[-1] for row in result.tables[0].rows)
    assert "Star Wars (1977)" in named  # the most rated of all


def test_films_that_are_in_no_cluster_together():
    """The cluster with most of them is shown, even if they are too few."""
    names = [f"Amityville {i}" for i in range(7)] + ["Star Trek", "Casablanca", "Dumbo"]
    movies = Dataset(sp.csr_array((1, 10)), ["user"], names)
    labels = np.array([0, 1, 2, 2, 2, 2, 1, 0, 0, 0])
    holds, detail = together(movies, [labels, np.zeros(10, dtype=int)])["all 7 Amityville films"]
    assert not holds
    assert detail.startswith("4 of 7 films with such a name, in a cluster of 4 movies")
    assert detail.endswith("so in 1 of 2 repetitions")


@pytest.fixture
def few_starts(monkeypatch, data_file):
    """Few starts of sIB and few numbers of word clusters; the options of a quick run."""
    module = sys.modules["comarkov.reproduce.experiments.newsgroups"]
    monkeypatch.setattr(module, "STARTS", 3)
    return RunOptions(quick=True, runs=2, data=data_file("20news-bydate.tar.gz").parent)


def test_newsgroups(few_starts):
    """One run of each algorithm, taken for all others."""
    experiment = EXPERIMENTS["newsgroups"]
    keys = experiment.keys(few_starts, 2)
    made = {key[2]: experiment.run(key, few_starts) for key in (keys[0], keys[-1])}
    result = experiment.conclude({key: made[key[2]] for key in keys}, few_starts)
    assert [len(maps) for maps in made.values()] == [21, 6]
    assert len(result.statuses) == len(published_table("newsgroups")) == 441  # all are judged
    assert Status.FITTED not in result.statuses
    assert len(result.claims) == 22
    assert {curve.samples.shape for curve in result.curves} == {(2, 21)}
    sharp = [text for text in verdicts(result) if "sharply" in text]
    assert len(sharp) == 3


def test_the_thesis(few_starts, monkeypatch):
    """One sample: every method, and the one of least cost at each β."""
    prepared = [Preparation("subject", stop) for stop in (True, False)]
    monkeypatch.setattr(sys.modules[EXPERIMENTS["thesis"].run.__module__], "PREPARATIONS", prepared)
    run = EXPERIMENTS["thesis"].run(("Binary", 0), few_starts)
    assert len(run["methods"]) == 10
    assert len(run["preparations"]) == 6
    costs = {name: of["0.5"][1] for name, of in run["methods"].items() if "0.5" in of}
    assert costs["IDC"] <= costs["IB-double"] + 1e-9
    assert costs["AnnITCC"] < costs["ITCC"]
    result = EXPERIMENTS["thesis"].conclude(
        {(name, i): run for name in ("Binary", "Multi5", "Multi10") for i in range(3)}, few_starts
    )
    assert len(result.claims) == 6
    assert result.statuses == []  # nothing of this is published
    above = {
        tuple(row[:2]): float(row[2].split("; ")[1].split(" ±")[0]) for row in result.tables[0].rows
    }
    assert min(above.values()) == 0
    assert above["least cost found by any method", "0.5"] == 0


# --- verdicts ---------------------------------------------------------------------------------

SMALL = {"error": np.array([0.01]), "runs": 500}


@pytest.mark.parametrize(
    ("ours", "published", "more", "status"),
    [
        (0.539, 0.5, SMALL, Status.AGREES),  # four standard errors
        (0.541, 0.5, SMALL, Status.DIFFERS),
        (0.541, 0.5, SMALL | {"runs": 3}, Status.AGREES),  # few runs, and near
        (0.56, 0.5, SMALL | {"runs": 3}, Status.UNTESTABLE),  # few runs, and not near
        (0.56, 0.5, {"error": np.array([0.1]), "runs": 500}, Status.UNTESTABLE),
        (0.5, 0.5, {"error": np.array([np.nan])}, Status.UNTESTABLE),
        (1.0, 1.0, {"error": np.array([0.0]), "runs": 9}, Status.AGREES),
        (1.0, 0.99, {"error": np.array([0.0]), "runs": 9}, Status.DIFFERS),
        (0.5, 0.5 + 1e-13, {}, Status.AGREES),  # computed without chance
        (0.5, 0.5 + 1e-11, {}, Status.DIFFERS),
        (0.5, 0.5, SMALL | {"fitted": "T was fitted"}, Status.FITTED),
    ],
)
def test_a_published_number_is_judged(ours, published, more, status):
    x = np.array([0.5])
    curve = Curve("panel", "name", x, np.array([ours]), published=np.array([published]), **more)
    assert [point.status for point in curve.points()] == [status]
    assert Curve("panel", "name", x, np.array([ours]), **more).points() == []


@pytest.mark.parametrize(
    ("differences", "asks", "status"),
    [
        ([0.1, 0.11, 0.09, 0.1], "more", Status.AGREES),
        ([0.1, 0.11, 0.09, 0.1], "much more", Status.AGREES),
        ([0.03, 0.031, 0.029, 0.03], "much more", Status.DIFFERS),
        ([0.1, -0.1, 0.09, -0.08], "more", Status.UNTESTABLE),
        ([0.1, 0.12], "more", Status.UNTESTABLE),  # two runs say little
        ([0.1], "more", Status.UNTESTABLE),
        ([[0.1, -0.1], [0.11, -0.11], [0.09, -0.09]], "more", Status.DIFFERS),  # the second case
        ([[0.01, -0.02], [0.0, -0.03], [0.02, -0.01]], "same", Status.AGREES),
        ([[0.01, -0.09], [0.0, -0.1], [0.02, -0.11]], "same", Status.DIFFERS),
        ([[0.01, -0.2], [0.0, 0.2], [0.02, 0.1]], "same", Status.UNTESTABLE),
        ([[0.0, 0.0]], "same", Status.UNTESTABLE),  # a single run
    ],
)
def test_a_statement_asks_something_of_every_case(differences, asks, status):
    assert claim("text", differences, asks).status == status


def test_random_clusters_have_a_range():
    assert in_random_range(0.539, 0.5, 0.01)[0]
    assert not in_random_range(0.541, 0.5, 0.01)[0]
    assert in_random_range(0.1, 0.5, 0.01)[0]  # worse than random


MESSAGE = """From: the ann@b.c
Subject: Re: A wheel
Lines: 2

The car has 4 wheels."""


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ("all", "from the ann b c subject re a wheel lines the car has wheels"),
        ("subject", "re a wheel the car has wheels"),
        ("none", "the car has wheels"),
    ],
)
def test_texts_become_words(headers, words):
    assert words_of(headers, MESSAGE) == words
    counts = Dataset(sp.csr_array([[1, 2, 3]]), ["message"], ["car", "the", "wheel"])
    assert without_stop_words(counts).matrix.toarray().tolist() == [[1, 3]]


# --- keeping runs -----------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    return RunFile(tmp_path / "runs.jsonl")


def count(file, runs, edition="1", fails_at=None):
    """Complete an experiment that counts: its values, the runs made for them, and the progress."""
    made, progress = [], []

    def run(key, options):
        if key[1] == fails_at:
            raise KeyboardInterrupt
        made.append(key[1])
        return [float(key[1]), 0.1]

    keys = [("a", i) for i in range(runs)]
    experiment = Experiment("counting", "", None, run, lambda options, n: keys, batch=2)
    values = complete(experiment, RunOptions(), edition, file, 1, lambda *p: progress.append(p))
    assert values == {("a", i): [float(i), 0.1] for i in range(runs)}
    return made, progress


def test_interrupted_runs_go_on_where_they_stopped(file):
    with pytest.raises(KeyboardInterrupt):
        count(file, 8, fails_at=5)
    # four were kept, in batches of two
    assert count(file, 8) == ([4, 5, 6, 7], [(4, 8), (6, 8), (8, 8)])


def test_more_runs_add_to_those_that_are_there(file):
    assert count(file, 4)[0] == [0, 1, 2, 3]
    assert count(file, 6)[0] == [4, 5]
    assert count(file, 3)[0] == []


def test_another_edition_does_not_take_what_is_kept(file):
    count(file, 2)
    assert count(file, 2, edition="2")[0] == [0, 1]
    assert count(file, 2)[0] == []


@pytest.mark.parametrize("lost", [1, 2, 6, 11])
def test_a_run_that_was_cut_off_is_made_again(tmp_path, file, lost):
    count(file, 4)
    path = tmp_path / "runs.jsonl"
    path.write_bytes(path.read_bytes()[:-lost])
    assert count(file, 5)[0] == [3, 4]
    assert count(file, 5)[0] == []


@pytest.mark.parametrize(
    ("name", "counts"),
    [("cli/fit.py", False), ("reproduce/experiments/new.py", True)],
)
def test_runs_are_made_anew_when_code_changes_that_makes_them(tmp_path, name, counts):
    ignored = shutil.ignore_patterns("__pycache__", "assets", "published")
    package = shutil.copytree(PACKAGE, tmp_path / "comarkov", ignore=ignored)
    assert code_digest(package) == code_digest(PACKAGE)
    with open(package / name, "a") as file:
        file.write("# edited\n")
    assert (code_digest(package) != code_digest(PACKAGE)) is counts


def test_other_data_does_not_take_what_is_kept(data_file, tmp_path):
    published = data_file("ml-100k.zip")
    (tmp_path / "ml-100k.zip").write_bytes(published.read_bytes() + b"\0")
    experiments = [EXPERIMENTS["movielens"]]
    before, after = (
        editions(experiments, RunOptions(data=folder)) for folder in (published.parent, tmp_path)
    )
    assert before != after


# --- what is written --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    for names in (["trading"], ["stuck", "unequal"]):  # twice: the page has all
        reproduced(names, folder)
    return folder


def test_figures_are_the_same_each_time(out, tmp_path):
    reproduced(["trading"], tmp_path)
    for name in ("trading.svg", "trading.csv", "trading.json"):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_the_folder_has_figures_numbers_and_a_page_of_all_experiments(out):
    written = {file.name for file in out.iterdir()}
    for name in ("stuck", "unequal", "trading"):
        assert {f"{name}.{kind}" for kind in ("png", "svg", "csv", "json")} <= written
    assert not [name for name in written if name.startswith(".")]
    rows = list(csv.DictReader((out / "trading.csv").read_text().splitlines()))
    assert len(rows) == 44
    for row in rows:
        assert float(row["ours"]) == pytest.approx(float(row["published"]), abs=1e-12)
    html, markdown = (out / "index.html").read_text(), (out / "reproduction.md").read_text()
    for text in (html, markdown):
        assert text.count("P2, alternative") == 12  # every number, and the curve
        for name in ("stuck", "unequal", "trading"):
            assert EXPERIMENTS[name].title in text
            assert f"comarkov reproduce {name}" in text
            assert f"_conclude_{name}" in text
    code = re.search(r"Code: `(src/\S+)`", markdown)[1]
    assert (PACKAGE.parent.parent / code).is_file()
    assert "| **all** | 44 | 44 | 44 | – | – | – | 16 | 15 | 14 | 1 | – | 1 | |" in markdown
    assert html.count("data:image/svg+xml;base64,") == 3
    assert "http" not in html.replace("http://www.w3.org", "")  # nothing from elsewhere


def test_the_index_of_the_site_claims_what_its_page_shows():
    """Every count of the page, and no other experiment."""
    docs = PACKAGE.parent.parent / "docs/reproduction"
    page, index = (docs.joinpath(name).read_text() for name in ("reproduction.md", "index.md"))
    summary = page[page.index("| | published") : page.index("\n## ")].splitlines()
    titles = []
    for row in summary[2:]:
        title, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        numbers, statements = ([*each[:1], *each[2:]] for each in (cells[:6], cells[6:12]))
        title = title.replace("](#", "](reproduction.md#")
        assert f"| {title} | {', '.join(numbers)} | {', '.join(statements)} |" in index
        titles.append(title)
    assert len(titles) == len(EXPERIMENTS) + 1  # and all together
    assert f"all {numbers[0]} published" in index
    assert f"{statements[0]} statements" in index
    for name, experiment in EXPERIMENTS.items():
        assert f"## {experiment.title}\n" in page
        assert f"`comarkov reproduce {name}`" in page


def test_missing_data_is_said_before_any_work(tmp_path):
    with pytest.raises(FileNotFoundError):
        reproduced(["stuck", "newsgroups"], tmp_path / "out", RunOptions(data=tmp_path))
    assert not (tmp_path / "out").exists()
    with pytest.raises(KeyError):  # nothing was published
        published_curve("circulant", "map_mean", algorithm="AnnITCC", k=4)
