"""Fitting a co-clustering: the steps that CoClustering and the named methods share."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._compat import fit_context
from ..costs.labels import renumbered
from ..costs.objective import Information
from ..io.read import Data
from ..io.read.fit_input import fit_input
from ..io.read.records import variable_of_columns
from ..io.store.opening import weighted_joint
from ..joint.inputs import are_numbers, check_columns, sorted_csr
from ..joint.joint import Joint
from ..joint.machine import available_memory, n_threads
from ..joint.messages import InputError, size_text, warn_user, without_mass
from ..joint.objects import is_dask
from ..joint.parts import count_parts
from ..joint.weighting import Weighting, as_weighting
from ..kernels.tables import is_packed, padded
from ..model.confidence import COSTED_ENTRIES, SAMPLED_ELEMENTS, learn_confidence, rejected
from ..model.hierarchy import Hierarchy
from ..model.leaves import Model, canonical_orders, take_leaves
from ..model.storage import FileCheckpoint
from ..search.optimise.refine import fine_count, fine_number
from ..search.parallel.dask_client import current
from ..search.parallel.dask_joint import is_distributed, local_store, on_cluster
from ..search.progress import CONFIDENCE, begin_stage, fit_stages, showing
from ..search.run import Purpose, Run
from ..search.select import beta, choose_numbers
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution
from ..search.state.side import SPLIT_BYTES, SPLIT_ITEM_BYTES, SPLIT_ROW_BYTES
from ..search.state.starts import Start, pair, starts_for
from .base import Parameters, Searches, warn_if_unfinished

Counts = tuple[Any, Any]
Sides = tuple[Start, Start]
#: Parameters that change neither the labels nor what was chosen; a fit may go on with others.
WITHOUT_INFLUENCE = {"callback", "checkpoint", "engine", "max_time", "n_jobs", "reject", "verbose"}
CELL_BYTES = 16  # of a cell of a table, with all that is derived from its mass ...
PACKED_CELL_BYTES = 6  # ... or packed
ELEMENT_BYTES = 100  # of labels, margins and numbers of an element
ENTRY_BYTES = 4  # of the column of an entry, beside its weight
SHUFFLED_BYTES = 70  # of each entry that is shuffled to calibrate confidences
GRANTED_BYTES = 50_000_000  # that a fit may always try to get
LESS_MEMORY = (
    "Fewer clusters, n_jobs=1 or engine='dask' need less memory; so do data in a store, which a "
    "fit loads as needed: comarkov.pack(X, 'store')"
)


class CoClusterFit(Searches):
    """The fitted attributes of a co-clustering, and the fit that sets them."""

    beta_: float
    row_labels_: np.ndarray
    column_labels_: np.ndarray
    row_confidence_: np.ndarray
    column_confidence_: np.ndarray
    row_margins_: np.ndarray
    column_margins_: np.ndarray
    row_agreement_: np.ndarray
    column_agreement_: np.ndarray
    row_evidence_exponent_: float
    column_evidence_exponent_: float
    row_names_in_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    selection_: np.ndarray
    selection_reason_: str
    beta_selection_: np.ndarray
    cost_: float
    information_: Information
    hierarchy_: Hierarchy
    n_iter_: int
    weighting_: Weighting | None
    reading_: dict[str, Any]
    sample_weight_: np.ndarray
    _model: Model
    _n_features_out: int

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Co-cluster the rows and columns of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Nonnegative weights. Also :class:`Data`, AnnData, a networkx bipartite graph, a list of
            texts, or a data frame with a column of names. Read anything else with
            :func:`comarkov.read`. With ``engine="dask"`` also a Dask array, a Dask DataFrame whose
            columns are rows, columns and weights of edges, or a folder of such Parquet files.
        y : ignored
        sample_weight : array-like of shape (n_rows,), default=None
            What each row counts, 1 by default: its weights are multiplied by this, after
            ``weighting``. A row that counts 2 costs as much as two equal rows in its cluster; one
            that counts 0 is empty. It is still one row to "tfidf" and "bm25", to random starts
            and to confidences, for which repeated rows are more evidence. Not with
            ``beta="auto"``.
        """
        self._fit(X, sample_weight).close()
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """Fit and return the row labels."""
        return self.fit(X, y, sample_weight).row_labels_

    @fit_context(prefer_skip_nested_validation=False)  # the weighting has parameters of its own
    def _fit(self, X: Any, sample_weight: ArrayLike | None = None) -> Joint:
        """Fit, and return the weighted data, which the results of the fit need again."""
        asked = self._parameters()
        wanted = self._counts(asked.n_clusters)
        with showing(fit_stages(wanted, asked.beta), asked.verbose):
            run = asked.run(beta.DEFAULT_BETA if asked.beta == "auto" else float(asked.beta))
            X, weighting, data = read_weighted(X, asked, run, sample_weight)
            run = with_checkpoint(run, asked, wanted, data)
            variables = variable_of_columns(X.reading) if isinstance(X, Data) else None
            counts, selection = choose_counts(data, wanted, asked, run, variables)
            starts = starts_for(data, counts, asked.init, asked.fixed)
            columns = self._check_size(X, data, starts, asked)
            betas = choose_beta(X, starts, asked, run)
            run = run if betas is None else run.at(float(betas["beta"][betas["chosen"]][0]))
            portable = self
            if asked.engine == "dask":  # what happens on workers is reported here
                portable = copy(self)
                portable.__dict__.update(callback=None, checkpoint=None)
            learnt, labels, converged = data.compute(partial(searched, portable, starts), run)
            counted = None if sample_weight is None else np.array(sample_weight, np.float64)
            rows = data.row_names  # only this process has names
            is_named = rows is not None and not are_numbers(rows)
            model = replace(learnt["_model"], row_names=rows, column_names=data.column_names)
            self._store(learnt | {"row_names_in_": rows if is_named else None, "_model": model})
            self._store(columns)
            chosen = {"selection_": selection and selection.table, "beta_selection_": betas}
            chosen |= {"selection_reason_": selection and selection.reason}
            self._store(chosen | {"sample_weight_": counted})
            self.weighting_ = weighting
            self.reading_ = dict(X.reading) if isinstance(X, Data) else {}
            if isinstance(run.checkpoint, FileCheckpoint):
                run.checkpoint.end(labels, is_early=bool(run.monitor.reason))
        warn_of(converged, starts, run)
        return data

    def _counts(self, n_clusters: Any) -> Counts:
        """The parameter as a pair of numbers, for rows and for columns."""
        return pair(n_clusters, "n_clusters")

    def _store(self, learnt: dict[str, Any]) -> None:
        """Set fitted attributes, and delete those of an earlier fit that are None now."""
        for name, value in learnt.items():
            if value is None:
                self.__dict__.pop(name, None)
            else:
                setattr(self, name, value)

    def _check_size(self, X: Any, data: Joint, starts: Sides, asked: Parameters) -> dict[str, Any]:
        """Raise errors about memory and columns before the search; return what columns X has."""
        if asked.engine != "dask":
            needed = fit_bytes(data, [start.k for start in starts], n_threads(asked.n_jobs))
            available = available_memory()
            if available is not None and needed > max(available, GRANTED_BYTES):
                raise MemoryError(
                    f"The fit needs about {size_text(needed)} more, but only "
                    f"{size_text(available)} is available. {LESS_MEMORY}"
                )
        probe = copy(self)
        check_columns(probe, X)
        names = getattr(probe, "feature_names_in_", None)
        return {"n_features_in_": probe.n_features_in_, "feature_names_in_": names}

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        return self._parameters().search_method().solve(problem, run)


