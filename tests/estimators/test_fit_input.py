"""What users pass to fit instead of a matrix: it is handled, or the error shows the call to use."""

import pathlib
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import refusal
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


def test_relations_take_names_and_texts():
    fitted = MultiwayClustering(2, random_state=0).fit({("people", "things"): NAMED})
    assert fitted.labels_["people"].tolist() == [0, 0, 1, 1, 0]


def test_texts_need_a_fit_whose_columns_are_words():
    with pytest.raises(ValueError, match=r"model\.fit\(texts\)"):
        model().fit(COUNTS).predict(TEXTS)


def test_columns_of_text_that_the_fit_did_not_have_are_ignored():
    fitted = model().fit(NUMBERS)
    other = NUMBERS.assign(city=["Rome", "Rome", "Oslo", "Oslo", "Rome"])
    with pytest.warns(UserWarning, match="city"):
        assert_array_equal(fitted.predict(other), fitted.row_labels_)


def test_a_table_with_the_headings_of_edges_is_noted():
    edges = pd.DataFrame({"userId": [1, 1, 2], "movieId": [1, 2, 3], "rating": [4, 3, 5]})
    call = 'comarkov.read(X, rows="userId", columns="movieId", weights="rating")'
    with pytest.warns(UserWarning, match=re.escape(call)) as caught:
        model().fit(edges)
    assert caught[0].filename == __file__
    assert comarkov.read(edges, rows="userId", columns="movieId", weights="rating").shape == (2, 3)


# --- refused, with a call that works ----------------------------------------------------------

FILES = [str(path) for path in sorted(pathlib.Path(__file__).parent.glob("test_*.py"))]
REFUSED = {
    "edges": EDGES,
    "pairs": EDGES[["user", "item"]],
    "polars edges": pl.DataFrame(EDGES),
    "edges and a time": EDGES.assign(time=[1, 2, 3, 4]),
    "names or edges": EDGES[["stars"]].assign(n=[1, 0, 2, 4], user=list("abcd")),
    "edges to numbers": EDGES[["user", "stars"]].assign(n=[1, 0, 2, 4]),
    "a class beside numbers": NUMBERS.assign(city=["Rome", "Rome", "Oslo", "Oslo", "Rome"]),
    "polars class": pl.DataFrame(NUMBERS).with_columns(city=pl.Series(["R", "R", "O", "O", "R"])),
    "two columns of text": NAMED.assign(city="Rome"),
    "two columns and an index": NAMED.assign(city="Rome").set_axis(NAMES),
    "dates": NUMBERS.assign(day=pd.Timestamp("2020-01-01")),
    "polars dates": pl.DataFrame(NUMBERS.assign(day=pd.Timestamp("2020-01-01"))),
    "texts in a column": pd.DataFrame({"id": list("abcd"), "body": TEXTS}),
    "nothing but a column of texts": pd.DataFrame({"body": TEXTS}),
    "numbers as text": NUMBERS.astype(str),
    "numbers as text in numbered columns": pd.DataFrame(COUNTS).astype(str),
    "dates in a numbered column": pd.DataFrame(COUNTS).astype({0: "datetime64[s]"}),
    "an empty row": [[1, 2], [], [3, 4]],
    "an empty pair": [("Ann", "tea"), (), ("Bob", "rum")],
    "polars numbers as text": pl.DataFrame(NUMBERS).cast(pl.String),
    "numbers as text beside numbers": NUMBERS.astype({"a": str}),
    "an array of numbers as text": COUNTS.astype(str),
    "objects": COUNTS.astype(str).astype(object),
    "a list of numbers as text": COUNTS.astype(str).tolist(),
    "one list of numbers as text": ["1", "2", "3"],
    "a list of pairs": [("Ann", "tea"), ("Bob", "rum"), ("Ann", "rum")],
    "a list of triples": [("Ann", "tea", 2), ("Bob", "rum", 1), ("Ann", "rum", 1)],
    "an array of pairs": np.array([("Ann", "tea"), ("Bob", "rum")]),
    "records": [{"user": "Ann", "item": "tea", "n": 2}, {"user": "Bob", "item": "rum", "n": 1}],
    "counts by name": [{"tea": 2, "gin": 1}, {"rum": 1}],
    "lists of words": [["sun", "sea", "sun", "sea"], ["sun", "ice"], ["ice", "sea", "ice", "sun"]],
    "names beside numbers": [["Ann", 1, 2, 3], ["Bob", 3, 4, 5]],
    "files": FILES,
    "a dict of columns": {"a": [1, 2], "b": [3, 4]},
    "a dict of rows": {"Ann": {"tea": 1, "rum": 3}, "Bob": {"rum": 2, "gin": 1}},
    "an iterator": (row for row in COUNTS.tolist()),
    "negative": COUNTS - 3,
    "negative pandas": NUMBERS - 3,
    "negative polars": pl.DataFrame(NUMBERS - 3),
    "negative sparse": sp.csr_array(COUNTS - 3),
    "nan": np.where(COUNTS > 5, np.nan, COUNTS),
    "nan pandas": NUMBERS.where(NUMBERS < 6),
    "null polars": pl.DataFrame({"a": [1, None, 2], "b": [1, 2, 0]}),
    "infinite": np.where(COUNTS > 5, np.inf, COUNTS),
    "infinite pandas": NUMBERS.astype(float).replace(6, np.inf),
    "infinite polars": pl.DataFrame(NUMBERS.astype(float).replace(6, np.inf)),
    "complex": COUNTS + 1j,
    "masked": np.ma.masked_greater(COUNTS, 5),
    "huge": np.full((3, 3), 1e308),
}
CALL = re.compile(r"((?:X|numpy|pandas|comarkov|list|\[x)(?: / X)?[.( ].*?[\])]?(?:\.real)?)\.?$")


