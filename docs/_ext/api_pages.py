"""Pages about the public names of the package, generated from its docstrings."""

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

from generated import write_pages

import comarkov

FOLDER = Path(__file__).parent.parent / "reference" / "api"
MODULES = {
    "datasets": ("Dataset", "fetch", "find", "load", "newsgroups_sample", "planted"),
    "evaluate": (
        "adjusted_rand_index",
        "matching_accuracy",
        "normalized_mutual_information",
        "purity",
    ),
}
GROUPS = {
    "Estimators": ("CoClustering", "MarkovAggregation", "MultiwayClustering", "communities"),
    "Methods from the literature": ("SIB", "AIB", "ITCC", "IBDouble", "IDC", "IBCC", "compare"),
    "Data": ("read", "records", "Data", "pack", "write_h5ad", "Weighting", "InputError"),
    "Results": (
        *("Results", "ChainResults", "MultiwayResults"),
        *("load", "plot_heatmap", "plot_blocks", "plot_features", "plot_map", "plot_dendrogram"),
        *("plot_confidence", "plot_information", "plot_selection"),
    ),
    "Cost and information": (
        *("cost", "information", "Information"),
        *("approximation", "Approximation"),
    ),
    "Parts of a fitted model": ("Hierarchy", "MergeTree", "Step", "Progress"),
    "Data sets": tuple(f"datasets.{name}" for name in MODULES["datasets"]),
    "Agreement with known classes": tuple(f"evaluate.{name}" for name in MODULES["evaluate"]),
}
MADE_BY_FITS = ("Hierarchy", "MergeTree", "Results")  # users do not call their constructors
WITH_FIELDS = ("Approximation", "Data", "Information", "Progress", "Step", "datasets.Dataset")
# What other modules of the package call, and users do not.
INTERNAL = {"checked", "learn", "makes_uniform", "sides_at"}
INTERNAL |= {"set_fit_request", "set_predict_request"}  # of scikit-learn
INTERNAL |= {"weigh_before_division", "weigh_columns", "weigh_rows"}
OF_SKLEARN = ("get_params", "set_params", "fit_transform", "set_output", "get_feature_names_out")
OF_SKLEARN += ("biclusters_", "get_shape", "get_submatrix")
CO_CLUSTERINGS = GROUPS["Methods from the literature"][:-1]


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    write_pages(FOLDER, pages())
    app.connect("autodoc-process-signature", _without_constructor)
    app.connect("autodoc-process-docstring", _literal_formulas, priority=100)  # before numpydoc
    return {"parallel_read_safe": True}


def public_names() -> list[str]:
    """Every name that must be in the reference."""
    modules = [f"{module}.{name}" for module, names in MODULES.items() for name in names]
    own = [name for name in comarkov.__all__ if name not in {*MODULES, "__version__"}]
    return own + modules


def resolve(name: str) -> Any:
    """The object with a public name."""
    value: Any = comarkov
    for part in name.split("."):
        value = getattr(value, part)
    return value


def pages() -> dict[str, str]:
    """One page for each public name, and a table of all."""
    result = {f"{name}.rst": _page(name) for group in GROUPS.values() for name in group}
    parts = [_title("Python", "=")]
    for title, names in GROUPS.items():
        lines = [f"   * - :doc:`{name} <{name}>`\n     - {_summary(name)}" for name in names]
        parts += [_title(title, "-"), ".. list-table::\n   :widths: 30 70\n\n" + "\n".join(lines)]
        parts.append(".. toctree::\n   :hidden:\n\n" + "\n".join(f"   {name}" for name in names))
    result["index.rst"] = "\n\n".join(parts) + "\n"
    return result


def methods(owner: type) -> list[str]:
    """The methods and properties of a class that this package defines, `fit` first."""
    order = ("of", "fit", "fit_predict", "predict", "transform")
    names = {name for name in dir(owner) if not name.startswith("_")} - INTERNAL
    names = {name for name in names if _is_ours(owner, name)}
    return sorted(names, key=lambda name: (order.index(name) if name in order else 99, name))


def _is_ours(owner: type, name: str) -> bool:
    home = next(base for base in owner.__mro__ if name in vars(base))
    value = vars(home)[name]
    is_method = callable(getattr(owner, name)) or isinstance(value, property | cached_property)
    return is_method and home.__module__.startswith("comarkov.") and bool(value.__doc__)


def _page(name: str) -> str:
    """The docstring of a name and, for a class, those of its methods."""
    value = resolve(name)
    parts = [_title(name, "="), ".. currentmodule:: comarkov"]
    if not inspect.isclass(value):
        return "\n\n".join([*parts, f".. autofunction:: comarkov.{name}"]) + "\n"
    parts.append(f".. autoclass:: comarkov.{name}")
    if name in CO_CLUSTERINGS:
        parts.append("Methods and all other attributes are those of :class:`CoClustering`.")
        return "\n\n".join(parts) + "\n"
    if name in WITH_FIELDS:
        fields = [f".. autoattribute:: comarkov.{name}.{each}" for each in value.__annotations__]
        parts += [_title("Attributes", "-"), *fields]
    if names := methods(value):
        parts.append(_title("Methods", "-"))
        parts += [f".. auto{_kind(value, each)}:: comarkov.{name}.{each}" for each in names]
    if inherited := [f"``{each}``" for each in OF_SKLEARN if hasattr(value, each)]:
        parts.append("From scikit-learn: " + ", ".join(inherited) + ".")
    return "\n\n".join(parts) + "\n"


def _kind(owner: type, name: str) -> str:
    is_property = isinstance(inspect.getattr_static(owner, name), property | cached_property)
    return "property" if is_property else "method"


def _title(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def _summary(name: str) -> str:
    return " ".join((inspect.getdoc(resolve(name)) or "").split("\n\n")[0].split())


def _without_constructor(
    app: Any, what: str, name: str, value: Any, options: Any, signature: Any, returns: Any
) -> Any:
    if what == "class" and name.rpartition(".")[2] in MADE_BY_FITS:
        return "", returns
    return None


def _literal_formulas(
    app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Mark indented formulas above the first section as literal text."""
    end = next((i for i, line in enumerate(lines) if line and not line.strip("-")), len(lines))
    for i in range(end - 1, 1, -1):
        starts = lines[i].startswith("    ") and not lines[i - 1].strip()
        if starts and not lines[i - 2].startswith("    "):
            lines[i:i] = [".. code-block:: none", ""]
