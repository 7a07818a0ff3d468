"""A fit that is cut short goes on from its checkpoint."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from comarkov import CoClustering, cost
from comarkov.joint.joint import joint
from comarkov.joint.messages import InputError
from comarkov.model.storage import FileCheckpoint, load_value, save_value
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import starts_for


def blocks(seed=0):
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.4, 3.0, (4, 3))[rng.integers(4, size=60)][:, rng.integers(3, size=40)]
    return rng.poisson(rates) + 1


def problem_of(X, counts):
    data = joint(X)
    return CoClusterProblem(data, starts_for(data, counts, None, None))


class CutError(Exception):
    """What ends a fit before its end."""


def cut_after(sweeps):
    """A callback that ends the fit after some sweeps at the β of the fit."""
    remaining = iter(range(sweeps))

    def callback(progress):
        if progress.beta == 0.7 and next(remaining, None) is None:
            raise CutError

    return callback


@pytest.mark.parametrize(("method", "sweeps"), [("auto", 1), ("sequential", 2), ("batch", 2)])
def test_a_fit_goes_on(tmp_path, method, sweeps):
    file, X = tmp_path / "fit.npz", blocks()
    parameters = {"method": method, "random_state": 0, "checkpoint": file, "n_init": 1}
    with pytest.raises(CutError):
        CoClustering((4, 3), callback=cut_after(sweeps), **parameters).fit(X)
    stored = load_value(file)["labels"]
    assert len(np.unique(stored[0])) == 4
    stages = []
    model = CoClustering((4, 3), callback=lambda p: stages.append(p.stage), **parameters).fit(X)
    assert set(stages) <= {"start 1", "end", "polish"}
    assert model.cost_ <= cost(X, *stored, 0.7) + 1e-12
    assert not file.exists()


def stop_at(stage):
    """A callback that stops the fit in a stage."""
    return lambda progress: progress.stage.startswith(stage)


def stored_cost(file, X, beta=0.7):
    return cost(X, *load_value(file)["labels"], beta)


METHODS = [("auto", "seeds"), ("anneal", "anneal"), ("batch", "start 2")]


@pytest.mark.parametrize(("method", "stage"), METHODS)
def test_the_checkpoint_of_a_stopped_fit_has_the_labels_that_it_returns(tmp_path, method, stage):
    file, X = tmp_path / "fit.npz", blocks()
    parameters = {"method": method, "random_state": 0, "checkpoint": file, "n_init": 3}
    with pytest.warns(ConvergenceWarning):
        model = CoClustering((6, 5), callback=stop_at(stage), **parameters).fit(X)
    rows, columns = load_value(file)["labels"]
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) == 1
    assert CoClustering((6, 5), **parameters).fit(X).cost_ <= model.cost_ + 1e-12


def test_an_early_state_of_a_continued_fit_does_not_replace_a_better_one(tmp_path):
    file, X = tmp_path / "fit.npz", blocks()
    problem = problem_of(X, (4, 3))
    good = CoClustering((4, 3), random_state=0).fit(X)
    poor = problem.with_labels([np.arange(60) % 4, np.arange(40) % 3])
    first = FileCheckpoint(file, problem.joint, {})
    first.begin(problem, 0.7)
    first.keep(problem.with_labels([good.row_labels_, good.column_labels_]))
    continued = FileCheckpoint(file, problem.joint, {})
    continued.begin(problem, 0.7)
    continued.keep(poor)
    assert stored_cost(file, X) == pytest.approx(good.cost_)


def test_labels_of_other_numbers_of_clusters_are_not_continued(tmp_path):
    file, X = tmp_path / "fit.npz", blocks()
    problem = problem_of(X, (5, 3))
    stopped = FileCheckpoint(file, problem.joint, {})
    stopped.end([np.arange(60) % 5, np.arange(40) % 3], is_early=True)
    continued = FileCheckpoint(file, problem.joint, {})
    continued.begin(problem_of(X, (4, 3)), 0.7)
    assert continued.content.labels is None


def stopped(file, X, n_clusters=(4, 3), **parameters):
    """The parameters of a fit that was stopped and has left a checkpoint."""
    parameters = {"n_clusters": n_clusters, "random_state": 0, "checkpoint": file, **parameters}
    with pytest.warns(ConvergenceWarning):
        CoClustering(callback=lambda _: True, **parameters).fit(X)
    return parameters


def assert_refused(file, X, parameters):
    """The error names the file, and its advice works."""
    with pytest.raises(InputError) as caught:
        CoClustering(**parameters).fit(X)
    assert caught.value.file == file
    assert "checkpoint='other.npz'" in caught.value.advice
    return str(caught.value)


FIXED = (np.where(np.arange(60) < 3, np.arange(60), -1), None)
STARTS = [np.arange(60) % 4, np.arange(40) % 3]


@pytest.mark.parametrize(
    "change",
    [
        *({"n_clusters": (4, 2)}, {"beta": 0.6}, {"random_state": 1}, {"fixed": FIXED}),
        *({"init": STARTS}, {"max_iter": 3}),
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_checkpoint_belongs_to_everything_that_the_result_depends_on(tmp_path, change):
    file, X = tmp_path / "fit.npz", blocks()
    parameters = stopped(file, X)
    message = assert_refused(file, X, parameters | change)
    assert next(iter(change)) in message
    CoClustering(**parameters | change | {"checkpoint": tmp_path / "other.npz"}).fit(X)
    CoClustering(**parameters, n_jobs=1, reject=0.2).fit(X)  # which do not matter


@pytest.mark.parametrize(
    "turn", [np.flipud, np.fliplr, lambda X: 2 * X], ids=["rows", "columns", "X"]
)
def test_a_checkpoint_belongs_to_its_data(tmp_path, turn):
    file, X = tmp_path / "fit.npz", blocks()
    X = X * 2.0 ** -np.ceil(np.log2(X.sum(axis=1, keepdims=True)))
    X[:, 0] += 1 - X.sum(axis=1)  # all rows have the same mass
    assert_refused(file, turn(X), stopped(file, X))


def with_labels(rows=None, columns=None):
    """A change of the labels in a checkpoint."""

    def change(content):
        sides = zip((rows, columns), content["labels"], strict=True)
        content["labels"] = [old if new is None else new(old) for new, old in sides]

    return change


def first_label(value):
    return lambda labels: np.concatenate([[value], labels[1:]])


DAMAGE = {
    "far below": with_labels(first_label(-1_000_000)),
    "-1 with mass": with_labels(first_label(-1)),
    "too large": with_labels(first_label(60)),
    "too few": with_labels(None, lambda labels: labels[1:]),
    "one side": lambda content: content["labels"].pop(),
    "no labels": lambda content: content.update(labels=5),
    "an unknown part": lambda content: content.update(code="x"),
    "no digests": lambda content: content.update(belongs_to={}),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    """Even if its digest was corrected."""
    file, X = tmp_path / "fit.npz", blocks()
    parameters = stopped(file, X, fixed=FIXED)
    content = load_value(file)
    damage(content)
    save_value(content, file)
    assert_refused(file, X, parameters)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04"])
def test_what_is_no_checkpoint_is_refused(tmp_path, content):
    file = tmp_path / "fit.npz"
    file.write_bytes(content)
    assert_refused(file, blocks(), {"checkpoint": file})
