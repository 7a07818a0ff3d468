"""What users pass to fit instead of a matrix: it is handled, or the error shows the call to use."""

import pathlib
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import refused
from numpy.testing import assert_array_equal

import comarkov
from comarkov import (
    ITCC,
    SIB,
    CoClustering,
    MarkovAggregation,
    MultiwayClustering,
    Results,
    Weighting,
)

COUNTS = np.array([[4, 3, 0, 1], [3, 5, 1, 0], [0, 1, 6, 4], [1, 0, 5, 3], [5, 4, 0, 0]])
NAMES = ["Ann", "Bob", "Cid", "Dot", "Eve"]
TEXTS = ["sun and the sea", "the sea and sun", "snow and some ice", "ice on the snow"]
NUMBERS = pd.DataFrame(COUNTS, columns=list("abcd"))
NAMED = NUMBERS.assign(who=NAMES)[["who", *"abcd"]]
EDGES = pd.DataFrame({"user": list("aabc"), "item": list("xyxz"), "stars": [1, 2, 3, 1]})


def model():
    return CoClustering(2, random_state=0)


# --- handled ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [NAMED, NUMBERS.assign(who=NAMES), pl.DataFrame(NAMED), pl.DataFrame(NAMED).lazy()],
    ids=["first", "last", "polars", "lazy"],
)
@pytest.mark.parametrize("kind", [CoClustering, ITCC, SIB])
def test_a_column_of_names_names_the_rows(frame, kind):
    fitted = kind(2, random_state=0).fit(frame)
    plain = kind(2, random_state=0).fit(NUMBERS)
    assert_array_equal(fitted.row_labels_, plain.row_labels_)
    assert fitted.row_names_in_.tolist() == NAMES
    assert fitted.feature_names_in_.tolist() == list("abcd")
    for new in (frame, NUMBERS, COUNTS if kind is None else NUMBERS.iloc[:, ::-1]):
        assert_array_equal(fitted.predict(new), plain.row_labels_)


def test_results_take_what_fit_took():
    fitted = model().fit(NAMED)
    assert Results.of(fitted, NAMED).findings.rows.names.tolist() == NAMES
    assert fitted.cut(1, NAMED).row_labels_.tolist() == [0] * 5
    texts = model().fit(TEXTS)
    assert Results.of(texts, TEXTS).findings.columns.names.tolist() == ["ice", "sea", "snow", "sun"]


@pytest.mark.parametrize(
    "texts", [TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS), pl.Series(TEXTS)]
)
def test_texts_are_counted(texts):
    fitted = model().fit(texts)
    assert_array_equal(fitted.row_labels_, model().fit(comarkov.read(TEXTS)).row_labels_)
    assert fitted.weighting_.scheme == "bm25"
    new = fitted.predict(["Sun, sea and a boat", "no ice", "nothing"])
    assert new.tolist() == [fitted.row_labels_[0], fitted.row_labels_[2], -1]


def test_texts_need_a_fit_whose_columns_are_words():
    with refused("model.fit(texts)"):
        model().fit(COUNTS).predict(TEXTS)


def test_a_table_with_the_headings_of_edges_is_noted():
    edges = pd.DataFrame({"userId": [1, 1, 2], "movieId": [1, 2, 3], "rating": [4, 3, 5]})
    with pytest.warns(UserWarning, match="userId, movieId, rating") as caught:
        model().fit(edges)
    assert caught[0].filename == __file__
    assert comarkov.read(edges).shape == (2, 3)


# --- refused, with a call that works ----------------------------------------------------------

