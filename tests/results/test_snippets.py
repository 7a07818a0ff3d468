"""Snippets of texts: the part with most of the words that are typical of a cluster."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from comarkov import CoClustering, Results
from comarkov.results.report.snippets import pack_snippets, snippet

WORDS = {"tea": 3.0, "rum": 2.0, "milk": 1.0}
TEXTS = st.lists(st.sampled_from([*WORDS, "Tea", "and", "the", "a\u2028b", "\x00"]), max_size=60)


def weight(text):
    return sum(WORDS[word] for word in set(text.lower().split()) & set(WORDS))


@given(words=TEXTS, width=st.integers(12, 60))
def test_a_snippet_is_the_densest_part(words, width):
    text = " ".join(words)
    part = snippet(text, WORDS, width)
    plain = " ".join(text.replace("\x00", " ").split())
    assert len(part) <= width + 4
    assert "\n" not in part
    assert part.removeprefix("… ").removesuffix(" …") in plain
    if len(plain) <= width:
        assert part == plain
        return
    windows = [f"{plain} "[start : start + width + 1] for start in range(len(plain))]
    whole = [window.rsplit(" ", 1)[0] for window in windows]
    starts = [0, *(i + 1 for i, letter in enumerate(plain) if letter == " ")]
    assert weight(part) >= max(weight(whole[start]) for start in starts) - 1e-9


def test_a_text_without_the_words_begins_at_its_beginning():
    assert snippet("one two three four", WORDS, 9) == "one two …"


def fitted(n=40):
    topic = np.arange(n) % 2
    matrix = 1 + 9 * (topic[:, None] == np.arange(6) // 3)
    return Results.of(CoClustering(2, random_state=0).fit(matrix), matrix).findings.rows


def test_the_most_typical_keep_their_snippets_when_room_is_short():
    side = fitted()
    rng = np.random.default_rng(0)
    texts = np.array([" ".join(map(str, rng.integers(0, 10**9, 30))) for _ in range(40)], object)
    full = pack_snippets(texts, side)
    assert full.number == 40
    short = pack_snippets(texts, side, budget=2000)
    lines = short.text.decode().split("\n")
    kept = np.array([bool(line) for line in lines])
    assert 5 < kept.sum() == short.number < 40
    assert side.ranks[kept].max() <= side.ranks[~kept].min()
