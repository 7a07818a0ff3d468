"""``comarkov compare`` and ``comarkov evaluate``: which method, and how near to the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .classes import Labels, read_labels
from .errors import clear_errors, notes
from .groups import takes_groups
from .options import CLUSTERING, INPUT, OUTPUT, Clustering, Numbers, Reading, Source, Telling, option
from .predict import write_text
from .tables import aligned, records, records_csv, say_json


@takes_groups
def compare(
    source: Source,
    numbers: Numbers,
    methods: Annotated[
        str | None,
        option(
            "--methods", panel=CLUSTERING, metavar="M,M,...", show_default="all",
            help="auto, anneal, sequential, batch, sib, aib, itcc, ib-double, idc, ibcc, "
            "ibcc-iterative.",
        ),
    ] = None,
    beta: Annotated[
        float,
        option("--beta", panel=CLUSTERING, min=0, max=1, help="For the methods that take any."),
    ] = 0.7,
    weighting: WeightingName = None,
    starts: Annotated[
        int, option("--starts", panel=CLUSTERING, min=1, help="How often each begins.")
    ] = 1,
    seed: Annotated[
        int, option("--seed", panel=CLUSTERING, min=0, help="From which starts are drawn.")
    ] = 0,
    truth: Annotated[
        Path | None,
        option("--truth", panel=INPUT, metavar="FILE", help="Known classes of the rows, as CSV."),
    ] = None,
    out: Annotated[
        Path | None,
        option("--out", "-o", panel=OUTPUT, metavar="FILE", help="Write the table as CSV."),
    ] = None,
    *,
    telling: Telling,
    reading: Reading,
) -> None:  # fmt: skip
    pass
