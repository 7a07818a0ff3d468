"""What we depend on: promised versions, licences, and the actions of workflows."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PERMISSIVE = {"0BSD", "Apache", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "ISC", "MIT"}
PERMISSIVE |= {"BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "MIT-CMU", "PSF-2.0", "Zlib"}
SEPARATE = {"LGPL-3.0-only", "MPL-2.0"}  # their terms end at their own files
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def promised():
    """The lowest version of each package that users may have, by its name."""
    lines = [*PROJECT["dependencies"], *(line for lines in EXTRAS.values() for line in lines)]
    requirements = [Requirement(line) for line in lines]
    return {one.name: one.specifier for one in requirements if one.name != "comarkov"}


def constrained():
    """The versions that `make test-lowest` installs."""
    lines = (ROOT / "tests" / "lowest-versions.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {name: Version(version) for name, version in pairs}


def test_only_what_users_need_is_published_and_the_makefile_installs_it():
    assert sorted(EXTRAS) == ["anndata", "cli", "dask", "databases", "excel"]
    assert f"ALL = '.[{','.join(sorted(EXTRAS))}]'" in (ROOT / "Makefile").read_text()


def test_the_lowest_versions_are_tested():
    lowest = {name: [part.version for part in limits] for name, limits in promised().items()}
    versions = constrained()
    versions.pop("psycopg-binary")  # the same as psycopg
    assert {name: [Version(v) for v in floor] for name, floor in lowest.items()} == {
        name: [version] for name, version in versions.items()
    }


def test_all_licences_allow_use_beside_ours():
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in (ROOT / "docs" / "licences.md").read_text().splitlines()
        if line.startswith("| ")
    ][1:]
    assert {row[0] for row in rows} >= set(promised())
    assert {
        part for row in rows for part in re.split(" AND | OR ", row[1])
    } <= PERMISSIVE | SEPARATE


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_digest_and_jobs_have_few_rights(path):
    text = path.read_text()
    workflow = yaml.safe_load(text)
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 360
        assert "write-all" not in str(job.get("permissions"))


def test_an_action_has_one_version_in_all_workflows():
    uses = {line for path in WORKFLOWS for line in re.findall(r"uses: (.*)", path.read_text())}
    names = [line.split("@")[0] for line in uses]
    assert len(names) == len(set(names))


def test_workflows_call_targets_that_exist():
    called = {
        target
        for path in WORKFLOWS
        for command in re.findall(r"run: make (.*)", path.read_text())
        for target in command.split()
    }
    defined = " ".join(re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert called <= set(defined.split())


def test_mutants_are_of_files_and_tests_that_exist(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "dev")
    from mutate import TARGETS

    for target in TARGETS.values():
        assert all(any((ROOT / "src" / "comarkov").glob(form)) for form in target.modules)
        assert all((ROOT / path).exists() for path in target.tests if path.startswith("tests/"))
