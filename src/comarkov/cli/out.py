"""The folder of results: all that a fit leaves, whole or absent."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
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


def place(out: Path | None, source: str, force: bool) -> Path:
    """Where results go; an error before the work begins if they must not."""
    from ..folders import refuse_to_lose

    if out is None:
        stem = "stdin" if source == "-" else Path(source).name.split(".")[0] or "comarkov"
        out = Path(f"{stem}-clusters")
    try:
        refuse_to_lose(out.absolute(), force, is_ours)
    except FileExistsError as error:
        hint = "" if force else " --force replaces it, -o names another place."
        raise FileExistsError(f"{error}{hint}") from None
    return out


def is_ours(folder: Path) -> bool:
    """Was a folder written here?"""
    from ..storage import is_model

    return (folder / SUMMARY).is_file() and is_model(folder / MODEL)


def results(model: CoClustering, data: Data, path: Sequence[Step] | None = None) -> Results:
    """What a model says about its data."""
    from ..results import Results

    return Results.of(model, data, path=path, command=command())


def write(
    out: Path, force: bool, results: Results, model: CoClustering, data: Data,
    path: Sequence[Step] | None = None, texts: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write results, model and data, and further files with their texts."""
    from .. import plot
    from ..folders import whole_folder
    from ..storage import save_value

    with whole_folder(out, force, is_ours) as folder:
        results.write(folder)
        model.save(folder / MODEL)
        save_value(data, folder / DATA)
        if path is not None:
            save_value(list(path), folder / PATH)
            plot.save(plot.plot_path(results).figure, folder / "path.png", "png")
        for name, text in (texts or {}).items():
            (folder / name).write_text(text, encoding="utf-8", newline="")


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
    from ..results import Results
    from ..storage import load, load_value

    if not is_ours(out):
        raise FileNotFoundError(f"There are no results of comarkov fit or sweep in {out}.")
    path = load_value(out / PATH) if (out / PATH).exists() else None
    told = summary(out)
    return Results.of(
        load(out), load_value(out / DATA), path=path, command=str(told.get("command", ""))
    )


def command() -> str:
    """The command that is running, to be repeated."""
    return shlex.join(["comarkov", *sys.argv[1:]])


def summary(out: Path) -> dict[str, Any]:
    """What summary.json says, and where it is."""
    told: dict[str, Any] = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
    return {"out": str(out.absolute()), **told}
