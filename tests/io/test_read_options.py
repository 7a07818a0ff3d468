"""What the command says of its input: options named as options, and none ignored."""

import gzip

import pytest
from commands import assert_refused, run


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
    "a data set is no file": (
        ["southern-women", "--rows", "zzz", "--header"],
        "--rows does not apply to the data set southern-women: leave it out.",
    ),
    "a folder has no columns": (
        ["texts", "--rows", "x"],
        "--rows does not apply to a folder: leave it out.",
    ),
    "languages": (
        ["texts", "--stop-words", "german"],
        "no list of stop words 'german'. Choose --stop-words english or --stop-words none.",
    ),
    "four columns": (
        ["u.data", "--column-names", "u.item"],
        "for example --rows 0 --columns 1 --weights 2; for a matrix use --kind table.",
    ),
    "the file of names": (
        [*["u.data", "--rows", 0, "--columns", 1], "--column-names=u.item", "--encoding=utf-8"],
        "Error: u.item, line 1: the byte 0xeb is not utf-8. Set another encoding, for example "
        "--encoding latin-1.",
    ),
    "what may be a trap": (
        ["packed.csv.gz", "--max-bytes", "500kB"],
        "unpacks to more than 500,000 bytes, which may be a trap. If",
    ),
    "nothing but zeros": (
        ["zeros.csv"],
        "Error: zeros.csv has no weight above 0. Choose the column with the weights",
    ),
    "a wide table of zeros": (
        ["wide.csv"],
        "Error: wide.csv has no weight above 0. There is nothing to cluster: give data with at",
    ),
    "no size": (
        ["packed.csv.gz", "--max-bytes", "much"],
        "--max-bytes much is not a size: use, for example, --max-bytes 2GB.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, folder):
    arguments, message = REFUSED[name]
    assert_refused(run("fit", *arguments, "-k", 2, "-l", 2, "-o", "out", cwd=folder), message)


def test_sizes():
    from comarkov.cli.input_options import as_bytes

    sizes = {"500000": 500_000, "300MB": 300_000_000, "2GB": 2 * 10**9, "1.5 kb": 1500, "7b": 7}
    assert {text: as_bytes(text, "--max-bytes") for text in sizes} == sizes
    for wrong in ("", "GB", "-1", "2XB", "1e9"):
        with pytest.raises(ValueError, match="is not a size"):
            as_bytes(wrong, "--max-bytes")


def test_the_help_has_no_emoji():
    shown = run("fit", "--help").stdout
    assert "FILE:IDS:NAMES" in " ".join(shown.replace("│", " ").split())
    assert "--max-bytes" in shown
    assert all(ord(letter) < 0x1F000 for letter in shown)
