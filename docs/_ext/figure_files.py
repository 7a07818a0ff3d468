"""The figures that programs in docs/figures draw; drawn again if they or the package change."""

import runpy
from pathlib import Path
from typing import Any

from generated import GENERATED, digest, package_digest

PROGRAMS = Path(__file__).parent.parent / "figures"
OUT = GENERATED / "figures"


def setup(app: Any) -> dict[str, bool]:
    """Draw before Sphinx looks for images."""
    build_figures(OUT)
    return {"parallel_read_safe": True}


def build_figures(out: Path) -> None:
    """Draw what has changed."""
    out.mkdir(parents=True, exist_ok=True)
    for program in sorted(PROGRAMS.glob("*.py")):
        note, current = out / f"{program.stem}.digest", package_digest() + digest([program])
        if not note.exists() or note.read_text() != current:
            figure = runpy.run_path(str(program))["draw"]()
            figure.savefig(out / f"{program.stem}.png", dpi=160)
            note.write_text(current)
