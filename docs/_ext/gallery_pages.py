"""The gallery: runs every program in docs/gallery/examples, and makes a card and a page of each.

A program is a few lines with a docstring (a title, and a sentence). It ends with ``results``, whose
report is shown, or with ``fig``, a picture. It runs again only if it or the package has changed.
"""

import json
import re
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from generated import GENERATED, digest, package_digest
from thumbnails import Camera, fallback, shrunk

import comarkov

EXAMPLES = Path(__file__).parent.parent / "gallery" / "examples"
OUT = GENERATED / "gallery"
REPORTS = GENERATED / "extra" / "gallery"
ORDER = (  # reports first, then pictures
    *("report_flights", "report_texts", "report_cells", "report_chain", "report_multiway"),
    *("report_women", "plot_heatmap", "plot_blocks", "plot_features", "plot_map"),
    *("plot_hierarchy", "plot_information", "plot_numbers", "plot_confidence", "plot_metastable"),
    *("plot_network", "plot_compare"),
)
PAGE = """# {title}

{sentence}

{view}

```python
{code}
```

Reference: {links}
"""
REPORT = """<iframe class="report" src="../../gallery/{name}.html" title="{title}"
  style="width: 100%; height: 80vh; border: 1px solid #8884"></iframe>

<a href="../../gallery/{name}.html">Open the report in a page of its own.</a>
Write it with `results.write("folder")`."""
PICTURE = """```{{image}} {name}.png
:alt: {sentence}
```"""
CARD = """:::{{grid-item-card}} {title}
:link: /_generated/gallery/{name}
:link-type: doc
:img-top: /_generated/gallery/{name}_small.png
:img-alt: {title}

{sentence}
:::
"""
CARDS = """::::{{grid}} 1 2 2 3
:gutter: 3

{cards}::::

```{{toctree}}
:hidden:

{pages}
```
"""


def setup(app: Any) -> dict[str, bool]:
    """Make the pages before Sphinx looks for sources."""
    build_gallery(OUT)
    return {"parallel_read_safe": True}


@dataclass(frozen=True)
class Example:
    """A program of the gallery."""

    path: Path

    @property
    def name(self) -> str:
        """What its files are called."""
        return self.path.stem

    @property
    def parts(self) -> tuple[str, str, str]:
        """Its title, its sentence and its code."""
        _, about, code = self.path.read_text(encoding="utf-8").split('"""', 2)
        title, _, sentence = about.partition("\n")
        return title.strip(), " ".join(sentence.split()), code.strip()

    @property
    def is_report(self) -> bool:
        """Does it end with a report?"""
        return self.name.startswith("report")

    @property
    def digest(self) -> str:
        """Changes with the program, the package and the programs that make the gallery."""
        return package_digest() + digest([self.path, *Path(__file__).parent.glob("*.py")])

    def page(self) -> str:
        """The page about it, in Markdown."""
        title, sentence, code = self.parts
        view = (REPORT if self.is_report else PICTURE).format(
            name=self.name, title=title, sentence=sentence
        )
        called = set(re.findall(r"(?<![\w.])(?:comarkov\.)?(\w+)\(", code))
        used = [name for name in comarkov.__all__ if name in called]
        links = ", ".join(f"[`{name}`](/reference/api/{name}.rst)" for name in used)
        return PAGE.format(title=title, sentence=sentence, view=view, code=code, links=links)

    def card(self) -> str:
        """Its card in the overview."""
        title, sentence, _ = self.parts
        return CARD.format(name=self.name, title=title, sentence=sentence)


def examples() -> list[Example]:
    """All programs, in the order of the gallery; new ones come last."""
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    names.sort(key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    return [Example(EXAMPLES / f"{name}.py") for name in names]


def build_gallery(out: Path) -> None:
    """Run what has changed, and write all pages and the cards."""
    for folder in (out, REPORTS):
        folder.mkdir(parents=True, exist_ok=True)
    programs = examples()
    with Camera() as camera:
        for program in _outdated(programs, out):
            _run(program, out, camera)
    for program in programs:
        _write(out / f"{program.name}.md", program.page())
    cards = "".join(program.card() for program in programs)
    pages = "\n".join(f"/_generated/gallery/{program.name}" for program in programs)
    _write(out / "cards.txt", CARDS.format(cards=cards, pages=pages))


def _outdated(programs: list[Example], out: Path) -> Iterator[Example]:
    """The programs whose results are missing or old; each is noted when it is done."""
    notes = out / "digests.json"
    done = json.loads(notes.read_text()) if notes.exists() else {}
    for program in programs:
        if done.get(program.name) != program.digest:
            yield program
            done[program.name] = program.digest
            notes.write_text(json.dumps(done, indent=1))


def _run(program: Example, out: Path, camera: Camera) -> None:
    """Run a program; write its report or picture, and the small picture of its card."""
    mpl.use("agg")
    made = runpy.run_path(str(program.path))
    small = out / f"{program.name}_small.png"
    if not program.is_report:
        picture = out / f"{program.name}.png"
        made["fig"].savefig(picture, dpi=130)
        shrunk(picture, small)
        return
    page = REPORTS / f"{program.name}.html"
    page.write_text(made["results"].to_html(), encoding="utf-8")
    if not camera.take(page, small):
        fallback(made["results"], small)


def _write(path: Path, text: str) -> None:
    """Write a text; a file that has not changed keeps its time."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
