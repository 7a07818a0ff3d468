"""Budgets are seconds, and decide by work alone."""

from comarkov.search import budgets


def test_budgets_are_converted_by_one_rate(monkeypatch):
    monkeypatch.setattr(budgets, "RATE", 100)
    assert budgets.work(2.0) == 200
    assert budgets.times(2.0, 30, 1, 10) == 6
    assert budgets.times(2.0, 1000, 2, 10) == 2
    assert budgets.times(2.0, 1, 2, 10) == 10
    assert budgets.every(2.0, 10, 100) == 5
    assert budgets.every(2.0, 10, 1) == 1
