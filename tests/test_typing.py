"""A user's type checker sees our types, and nothing that it could complain about."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import comarkov

PACKAGE = Path(comarkov.__file__).parent

# Expressions of a script that a user may write, and their types, wherever these are defined.
TYPES = {
    "women": "Dataset",
    "model": "CoClustering",
    "model.row_labels_": "ndarray",
    "model.column_confidence_": "ndarray",
    "model.cost_": "float",
    "model.fit(women.matrix, sample_weight=[1.0, 2.0])": "CoClustering",
    "model.hierarchy_": "Hierarchy",
    "model.predict(women.matrix)": "ndarray",
    "model.describe()": "str",
    "model.beta_path(women.matrix)[0].row_labels": "ndarray",
    "comarkov.SIB(2).fit(women.matrix)": "SIB",
    "comarkov.MarkovAggregation().fit([])": "MarkovAggregation",
    "comarkov.MultiwayClustering(2).fit({})": "MultiwayClustering",
    "comarkov.Weighting().fit(women.matrix)": "Weighting",
    'comarkov.read("edges.csv")': "Data",
    'comarkov.read("edges.csv").row_names': "ndarray",
    "comarkov.cost(women.matrix, model.row_labels_, model.column_labels_, 0.5)": "float",
    "evaluate.matching_accuracy([0, 1], model.row_labels_)": "float",
    "comarkov.evaluate.purity([0, 1], [0, 1])": "float",
    "datasets.planted()": "Dataset",
    "Results.of(model, women)": "Results",
    "Results.of(model, women).findings.rows.typical(0)": "list",
    "comarkov.plot_blocks(model)": "Axes",
    "model.top_features(0)[0].name": "str",
    "Results.of(model, women).top_features()[0][0].lift": "float",
}
MISTAKES = [
    "CoClustering((2, 3), beta=[0.5])",
    "CoClustering(2, n_jobs='all')",
    "CoClustering('three')",
    "comarkov.MarkovAggregation('three')",
    "comarkov.MultiwayClustering('three')",
    "comarkov.SIB('three')",
    "comarkov.Weighting('bm26')",
    "CoClustering(2, beta='0.5')",
    "CoClustering(2, weighting='tf-idf')",
    "comarkov.SIB(2, weighting='tf-idf')",
    "model.top_features(0, side='row')",
    "comarkov.cost(women.matrix, [0], [0])",
    "comarkov.read('edges.csv', weights=1.5)",
    "evaluate.matching_accuracy([0], [0]).mean()",
    "datasets.lod('southern-women')",
]
SCRIPT = """
import comarkov
from comarkov import CoClustering, Results, datasets, evaluate

women = datasets.load("southern-women")
model = CoClustering((2, 3), random_state=0).fit(women.matrix)
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """What mypy prints of the script of somebody who has set nothing but ``--strict``."""
    folder = tmp_path_factory.mktemp("typing")
    lines = [SCRIPT, *(f"reveal_type({expression})" for expression in TYPES), *MISTAKES]
    (folder / "user.py").write_text("\n".join(lines))
    # As installed: what is wrong within the package is no concern of a user.
    options = ["--strict", "--config-file=", "--follow-imports=silent"]
    command = [sys.executable, "-m", "mypy", *options, "user.py"]
    environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    return done.stdout


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_a_user_sees_types(output):
    revealed = re.findall(r'Revealed type is "(?:[\w.]+\.)?(\w+)', output)
    assert dict(zip(TYPES, revealed, strict=True)) == TYPES


def test_a_user_is_told_of_mistakes_and_of_nothing_else(output):
    wrong = [int(line) for line in re.findall(r"user\.py:(\d+): error", output)]
    first = len(SCRIPT.splitlines()) + 1 + len(TYPES) + 1
    assert wrong == list(range(first, first + len(MISTAKES))), output
