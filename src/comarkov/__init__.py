"""Information-theoretic co-clustering by Markov aggregation."""

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

__version__ = "0.2.0"

#: Modules of rooms that users import from here, also as ``from comarkov.evaluate import ...``.
_MODULES = {"datasets": "io.datasets", "evaluate": "costs.agreement"}
# All else is imported when first used: the command line answers at once, numba is slow to import.
# What there is, and where, stands in the stub, which type checkers read, too.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {
    name: home for home, name in re.findall(r"^from \.(\S+) import (\w+) as \2$", _STUB, re.M)
}

__all__ = sorted({"__version__", *_HOMES, *_MODULES})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Alias(ModuleType):
    """A module of a room under its public name, loaded when first used."""

    def __getattr__(self, name: str) -> Any:
        home = _MODULES[self.__name__.rpartition(".")[2]]
        return getattr(import_module(f".{home}", __package__), name)


for _name in _MODULES:
    sys.modules[f"{__name__}.{_name}"] = _Alias(f"{__name__}.{_name}")
