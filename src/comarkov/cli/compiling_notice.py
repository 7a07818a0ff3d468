"""A notice while kernels are compiled, which happens when they are first used."""

from __future__ import annotations

from typing import Any

import typer

NOTE = "Note: kernels are being compiled. This happens once, and takes some 15 seconds."


def explain_compiling(somebody_waits: bool) -> None:
    """From now on, print a note once if kernels are compiled, and not read from numba's cache."""
    if not somebody_waits:
        return
    from numba.core import event

    class Explains(event.Listener):
        is_printed = False

        def on_start(self, event: Any) -> None:
            if not self.is_printed:
                self.is_printed = True
                typer.secho(NOTE, fg="yellow", err=True)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Explains())
