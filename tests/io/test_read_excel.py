"""Excel files are read like delimited text, and NumPy arrays like matrices."""

import io

import numpy as np
import pytest
from commands import assert_refused, run
from numpy.testing import assert_array_equal
from refusals import advised, noted, refused
from spreadsheets import write_xlsx

import comarkov

EDGES = [["user", "item", "n"], ["Ann", "tea", 2], ["Bob", "rum", 1.5], ["Ann", "rum", 1]]


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_sheet_is_an_edge_list(decimal, here):
    write_xlsx("e.xlsx", {"sales": EDGES})
    data = comarkov.read("e.xlsx", decimal=decimal)
    assert_array_equal(data.matrix.toarray(), [[1, 2], [1.5, 0]])
    assert (data.row_names.tolist(), data.row_kind) == (["Ann", "Bob"], "user")
    with open("e.xlsx", "rb") as file:
        assert comarkov.read(io.BytesIO(file.read())).shape == (2, 2)


def test_a_sheet_is_a_wide_table_with_a_title_and_gaps(here):
    rows = [["Sales"], [None], ["shop", 2019, 2020, 2021], ["Nord", 1, None, 3], ["Ost", 4, 5, 6]]
    write_xlsx("t.xlsx", {"one": [row + [None] * (4 - len(row)) for row in rows]})
    with noted("1 missing cell", "line 3"):
        data = comarkov.read("t.xlsx")
    assert data.column_names.tolist() == ["2019", "2020", "2021"]
    assert_array_equal(data.matrix.toarray(), [[1, 0, 3], [4, 5, 6]])


def test_the_line_of_a_fault_is_that_of_the_sheet(here):
    blank = [None, None, None]
    write_xlsx("e.xlsx", {"sales": [blank, *EDGES, blank, ["Bob", "tea", "many"]]})
    assert refused("e.xlsx", "'many'", at=(7, "n")).file == "e.xlsx"


def test_one_of_several_sheets_is_chosen(here):
    write_xlsx("e.xlsx", {"notes": [["hello"]], "2024 sales": EDGES, "blank": []})
    assert_refused(run("fit", "e.xlsx", "-k", 2, "-l", 2, "-o", "out"), "--sheet notes")
    for sheet in ("2024 sales", 1, "1"):
        assert comarkov.read("e.xlsx", sheet=sheet).shape == (2, 2)
    assert advised(refused("e.xlsx", "'sales'", sheet="sales")) == {"sheet": "2024 sales"}
    assert advised(refused("e.xlsx", "'Blank'", sheet="Blank")) == {"sheet": "blank"}
    assert advised(refused("e.xlsx", "'blank' is empty", sheet="blank")) == {"sheet": "notes"}
    error = refused("e.xlsx", "'x'", sheet="2024 sales", rows="x", columns=1)
    assert error.file == "e.xlsx, sheet '2024 sales'"
    done = run("fit", "e.xlsx", "--sheet", "2024 sales", "-k", 2, "-l", 2, "-o", "out")
    assert done.returncode == 0, done.stderr


def test_what_is_no_excel_file(here):
    (here / "e.xlsx").write_bytes(b"PK\x03\x04")
    refused("e.xlsx", "e.xlsx")
    write_xlsx("e.xlsx", {"sales": EDGES * 9})
    refused("e.xlsx", "e.xlsx", "more than 99", "max_bytes=", max_bytes=99)
    refused("e.xlsx", "separator= does not apply", separator=";")
    refused(io.BytesIO(b"a,b\nc,d\n"), "sheet= does not apply", sheet="x", header=False)
    write_xlsx("e.xlsx", {})
    refused("e.xlsx", "0 sheets")


@pytest.mark.parametrize(
    "cell",
    [
        '<row><c r="XFD1048576"><v>1</v></c></row>',
        "<row><c r = 'xfd20000'><v>1</v></c></row>",
        '<row r="1048576"><c r="ZZ1048576"><v>1</v></c></row>',
        '<row r="40000"><c/></row><row><c r="AAA1"><v>1</v></c></row>',
    ],
)
def test_a_stray_cell_far_away(cell, here):
    """Its reader would make room for all cells between, up to 550 GB."""
    write_xlsx("e.xlsx", {"sales": EDGES}, cell)
    refused("e.xlsx", "e.xlsx", "far away")


@pytest.mark.parametrize("dtype", [np.int32, np.float32, bool, ">f8"])
def test_numpy_arrays(dtype, here):
    array = np.array([[2, 0, 1], [0, 3, 0]]).astype(dtype)
    np.save("m.npy", array)
    data = comarkov.read("m.npy", row_names=["a", "b"])
    assert_array_equal(data.matrix.toarray(), array)
    assert data.row_names.tolist() == ["a", "b"]
    with open("m.npy", "rb") as file:  # known by its first bytes
        assert comarkov.read(io.BytesIO(file.read())).shape == (2, 3)


def test_arrays_that_are_no_matrices(here):
    np.save("m.npy", np.ones(3))
    refused("m.npy", "m.npy", "(3,)", "numpy.save")
    np.save("m.npy", np.array([["a"]], dtype=object), allow_pickle=True)
    refused("m.npy", "m.npy", "not a readable npy file")
    np.save("m.npy", np.array([[1.0, np.nan]]))
    refused("m.npy", "m.npy", "column 2", "NaN")
    np.save("m.npy", np.ones((3, 3)))
    content = (here / "m.npy").read_bytes().replace(b"(3, 3)", b"(3, 3000000000000)")
    (here / "m.npy").write_bytes(content[:128])
    refused("m.npy", "m.npy", "not a readable npy file")
