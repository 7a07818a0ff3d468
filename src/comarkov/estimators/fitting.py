"""Fitting a co-clustering: the steps that CoClustering and the named methods share."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from .._compat import available_if, fit_context
from ..io.read import Data
from ..io.read.fit_input import fit_input
from ..io.store.opening import check_large
from ..io.store.weighing import weighted_joint
from ..joint.alignment import check_columns
from ..joint.inputs import NamedMatrix, sorted_csr
from ..joint.joint import Joint
from ..joint.weighting import Weighting, as_weighting
from ..model.leaves import canonical_orders, renumbered_path
from ..results.describe import DescribeMixin
from ..search import budgets
from ..search.checkpoint import Checkpoint, Chosen
from ..search.parallel.dask_client import Cluster, current
from ..search.parallel.dask_inputs import cluster_joint, is_distributed, refuse_dask
from ..search.progress import CONFIDENCE, begin_stage, expect, fit_stages, showing
from ..search.run import Purpose, Run
from ..search.select import beta, choose_numbers
from ..search.state.coclusters import CoClusterProblem, CoClusters, Solution, Step
from ..search.state.starts import starts_for
from .base import HasBiclusters
from .estimate import Estimate, estimate_fit, refuse_what_does_not_fit
from .prediction import Cuts, Predicts, Starts


class CoClusterEstimator(DescribeMixin, Predicts, HasBiclusters, Cuts):
    """An estimator of rows and columns; parameters that it lacks have the values here."""

    n_clusters: Any
    beta: Any
    method: Any
    weighting: Any = None
    init: Any = "random"
    fixed: Any = None
    reject: Any = None
    engine: Any = "local"
    checkpoint: Any = None

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
        self._fit(X)
        return self

    @fit_context(prefer_skip_nested_validation=False)  # the weighting has parameters of its own
    def _fit(self, X: Any) -> Joint:
        """Fit, and return the weighted data, which the results of the fit need again."""
        with showing(fit_stages(self._both(self.n_clusters), self.beta), self.verbose):
            return self._fit_in_stages(X)

    @available_if(lambda self: "method" in self._get_param_names())
    @fit_context(prefer_skip_nested_validation=False)
    def estimate(self, X: Any) -> Estimate:
        """Predict how much memory and time a fit of X takes, within a factor of about 1.5.

        It takes a second or two: memory is computed from sizes, and time from a sample of X.
        Sets no attributes.

        Parameters
        ----------
        X : what ``fit`` takes, or a store
            Nonnegative weights.

        Returns
        -------
        Estimate
            ``memory`` of the whole process, ``seconds``, ``bytes_per_half_step`` on the network,
            and ``advice`` in words. Print it for a summary.
        """
        return estimate_fit(self, X)

    def _fit_in_stages(self, X: Any) -> Joint:
        run = self._run(beta.DEFAULT if self.beta == "auto" else float(self.beta))
        X, weighting, data = self._read(X, run)
        expect(budgets.expected_seconds(data.nnz))
        run = self._with_checkpoint(run, data)
        numbers, selection = self._numbers(data, run)
        starts = starts_for(data, numbers, self.init, self.fixed)
        if self.engine != "dask":
            refuse_what_does_not_fit(self, data, [start.k for start in starts])
        check_columns(copy(self), X)  # an error before the search, without setting attributes
        evidence = self._beta_evidence(X, starts, run)
        if evidence is not None:
            run = run.at(float(evidence["beta"][evidence["chosen"]][0]))
        problem = CoClusterProblem(data, starts)
        if run.checkpoint is not None:
            run.checkpoint.begin(problem, run.beta)
        solution = self._optimise(problem, run)
        begin_stage(CONFIDENCE)
        check_columns(self, X)  # sets n_features_in_ and names
        self._keep(solution, starts, run)
        self._set_or_forget("selection_", selection and selection.table)
        self._set_or_forget("selection_reason_", selection and selection.reason)
        self._set_or_forget("beta_selection_", evidence)
        self.weighting_ = weighting
        self.reading_ = dict(X.reading) if isinstance(X, Data) else {}
        if run.checkpoint is not None:
            run.checkpoint.end(solution.state, is_early=bool(run.monitor.reason))
        self._report(solution.state, starts, run, level=6)
        return data

    def _with_checkpoint(self, run: Run, data: Joint) -> Run:
        """The run with the file that keeps its best result, if the user wants one."""
        if self.checkpoint is None:
            return run
        parameters = self._both(self.n_clusters), self.beta, self.method
        return replace(run, checkpoint=Checkpoint(self.checkpoint, data, parameters))

    def _read(self, X: Any, run: Run) -> tuple[Any, Weighting | None, Joint]:
        """X as a matrix with names, its weighting, and the weighted data where they are needed."""
        if self.engine == "dask":
            return self._read_on_workers(X, current())
        refuse_dask(X)
        X = fit_input(X)
        weighting = as_weighting(self.weighting, X)
        check_large(X)
        return X, weighting, weighted_joint(X, weighting).with_threads(run.n_jobs)

    def _read_on_workers(self, X: Any, cluster: Cluster) -> tuple[Any, Weighting | None, Joint]:
        """The same with the weighted data on the workers of a cluster."""
        if not is_distributed(X):
            X = fit_input(X)
        weighting = as_weighting(self.weighting, X)
        data = cluster_joint(X, weighting, cluster)
        if not is_distributed(X):
            return X, weighting, data
        whole = cluster_joint(X, None, cluster).gather().unscaled if self.beta == "auto" else data
        return NamedMatrix(whole, data.row_names, data.column_names), weighting, data

    @available_if(lambda self: "beta" in self._get_param_names())
    @fit_context(prefer_skip_nested_validation=False)
    def beta_path(self, X: Any, betas: Sequence[float] | None = None) -> list[Step]:
        """The co-clusterings of X at many β, in one annealed run; sets no attributes.

        It starts with the best result of ``method="auto"`` at the largest β and lowers β from
        there: at each β single elements move until no move lowers the cost. So it is fast, and
        clusters keep their numbers from step to step; those of the last step are numbered by
        decreasing mass. A fit at one β can find a lower cost. If ``n_clusters`` is "auto" the
        numbers are those that a fit chooses, or has chosen for X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            Nonnegative weights.
        betas : sequence of float in [0, 1], default=None
            In any order; None is 1, 0.9, ..., 0.

        Returns
        -------
        list of Step
            (beta, cost, row_labels, column_labels), by decreasing β.
        """
        wanted = beta.checked(betas)
        run = self._run(beta.DEFAULT if self.beta == "auto" else float(self.beta))
        X, _, data = self._read(X, run)
        numbers = self._known_numbers(data) or self._numbers(data, run)[0]
        starts = starts_for(data, numbers, self.init, self.fixed)
        problem = CoClusterProblem(data, starts)
        n_init = self._method("auto").n_starts(problem)
        solution = beta.beta_path(problem, wanted, replace(run, n_init=n_init))
        self._report(solution.state, starts, run)
        state = solution.state
        return renumbered_path(solution.path, canonical_orders((state.rows, state.columns), starts))

    def _known_numbers(self, data: Joint) -> tuple[Any, Any] | None:
        """The numbers of clusters, if the fit chose them for the same data."""
        if not hasattr(self, "selection_") or not self._model.has_masses_of(data):
            return None
        rows, columns = (
            fitted if number == "auto" else number
            for number, fitted in zip(
                self._both(self.n_clusters), self.hierarchy_.n_fitted, strict=True
            )
        )
        return rows, columns

    def _numbers(self, data: Joint, run: Run) -> tuple[tuple[Any, Any], Chosen | None]:
        """The numbers of clusters, and the evidence if they are chosen."""
        wanted = self._both(self.n_clusters)
        if "auto" not in wanted:
            return wanted, None
        if not isinstance(self.init, str) or self.fixed is not None:
            raise ValueError(
                'n_clusters="auto" does not go with labels in init or fixed. Set the numbers of '
                "clusters: n_clusters=(3, 3)"
            )
        starts_for(data, [1 if number == "auto" else number for number in wanted], None, None)
        chosen = None if run.checkpoint is None else run.checkpoint.chosen
        if chosen is None:
            own = replace(run, seed=run.seed.child(Purpose.NUMBERS), checkpoint=None)
            selected = choose_numbers.select(data, wanted, own)
            chosen = Chosen(selected.numbers, selected.table, selected.reason)
            if run.checkpoint is not None and not run.monitor.reason:
                run.checkpoint.remember(**chosen._asdict())
        rows, columns = (
            None if number is None else best
            for number, best in zip(wanted, chosen.numbers, strict=True)
        )
        return (rows, columns), chosen

    def _beta_evidence(self, X: Any, starts: Starts, run: Run) -> np.ndarray | None:
        """The evidence for each β, if β is to be chosen."""
        if self.beta != "auto":
            return None
        if run.checkpoint is not None and run.checkpoint.beta_evidence is not None:
            return run.checkpoint.beta_evidence

        def read(half: Any) -> Joint:
            return weighted_joint(half, as_weighting(self.weighting, X))

        ask = (starts[0].k, starts[1].k), self.init, self.fixed
        alone = replace(run, checkpoint=None)
        evidence = beta.beta_evidence(sorted_csr(X), read, ask, alone)
        if run.checkpoint is not None and not run.monitor.reason:
            run.checkpoint.remember(betas=evidence)
        return evidence

    def _optimise(self, problem: CoClusterProblem, run: Run) -> Solution[CoClusters]:
        return self._method(self.method).solve(problem, run)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the row labels."""
        return self.fit(X).row_labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
