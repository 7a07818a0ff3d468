"""Whether the first line of a table is a header, and which marks its numbers have."""

from contextlib import nullcontext
from warnings import catch_warnings

import polars as pl
import pytest
from refusals import noted, refused

import comarkov
from comarkov.io.read.headers import kind_of


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("user,item\nAnn,tea\n", ["Ann"]),  # usual headings
        ("user_id,movieId\nAnn,tea\n", ["Ann"]),
        ("Ann,tea\nBob,tea\n", ["Ann", "Bob"]),
        ("who,what,n\nAnn,tea,1\n", ["Ann"]),  # a number below a word
        ("Ann,tea,1\nBob,tea,2\n", ["Ann", "Bob"]),
        ("who,what\n1,2\n", ["1"]),
        ("1,2\n3,4\n", ["1", "3"]),
        ("passenger,flight\nAnn,F1\nBob,F1\n", ["Ann", "Bob"]),  # words that occur nowhere below
        ("Who,What\nAnn,tea\nBob,tea\n", ["Ann", "Bob"]),
        ("Ann,tea,NA\nBob,tea,2\nAnn,rum,1\n", ["Ann", "Bob"]),  # a gap is not a heading
        ("# a comment\n\nwho,what\n\nAnn,tea\nBob,tea\n", ["Ann", "Bob"]),
        ('"who\nis it",what\nAnn,tea\nBob,tea\n', ["Ann", "Bob"]),
        ("Sales of 2026\n\nwho,what,n\nAnn,tea,1\nBob,tea,1\n", ["Ann", "Bob"]),  # a title
    ],
)
@pytest.mark.filterwarnings("ignore:.*the table starts at line 3")
def test_the_header_is_detected(text, rows, tmp_path):
    (tmp_path / "e.csv").write_text(text)
    missing = "skip" if "NA" in text else None
    with noted("1 line") if missing else nullcontext():
        data = comarkov.read(tmp_path / "e.csv", missing=missing)
    assert data.row_names.tolist() == rows