def calls(message):
    """The calls in a message: each begins with 'pass' or ': ', and runs to its last bracket."""
    parts = re.split(r"[Pp]ass (?:the real parts: )?|: (?=X|numpy|comarkov)|; ", message)
    return [result[1] for part in parts[1:] if (result := CALL.match(part))]


@pytest.mark.filterwarnings("ignore:.*set aside")
@pytest.mark.parametrize("name", REFUSED)
def test_the_error_ends_with_a_call_that_works(name):
    X = REFUSED[name]
    with pytest.raises(ValueError, match=r"\bX\b|comarkov|Complex") as caught:
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
        if name == "an empty pair":  # what is left needs another call
            again = comarkov.read(again)
        CoClustering(1, random_state=0).fit(again)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: model().fit(X),
        lambda X: model().fit_predict(X),
        lambda X: model().beta_path(X),
        lambda X: model().fit(COUNTS).predict(X),
        lambda X: model().fit(COUNTS).predict(X, "columns"),
        lambda X: model().fit(COUNTS).transform(X),
        lambda X: model().fit(COUNTS).score(X),
        lambda X: model().fit(COUNTS).cut(1, X),
        lambda X: Results.of(model().fit(COUNTS), X),
        lambda X: ITCC(2).fit(X),
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
    with pytest.raises(ValueError, match=r"comarkov\.read\(.ratings\.csv.\)"):
        call(path)


@pytest.mark.parametrize("X", [None, {1, 2}, b"abc"])
def test_what_is_no_data_at_all(X):
    with pytest.raises(ValueError, match=r"comarkov\.read\("):
        model().fit(X)


def test_an_open_file(tmp_path):
    path = tmp_path / "edges.csv"
    EDGES.to_csv(path, index=False)
    with path.open("rb") as file:
        with pytest.raises(ValueError, match=r"comarkov\.read\(X\)"):
            model().fit(file)
        assert comarkov.read(file).shape == (3, 3)


def test_numbers_in_one_dimension_get_the_error_of_scikit_learn():
    for X in (np.arange(3), [1, 2, 3]):
        with pytest.raises(ValueError, match="Reshape your data"):
            model().fit(X)


def test_lists_that_are_no_edges_or_differ_in_length():
    assert "Item 1" in str(refusal(comarkov.read, [("Ann", "tea"), ("Bob", "rum", 1)]))
    data = comarkov.read([("Ann", "tea", 2), ("Ann", "tea", 1), ("Bob", 7, 1)])
    assert data.column_names.tolist() == ["7", "tea"]
    assert_array_equal(data.matrix.toarray(), [[0, 3], [1, 0]])


def test_a_transposed_matrix_gets_a_hint():
    for X in (COUNTS, comarkov.Data(COUNTS)):
        with pytest.raises(ValueError, match=r"pass X\.T"):
            model().fit(X).predict(X.T)
