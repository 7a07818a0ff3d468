"""make release-check: is what would be released complete, installable and documented?

Builds the sdist and the wheel, checks them with twine, builds the same wheel from the sdist,
installs the wheel into clean environments, with the core and with each extra, runs the demo from
it, and prints the sizes. The documentation is built by the make target.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
#: What users install; the others are for developers.
EXTRAS = ("cli", "anndata", "excel", "databases", "dask")
#: A line that shows that the packages of an extra do their work.
WORKS = {
    "": "import comarkov; X = comarkov.datasets.load('southern-women').matrix; "
    "assert comarkov.CoClustering((2, 3), random_state=0).fit(X).row_labels_.max() == 1",
    "cli": "import comarkov; comarkov.read([('a', 'x'), ('b', 'y')])",
    "anndata": "import anndata, comarkov, numpy; "
    "assert comarkov.read(anndata.AnnData(numpy.eye(2))).shape == (2, 2)",
    "excel": "import fastexcel, polars",
    "databases": "import duckdb, psycopg",
    "dask": "import comarkov, dask.distributed",
}
DEMO = ["fit", "southern-women", "-k", "2", "-l", "3", "--seed", "0", "-q", "-o", "demo"]


def main() -> None:
    """Check everything, in the order in which it can fail."""
    version = _version()
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, DIST.iterdir()))
    wheel, sdist = (next(DIST.glob(f"comarkov-{version}{end}")) for end in ("-*.whl", ".tar.gz"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _same_wheel(wheel, sdist, folder)
        for extra in ("", *EXTRAS):
            _install(wheel, extra, folder)
    print(f"wheel: {_size(wheel.stat().st_size)}, sdist: {_size(sdist.stat().st_size)}")


def _version() -> str:
    """The version, which the package, the changelog and the citation agree about."""
    code = (ROOT / "src/comarkov/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "(.+)"', code)
    assert found is not None
    version = found[1]
    dated = re.compile(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", re.MULTILINE)
    if not dated.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        sys.exit(f"CHANGELOG.md has no dated section for {version}.")
    if f"\nversion: {version}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        sys.exit(f"CITATION.cff does not name version {version}.")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    missing = set(EXTRAS) - set(project["optional-dependencies"])
    if missing:
        sys.exit(f"pyproject.toml has no extras {missing}.")
    return version


def _same_wheel(wheel: Path, sdist: Path, folder: Path) -> None:
    """Is the wheel that users build from the sdist the same, file by file?"""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = folder / sdist.name.removesuffix(".tar.gz")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "again"), str(source))
    ours, theirs = _digests(wheel), _digests(folder / "again" / wheel.name)
    if ours != theirs:
        different = {file for file in ours | theirs if ours.get(file) != theirs.get(file)}
        sys.exit(f"The wheel from the sdist differs: {', '.join(sorted(different))}")
    print(f"the wheel from the sdist is the same: {len(ours)} files", flush=True)


def _digests(wheel: Path) -> dict[str, str]:
    with ZipFile(wheel) as files:
        return {name: hashlib.sha256(files.read(name)).hexdigest() for name in files.namelist()}


def _install(wheel: Path, extra: str, folder: Path) -> None:
    """Install into a new environment, use it, and print how large it is."""
    place = folder / f"env-{extra or 'core'}"
    venv.create(place, with_pip=True)
    before = _bytes(place)
    python = str(place / "bin" / "python")
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)
    size = _bytes(place) - before
    own = next(place.glob("lib/python*/site-packages/comarkov"))
    _run(python, "-c", WORKS[extra], cwd=folder)
    if extra == "cli":
        _run(python, "-m", "comarkov", *DEMO, cwd=folder)
        if not (folder / "demo" / "report.html").is_file():
            sys.exit("The demo wrote no report.")
    name = f"comarkov[{extra}]" if extra else "comarkov"
    own_size = _size(_bytes(own, skip="__pycache__"))
    print(f"{name}: installed {_size(size)}, of it comarkov {own_size}", flush=True)
    shutil.rmtree(place)


def _bytes(folder: Path, skip: str = "") -> int:
    files = (file for file in folder.rglob("*") if not skip or skip not in file.parts)
    return sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _run(*command: str, cwd: Path = ROOT) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
