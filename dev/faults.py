"""Signals at random moments of real commands: output is complete or absent, and the next run works.

    python dev/faults.py --kill 300 --term 100 --interrupt 100

Every command runs in a folder of its own. After each signal the folder is inspected, and the same
command runs once more, undisturbed. What ``datasets fetch`` downloads comes from a slow server on
this machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from commands import COMARKOV, run

ARCHIVE = "archive.bin"
FETCH = """
import sys
from pathlib import Path
try:
    from comarkov.io.datasets.collections import Archive
    from comarkov.io.interrupts import end_like_ctrl_c, ended
    end_like_ctrl_c()
    Archive({file!r}, ({url!r},), {size}, {digest!r}).fetch(Path("."))
except KeyboardInterrupt:
    sys.exit(ended()[1] if "ended" in globals() else 130)
"""
MAX_SECONDS = 300  # seconds that any command may take
EXIT_CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}


@dataclass
class Case:
    """A command, what it writes, and what is there before it starts."""

    name: str
    arguments: list[str]
    target: str
    check: Callable[[Path], str]  # what is wrong with the target; nothing if it is complete
    before: Callable[[Path], None] = lambda folder: None
    keeps: bool = False  # must there be a complete target after every signal?
    is_resumed: bool = False  # may unfinished work stay beside the target?
    program: list[str] = field(default_factory=lambda: COMARKOV)
    seconds: float = 0.0  # of an undisturbed run

    def start(self, folder: Path) -> subprocess.Popen[str]:
        """Start the command in a folder."""
        return subprocess.Popen(
            [*self.program, *self.arguments],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )


def main() -> None:
    """Run all cases with all signals, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, count in (("kill", 300), ("term", 100), ("interrupt", 100)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args()
    signals = (
        [signal.SIGKILL] * options.kill
        + [signal.SIGTERM] * options.term
        + [signal.SIGINT] * options.interrupt
    )
    rng = random.Random(options.seed)
    rng.shuffle(signals)
    done, problems = Counter[str](), []
    with cases() as every, tempfile.TemporaryDirectory() as folder:
        for case in every:
            case.seconds = run_undisturbed(case, Path(folder) / f"{case.name}-first", problems)
            print(f"{case.name}: {case.seconds:.1f} s undisturbed", flush=True)
        for number, which in enumerate(signals):
            case = every[number % len(every)]
            found = run_disturbed(case, Path(folder) / str(number), which, rng)
            found = [f"{case.name}, {which.name}: {problem}" for problem in found]
            problems += found
            done[f"{case.name} {which.name}"] += 1
            for problem in found:
                print(problem, flush=True)
    print(f"{sum(done.values())} signals, {len(problems)} problems")
    if options.json:
        figures = {"signals": dict(sorted(done.items())), "problems": problems}
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    sys.exit(bool(problems))


def run_undisturbed(case: Case, folder: Path, problems: list[str]) -> float:
    """Run a command to its end; return its seconds."""
    folder.mkdir()
    case.before(folder)
    begin = time.monotonic()
    problems += _run_to_the_end(case, folder)
    shutil.rmtree(folder)
    return time.monotonic() - begin


def run_disturbed(case: Case, folder: Path, which: signal.Signals, rng: random.Random) -> list[str]:
    """Send a signal at a random moment; return all that is wrong after it, and after a next run."""
    folder.mkdir()
    case.before(folder)
    child = case.start(folder)
    time.sleep(rng.uniform(0.0, 1.1 * case.seconds))
    child.send_signal(which)
    try:
        _, errors = child.communicate(timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        return [f"it did not end in {MAX_SECONDS} s"]
    problems = []
    if which != signal.SIGKILL:
        if child.returncode not in (0, 1, EXIT_CODES[which], -which):
            problems.append(f"exit code {child.returncode}")
        if "Traceback" in errors:
            problems.append(errors[-2000:])
    target = folder / case.target
    if target.exists():
        problems += filter(None, [case.check(target)])
    elif case.keeps:
        problems.append("what was there is gone")
    if which == signal.SIGKILL:
        for draft in folder.glob(".*.part"):  # of a killed process
            draft.unlink() if draft.is_file() else shutil.rmtree(draft)
    problems += _run_to_the_end(case, folder)
    shutil.rmtree(folder)
    return problems


def _run_to_the_end(case: Case, folder: Path) -> list[str]:
    """Run the command, undisturbed, if its target is not there; return all that is wrong then."""
    target = folder / case.target
    if target.exists() and not case.keeps and not case.is_resumed:
        return []
    child = case.start(folder)
    _, errors = child.communicate(timeout=MAX_SECONDS)
    if child.returncode:
        return [f"the next run fails: {errors[-2000:]}"]
    if not target.exists():
        return ["the next run writes nothing"]
    problems = list(filter(None, [case.check(target)]))
    drafts = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    return problems + [f"{name} is left" for name in drafts]


# --- the cases ------------------------------------------------------------------------------------


@contextmanager
def cases() -> Iterator[list[Case]]:
    """All cases; the server that one of them needs runs meanwhile."""
    fit = ["fit", "southern-women", "-k", "2", "-l", "3", "--seed", "0", "-q", "-o", "out"]
    every = [
        Case("fit", fit, "out", _results),
        Case("fit --force", [*fit, "--force"], "out", _results, before=_earlier, keeps=True),
        Case("pack", ["pack", "edges.csv", "-o", "store", "-q"], "store", _store, before=_edges),
        Case(
            "reproduce",
            ["reproduce", "circulant", "--runs", "2", "--out", "pages"],
            "pages/index.html",
            _page,
            is_resumed=True,
        ),
    ]
    content = random.Random(2).randbytes(5_000_000)
    with serving(content) as address:
        digest = hashlib.sha256(content).hexdigest()
        code = FETCH.format(file=ARCHIVE, size=len(content), digest=digest, url=address)
        fetch = Case("datasets fetch", ["-c", code], ARCHIVE, _is(content))
        fetch.program = [sys.executable]
        yield [*every, fetch]


def _earlier(folder: Path) -> None:
    """Results of an earlier fit; made once, and copied."""
    kept = folder.parent / "earlier"
    if not kept.exists():
        command = ["fit", "southern-women", "-k", "3", "-l", "3", "-q", "-o", str(kept)]
        subprocess.run([*COMARKOV, *command], check=True, stdout=subprocess.DEVNULL)
    shutil.copytree(kept, folder / "out")


def _results(target: Path) -> str:
    """Load and use everything in a folder of results."""
    names = {path.name for path in target.iterdir()}
    wanted = {"rows.csv", "columns.csv", "report.html", "summary.json", "model", "data.npz"}
    if wanted - names:
        return f"{sorted(wanted - names)} is missing"
    return _fails("info", target, "--json")


def _edges(folder: Path) -> None:
    rng = random.Random(1)
    lines = [f"u{rng.randrange(5000)},i{rng.randrange(900)}" for _ in range(300_000)]
    (folder / "edges.csv").write_text("user,item\n" + "\n".join(lines) + "\n")


def _store(target: Path) -> str:
    """The checksums of a store."""
    return _fails("info", target, "--json")


def _page(target: Path) -> str:
    """A page of the paper's experiments, which holds its pictures."""
    text = target.read_text(encoding="utf-8")
    return "" if text.rstrip().endswith("</html>") else "the page has no end"


def _fails(*arguments: object) -> str:
    done = run(*arguments)
    return done.stderr[-2000:] if done.returncode else ""


def _is(content: bytes) -> Callable[[Path], str]:
    return lambda target: "" if target.read_bytes() == content else "the download is not whole"


@contextmanager
def serving(content: bytes) -> Iterator[str]:
    """A server that sends the content in about two seconds."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            start = int(self.headers.get("Range", "bytes=0-")[6:].rstrip("-") or 0)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.end_headers()
            step = len(content) // 20
            for i in range(start, len(content), step):
                self.wfile.write(content[i : i + step])
                time.sleep(0.1)

        def log_message(self, *arguments: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # the client was killed
                super().handle()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{ARCHIVE}"
        server.shutdown()


if __name__ == "__main__":
    main()
