"""The one wait that nobody can guess: kernels that are compiled when they are first used."""

from __future__ import annotations

from typing import Any

import typer

NOTE = "Note: kernels are being compiled. This happens once, and takes some 15 seconds."


def explain_compiling(somebody_waits: bool) -> None:
    """From now on, tell once if kernels are compiled; not if they come from numba's cache."""
    if not somebody_waits:
        return
    from numba.core import event

    class Explains(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                typer.secho(NOTE, fg="yellow", err=True)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Explains())
