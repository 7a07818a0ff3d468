"""Records: a table of mixed columns as a matrix of rows by categories.

A category is a value of a variable ("cylinders = 8") or an interval of its numbers ("weight 2,500
to 3,000"). Each row has the mass 1 in each variable, or 0 where the value is missing. A number
that lies between the medians of two neighbouring intervals is shared by both: the nearer one gets
more, so that nothing jumps at a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...joint.messages import InputError, listed, quote, warn_user
from ..read_options import ReadOptions, pairs_in
from .bins import (
    DATE_PARTS,
    bin_count,
    dates_in,
    interval_texts,
    joined_interval,
    parts_for_records,
    round_limits,
)
from .columns import ColumnProfile, profiles_of
from .data import Data
from .headers import in_order, kind_of
from .naming import chosen_columns, columns_in, distinct
from .raw_tables import RawTable, no_lines, pl

MAX_PLAIN = 8  # different whole numbers that are categories as they are
MAX_VALUES = 30  # values of a variable; rarer ones are put together
OTHER_VALUES = 0.5  # the largest share of these
NAMED_SHARE = 0.5  # of the names of rows that must differ
OTHER = "other"
SAME_NUMBER = r"\.0*$", ""  # 8.0 is 8
NOT_DESCRIBING = {  # roles of columns
    "empty": "empty",
    "constant": "the same everywhere",
    "identifier": "an identifier",
    "unique": "different in every row",
    "prose": "free text",
}


@dataclass(frozen=True)
class Variable:
    """A column of a table, or a part of its dates, and its categories."""

    heading: str
    categories: list[str]  #: their names
    values: list[str] | None = None  #: of categories, as texts; None for intervals
    knots: list[float] | None = None  #: the medians of intervals, in rising order
    part: str | None = None  #: of dates
    weight: float = 1.0  #: the mass of a row

    @property
    def name(self) -> str:
        """What people call it."""
        return self.heading if self.part is None else f"{self.heading} ({self.part})"


def from_records(table: RawTable, options: ReadOptions) -> Data:
    """The matrix of rows by categories, like that of earlier records if ``variables`` are given."""
    frame = table.frame.select(table.kept).collect(engine="streaming")
    if not len(frame):
        raise no_lines(table)
    profiles = {profile.name: profile for profile in profiles_of(table)}
    table = replace(table, frame=frame.lazy())
    classes = [table.field(name, "row_classes") for name in columns_in(options.row_classes)]
    names = _names(table, options, profiles)
    if options.variables is None:
        others = [profiles[name] for name in table.kept if name not in (*classes, names)]
        variables = _variables(table, options, others)
    else:
        variables = known_variables(options.variables)
    values = {table.heading(each): _texts(table, each) for each in classes}
    has_title = names is not None and table.has_headings
    return Data(
        _matrix(table, len(frame), variables),
        None if names is None else distinct(frame[names].cast(str).fill_null("").to_list()),
        [name for variable in variables for name in variable.categories],
        kind_of(table.heading(names or ""), "record") if has_title else "record",
        "category",
        table.name,
        reading={"variables": [asdict(variable) for variable in variables]},
        row_classes=chosen_columns(values, options.row_classes, len(frame)) if classes else None,
    )


def _names(
    table: RawTable, options: ReadOptions, profiles: Mapping[str, ColumnProfile]
) -> str | None:
    """The column that names the rows: the one chosen, or the first with a text for nearly each."""
    if options.name_column is not None:
        return table.field(options.name_column, "names")
    for name, profile in profiles.items():
        has_many = profile.distinct > max(MAX_VALUES, NAMED_SHARE * profile.filled)
        # some films are called by numbers
        is_named = profile.role == "category" or profile.heading.lower() in ("name", "title")
        if profile.role == "unique" or (is_named and has_many):
            return name
    return None


def _variables(
    table: RawTable, options: ReadOptions, profiles: Sequence[ColumnProfile]
) -> list[Variable]:
    """The variables that describe the rows, with a note about columns that do not."""
    bins = {table.field(name, "bin"): how for name, how in pairs_in(options.bin).items()}
    weights, variables, aside = {}, [], []
    for name, text in pairs_in(options.variable_weights).items():
        if not re.fullmatch(r"\d+(\.\d*)?|\.\d+", text):
            raise InputError(
                f"the weight {text!r} of {quote(name)} is not a number of 0 or more",
                advice=f"Use, for example, variable_weights={f'{name}=2'!r}.",
            )
        weights[table.field(name, "variable_weights")] = float(text)
    for profile in profiles:
        name, described = profile.name, list[Variable]()
        if profile.role not in NOT_DESCRIBING or name in bins:
            described = list(_described(table, profile, bins.get(name)))
        if not described:
            aside.append((name, NOT_DESCRIBING.get(profile.role, "too many different values")))
        share = weights.get(name, 1.0) / max(len(described), 1)
        variables += [replace(each, weight=share) for each in described]
    if len(variables) < 2:
        problem = f"{len(variables) or 'none'} of its columns can describe records, which takes two"
        raise table.unsuitable(problem)
    if aside:
        facts = [f"{table.label(name)} ({why})" for name, why in aside]
        warn_user(f"{table.name}: set aside: {listed(facts, 6)}.")
    return variables


def _described(table: RawTable, profile: ColumnProfile, how: str | None) -> Iterator[Variable]:
    """The variables of a column: one, or one for each part of its dates; none if not possible."""
    heading, name = str(table.label(profile.name)), profile.name
    if profile.role == "date" or how in DATE_PARTS:
        dates = dates_in(table, name)
        for part in [how] if how else parts_for_records(dates):
            if variable := _of_values(heading, dates.dt.strftime(DATE_PARTS[part])):
                yield replace(variable, part=part)
        return
    if profile.role == "number" and (profile.distinct > MAX_PLAIN or not profile.is_whole):
        numbers = table.numbers(table.cells(name).to_frame(), [name])[:, 0]
        yield _of_numbers(heading, numbers, bin_count(how))
        return
    texts = _texts(table, name)
    if profile.role == "number":
        texts = texts.str.replace(*SAME_NUMBER)
    if variable := _of_values(heading, texts):
        yield variable


def _texts(table: RawTable, name: str) -> pl.Series:
    """A column as texts, without quotes that follow a space: a, "b"."""
    return table.frame.select(table.text(name)).collect()[name].str.replace('^"(.*)"$', "${1}")


def _of_values(heading: str, texts: pl.Series) -> Variable | None:
    """A variable whose values are its categories; None if hardly any value recurs."""
    counts = texts.drop_nulls().value_counts(sort=True).rows()
    kept = [value for value, _ in counts[:MAX_VALUES]]
    others = sum(count for _, count in counts[MAX_VALUES:])
    if len(kept) < 2 or others > OTHER_VALUES * sum(count for _, count in counts):
        return None
    numbers = pl.Series(kept, dtype=pl.String).cast(pl.Float64, strict=False)
    if numbers.null_count():
        kept = in_order(sorted(kept))
    else:
        kept = [kept[place] for place in numbers.arg_sort()]
    values = [*kept, *([OTHER] if others else [])]
    return Variable(heading, [f"{heading} = {value}" for value in values], values)


def _of_numbers(heading: str, numbers: np.ndarray, bins: int) -> Variable:
    """A variable whose categories are intervals with about as many records each."""
    known = np.sort(numbers[np.isfinite(numbers)])
    limits = round_limits(known, bins)
    places = np.searchsorted(limits, known, side="right")
    filled = np.unique(places)
    knots = [float(np.median(known[places == place])) for place in filled]
    limits = np.array([limits[place - 1] for place in filled[1:]])
    texts = interval_texts(limits, known)
    names = [f"{heading} {text}" if " " in text else f"{heading} = {text}" for text in texts]
    return Variable(heading, names, knots=knots)


def _matrix(table: RawTable, size: int, variables: Sequence[Variable]) -> sp.csr_array:
    """The masses of rows in all categories, those of one variable side by side."""
    labels = {str(table.label(name)) for name in table.kept}
    missing = [v.heading for v in variables if v.heading not in labels]
    if missing:
        have = listed(map(quote, missing))
        if len(set(missing)) == len({v.heading for v in variables}):
            problem = f"it has none of the columns {have} of the records that were fitted"
            raise table.error(problem, "Give records with the same columns.")
        warn_user(f"{table.name}: there is no column {have}; its values are taken as missing.")
    entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    start = 0
    for variable in variables:
        if variable.heading not in missing:
            name = table.field(variable.heading, "names")
            rows, places, masses = _entries(table, name, variable)
            entries.append((rows, places + start, masses * variable.weight))
        start += len(variable.categories)
    rows, places, masses = (np.concatenate(each) for each in zip(*entries, strict=True))
    return sp.coo_array((masses, (rows, places)), shape=(size, start)).tocsr()


def _entries(
    table: RawTable, name: str, variable: Variable
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows, categories and masses of a variable."""
    if variable.knots is not None:
        numbers = table.numbers(table.cells(name).to_frame(), [name])[:, 0]
        return _shared(numbers, np.array(variable.knots))
    texts = _texts(table, name)
    if variable.part is not None:
        texts = dates_in(table, name).dt.strftime(DATE_PARTS[variable.part])
    values = list(variable.values or [])
    places = pl.Series(range(len(values)), dtype=pl.Int64)
    rest = values.index(OTHER) if OTHER in values else None
    is_known = texts.is_in(values)
    exact = texts.str.replace(*SAME_NUMBER)
    texts = texts if is_known.sum() >= exact.is_in(values).sum() else exact
    codes = texts.replace_strict(values, places, default=rest, return_dtype=pl.Int64)
    codes = codes.set(texts.is_null(), None)
    rows = codes.is_not_null().arg_true().to_numpy()
    return rows, codes.drop_nulls().to_numpy(), np.ones(rows.size)


