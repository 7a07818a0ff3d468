"""Folders of texts: encodings, files that are not text, and subfolders as known classes."""

import os
import zlib

import numpy as np
from helpers import refusal
from hypothesis import given
from hypothesis import strategies as st
from refusals import noted, refused

import comarkov
from comarkov.io.read.opened import detect

FILES = {
    "utf8.txt": "sun & café".encode(),
    "marked.txt": "sun & café".encode("utf-8-sig"),
    "utf16.txt": "sun & café".encode("utf-16"),
    "utf32.txt": "sun & café".encode("utf-32"),
    "windows.txt": "“sun” & café\r\nsun".encode("cp1252"),
    "latin.txt": b"sun & caf\xe9 \x81",  # 0x81 is no character of Windows-1252
    "empty.txt": b"",
}
BINARY = {
    "a.pdf": b"%PDF-1.4\n%text only\n",
    "b.png": b"\x89PNG\r\n\x1a\n" + zlib.compress(b"x" * 99),
    "c.zip": b"PK\x03\x04" + b"sun",
    "d.bin": b"sun\0sun",
    "e.bin": bytes(range(1, 32)) * 3,
}


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_each_file_has_its_own_encoding(tmp_path):
    write(tmp_path, FILES)
    with noted("2 of 7 files"):
        data = comarkov.read(tmp_path, min_df=1)
    counts = dict(zip(data.row_names, data.matrix.toarray().tolist(), strict=True))
    assert data.column_names.tolist() == ["café", "sun"]
    assert counts.pop("empty.txt") == [0, 0]
    assert counts.pop("windows.txt") == [1, 2]
    assert list(counts.values()) == [[1, 1]] * 5
    texts = dict(zip(data.row_names, data.texts, strict=True))
    assert texts["windows.txt"] == "“sun” & café\nsun"


def test_a_given_encoding_is_taken_for_all(tmp_path):
    write(tmp_path, {"a": "sun café".encode(), "b": b"sun caf\xe9", "p": BINARY["a.pdf"]})
    with noted("1 of 3 files"):
        data = comarkov.read(tmp_path, encoding="latin-1", min_df=1)
    assert data.texts.tolist() == ["sun cafÃ©", "sun café"]
    wide = {"a": "sun sea".encode("utf-16-le"), "b": "sun".encode("utf-16-le")}
    write(tmp_path / "wide", wide)
    assert comarkov.read(tmp_path / "wide", encoding="utf-16-le").texts.tolist() == [
        "sun sea",
        "sun",
    ]


def test_what_is_not_text_is_skipped_and_counted(tmp_path):
    write(tmp_path, BINARY | {"x/1": b"sun sea", "y/2": b"sun sea"})
    with noted("5 of 7", "a.pdf, b.png"):
        data = comarkov.read(tmp_path)
    assert data.row_names.tolist() == ["x/1", "y/2"]
    assert data.row_classes["folder"].tolist() == ["x", "y"]
    write(tmp_path / "pdfs", {"a.pdf": BINARY["a.pdf"]})
    (tmp_path / "none").mkdir()
    for name in ("pdfs", "none"):
        assert refusal(comarkov.read, tmp_path / name).file == tmp_path / name


def test_broken_links_and_pipes_are_skipped(tmp_path):
    write(tmp_path, {"a.csv": b"user,item\nann,tea\n", "b.csv": b"user,item\nann,rum\n"})
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("nowhere")
    for kind in ("edges", "texts"):
        with noted("link.csv", "pipe.csv"):
            assert comarkov.read(tmp_path, kind=kind).shape[0]
    assert refusal(comarkov.read, "").advice


def test_links_add_no_documents(tmp_path):
    write(tmp_path / "texts", {"b.txt": b"sun sea", "x/c.txt": b"sun"})
    (tmp_path / "texts/a.txt").symlink_to("b.txt")
    (tmp_path / "texts/x/up").symlink_to(tmp_path / "texts")
    write(tmp_path, {"elsewhere.txt": b"sea"})
    for name in ("d.txt", "e.txt"):
        (tmp_path / "texts" / name).symlink_to(tmp_path / "elsewhere.txt")
    with noted("x/up", "read already: ", "a.txt", "e.txt"):
        data = comarkov.read(tmp_path / "texts", min_df=1)
    assert data.row_names.tolist() == ["b.txt", "d.txt", "x/c.txt"]


def test_names_of_files_that_are_no_text(tmp_path):
    for name in (b"\xff.txt", b"\xfe.txt"):
        (tmp_path / os.fsdecode(name)).write_text("sun sea")
    assert comarkov.read(tmp_path).row_names.tolist() == [r"\xfe.txt", r"\xff.txt"]


def test_a_folder_of_results_is_read_as_its_data(tmp_path):
    data = comarkov.Data([[4, 0, 1], [3, 1, 0], [0, 5, 2]], ["a", "b", "c"], ["x", "y", "z"])
    model = comarkov.CoClustering((2, 2), random_state=0).fit(data)
    comarkov.Results.of(model, data).write(tmp_path / "out")
    for folder in ("out", "out/model"):
        again = comarkov.read(tmp_path / folder)
        assert again.row_names.tolist() == ["a", "b", "c"]
        assert (again.matrix != data.matrix).nnz == 0
    assert "kind='texts'" in refusal(comarkov.read, tmp_path / "out", kind="texts").advice
    model.save(tmp_path / "model")
    refused(tmp_path / "model")


def test_folders_are_known_classes(tmp_path):
    names = ["all/x/sun/1", "all/x/ice/2", "all/y/3", "all/y/sun/deep/4", "all/5"]
    write(tmp_path, dict.fromkeys(names, b"sun and ice"))
    ours = ("summary.json", "model/model.json", "model/arrays.npz")  # results are no texts
    write(tmp_path, {f"all/clusters/{name}": b"sun" for name in ours} | {"all/.hidden": b"sun"})
    data = comarkov.read(tmp_path)
    assert data.row_names.tolist() == sorted(names)
    classes = {title: listed.tolist() for title, listed in data.row_classes.items()}
    assert classes == {
        "folder": ["", "x", "x", "y", "y"],
        "subfolder": ["", "ice", "sun", "", "sun"],
    }


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_unicode_is_detected_whatever_the_text(text, encoding):
    content = text.encode(encoding, "ignore")
    assert content.decode(detect(content)).removeprefix("\ufeff") == text.removeprefix("\ufeff")


def test_tables_in_other_encodings(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("user,item\nRené,thé\n", encoding="cp1252")
    with noted("t.csv", "Windows-1252"):
        assert comarkov.read(path).row_names.tolist() == ["René"]
    path.write_text("user,item\nRené,thé\n", encoding="utf-16")
    assert comarkov.read(path).row_names.tolist() == ["René"]
    assert np.array_equal(comarkov.read(path).matrix.toarray(), [[1]])
