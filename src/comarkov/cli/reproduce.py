"""``comarkov reproduce``: repeat the experiments of the paper."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .options import Panel, argument, command
from .output import command_line, echo, progress_bars

if TYPE_CHECKING:
    from ..reproduce.experiment import Experiment, Reproduction

PANEL = Panel("Options")
EXPERIMENT_HELP = (
    "stuck, unequal, trading (Fig. 1), noise (Fig. 2d, e), circulant (Fig. 2h), guidelines, "
    "newsgroups (Table 1, Fig. 3), thesis, movielens (Fig. 4), southern-women (Fig. 5), or all. "
    "Default: every experiment that needs no download."
)
STYLES = {"agrees": "green", "differs": "red"}  # of verdicts


@dataclass(frozen=True)
class ReproduceOptions:
    """The output folder, the number of runs and the data."""

    out: Path = PANEL.option("--out DIR", "Output folder.", Path("reproduction"), file_okay=False)
    runs: int | None = PANEL.option(
        "--runs N",
        "Random starts per experiment (samples for newsgroups).",
        shown="as in the paper: 500, 20 for newsgroups, 50 for southern-women",
        min=1,
    )
    quick: bool = PANEL.option("--quick", "Make fewer runs; it takes a minute or two.", False)
    data: Path | None = PANEL.option(
        "--data DIR",
        "Folder with the data sets.",
        shown="COMARKOV_DATA, then the cache folder",
        exists=True,
        file_okay=False,
    )
    jobs: int = PANEL.option(
        "--jobs N", "Number of processes.", os.cpu_count() or 1, shown="one per core", min=1
    )


@command
def reproduce(
    options: ReproduceOptions,
    names: Annotated[list[str] | None, argument("NAME", EXPERIMENT_HELP)] = None,
) -> None:
    """Repeat the paper's examples, figures and tables and compare with the published numbers.

    Every run is stored in the output folder. After an interruption, run the command again to
    continue.

    [bold]Example[/bold]

    comarkov reproduce southern-women --quick
    """
    from .. import reproduce as reproduction
    from ..reproduce.experiment import RunOptions

    known = list(reproduction.EXPERIMENTS)
    for name in names or []:
        if name not in [*known, "all"]:
            raise ValueError(f"Unknown experiment {name!r}. Choose from {', '.join(known)} or all.")
    chosen = [name for name in known if names and (name in names or "all" in names)]
    wanted = RunOptions(**{each.name: getattr(options, each.name) for each in fields(RunOptions)})
    try:
        with progress_bars() as advance:
            for experiment, outcome in reproduction.reproduce(
                chosen or reproduction.DEFAULT_EXPERIMENTS,
                options.out,
                wanted,
                options.jobs,
                advance,
            ):
                _print(experiment, outcome)
    except KeyboardInterrupt:
        advice = f"Finished runs are stored in {options.out}. To continue: {command_line()}"
        raise KeyboardInterrupt(advice) from None
    echo(f"The page is {(options.out / 'index.html').resolve()}")


def _print(experiment: Experiment, outcome: Reproduction) -> None:
    """One line for each curve and each statement."""
    from ..reproduce.page import summary

    echo(f"\n{experiment.title}", bold=True)
    for curve in outcome.curves:
        if curve.published is None:
            continue
        line = summary(curve)
        echo(f"  {line['curve']}: ", nl=False)
        echo(line["verdicts"], fg=STYLES.get(line["style"]), nl=False)
        echo(
            f" (worst at {outcome.x_label} = {line['x']}: published {line['published']}, "
            f"ours {line['ours']}; {line['reason']})"
        )
    for claim in outcome.claims:
        echo(f"  {claim.status}", fg=STYLES.get(claim.status), nl=False)
        echo(f": {claim.text}" + (f" ({claim.detail})" if claim.detail else ""))
