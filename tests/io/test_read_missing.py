"""Missing values, columns that are left out, and the column that names the rows."""

import io

import pandas as pd
import polars as pl
import pytest
from commands import run
from numpy.testing import assert_array_equal
from refusals import advised, noted, refused

import comarkov

WORDS = ["NA", "N/A", "NaN", "nan", "null", "None", ""]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "t.csv"


@pytest.mark.parametrize("word", WORDS)
def test_a_line_without_a_name_is_skipped(word, path):
    path.write_text(f"user,item,n\nAnn,tea,1\n{word},gin,2\nBob,{word},3\nAnn,rum,4\n")
    with noted("t.csv: 2 lines"):
        data = comarkov.read("t.csv")
    assert data.row_names.tolist() == ["Ann"]  # Bob occurs in no line that counts
    assert data.column_names.tolist() == ["rum", "tea"]
    if word:
        data = comarkov.read("t.csv", keep_na=True)
        assert set(data.row_names) == {"Ann", "Bob", word}
        assert word in data.column_names


@pytest.mark.parametrize("word", WORDS)
def test_a_missing_weight_is_an_error_unless_stated(word, path):
    path.write_text(f"user,item,n\nAnn,tea,1\nBob,gin,{word}\nAnn,rum,4\n")
    assert advised(refused("t.csv", at=(3, "n"))) == {"missing": "skip"}
    with noted("t.csv: 1 line"):
        assert comarkov.read("t.csv", missing="skip").row_names.tolist() == ["Ann"]
    for zero in ("0", 0):
        with noted("t.csv: 1 line"):
            assert comarkov.read("t.csv", missing=zero).row_names.tolist() == ["Ann", "Bob"]
    refused("t.csv", "missing='never'", missing="never")


FRAMES = {
    "text": {"a": ["x", None, "NA", "y"], "b": ["u", "v", "w", "v"], "n": [1.0, None, 3, None]},
    "numbers": {"a": [7, None, None, 8], "b": ["u", "v", "w", "v"], "n": [1, None, 3, None]},
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, "Parquet"])
def test_missing_values_of_typed_tables(name, make, tmp_path):
    source = (pl.DataFrame if make == "Parquet" else make)(FRAMES[name])
    if make == "Parquet":
        source.write_parquet(tmp_path / "e.parquet")
        source = tmp_path / "e.parquet"
    refused(source, "missing", at=(4, "n"))
    with noted("2 lines", "1 line"):
        data = comarkov.read(source, missing=0)
    assert data.row_names.tolist() == (["x", "y"] if name == "text" else ["7", "8"])  # not 7.0
    assert_array_equal(data.matrix.toarray(), [[1, 0], [0, 0]])


def test_blanks_of_a_pivot_table_are_zeros(path):
    path.write_text("shop,tea,rum,gin\nNord,1,,2\nOst,NA,3, \n,1,1,1\n")
    with noted("1 row", "3 missing cells"):
        data = comarkov.read("t.csv")
    assert_array_equal(data.matrix.toarray(), [[1, 0, 2], [0, 3, 0]])
    assert data.row_kind == "shop"
    path.write_text("shop,tea,rum,gin\nNord,1,,2\n")
    refused("t.csv", "missing", at=(2, "rum"), missing="error")


def test_gaps_of_a_pivoted_frame_are_zeros():
    edges = pd.DataFrame({"a": list("xyz"), "b": ["t", "u", "v"], "n": [1, 2, 3]})
    wide = edges.pivot(index="a", columns="b", values="n").assign(w=0.0)
    with noted("6 missing cells"):
        data = comarkov.read(wide)
    assert_array_equal(data.matrix.toarray(), [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0]])
    assert (data.row_names.tolist(), data.row_kind) == (["x", "y", "z"], "a")
    refused(wide, "missing", at=(1, "u"), missing="error")


WORLD_BANK = """"Data Source","World Development Indicators",

"Last Updated Date","2024-06-28",

"Country Name","Country Code","Indicator Name","Indicator Code","1960","1961","1962",
"Aruba","ABW","Population","SP.POP","54208","55434","56234",
"Chad","TCD","Population","SP.POP","3000000","","3100000",
"""


