"""Results of chains and of several types, read from the folder they were written to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ...data.own_folders import DATA
from ...data.reading import read
from .base import NetworkResults
from .chain import ChainResults
from .multiway import MultiwayResults


def network_results(folder: Path, model: Any, about: dict[str, Any]) -> NetworkResults | None:
    """The results of a model in a folder, given its summary; None for co-clusterings."""
    command = str(about.get("command", ""))
    match type(model).__name__:
        case "MarkovAggregation":
            data = replace(read(folder / DATA), source=str(about["data"]["source"]))
            return ChainResults(model, data, command)
        case "MultiwayClustering":
            tables = {
                tuple(each["types"]): replace(read(folder / each["file"]), source=each["source"])
                for each in about["relations"]
            }
            return MultiwayResults(model, tables, command)
    return None
