"""Texts as counts of words: folders, JSON lines, columns."""

import io
import json

import numpy as np
import polars as pl
import pytest
from helpers import refusal
from numpy.testing import assert_array_equal
from refusals import noted

import comarkov
from comarkov import CoClustering
from comarkov.costs.objective import column_bits

TEXTS = ["The sun, the sea; sun!", "Snow and ice. Ice and SNOW", "sun on snow"]
COUNTS = [[0, 0, 2], [2, 2, 0], [0, 1, 1]]  # of ice, snow, sun


def check(data, names):
    assert data.column_names.tolist() == ["ice", "snow", "sun"]
    assert_array_equal(data.matrix.toarray(), COUNTS)
    assert data.row_names.tolist() == names
    assert (data.row_kind, data.column_kind, data.weighting) == ("document", "word", "bm25")


def write_folder(folder):
    (folder / "b").mkdir()
    for name, text in zip(("b/one.txt", "a", "b/two.txt", ".hidden"), [*TEXTS, "ice"], strict=True):
        (folder / name).write_text(text)


WORDS = {"stop_words": ["the", "and", "on", "sea"], "min_df": 1}


def test_a_folder(tmp_path):
    write_folder(tmp_path)
    data = comarkov.read(tmp_path, **WORDS)
    assert data.row_names.tolist() == ["a", "b/one.txt", "b/two.txt"]
    assert_array_equal(data.matrix.toarray(), [COUNTS[1], COUNTS[0], COUNTS[2]])
    assert data.texts.tolist() == [TEXTS[1], TEXTS[0], TEXTS[2]]
    assert data.row_classes == {}  # one subfolder is no classification


def test_a_column_of_texts_without_quotes(tmp_path):
    texts = [f"{text.replace(',', '')} https://a.b/c?d=e" for text in TEXTS]
    (tmp_path / "t.csv").write_text("\n".join(["tweet", *texts]) + "\n")
    with noted("recognised as texts", "read as the header"):
        data = comarkov.read(tmp_path / "t.csv", **WORDS)
    assert_array_equal(data.matrix.toarray(), COUNTS)  # no word of a link


def test_json_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    records = [{"id": i, "text": text, "other": [1]} for i, text in enumerate(TEXTS)]
    path.write_text("\n".join(map(json.dumps, records)) + "\n\n")
    check(comarkov.read(path, rows="id", **WORDS), ["0", "1", "2"])
    unnamed = comarkov.read(io.BytesIO(path.read_bytes()), **WORDS)
    check(unnamed, ["0", "1", "2"])  # the column id names them
    path.write_text("\n".join(json.dumps({"text": text}) for text in TEXTS))
    assert comarkov.read(path, **WORDS).named == (False, True)
    error = refusal(comarkov.read, path, text="body")
    assert (error.file, error.line) == (str(path), None)
    edges = '{"user": "Ann", "item": "tea", "n": 2}\n{"n": 1, "user": "Bob", "item": "tea"}\n'
    path.write_text(edges)
    assert_array_equal(comarkov.read(path, kind="edges").matrix.toarray(), [[2], [1]])


def test_a_column_of_a_table(tmp_path):
    table = pl.DataFrame({"key": ["x", "y", "z"], "body": TEXTS})
    table.write_csv(tmp_path / "t.csv")
    table.write_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet", table, table.to_pandas()):
        check(comarkov.read(source, text="body", rows="key", **WORDS), ["x", "y", "z"])
        check(comarkov.read(source, text=1, **WORDS), ["1", "2", "3"])
    check(comarkov.read(table.rename({"body": "text"}), kind="texts", **WORDS), ["1", "2", "3"])


def test_a_list_and_a_text_in_each_line(tmp_path):
    check(comarkov.read(TEXTS, **WORDS), ["1", "2", "3"])
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    check(comarkov.read(tmp_path / "t.txt", kind="texts", **WORDS), ["1", "2", "3"])


def test_stop_words_and_least_numbers(tmp_path):
    assert comarkov.read(TEXTS, min_df=1).column_names.tolist() == ["ice", "sea", "snow", "sun"]
    assert comarkov.read(TEXTS).column_names.tolist() == ["snow", "sun"]
    file = tmp_path / "words.txt"
    file.write_text("Snow\nSea's\n\ntHE on")
    model = CoClustering(1).fit(comarkov.read(TEXTS, stop_words=file, min_df=1))
    assert model.feature_names_in_.tolist() == ["and", "ice", "sun"]
    file.unlink()  # its words are remembered
    assert comarkov.read(TEXTS, like=model).column_names.tolist() == ["and", "ice", "sun"]
    every = comarkov.read(TEXTS, stop_words=None, min_df=1)
    assert every.column_names.tolist() == ["and", "ice", "on", "sea", "snow", "sun", "the"]


def test_a_line_separates_texts(tmp_path):
    (tmp_path / "t.txt").write_text(
        "%\nThe sun, the sea;\n\nsun!\n%\n% \nSnow and ice.\nIce\n%\nsun\n"
    )
    data = comarkov.read(tmp_path / "t.txt", text_separator="%", **WORDS)
    assert data.texts.tolist() == ["The sun, the sea;\n\nsun!", "Snow and ice.\nIce", "sun"]
    assert comarkov.read(tmp_path / "t.txt", like=data).texts.tolist() == data.texts.tolist()
    (tmp_path / "fortunes").write_text("sun\nsea\n\n\nice\n")
    by_blanks = comarkov.read(tmp_path / "fortunes", text_separator="", min_df=1)
    assert by_blanks.texts.tolist() == ["sun\nsea", "ice"]
    assert (
        "text_separator='%'"
        in refusal(comarkov.read, tmp_path / "t.txt", text_separator="-").advice
    )
    (tmp_path / "t.csv").write_text("id,text\n1,sun\n")
    assert "does not apply" in str(refusal(comarkov.read, tmp_path / "t.csv", text_separator="%"))


