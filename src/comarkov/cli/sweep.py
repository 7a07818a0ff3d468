"""``comarkov sweep``: which numbers of clusters, which β, and what speaks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import out as folder
from .errors import clear_errors, notes
from .groups import takes_groups
from .options import CLUSTERING, Clustering, Numbers, Reading, Source, Telling, option
from .out import Force, Out
from .tables import Records, aligned, records, records_csv, say_json

if TYPE_CHECKING:
    from ..estimators import CoClustering
    from ..results import Results

NUMBERS, BETAS = "numbers.csv", "betas.csv"


@takes_groups
def sweep(
    source: Source,
    numbers: Numbers,
    clustering: Clustering,
    betas: Annotated[
        str | None,
        option(
            "--betas", panel=CLUSTERING, metavar="B,B,...", show_default="1, 0.9, ..., 0",
            help="The β of the path.",
        ),
    ] = None,
    out: Out = None,
    force: Force = False,
    *,
    telling: Telling,
    reading: Reading,
) -> None:  # fmt: skip
    """Try numbers of clusters and β, and say which are suggested and why.
    """
