"""The folder of results: all that a fit leaves, whole or absent."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .options import OUTPUT, option

if TYPE_CHECKING:
    from ..estimators import CoClustering
    from ..optimise import Step
    from ..reading import Data
    from ..results import Results

MODEL, DATA, PATH, SUMMARY = "model", "data.npz", "path.npz", "summary.json"

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
    from ..folders import check_place, refuse_to_lose

    if out is None:
        stem = "stdin" if source == "-" else Path(source).name.split(".")[0] or "comarkov"
        out = Path(f"{stem}-clusters")
    try:
        refuse_to_lose(out.absolute(), force, is_ours)
        check_place(out.absolute())
    except FileExistsError as error:
        hint = "" if force else " --force replaces it, -o names another place."
        raise FileExistsError(f"{error}{hint}") from None
    return out


def is_ours(folder: Path) -> bool:
    """Was a folder written here?"""
    from ..storage import is_model

    return (folder / SUMMARY).is_file() and is_model(folder / MODEL)


@dataclass(frozen=True)
class Outcome:
    """What a command has found, and what of it is to be written."""

    model: CoClustering
    data: Data
    path: Sequence[Step] | None = None
    h5ad: Path | None = None  #: an AnnData file to be written with its clusters

    @cached_property
    def results(self) -> Results:
        """What the model says about its data."""
        from ..results import Results

        return Results.of(self.model, self.data, path=self.path, command=command())

    def write(self, out: Path, force: bool, texts: Mapping[str, str] | None = None) -> None:
        """Write results, model and data, and further files with their texts."""
        from .. import plot, reading
        from ..folders import whole_folder
        from ..storage import save_value

        with whole_folder(out, force, is_ours) as folder:
            self.results.write(folder)
            self.model.save(folder / MODEL)
            self.data.save(folder / DATA)
            if self.path is not None:
                save_value(list(self.path), folder / PATH)
                plot.save(plot.plot_path(self.results).figure, folder / "path.png", "png")
            if self.h5ad is not None:
                reading.write_h5ad(self.h5ad, folder / self.h5ad.name, self.model)
            for name, text in (texts or {}).items():
                (folder / name).write_text(text, encoding="utf-8", newline="")


def h5ad_file(source: str, wanted: bool) -> Path | None:
    """INPUT if it is an AnnData file that is to be written with its clusters."""
    return Path(source) if wanted and Path(source).suffix == ".h5ad" else None


def write_text(path: Path, text: str) -> None:
    """Write a file that is whole, or stays as it was."""
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def results_again(out: Path) -> Results:
    """The results in a folder, from the model and the data in it."""
    from ..reading import read
    from ..results import Results
    from ..storage import load, load_value

    if not is_ours(out):
        raise FileNotFoundError(f"There are no results of comarkov fit or sweep in {out}.")
    path = load_value(out / PATH) if (out / PATH).exists() else None
    told = summary(out)
    return Results.of(load(out), read(out / DATA), path=path, command=str(told.get("command", "")))


def command() -> str:
    """The command that is running, to be repeated; passwords in addresses are left out."""
    public = [re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", part) for part in sys.argv[1:]]
    return shlex.join(["comarkov", *public])


def summary(out: Path) -> dict[str, Any]:
    """What summary.json says, and where it is."""
    told: dict[str, Any] = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    return {"out": str(out.absolute()), **told}
