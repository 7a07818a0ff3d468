"""Small sound files of every format, the commands that read them, and ways to damage them."""

import gzip
import io
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
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
from comarkov.io.store import layout
from comarkov.model import storage

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
    for codec in ("uncompressed", "zstd", "snappy"):
        pl.DataFrame(edges.to_dict("list")).write_parquet(
            folder / f"{codec}.parquet", compression=codec, use_pyarrow=False
        )
    rows = [[name, *line] for name, line in zip(users, counts.tolist(), strict=True)]
    write_xlsx(folder / "wide.xlsx", {"counts": [["user", *items], *rows]})
    with closing(sqlite3.connect(folder / "edges.sqlite")) as database:
        edges.to_sql("edges", database, index=False)


def _matrices(folder: Path, counts: np.ndarray) -> None:
    users, items = _names()
    np.save(folder / "matrix.npy", counts)
    sp.save_npz(folder / "matrix.npz", sp.csr_array(counts))
    comarkov.Data(counts, users, items).save(folder / "named.npz")
    for name, matrix in (("dense", counts), ("sparse", sp.csr_array(counts))):
        cells = anndata.AnnData(matrix, pd.DataFrame(index=users), pd.DataFrame(index=items))
        cells.obs["batch"] = pd.Categorical(["a", "b"] * (ROWS // 2))
        cells.write_h5ad(folder / f"{name}.h5ad")
    scipy.io.mmwrite(folder / "matrix.mtx", sp.coo_array(counts))
    scipy.io.mmwrite(folder / "dense.mtx", counts)


def _texts(folder: Path) -> None:
    words = ["sun", "sea", "sand", "wind", "rain", "snow", "ice", "fog", "dew", "hail"]
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(words, 12)) for _ in range(ROWS)]
    lines = [json.dumps({"text": text, "id": i}) for i, text in enumerate(texts)]
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "documents").mkdir()
    for i, text in enumerate(texts):
        (folder / "documents" / f"{i}.txt").write_text(text)


def _packed(folder: Path) -> None:
    for name in ("edges.csv", "matrix.mtx", "texts.jsonl"):
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
    counts = comarkov.read(edges)
    with warnings.catch_warnings(action="ignore"):  # the fit is stopped
        comarkov.CoClustering(
            (2, 2), random_state=0, checkpoint=folder / "fit.npz", callback=lambda _: True
        ).fit(counts)
    resume = ("fit", "EDGES", *FIT[2:], "--checkpoint", "{}")
    return [
        Sample(folder / "fit.npz", (resume,)),
        Sample(folder / "store", (FIT,)),
        Sample(results, commands),
        Sample(folder / "model", (("info", "{}"), ("predict", "{}", "EDGES"))),
    ]


# --- damage: of bytes, of words and lines, of the members of a zip file -----------------------

