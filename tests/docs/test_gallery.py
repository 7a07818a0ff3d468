"""The gallery and the figures: programs that readers see do what their pages state."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def gallery(monkeypatch):
    """The program that makes the gallery, with folders of its own."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    import gallery_pages

    return gallery_pages


def test_every_example_has_a_title_a_sentence_and_few_lines(gallery):
    programs = gallery.examples()
    assert len(programs) >= 12
    assert {program.name for program in programs} == set(gallery.ORDER)
    for program in programs:
        title, sentence, code = program.parts
        assert title
        assert not title.endswith(".")
        assert sentence.endswith((".", "?"))
        assert len(code.splitlines()) <= 22
        compile(code, program.name, "exec")


def test_an_example_becomes_a_page_and_is_not_run_again(gallery, tmp_path, monkeypatch):
    example = tmp_path / "examples" / "report_tiny.py"
    example.parent.mkdir()
    code = (gallery.EXAMPLES / "report_women.py").read_text(encoding="utf-8")
    example.write_text(code, encoding="utf-8")
    monkeypatch.setattr(gallery, "EXAMPLES", example.parent)
    monkeypatch.setattr(gallery, "REPORTS", tmp_path / "reports")
    out = tmp_path / "out"
    gallery.build_gallery(out)

    report = tmp_path / "reports" / "report_tiny.html"
    assert "Evelyn Jefferson" in report.read_text(encoding="utf-8")
    assert 'src="../../gallery/report_tiny.html"' in (out / "report_tiny.md").read_text()
    assert "/_generated/gallery/report_tiny\n" in (out / "cards.txt").read_text(encoding="utf-8")
    with Image.open(out / "report_tiny_small.png") as picture:
        assert picture.size == (640, 480)
        assert len(set(picture.convert("L").tobytes())) > 10  # not blank

    ran = []
    monkeypatch.setattr(gallery, "_run", lambda program, *rest: ran.append(program.name))
    gallery.build_gallery(out)
    assert ran == []
    example.write_text(code + "\n", encoding="utf-8")
    gallery.build_gallery(out)
    assert ran == ["report_tiny"]
    assert list(json.loads((out / "digests.json").read_text())) == ["report_tiny"]


@pytest.mark.site  # whose environment has the data
@pytest.mark.parametrize("name", ["report_women", "report_chain", "report_multiway"])
def test_cards_have_pictures_without_a_browser(gallery, name, tmp_path, monkeypatch):
    monkeypatch.setattr("thumbnails.BROWSERS", ())
    monkeypatch.setattr(gallery, "REPORTS", tmp_path)
    program = gallery.Example(gallery.EXAMPLES / f"{name}.py")
    with gallery.Camera() as camera:
        gallery._run(program, tmp_path, camera)
    with Image.open(tmp_path / f"{name}_small.png") as picture:
        assert picture.size == (640, 480)
        assert len(set(picture.convert("L").tobytes())) > 5


def test_the_four_betas_have_the_clusters_that_the_page_describes():
    figure = runpy.run_path(str(DOCS / "figures" / "beta.py"))
    clusters = {
        beta: _groups(figure["ROWS"], model.row_labels_) for beta, model in figure["fits"]().items()
    }
    assert clusters == {
        1.0: ["ae", "bd", "c"],
        0.75: ["abe", "c", "d"],
        0.5: ["ab", "ce", "d"],
        0.0: ["ae", "b", "cd"],
    }


def _groups(names, labels):
    return sorted("".join(sorted(set(names[labels == label]))) for label in np.unique(labels))
