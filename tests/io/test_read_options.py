"""What the command says of its input: options named as options, and none ignored."""

import gzip

import pytest
from commands import assert_refused, run
from helpers import refusal

from comarkov.cli.options import as_bytes


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "u.data").write_text("".join(f"{i}\t{i % 3}\t1\t88{i}\n" for i in range(9)))
    (tmp_path / "u.item").write_bytes(b"0|Zo\xeb\n1|Ann\n2|Bob\n")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(b"a,b,1\n" * 100_000))
    (tmp_path / "zeros.csv").write_text("user,item,n\nAnn,tea,0\nBob,rum,0\n")
    (tmp_path / "wide.csv").write_text("name,a,b,c\nx,0,0,0\ny,0,0,0\n")
    (tmp_path / "texts").mkdir()
    for name in "ab":
        (tmp_path / "texts" / name).write_text("sun and sea")
    return tmp_path


REFUSED = {
    "a data set is no file": (["southern-women", "--rows", "zzz"], "--rows does not apply"),
    "a folder has no columns": (["texts", "--rows", "x"], "--rows does not apply to a folder"),
    "languages": (["texts", "--stop-words", "german"], "--stop-words english or --stop-words none"),
    "four columns": (["u.data", "--column-names", "u.item"], "--rows 0 --columns 1 --weights 2"),
    "the file of names": (
        [*["u.data", "--rows", 0, "--columns", 1], "--column-names=u.item", "--encoding=utf-8"],
        "u.item, line 1",
    ),
    "what may be a trap": (["packed.csv.gz", "--max-bytes", "500kB"], "--max-bytes 5000000"),
    "nothing but zeros": (["zeros.csv"], "is empty"),
    "a wide table of zeros": (["wide.csv"], "is empty"),
    "no size": (["packed.csv.gz", "--max-bytes", "much"], "--max-bytes 2GB"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, folder):
    arguments, words = REFUSED[name]
    assert_refused(run("fit", *arguments, "-k", 2, "-l", 2, "-o", "out", cwd=folder), words)


def test_sizes():
    sizes = {"500000": 500_000, "300MB": 300_000_000, "2GB": 2 * 10**9, "1.5 kb": 1500, "7b": 7}
    assert {text: as_bytes(text, "--max-bytes") for text in sizes} == sizes
    for wrong in ("", "GB", "-1", "2XB", "1e9"):
        assert "--max-bytes 2GB" in refusal(as_bytes, wrong, "--max-bytes").advice
