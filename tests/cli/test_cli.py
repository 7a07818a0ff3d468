"""The command line: help, completion, data sets, the paper, and what Ctrl-C does to it."""

import logging
import os
import signal
import subprocess
import sys
import time

import pytest
from commands import assert_refused, run, run_process, started

from comarkov.cli.output import notes
from comarkov.kernels.compiling import NOTICE

COMMANDS = ("fit", "sweep", "cut", "predict", "compare", "evaluate", "report", "info", "reproduce")


def test_help_names_the_commands():
    out = run_process("--help").stdout
    for command in (*COMMANDS, "datasets"):
        assert f" {command} " in out


@pytest.mark.parametrize("command", [*COMMANDS, "datasets list", "datasets fetch", "datasets path"])
def test_every_command_has_help_with_an_example(command):
    out = run(*command.split(), "--help").stdout
    assert f"comarkov {command} " in out.split("Example")[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_completion(shell):
    assert "_COMARKOV_COMPLETE" in run_process(_COMARKOV_COMPLETE=f"source_{shell}").stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("comarkov pre", ["predict"]),
        ("comarkov fit sou", ["southern-women"]),
        ("comarkov fit x --weighting b", ["bm25"]),
        ("comarkov fit x --row-cl", ["--row-clusters", "--row-classes"]),
    ],
)
def test_shells_are_told_what_fits(words, offered):
    number = str(len(words.split()) - 1)
    done = run(_COMARKOV_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=number)
    assert done.stdout.split() == offered


def test_only_commands_that_choose_numbers_offer_auto():
    assert "from 0 to 1, or auto." in run("fit", "--help", COLUMNS="200").stdout
    assert "auto]" not in run("compare", "--help", COLUMNS="200").stdout
    assert "or auto." not in run("compare", "--help", COLUMNS="200").stdout


def test_a_parameter_of_python_gets_the_option_suggested():
    done = run("fit", "southern-women", "--max-time", 3)
    assert done.returncode == 2
    assert "--time-limit" in done.stderr
    assert "--time-limit" not in run("info", "women", "--max-time", 3).stderr


def test_help_comes_at_once():
    """What is slow to import is imported by what needs it; old versions of typer import rich."""
    slow = {"numba", "scipy", "sklearn", "polars", "matplotlib", "rich", "jinja2", "networkx"}
    loaded = _modules_after("comarkov.cli")
    assert "typer" in loaded
    assert not slow & (loaded - _modules_after("typer"))


def _modules_after(name):
    script = f"import sys, {name}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_version():
    import comarkov

    assert run_process("--version").stdout == f"comarkov {comarkov.__version__}\n"


def test_reproduce_says_how_each_curve_compares_and_where_the_page_is(tmp_path):
    done = run("reproduce", "trading", "stuck", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(
        line.startswith("  P1, separated: at β = 0.7 published 0.6027, ours 0.6027: agrees")
        for line in lines
    )
    assert any(line.startswith("  holds: sGITCC does not move") for line in lines)
    assert lines[-1] == f"The page is {tmp_path / 'out' / 'index.html'}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "figure-9"], "Unknown experiment 'figure-9'. Choose from stuck, unequal"),
        (["reproduce", "newsgroups"], "Run: comarkov datasets fetch newsgroups"),
        (["datasets", "path", "movielens"], "Run: comarkov datasets fetch movielens"),
        (["datasets", "path", "iris"], "There is no data set 'iris'"),
        (["datasets", "path", "southern-women"], "southern-women is bundled"),
        (["datasets", "fetch", "southern-women"], "there is nothing to fetch"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(tmp_path, arguments, message):
    done = run(*arguments, COMARKOV_DATA=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert_refused(done, message)


def test_too_few_runs_are_refused(tmp_path):
    done = run("reproduce", "--runs", "0", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_datasets(tmp_path, data_file):
    folder = data_file("ml-100k.zip").parent
    out = run("datasets", "list", COMARKOV_DATA=str(folder)).stdout
    assert "bundled" in out
    assert str(folder / "ml-100k.zip") in out
    done = run_process("datasets", "path", "movielens", COMARKOV_DATA=str(folder))
    assert done.stdout == f"{folder / 'ml-100k.zip'}\n"
    out = run("datasets", "list", COMARKOV_DATA=str(tmp_path), XDG_CACHE_HOME=str(tmp_path)).stdout
    assert "download: comarkov datasets fetch newsgroups (14.5 MB)" in out


def kept(out):
    file = out / "runs.jsonl"
    return file.read_text().count("\n") if file.exists() else 0


CIRCULANT = ("reproduce", "circulant", "--runs", "10")
N_RUNS = 6 * 10  # in batches of 20, so that there is time to interrupt them


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The table of all runs."""
    out = tmp_path_factory.mktemp("uninterrupted")
    assert run(*CIRCULANT, "--out", out).returncode == 0
    return (out / "circulant.csv").read_text()


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_loses_nothing_and_the_same_command_goes_on(tmp_path, jobs, uninterrupted):
    arguments = [*CIRCULANT, "--jobs", str(jobs), "--out"]
    out = tmp_path / "the out"
    process = started(*arguments, out, "--fresh")
    wait_for_runs(process, out)
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert errors.endswith(f"To continue: comarkov {' '.join(arguments)} '{out}'\n")
    assert 20 <= kept(out) < N_RUNS
    assert not (out / "circulant.csv").exists()
    assert run(*arguments, out).returncode == 0
    assert kept(out) == N_RUNS
    assert (out / "circulant.csv").read_text() == uninterrupted


def test_when_it_is_killed_its_processes_end(tmp_path):
    process = started("reproduce", "circulant", "--jobs", "2", "--out", tmp_path)
    wait_for_runs(process, tmp_path)
    group = process.pid  # of all its processes, as it was started in one of its own
    assert process.poll() is None
    process.kill()
    process.communicate(timeout=60)  # ends only when nobody holds the pipes any more
    assert is_gone(group)


def is_gone(group, seconds=30):
    """Do all processes of a group end, sooner or later?"""
    for _ in range(20 * seconds):
        try:
            os.killpg(group, 0)  # signal 0 only asks
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def wait_for_runs(process, out):
    while kept(out) < 20 and process.poll() is None:
        time.sleep(0.05)


@pytest.mark.parametrize("quiet", [False, True])
def test_log_messages_are_notes_once_and_never_if_quiet(quiet, capsys):
    logger = logging.getLogger("comarkov")
    with notes(quiet):
        logger.warning(NOTICE)
        logger.warning(NOTICE)
    assert capsys.readouterr().err == ("" if quiet else f"Note: {NOTICE}\n")
    assert not logger.handlers
