"""`pip install comarkov` alone, in a new environment: it computes, and says what it lacks."""

import json
import os
import re
import subprocess
import sys
import textwrap
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest

from comarkov.joint.messages import CLI
from comarkov.kernels.compiling import NOTICE

ROOT = Path(__file__).parent.parent.parent
ADVICE = "Run: pip install 'comarkov[cli]'"
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*command, **more):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env=ENVIRONMENT, **more
    )


@pytest.fixture(scope="session")
def core(once):
    """An environment with the required packages only; one for all workers that run tests."""
    programs = once("core", _install) / "core" / "bin"
    return SimpleNamespace(python=programs / "python", comarkov=programs / "comarkov")


def pip(folder, *words, **more):
    """The pip of this environment, for that in a folder, which then need not have its own."""
    python = folder / "core" / "bin" / "python"
    return run(sys.executable, "-m", "pip", "--python", python, *words, **more)


def _install(folder):
    venv.create(folder / "core")
    done = pip(folder, "install", "--disable-pip-version-check", "--no-compile", ROOT)
    if done.returncode and pip(folder, "index", "versions", "numpy").returncode:
        pytest.skip("pip reaches no package index, so that nothing can be installed")
    assert done.returncode == 0, done.stderr


def test_nothing_else_is_installed(core):
    done = pip(core.python.parents[2], "list", "--format=json", check=True)
    installed = {package["name"].lower() for package in json.loads(done.stdout)}
    assert {"comarkov", "numba", "numpy", "scikit-learn", "scipy"} <= installed
    assert not installed & {*CLI, "platformdirs", "pandas", "networkx", "anndata"}


SCRIPT = """
    import io, tempfile
    import numpy as np
    import comarkov
    from comarkov import datasets, evaluate

    women = datasets.load("southern-women")
    X = women.matrix
    model = comarkov.CoClustering((2, 3), random_state=0, verbose=1).fit(X)
    labels = model.row_labels_, model.column_labels_
    assert np.isclose(comarkov.information(X, *labels).kept, model.information_.kept)
    assert np.isclose(model.cost_, comarkov.cost(X, *labels, model.beta_))
    assert evaluate.matching_accuracy(model.row_labels_, model.predict(X)) == 1
    assert model.cut((1, 1)).cost_ > model.cost_
    assert "2 clusters" in model.describe() and model.top_features(0)
    assert "<table" in model._repr_mimebundle_()["text/html"]
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        assert (comarkov.load(f"{folder}/model").row_labels_ == model.row_labels_).all()
        comarkov.Data(X, women.row_names, women.column_names).save(f"{folder}/women.npz")
        data = comarkov.read(f"{folder}/women.npz")
    results = comarkov.Results.of(model, data)
    assert set(results.tables()) == {"rows.csv", "columns.csv", "blocks.csv", "indicators.csv"}

    for name in ("SIB", "AIB", "ITCC", "IBDouble", "IDC", "IBCC"):
        assert set(getattr(comarkov, name)(2).fit(X).row_labels_) == {0, 1}, name
    assert len(comarkov.compare(X, 2, n_init=1)) > 5
    states = X @ X.T
    assert set(comarkov.MarkovAggregation(2).fit(states).labels_) == {0, 1}
    comarkov.MultiwayClustering(2).fit({("women", "events"): X})
    planted = datasets.planted((40, 30), (3, 3), random_state=0)
    comarkov.CoClustering("auto", weighting="bm25", random_state=0).fit(planted.matrix)
    print("all computed")

    for call in (
        lambda: comarkov.read(io.BytesIO(b"Ann,tea,2")),
        lambda: comarkov.plot_blocks(model),
        lambda: comarkov.plot_heatmap(model, X),
        lambda: results.to_html(),
        lambda: results.write("results"),
        lambda: datasets.load("movielens", "data"),
    ):
        try:
            call()
        except (ImportError, FileNotFoundError) as error:
            print(error)
"""
MESSAGES = [
    f"Reading tables needs polars. {ADVICE}",
    f"Drawing needs matplotlib. {ADVICE}",
    f"Drawing needs matplotlib. {ADVICE}",
    f"The report needs jinja2. {ADVICE}",
    f"Writing results needs jinja2. {ADVICE}",
    "The data set movielens is not in data. Run: comarkov datasets fetch movielens --out data",
]


def test_all_is_computed_and_what_needs_more_says_so(core, tmp_path):
    done = run(core.python, "-c", textwrap.dedent(SCRIPT), cwd=tmp_path)
    assert done.stdout.splitlines() == ["all computed", *MESSAGES], done.stderr
    assert not any(tmp_path.iterdir())
    notice, *lines = done.stderr.splitlines()  # then the progress of the first fit, without a bar
    assert notice == NOTICE
    assert lines
    shape = r"1/2 Clustering: .*, β = 0.7, cost \d\.\d{4} bits \(\d+ of \d+\)"
    assert all(re.fullmatch(shape, line) for line in lines)


def test_the_command_says_what_to_install(core):
    for command in (
        [core.comarkov],
        [core.comarkov, "fit", "edges.csv"],
        [core.python, "-m", "comarkov", "--help"],
    ):
        done = run(*command)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == f"Error: The command comarkov needs {', '.join(CLI)}. {ADVICE}\n"


def test_types_are_installed(core, tmp_path):
    (tmp_path / "user.py").write_text(
        "import comarkov\n"
        "reveal_type(comarkov.CoClustering(2).fit([[1]]).row_labels_)\n"
        "reveal_type(comarkov.evaluate.purity([0], [0]))\n"
    )
    options = ["--strict", "--config-file=", f"--python-executable={core.python}"]
    done = run(sys.executable, "-m", "mypy", *options, "user.py", cwd=tmp_path)
    revealed = re.findall(r'Revealed type is "([\w.]+)', done.stdout)
    assert revealed == ["numpy.ndarray", "float"], done.stdout
    assert done.returncode == 0, done.stdout
