"""``comarkov reproduce``."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .bars import progress_bars
from .errors import clear_errors

if TYPE_CHECKING:
    from ..reproduce.experiment import Experiment, Result


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="stuck, unequal, trading (Fig. 1), noise (Fig. 2d, e), circulant (Fig. 2h), "
            "newsgroups (Table 1, Fig. 3), movielens (Fig. 4), southern-women (Fig. 5), or all. "
            "Without a name: all that need no download.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Random starts of each experiment (for newsgroups: samples).",
            show_default="as in the paper: 500; 20 for newsgroups; 50 for southern-women",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: a minute or two.")] = False,
    best: Annotated[
        bool, typer.Option("--best", help="Also run with our best settings, for comparison.")
    ] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results go.", file_okay=False)
    ] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder with the data sets.",
            exists=True,
            file_okay=False,
            show_default="COMARKOV_DATA, then the cache folder",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Processes.", show_default="one per core")
    ] = os.cpu_count() or 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Make all runs anew, also those kept from before.")
    ] = False,
) -> None:
    """Run the paper's examples, figures and tables again, beside the published numbers.

    Every run is kept in the output folder: what is interrupted goes on when started again.

    [bold]Example[/bold]

    comarkov reproduce southern-women --quick
    """
    with clear_errors():
        from .. import reproduce as reproduction
        from ..reproduce.experiment import Options

        chosen = _chosen(names or [], list(reproduction.EXPERIMENTS), reproduction.DEFAULT)
        options = Options(runs, quick, best, data)
        try:
            with progress_bars() as advance:
                for experiment, result in reproduction.reproduce(
                    chosen, out, options, jobs, advance, fresh
                ):
                    _tell(experiment, result)
        except KeyboardInterrupt:
            again = shlex.join(["comarkov", *(arg for arg in sys.argv[1:] if arg != "--fresh")])
            typer.echo(f"Interrupted. What is done is kept in {out}; to go on: {again}", err=True)
            raise typer.Exit(130) from None
        typer.echo(f"The page is {(out / 'index.html').resolve()}")


def _chosen(names: list[str], known: list[str], default: list[str]) -> list[str]:
    unknown = [name for name in names if name not in [*known, "all"]]
    if unknown:
        raise ValueError(
            f"There is no experiment {unknown[0]!r}: there are {', '.join(known)}, and all."
        )
    if not names:
        return default
    return [name for name in known if name in names or "all" in names]


def _tell(experiment: Experiment, result: Result) -> None:
    """One line for each curve and each claim."""
    from ..reproduce.page import number, word

    colors = {True: "green", False: "red", None: None}
    typer.secho(f"\n{experiment.title}", bold=True)
    for verdict in result.verdicts:
        error = "" if verdict.error is None else f" ± {number(verdict.error)}"
        best = "" if verdict.best is None else f", at its best {number(verdict.best)}"
        typer.echo(
            f"  {verdict.curve}: at {result.x_label} = {verdict.x:g} published "
            f"{number(verdict.published)}, ours {number(verdict.ours)}{error}{best}: ",
            nl=False,
        )
        typer.secho(word(verdict.agrees), fg=colors[verdict.agrees], nl=False)
        typer.echo(f" ({verdict.detail})")
    for claim in result.claims:
        typer.secho(
            "  holds" if claim.holds else "  does not hold", fg=colors[claim.holds], nl=False
        )
        typer.echo(f": {claim.text}" + (f" ({claim.detail})" if claim.detail else ""))