def _shared(numbers: np.ndarray, knots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers shared by the two intervals whose medians they lie between."""
    rows = np.flatnonzero(np.isfinite(numbers))
    if knots.size == 1:
        return rows, np.zeros(rows.size, np.int64), np.ones(rows.size)
    values = np.clip(numbers[rows], knots[0], knots[-1])
    lower = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, knots.size - 2)
    upper = (values - knots[lower]) / (knots[lower + 1] - knots[lower])
    masses = np.concatenate([1 - upper, upper])
    places = np.concatenate([lower, lower + 1])
    return np.tile(rows, 2), places, masses


def known_variables(stored: Any) -> list[Variable]:
    """The variables in the reading of data; an error if they are damaged."""
    try:
        variables = [Variable(**each) for each in stored]
        for variable in variables:
            levels = variable.values if variable.knots is None else variable.knots
            list(map(float, [variable.weight, *(variable.knots or [])]))  # which may fail
            are_known = variable.part in (None, *DATE_PARTS)
            if len(levels or []) != len(variable.categories) or not are_known:
                raise ValueError(f"the categories of {quote(variable.heading)}")
    except (TypeError, ValueError) as error:
        problem = f"the variables of the model are damaged ({quote(error)})"
        raise InputError(problem, advice="Fit the records again.") from error
    return variables


def merge_intervals(
    variables: Sequence[Variable], labels: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Names of categories, and of each column: neighbours with one label are one interval."""
    names: list[str] = []
    places: list[int] = []
    for variable in variables:
        own = labels[len(places) : len(places) + len(variable.categories)]
        is_joined = variable.knots is not None and np.unique(own).size > 1
        starts = [i for i, a in enumerate(own) if not (is_joined and i and a == own[i - 1])]
        for start, end in pairwise([*starts, own.size]):
            texts = [
                variable.categories[i].removeprefix(f"{variable.heading} ").removeprefix("= ")
                for i in (start, end - 1)
            ]
            name = f"{variable.heading} {joined_interval(*texts)}"
            places += [len(names)] * (end - start)
            names.append(variable.categories[start] if end - start == 1 else name)
    return names, np.array(places)


def variable_of_columns(reading: Mapping[str, Any]) -> np.ndarray | None:
    """The number of the variable of each column of records; None for other data."""
    if "variables" not in reading:
        return None
    sizes = [len(variable.categories) for variable in known_variables(reading["variables"])]
    return np.repeat(np.arange(len(sizes)), sizes)
