"""The public surface, and which way imports point."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import comarkov

PACKAGE = Path(comarkov.__file__).parent

# Each room may import from those before it.
ROOMS = [
    "kernels", "data", "costs", "search", "model", "results", "estimators", "reproduce", "cli",
]  # fmt: skip


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
    assert entries - {"py.typed"} == set(ROOMS)
    for rank, room in enumerate(ROOMS):
        for path in (PACKAGE / room).rglob("*.py"):
            for other in rooms_imported(path):
                assert ROOMS.index(other) <= rank, f"{path} imports {other}"


def test_tests_mirror_the_rooms():
    folders = {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}
    assert set(ROOMS) <= folders


def test_one_module_imports_matplotlib():
    users = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if re.search("(import|from) matplotlib", path.read_text())
    ]
    assert users == ["plot.py"]


def test_public_names():
    assert comarkov.__all__ == [
        "AIB",
        "IBCC",
        "IDC",
        "ITCC",
        "SIB",
        "CoClustering",
        "Data",
        "Hierarchy",
        "IBDouble",
        "Information",
        "MarkovAggregation",
        "MergeTree",
        "MultiwayClustering",
        "Progress",
        "Results",
        "Step",
        "Weighting",
        "__version__",
        "compare",
        "cost",
        "datasets",
        "evaluate",
        "information",
        "load",
        "plot_blocks",
        "plot_heatmap",
        "plot_path",
        "read",
        "write_h5ad",
    ]
    for name in comarkov.__all__:
        assert hasattr(comarkov, name)


def test_public_modules_are_imported_from_where_they_were():
    from comarkov.datasets import load
    from comarkov.evaluate import purity

    assert load is comarkov.datasets.load
    assert purity is comarkov.evaluate.purity
    assert comarkov.cost.__name__ == "cost"  # which no room hides


def test_importing_is_lean():
    """What only some users need is not imported for all."""
    script = "import sys, comarkov; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(out.stdout.split())
    assert not loaded & {"dask", "matplotlib", "networkx", "polars", "rich"}
