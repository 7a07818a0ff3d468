"""What to try next: suggestions that follow from results, each with the command to run.

Commands read the data again from the folder of the results, and are run beside that folder.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .figures import WORDS

if TYPE_CHECKING:
    from ..findings import SideFindings
    from ..results import Results


class NextStep(NamedTuple):
    """A suggestion: why, and the command or the Python call."""

    why: str
    command: str


def next_steps(results: Results) -> list[NextStep]:
    """What to try: a weighting for texts, other levels, and more or fewer clusters."""
    sides = results.findings.sides
    folder = shlex.quote(Path(results.folder).name or "OUT")
    rows, columns = map(_another_number, sides)
    numbers = f"-k {rows or 'none'} -l {columns or 'none'}"
    steps = []
    if all(side.n_clusters <= 1 for side in sides):
        why = "To see the strongest contrasts anyway (they may be chance):"
        command = f"comarkov fit {folder} {numbers} -o {folder}-again"
        steps.append((why, command, f"model.set_params(n_clusters={rows, columns}).fit(data)"))
    else:
        why = "For more or fewer clusters without a new fit:"
        steps.append((why, f"comarkov cut {folder} {numbers}", f"model.cut({rows, columns})"))
    is_text = not WORDS.isdisjoint(side.kind for side in sides)
    if getattr(results.fitted, "weighting_", None) is None and is_text:
        why = "Plain counts let long texts and frequent words dominate. BM25 balances them:"
        command = f"comarkov fit {folder} --weighting bm25 -o {folder}-again"
        steps.insert(0, (why, command, "model.set_params(weighting='bm25').fit(data)"))
    if results.selection is None:
        why = "Compare fewer or more clusters, and other values of β:"
        call = 'model.set_params(n_clusters="auto", beta="auto").fit(data)'
        steps.append((why, f"comarkov choose {folder} -o {folder}-chosen", call))
    return [NextStep(why, command if results.command else call) for why, command, call in steps]


def _another_number(side: SideFindings) -> int | None:
    """Twice as many clusters if the tree has them, else one fewer; up to 4 if there is one."""
    if side.levels is None:
        return None
    if side.n_clusters == 1:
        return min(4, side.labels.size)
    return (
        2 * side.n_clusters if 2 * side.n_clusters <= side.levels.n_leaves else side.n_clusters - 1
    )


def public_command(command: str) -> str:
    """A command as it may be shown to others: absolute paths are cut to names."""
    words = [word.rpartition("=") for word in shlex.split(command)]
    return shlex.join(f"{option}{equals}{file_name(value)}" for option, equals, value in words)


def file_name(path: str) -> str:
    """A path as it may be shown to others: the name alone if it is absolute."""
    return Path(path).name if Path(path).is_absolute() else path
