"""A PostgreSQL server for tests: in a temporary folder, on a Unix socket, without a network."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

MISSING = "there is no PostgreSQL server: install Debian's package postgresql"
SECONDS = 60  # to wait for the server


def programs():
    """The folder with initdb and postgres, which Debian does not put on the path; or None."""
    on_path = [Path(result).resolve().parent for result in [shutil.which("postgres")] if result]
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in [*on_path, *packaged] if (place / "initdb").exists()), None)


def unprivileged():
    """Keywords of subprocess that leave root, as whom the server refuses to run."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise LookupError("there is neither a user postgres nor nobody to run the server as")


@contextmanager
def server():
    """The address of the database "postgres" of a server, which is stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # a socket's path must be short
    identity = unprivileged()
    if identity:
        os.chown(folder, identity["user"], identity["group"])
    try:
        made = [programs() / "initdb", "-D", folder / "data", "-U", "tester", "-A", "trust"]
        options = ["-E", "UTF8", "--locale", "C", "--no-sync"]
        subprocess.run([*made, *options], check=True, capture_output=True, cwd=folder, **identity)
        settings = ["-c", "listen_addresses=", "-c", "fsync=off"]
        process = subprocess.Popen(
            [programs() / "postgres", "-D", folder / "data", "-k", folder, *settings],
            stderr=subprocess.DEVNULL,
            cwd=folder,
            **identity,
        )
        try:
            address = f"postgresql:///postgres?host={folder}&user=tester"
            wait_for(address, process)
            yield address
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(address, process):
    """Return when the server answers."""
    import psycopg

    for _ in range(SECONDS * 20):
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert process.poll() is None, "the server has stopped"
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server does not answer")
