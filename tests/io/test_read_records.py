"""What a table is: records, event logs, grids or texts; and records as categories."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import noted, refused

import comarkov
from comarkov import CoClustering, InputError
from comarkov.io.read.bins import date_format, interval_texts, round_limits, roundest
from comarkov.io.read.records import variable_of_columns

RNG = np.random.default_rng(0)
N = 120
SIZE = np.repeat([0, 1], N // 2)
CARS = pd.DataFrame(
    {
        "name": [f"car {i}" for i in range(N)],
        "id": np.arange(1, N + 1) * 7,
        "cylinders": np.where(SIZE, 8, 4),
        "weight": np.where(SIZE, 3000, 1000) + RNG.integers(0, 900, N),
        "origin": np.where(RNG.random(N) < 0.1, "Japan", np.where(SIZE, "USA", "Europe")),
        "mpg": np.round(np.where(SIZE, 12.0, 28.0) + RNG.normal(size=N), 1),
        "sold": [f"2020-{1 + i % 12:02}-15" for i in range(N)],
        "notes": "none",
    }
)
pytestmark = pytest.mark.filterwarnings("ignore:.*(set aside|recognised as)")


def factors(*names):
    """Lines of a table with all combinations of some names, in several columns."""
    return pd.MultiIndex.from_product(names).to_frame(index=False)


def log(n=400):
    users, items = RNG.integers(0, 40, n), RNG.integers(0, 15, n)
    hours = pd.date_range("2013-01-01", periods=n, freq="11h")
    return pd.DataFrame(
        {
            "event_id": np.arange(n) + 1,
            "time": hours.strftime("%Y-%m-%d %H:%M:%S"),
            "item": [f"item {i}" for i in items],
            "user": [f"u{i}" for i in users],
            "delay": RNG.normal(size=n).round(1),
        }
    )


GRID = factors(["oat", "rye", "corn"], ["north", "south", "west"], [1931, 1932])
GRID = GRID.set_axis(["grain", "site", "year"], axis=1).assign(crop=RNG.random(18).round(2) * 9)
COUNTS = pd.DataFrame(RNG.poisson(1, (30, 6)), columns=list("abcdef"))
TABLES = {
    "mixed columns": (CARS, "records"),
    "decimals and whole numbers": (CARS[["name", "weight", "mpg", "cylinders"]], "records"),
    "negative numbers": (COUNTS - 1, "records"),
    "years": (COUNTS.assign(year=1990 + np.arange(30) % 20), "records"),
    "counts": (COUNTS.assign(name=CARS.name), "table"),
    "counts without names": (COUNTS, "table"),
    "an event log": (log(), "edges"),
    "a grid": (GRID, "edges"),
    "a grid with gaps": (GRID.assign(crop=GRID.crop.where(GRID.index > 3)), "edges"),
    "a grid of decimals": (
        factors(np.arange(40) / 2, np.arange(15) / 4)
        .set_axis(["length", "height"], axis=1)
        .assign(Freq=RNG.poisson(2, 600)),
        "edges",
    ),
    "votes with their total": (
        (COUNTS * [900, 800, 1, 1, 2, 1]).assign(
            name=CARS.name, all=lambda t: t[[*"abcdef"]].sum(axis=1)
        ),
        "table",
    ),
    "decimals of which most are numbered": (
        pd.DataFrame(RNG.random((20, 4)), columns=["x1", "x2", "x3", "y"]),
        "records",
    ),
    "two names": (log()[["user", "item"]], "edges"),
    "texts": (
        pd.DataFrame({"id": range(20), "text": [f"a b c {i} d" for i in range(20)]}),
        "texts",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_recognised(name, tmp_path):
    frame, kind = TABLES[name]
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"stop_words": "none", "min_df": 1} if kind == "texts" else {}
    data = comarkov.read(tmp_path / "t.csv", **options)
    assert data.reading["kind"] == kind
    assert comarkov.read(frame, **options).shape[0] == data.shape[0]


def test_sides_are_chosen_by_what_they_hold():
    data = comarkov.read(log())
    assert (data.row_kind, data.column_kind, data.matrix.sum()) == ("user", "item", 400)
    assert comarkov.read(log(), columns="ITEM").row_kind == "user"  # whatever the case
    grid = comarkov.read(GRID)
    assert {grid.row_kind, grid.column_kind, grid.entry_kind} == {"grain", "site", "crop"}
    panel = factors([f"land {i}" for i in range(50)], range(1960, 2000))
    panel = panel.set_axis(["country", "year"], axis=1).assign(people=RNG.random(2000))
    panel.insert(1, "code", panel.country.str.replace("land ", "L"))  # the same in other words
    assert comarkov.read(panel).shape == (50, 40)


WEATHER = pd.DataFrame({"city": list("abcdefghijklmn"), "t": RNG.normal(size=14), "h": range(14)})
SIDES = {"rows": "grain", "columns": "site", "weights": "crop"}
TRIED = {
    "negative weights of events": (log(), {"rows": "user", "columns": "item", "weights": "delay"}),
    "negative cells": (WEATHER, {"kind": "table"}),
    "places": (pd.DataFrame({"lat": [1.5, -2, 3], "lon": [4, 5.5, -6]}), {"kind": "table"}),
    "names that recur": (CARS, {"kind": "table", "names": "origin"}),
    "a missing weight": (GRID.assign(crop=GRID.crop.where(GRID.index > 3)), SIDES),
    "a decimal comma": (GRID.assign(crop="1,5"), SIDES | {"decimal": "."}),
    "one variable": (CARS[["name", "origin"]], {"kind": "records"}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRIED)
def test_all_advice_about_tables_works(name, tmp_path):
    frame, keywords = TRIED[name]
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError) as refusal:
        comarkov.read(tmp_path / "t.csv", **keywords)
    ways = refusal.value.advice.removeprefix("It can be read with ").rstrip(".").split("; or with ")
    kept = {key: keywords[key] for key in keywords.keys() & {"kind", "rows", "columns", "weights"}}
    for way in ways:
        new = eval(f"dict({way})")
        is_detail = new.keys() & {"missing", "decimal", "thousands", "drop"}
        assert comarkov.read(tmp_path / "t.csv", **((kept if is_detail else {}) | new)).matrix.nnz


def test_decimals_name_the_rows_of_a_table_if_they_rise():
    table = pl.DataFrame(RNG.random((20, 3)), schema=["a", "b", "c"])
    assert comarkov.read(table.sort("a"), kind="table").shape == (20, 2)
    assert comarkov.read(table, kind="table").shape == (20, 3)


UNITS = {  # what makes them doubtful, or records
    "calories beside fibre": (
        {"calories": RNG.integers(50, 160, 30), "fibre": RNG.integers(0, 9, 30)},
        True,
    ),
    "scores of one test": ({"first": RNG.integers(5, 60, 30), "second": range(2, 32)}, False),
    "years": ({"1999": RNG.integers(900, 999, 30), "2000": RNG.integers(0, 9, 30)}, False),
    "shares": ({"a": np.full(30, 90), "b": np.full(30, 9), "c": np.full(30, 1)}, False),
}


@pytest.mark.parametrize("name", UNITS)
def test_few_columns_of_different_size_are_doubtful(name, recwarn):
    columns, is_doubtful = UNITS[name]
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(30)], **columns})
    assert comarkov.read(frame).reading["kind"] == "table"
    assert any("different units" in str(each.message) for each in recwarn) == is_doubtful


def test_years_name_rows_and_numbers_without_names_are_records():
    states = pd.DataFrame({"year": range(1990, 2010), **{c: RNG.poisson(9, 20) for c in "abc"}})
    assert comarkov.read(pl.from_pandas(states)).row_names[0] == "1990"
    with pytest.warns(UserWarning, match="different units"):
        comarkov.read(states)
    logs = pd.DataFrame({"": range(40), "x": RNG.random(40), "y": RNG.random(40)})
    assert comarkov.read(logs).reading["kind"] == "records"
    films = pd.DataFrame({"title": RNG.permutation(900)[:40], "year": [1999, 2000] * 20})
    films = films.assign(genre=["war", "love", "war", "crime"] * 10, budget=RNG.random(40))
    assert comarkov.read(films).row_names[0] == str(films.title[0])


def test_weights_in_different_units_get_a_warning():
    with noted("kind='records'"):
        comarkov.read(CARS[["name", "weight", "mpg", "cylinders"]], kind="table")
    with pytest.warns(UserWarning, match=r"comarkov\.records\(X\)"):
        CoClustering(2).fit(CARS[["weight", "mpg", "cylinders"]])


def test_categories_of_records():
    data = comarkov.records(CARS)
    names = data.column_names.tolist()
    assert {"cylinders = 4", "cylinders = 8", "origin = USA", "sold = January"} <= set(names)
    assert not any(name.startswith(("id", "notes", "name")) for name in names)
    assert data.row_names[0] == "car 0"
    variables = variable_of_columns(data.reading)
    sums = [data.matrix[:, np.flatnonzero(variables == v)].sum(axis=1) for v in set(variables)]
    np.testing.assert_allclose(sums, 1)
    assert comarkov.records(CARS, row_classes="origin").row_classes["origin"][0] == "Europe"


def test_missing_values_are_no_entries():
    frame = CARS.assign(
        mpg=CARS.mpg.where(CARS.index > 9), origin=CARS.origin.where(CARS.index > 4)
    )
    data = comarkov.records(frame)
    of = variable_of_columns(data.reading)
    sums = data.matrix.sum(axis=1)
    assert (sums[:5] == of.max() - 1).all()
    assert (sums[10:] == of.max() + 1).all()


def test_new_records_are_placed_by_the_categories_of_the_fit(tmp_path):
    model = CoClustering((2, 2), random_state=0).fit(comarkov.records(CARS))
    assert len(set(zip(model.row_labels_, SIZE, strict=True))) == 2
    new = pl.from_pandas(CARS.iloc[[0, -1]]).with_columns(weight=pl.Series([-5, 10**9]))
    again = comarkov.read(new, like=model)
    assert again.column_names.tolist() == model.feature_names_in_.tolist()
    assert model.predict(again).tolist() == model.row_labels_[[0, -1]].tolist()
    with noted("'mpg'"):
        part = comarkov.read(new.drop("mpg"), like=model)
    assert model.predict(part).tolist() == model.row_labels_[[0, -1]].tolist()
    refused(new.select("name", "id"), "none of the columns", like=model)


def test_results_of_records_have_shares_by_variable():
    data = comarkov.records(CARS)
    model = CoClustering((2, 2), random_state=0).fit(data)
    side = model.results(data).findings.rows
    first = {f.name: f for a in (0, 1) for f in side.distinctive(a, 9)}["cylinders = 8"]
    assert (first.share, first.lift) == (pytest.approx(1), pytest.approx(2))
    explained = side.explained()
    assert explained["cylinders"] == pytest.approx(1)
    assert next(reversed(explained)).startswith("sold")
    assert "(100% of these, 50.0% of all)" in model.describe()


def test_numbers_of_clusters_of_records():
    assert CoClustering(random_state=0).fit(comarkov.records(CARS)).n_row_clusters_ == 2
    shuffled = CARS.apply(lambda column: RNG.permutation(column.to_numpy()))
    model = CoClustering(random_state=0).fit(comarkov.records(shuffled))
    assert (model.n_row_clusters_, model.n_column_clusters_) == (1, 1)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ({"bin": "mpg=weekday"}, "not a date"),
        ({"bin": "mpg=1000"}, "bin='1000'"),
        ({"bin": "5"}, "no column"),
        ({"drop": "cylinders,weight,origin,mpg"}, "can describe records"),
        ({"variables": [{"heading": "mpg"}]}, "damaged"),
    ],
)
def test_what_is_refused(text, part):
    refused(CARS.drop(columns="sold"), part, kind="records", **text)


# --- bins -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        (["2013-01-31", "2013-02-01"], "%Y-%m-%d"),
        (["31.01.2013", "01.02.2013"], "%d.%m.%Y"),
        (["01/31/2013", "02/01/2013"], "%m/%d/%Y"),
        (["2013-01-31T05:15:00Z"], "%Y-%m-%dT%H:%M:%S%.f"),
        (["Jan 31 2013"], "%b %d %Y"),
        (["2013", "2014"], None),
        (["3-1", "a b"], None),
        (["2013-01-31", "soon"], None),
    ],
)
def test_how_dates_are_written(cells, written):
    assert date_format(pl.Series(cells)) == written


def test_limits_are_round():
    assert roundest(2172.0, 2310.0) == 2200
    assert roundest(0.0, 1.0) == 1
    assert roundest(-3.7, -3.2) == -3.5
    limits = round_limits(np.sort(RNG.normal(3000, 500, 1000)), 5)
    assert limits.size == 4
    assert (limits % 10 == 0).all()
    many_zeros = round_limits(np.sort(np.append(np.zeros(60), np.arange(1, 41))), 5)
    assert 0 < many_zeros[0] <= 1
    known = np.array([0.5, 1500, 3000])
    texts = ["below 1,000", "1,000 to 2,500.5", "2,500.5 or more"]
    assert interval_texts(np.array([1000, 2500.5]), known) == texts
    years = np.array([1950, 1951, 1995, 1998, 2007, 2010])
    assert interval_texts(np.array([1990, 2007]), years)[::2] == ["below 1990", "2007 or more"]
    assert interval_texts(np.array([1, 3]), np.array([0, 0, 1, 2, 5])) == ["0", "1 to 3", "5"]


def test_quotes_after_a_space_are_no_part_of_a_value(tmp_path):
    path = tmp_path / "x.csv"
    lines = [f'{i % 7 + 0.5}, "{"CUB" if i % 3 else "USA"}", {i % 2}' for i in range(40)]
    path.write_text("\n".join(["time,country,medal", *lines]))
    names = comarkov.records(path).column_names
    assert {"country = CUB", "country = USA"} <= set(names.tolist())


def test_dates_that_are_a_side_are_binned():
    with noted("'time' by year-month"):
        data = comarkov.read(log(), rows="time", columns="item")
    assert data.row_names.tolist()[:2] == ["2013-01", "2013-02"]
    assert comarkov.read(log(), like=data, rows="time", columns="item").shape == data.shape
    week = comarkov.read(log(), rows="time", columns="item", bin="time=weekday")
    assert week.row_names.tolist()[:2] == ["Monday", "Tuesday"]
    assert len(week.row_names) == 7


def test_numbers_that_are_a_side_are_binned():
    names = comarkov.read(log(), rows="delay", columns="item", bin="delay=3").row_names
    assert names[0].startswith("below ")
    assert names[-1].endswith(" or more")
    assert len(names) == 3


def test_names_that_differ_in_case_are_one_name():
    lines = "Ann,LAX\nZo\u00eb,JFK\nAnn,lax\nZoe\u0308, JFK \nAnn,LAX\nZo\u00eb,LAX\nAnn,JFK\n" * 4
    text = f"user,item\n{lines}".encode()
    with pytest.warns(UserWarning, match="keep_case=True"):
        data = comarkov.read(pl.read_csv(text))
    assert data.column_names.tolist() == ["JFK", "LAX"]
    assert data.row_names.tolist() == ["Ann", "Zo\u00eb"]
    assert comarkov.read(pl.read_csv(text), keep_case=True).shape == (3, 3)


def test_variables_have_the_weights_of_the_user():
    heavy = comarkov.records(CARS, variable_weights={"weight": 2}, drop="sold")
    plain = comarkov.records(CARS, drop="sold")
    assert heavy.matrix.sum() == pytest.approx(plain.matrix.sum() + N)
    with pytest.raises(InputError):
        comarkov.records(CARS, variable_weights="weight=-1")
