"""CSV keeps every name as it is; for spreadsheets no cell is a formula, and names come back."""

import csv
import io

import pytest
from commands import run
from hypothesis import given
from hypothesis import strategies as st

from comarkov.io.csv_files import csv_text, for_spreadsheets, quote_formula, unquote_formula
from comarkov.io.read.naming import read_labels

TEXTS = st.text(alphabet="'=+-@\t\r\n\",1.eEa ", max_size=6) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=6
)


def read(text):
    return list(csv.reader(io.StringIO(text, newline="")))


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_every_text_comes_back(lines):
    text = csv_text(("name", "label"), lines)
    assert read(text) == [["name", "label"], *map(list, lines)]
    cells = read(for_spreadsheets(text).removeprefix("\ufeff"))
    assert [[unquote_formula(cell) for cell in line] for line in cells[1:]] == list(
        map(list, lines)
    )
    assert all(is_number(cell) for line in cells for cell in line if cell[:1] in tuple("=+-@\t\r"))


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("cell", ["name", "'tis", "-1", "+1.5e3", ""])
def test_harmless_cells_stay(cell):
    assert quote_formula(cell) == cell


def test_lines_end_with_a_line_feed_and_carriage_returns_are_quoted():
    assert csv_text(["name"], [["a\rb"], ["a\r\nb"], ["c"]]) == 'name\n"a\rb"\n"a\r\nb"\nc\n'


@pytest.mark.parametrize("is_wanted", [False, True])
def test_labels_are_read_back_as_they_were_written(tmp_path, is_wanted):
    names = ["@ann", "'@ann", "'tis", "=1+1"]
    text = csv_text(["name", "label"], [[name, "@" + name] for name in names])
    content = for_spreadsheets(text) if is_wanted else text
    (tmp_path / "labels.csv").write_text(content, encoding="utf-8", newline="")
    assert read_labels(tmp_path / "labels.csv").by_name == {name: "@" + name for name in names}


@pytest.mark.parametrize("option", [(), ("--for-spreadsheets",)])
def test_commands_write_names_that_join_with_the_data(tmp_path, option):
    names = ["@ann", "-bob", "cid", "=dan"]
    (tmp_path / "t.csv").write_text(
        "user,a,b,c\n" + "".join(f"{name},{i},{3 - i},1\n" for i, name in enumerate(names))
    )
    assert run("fit", "t.csv", "-k", 2, "-l", 2, "-o", "out", *option, cwd=tmp_path).returncode == 0
    predicted = run("predict", "out", "t.csv", "-o", "new.csv", *option, cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    for file in (tmp_path / "out" / "rows.csv", tmp_path / "new.csv"):
        written = [line[0] for line in read(file.read_text(encoding="utf-8-sig"))[1:]]
        assert written == (["'@ann", "'-bob", "cid", "'=dan"] if option else names)
        assert list(read_labels(file).by_name) == names
