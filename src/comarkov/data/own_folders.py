"""Folders that comarkov writes: models, results and stores, recognised by their files."""

from __future__ import annotations

from pathlib import Path

TREE, ARRAYS = "model.json", "arrays.npz"  # in the folder of a model
MODEL, SUMMARY = "model", "summary.json"  # in a folder of results
DATA = "data.npz"  # in a folder of results, too, unless it is one of several types
REFERENCE = "data.json"  # instead of it, the place of a large store
STORE = "store.json"  # in a store of data


def is_model(folder: Path) -> bool:
    """Is there a model in a folder?"""
    return (folder / TREE).is_file() and (folder / ARRAYS).is_file()


def is_results(folder: Path) -> bool:
    """Are there results in a folder, with their model?"""
    return (folder / SUMMARY).is_file() and is_model(folder / MODEL)


def is_store(folder: Path) -> bool:
    """Is the folder a store of data?"""
    return (folder / STORE).is_file()


def is_own(folder: Path) -> bool:
    """Did comarkov write the folder?"""
    return is_model(folder) or is_results(folder) or is_store(folder)


def data_in(folder: Path) -> Path:
    """The file with the data of a folder that comarkov wrote; an error if there is none."""
    path = (folder.parent if is_results(folder.parent) else folder) / DATA
    if not path.is_file():
        raise ValueError(
            f"{folder} was written by comarkov, but without the data that were clustered. Give the "
            "file or folder that they were read from."
        )
    return path
