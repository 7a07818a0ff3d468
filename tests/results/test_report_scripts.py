"""The scripts of the report that compute, run in the browser and compared with Python."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import ASSETS

from comarkov.results.report import REPORT_PAGE, network_pages

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


@given(value=st.floats(1e-30, 1e30), digits=st.integers(2, 4))
def test_significant_digits(run, value, digits):
    text = run(["numbers"], "([value, digits]) => significant(value, digits)", [value, digits])
    # halves of the last digit are rounded up there, to even here
    assert float(text) == pytest.approx(float(f"{value:.{digits}g}"), rel=10.0 ** (1 - digits))
    mantissa = text.split("e")[0]
    assert "." not in mantissa or mantissa[-1] not in "0."
    assert len(mantissa.replace(".", "").lstrip("0")) <= max(digits, 1 + int(np.log10(value)))


def test_numbers_as_they_are_written(run):
    values = [0, 0.5, 0.1 + 0.2, 12.345, 100, 123456, 1.25e10, 1e-9, 3e200]
    texts = ["0", "0.5", "0.3", "12.3", "100", "123,000", "12,500,000,000", "1e-9", "3e+200"]
    assert run(["numbers"], "(values) => values.map(short)", values) == texts
    entries = run(["numbers"], "(values) => values.map(entryText)", [1234567, 0.12345, 1e200])
    assert entries == ["1,234,567", "0.1235", "1e+200"]
    shares = run(["numbers"], "(values) => values.map(percentText)", [0, 0.0004, 0.001, 0.4404])
    assert shares == ["0%", "<0.1%", "0.1%", "44.0%"]


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
