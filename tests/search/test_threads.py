"""n_jobs means what it means in scikit-learn."""

import os
import threading

import joblib
import numpy as np
import pytest

from comarkov import CoClustering
from comarkov.joint.machine import in_order, n_threads


@pytest.mark.parametrize("n_jobs", [None, 1, 3, np.int64(2), -1, -2, -100])
def test_as_many_threads_as_scikit_learn_takes(n_jobs):
    assert n_threads(n_jobs) == joblib.effective_n_jobs(n_jobs)


def test_cores_that_this_process_may_not_use_are_not_counted(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 6}, raising=False)
    assert [n_threads(n_jobs) for n_jobs in (-1, -2, -3, -4)] == [3, 2, 1, 1]


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match="n_jobs=0"):
        CoClustering(2, n_jobs=0).fit(np.eye(4))


def test_the_caller_is_one_of_the_threads():
    both = threading.Barrier(2)

    def work(number):
        both.wait(timeout=20)
        return number, threading.get_ident()

    numbers, threads = zip(*in_order(work, range(8), 2), strict=True)
    assert numbers == tuple(range(8))
    assert len(set(threads)) == 2
    assert threading.get_ident() in threads
