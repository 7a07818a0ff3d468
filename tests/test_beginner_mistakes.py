"""The most common mistakes of beginners: what each message says, and that its advice works.

Each line of the two tables has a mistake, words of its message, and what the message advises; the
test does both. Advice in Python is a call on ``X`` and ``model``, or on the names in SCOPE.
"""

import re
from contextlib import chdir

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import run
from numpy.testing import assert_array_equal

import comarkov
from comarkov import CoClustering, Results

COUNTS = np.array([[4, 3, 0, 1], [3, 5, 1, 0], [0, 1, 6, 4], [1, 0, 5, 3], [5, 4, 0, 0]])
NAMES = ["Ann", "Bob", "Cid", "Dot", "Eve"]
FRAME = pd.DataFrame(COUNTS, columns=["tea", "milk", "beer", "ale"])
EDGES = "who,what,often\n" + "".join(
    f"{NAMES[i]},{FRAME.columns[j]},{COUNTS[i, j]}\n" for i, j in np.argwhere(COUNTS)
)
TEXTS = ["sun and the sea", "the sea and sun", "snow and some ice", "ice on the snow"]


def scaled():
    cells = anndata.AnnData((COUNTS - COUNTS.mean(axis=0)).astype("f4"))
    cells.layers["scaled"] = cells.X.copy()
    return cells


def with_counts(cells):
    cells.layers["counts"] = COUNTS
    return cells


def edges():
    return pl.read_csv(EDGES.encode())


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """A folder with a file, in which all happens."""
    (tmp_path / "visits.csv").write_text(EDGES)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("years of work")
    (tmp_path / "empty").mkdir()
    with chdir(tmp_path):
        yield tmp_path


# --- Python -----------------------------------------------------------------------------------


# A call with a mistake, words of the message, a call that the message advises, and X.
# What else fit refuses is in estimators/test_fit_input.py.
QUOTED = {  # the advice stands in the message
    "a path": ('fit("visits.csv")', "Read it first", 'fit(comarkov.read("visits.csv"))'),
    "an edge list": ("fit(X)", '"who", "what"', "fit(comarkov.read(X))", edges()),
    "a transposed matrix": ("model.predict(X)", "4 features", "model.predict(X.T)", COUNTS.T),
    "other columns": (
        "model.predict(X)",
        "TEA, MILK, BEER",
        "model.predict(X.to_numpy())",
        FRAME.rename(columns=str.upper),
    ),
    "a β that is none": ("CoClustering(beta=2).fit(X)", "Got 2", "CoClustering(beta=0.7)", COUNTS),
    "a method that is none": (
        'CoClustering(method="kmeans").fit(X)',
        "kmeans",
        "CoClustering(method='auto')",
        COUNTS,
    ),
    "two numbers instead of a pair": ("model.cut(2, 1)", "pair", "cut((2, 1))"),
}
OTHERS = {  # the advice is an example of what the message says
    "a wrong file name": (
        'comarkov.read("visit.csv")',
        "Did you mean 'visits.csv'?",
        'comarkov.read("visits.csv")',
    ),
    "scaled AnnData": (
        "fit(X)",
        "before scaling",
        'fit(comarkov.read(with_counts(X), layer="counts"))',
        scaled(),
    ),
    "one dimension": (
        "fit(X)",
        "2D array",
        "CoClustering((2, 1)).fit(X.reshape(-1, 1))",
        np.arange(1, 4),
    ),
    "no fit": (
        "CoClustering(2).predict(X)",
        "Call 'fit'",
        "CoClustering(2).fit(X).predict(X)",
        COUNTS,
    ),
    "too many clusters": (
        "CoClustering(9).fit(X)",
        "at most 5",
        "CoClustering((5, 4)).fit(X)",
        COUNTS,
    ),
    "no clusters": (
        "CoClustering(0).fit(X)",
        "CoClustering(n_clusters=",
        "CoClustering(n_clusters=3).fit(X)",
        COUNTS,
    ),
    "a side that is none": (
        'model.predict(X, side="row", return_confidence=True)',
        '"rows" or "columns"',
        'model.predict(X, side="rows", return_confidence=True)',
        FRAME,
    ),
    "a kind that is none": (
        'comarkov.read("visits.csv", kind="edge")',
        "Did you mean 'edges'?",
        'comarkov.read("visits.csv", kind="edges")',
    ),
    "a column that is none": (
        'comarkov.read("visits.csv", rows="user", columns="what")',
        "who, what, often",
        'comarkov.read("visits.csv", rows="who", columns="what")',
    ),
    "a folder without texts": ('comarkov.read("empty")', "empty", 'comarkov.read("visits.csv")'),
    "a folder that exists": (
        'Results.of(model, X).write("taken")',
        "was not written by comarkov",
        'Results.of(model, X).write("free")',
        FRAME,
    ),
}