def searched(
    estimator: CoClusterFit, starts: Sides, data: Joint, run: Run
) -> tuple[dict[str, Any], list[np.ndarray | None], bool]:
    """Search; return the fitted attributes, the labels, and whether the search converged."""
    problem = CoClusterProblem(data, starts)
    if run.checkpoint is not None:
        run.checkpoint.begin(problem, run.beta)
    solution = estimator._optimise(problem, run)
    begin_stage(CONFIDENCE)
    labels = solution.state.labels()
    learnt = learn(solution, starts, run, estimator._parameters())
    return learnt, labels, solution.state.converged


def learn(
    solution: Solution[CoClusters], starts: Sides, run: Run, asked: Parameters
) -> dict[str, Any]:
    """Return the fitted attributes, clusters in canonical order; None for those it lacks."""
    state, data = solution.state, solution.state.joint
    orders = canonical_orders((state.rows, state.columns), starts)
    labels = [renumbered(*both) for both in zip(state.all_labels(), orders, strict=True)]
    information = state.information()
    counts = [fine_count(start) if asked.method == "auto" else start.k for start in starts]
    confidence = learn_confidence(solution, run)
    with run.monitor.interruptible():
        rows, columns = take_leaves(solution, orders, counts, run)
    for i, (name, start) in enumerate(zip(("row", "column"), starts, strict=True)):
        sure = confidence[f"{name}_confidence_"]
        if sure is not None and asked.reject is not None:
            labels[i] = rejected(labels[i], sure, asked.reject, start.fixed)
    return {
        "row_labels_": labels[0],
        "column_labels_": labels[1],
        "beta_": run.beta,
        "cost_": information.cost(run.beta),
        "information_": information,
        "n_iter_": state.n_iter,
        **confidence,
        "hierarchy_": Hierarchy(rows, columns, run.beta, information),
        "_model": Model(rows, columns, 2 * run.beta - 1, data.scale, data.spread, None, None),
        "_n_features_out": 0 if rows is None else rows.k,
    }


def warn_of(converged: bool, starts: Sides, run: Run) -> None:
    """Warn of a search that was stopped, or has not converged, and of empty rows and columns."""
    warn_if_unfinished(converged, run)
    empty = [int((~start.has_mass).sum()) for start in starts]
    if any(empty):
        shape = starts[0].has_mass.size, starts[1].has_mass.size
        warn_user(f"{without_mass(empty, shape)} (label -1).")


