"""Folders that cannot be written and disks that are full, for every command that writes.

The commands run as users without privileges do. Root drops its own: else it could write anywhere.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from commands import run

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("setpriv") or not shutil.which("unshare"),
    reason="needs unshare and setpriv of Linux",
)

UNSHARE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
COMMANDS = {
    "fit": "fit {data}/edges.csv -k 2 -l 3 -o out",
    "fit --force": "fit {data}/edges.csv -k 2 -l 3 --force -o old",
    "chain": "chain {data}/chain.csv -k 2 -o out",
    "multi": "multi a,b={data}/edges.csv a,c={data}/edges.csv -k a=2,b=2,c=2 -o out",
    "choose": "choose {data}/edges.csv -k 2 -l 2 -o out",
    "cut": "cut {data}/model -k 2 -l 2 -o out",
    "pack": "pack {data}/edges.csv -o out",
    "compare": "compare {data}/edges.csv -k 2 -l 2 -o out",
    "predict": "predict {data}/model {data}/edges.csv -o out",
    "report": "report old",
    "reproduce": "reproduce southern-women --out out",
}
SCRIPT = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from commands import run
from comarkov.io.datasets.collections import Archive
os.chdir(sys.argv[2])

def content():
    return {str(path): path.stat().st_size for path in Path().rglob("*") if path.is_file()}

before, ended = content(), {}
for name, words in json.loads(sys.argv[3]).items():
    done = run(*words.split())
    message = "".join(line for line in done.stderr.splitlines(True) if "compiles" not in line)
    ended[name] = done.returncode, done.stdout, message, content() == before, os.listdir()
url = Path(sys.argv[4]).as_uri()
try:
    Archive("archive", (url,), 1 << 20, "").fetch(Path())
except OSError as error:
    ended["datasets fetch"] = 2, "", f"Error: {error}", True, os.listdir()
print(json.dumps(ended))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What the commands read, in a folder with room."""
    folder = tmp_path_factory.mktemp("data")
    mount = ["mount", "-t", "tmpfs", "none", str(folder)]
    probe = subprocess.run([*UNSHARE, *mount], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no mounts of its own here: {probe.stderr.strip()}")
    edges = [f"r{i},c{j},{1 + (i + j) % 3}" for i in range(8) for j in range(6) if (i + j) % 2]
    (folder / "edges.csv").write_text("row,column,weight\n" + "\n".join(edges))
    states = [f"s{i},s{j},{1 + (i * j) % 3}" for i in range(5) for j in range(5)]
    (folder / "chain.csv").write_text("from,to,weight\n" + "\n".join(states))
    (folder / "archive").write_bytes(bytes(1 << 20))
    done = run("fit", folder / "edges.csv", "-k", 3, "-l", 3, "-o", folder / "model")
    assert done.returncode == 0, done.stderr
    return folder


def ended(data, folder, prepare):
    """How each command ends in a folder after ``prepare``, a line of shell."""
    commands = {name: words.format(data=data) for name, words in COMMANDS.items()}
    python = [sys.executable, "-c", SCRIPT, os.path.dirname(__file__) + "/..", str(folder)]
    user = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *python, json.dumps(commands)]
    user += [str(data / "archive")]
    shell = ["sh", "-c", f'{prepare} && exec "$@"', "sh", *user]
    done = subprocess.run([*UNSHARE, *shell], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def assert_nothing_happened(outcomes, reason, kept=frozenset()):
    """All failed for this reason; what a next run continues may stay."""
    for name, (code, printed, message, is_same, names) in outcomes.items():
        assert code == 2, (name, message)
        assert printed == "", name
        assert len(message.splitlines()) == 1, (name, message)
        assert message.startswith("Error: "), (name, message)
        assert re.search(reason, message), (name, message)
        assert is_same or kept, name
        assert {"old"} <= set(names) <= {"old", *kept}, name


def test_folders_that_cannot_be_written(data, tmp_path):
    shutil.copytree(data / "model", tmp_path / "old")
    outcomes = ended(data, tmp_path, f"chmod -R a-w {tmp_path}")
    assert_nothing_happened(outcomes, "no permission|is read-only|Permission denied|not a writable")


def test_disks_that_are_full(data, tmp_path):
    """The disk has room for what is there, and for nothing else."""
    model = data / "model"
    size = sum(-(-path.stat().st_size // 4096) for path in model.rglob("*") if path.is_file())
    mount = f"mount -t tmpfs -o size={4 * size}k,nr_inodes=200 none {tmp_path}"
    outcomes = ended(data, tmp_path, f"{mount} && cp -r {model} {tmp_path}/old")
    kept = {"archive.part", "out"}  # "out" of reproduce, which stores each run
    assert_nothing_happened(outcomes, "There is no room on the disk", kept)