@pytest.fixture(scope="module")
def model():
    return CoClustering(2, random_state=0).fit(FRAME)


def scope(X, model):
    """The names that calls may use."""
    return {
        "X": X,
        "model": model,
        "fit": CoClustering(2, random_state=0).fit,
        "cut": model.cut,
        "CoClustering": CoClustering,
        "Results": Results,
        "comarkov": comarkov,
        "with_counts": with_counts,
        "numpy": np,
        "pandas": pd,
    }


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", [*QUOTED, *OTHERS])
def test_a_mistake_in_python(name, model):
    call, words, advice, X = (*(QUOTED | OTHERS)[name], None)[:4]
    with pytest.raises((ValueError, OSError)) as caught:
        eval(call, scope(X, model))
    message = str(caught.value)
    assert words in message
    assert_is_clear(message)
    if name in QUOTED:
        assert re.sub(r"^(?:model\.)?(?:fit|predict)\((.*)\)$", r"\1", advice) in message
    eval(advice, scope(X, model))


def assert_is_clear(message):
    """No words that only a programmer of this library understands, and no bad advice."""
    for word in ("Traceback", "could not convert", "NoneType", "ufunc", "absolute value"):
        assert word not in message


@pytest.mark.parametrize(
    ("X", "plain"),
    [
        (FRAME.assign(who=NAMES), FRAME),
        (pl.DataFrame(FRAME).with_columns(who=pl.Series(NAMES)), FRAME),
        (TEXTS, comarkov.read(TEXTS)),
        (pd.Series(TEXTS), comarkov.read(TEXTS)),
    ],
    ids=["names in pandas", "names in polars", "texts", "texts in pandas"],
)
def test_what_looks_like_a_mistake_but_is_clear_enough(X, plain):
    labels = CoClustering(2, random_state=0).fit_predict(X)
    assert_array_equal(labels, CoClustering(2, random_state=0).fit_predict(plain))


# --- the command line -------------------------------------------------------------------------

KIND = "fit visits.csv --kind edges"
COMMANDS = {
    "a wrong file name": ("fit visit.csv", "Did you mean 'visits.csv'?", "fit visits.csv"),
    "a wrong data set": ("fit southern-woman", "'southern-women'?", "fit southern-women"),
    "a folder without texts": ("fit empty", "empty", "fit visits.csv"),
    "a folder that exists": ("fit visits.csv -o taken", "-o", "fit visits.csv -o free"),
    "too many clusters": ("fit visits.csv -k 99", "at most 5", "fit visits.csv -k 5"),
    "no clusters": ("fit visits.csv -k 0", "Try -k 5", "fit visits.csv -k 5"),
    "a β that is none": ("fit visits.csv --beta 2", "--beta 0.7", "fit visits.csv --beta 0.7"),
    "a kind that is none": ("fit visits.csv --kind edge", "edges", KIND),
    "a column that is none": (
        "fit visits.csv --rows user --columns what",
        "who, what, often",
        "fit visits.csv --rows who --columns what",
    ),
    "an option that is none": ("fit visits.csv --knd edges", "--kind", KIND),
    "a command that is none": ("fitt visits.csv", "'fit'", "fit visits.csv"),
    "a weighting that is none": (
        "fit visits.csv --weighting tf-idf",
        "tfidf",
        "fit visits.csv --weighting tfidf",
    ),
    "no input": ("fit", "INPUT", "fit visits.csv"),
    "no model": ("predict visits visits.csv", "visits", "fit visits.csv -o visits"),
    "scaled AnnData": ("fit cells.h5ad", "--layer", "fit cells.h5ad --layer counts"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_mistake_on_the_command_line(name):
    wrong, words, _ = COMMANDS[name]
    if "h5ad" in wrong:
        scaled().write_h5ad("cells.h5ad")
    done = run(*wrong.split())
    assert done.returncode == 2, done.stdout
    assert words in " ".join(done.stderr.split())
    assert_is_clear(done.stderr)
    assert "=" not in done.stderr.replace("n_samples=", "")  # keywords are for Python


@pytest.mark.parametrize("advice", sorted({advice for *_, advice in COMMANDS.values()}))
def test_the_advice_on_the_command_line(advice, folder):
    if "h5ad" in advice:
        with_counts(scaled()).write_h5ad("cells.h5ad")
    output = [] if "-o" in advice else ["-o", "out"]
    done = run(*advice.split(), *output, "-q", "--seed", "0")
    assert done.returncode == 0, done.stderr
    assert (folder / (output or advice.split())[-1] / "report.html").exists()
