"""The same data, seed and settings give the same fit, wherever and however it is computed.

`make test-lowest` and `make test-newest` run this with other versions of all packages.
"""

import json
import os
import subprocess
import sys

import pytest
import recorded_fits
from recorded_fits import CASES, ON_DISK, records

RECORDED = json.loads(recorded_fits.FILE.read_text())
SMALL = [name for name, case in CASES.items() if case.small]


def assert_recorded(fits, names=CASES):
    """Do fits have the recorded labels, and the recorded costs to twelve digits?"""
    assert list(fits) == list(names)
    labels, costs = ({name: fit[i] for name, fit in fits.items()} for i in (0, 1))
    assert labels == {name: RECORDED[name][0] for name in names}
    assert costs == pytest.approx({name: RECORDED[name][1] for name in names}, rel=0, abs=2e-12)


def elsewhere(*options, **variables):
    """The fits that a new process makes."""
    done = subprocess.run(
        [sys.executable, recorded_fits.__file__, *options],
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_twenty_fits_are_recorded():
    assert len(CASES) == 20
    assert list(RECORDED) == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_one_thread_and_two_make_the_recorded_fit(name):
    assert_recorded(records([name]), [name])
    assert_recorded(records([name], n_jobs=2), [name])


@pytest.mark.parametrize("name", ON_DISK)
def test_data_on_disk_make_the_recorded_fit(name):
    assert_recorded(records([name], n_jobs=2, disk=True), [name])


def test_another_process_makes_the_recorded_fits_with_one_numba_thread():
    assert_recorded(elsewhere(NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1"))


def test_code_that_is_not_compiled_makes_the_recorded_fits():
    assert_recorded(elsewhere("--small", NUMBA_DISABLE_JIT="1"), SMALL)


def test_counts_then_weights_then_counts_in_one_process():
    for name in ("counts, many parts", "weights", "counts, many parts"):
        assert_recorded(records([name]), [name])


@pytest.mark.nightly
def test_labels_do_not_depend_on_whether_kernels_were_compiled_or_loaded(tmp_path):
    for _ in range(2):  # the first compiles, the second loads
        assert_recorded(elsewhere("--n-jobs=2", NUMBA_CACHE_DIR=str(tmp_path)))


@pytest.mark.nightly
@pytest.mark.parametrize("processor", ["generic", "x86-64-v2"])
def test_labels_do_not_depend_on_the_instructions_of_the_processor(processor, tmp_path):
    variables = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    assert_recorded(elsewhere(NUMBA_CACHE_DIR=str(tmp_path), **variables))


@pytest.mark.nightly
@pytest.mark.parametrize("core", ["Prescott", "Haswell"])
def test_labels_do_not_depend_on_the_kernels_of_the_linear_algebra(core):
    assert_recorded(elsewhere(OPENBLAS_CORETYPE=core))


@pytest.mark.nightly
def test_labels_from_disk_in_another_process():
    assert_recorded(elsewhere("--disk"), ON_DISK)
