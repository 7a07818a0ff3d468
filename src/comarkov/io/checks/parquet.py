"""Decode every page of a Parquet file, keeping nothing."""

from __future__ import annotations

import os
import threading

from .limits import end, run

PANIC = b"panicked at"  # in what Rust prints before its threads end, or wait for each other


def check(path: str, limit: int) -> None:
    """Raise what polars raises, and end when it panics."""
    reading, writing = os.pipe()
    os.dup2(writing, 2)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    import polars as pl

    pl.scan_parquet(path, low_memory=True, glob=False).sink_ipc(os.devnull)


def _watch(stream: int) -> None:
    text = b""
    while part := os.read(stream, 1 << 16):
        text = text[-len(PANIC) :] + part
        if PANIC in text:
            end("its pages do not match its index")


if __name__ == "__main__":
    run(check)
