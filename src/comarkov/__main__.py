"""The command ``comarkov``, which is also ``python -m comarkov``."""

import gc
import logging
import os
import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any, NoReturn

from .io.interrupts import end_like_ctrl_c, ended
from .joint.messages import CLI, need


def main() -> None:
    """Run the command line, or print in one line what prevents it."""
    _open_standard_streams()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its notes are not about our work
    gc.set_threshold(50_000)  # modules are imported faster
    sys.meta_path.insert(0, _ScikitLearnImports())
    end_like_ctrl_c()
    try:
        need("The command comarkov", *CLI)
    except ImportError as error:
        _end(2, f"Error: {error}")
    try:
        from .cli import program

        program(*sys.argv[1:2])(prog_name="comarkov")
    except KeyboardInterrupt:  # while Python imports
        word, code = ended()
        _end(code, word)
    except OSError as error:  # the output cannot be written
        _end(2, f"Error: {error.strerror}")


def _end(code: int, word: str) -> NoReturn:
    """End with a code and, if stderr takes it, a word."""
    with suppress(OSError):
        print(word, file=sys.stderr)
    sys.exit(code)


def _open_standard_streams() -> None:
    """Connect streams that the caller has closed to nothing.

    Else the next file that is opened gets their number, and what is printed goes there.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # it gets the smallest number that is free: this one
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


class _ScikitLearnImports:
    """Spares scikit-learn two imports of its module ``fixes``, which we never need.

    They take half a second: pandas is reported as missing, and scipy.stats is imported if used.
    """

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """How to import scipy.stats for scikit-learn; None for other modules."""
        fixes = getattr(sys.modules.get("sklearn.utils.fixes"), "__spec__", None)
        if name not in ("pandas", "scipy.stats") or not getattr(fixes, "_initializing", False):
            return None
        if name == "pandas":
            raise ModuleNotFoundError(name)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


if __name__ == "__main__":
    main()
