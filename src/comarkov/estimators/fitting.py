"""Fitting a co-clustering: the steps that CoClustering and the named methods share."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._compat import fit_context
from ..io.read import Data
from ..io.read.fit_input import fit_input
from ..io.read.records import variable_of_columns
from ..io.store.opening import check_large, weighted_joint
from ..joint.alignment import check_columns
from ..joint.inputs import NamedMatrix, sorted_csr
from ..joint.joint import Joint
from ..joint.messages import InputError
from ..joint.weighting import Weighting, as_weighting
from ..model.checkpoint_file import FileCheckpoint
from ..results.describe import DescribeMixin
from ..search.checkpoint import Chosen
from ..search.parallel.dask_client import current
from ..search.parallel.dask_inputs import cluster_joint, is_distributed, refuse_dask
from ..search.progress import CONFIDENCE, begin_stage, fit_stages, showing
from ..search.run import Purpose, Run
from ..search.select import beta, choose_numbers
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution, Step
from ..search.state.starts import starts_for
from .base import Parameters
from .estimate import refuse_what_does_not_fit
from .prediction import CoClustered, Sides, learn, names_of, warn_of

if TYPE_CHECKING:
    from ..results.results import Results
    from ..results.words.titles import Titles

Counts = tuple[Any, Any]
#: Parameters that change neither the labels nor what was chosen; a fit may go on with others.
WITHOUT_INFLUENCE = {"callback", "checkpoint", "engine", "max_time", "n_jobs", "reject", "verbose"}


class CoClusterEstimator(DescribeMixin, CoClustered):
    """An estimator of rows and columns."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Co-cluster the rows and columns of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Nonnegative weights. Also :class:`Data`, AnnData, a networkx bipartite graph, a list of
            texts, or a data frame with a column of names. Read anything else with
            :func:`comarkov.read`. With ``engine="dask"`` also a Dask array, a Dask DataFrame whose
            columns are rows, columns and weights of edges, or a folder of such Parquet files.
        y : ignored
        """
        self._fit(X).close()
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the row labels."""
        return self.fit(X).row_labels_

    def results(
        self, X: Any, *, path: Sequence[Step] | None = None, titles: Titles | None = None
    ) -> Results:
        """The results of this model on the data of its fit, in words, tables, pictures and files.

        Parameters
        ----------
        X : matrix, data frame or Data of the fit
            What was passed to ``fit``, or the same weights in another form.
        path : sequence of Step, default=None
            Co-clusterings at many β, as ``beta_path`` returns them; None uses ``path_``.
        titles : mapping or path of a JSON file, default=None
            Your titles for clusters, ``{"rows": {0: "..."}, "columns": [...]}``.
        """
        from ..results.results import Results

        return Results.of(self, X, path=path, titles=titles)

    @fit_context(prefer_skip_nested_validation=False)  # the weighting has parameters of its own
    def _fit(self, X: Any) -> Joint:
        """Fit, and return the weighted data, which the results of the fit need again."""
        asked = self._parameters()
        wanted = self._counts(asked.n_clusters)
        with showing(fit_stages(wanted, asked.beta), asked.verbose):
            run = asked.run(beta.DEFAULT_BETA if asked.beta == "auto" else float(asked.beta))
            X, weighting, data = read_weighted(X, asked, run)
            run = with_checkpoint(run, asked, wanted, data)
            variables = variable_of_columns(X.reading) if isinstance(X, Data) else None
            counts, selection = choose_counts(data, wanted, asked, run, variables)
            starts = starts_for(data, counts, asked.init, asked.fixed)
            columns = self._check_size(X, data, starts, asked)
            betas = choose_beta(X, starts, asked, run)
            run = run if betas is None else run.at(float(betas["beta"][betas["chosen"]][0]))
            found = data.compute(partial(searched, self._portable(), starts), run)
            learnt = found.learnt | names_of(data, found.learnt["_model"]) | columns
            learnt |= {"selection_": selection and selection.table, "beta_selection_": betas}
            self._store(learnt | {"selection_reason_": selection and selection.reason})
            self.weighting_ = weighting
            self.reading_ = dict(X.reading) if isinstance(X, Data) else {}
            if isinstance(run.checkpoint, FileCheckpoint):
                run.checkpoint.end(found.labels, is_early=bool(run.monitor.reason))
        warn_of(found, starts, run)
        return data

    def _portable(self) -> Self:
        """This estimator as workers get it: what happens on the way is reported here."""
        if self._parameters().engine != "dask":
            return self
        other = copy(self)
        other.__dict__.update(callback=None, checkpoint=None)
        return other

    def _check_size(self, X: Any, data: Joint, starts: Sides, asked: Parameters) -> dict[str, Any]:
        """Raise errors about memory and columns before the search; return what columns X has."""
        if asked.engine != "dask":
            refuse_what_does_not_fit(asked, data, [start.k for start in starts])
        probe = copy(self)
        check_columns(probe, X)
        names = getattr(probe, "feature_names_in_", None)
        return {"n_features_in_": probe.n_features_in_, "feature_names_in_": names}

    def _search(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        """Return the best co-clustering; a checkpoint keeps it on the way."""
        if run.checkpoint is not None:
            run.checkpoint.begin(problem, run.beta)
        return self._optimise(problem, run)

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        return self._parameters().search_method().solve(problem, run)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class Found(NamedTuple):
    """The result of a search."""

    learnt: dict[str, Any]
    labels: list[np.ndarray | None]
    converged: bool


def searched(estimator: CoClusterEstimator, starts: Sides, data: Joint, run: Run) -> Found:
    """Search, and learn all that a fitted model knows."""
    solution = estimator._search(CoClusterProblem(data, starts), run)
    begin_stage(CONFIDENCE)
    labels = solution.state.labels()
    learnt = learn(solution, starts, run, estimator._parameters())
    return Found(learnt, labels, solution.state.converged)


def read_weighted(X: Any, asked: Parameters, run: Run) -> tuple[Any, Weighting | None, Joint]:
    """Return X as a matrix with names, its weighting, and the weighted data.

    With ``engine="dask"`` the weighted data are on the workers of a cluster.
    """
    is_local = asked.engine != "dask"
    cluster = None if is_local else current()
    if is_local:
        refuse_dask(X)
    is_in_memory = is_local or not is_distributed(X)
    X = fit_input(X) if is_in_memory else X
    weighting = as_weighting(asked.weighting, X)
    if cluster is None:
        check_large(X)
        return X, weighting, weighted_joint(X, weighting).with_threads(run.n_jobs)
    data = cluster_joint(X, weighting, cluster)
    if is_in_memory:
        return X, weighting, data
    whole = cluster_joint(X, None, cluster).gather().unscaled if asked.beta == "auto" else data
    return NamedMatrix(whole, data.row_names, data.column_names), weighting, data


def with_checkpoint(run: Run, asked: Parameters, wanted: Counts, data: Joint) -> Run:
    """Return the run with the file that keeps its best result, if the user wants one."""
    if asked.checkpoint is None:
        return run
    parameters = {
        field.name: getattr(asked, field.name)
        for field in fields(asked)
        if field.name not in WITHOUT_INFLUENCE
    }
    parameters["n_clusters"] = wanted
    return replace(run, checkpoint=FileCheckpoint(asked.checkpoint, data, parameters))


def choose_counts(
    data: Joint,
    wanted: Counts,
    asked: Parameters,
    run: Run,
    variables: np.ndarray | None = None,
) -> tuple[Counts, Chosen | None]:
    """Return the numbers of clusters, and the evidence if they are chosen."""
    if "auto" not in wanted:
        return wanted, None
    if asked.init is not None or asked.fixed is not None:
        raise InputError(
            'n_clusters="auto" cannot be combined with labels in init or fixed',
            advice="Set the numbers of clusters: n_clusters=(3, 3)",
        )
    starts_for(data, [1 if number == "auto" else number for number in wanted], None, None)
    chosen = None if run.checkpoint is None else run.checkpoint.chosen
    if chosen is None:
        own = replace(run, seed=run.seed.child(Purpose.NUMBERS), checkpoint=None)
        choose = partial(choose_numbers.select, wanted, variables=variables)
        selected = data.compute(choose, own)
        rows, columns = map(int, selected.numbers)
        chosen = Chosen((rows, columns), selected.table, selected.reason)
        if run.checkpoint is not None and not run.monitor.reason:
            run.checkpoint.remember(chosen=tuple(chosen))
    given = zip(wanted, chosen.numbers, strict=True)
    counts = [None if number is None else best for number, best in given]
    return (counts[0], counts[1]), chosen


def choose_beta(X: Any, starts: Sides, asked: Parameters, run: Run) -> np.ndarray | None:
    """Return the evidence for each β, if β is to be chosen."""
    if asked.beta != "auto":
        return None
    if run.checkpoint is not None and run.checkpoint.beta_evidence is not None:
        return run.checkpoint.beta_evidence

    def read(half: Any) -> Joint:
        return weighted_joint(half, as_weighting(asked.weighting, X))

    sides = (starts[0].k, starts[1].k), asked.init, asked.fixed
    evidence = beta.beta_evidence(sorted_csr(X), read, sides, replace(run, checkpoint=None))
    if run.checkpoint is not None and not run.monitor.reason:
        run.checkpoint.remember(betas=evidence)
    return evidence
