"""Cells that spreadsheets would compute: harmless by default, and back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comarkov.io.spreadsheets import harmless, original, raw_names

TEXTS = st.text(alphabet="'=+-@\t\r1.eEa ", max_size=6) | st.text(max_size=6)


@given(TEXTS)
def test_every_text_comes_back(text):
    assert original(harmless(text)) == text


@given(TEXTS)
def test_nothing_but_numbers_begins_like_a_formula(text):
    cell = harmless(text)
    if cell[:1] in tuple("=+-@\t\r"):
        float(cell)


@pytest.mark.parametrize("cell", [-1, 1.5, None, "name", "'tis", "-1", "+1.5e3", ""])
def test_harmless_cells_stay(cell):
    assert harmless(cell) == cell


def test_programs_get_names_as_they_are():
    with raw_names():
        assert harmless("=1+1") == "=1+1"
        with raw_names(False):
            assert harmless("=1+1") == "'=1+1"
    assert harmless("=1+1") == "'=1+1"
