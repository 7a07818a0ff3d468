"""Commands that are ended from outside, or whose surroundings fail: one line, the right code."""

import os
import signal
import subprocess
import sys

import pytest

from comarkov.io import interrupts

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

COMARKOV = [sys.executable, "-m", "comarkov"]
FIT = [*COMARKOV, "fit", "southern-women", "-k", "2", "-l", "3", "-o", "out", "-q"]

EDGES = "".join(
    f"{x},{y},{1 + (x in 'ab') * (y in 'bc')}\n" for x in "abcd" for y in "abcd" if x != y
)
EVERY_COMMAND = [
    "--help",
    "fit e.csv -k 2 -l 2 -qfo out",
    "choose e.csv -k 2 -l 2 -qfo out",
    "cut old -k 2 -l 2 -qfo out",
    "chain e.csv -k 2 -qfo out",
    "network e.csv --directed -k 2 -qfo out",
    "multi a,b=e.csv -k 2 -qfo out",
    "predict old e.csv",
    "report old",
    "info old",
    "compare e.csv -k 2 -l 2 --methods itcc",
    "evaluate old truth.csv",
    "pack e.csv -qfo store",
    "datasets list",
    "reproduce stuck --out paper",
]


def run(folder, command, redirect="", **environment):
    """Run a command in a shell, which can close streams."""
    words = " ".join(map(str, command))
    return subprocess.run(
        ["bash", "-c", f"{words} {redirect}"],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("redirect", ["<&- 2>&-", ">&- 2>/dev/full"])
def test_streams_that_are_closed_or_full_do_not_matter(tmp_path, redirect):
    ended = run(tmp_path, FIT, redirect)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "out" / "report.html").exists()
    assert os.listdir(tmp_path) == ["out"]


def test_a_full_output_is_an_error(tmp_path):
    ended = run(tmp_path, FIT, ">/dev/full")
    assert ended.returncode == 2
    assert ended.stderr == "Error: No space left on device\n"


def test_an_error_that_cannot_be_printed_keeps_its_code(tmp_path):
    assert run(tmp_path, FIT, ">/dev/full 2>/dev/full").returncode == 2
    assert run(tmp_path, [*COMARKOV, "info", "nowhere"], "2> >(exec true)").returncode == 2
    (tmp_path / "e.csv").write_text(EDGES)  # its rows and columns have the same names: a note
    noted = [*COMARKOV, "fit", "e.csv", "-k", "2", "-l", "2"]
    assert run(tmp_path, noted, "2>/dev/full").returncode == 0


@pytest.mark.nightly
@pytest.mark.parametrize("words", EVERY_COMMAND)
def test_no_command_minds_its_streams(tmp_path, words):
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "truth.csv").write_text("name,class\na,1\nb,1\nc,2\nd,2\n")
    assert (
        run(tmp_path, [*COMARKOV, "fit", "e.csv", "-k", "2", "-l", "2", "-qo", "old"]).stderr == ""
    )
    codes = {"<&- 2>&-": 0, ">&- 2>/dev/full": 0, "2> >(exec true)": 0, ">/dev/full": 2}
    for redirect, code in codes.items():
        ended = run(tmp_path, [*COMARKOV, words], redirect)
        assert (ended.returncode, len(ended.stderr.splitlines())) == (code, code // 2), redirect


def test_a_pipe_that_nobody_reads_loses_no_results(tmp_path):
    ended = run(tmp_path, ["set -o pipefail;", *FIT], "| true")
    assert (ended.returncode, ended.stderr) == (1, "")
    assert (tmp_path / "out" / "report.html").exists()


def test_a_closed_input_is_empty(tmp_path):
    ended = run(tmp_path, [*COMARKOV, "fit", "-", "-o", "out"], "<&-")
    assert ended.returncode == 2
    assert ended.stderr.startswith("Error: stdin: ")
    assert not any(tmp_path.iterdir())


def test_a_cache_that_cannot_be_written_does_not_matter(tmp_path):
    nowhere = "/proc/nowhere"
    ended = run(tmp_path, FIT, MPLCONFIGDIR=nowhere, HOME=nowhere)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_too_little_memory_is_one_line(tmp_path):
    ended = run(tmp_path, ["ulimit -v 1000000;", *FIT])
    if ended.returncode == 0:  # old packages need less
        assert ended.stderr == ""
        return
    assert ended.returncode == 2
    assert ended.stderr.startswith("Error: There is not enough memory.")
    assert ended.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_a_command_as_ctrl_c_does(tmp_path, number):
    """Before there is anything to keep."""
    code = (
        "import comarkov.estimators.fitting as f, signal, sys\n"
        f"if {int(number)} != signal.SIGINT:\n"
        f"    signal.signal({int(number)}, signal.SIG_DFL)\n"  # which nohup has changed
        f"f.read_weighted = lambda *a: signal.raise_signal({int(number)})\n"
        "sys.argv = ['comarkov', 'fit', 'southern-women', '-o', 'out']\n"
        "from comarkov.__main__ import main\n"
        "main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.stderr == ("Interrupted.\n" if number == signal.SIGINT else "Terminated.\n")
    assert ended.returncode == 128 + number
    assert not any(tmp_path.iterdir())


def test_signals_that_are_ignored_stay_so():
    kept = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    before = signal.getsignal(signal.SIGTERM)
    try:
        interrupts.end_like_ctrl_c()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, kept)
        signal.signal(signal.SIGTERM, before)