def test_contractions_are_no_words():
    texts = [
        "I don’t like ice, it WON'T do; we'll see, they`ve won",
        "Don Juan’s sun: you're L'Île",
    ]
    assert comarkov.read(texts, min_df=1).column_names.tolist() == [
        *("don", "ice", "juan", "like", "sun", "won", "île")
    ]
    every = comarkov.read(texts[:1], min_df=1, stop_words="none").column_names.tolist()
    assert every == ["do", "don't", "ice", "it", "like", "see", "they", "we", "won", "won't"]
    model = CoClustering(1).fit(comarkov.read(texts * 2, stop_words=None))
    assert model.predict(["don't"]).tolist() == [0]
    assert model.predict(["don"]).tolist() == [0]


def test_a_note_if_few_words_are_left():
    with noted("3 of 7 texts have fewer than two words left"):
        comarkov.read(["snow and ice"] * 4 + ["ice cream", "snow?", "of the"])


def test_the_words_kept_are_those_that_tell_most():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{i}" for i in rng.integers(0, 30, 40) ** 2 // 30) for _ in range(20)]
    every, part = (comarkov.read(texts, n_words=n) for n in (None, 7))
    p = every.matrix.toarray() / every.matrix.sum()
    outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    shares = np.where(p > 0, p * np.log2(np.where(p > 0, p, 1) / outer), 0).sum(axis=0)
    np.testing.assert_allclose(column_bits(every.matrix), shares, atol=1e-14)
    best = np.sort(np.argsort(-shares)[:7])
    assert part.column_names.tolist() == every.column_names[best].tolist()
    assert_array_equal(part.matrix.toarray(), every.matrix.toarray()[:, best])


def test_texts_are_fitted_with_their_weighting():
    texts = [f"sun sea sand {word}" for word in "abcdef"] + [f"snow ice cold {w}" for w in "abcd"]
    model = CoClustering(2, random_state=0).fit(comarkov.read(texts))
    assert model.weighting_.scheme == "bm25"
    labels = model.row_labels_
    assert labels.tolist() == [labels[0]] * 6 + [1 - labels[0]] * 4
    new = model.predict(comarkov.read(["sun sun", "ice"], min_df=1))
    assert new.tolist() == [labels[0], 1 - labels[0]]


@pytest.mark.parametrize(("line", "column"), [("{", 1), ("[1]", None)])
def test_json_that_is_wrong(line, column, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "sun"}\n' + line + "\n")
    error = refusal(comarkov.read, tmp_path / "t.jsonl")
    assert (error.file, error.line, error.column) == (str(tmp_path / "t.jsonl"), 2, column)
    assert '{"text": "..."}' in error.advice


def test_texts_that_are_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "1").write_bytes(b"one\ntwo\nt\xe9a")
    assert comarkov.read("mail", encoding="latin-1", min_df=1).column_names.tolist() == ["téa"]
    assert "stop_words='none', min_df=1" in refusal(comarkov.read, ["the", "and"]).advice
    assert refusal(comarkov.read, TEXTS, n_words=0).advice == "Use n_words=2000."
    (tmp_path / "t.csv").write_bytes(b"id,text\n1,sun\n2,t\xe9a\n")
    (tmp_path / "u.csv").write_text("id,text\n1,sun\n,sea\n")
    for source, keywords, place in (
        ("mail", {"encoding": "utf-8"}, ("mail/1", 3, None)),
        ("t.csv", {"text": "text", "encoding": "utf-8"}, ("t.csv", 3, None)),
        ("t.csv", {"text": "body", "encoding": "latin-1"}, ("t.csv", None, None)),
        ("u.csv", {"text": "text", "rows": "id"}, ("u.csv", 3, "id")),
    ):
        error = refusal(comarkov.read, source, **keywords)
        assert (error.file, error.line, error.column) == place


def test_prose_that_is_no_table_gets_advice(tmp_path):
    prose = "The fox, who likes hens, jumped.\nIt was a dark night in 1905.\n\nNobody saw it.\n"
    (tmp_path / "prose.txt").write_text(prose)
    assert "kind='texts'" in refusal(comarkov.read, tmp_path / "prose.txt").advice


REVIEWS = ["the food was very good here", "the service was slow and rude", "a nice place to sit"]
TOPICS = ["food", "service", "place"]


@pytest.mark.parametrize("more", [{}, {"stars": ["5", "1", "4"]}, {"who": ["Ann", "Bob", "Cid"]}])
def test_a_column_of_prose_is_read_as_texts(tmp_path, more):
    columns = {"id": ["1", "2", "3"], "review": REVIEWS, "topic": TOPICS, **more}
    lines = [",".join(line) for line in (columns, *zip(*columns.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with noted("'review'"):
        data = comarkov.read(tmp_path / "t.csv", min_df=1)
    assert (data.reading["text"], data.shape[0]) == ("review", 3)


def test_texts_in_a_file_of_any_name(here):
    (here / "notes.cor").write_text("the cat sat, here\nthe dog sat\na cat and a dog\n")
    data = comarkov.read("notes.cor", kind="texts", min_df=1)
    assert data.shape[0] == 3
