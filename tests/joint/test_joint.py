from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import refused, weights
from hypothesis import given
from numpy.testing import assert_array_equal

from comarkov import CoClustering, Data, InputError, MarkovAggregation
from comarkov.joint.joint import joint
from comarkov.joint.objects import as_objects
from comarkov.joint.scale import FAINTEST

COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0, 5, 2, 0]])
LARGE = {"a": [2**70, 0, 3], "b": [1, 5, 2**63]}


def dense(distribution):
    matrix = distribution.matrix
    csr = sp.csr_array(
        (matrix.weights, matrix.indices.astype(int), matrix.indptr), distribution.shape
    )
    return csr.toarray() * distribution.scale


@given(weights())
def test_holds_the_matrix_and_its_transpose(W):
    J = joint(W)
    assert_array_equal(dense(J), W)
    assert_array_equal(dense(J.T), W.T)
    assert J.T.T is J
    np.testing.assert_allclose(J.column_mass, J.T.row_mass, rtol=1e-14)
    np.testing.assert_allclose(J.row_mass * J.scale, W.sum(1), rtol=1e-14)


def test_duplicates_are_added_and_explicit_zeros_dropped():
    rows, columns = [0, 0, 1, 1, 2], [1, 1, 0, 2, 2]
    W = sp.coo_array(([1, 2, 4, 0, 1], (rows, columns)), shape=(3, 3))
    assert joint(W).matrix.weights.size == 3
    assert_array_equal(dense(joint(W)), W.toarray())
    csr = sp.csr_array((np.array([1.0, 2, 0]), np.array([2, 2, 0]), np.array([0, 3])), shape=(1, 3))
    assert_array_equal(dense(joint(csr)), [[0, 0, 3]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.uint64, np.float32])
@pytest.mark.parametrize("format_", ["coo", "csr", "csc", "bsr"])
def test_sums_of_duplicates_do_not_wrap_around(format_, dtype):
    large = {bool: 1, np.uint8: 200, np.int64: 2**62, np.uint64: 2**63}.get(dtype, 3)
    data, where = np.array([large, large, 1], dtype), [0, 0, 1]
    if format_ == "coo":
        W = sp.coo_array((data, (where, [0, 0, 1])), shape=(2, 2))
    elif format_ == "bsr":
        W = sp.bsr_array((data[:, None, None], np.array([0, 0, 1]), np.array([0, 2, 3])))
    else:
        W = {"csr": sp.csr_array, "csc": sp.csc_array}[format_](
            (data, np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
        )
    assert_array_equal(dense(joint(W)), [[2.0 * large, 0], [0, 1]])


def test_read_only_input_needs_no_other_kernels():
    W = sp.csr_array(COUNTS * 0.5)
    for array in (W.data, W.indices, W.indptr):
        array.setflags(write=False)
    matrix = joint(W).matrix
    assert all(array.flags.writeable for array in matrix[:3])
    assert_array_equal(dense(joint(W)), COUNTS * 0.5)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint16, np.int64, np.float16, np.float64, object]
)
def test_whole_numbers_are_counts_whatever_their_type(dtype):
    J = joint(COUNTS.astype(dtype), small=0)
    assert J.is_count
    assert J.matrix.weights.dtype == np.int32


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("factor", [1, 0.37])
def test_small_matrices_are_float64_whatever_their_type(dtype, factor):
    W = (COUNTS * factor).astype(dtype)
    J = joint(W, small=np.count_nonzero(W))
    assert J.matrix.weights.dtype == J.mass_dtype == np.float64
    assert J.is_count == (factor == 1 or dtype in (bool, np.uint8, np.int64))
    assert_array_equal(dense(J), W)
    assert joint(np.log1p(COUNTS, dtype=np.float32), small=0).matrix.weights.dtype == np.float32


@pytest.mark.parametrize("W", [COUNTS * 0.1, COUNTS + 2.0**20, np.full((2100, 1), 2.0**20 - 1)])
def test_fractions_large_numbers_and_masses_beyond_32_bits_are_not(W):
    assert not joint(W).is_count
    assert_array_equal(dense(joint(W)), W)


@pytest.mark.parametrize("small", [0, 100])
@pytest.mark.parametrize(
    "W",
    [
        COUNTS,
        COUNTS + 2**19,
        np.log1p(COUNTS),
        np.log1p(COUNTS).astype(np.float32),
        COUNTS * 10.0 ** np.arange(-30, 34).reshape(4, 4, 4)[0],
        np.full((2100, 1), 2.0**20 - 1),
    ],
)
def test_multiples_of_powers_of_two_are_stored_alike(W, small):
    one = joint(W, small=small)
    for power in (-100, -3, 1, 40):
        other = joint(W * np.float32(2.0**power), small=small)
        assert other.scale == np.ldexp(one.scale, power)
        assert other.is_count == one.is_count
        for a, b in zip(one.matrix, other.matrix, strict=True):
            assert_array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype


def test_counts_come_ones_first_then_twos():
    matrix = joint([[3, 1, 2, 1, 2, 7]], small=0).matrix
    assert_array_equal(matrix.weights, [1, 1, 2, 2, 3, 7])
    assert_array_equal(matrix.indices, [1, 3, 2, 4, 0, 5])
    assert (matrix.ones[0], matrix.twos[0]) == (2, 2)


