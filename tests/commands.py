"""The command, for the tests of the command line: in this process, or as users run it."""

import os
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from unittest import mock

from typer.testing import CliRunner

from comarkov.cli import program

APP = program()
COMARKOV = [sys.executable, "-m", "comarkov"]


@dataclass
class Done:
    """How a command ended, as `subprocess.run` tells it."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, cwd=None, stdin=None, **environment):
    """Run the command in this process: a new one takes seconds to import and load kernels."""
    words = [str(word) for word in arguments]
    with chdir(cwd or "."), mock.patch.object(sys, "argv", ["comarkov", *words]):
        done = CliRunner().invoke(
            APP, words, input=stdin, env={"COLUMNS": "100", **environment}, prog_name="comarkov"
        )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def run_process(*arguments, cwd=None, stdin=None, limits=None, **environment):
    """Run the command to its end as a process of its own."""
    return subprocess.run(
        [*COMARKOV, *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env=(_without_coverage if limits else dict)(_environment(environment)),
        input=stdin,
        preexec_fn=limits,
        text=True,
        timeout=300,
    )


def started(*arguments, cwd=None, **environment):
    """Start the command, in a process group of its own as a shell does."""
    return subprocess.Popen(
        [*COMARKOV, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=cwd,
        env=_without_coverage(_environment(environment)),
    )


def _environment(more):
    return {**os.environ, "COLUMNS": "100", **more}


def _without_coverage(environment):
    """For processes that coverage would disturb.

    A signal that comes while it holds its lock blocks them, and it cannot write beyond limits.
    """
    return {name: environment[name] for name in environment if not name.startswith("COVERAGE_")}


def assert_refused(done, message, code=2):
    """One clear line on stderr, nothing on stdout."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr


def assert_report_is_rebuilt(out):
    """``comarkov report`` rebuilds the page of a folder, byte for byte."""
    page = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    assert run("report", out).returncode == 0
    assert (out / "report.html").read_bytes() == page
