"""When kernels are compiled, and when they come from the disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import comarkov
from comarkov.kernels import compiling

PACKAGE = Path(comarkov.__file__).parent

# A kernel whose logarithm is from another file.
USE = """
import json
import numpy as np
from comarkov.kernels.matrix import sum_xlogx
from comarkov.kernels.tables import MassTable, derive, derive_items

none = np.zeros((0, 0), np.float32)
table = MassTable(
    np.full((1, 1), 8.0), *np.zeros((2, 1, 1), np.float32), none, none, np.zeros((0, 3), np.float32)
)
derive(table)
sum_xlogx(table.mass.ravel())
hits = sum(derive_items.stats.cache_hits.values())
print(json.dumps({"log": float(table.log[0, 0]), "hits": hits}))
"""


@pytest.fixture
def use(tmp_path):
    """Use the kernel of a copy of the package in a new process."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE / "kernels", tmp_path / "comarkov" / "kernels", ignore=ignore)
    for name in ("__init__.py", "__init__.pyi", "_compat.py"):
        shutil.copy(PACKAGE / name, tmp_path / "comarkov")
    folders = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        command = [sys.executable, "-c", USE]
        out = subprocess.run(
            command, env=os.environ | folders, capture_output=True, text=True, check=True
        )
        return json.loads(out.stdout), out.stderr

    return run


def test_kernels_depend_on_all_files_of_their_room(use, tmp_path):
    first, _ = use()
    assert first["log"] == pytest.approx(2.0794415)
    assert first["hits"] == 0
    assert use()[0] == {**first, "hits": 1}
    source = tmp_path / "comarkov" / "kernels" / "logarithm.py"
    code = source.read_text()
    source.write_text(code.replace("np.log(2.0)", "np.log(4.0)"))
    assert source.read_text() != code
    assert use()[0] == {"log": pytest.approx(2 * first["log"]), "hits": 0}


def test_compiling_is_announced_once_and_loading_is_not(use):
    _, printed = use()
    assert printed == f"{compiling.NOTICE}\n"  # for two kernels
    _, printed = use()
    assert printed == ""


def test_kernels_are_not_kept_if_the_cache_cannot_depend_on_all_files(monkeypatch):
    monkeypatch.setattr(compiling, "_depends_on_all_sources", lambda kept: False)
    kernel = compiling.kernel()(lambda v: v + 1)
    assert kernel(1) == 2
    assert kernel.stats.cache_path is None


def test_all_that_numba_compiles_is_in_the_room():
    users = [path for path in PACKAGE.rglob("*.py") if "njit" in path.read_text()]
    assert users == [PACKAGE / "kernels" / "compiling.py"]