def test_names_come_from_data_frames():
    frame = pd.DataFrame(COUNTS, index=list("pqrs"), columns=list("abcd"))
    assert joint(frame).row_names.tolist() == list("pqrs")
    assert joint(frame).T.row_names.tolist() == list("abcd")
    assert joint(frame.reset_index(drop=True)).row_names.tolist() == [0, 1, 2, 3]
    assert joint(pl.DataFrame(COUNTS, schema=list("abcd"))).column_names.tolist() == list("abcd")
    assert joint(COUNTS).column_names is None
    assert_array_equal(dense(joint(pl.DataFrame(COUNTS))), COUNTS)


@pytest.mark.parametrize("W", [[[1.7e308]], [[4e307, 4e307], [0, 8e307]]])
def test_weights_near_the_largest_number(W):
    assert_array_equal(dense(joint(W)), W)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        ([[1, -2], [0, 1]], "-2"),
        ([[1, np.nan]], "numpy.nan_to_num(X)"),
        (sp.csr_array([[1, np.nan]]), "X.data = numpy.nan_to_num"),
        ([[1, np.inf]], "infinity"),
        ([[1 + 2j]], "Complex"),
        (np.array([["a", "b"]], dtype=object), "comarkov.read("),
        (np.ma.masked_equal([[1, 2]], 2), "X.filled(0)"),
        (np.array([[np.longdouble(2) ** 5000, 1]]), "infinity"),
        (np.full((2, 2), 1.7e308), "X / X.max()"),
        (sp.coo_array(np.full((2, 2), 1.7e308)), "X / X.max()"),
        ([1, 2, 3], "1D array"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros((3, 0)), "0 feature"),
        (np.zeros((3, 2)), "is empty"),
        (sp.csr_array((3, 2)), "is empty"),
    ],
)
def test_bad_input_gets_a_clear_error(W, message):
    with refused(message):
        joint(W)


@pytest.mark.parametrize(
    "W",
    [
        [[2**70, 1], [0, 5], [3, 2**63]],
        [[Decimal(2**70), Decimal(1)], [0, 5], [3, Fraction(2**63)]],
        pl.DataFrame(LARGE, schema={"a": pl.Int128, "b": pl.Int128}).cast(pl.Decimal(38, 0)),
        pl.DataFrame(LARGE, schema={"a": pl.Int128, "b": pl.Int128}),
    ],
    ids=["int", "Decimal and Fraction", "polars Decimal", "polars Int128"],
)
def test_numbers_that_numpy_does_not_have_become_floats(W):
    assert_array_equal(dense(joint(W)), [[2.0**70, 1], [0, 5], [3, 2.0**63]])


@pytest.mark.parametrize("W", [[[{}, 1]], [[2**70, 1j]], np.array([["2020-01-01"]], "M8[D]")])
def test_what_is_no_number_gets_a_clear_error(W):
    with pytest.raises(TypeError):
        joint(W)


def test_weights_too_small_to_matter_are_raised_and_all_others_are_exact():
    W = np.array([[1e308, 1e-300], [1e-300, 1e200]])
    data = joint(W)
    unscaled = data.csr.toarray() * data.scale
    assert unscaled[0, 0] == 1e308
    assert unscaled[1, 1] == 1e200
    assert 0 < data.csr.data.min() == FAINTEST
    assert unscaled[0, 1] < 1e-290 * 1e308
    near = np.array([[1e150, 1e-150], [1e-150, 1.0]])
    assert (joint(near).csr.toarray() * joint(near).scale == near).all()


def test_new_weights_far_below_those_of_a_fit_are_refused():
    with refused("1e-300"):
        joint([[1e-300, 1e-290]], scale=2.0**900)


@pytest.mark.parametrize(
    ("format_", "part", "values"),
    [
        ("csr", "indices", [2, 0, 1]),
        ("csr", "indices", [-1, 0, 1]),
        ("csr", "indptr", [0, 2, 9]),
        ("csr", "indptr", [0, 3, 2]),
        ("csr", "data", [1.0]),
        ("csc", "indices", [5, 0, 1]),
        ("csc", "indptr", [0, 50_000, 3]),
        ("bsr", "indices", [5, 0, 1]),
        ("bsr", "data", np.ones((1, 1, 1))),
        ("lil", "rows", [[0, 5], [1]]),
        ("coo", "coords", ([0, 0, 9], [0, 1, 1])),
        ("dia", "offsets", [0, 1, 2]),
    ],
)
def test_indices_that_lead_out_of_a_sparse_matrix(format_, part, values):
    W = getattr(sp, f"{format_}_array")(np.array([[1.0, 1.0], [0.0, 1.0]]))
    if format_ == "lil":
        values = as_objects(map(list, values))
    elif format_ != "coo":
        values = np.array(values)
    else:
        values = tuple(map(np.array, values))
    setattr(W, part, values)
    for use in (joint, CoClustering((1, 1)).fit, MarkovAggregation(1).fit, Data):
        with pytest.raises(InputError) as caught:
            use(W)
        assert "coordinates" in caught.value.advice
