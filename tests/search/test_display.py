"""One bar for all stages: what it shows, and where."""

import pytest

from comarkov.search.progress import showing


def test_lines_are_printed_where_there_is_no_terminal(capsys):
    with showing(["read", "fit"], 1) as bar:
        bar.begin("fit", 2)
        bar.describe("start 1")
        bar.advance(0.5)
        bar.advance(0.5)
        bar.advance(5)  # never more than there is
    assert capsys.readouterr().err.splitlines() == [
        "2/2 fit: start 1 (1 of 2)",
        "2/2 fit: start 1 (2 of 2)",
    ]


def test_a_bar_inside_another_goes_on_with_it():
    with showing(["all"], 1) as outer, showing(["part"], 1) as inner:
        assert inner is outer
    with showing(["all"], 0) as silent:
        assert silent is None


def test_a_bar_that_fails_does_not_look_done(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with pytest.raises(RuntimeError), showing(["all"], 1):
        raise RuntimeError
    shown = capsys.readouterr().err
    assert "all" in shown
    assert "Done" not in shown
