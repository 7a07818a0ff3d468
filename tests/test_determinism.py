"""The same data, seed and settings give the same labels, wherever and however they are computed.

`make test-lowest` and `make test-newest` run this with other versions of all packages.
"""

import json
import os
import subprocess
import sys

import golden
import pytest

KNOWN = json.loads(golden.DIGESTS.read_text())
SMALL = [name for name, case in golden.CASES.items() if case.small]


def known(names):
    return {name: KNOWN[name] for name in names}


def elsewhere(*options, **variables):
    """The digests that a new process computes."""
    done = subprocess.run(
        [sys.executable, golden.__file__, *options],
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_twelve_fits_are_known():
    assert len(golden.CASES) == 12
    assert list(KNOWN) == list(golden.CASES)


@pytest.mark.parametrize("name", golden.CASES)
def test_labels_are_the_known_ones_by_one_thread_and_by_two(name):
    assert golden.digests([name]) == known([name])
    assert golden.digests([name], n_jobs=2) == known([name])


@pytest.mark.parametrize("name", golden.ON_DISK)
def test_labels_are_the_known_ones_from_disk(name):
    assert golden.digests([name], n_jobs=2, disk=True) == known([name])


@pytest.mark.parametrize("threads", ["1", "2"])
def test_another_process_gets_these_labels_with_any_number_of_numba_threads(threads):
    assert elsewhere(NUMBA_NUM_THREADS=threads, OMP_NUM_THREADS=threads) == KNOWN


def test_labels_without_compiled_code():
    assert elsewhere("--small", NUMBA_DISABLE_JIT="1") == known(SMALL)


def test_counts_then_weights_then_counts_in_one_process():
    names = ["counts, many parts", "weights", "counts, many parts"]
    assert [golden.digests([name]) for name in names] == [known([name]) for name in names]


@pytest.mark.nightly
def test_labels_do_not_depend_on_whether_kernels_were_compiled_or_loaded(tmp_path):
    for _ in range(2):  # the first compiles, the second loads
        assert elsewhere("--n-jobs=2", NUMBA_CACHE_DIR=str(tmp_path)) == KNOWN


@pytest.mark.nightly
@pytest.mark.parametrize("processor", ["generic", "x86-64-v2"])
def test_labels_do_not_depend_on_the_instructions_of_the_processor(processor, tmp_path):
    variables = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    assert elsewhere(NUMBA_CACHE_DIR=str(tmp_path), **variables) == KNOWN


@pytest.mark.nightly
@pytest.mark.parametrize("core", ["Prescott", "Haswell"])
def test_labels_do_not_depend_on_the_kernels_of_the_linear_algebra(core):
    assert elsewhere(OPENBLAS_CORETYPE=core) == KNOWN


@pytest.mark.nightly
def test_labels_from_disk_in_another_process():
    assert elsewhere("--disk") == known(golden.ON_DISK)
