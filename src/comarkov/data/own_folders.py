"""Folders that comarkov writes: models and results, recognised by their files."""

from __future__ import annotations

from pathlib import Path

TREE, ARRAYS = "model.json", "arrays.npz"  # in the folder of a model
MODEL, SUMMARY = "model", "summary.json"  # in a folder of results


def is_model(folder: Path) -> bool:
    """Is there a model in a folder?"""
    return (folder / TREE).is_file() and (folder / ARRAYS).is_file()


def is_results(folder: Path) -> bool:
    """Are there results in a folder, with their model?"""
    return (folder / SUMMARY).is_file() and is_model(folder / MODEL)


def is_own(folder: Path) -> bool:
    """Did comarkov write the folder?"""
    return is_model(folder) or is_results(folder)
