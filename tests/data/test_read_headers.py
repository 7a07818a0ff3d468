"""Whether the first line of a table is a header, and which marks its numbers have."""

import polars as pl
import pytest

import comarkov


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
    ],
)
def test_the_header_is_found(text, rows, tmp_path):
    (tmp_path / "e.csv").write_text(text)
    assert comarkov.read(tmp_path / "e.csv").row_names.tolist() == rows


def test_the_header_can_be_said(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("Who,What\nAnn,tea\n")
    with pytest.warns(UserWarning, match="taken for an edge"):
        assert comarkov.read(path).row_names.tolist() == ["Ann", "Who"]
    assert comarkov.read(path, header=True).row_names.tolist() == ["Ann"]
    assert comarkov.read(path, rows="Who", columns="What").row_names.tolist() == ["Ann"]
    path.write_text("user,item\nAnn,tea\n")
    assert comarkov.read(path, header=False).row_names.tolist() == ["Ann", "user"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("region,2019,2020,2021\nNord,3,0,1\n", ["2019", "2020", "2021"]),  # a step
        ("customer,7,70,71\nAnn,3,0,1\n", ["7", "70", "71"]),  # after a heading
        ("x,1,2,4,7,8,9\nAnn,3,0,1,1,1,1\n", list("124789")),  # many
        ("region,3,4,7\nNord,3,0,1\n", ["0", "1", "2"]),  # may be weights
        ("region,2021,2020,2019\nNord,3,0,1\n", ["0", "1", "2"]),
    ],
)
def test_headings_that_are_numbers(text, columns, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.warns(UserWarning, match=r"the first line .* is taken for a (header|row)\. If"):
        assert comarkov.read(path).column_names.tolist() == columns
    assert comarkov.read(path, header=True).column_names[0] == text.split(",")[1]
    assert comarkov.read(path, header=False).matrix.shape[0] == 2


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
def test_names_and_numbers_with_commas(separator, tmp_path):
    path = tmp_path / "x.txt"
    lines = ["Ann, A.;Tea, hot;1,5", "Bob, B.;Rum, old;2,25"]
    path.write_text("\n".join(lines).replace(";", separator))
    data = comarkov.read(path, decimal=",")
    assert data.row_names.tolist() == ["Ann, A.", "Bob, B."]
    assert data.matrix.data.tolist() == [1.5, 2.25]
    with pytest.raises(ValueError, match=r"line 1, column 3: '1,5' is not a number; if ',' is be"):
        comarkov.read(path)
    with pytest.raises(ValueError, match=r"decimal=';' must be"):
        comarkov.read(path, decimal=";")


def test_decimal_commas_in_tables(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("Region;A;B;C\nNord;1,5;0;-0\nOst;1.200,5;2;3\n")
    with pytest.raises(ValueError, match=r"line 2, column 2 \(A\): '1,5' is not a number; if ','"):
        comarkov.read(path)
    with pytest.raises(ValueError, match=r"line 3, column 2 \(A\): '1.200,5' is not a number\."):
        comarkov.read(path, decimal=",")
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "w": ["1,5", "2"]})
    assert comarkov.read(frame, decimal=",").matrix.data.tolist() == [1.5, 2]


def test_headings_have_no_space_around_them(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who, what, n\nAnn,tea,2\n")
    assert comarkov.read(path, rows="who", columns="what").column_kind == "what"


def test_a_first_line_that_may_be_a_header_is_doubted(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who,what\nAnn,tea\nBob,tea\n")
    with pytest.warns(UserWarning, match=r"the first line \(who, what\) is taken for an edge"):
        assert comarkov.read(path).matrix.shape == (3, 2)
    assert comarkov.read(path, header=True).row_kind == "who"
    assert comarkov.read(path, header=False).matrix.shape == (3, 2)
    path.write_text("Ann,tea\nAnn,rum\nBob,tea\n")
    assert comarkov.read(path).matrix.shape == (2, 2)
