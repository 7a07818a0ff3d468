"""The scripts of the report that compute, run in the browser and compared with Python."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import ASSETS
from scipy.cluster.hierarchy import leaves_list, linkage

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


@pytest.mark.parametrize(
    ("ends", "count", "texts"),
    [
        ([0, 1], 6, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0, 0.6], 3, ["0.0", "0.2", "0.4", "0.6"]),
        ([0.35, 0.9], 6, ["0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]),
        ([0, 4200], 4, ["0", "1,000", "2,000", "3,000", "4,000"]),
        ([0, 3e-8], 3, ["0", "1e-8", "2e-8", "3e-8"]),
        ([0.7, 0.7], 6, ["0.7"]),
    ],
)
def test_ticks_are_round(run, ends, count, texts):
    ticks = """([ends, count]) => {
      const axis = new Axis(ends, [0, 100]);
      return axis.ticks(count).map(axis.tickText(count));
    }"""
    assert run(["numbers", "drawing"], ticks, [ends, count]) == texts


@given(most=st.floats(1e-9, 1e9))
def test_an_axis_reaches_its_largest_number(run, most):
    to, last, pixel = run(
        ["numbers", "drawing"],
        """(most) => {
          const axis = Axis.upTo(most, [200, 50]);
          return [axis.to, axis.ticks(5).at(-1), axis.at(most)];
        }""",
        most,
    )
    assert most * (1 - 1e-9) <= to <= 1.3 * most
    assert to * 0.7 <= last <= to * (1 + 1e-9)
    assert 50 - 1e-6 <= pixel <= 50 + 0.25 * 150


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


@pytest.mark.parametrize("method", ["single", "average"])
def test_leaves_are_in_the_order_of_the_tree(run, method):
    points = np.random.default_rng(0).random((12, 2))
    merges = linkage(points, method)
    tree = {"order": leaves_list(merges).tolist(), "merges": merges[:, :2].astype(int).tolist()}
    tree |= {"heights": merges[:, 2].tolist(), "heaviest": list(range(23)), "fitted": [22]}
    nodes = run(["tree", "merges"], "(facts) => dendrogramOf(new Tree(facts), 12, 0)", tree)
    nodes.sort(key=lambda node: node["node"])
    assert [node["height"] for node in nodes[12:]] == merges[:, 2].tolist()
    lines = [node["line"] for node in nodes[:12]]
    assert np.argsort(lines).tolist() == leaves_list(merges).tolist()
    for node in nodes[12:]:
        assert node["line"] == np.mean([child["line"] for child in node["children"]])