def test_a_table_of_the_world_bank(path):
    path.write_text(WORLD_BANK)
    with noted("line 5", "names='Country Code'", "1 missing cell") as notes:
        data = comarkov.read("t.csv")
    assert {note.filename for note in notes} == {__file__}  # where the user called
    assert data.row_names.tolist() == ["Aruba", "Chad"]
    assert data.column_names.tolist() == ["1960", "1961", "1962"]
    assert (data.row_kind, data.column_kind) == ("country", "year")
    done = run("fit", "t.csv", "--names", "Country Code", "-k", 2, "-l", 2, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "--missing error" in done.stderr
    assert (path.parent / "out" / "rows.csv").read_text().count("\nABW,") == 1


def test_columns_can_be_left_out(path):
    path.write_text("gene,a,b,lon,c\nx,1,2,-3,4\ny,1,0,-3,5\n")
    assert advised(refused("t.csv", at=(2, "lon"))) == {"drop": "lon"}
    for drop in ("lon", ["lon"], 3, [3], " lon ,"):
        assert comarkov.read("t.csv", drop=drop).column_names.tolist() == ["a", "b", "c"]
    assert comarkov.read("t.csv", drop="lon,b,c", kind="edges").shape == (2, 1)  # gene and a
    assert advised(refused("t.csv", "'lat'", drop="lat")) == {"drop": "gene"}
    refused("t.csv", "leaves no column", drop="gene,a,b,lon,c")


@pytest.mark.parametrize("text", ["land,men,women\nA,12,13\nB,5,4\n", "land,men\nA,12\nB,12\n"])
@pytest.mark.filterwarnings("ignore:.*recognised as")
def test_a_narrow_table_is_not_taken_for_an_edge_list(path, text):
    path.write_text(text)
    for source in ("t.csv", pl.read_csv(text.encode())):
        if "women" in text:
            assert comarkov.read(source).reading["kind"] == "table"
        else:
            assert advised(refused(source)) == {"kind": "table"}
        assert comarkov.read(source, kind="table").column_names[0] == "men"
        assert comarkov.read(source, kind="edges").column_names[0] in ("12", "5", 12, 5)
        assert comarkov.read(source, rows="land", columns="men").shape[0] == 2


@pytest.mark.parametrize("text", ["A,12\nA,5\nB,5\n", "7,12\n8,5\n", "A,x\nB,y\n"])
def test_edges_between_texts_or_numbers_are_edges(path, text):
    path.write_text("user,film\n" + text)
    assert comarkov.read("t.csv").reading["kind"] == "edges"


@pytest.mark.parametrize("heading", ["x", "lon"])
def test_the_advice_to_leave_a_column_out_works(heading, path):
    path.write_text(f"gene,x,y,{heading}\na,1,2,3\nb,1,2,-1\n")
    assert comarkov.read("t.csv", **advised(refused("t.csv"))).shape == (2, 2)


def test_numbers_that_only_identify_rows_are_no_weights(path):
    path.write_text("id,name,a,b,c\n7,Ann,1,2,3\n9,Bob,4,5,6\n")
    with noted("named by name; id", "drop='none'"):
        data = comarkov.read("t.csv")
    assert (data.row_names.tolist(), data.shape) == (["Ann", "Bob"], (2, 3))
    data = comarkov.read("t.csv", names="name", drop="none")
    assert data.column_names.tolist() == ["id", "a", "b", "c"]
    for text, part, rows in (
        ("user_id,sex,a,b\n7,f,1,2\n9,m,4,5\n11,f,1,1\n", "sex", ["7", "9", "11"]),
        (",name,a,b,c\n0,Ann,1,2,3\n1,Bob,4,5,6\n", "column 0", ["Ann", "Bob"]),
    ):
        path.write_text(text)
        with noted(part):
            assert comarkov.read("t.csv").row_names.tolist() == rows


def test_the_column_of_names_makes_a_table_a_wide_one(path):
    path.write_text("a,b,name\n1,2,Ann\n3,4,Bob\n")
    data = comarkov.read("t.csv", names="name")
    assert (data.row_names.tolist(), data.column_names.tolist()) == (["Ann", "Bob"], ["a", "b"])
    refused("t.csv", "rows='a' and names='name'", names="name", rows="a")


def test_commas_at_the_ends_of_lines_make_no_columns(path):
    path.write_text("user,item,n,,\nAnn,tea,1,,\nBob,rum,2,,\n")
    assert comarkov.read("t.csv").shape == (2, 2)


def test_space_around_names_and_headings_is_no_part_of_them(path):
    path.write_text("user, item, n\nAnn, tea, 1\nBob,tea, 2\n")
    data = comarkov.read("t.csv")
    assert (data.column_names.tolist(), data.column_kind) == (["tea"], "item")
    path.write_text("user, a, b, c\n Ann, 1, 2, 3\nBob, 4, 5, 6\n")
    assert comarkov.read("t.csv").row_names.tolist() == ["Ann", "Bob"]


def test_notes_of_the_command_name_options(path):
    path.write_text("user,item,n\nAnn,tea,1\nNA,rum,2\nBob,rum,3\n")
    done = run("fit", "t.csv", "-k", 2, "-l", 2, "-o", "out")
    assert "t.csv: 1 line" in done.stderr
    assert "--keep-na" in done.stderr
    done = run("fit", "t.csv", "--keep-na", "--no-header", "-k", 2, "-l", 2, "-o", "other")
    assert "line 1, column 3: 'n'" in done.stderr
    assert "--rows 0 --columns 1" in done.stderr


def test_a_dash_is_a_missing_weight():
    table = "who,tea,rum,gin\nAnn,1,-,3\nBob,—,2,.\nCy,4,–,-1\n"
    refused(io.BytesIO(table.encode()), "-1", at=(4, "gin"))
    with noted("4 missing cells"):
        data = comarkov.read(io.BytesIO(table.replace("-1", "1").encode()))
    assert data.matrix.toarray().tolist() == [[1, 0, 3], [0, 2, 0], [4, 0, 1]]


PIVOT = """Region,Product,Jan,Feb,Grand Total
North,tea,1,2,3
,rum,3,4,7
South,tea,5,6,11
,gin,7,8,15
Grand Total,,16,20,36
"""


def test_a_pivot_table_is_named_by_its_full_column():
    source = PIVOT.replace("South,tea", "South,ale").encode()
    with noted("1 row", "drop='Grand Total'", "named by Product"):
        data = comarkov.read(io.BytesIO(source))
    assert data.row_names.tolist() == ["tea", "rum", "ale", "gin"]
    with noted("1 row"):
        refused(io.BytesIO(PIVOT.encode()), "'tea'", "names='Region'", at=(4, "Product"))
