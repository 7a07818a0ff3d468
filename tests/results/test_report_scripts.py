"""Numbers as people read them in Python and in the page, and scripts that compute."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import ASSETS

from comarkov.joint.messages import as_plural, plural
from comarkov.results.report import network_pages
from comarkov.results.report.content import REPORT_PAGE
from comarkov.results.words.figures import (
    bits_text,
    count_text,
    is_informative,
    lift_text,
    percent_text,
)

LIFTS = [0, 0.001, 0.054, 0.999, 1, 1.25, 2.44, 9.96, 10.4, 268.4, 1543, 1.5e6]
LIFT_TEXTS = "×0 <×0.01 ×0.05 ×1.00 ×1.0 ×1.3 ×2.4 ×10 ×10 ×268 ×1,540 ×1,500,000"
BITS = [0, 1e-9, 0.00051234, 0.5159, 12.345, 2310.2]
SHARES = [0, 4e-4, 0.4404, 0.99999, 1]


@pytest.mark.parametrize(
    ("write", "values", "texts"),
    [
        (lift_text, LIFTS, LIFT_TEXTS),
        (bits_text, BITS, "0 <0.000001 0.000512 0.516 12.3 2,310"),
        (percent_text, SHARES, "0% <0.1% 44.0% >99.9% 100%"),
    ],
)
def test_numbers_as_people_read_them(write, values, texts):
    assert [write(value) for value in values] == texts.split()


def test_counts_and_what_is_counted():
    assert [count_text(n) for n in (0, 1540, 2.5, 1e22)] == ["0", "1,540", "3", f"{10**22:,}"]
    assert count_text(1, "word") == "1 word"
    assert count_text(1540, "woman") == "1,540 women"
    nouns = ["class", "category", "day", "test person", "box"]
    plurals = ["classes", "categories", "days", "test people", "boxes"]
    assert [plural(noun) for noun in nouns] == plurals
    for noun, as_it_is in (("flight", "flights"), ("flights", "flights"), ("people", "people")):
        assert as_plural(noun) == as_it_is


@settings(max_examples=30)
@given(
    st.lists(
        st.one_of(
            st.floats(0, 20),
            st.floats(1e-7, 1e12),
            st.integers(0, 4000).map(lambda n: n / 8),  # halves of the last digit
        ),
        min_size=20,
        max_size=40,
    )
)
def test_the_page_writes_the_same(run, values):
    shares = [value % 1 for value in values] + [1]
    for in_page, write, numbers in (
        ("liftText", lift_text, values),
        ("bitsText", bits_text, values),
        ("countText", count_text, values),
        ("isInformative", is_informative, values),
        ("percentText", percent_text, shares),
    ):
        texts = run(["numbers"], f"(numbers) => numbers.map({in_page})", numbers)
        assert texts == [write(number) for number in numbers]


# --- scripts that compute ---

STOPS = ("#ffffff", "#a9c9e8", "#2f72b4", "#08264d")


def test_every_script_and_style_is_in_a_page():
    pages = [REPORT_PAGE, network_pages.CHAIN_PAGE, network_pages.MULTIWAY_PAGE]
    listed = {f"{name}.js" for page in pages for name in page.scripts}
    listed |= {f"{name}.css" for page in pages for name in page.styles}
    assert listed == {path.name for path in ASSETS.iterdir()}


@given(lines=st.lists(st.lists(st.text('a,"\n\r é'), min_size=2, max_size=4), max_size=5))
def test_tables_are_read_as_they_were_written(run, lines):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    assert run(["page", "reading"], "readCsv", text.getvalue()) == lines


def test_numbers_as_they_are_written(run):
    values = [0, 0.5, 0.1 + 0.2, 12.345, 100, 123456, 1.25e10, 1e-9, 3e200]
    texts = ["0", "0.5", "0.3", "12.3", "100", "123,000", "12,500,000,000", "1e-9", "3e+200"]
    assert run(["numbers"], "(values) => values.map(short)", values) == texts
    entries = run(
        ["numbers"], "(values) => values.map(entryText)", [1234567, 1321.9999, 0.12345, 1e200]
    )
    assert entries == ["1,234,567", "1,322", "0.1235", "1e+200"]


@given(
    numbers=st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    share=st.floats(0, 1),
)
def test_quantiles(run, numbers, share):
    value = run(["numbers"], "([all, share]) => quantile(all, share)", [numbers, share])
    assert value == pytest.approx(np.quantile(numbers, share), rel=1e-9, abs=1e-9)


def test_the_scale_goes_through_its_colours_from_light_to_dark(run):
    scale = """(stops) => {
      const { style } = document.documentElement;
      stops.forEach((stop, i) => style.setProperty(`--cell-${i}`, stop));
      const scale = cellScale();
      return Array.from({ length: 301 }, (_, i) => [...scale(i / 300), luminance(scale(i / 300))]);
    }"""
    result = np.array(run(["colours"], scale, STOPS))
    stops = [[int(each[i : i + 2], 16) for i in (1, 3, 5)] for each in STOPS]
    assert result[::100, :3].tolist() == stops
    assert (np.diff(result[:, 3]) <= 0).all()


OPERATIONS = st.one_of(
    st.tuples(st.just("zoom"), st.floats(0.1, 10), st.floats(40, 639)),
    st.tuples(st.just("move"), st.floats(-1000, 1000)),
    st.tuples(st.just("show"), st.floats(-10, 40), st.floats(60, 200)),
    st.tuples(st.just("reveal"), st.integers(0, 99)),
)


@given(operations=st.lists(OPERATIONS, min_size=1, max_size=8))
def test_a_span_never_leaves_the_matrix(run, operations):
    states = run(
        ["page", "span"],
        """(operations) => {
          const span = Object.assign(new Span(100), { start: 40, length: 600 });
          return operations.map(([name, ...values]) => {
            const pixel = name === "zoom" ? values[1] : 300, place = span.place(pixel);
            span[name](...values);
            return { ...span, cell: span.cell, off: span.pixel(place + 0.5) - pixel };
          });
        }""",
        operations,
    )
    for operation, state in zip(operations, states, strict=True):
        assert 0 <= state["from"] < state["to"] <= 100 + 1e-9
        assert 6 - 1e-9 <= state["cell"] <= 44 + 1e-9
        if operation[0] == "reveal":
            assert state["from"] - 1e-9 <= operation[1] <= state["to"] - 1 + 1e-9
        is_inside = state["from"] > 1e-6 and state["to"] < 100 - 1e-6
        if operation[0] == "zoom" and is_inside:  # what is under the pointer stays there
            assert abs(state["off"]) <= state["cell"] / 2 + 1e-6