Change = Callable[[random.Random, bytearray], bytearray]
NUMBERS = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1]
WORDS = [
    *(b"", b"NaN", b"inf", b"-1", b"0", b"1e999", b"1e-320", b"99999999999999999999", b"null"),
    *(b"\0", b'"', b"'", b",", b"\t", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x80\xae"),
    *(b"\x1b[31m", b"\x07", b"{", b"[" * 5000, b"x" * 5000, b"=1+1", b"%", b"../../etc/passwd"),
]


VALUES: list[object] = [
    *(None, True, False, 0, -1, 1e308, "", "x", "\ud800", "x" * 5000, "../../etc/passwd", "NaN"),
    *([], {}, [[]], [None] * 3, {"": {}}, [1, 2], json.loads("[" * 500 + "]" * 500)),
]


def mutate(chance: random.Random, content: bytes) -> bytes:
    """The content with one to four changes: of JSON often of its values, of zip files inside."""
    if content[:1] == b"{" and chance.random() < 0.6:
        try:
            return json.dumps(_change_value(chance, json.loads(content))).encode()
        except ValueError:
            pass
    if content[:4] == b"PK\3\4" and chance.random() < 0.5:
        inside = _member(chance, content)
        if inside is not None:
            return inside
    changed = bytearray(content)
    changes = TEXT if b"\0" not in content and chance.random() < 0.7 else BYTES
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        changed = chance.choice(changes)(chance, changed)
    return bytes(changed)


def _change_value(chance: random.Random, value: object) -> object:
    """JSON in which a value has another type or size, is missing, or is in another place."""
    if isinstance(value, dict | list) and value and chance.random() < 0.85:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        one, other = chance.choice(keys), chance.choice(keys)
        match chance.choice(["inside"] * 6 + ["delete", "exchange", "rename"]):
            case "delete":
                del value[one]
            case "exchange":
                value[one], value[other] = value[other], value[one]
            case "rename" if isinstance(value, dict):
                value[f"{one}x"] = value.pop(one)
            case _:
                value[one] = _change_value(chance, value[one])
        return value
    if isinstance(value, int | float) and chance.random() < 0.5:
        return chance.choice([-value, value + 1, value * 1e300, 10**30, float("nan"), float("inf")])
    return chance.choice(VALUES)


def correct_digest(path: Path) -> None:
    """Make the digest of a model, a checkpoint or a store match what was changed in it."""
    try:
        if path.name == "store.json":
            about = json.loads(path.read_text())
            rest = {key: about[key] for key in about if key not in ("format", "digest")}
            path.write_text(json.dumps(about | {"digest": layout._digest(rest)}))
        elif path.name == "model.json":
            with (path.parent / "arrays.npz").open("rb") as file:
                path.write_text(_corrected(path.read_text(), storage._read_arrays(file)))
        elif path.name == "fit.npz":
            with path.open("rb") as file:
                arrays = storage._read_arrays(file)
            tree = _corrected(arrays.pop("tree").tobytes().decode(), arrays)
            storage._write_arrays(path, {"tree": np.frombuffer(tree.encode(), np.uint8), **arrays})
    except (*storage.DAMAGE, OSError):  # it cannot be read at all
        return


def _corrected(text: str, arrays: dict[str, np.ndarray]) -> str:
    document = json.loads(text)
    document["digest"] = storage._digest(document["value"], arrays)
    return json.dumps(document)


def _member(chance: random.Random, content: bytes) -> bytes | None:
    """A zip file with sound checksums, one of whose members is damaged."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w") as copy:
        if not source.infolist():
            return None
        chosen = chance.choice(source.infolist())
        for info in source.infolist():
            inner = source.read(info)
            copy.writestr(info, mutate(chance, inner) if info is chosen else inner)
    return target.getvalue()


def _span(chance: random.Random, content: bytearray) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + int(2 ** chance.uniform(0, 10)))


def _set_byte(chance: random.Random, content: bytearray) -> bytearray:
    if content:
        content[chance.randrange(len(content))] = chance.randrange(256)
    return content


def _flip(chance: random.Random, content: bytearray) -> bytearray:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content


def _set_number(chance: random.Random, content: bytearray) -> bytearray:
    size = chance.choice([1, 2, 4, 8])
    start = chance.randrange(max(1, len(content) - size))
    number = chance.choice(NUMBERS) % 256**size
    content[start : start + size] = number.to_bytes(size, chance.choice(["little", "big"]))
    return content


def _delete(chance: random.Random, content: bytearray) -> bytearray:
    start, end = _span(chance, content)
    del content[start:end]
    return content


def _repeat(chance: random.Random, content: bytearray) -> bytearray:
    start, end = _span(chance, content)
    content[start:start] = content[start:end] * chance.choice([1, 2, 50])
    return content


def _noise(chance: random.Random, content: bytearray) -> bytearray:
    start, end = _span(chance, content)
    content[start:end] = chance.randbytes(end - start)
    return content


def _truncate(chance: random.Random, content: bytearray) -> bytearray:
    return content[: chance.randrange(len(content) + 1)]


def _set_word(chance: random.Random, content: bytearray) -> bytearray:
    """Replace what is between two separators."""
    start = chance.randrange(len(content) + 1)
    ends = [place for mark in b",\t\n :" if (place := content.find(mark, start)) >= 0]
    content[start : min(ends, default=len(content))] = chance.choice(WORDS)
    return content


def _shuffle_lines(chance: random.Random, content: bytearray) -> bytearray:
    """Delete, repeat, move or join a line."""
    lines = bytes(content).split(b"\n")
    place = chance.randrange(len(lines))
    line = lines.pop(place)
    copies = chance.choice([0, 1, 2])
    other = chance.randrange(len(lines) + 1)
    lines[other:other] = [line] * copies
    return bytearray(chance.choice([b"\n", b"\n", b"\n", b"\r", b"\r\n"]).join(lines))


BYTES: list[Change] = [_set_byte, _flip, _set_number, _delete, _repeat, _noise, _truncate]
TEXT: list[Change] = [_set_word, _set_word, _shuffle_lines, *BYTES]