def test_the_header_can_be_stated(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("Ann,tea\nBob,rum\n")
    with noted("(Ann, tea)", "header=False"):
        assert comarkov.read(path).row_names.tolist() == ["Bob"]
    assert comarkov.read(path, header=True).row_names.tolist() == ["Bob"]
    assert comarkov.read(path, header=False).row_names.tolist() == ["Ann", "Bob"]
    assert comarkov.read(path, rows="Ann", columns="tea").row_names.tolist() == ["Bob"]
    path.write_text("user,item\nAnn,tea\n")
    assert comarkov.read(path, header=False).row_names.tolist() == ["Ann", "user"]


@pytest.mark.parametrize(
    ("text", "columns", "note"),
    [
        ("region,2019,2020,2021\nNord,3,0,1\n", ["2019", "2020", "2021"], None),  # years
        ("Nord,2021,2020,2019\nOst,3,0,1\n", ["2021", "2020", "2019"], None),
        ("Nord,1950.0,1951.0,1952.0\nOst,3,0,1\n", ["1950.0", "1951.0", "1952.0"], None),
        ("customer,7,70,71\nAnn,3,0,1\n", ["7", "70", "71"], None),  # after a heading
        ("x,1,2,4,7,8,9\nAnn,3,0,1,1,1,1\n", list("124789"), None),  # many
        (",9,2,4\nAnn,3,0,1\nBob,1,1,1\n", list("924"), None),  # an empty corner
        ("x,5,6,7\nNord,3,0,1\n", ["5", "6", "7"], "header=False"),
        ("x,3,4,7\nNord,3,0,1\n", ["0", "1", "2"], "header=True"),
        ("x,4,3,7\nNord,3,0,1\n", ["0", "1", "2"], None),
    ],
)
def test_headings_that_are_numbers(text, columns, note, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with noted(note) if note else nullcontext():
        assert comarkov.read(path).column_names.tolist() == columns
    assert comarkov.read(path, header=True).column_names[0] == text.split(",")[1]
    with catch_warnings(action="ignore"):  # about the name that is missing
        assert comarkov.read(path, header=False).matrix.shape[0] == 2


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
def test_names_and_numbers_with_commas(separator, tmp_path):
    path = tmp_path / "x.txt"
    lines = ["Ann, A.;Tea, hot;1,5", "Bob, B.;Rum, old;2,25"]
    path.write_text("\n".join(lines).replace(";", separator))
    for keywords in ({"decimal": ","}, {}):
        data = comarkov.read(path, **keywords)
        assert data.row_names.tolist() == ["Ann, A.", "Bob, B."]
        assert data.matrix.data.tolist() == [1.5, 2.25]
        assert data.reading["decimal"] == ","
    refused(path, "'1,5'", at=(1, 3), decimal=".")
    refused(path, "decimal=';'", decimal=";")


def test_decimal_commas_in_tables(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Region;A;B;C\nNord;1,5;0;-0\nOst;1.200,5;2;3\n")
    data = comarkov.read(path)
    assert (data.reading["decimal"], data.reading["thousands"]) == (",", ".")
    assert data.matrix.toarray().tolist() == [[1.5, 0, 0], [1200.5, 2, 3]]
    refused(path, "thousands=','", decimal=",", thousands=",")
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "w": ["1,5", "2"]})
    assert comarkov.read(frame, decimal=",").matrix.data.tolist() == [1.5, 2]


def test_marks_around_numbers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('user,item,n\nAnn,tea,$5\nBob,tea, 12 %\nBob,rum,"1,200"\n')
    refused(path, "'1,200'", "thousands=','", at=(4, "n"))
    data = comarkov.read(path, thousands=",")
    assert data.matrix.toarray().tolist() == [[0, 5], [1200, 12]]


@pytest.mark.parametrize("cell", ["1,5", "2,25", "1,20,00", ",5", "1,200.5,3"])
def test_a_thousands_mark_stands_before_three_digits(tmp_path, cell):
    path = tmp_path / "x.csv"
    path.write_text(f'user,item,n\nAnn,tea,"1,200,300.5"\nEve,tea,"12,00,300"\nBob,rum,"{cell}"\n')
    refused(path, f"'{cell}'", at=(4, "n"), thousands=",")
    frame = pl.DataFrame({"user": ["Ann"], "item": ["tea"], "n": [cell]})
    refused(frame, f"'{cell}'", at=(1, "n"), thousands=",")


def test_a_word_far_below_shows_that_the_first_line_is_an_edge(tmp_path):
    path = tmp_path / "x.csv"
    edges = [f"user {i},item {i % 70}" for i in range(1, 500)]
    path.write_text("\n".join(["user 0,item x", *edges]))
    with catch_warnings(record=True):
        assert comarkov.read(path).row_kind == "user 0"
    path.write_text("\n".join(["user 0,item x", *edges, "user 0,item 1"]))
    assert comarkov.read(path).matrix.sum() == 501


def test_a_header_without_a_corner_as_r_writes_it(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("a\tb\tc\nx\t1\t2\t3\ny\t0\t0\t4\n")
    data = comarkov.read(path)
    assert (data.row_names.tolist(), data.column_names.tolist()) == (["x", "y"], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Country Name", "country"),
        ("movieId", "movie"),
        ("user_id", "user"),
        ("SKU", "SKU"),
        ("Unnamed: 0", "row"),
        ("id", "row"),
        ("", "row"),
        ("who", "who"),
        ("HomeTeam", "home team"),
        ("first_name", "row"),
        ("country_code", "country"),
        ("zip_code", "zip code"),
    ],
)
def test_the_kind_of_rows_is_that_of_their_heading(heading, kind):
    assert kind_of(heading, "row") == kind


def test_the_separator_is_not_looked_for_inside_quoted_texts(here):
    text = "\n".join(f"word {i} and more words, of a text" for i in range(30))
    records = "\n".join(f'{i},title {i},"{text}"' for i in range(3))
    (here / "news.csv").write_text(f"id,title,text\n{records}\n")
    assert comarkov.read("news.csv", text="text").shape[0] == 3


def test_long_names_in_the_first_column_name_the_rows(here):
    lines = [
        f'"A long name of the industry number {i}, with words",{i},{9 - i % 9},{i % 5}'
        for i in range(1, 31)
    ]
    (here / "t.csv").write_text("Activity,a,b,c\n" + "\n".join(lines) + "\n")
    assert comarkov.read("t.csv").row_names[0].startswith("A long name of the industry number 1,")
