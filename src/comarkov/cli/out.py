"""The folder of results: all that a fit leaves, whole or absent."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..data.writing import check_place, refuse_to_lose, whole_folder
from .options import OUTPUT, option

if TYPE_CHECKING:
    from ..data.reading import Data
    from ..estimators.coclustering import CoClustering
    from ..results.results import Results
    from ..search.coclusters import Step

Out = Annotated[
    Path | None,
    option(
        "--out", "-o", panel=OUTPUT, metavar="OUT", show_default="the name of INPUT, -clusters",
        help="The folder for all results, which is written as a whole or not at all.",
    ),
]  # fmt: skip
Force = Annotated[
    bool,
    option("--force", "-f", panel=OUTPUT, help="Replace a folder OUT that comarkov has written."),
]
Opened = Annotated[bool, option("--open", panel=OUTPUT, help="Open the report in the browser.")]
Annotate = Annotated[
    bool,
    option(
        "--h5ad/--no-h5ad", panel=OUTPUT,
        help="From an AnnData file: also write it into OUT with the clusters in .obs and .var.",
    ),
]  # fmt: skip


def place(out: Path | None, source: str, force: bool) -> Path:
    """Where results go; an error before the work begins if they must not."""
    from ..model.storage import is_results

    if out is None:
        stem = "stdin" if source == "-" else Path(source).name.split(".")[0] or "comarkov"
        out = Path(f"{stem}-clusters")
    try:
        refuse_to_lose(out.absolute(), force, is_results)
        check_place(out.absolute())
    except FileExistsError as error:
        hint = "" if force else " --force replaces it, -o names another place."
        raise FileExistsError(f"{error}{hint}") from None
    return out


def results_of(model: CoClustering, data: Data, path: Sequence[Step] | None = None) -> Results:
    """What a model says about its data, made by the command that is running."""
    from ..results.results import Results

    return Results.of(model, data, path=path, command=command())


def write(
    results: Results, out: Path, force: bool, h5ad: Path | None,
    texts: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write results, an AnnData file with its clusters, and further files with their texts."""
    from ..data.reading import write_h5ad
    from ..model.storage import is_results
    from ..results.folder import fill

    with whole_folder(out, force, is_results) as folder:
        fill(results, folder)
        if h5ad is not None:
            write_h5ad(h5ad, folder / h5ad.name, results.fitted)
        for name, text in (texts or {}).items():
            (folder / name).write_text(text, encoding="utf-8", newline="")


def h5ad_file(source: str, wanted: bool) -> Path | None:
    """INPUT if it is an AnnData file that is to be written with its clusters."""
    return Path(source) if wanted and Path(source).suffix == ".h5ad" else None


def results_again(out: Path) -> Results:
    """The results in a folder, from the model and the data in it."""
    from ..data.reading import read
    from ..model.storage import is_results, load, load_value
    from ..results.folder import DATA, PATH
    from ..results.results import Results

    if not is_results(out):
        raise FileNotFoundError(f"There are no results of comarkov fit or sweep in {out}.")
    path = load_value(out / PATH) if (out / PATH).exists() else None
    told = summary(out)
    data = replace(read(out / DATA), source=str(told.get("data", {}).get("source", "")))
    return Results.of(load(out), data, path=path, command=str(told.get("command", "")))


def command() -> str:
    """The command that is running, to be repeated; passwords in addresses are left out."""
    public = [re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", part) for part in sys.argv[1:]]
    return shlex.join(["comarkov", *public])


def summary(out: Path) -> dict[str, Any]:
    """What summary.json says, and where it is."""
    from ..model.storage import SUMMARY

    told: dict[str, Any] = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    return {"out": str(out.absolute()), **told}
