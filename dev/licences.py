"""List the licences of all packages that comarkov can install, in docs/licences.md.

`python dev/licences.py` writes the page; `--check` fails if it is out of date. Both need an
environment with all extras for users, such as that of `make audit`.
"""

import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PAGE = Path(__file__).parent.parent / "docs" / "licences.md"
EXTRAS = ("anndata", "cli", "dask", "databases", "excel")
HEAD = """# Licences

comarkov has the BSD 3-clause licence and contains no code of others. pip installs these packages
beside it. `make audit` checks this list, which `python dev/licences.py` writes.

| package | licence | installed by |
|---|---|---|
"""
# What packages state in words, and the identifiers of the same licences. A package that states only
# the family of its licence is listed by the family.
IDENTIFIERS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
FAMILIES = {"Apache", "BSD"}


def installed_by() -> dict[str, str]:
    """The packages that comarkov needs, directly or not, and the first extra that needs each."""
    reasons: dict[str, str] = {}
    for extra in ("", *EXTRAS):
        _follow("comarkov", {extra}, extra or "every installation", reasons, set())
    del reasons["comarkov"]
    return reasons


def _follow(
    name: str, extras: set[str], reason: str, reasons: dict[str, str], seen: set[tuple]
) -> None:
    key = (name, *sorted(extras))
    if key in seen:
        return
    seen.add(key)
    reasons.setdefault(name, reason)
    for line in distribution(name).requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            needed = canonicalize_name(requirement.name)
            _follow(needed, set(requirement.extras), reason, reasons, seen)


def licence(package: Distribution) -> str:
    """The licence that a package states: as an identifier, in its classifiers or in one line."""
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return expression
    prefix = "License :: OSI Approved :: "
    classifiers = metadata.get_all("Classifier", ())
    families = [line.removeprefix(prefix) for line in classifiers if line.startswith(prefix)]
    families = [IDENTIFIERS.get(family, family) for family in families]
    line = (metadata.get("License") or "").strip().split("\n")[0]
    line = IDENTIFIERS.get(line, line)
    if not families or (families[0] in FAMILIES and line.startswith(families[0])):
        return line or "unknown"
    return " AND ".join(families)


def page() -> str:
    """The page, with packages in alphabetical order."""
    lines = [
        f"| {name} | {licence(distribution(name))} | {reason} |"
        for name, reason in sorted(installed_by().items())
    ]
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or check it."""
    if "--check" not in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit("docs/licences.md is out of date. Run: python dev/licences.py")


if __name__ == "__main__":
    main()
