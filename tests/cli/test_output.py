"""What is printed: names from files cannot control the terminal, errors and notes are short."""

import json
import logging
import re
import sys

import pytest
from commands import assert_refused, run

from comarkov.cli.output import command_line, echo, notes
from comarkov.kernels.compiling import NOTICE

NAMES = ["red\x1b[31m", "bell\x07", "csi\x9b2J", "back\u202eward", "del\x7f"]
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def edges(tmp_path):
    items = ["tea\x1b]0;owned\x07", "rum"]
    lines = [
        f"{name},{item},{1 + 5 * (i % 2 == j)}\n"
        for i, name in enumerate(NAMES)
        for j, item in enumerate(items)
    ]
    path = tmp_path / "e.csv"
    path.write_text("user,item,n\n" + "".join(lines))
    return path


def test_results_are_printed_without_control_characters(edges, tmp_path):
    out = tmp_path / "out"
    done = run("fit", edges, "-k", 2, "-l", 2, "--seed", 0, "-o", out)
    assert done.returncode == 0
    assert "back\\u202eward" in done.stdout
    placed = run("predict", out, edges)
    described = run("info", out, "--json")
    for text in (done.stdout, done.stderr, placed.stdout, described.stdout, placed.stderr):
        assert not UNSAFE.search(text)
    assert "red\\u001b[31m" in placed.stdout
    json.loads(described.stdout)
    run("predict", out, edges, "-o", tmp_path / "placed.csv")
    assert "red\x1b[31m" in (tmp_path / "placed.csv").read_text()


def test_errors_and_notes_are_printed_without_control_characters(tmp_path):
    (tmp_path / "e.csv").write_text("user,item,n\nAnn,tea,\x1b[31mfive\nBob,rum,2\n")
    assert_refused(run("fit", tmp_path / "e.csv"), "five")
    (tmp_path / "t\x1b[31m.csv").write_text("user\n")
    done = run("fit", tmp_path / "t\x1b[31m.csv")
    assert "t\\u001b[31m.csv" in done.stderr
    assert not UNSAFE.search(done.stderr)


def test_json_is_the_same_with_and_without_escapes(capsys):
    names = [*NAMES, "\udc80", "π 語", "tab\tnew\nline"]
    echo(json.dumps(names, ensure_ascii=False))
    assert json.loads(capsys.readouterr().out) == names
    echo("π 語\t1\n", nl=False)
    assert capsys.readouterr().out == "π 語\t1\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_log_messages_are_notes_once_and_never_if_quiet(quiet, capsys):
    logger = logging.getLogger("comarkov")
    with notes(quiet):
        logger.warning(NOTICE)
        logger.warning(NOTICE)
    assert capsys.readouterr().err == ("" if quiet else f"Note: {NOTICE}\n")
    assert not logger.handlers


def test_passwords_do_not_get_into_files(monkeypatch):
    words = ["comarkov", "fit", "postgresql://me:secret@host/base", "--query", "select 1"]
    monkeypatch.setattr(sys, "argv", words)
    assert command_line() == "comarkov fit postgresql://me@host/base --query 'select 1'"