REFUSED = {
    "edges": EDGES,
    "pairs": EDGES[["user", "item"]],
    "names or edges": EDGES[["stars"]].assign(n=[1, 0, 2, 4], user=list("abcd")),
    "edges to numbers": EDGES[["user", "stars"]].assign(n=[1, 0, 2, 4]),
    "a class beside numbers": NUMBERS.assign(city=["Rome", "Rome", "Oslo", "Oslo", "Rome"]),
    "two columns of text": NAMED.assign(city="Rome"),
    "dates": NUMBERS.assign(day=pd.Timestamp("2020-01-01")),
    "texts in a column": pd.DataFrame({"id": list("abcd"), "body": TEXTS}),
    "numbers as text": NUMBERS.astype(str),
    "an array of numbers as text": COUNTS.astype(str),
    "a list of numbers as text": COUNTS.astype(str).tolist(),
    "a list of pairs": [("Ann", "tea"), ("Bob", "rum"), ("Ann", "rum")],
    "a list of triples": [("Ann", "tea", 2), ("Bob", "rum", 1), ("Ann", "rum", 1)],
    "records": [{"user": "Ann", "item": "tea", "n": 2}, {"user": "Bob", "item": "rum", "n": 1}],
    "counts by name": [{"tea": 2, "gin": 1}, {"rum": 1}],
    "a dict of columns": {"a": [1, 2], "b": [3, 4]},
    "a dict of rows": {"Ann": {"tea": 1, "rum": 3}, "Bob": {"rum": 2, "gin": 1}},
    "an iterator": (row for row in COUNTS.tolist()),
    "negative": COUNTS - 3,
    "negative sparse": sp.csr_array(COUNTS - 3),
    "nan": np.where(COUNTS > 5, np.nan, COUNTS),
    "null polars": pl.DataFrame({"a": [1, None, 2], "b": [1, 2, 0]}),
    "infinite": np.where(COUNTS > 5, np.inf, COUNTS),
    "complex": COUNTS + 1j,
    "masked": np.ma.masked_greater(COUNTS, 5),
    "huge": np.full((3, 3), 1e308),
}
CALL = re.compile(r"((?:X|numpy|pandas|comarkov|list|\[x)(?: / X)?[.( ].*?[\])]?(?:\.real)?)\.?$")


def calls(message):
    """The calls in a message: each begins with 'pass' or ': ', and runs to its last bracket."""
    parts = re.split(r"[Pp]ass (?:the real parts: )?|: (?=X|numpy|comarkov)|; ", message)
    return [result[1] for part in parts[1:] if (result := CALL.match(part))]


@pytest.mark.filterwarnings("ignore:the data frame")  # how it is read
@pytest.mark.parametrize("name", REFUSED)
def test_the_error_ends_with_a_call_that_works(name):
    X = REFUSED[name]
    with refused() as caught:
        model().fit(X)
    message = str(caught.value)
    assert "could not convert" not in message
    assert "reshape" not in message.lower()
    assert "absolute" not in message
    suggested = calls(message)
    assert suggested, message
    scope = {"X": X, "comarkov": comarkov, "numpy": np, "pandas": pd, "polars": pl}
    for call in suggested:
        again = eval(call, scope | {"pathlib": pathlib})
        CoClustering(1, random_state=0).fit(again)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: model().beta_path(X),
        lambda X: model().fit(COUNTS).predict(X),
        lambda X: model().fit(COUNTS).predict(X, "columns"),
        lambda X: model().fit(COUNTS).cut(1, X),
        lambda X: Results.of(model().fit(COUNTS), X),
        lambda X: MarkovAggregation(2).fit(X),
        lambda X: MultiwayClustering(2).fit({("a", "b"): X}),
        lambda X: Weighting().fit(X),
        lambda X: comarkov.compare(X),
        lambda X: comarkov.cost(X, [0], [0], 0.5),
        lambda X: comarkov.plot_heatmap(model().fit(COUNTS), X),
    ],
)
@pytest.mark.parametrize("path", ["ratings.csv", pathlib.Path("ratings.csv")])
def test_a_path_is_to_be_read_first(call, path):
    with refused("comarkov.read(", "ratings.csv"):
        call(path)


@pytest.mark.parametrize("X", [None, {1, 2}, b"abc"])
def test_what_is_no_data_at_all(X):
    with refused("comarkov.read("):
        model().fit(X)


def test_a_transposed_matrix_gets_a_hint():
    with refused("pass X.T"):
        model().fit(COUNTS).predict(COUNTS.T)