def read_weighted(
    X: Any, asked: Parameters, run: Run, sample_weight: ArrayLike | None = None
) -> tuple[Any, Weighting | None, Joint]:
    """Return X as a matrix with names, its weighting, and the weighted data, maybe on a cluster."""
    cluster = current() if asked.engine == "dask" else None
    if cluster is None and is_dask(X):
        raise ValueError(
            'X is an object of Dask. Fit it on the cluster with CoClustering(engine="dask"), or '
            "pass X.compute() if it fits into memory."
        )
    X = local_store(X, cluster) if cluster and is_distributed(X) else fit_input(X)
    weighting = as_weighting(asked.weighting, X)
    if sample_weight is not None and asked.beta == "auto":
        raise InputError('beta="auto" takes no sample_weight', advice="Set beta, such as beta=0.7.")
    data = weighted_joint(X, weighting, sample_weight)
    return X, weighting, on_cluster(data, cluster) if cluster else data.with_threads(run.n_jobs)


def with_checkpoint(run: Run, asked: Parameters, wanted: Counts, data: Joint) -> Run:
    """Return the run with the file that keeps its best result, if the user wants one."""
    if asked.checkpoint is None:
        return run
    names = {field.name for field in fields(asked)} - WITHOUT_INFLUENCE
    parameters = {name: getattr(asked, name) for name in names} | {"n_clusters": wanted}
    return replace(run, checkpoint=FileCheckpoint(asked.checkpoint, data, parameters))


def choose_counts(
    data: Joint, wanted: Counts, asked: Parameters, run: Run, variables: np.ndarray | None = None
) -> tuple[Counts, Any]:
    """Return how many clusters there are, and the evidence if that is chosen."""
    if "auto" not in wanted:
        return wanted, None
    asked.refuse_labels((3, 3))
    starts_for(data, [1 if number == "auto" else number for number in wanted], None, None)
    own = replace(run, seed=run.seed.child(Purpose.NUMBERS), checkpoint=None)
    chosen = data.compute(partial(choose_numbers.select, wanted, variables=variables), own)
    both = zip(wanted, chosen.numbers, strict=True)
    rows, columns = (None if number is None else int(best) for number, best in both)
    return (rows, columns), chosen


def choose_beta(X: Any, starts: Sides, asked: Parameters, run: Run) -> np.ndarray | None:
    """Return the evidence for each β, if β is to be chosen."""
    if asked.beta != "auto":
        return None

    def read(half: Any) -> Joint:
        return weighted_joint(half, as_weighting(asked.weighting, X))

    sides = (starts[0].k, starts[1].k), asked.init, asked.fixed
    return beta.beta_evidence(sorted_csr(X), read, sides, replace(run, checkpoint=None))


# --- memory -------------------------------------------------------------------------------------


def fit_bytes(data: Joint, counts: Sequence[Any], threads: int) -> int:
    """Return the bytes that a fit adds to its data: their transpose, and tables of masses."""
    is_turned = data.pages is None and counts[1] is not None
    return data_bytes(data) * is_turned + table_bytes(data, counts, threads)


def data_bytes(data: Joint) -> int:
    """Return the bytes of the matrix or of its transpose in memory."""
    return data.nnz * (ENTRY_BYTES + np.dtype(data.mass_dtype).itemsize)


def table_bytes(data: Joint, counts: Sequence[Any], threads: int) -> int:
    """Return the most bytes of tables at the same time."""
    shapes = data.shape, data.shape[::-1]
    sides = [
        _side_bytes(data, *shape, k, threads)
        for k, shape in zip(counts, shapes, strict=True)
        if k is not None
    ]
    state, sweeping, other = (list(each) for each in zip(*sides, strict=True))
    return sum(state) + max(sum(sweeping), *other) + ELEMENT_BYTES * sum(data.shape)


def _side_bytes(
    data: Joint, elements: int, items: int, k: int, threads: int
) -> tuple[int, int, int]:
    """Return the bytes of the state of a side, of its sweeps, and of all other steps.

    The table has k cells, padded, for each item of the other side. Sweeps work on copies, one for
    each thread, with values derived from masses; of large data the state has masses alone.
    """
    cells, parts = items * padded(k), count_parts(data.nnz, items)
    fine = items * padded(fine_number(k, elements))
    split = SPLIT_ITEM_BYTES * items + SPLIT_ROW_BYTES * elements
    shuffled = data.nnz * min(SAMPLED_ELEMENTS, elements) // elements
    costed = min(items, shuffled, COSTED_ENTRIES)
    calibration = SHUFFLED_BYTES * shuffled + CELL_BYTES * costed * padded(k)
    mass = np.dtype(data.mass_dtype).itemsize
    cell = PACKED_CELL_BYTES if mass == 4 and is_packed(items, k) else CELL_BYTES
    if parts == 1:
        return cell * cells, 2 * cell * cells, max(split, CELL_BYTES * fine, calibration)
    waiting = 2 if mass == 4 else parts.bit_length() + 1  # see ``parts.total``
    threads = min(threads, parts)
    sweeping = (threads * cell + mass * waiting) * cells
    leaves = mass * fine * (threads if mass == 4 else waiting)
    return mass * cells, sweeping, max(min(SPLIT_BYTES, k * split), leaves, calibration)
