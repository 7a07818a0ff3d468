"""The command ``comarkov``, which is also ``python -m comarkov``."""

import gc
import logging
import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn, cast

from .io.interrupts import end_like_ctrl_c, ended
from .joint.messages import CLI, need

OUTPUT_CLOSED = 1  # the reader of our output has closed the pipe
USER_ERROR = 2
INTERRUPTED = 130  # which Typer returns for any request to end


def main() -> NoReturn:
    """Run the command line, or print in one line what prevents it."""
    _open_standard_streams()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its notes are not about our work
    gc.set_threshold(50_000)  # modules are imported faster
    sys.meta_path.insert(0, _ScikitLearnImports())
    end_like_ctrl_c()
    try:
        code = _run()
    except KeyboardInterrupt:  # while Python imports
        word, code = ended()
        _print_error(word)
    sys.exit(_flush(code))


class _ScikitLearnImports:
    """Spares scikit-learn two imports of its module ``fixes``, which we never need.

    They take half a second: pandas is reported as missing, and scipy.stats is imported if used.
    """

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """How to import scipy.stats for scikit-learn; None for other modules."""
        fixes = sys.modules.get("sklearn.utils.fixes")
        if name not in ("pandas", "scipy.stats") or not getattr(
            getattr(fixes, "__spec__", None), "_initializing", False
        ):
            return None
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return ModuleSpec(name, cast(Any, self))

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Defer the import."""
        module.__class__ = _DeferredModule


class _DeferredModule(ModuleType):
    """A module that is imported when something in it is first used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def _open_standard_streams() -> None:
    """Connect streams that the caller has closed to nothing.

    Else the next file that is opened gets their number, and what is printed goes there.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the smallest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _run() -> int:
    try:
        need("The command comarkov", *CLI)
    except ImportError as error:
        _print_error(f"Error: {error}")
        return USER_ERROR
    from .cli import program

    try:
        program(*sys.argv[1:2])(prog_name="comarkov")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return ended()[1] if code == INTERRUPTED else code
    return 0


def _flush(code: int) -> int:
    """Write what is left of the output, which may fail; return the exit code."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again
        if isinstance(error, BrokenPipeError):
            return code or OUTPUT_CLOSED
        _print_error(f"Error: The output cannot be written: {error.strerror}.")
        return code or USER_ERROR
    return code


def _print_error(message: str) -> None:
    with suppress(OSError):  # stderr may be full, too
        print(message, file=sys.stderr)


if __name__ == "__main__":
    main()
