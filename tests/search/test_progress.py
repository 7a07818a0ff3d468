"""Long work can be watched and stopped, and then nothing is lost."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import comarkov
from comarkov import CoClustering, Progress
from comarkov.reproduce.experiments.synthetic import circulant_blocks
from comarkov.search import progress
from comarkov.search.progress import showing
from comarkov.search.select.choose_numbers import OUT_OF_TIME


@pytest.fixture(scope="module")
def noise():
    """Counts that take long to settle."""
    return np.random.default_rng(0).poisson(0.3, (800, 600))


def test_callback_hears_every_sweep():
    calls: list[Progress] = []
    X = circulant_blocks(3)
    model = CoClustering(
        3, beta=0.8, method="anneal", n_init=2, tol=0, random_state=0, callback=calls.append
    ).fit(X)
    stages = {progress.stage for progress in calls}
    assert stages == {
        "rows, start 1",
        "rows, start 2",
        "columns, start 1",
        "columns, start 2",
        "anneal",
    }
    last = calls[-1]
    assert (last.stage, last.beta) == ("anneal", 0.8)
    assert last.cost == pytest.approx(model.cost_, abs=1e-5)
    for stage in stages:
        reports = [(p.beta, p.iteration, p.cost) for p in calls if p.stage == stage]
        for (beta, i, cost), (next_beta, j, next_cost) in pairwise(reports):
            assert beta != next_beta or (j == i + 1 and next_cost <= cost)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callback_can_end_the_fit(noise, n_jobs):
    calls = []

    def stop(progress):
        calls.append(progress)
        return np.bool_(len(calls) == 3)  # as a comparison of costs would give

    model = CoClustering((9, 8), n_init=50, random_state=0, callback=stop, n_jobs=n_jobs)
    with pytest.warns(ConvergenceWarning):
        model.fit(noise)
    assert len(calls) < 10
    expected = comarkov.cost(noise, model.row_labels_, model.column_labels_, 0.7)
    assert model.cost_ == pytest.approx(expected, abs=1e-12)
    assert set(model.row_labels_) == set(range(9))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError, StopIteration])  # which generators may not raise
def test_an_error_in_the_callback_ends_the_fit(noise, n_jobs, error):
    calls = []

    def fail(progress):
        calls.append(progress)
        raise error("no more")

    with pytest.raises(error):
        CoClustering((9, 8), n_init=10_000, callback=fail, n_jobs=n_jobs).fit(noise)
    assert len(calls) <= 2 * n_jobs


@pytest.mark.parametrize("method", ["anneal", "sequential"])
def test_max_time_gives_the_best_so_far(noise, method):
    start = CoClustering((9, 8), method="sequential", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        start.fit(noise)  # before the other, whose time must not pass with compiling
    model = CoClustering((9, 8), method=method, n_init=10_000, max_time=1.0, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(noise)
    assert model.cost_ < start.cost_


@pytest.mark.filterwarnings("error")
def test_the_result_is_kept_also_where_warnings_are_errors(noise):
    model = CoClustering((9, 8), max_time=1e-9, random_state=0)
    with pytest.raises(ConvergenceWarning):
        model.fit(noise)
    assert set(model.row_labels_) == set(range(9))


def test_the_bar_shows_stage_cost_and_time():
    """In a terminal, where a bar is drawn again and again."""
    master, slave = pty.openpty()
    script = (
        "from comarkov import CoClustering\n"
        "from comarkov.reproduce.experiments.synthetic import circulant_blocks\n"
        "CoClustering(3, n_init=150, random_state=0, verbose=1).fit(circulant_blocks(3))\n"
    )
    environment = os.environ | {"COLUMNS": "80", "TERM": "xterm"}
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stderr=slave, env=environment, close_fds=True)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # the end, as a terminal has it
        while part := os.read(master, 4096):
            shown += part
    os.close(master)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert re.search(r"1/2 Clustering: .*, β = 0.7.*% 0:00", text)
    assert max(len(line.rstrip()) for line in re.split("[\r\n]+", text)) <= 80
    assert re.search(r"Done .*100% 0:0", text)


def test_without_rich_a_line_is_printed_for_each_stage(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    CoClustering(3, method="anneal", n_init=3, random_state=0, verbose=1).fit(circulant_blocks(3))
    lines = capsys.readouterr().err.splitlines()
    counts = [re.search(r"\((\d of 9)\)$", line)[1] for line in lines]
    assert counts == [f"{i} of 9" for i in range(1, 10)]  # rows, columns, then annealing
    assert re.match(r"1/2 Clustering: anneal, β = 0.7, cost \d\.\d{4} bits", lines[-1])


def test_ctrl_c_returns_the_best_so_far():
    script = """
        import warnings
        import numpy as np
        from comarkov import CoClustering
        X = np.random.default_rng(0).poisson(0.3, (800, 600))
        CoClustering(2, random_state=0).fit(X)  # compiled
        model = CoClustering((9, 8), n_init=100_000, random_state=0, n_jobs=2)
        print("ready", flush=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X)
        print(caught[0].message, len(set(model.row_labels_.tolist())), flush=True)
        import signal
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert printed.splitlines() == [
        "The fit was stopped because it was interrupted: the best so far is kept. 9",
        "True",
    ]


def test_ctrl_c_before_there_are_numbers_of_clusters_interrupts():
    model = CoClustering(callback=lambda progress: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.random.default_rng(0).poisson(1, (60, 50)))
    assert not hasattr(model, "row_labels_")


def test_without_time_for_numbers_the_results_say_so_first():
    X = np.random.default_rng(0).poisson(1, (60, 50))
    with pytest.warns(ConvergenceWarning):
        model = CoClustering(random_state=0, max_time=1e-6).fit(X)
    assert OUT_OF_TIME in model.describe().splitlines()[0]


# --- one bar for all stages ----------------------------------------------------------------------


def test_lines_are_printed_where_there_is_no_terminal(capsys):
    with showing(["read", "fit"], 1) as bar:
        bar.begin("fit", 2)
        bar.describe("start 1")
        bar.advance(0.5)
        bar.advance(0.5)
        bar.advance(5)  # never more than there is
    assert capsys.readouterr().err.splitlines() == [
        "2/2 fit: start 1 (1 of 2)",
        "2/2 fit: start 1 (2 of 2)",
    ]


def test_a_bar_inside_another_goes_on_with_it():
    with showing(["all"], 1) as outer, showing(["part"], 1) as inner:
        assert inner is outer
    with showing(["all"], 0) as silent:
        assert silent is None


def test_the_time_left_never_counts_up(monkeypatch):
    clock, seen = [0.0], []
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with showing(["fit"], 1) as bar:
        bar.begin("fit", 4)
        for clock[0] in (1, 2, 9):  # the third part takes long
            bar.advance()
            seen.append(bar._rich.tasks[0].fields["left"])
    assert seen == ["0:00:03 left", "0:00:02 left", "0:00:02 left"]


def test_a_bar_that_fails_does_not_look_done(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with pytest.raises(RuntimeError), showing(["all"], 1):
        raise RuntimeError
    shown = capsys.readouterr().err
    assert "all" in shown
    assert "Done" not in shown
