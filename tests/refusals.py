"""Reading what cannot be read: the error has one line, a place, and advice that works."""

import re
import warnings
from ast import literal_eval
from contextlib import contextmanager

import pytest

import comarkov
from comarkov.joint.messages import InputError

KEYWORD = r"""\w+=(?:'[^']*'|"[^"]*"|\d+|True|False)"""


def refused(source, *parts, at=None, **keywords):
    """The error of reading: it has these parts and, if stated, is at this line and column."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the parts are checked
        comarkov.read(source, **keywords)
    error = caught.value
    assert "\n" not in str(error)
    for part in parts:
        assert part in str(error)
    if at is not None:
        assert isinstance(error, InputError)
        assert (error.line, error.column) == at
    return error


@contextmanager
def noted(*parts):
    """The block warns the user, and mentions these files, numbers, names or keywords."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        yield caught
    notes = [str(each.message) for each in caught if each.category is UserWarning]
    assert notes
    for part in parts:
        assert any(str(part) in note for note in notes), (part, notes)


def advised(error):
    """The keywords that the advice of an error mentions first."""
    first = re.search(f"{KEYWORD}(, {KEYWORD})*", error.advice)
    pairs = (pair.split("=", 1) for pair in first[0].split(", "))
    return {name: literal_eval(value) for name, value in pairs}
