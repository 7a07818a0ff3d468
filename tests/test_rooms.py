"""Within rooms, too, imports point one way."""

import ast
import inspect
from dataclasses import fields
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import comarkov
from comarkov.cli.options import InputOptions
from comarkov.io.read.formats import FORMATS
from comarkov.io.read_options import READ_KINDS, READ_OPTIONS, ReadKeywords

ROOM = Path(comarkov.__file__).parent


def modules():
    """The modules of the room by their paths of names."""
    return {path.relative_to(ROOM).with_suffix("").parts for path in ROOM.rglob("*.py")}


def imported(module, known):
    """The modules that one imports when it is imported."""
    tree = ast.parse(ROOM.joinpath(*module).with_suffix(".py").read_text())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            start = module[: len(module) - node.level]
            place = (*start, *(node.module or "").split(".")) if node.module else start
            for alias in node.names:
                for result in ((*place, alias.name), place, (*place, "__init__")):
                    if result in known:
                        yield result
                        break


def test_no_module_imports_one_that_needs_it():
    known = modules()
    graph = {module: set(imported(module, known)) for module in known}
    assert ("joint", "inputs") in graph["joint", "chains"]
    list(TopologicalSorter(graph).static_order())  # which fails on a circle


def test_a_keyword_of_read_is_declared_once():
    names = list(ReadKeywords.__annotations__)
    assert list(READ_OPTIONS) == names
    assert all(option.help.endswith(".") for option in READ_OPTIONS.values())
    assert list(inspect.signature(comarkov.read).parameters) == ["source", *names]
    assert all(f"    {name} : " in comarkov.read.__doc__ for name in names)
    assert {field.name for field in fields(InputOptions)} == {
        name for name in names if READ_OPTIONS[name].value is not None
    }
    assert set(FORMATS) <= set(READ_KINDS)
    for option in READ_OPTIONS.values():
        assert set(option.kinds) <= set(READ_KINDS)
    with pytest.raises(TypeError):
        comarkov.read("x.csv", colums=1)
