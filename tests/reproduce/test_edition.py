"""Kept runs are taken again only by the code and on the data that made them."""

import shutil
import zipfile

import pytest

from comarkov.reproduce import EXPERIMENTS
from comarkov.reproduce.experiment import RunOptions
from comarkov.reproduce.runs import PACKAGE, code_digest, editions


@pytest.fixture
def package(tmp_path):
    """A copy of the code, to edit."""
    ignored = shutil.ignore_patterns("__pycache__", "assets", "published")
    return shutil.copytree(PACKAGE, tmp_path / "comarkov", ignore=ignored)


def digest_after_editing(package, name):
    with open(package / name, "a") as file:
        file.write("# edited\n")
    return code_digest(package)


@pytest.mark.parametrize(
    "name",
    [
        "__init__.py",
        "cli/fit.py",
        "cli/options.py",
        "data/reading/texts.py",
        "reproduce/page.py",
        "results/findings.py",
        "results/report/content.py",
    ],
)
def test_runs_are_kept_when_code_changes_that_does_not_make_them(package, name):
    assert digest_after_editing(package, name) == code_digest(PACKAGE)


@pytest.mark.parametrize(
    "name",
    [
        "costs/relations.py",
        "data/datasets/movielens.py",
        "data/joint.py",
        "estimators/coclustering.py",
        "kernels/sweep.py",
        "model/hierarchy.py",
        "reproduce/experiments/settings.py",
        "reproduce/experiments/toys.py",
        "search/side.py",
    ],
)
def test_runs_are_made_anew_when_code_changes_that_makes_them(package, name):
    assert digest_after_editing(package, name) != code_digest(PACKAGE)


def test_runs_are_made_anew_when_a_module_is_renamed(package):
    (package / "search" / "side.py").rename(package / "search" / "sides.py")
    assert code_digest(package) != code_digest(PACKAGE)


def test_every_experiment_counts_as_code_that_makes_runs():
    for experiment in EXPERIMENTS.values():
        assert experiment.run.__module__.startswith("comarkov.reproduce.experiments.")


def test_other_data_does_not_take_what_is_kept(data_file, tmp_path):
    with zipfile.ZipFile(data_file("ml-100k.zip")) as archive:
        archive.extractall(tmp_path)
    experiments, options = [EXPERIMENTS["movielens"]], RunOptions(data=tmp_path)
    before = editions(experiments, options)
    assert before == editions(experiments, RunOptions(data=data_file("ml-100k.zip").parent))
    table = tmp_path / "ml-100k" / "u.data"
    lines = table.read_text().splitlines()
    user, movie, rating, when = lines[0].split("\t")
    lines[0] = f"{user}\t{movie}\t{int(rating) % 5 + 1}\t{when}"
    table.write_text("\n".join(lines))
    assert editions(experiments, options) != before
    table.write_text("\n".join(lines[:90_000]))
    with pytest.raises(ValueError, match="it has 90,000 ratings"):
        editions(experiments, options)
