"""Random streams: no two purposes share one, whatever their numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from comarkov.search.run import Purpose, Seed

numbers = st.lists(st.integers(0, 2**32 - 1), max_size=3)
segments = st.tuples(st.sampled_from(Purpose), numbers)
paths = st.lists(segments, min_size=1, max_size=3)  # fits within fits, the last a stream


def words(seed, path):
    """The words that decide what a stream draws."""
    for purpose, given_numbers in path[:-1]:
        seed = seed.child(purpose, *given_numbers)
    sequence = seed.stream(path[-1][0], *path[-1][1]).bit_generator.seed_seq
    words = *sequence.entropy, *sequence.spawn_key
    assert max(words) < 2**32  # so that NumPy makes one word of each, one after the other
    return words


@given(paths, paths)
def test_no_two_streams_are_the_same(one, other):
    seed = Seed((1, 2, 3, 4))
    assert (words(seed, one) == words(seed, other)) == (one == other)


def test_a_stream_is_the_same_again_and_for_the_same_random_state():
    for state in (0, np.random.RandomState(7)):
        seed = Seed.of(state)
        first, again = (seed.stream(Purpose.START, 3).random(5) for _ in range(2))
        assert_array_equal(first, again)
    assert Seed.of(0) == Seed.of(0) != Seed.of(1)
