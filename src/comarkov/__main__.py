"""The command ``comarkov``, which is also ``python -m comarkov``."""

import logging
import os
import sys
from contextlib import suppress
from typing import NoReturn

from .io.interrupts import end_like_ctrl_c, ended
from .joint.messages import CLI, need

SEEN_ENOUGH = 1  # who reads our results has closed the pipe
MENDABLE = 2  # an error that the user can mend
INTERRUPTED = 130  # which Typer returns for any request to end


def main() -> NoReturn:
    """Run the command line, or say in one line what prevents it."""
    _open_standard_streams()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its notes are not about our work
    end_like_ctrl_c()
    try:
        code = _run()
    except KeyboardInterrupt:  # while Python imports
        word, code = ended()
        _complain(word)
    sys.exit(_flushed(code))


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
        _complain(f"Error: {error}")
        return MENDABLE
    from .cli import app

    try:
        app(prog_name="comarkov")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return ended()[1] if code == INTERRUPTED else code
    return 0


def _flushed(code: int) -> int:
    """Write what is left of the output, which may fail; return the exit code."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again
        if isinstance(error, BrokenPipeError):
            return code or SEEN_ENOUGH
        _complain(f"Error: The output cannot be written: {error.strerror}.")
        return code or MENDABLE
    return code


def _complain(message: str) -> None:
    with suppress(OSError):  # stderr may be full, too
        print(message, file=sys.stderr)


if __name__ == "__main__":
    main()
