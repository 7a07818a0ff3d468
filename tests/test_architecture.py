"""The public surface, and which way imports point."""

import ast
import re
import subprocess
import sys
import tomllib
from numbers import Integral
from pathlib import Path

import pytest

import comarkov
from comarkov import _compat
from comarkov.joint.messages import CLI

PACKAGE = Path(comarkov.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]

# Each room may import from those before it.
ROOMS = [
    "kernels",
    "joint",
    "costs",
    "io",
    "search",
    "model",
    "results",
    "estimators",
    "reproduce",
    "cli",
]


def rooms_imported(path):
    """The rooms that a file imports from; only relative imports reach the package."""
    here = path.relative_to(PACKAGE).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            start = here[: len(here) - node.level + 1]
            for alias in node.names:
                module = node.module.split(".") if node.module else []
                yield (*start, *module, alias.name)[0]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            assert "comarkov" not in [*names, getattr(node, "module", None)]


def test_imports_point_one_way():
    entries = {path.name for path in PACKAGE.iterdir() if not path.name.startswith("__")}
    assert entries - {"py.typed", "_compat.py"} == set(ROOMS)
    for rank, room in enumerate(ROOMS):
        for path in (PACKAGE / room).rglob("*.py"):
            for other in rooms_imported(path):
                assert other == "_compat" or ROOMS.index(other) <= rank, f"{path} imports {other}"


# v log v, p log(p / q), n log p and ln C(n, k), however they are written.
FORMULA = re.compile(r"\b(xlog[xy]|gammaln)\(|\b(\w+) \* np\.log2?\(\2\b|-\(\w+ \* np\.log")


def test_formulas_are_in_costs_and_kernels_only():
    """Kernels hold the fast versions, which are tested equal to those in ``costs``."""
    for room in set(ROOMS) - {"kernels", "costs"}:
        for path in (PACKAGE / room).rglob("*.py"):
            assert not FORMULA.search(path.read_text()), path


def test_tests_mirror_the_rooms():
    folders = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}
    assert set(ROOMS) <= folders


@pytest.mark.parametrize(
    ("packages", "modules"),
    [("matplotlib", ["curves.py", "plot.py"]), ("dask|distributed", ["dask_client.py"])],
)
def test_few_modules_import(packages, modules):
    users = sorted(
        path.name
        for path in PACKAGE.rglob("*.py")
        if re.search(rf"^\s*(import|from) ({packages})\b", path.read_text(), re.MULTILINE)
    )
    assert users == modules


PRIVATE = re.compile(
    r"^\s*(?:from|import) (?:llvmlite|numba\.core|sklearn\.(?:\w+\.)*_\w+)"
    r"|^\s*from (?:sklearn|numba)\S* import .*\b_[a-z]\w*|\bbase\._fit_context",
    re.MULTILINE,
)


def test_private_interfaces_of_others_are_used_in_one_module():
    users = {path.name for path in PACKAGE.rglob("*.py") if PRIVATE.search(path.read_text())}
    assert users == {"_compat.py"}


def test_private_interfaces_exist_in_the_installed_versions():
    @_compat.validate_params(k=[_compat.Interval(Integral, 1, None, closed="left")])
    def count(k: int) -> int:
        return k

    with pytest.raises(_compat.InvalidParameterError, match="'k' parameter"):
        count(0)
    assert count(2) == 2
    for name in _compat.__all__:
        assert getattr(_compat, name) is not None


def test_public_modules_are_imported_from_where_they_were():
    from comarkov.datasets import load
    from comarkov.evaluate import purity

    assert load is comarkov.datasets.load
    assert purity is comarkov.evaluate.purity
    assert comarkov.cost.__name__ == "cost"  # which no room hides


FIT = """
import builtins, sys
import comarkov

print(*sys.modules)
asked, load = set(), builtins.__import__

def spy(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and (globals or {}).get("__name__", "").startswith("comarkov"):
        asked.add(name.split(".")[0])
    return load(name, globals, locals, fromlist, level)

builtins.__import__ = spy
women = comarkov.datasets.load("southern-women")
model = comarkov.CoClustering((2, 3), random_state=0).fit(women.matrix)
model.describe(), model.predict(women.matrix), comarkov.Results.of(model, women).tables()
print(*asked)
"""


def test_importing_is_lean():
    """What only some users need is not imported for all, nor by us for a whole fit."""
    out = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    loaded, asked = (set(line.split()) for line in out.stdout.splitlines())
    part = {*CLI, "dask", "networkx", "pandas", "platformdirs"}
    assert not loaded & {*part, "numba", "numpy", "sklearn"}
    assert {"numba", "numpy", "sklearn"} <= asked
    assert not asked & part  # which scikit-learn may import where they are installed


def declared(requirements):
    """The packages that are required, as they are imported."""
    names = {re.match("[a-z0-9-]+", each)[0] for each in requirements}
    return {{"scikit-learn": "sklearn"}.get(name, name) for name in names}


def imported(nodes):
    """The packages of others that are imported, by their first names."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


def test_what_is_required_is_little():
    assert declared(PROJECT["dependencies"]) == {"numba", "numpy", "scipy", "sklearn"}
    assert declared(PROJECT["optional-dependencies"]["cli"]) == set(CLI)


def test_what_is_imported_is_declared():
    """At the top of a file only what is required, or what the command line may count on."""
    required = declared(PROJECT["dependencies"]) | sys.stdlib_module_names
    required |= {"llvmlite"}  # which numba is built on
    extras = PROJECT["optional-dependencies"]
    names = ("cli", "anndata", "dask", "databases", "excel")
    chosen = [package for name in names for package in extras[name]]
    with_dask = {"cloudpickle", "psutil", "pyarrow"}
    optional = declared(chosen) | with_dask | {"IPython", "networkx"}  # in notebooks; for graphs
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        at_top = required | {"typer"} if path.parent == PACKAGE / "cli" else required
        assert set(imported(tree.body)) <= at_top, path
        assert set(imported(ast.walk(tree))) <= required | optional, path
