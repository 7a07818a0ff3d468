"""The command line: help, completion, data sets, the paper, and what Ctrl-C does to it."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from commands import assert_refused, run, run_process, started

from comarkov import cli
from comarkov.cli.output import as_options

OPTION = re.compile("^[ │]*(--[a-z0-9-]+)", re.MULTILINE)
COMMANDS = [name for commands in cli.COMMANDS.values() for name in commands]


def test_help_names_the_commands():
    out = run_process("--help").stdout
    for command in COMMANDS:
        assert f" {command} " in out


def test_help_is_short_and_help_all_has_every_option():
    short, everything = (run("fit", each).stdout for each in ("--help", "--help-all"))
    few, every = (set(OPTION.findall(text)) - {"--help"} for text in (short, everything))
    assert few < every
    assert len(few) <= 15
    assert {"--rows", "--row-clusters", "--out", "--open"} <= few
    assert {"--max-bytes", "--engine", "--json"} <= every - few
    assert "comarkov fit --help-all" in short


def test_completion_offers_commands_data_sets_options_and_values():
    assert "_COMARKOV_COMPLETE" in run_process(_COMARKOV_COMPLETE="source_bash").stdout
    for words, offered in {
        "comarkov pre": {"predict"},
        "comarkov fit sou": {"southern-women"},
        "comarkov fit x --weighting b": {"bm25"},
        "comarkov fit x --row-cl": {"--row-clusters", "--row-classes"},
    }.items():
        number = str(len(words.split()) - 1)
        done = run(_COMARKOV_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=number)
        assert set(done.stdout.split()) == offered


def test_a_parameter_of_python_gets_the_option_suggested():
    assert_refused(run("fit", "southern-women", "--max-time", 3), "--time-limit")
    assert "--time-limit" not in run("info", "women", "--max-time", 3).stderr


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("fit", "INPUT"),
        ("fit x --seed -1", "--seed"),
        ("chain x --seed -1", "--seed"),
        ("cut x -k 2 --estimate", "--estimate"),
        ("reproduce --runs 0", "--runs"),
        ("--nope", "--nope"),
        ("fitt", "fitt"),
    ],
)
def test_wrong_options_are_reported_in_one_line(words, word):
    done = run(*words.split())
    assert_refused(done, word)
    assert re.search(f"See: comarkov ({words.split()[0]} )?--help", done.stderr)


def test_messages_about_parameters_become_messages_about_options():
    for message, expected in {
        "Set rows='user', columns='my item'.": "Set --rows user --columns 'my item'.",
        "Set header=False or separator=.": "Set --no-header or --separator.",
        "max_time was reached; held_out needs counts": (
            "--time-limit was reached; --held-out needs counts"
        ),
        "There is no column 'row_names', a_rows=3": "There is no column 'row_names', a_rows=3",
    }.items():
        assert as_options(message) == expected


SLOW = {"numba", "scipy", "sklearn", "polars", "matplotlib", "rich", "jinja2", "networkx"}


def test_help_comes_at_once():
    """What is slow to import is imported by what needs it; old versions of typer import rich."""
    loaded = _modules_after("import comarkov.cli; comarkov.cli.program()")
    assert "typer" in loaded
    assert not SLOW & (loaded - _modules_after("import typer"))
    assert "comarkov.cli.predict" in loaded


def test_a_command_imports_only_what_it_uses(tmp_path):
    """scikit-learn imports pandas and all of scipy.stats, which takes longer than a small fit."""
    script = """
import atexit, comarkov.__main__
def use():
    unused = {"pandas", "pyarrow", "scipy.stats._stats_py", "comarkov.cli.predict"}
    print(*unused & sys.modules.keys())
    import scipy, pandas
    print(scipy.stats.mode([1, 1, 2]).mode, pandas.Series([3]).sum())
atexit.register(use)
sys.argv[1:] = "fit southern-women -k 2 -l 2 --json".split()
comarkov.__main__.main()"""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys{script}"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-2:] == ["", "1 3"], done.stderr


def _modules_after(statement):
    script = f"import sys; {statement}; print(*sys.modules)"
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
    assert any(line.startswith("  P1, separated: 11 agrees (worst at β = ") for line in lines)
    assert any(line.startswith("  agrees: At β = ½ sGITCC terminates") for line in lines)
    assert lines[-1] == f"The page is {tmp_path / 'out' / 'index.html'}"


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("reproduce figure-9", "'figure-9'"),
        ("reproduce newsgroups", "comarkov datasets fetch newsgroups"),
        ("datasets fetch southern-women", "southern-women"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(tmp_path, words, word):
    done = run(*words.split(), COMARKOV_DATA=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert_refused(done, word)


def test_datasets(tmp_path, data_file):
    folder = data_file("ml-100k.zip").parent
    out = run("datasets", "list", COMARKOV_DATA=str(folder)).stdout
    assert "bundled" in out
    assert str(folder / "ml-100k.zip") in out
    out = run("datasets", "list", COMARKOV_DATA=str(tmp_path), XDG_CACHE_HOME=str(tmp_path)).stdout
    assert "download: comarkov datasets fetch newsgroups (14.5 MB)" in out


def kept(out):
    file = out / "runs.jsonl"
    return file.read_text().count("\n") if file.exists() else 0


CIRCULANT = ("reproduce", "circulant", "--runs", "10")
N_RUNS = 6 * 10  # in batches of 20, so that there is time to interrupt them


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_loses_nothing_and_the_same_command_goes_on(tmp_path, jobs):
    arguments = [*CIRCULANT, "--jobs", str(jobs), "--out"]
    out = tmp_path / "the out"
    process = started(*arguments, out)
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
    assert (out / "circulant.csv").exists()


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


def test_help_shows_flags_without_values_and_arguments_without_braces():
    for command in ((), ("datasets",), ("datasets", "fetch"), ("fit",), ("multi",)):
        text = run(*command, "--help").stdout
        assert "--help" in text
        assert "bool" not in text.lower()
        assert "{" not in text
        assert "list[" not in text
    assert "Usage: comarkov multi [OPTIONS] TABLE...\n" in re.sub(" +\n", "\n", text)
