"""Data are read like those of a model: what is not set is as it was there."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import polars as pl
import pytest
from helpers import refusal
from refusals import noted

import comarkov
from comarkov import CoClustering

SEA = ["sun and sea and sand", "sea sand shell", "sun sea shell sand"]
ICE = ["snow and ice", "ice snow frost", "frost and ice and snow"]
EDGES = "who;ignored;what;n\nAnn;1;tea;1,5\nBob;2;rum;2\nAnn;3;rum;1\n"
CHOSEN = {"rows": "who", "columns": "what", "weights": "n", "separator": ";", "decimal": ","}


def texts_in(folder):
    for place, listed in (("sea", SEA), ("ice", ICE)):
        (folder / place).mkdir(parents=True)
        for i, text in enumerate(listed):
            (folder / place / f"{i}.txt").write_text(text)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = texts_in(tmp_path_factory.mktemp("texts") / "all")
    data = comarkov.read(folder, n_words=7, stop_words=["and"])
    fitted = CoClustering((2, 2), random_state=0).fit(data)
    fitted.save(folder.parent / "model")
    return comarkov.load(folder.parent / "model")


def test_a_model_knows_how_its_data_were_read(model):
    assert model.reading_ == {"kind": "document", "min_df": 1, "stop_words": ["and"]}
    assert json.loads(json.dumps(model.reading_)) == model.reading_
    assert CoClustering((1, 1)).fit(np.eye(2)).reading_ == {}


def test_one_text_a_folder_and_texts_elsewhere(model, tmp_path):
    """One file is one document for this model, whatever it is called."""
    sea = model.row_labels_[-1]
    for name in ("letter.txt", "letter", "letter.md"):
        (tmp_path / name).write_text("sand,\n\nand sea\n")
        data = comarkov.read(tmp_path / name, like=model)
        assert data.row_names.tolist() == [str(tmp_path / name)]
        assert data.column_names.tolist() == ["sand", "sea"]
        assert model.predict(data).tolist() == [sea]
    (tmp_path / "t.csv").write_text("id,text\n7,sea sand\n8,ice snow\n")
    (tmp_path / "t.jsonl").write_text('{"text": "sea sand"}\n{"text": "ice snow"}\n')
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("sea sand")
    (folder / "b").write_text("ice snow")
    for source in (tmp_path / "t.csv", tmp_path / "t.jsonl", folder, ["sea sand", "ice snow"]):
        assert model.predict(comarkov.read(source, like=model)).tolist() == [sea, 1 - sea]
    rows = comarkov.read(tmp_path / "t.csv", like=model, rows="id").row_names
    assert rows.tolist() == ["7", "8"]
    (tmp_path / "p.pdf").write_bytes(b"%PDF-1.4")
    assert refusal(comarkov.read, tmp_path / "p.pdf", like=model).file == str(tmp_path / "p.pdf")


def test_a_model_of_a_table_or_json_lines_takes_one_text(tmp_path):
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"body": text}) for text in SEA + ICE))
    (tmp_path / "t.csv").write_text("body,n\n" + "\n".join(f"{text},1" for text in SEA + ICE))
    (tmp_path / "t.txt").write_text("\n".join(SEA + ICE))
    (tmp_path / "letter.txt").write_text("sea\nsand\n")
    for name, size in (("t.jsonl", 1), ("t.csv", 1), ("t.txt", 2)):
        chosen = {"kind": "texts"} if name == "t.txt" else {"text": "body"}
        before = comarkov.read(tmp_path / name, **chosen)
        assert comarkov.read(tmp_path / "letter.txt", like=before).shape[0] == size
        assert comarkov.read(tmp_path / name, like=before).shape[0] == 6


def test_what_cannot_be_like(tmp_path):
    with pytest.raises(TypeError, match="load"):
        comarkov.read([["a"]], like="m")
    (tmp_path / "e.csv").write_text("user,item\nAnn,tea\n")
    before = comarkov.read(tmp_path / "e.csv", rows="user", columns="item")
    folder = texts_in(tmp_path / "all")
    assert comarkov.read(folder, like=before).shape[0] == 6
    (tmp_path / "w.csv").write_text("who,tea,rum,gin\nAnn,1,2,3\n")
    assert comarkov.read(tmp_path / "w.csv", like=before, names="who", kind="table").shape == (1, 3)


def test_explicit_keywords_win(model, tmp_path):
    (tmp_path / "lines.txt").write_text("sand and sea\nice\n")
    lines = comarkov.read(tmp_path / "lines.txt", like=model, kind="texts", stop_words="none")
    assert lines.shape == (2, 4)
    assert "and" in lines.column_names
    error = refusal(comarkov.read, tmp_path / "lines.txt", like=model, layer="counts")
    assert "layer= applies to h5ad" in str(error)


def test_edges_are_read_as_before(tmp_path):
    (tmp_path / "e.csv").write_text(EDGES)
    before = comarkov.read(tmp_path / "e.csv", **CHOSEN)
    assert before.reading == {"kind": "edges", "header": True, **CHOSEN}
    new = tmp_path / "new.csv"
    new.write_text("what;n;who;more;still\ntea;0,5;Cid;1;2\n")
    for like in (before, before.reading, CoClustering((1, 1)).fit(before)):
        data = comarkov.read(new, like=like)
        assert data.row_names.tolist() == ["Cid"]
        assert data.column_names.tolist() == ["tea"]
        assert data.matrix.toarray().tolist() == [[0.5]]
    frame = pl.DataFrame({"n": [0.5], "what": ["tea"], "who": ["Cid"], "z": [1]})
    frame.write_parquet(tmp_path / "new.parquet")  # which has no header and no separator
    with closing(sqlite3.connect(tmp_path / "new.db")) as shop, shop:
        shop.execute("create table sales (what, who, n)")
        shop.execute("insert into sales values ('tea', 'Cid', 0.5)")
    shop.close()
    for source in (tmp_path / "new.parquet", frame, tmp_path / "new.db"):
        assert comarkov.read(source, like=before).matrix.toarray().tolist() == [[0.5]]
    np.savez(tmp_path / "m.npz", X=np.eye(2))
    assert comarkov.read(tmp_path / "m.npz", like=before).shape == (2, 2)
    assert comarkov.read(np.eye(2), like=before).shape == (2, 2)


def test_a_header_that_was_detected_is_remembered(tmp_path):
    (tmp_path / "e.csv").write_text("a,x,1\nb,y,2\n")
    before = comarkov.read(tmp_path / "e.csv")
    assert before.reading == {"kind": "edges", "header": False}
    (tmp_path / "new.csv").write_text("user,item\nc,x\n")  # which would be a header
    assert comarkov.read(tmp_path / "new.csv", like=before).shape == (2, 2)
    assert comarkov.read(tmp_path / "new.csv", like=before, header=True).shape == (1, 1)
    before = comarkov.read(tmp_path / "new.csv")
    assert before.reading == {"kind": "edges", "header": True}
    (tmp_path / "new.csv").write_text("d,x\ne,y\n")  # no evidence against a header
    assert comarkov.read(tmp_path / "new.csv", like=before).row_names.tolist() == ["e"]
    (tmp_path / "new.csv").write_text("d,x\nd,y\n")
    with noted("header=True"):
        assert comarkov.read(tmp_path / "new.csv", like=before).shape == (1, 2)


def test_files_of_names_are_read_again(tmp_path):
    (tmp_path / "e.csv").write_text("user,item\n1,7\n2,8\n")
    (tmp_path / "items.csv").write_text("id,title\n7,Tea\n8,Rum\n")
    (tmp_path / "users.csv").write_text("1,Ann\n2,Bob\n")
    names = {"row_names": tmp_path / "users.csv", "column_names": (tmp_path / "items.csv", 0, 1)}
    before = comarkov.read(tmp_path / "e.csv", **names)
    (tmp_path / "new.csv").write_text("user,item\n3,8\n")
    new = comarkov.read(tmp_path / "new.csv", like=before)
    assert new.column_names.tolist() == ["Rum"]
    assert new.row_names.tolist() == ["3"]  # which the file does not name
    (tmp_path / "items.csv").unlink()
    with noted("items.csv", "column_names="):
        assert comarkov.read(tmp_path / "new.csv", like=before).column_names.tolist() == ["8"]


def test_saved_data_keep_how_they_were_read(tmp_path):
    before = comarkov.read(texts_in(tmp_path / "all"), stop_words="none", encoding="utf-8")
    before.save(tmp_path / "data.npz")
    again = comarkov.read(tmp_path / "data.npz")
    expected = {"kind": "document", "min_df": 1, "stop_words": "none", "encoding": "utf-8"}
    assert again.reading == before.reading == expected
    assert comarkov.read(again, like=again).reading == expected
