"""Small sound files of every format, and the commands that read them."""

import gzip
import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import anndata
import numpy as np
import pandas as pd
import polars as pl
import scipy.io
import scipy.sparse as sp
import zstandard
from spreadsheets import write_xlsx

import comarkov

ROWS, COLUMNS = 24, 16
FIT = ("fit", "{}", "-k", "2", "-l", "2", "--seed", "0", "--force", "-o", "out")
PACK = ("pack", "{}", "--force", "-o", "out")


class Sample(NamedTuple):
    """A file or folder, and the commands that read it; {} is its path, RESULTS a sound fit."""

    path: Path
    commands: tuple[tuple[str, ...], ...] = (PACK, PACK, PACK, FIT)


def write_all(folder: Path) -> list[Sample]:
    """Write every sample into a folder."""
    counts = np.random.default_rng(0).poisson(1.5, (ROWS, COLUMNS)).astype(float)
    _tables(folder, counts)
    _matrices(folder, counts)
    _texts(folder)
    _packed(folder)
    samples = [Sample(path) for path in sorted(folder.iterdir())]
    return [*samples, *_label_files(folder), *_own(folder)]


def _names() -> tuple[list[str], list[str]]:
    return [f"user {i}" for i in range(ROWS)], [f"item-{i}" for i in range(COLUMNS)]


def _tables(folder: Path, counts: np.ndarray) -> None:
    users, items = _names()
    table = pd.DataFrame(counts, users, items)
    edges = table.rename_axis("user").reset_index().melt("user", var_name="item", value_name="n")
    edges = edges[edges.n > 0]
    table.to_csv(folder / "wide.csv")
    edges.to_csv(folder / "edges.csv", index=False)
    edges.to_csv(folder / "edges.tsv", index=False, sep="\t")
    frame = pl.DataFrame({name: edges[name].to_list() for name in edges})
    frame.write_parquet(folder / "edges.parquet")
    frame.write_parquet(folder / "plain.parquet", compression="uncompressed")
    rows = [[name, *line] for name, line in zip(users, counts.tolist(), strict=True)]
    write_xlsx(folder / "wide.xlsx", {"counts": [["user", *items], *rows]})
    with closing(sqlite3.connect(folder / "edges.sqlite")) as database:
        edges.to_sql("edges", database, index=False)


def _matrices(folder: Path, counts: np.ndarray) -> None:
    users, items = _names()
    np.save(folder / "matrix.npy", counts)
    sp.save_npz(folder / "matrix.npz", sp.csr_array(counts))
    comarkov.Data(counts, users, items).save(folder / "named.npz")
    scipy.io.mmwrite(folder / "matrix.mtx", sp.coo_array(counts))
    scipy.io.mmwrite(folder / "dense.mtx", counts)
    sides = pd.DataFrame({"type": pd.Categorical(["a", "b"] * (ROWS // 2))}, users)
    cells = anndata.AnnData(sp.csr_matrix(counts), sides, pd.DataFrame(index=items))
    cells.write_h5ad(folder / "sparse.h5ad")
    anndata.AnnData(counts, sides, cells.var).write_h5ad(folder / "dense.h5ad", compression="gzip")


def _texts(folder: Path) -> None:
    words = ["sun", "sea", "sand", "wind", "rain", "snow", "ice", "fog", "dew", "hail"]
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(words, 12)) for _ in range(ROWS)]
    lines = [json.dumps({"text": text, "id": i}) for i, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "documents").mkdir()
    for i, text in enumerate(texts):
        (folder / "documents" / f"{i}.txt").write_text(text)


def _packed(folder: Path) -> None:
    for name in ("edges.csv", "matrix.mtx", "edges.parquet", "texts.jsonl"):
        content = (folder / name).read_bytes()
        with gzip.open(folder / f"{name}.gz", "wb") as file:
            file.write(content)
        (folder / f"{name}.zst").write_bytes(zstandard.compress(content))
        with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)


def _label_files(folder: Path) -> list[Sample]:
    path = folder / "labels.csv"
    lines = [f"{name},{'ab'[i % 2]}\n" for i, name in enumerate(_names()[0])]
    path.write_text("name,class\n" + "".join(lines))
    named = (*FIT, "--row-classes", "{}")
    return [Sample(path, (("evaluate", "RESULTS", "{}"), ("fit", "EDGES", *named[2:])))]


def _own(folder: Path) -> list[Sample]:
    """A store, and results with a model, whose commands need no other file."""
    edges, results = str(folder / "edges.csv"), folder / "results"
    comarkov.pack(edges, folder / "store")
    command = [word.replace("{}", edges).replace("out", str(results)) for word in FIT]
    subprocess.run([sys.executable, "-m", "comarkov", *command], check=True, capture_output=True)
    commands = (
        ("info", "{}"),
        ("predict", "{}", "EDGES"),
        ("cut", "{}", "-k", "2", "-l", "1", "--force", "-o", "out"),
        ("report", "{}"),
        ("evaluate", "{}"),
    )
    shutil.copytree(results / "model", folder / "model")
    return [
        Sample(folder / "store", (FIT,)),
        Sample(results, commands),
        Sample(folder / "model", (("info", "{}"), ("predict", "{}", "EDGES"))),
    ]
