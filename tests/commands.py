"""The command as users run it, for the tests of the command line."""

import os
import subprocess
import sys

COMARKOV = [sys.executable, "-m", "comarkov"]


def run(*arguments, cwd=None, stdin=None, limits=None, **environment):
    """Run the command to its end; bytes on stdin, text on stdout."""
    return subprocess.run(
        [*COMARKOV, *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        env=_environment(environment),
        input=stdin,
        preexec_fn=limits,
        text=stdin is None or isinstance(stdin, str),
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
        env=_environment(environment),
    )


def _environment(more):
    return {**os.environ, "COLUMNS": "100", **more}


def assert_refused(done, message, code=2):
    """One clear line on stderr, nothing on stdout."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr
