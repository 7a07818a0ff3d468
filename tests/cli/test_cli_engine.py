"""``comarkov fit --engine dask``, and ``--checkpoint``."""

from commands import assert_refused, run
from dask_processes import processes

FIT = ("fit", "southern-women", "-k", "2", "-l", "3", "--seed", "0")


def test_workers_of_this_machine(tmp_path):
    done = run(*FIT, "--engine", "dask", "-j", "1", "-o", "dask", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "distributed" not in done.stderr
    assert run(*FIT, "-o", "local", cwd=tmp_path).returncode == 0
    for name in ("rows.csv", "columns.csv", "blocks.csv"):
        assert (tmp_path / "dask" / name).read_text() == (tmp_path / "local" / name).read_text()


def test_a_scheduler(tmp_path):
    with processes(tmp_path, 1) as started:
        options = "--engine", "dask", "--scheduler", started.address
        done = run(*FIT, *options, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "rows.csv").exists()


def test_what_is_wrong_with_an_engine(tmp_path):
    for options, words in (
        (("--engine", "spark"), "Unknown engine 'spark'. Use --engine local"),
        (("--scheduler", "tcp://127.0.0.1:9"), "add --engine dask"),
    ):
        assert_refused(run(*FIT, *options, "-o", "out", cwd=tmp_path), words)


def test_no_scheduler_answers(tmp_path, monkeypatch):
    monkeypatch.setattr("comarkov.search.parallel.dask_client.ANSWER", 0.5)
    options = "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"
    done = run(*FIT, *options, "-o", "out", cwd=tmp_path)
    assert_refused(done, "No Dask scheduler answers at tcp://127.0.0.1:9")
    assert "--scheduler tcp://127.0.0.1:8786" in done.stderr


def test_a_checkpoint_is_removed_at_the_end(tmp_path):
    (tmp_path / "fit.npz").write_text("something else")
    done = run(*FIT, "--checkpoint", "fit.npz", "-o", "out", cwd=tmp_path)
    assert_refused(done, "fit.npz is not a checkpoint of comarkov")
    assert "--checkpoint other.npz" in done.stderr
    (tmp_path / "fit.npz").unlink()
    assert run(*FIT, "--checkpoint", "fit.npz", "-o", "out", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "fit.npz").exists()
