"""Files that the build generates into the sources of the site."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import comarkov

GENERATED = Path(__file__).parent.parent / "_generated"  # ignored by git; `make clean` removes it
(GENERATED / "extra" / "reports").mkdir(parents=True, exist_ok=True)


@cache
def package_digest() -> str:
    """A digest of the package: what it computed is renewed if it has changed."""
    folder = Path(comarkov.__file__).parent
    return digest(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


def digest(files: Iterable[Path]) -> str:
    """A digest of the names and contents of files."""
    total = hashlib.sha256()
    for path in sorted(files):
        if path.is_file():
            total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:16]


def notebook_cache() -> Path:
    """The folder for the results of notebooks, which no other version of the package has filled.

    It is beside the reports that notebooks write, so that both are removed together.
    """
    folder = GENERATED / "notebooks" / package_digest()
    for earlier in (GENERATED / "notebooks").glob("*"):
        if earlier != folder:
            shutil.rmtree(earlier)
    return folder


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Make a folder hold exactly these pages; those that have not changed keep their time."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
