"""The public surface, and which way imports point."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import comarkov

PACKAGE = Path(comarkov.__file__).parent

# Each layer may import those above it.
LAYERS = [
    ["compiling"],
    ["matrix", "progress", "matching", "folders", "packing", "binning", "formats", "informative"],
    ["datasets"],
    ["joint", "storage"],
    ["relations", "kernels", "weighting", "thinning", "reading"],
    ["objective", "moves", "tables"],
    ["evaluate"],
    ["merging", "seeding"],
    ["optimise"],
    ["coarsening", "polish", "starts", "numbering", "network", "stationary"],
    ["search"],
    ["description", "descent", "chains", "lumpability"],
    ["walk"],
    ["selection"],
    ["leaves", "pairs", "profiles"],
    ["batch", "agglomerate"],
    ["solve"],
    ["family"],
    ["markov", "multiway"],
    ["hierarchy", "insertion", "confidence", "coupling"],
    ["findings"],
    ["describe", "glance", "recall"],
    ["showing"],
    ["fitted"],
    ["estimators"],
    ["named"],
    ["comparison"],
    ["plot", "report"],
    ["results"],
    ["reproduce"],
    ["cli"],
    ["__main__"],
    ["__init__"],
]


def imported(path):
    """The modules of this package that a file imports; a folder is one module."""
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and 0 < node.level < depth:
            continue  # from its own folder
        if isinstance(node, ast.ImportFrom) and node.level:
            if node.module:
                yield node.module.split(".")[0]
            else:
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            assert "comarkov" not in [*names, getattr(node, "module", None)]


def test_imports_point_one_way():
    rank = {module: i for i, layer in enumerate(LAYERS) for module in layer}
    files = {path: path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")}
    modules = {path: name.removesuffix(".py") for path, name in files.items()}
    assert set(modules.values()) == set(rank)
    for path, module in modules.items():
        for other in imported(path):
            assert rank[other] < rank[module], f"{path} imports {other}"


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


def test_importing_is_lean():
    """What only some users need is not imported for all."""
    script = "import sys, comarkov; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(out.stdout.split())
    assert not loaded & {"dask", "matplotlib", "networkx", "polars", "rich"}
