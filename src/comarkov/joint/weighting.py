"""Weighting: schemes that turn entries of a matrix into the masses to co-cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, base, fit_context
from .inputs import TOO_LARGE, as_csr, check_columns
from .messages import InputError

Scheme = Literal["counts", "presence", "log", "uniform", "tfidf", "bm25"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


@dataclass(eq=False, repr=False)
class Weighting(base.OneToOneFeatureMixin, base.TransformerMixin, base.BaseEstimator):
    """Weights of the entries of a nonnegative matrix in a co-clustering.

    Of the N rows of the fit, df_y have an entry in column y. s is the length of a row, the sum of
    its entries; mean s is over the N rows. The entry n in a row and in column y becomes

    ========== ================================================================================
    scheme     weight
    ========== ================================================================================
    "counts"   n
    "presence" 1
    "log"      ln(1 + n)
    "uniform"  n / s
    "tfidf"    n (1 + ln((1 + N) / (1 + df_y)))
    "bm25"     n (k1 + 1) / (n + k1 (1 - b + b s / mean s)) · ln(1 + (N-df_y+½) / (df_y+½)),
               but 0 if df_y < min_df
    ========== ================================================================================

    - "counts": for contingency tables and ratings. In text, long documents dominate raw counts.
    - "presence": for clicks, purchases and other counts that only mean yes.
    - "log": damps large counts of any kind.
    - "uniform": a short document matters as much as a long one, as in IBM sib.
    - "tfidf": columns that most rows have count less, as in ``TfidfTransformer(norm=None)``.
    - "bm25": these together, and counts saturate, sooner in short rows; the best on news text.

    New rows are weighted by their own length and by the N, df and mean length of the fit, so not
    by other new rows.

    Parameters
    ----------
    scheme : {"counts", "presence", "log", "uniform", "tfidf", "bm25"}, default="bm25"
        The formula in the table above.
    uniform : bool, default=False
        Divide each row by its sum afterwards, so that all rows have mass 1. The scheme "uniform"
        is "counts" with this option.
    k1 : float >= 0, default=1.2
        How slowly counts saturate, for "bm25" only: with 0 all counts have the same weight.
    b : float in [0, 1], default=0.75
        How much the length of a row matters, for "bm25" only; with 0, not at all.
    min_df : int, default=2
        Columns with entries in fewer rows get weight 0, for "bm25" only.

    Attributes
    ----------
    idf_ : ndarray of shape (n_columns,) or None
        The factor of each column; None unless "tfidf" or "bm25".
    mean_length_ : float or None
        mean s; None unless "bm25".
    relative_lengths_ : ndarray of shape (n_rows,) or None
        s / mean s of the rows of the fit; None unless "bm25".
    row_masses_ : ndarray of shape (n_rows,) or None
        Sums of the weights before rows are divided by them; None if they are not divided.
    n_rows_, n_features_in_ : int
        How many rows and columns the fit had.
    feature_names_in_ : ndarray
        Names of columns, if the input had any.

    Examples
    --------
    >>> from comarkov import Weighting
    >>> Weighting("uniform").fit_transform([[1, 3, 0], [10, 10, 20]])
    array([[0.25, 0.75, 0.  ],
           [0.25, 0.25, 0.5 ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scheme": [StrOptions(set(SCHEMES))],
        "uniform": ["boolean"],
        "k1": [Interval(Real, 0, None, closed="left")],
        "b": [Interval(Real, 0, 1, closed="both")],
        "min_df": [Interval(Integral, 1, None, closed="left")],
    }

    scheme: Scheme = "bm25"
    _: KW_ONLY
    uniform: bool = False
    k1: float = 1.2
    b: float = 0.75
    min_df: int = 2

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the lengths of rows and the factors of columns of X that the scheme needs."""
        csr = as_csr(X)
        self.learn(row_sums(csr), frequencies(csr), csr.shape)
        if self.makes_uniform:
            self.row_masses_: Any = row_sums(self.weigh_before_division(csr))
        check_columns(self, X)  # sets n_features_in_ and names
        return self

    def learn(self, lengths: np.ndarray, frequencies: np.ndarray, shape: tuple[int, int]) -> None:
        """Learn from the row sums of a matrix and how many entries its columns have."""
        idf = self._idf(frequencies, shape[0])
        if idf is not None and not idf.any():
            raise ValueError(
                f"No column has entries in min_df={self.min_df} rows (n_samples={shape[0]}), "
                "so that all weights would be 0. Set a lower min_df=1."
            )
        self.mean_length_: Any = lengths.mean() if self.scheme == "bm25" else None
        self.relative_lengths_ = self._relative_lengths(lengths)
        self.idf_ = idf
        self.row_masses_ = None
        self.n_rows_, self.n_features_in_ = shape

    def transform(self, X: Any) -> np.ndarray | sp.csr_array:
        """The weights of X, with the columns of the fit: dense as X is, or CSR without zeros."""
        weights = self.weigh_rows(X)
        is_sparse = sp.issparse(X) or hasattr(X, "sparse")  # a data frame of sparse columns
        return weights if is_sparse else weights.toarray()

    def weigh_rows(self, X: Any) -> sp.csr_array:
        """The weights of X, whose columns are those of the fit, always as CSR."""
        check_is_fitted(self)
        csr = as_csr(X)
        check_columns(self, X, reset=False)
        weights = self.weigh_before_division(csr)
        return _divided(weights, row_sums(weights)) if self.makes_uniform else weights

    def weigh_before_division(self, csr: sp.csr_array) -> sp.csr_array:
        """The weights of rows before they are made uniform."""
        return self._weights(csr, self._relative_lengths(row_sums(csr)), self.idf_)

    def weigh_columns(self, X: Any) -> sp.csr_array:
        """The weights of new columns X, whose rows are those of the fit, as CSR.

        X has all rows of the fit, so df is counted in X. Rows keep their length in the fit. If rows
        are made uniform, they are divided by their mass in the fit, and empty rows stay empty.
        """
        check_is_fitted(self)
        csr = as_csr(X)
        n = self.n_rows_
        if csr.shape[0] != n:
            raise ValueError(
                f"New columns must have the {n} rows of the fit, not {csr.shape[0]} rows."
            )
        weights = self._weights(csr, self.relative_lengths_, self._idf(frequencies(csr), n))
        return weights if self.row_masses_ is None else _divided(weights, self.row_masses_)

    @property
    def makes_uniform(self) -> bool:
        """Are rows divided by their sums?"""
        return self.uniform or self.scheme == "uniform"

    def _relative_lengths(self, lengths: np.ndarray) -> np.ndarray | None:
        return lengths / self.mean_length_ if self.scheme == "bm25" else None

    def _idf(self, df: np.ndarray, n: int) -> np.ndarray | None:
        """The factors of columns with entries in df of n rows."""
        if self.scheme == "tfidf":
            return np.log((1 + n) / (1 + df)) + 1
        if self.scheme == "bm25":
            return np.where(df >= self.min_df, np.log1p((n - df + 0.5) / (df + 0.5)), 0.0)
        return None

    def _weights(
        self, csr: sp.csr_array, lengths: np.ndarray | None, idf: np.ndarray | None
    ) -> sp.csr_array:
        """The weights before rows are made uniform; shares no memory with its argument."""
        weights = csr.astype(np.float64, copy=True)
        n = weights.data
        if self.scheme == "presence":
            n[:] = 1
        elif self.scheme == "log":
            np.log1p(n, out=n)
        elif lengths is not None:
            halfway = self.k1 * (1 - self.b + self.b * lengths)  # n with half the largest weight
            n *= (self.k1 + 1) / (n + np.repeat(halfway, np.diff(csr.indptr)))
        if idf is not None:
            n *= idf[csr.indices]
            weights.eliminate_zeros()
        return weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def as_weighting(choice: Scheme | Weighting | None, X: Any = None) -> Weighting | None:
    """The choice of a user, or what the data suggest, as a weighting that is not fitted."""
    if choice is None and hasattr(X, "row_kind"):  # data, which may be texts
        choice = getattr(X, "weighting", None)
    if choice is None:
        return None
    return clone(choice) if isinstance(choice, Weighting) else Weighting(choice)


def row_sums(csr: sp.csr_array) -> np.ndarray:
    """The row sums of a matrix in double precision."""
    with np.errstate(over="ignore"):
        sums = csr.astype(np.float64, copy=False).sum(axis=1)
        total = sums.sum()
    if np.isinf(total):
        raise ValueError(TOO_LARGE)
    return sums


def frequencies(csr: sp.csr_array) -> np.ndarray:
    """The number of entries in each column."""
    return np.bincount(csr.indices, minlength=csr.shape[1])


def counted_rows(sample_weight: Any, n: int) -> np.ndarray:
    """What each of n rows counts, checked; 1 without sample weights."""
    if sample_weight is None:
        return np.ones(n)
    counted = np.asarray(sample_weight, np.float64)
    problem = f"has the shape {counted.shape}, not ({n},)" if counted.shape != (n,) else ""
    if not problem and not (np.isfinite(counted) & (counted >= 0)).all():
        problem = "has values that are negative, infinite or NaN"
    if problem or not counted.any():
        problem = problem or "is zero for all rows"
        raise InputError(f"sample_weight {problem}", advice="Give each row a number, such as 1.")
    return counted


def times_rows(weights: sp.csr_array, counted: np.ndarray) -> sp.csr_array:
    """The weights of rows that count so much; entries that become 0 are left out."""
    weights = weights.astype(np.float64, copy=True)
    weights.data *= np.repeat(counted, np.diff(weights.indptr))
    weights.eliminate_zeros()
    return weights


def _divided(weights: sp.csr_array, masses: np.ndarray) -> sp.csr_array:
    """Rows divided by their masses; entries that become 0 are left out."""
    divisors = np.where(masses > 0, masses, np.inf)
    weights.data /= np.repeat(divisors, np.diff(weights.indptr))
    weights.eliminate_zeros()
    return weights
