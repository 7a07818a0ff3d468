"""What the machine has of memory, under limits that the system keeps."""

import resource
import subprocess
import sys

from comarkov.joint import machine

LIMIT = 1_000_000_000
SCRIPT = "from comarkov.joint import machine; print(machine.available_memory())"


def test_the_memory_of_the_machine_is_known():
    assert 1e8 < machine.total_memory() < 1e15
    assert 1e6 < machine.own_memory() < machine.total_memory()
    assert 1e6 < machine.available_memory() < machine.total_memory()


def test_a_limit_of_the_address_space_counts():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert 0.1 * LIMIT < int(done.stdout) < LIMIT


def test_a_limit_of_the_container_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("70000\n")
    (tmp_path / "memory.current").write_text("60000\n")
    monkeypatch.setattr(machine, "GROUP", tmp_path)
    assert machine.available_memory() == 10_000
    assert machine.total_memory() == 70_000
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.available_memory() > 1e6
