"""Numbers as people read them, in Python and in the page."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comarkov.joint.messages import as_plural, plural
from comarkov.results.words.figures import (
    bits_text,
    count_text,
    is_informative,
    lift_text,
    percent_text,
)

LIFTS = {
    0: "×0",
    0.001: "<×0.01",
    0.054: "×0.05",
    0.25: "×0.25",
    0.999: "×1.00",
    1: "×1.0",
    2: "×2.0",
    1.25: "×1.3",
    2.44: "×2.4",
    9.96: "×10",
    10.4: "×10",
    41.2: "×41",
    268.4: "×268",
    1543: "×1,540",
    1.5e6: "×1,500,000",
}
BITS = {
    0: "0",
    1e-9: "<0.000001",
    0.00051234: "0.000512",
    0.5159: "0.516",
    12.345: "12.3",
    2310.2: "2,310",
}
SHARES = {0: "0%", 4e-4: "<0.1%", 0.4404: "44.0%", 0.99999: ">99.9%", 1: "100%"}


@pytest.mark.parametrize(
    ("write", "texts"), [(lift_text, LIFTS), (bits_text, BITS), (percent_text, SHARES)]
)
def test_numbers_as_people_read_them(write, texts):
    assert {value: write(value) for value in texts} == texts


def test_counts_and_what_is_counted():
    assert [count_text(n) for n in (0, 1540, 2.5, 1e22)] == ["0", "1,540", "3", f"{10**22:,}"]
    assert count_text(1, "word") == "1 word"
    assert count_text(1540, "woman") == "1,540 women"
    nouns = ["class", "category", "day", "test person", "box"]
    assert [plural(noun) for noun in nouns] == [
        "classes",
        "categories",
        "days",
        "test people",
        "boxes",
    ]


def test_lifts_that_say_something():
    assert [is_informative(lift) for lift in (0, 1, 1.19, 1.2, math.inf)] == [False] * 3 + [
        True
    ] * 2


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


@pytest.mark.parametrize("noun", ["flight", "flights"])
def test_a_plural_stays_as_it_is(noun):
    assert as_plural(noun) == "flights"
    assert as_plural("person") == as_plural("people") == "people"
