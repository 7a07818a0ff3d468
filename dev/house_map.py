"""Write the map of the package in CONTRIBUTING.md: each room, and the first line of each file.

`python dev/house_map.py` writes it; a test fails if it is out of date.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "comarkov"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map -->\n", "<!-- end of the map -->"
#: The rooms in the order of imports: each imports only from those before it.
ROOMS = (
    *("kernels", "joint", "costs", "io", "search"),
    *("model", "results", "estimators", "reproduce", "cli"),
)


def house_map() -> str:
    """Return the map in Markdown."""
    lines = []
    for room in ROOMS:
        lines += ["", f"**`{room}`**: {_summary(PACKAGE / room / '__init__.py')}", ""]
        files = sorted((PACKAGE / room).rglob("*.py"), key=lambda file: (file.parent, file.name))
        for file in files[1:]:
            name = file.relative_to(PACKAGE / room).as_posix()
            lines.append(f"- `{name.replace('__init__.py', '')}` {_summary(file)}")
    return "\n".join(lines).lstrip("\n") + "\n\n"


def page() -> str:
    """Return the page with its map renewed."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + house_map() + END + rest.partition(END)[2]


def _summary(file: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.splitlines()[0].replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
