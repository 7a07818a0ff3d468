"""Mutation testing: change one operator, number or statement at a time; do the tests notice?

    python dev/mutate.py [TARGET ...] [--sample N] [--seed S]

The project is copied, so the working tree never changes. Every mutant is tested in a process that
is forked after NumPy, numba and the kernels are loaded, which takes longer than most tests.
Mutants are drawn at random from all that a target has, others every day unless a seed is given:
tests written for the survivors of one sample say little about the rest.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PASSED = 0  # the exit code of pytest


class Target(NamedTuple):
    """Modules to change, and the fastest tests that concern them."""

    modules: list[str]
    tests: list[str]
    compiled: bool = True  # are kernels compiled? Mutants of kernels take too long to compile


TARGETS = {
    "costs": Target(
        ["costs/*.py"],
        ["tests/costs", "tests/search/test_network.py", "tests/search/test_known_choices.py"],
    ),
    "kernels": Target(
        ["kernels/[!c]*.py"],  # compiling.py matters only where it compiles
        ["tests/kernels", "tests/search", "-m", "uncompiled"],
        compiled=False,
    ),
    "selection": Target(
        ["search/select/*.py"],
        [
            "tests/search/test_rules.py",
            "tests/search/test_known_choices.py",
            "tests/search/test_selection.py",
            "tests/search/test_beta.py",
        ],
    ),
    "writer": Target(
        ["io/files.py", "io/interrupts.py"],
        ["tests/io/test_files.py", "tests/io/test_interrupts.py"],
    ),
}

BOTH_WAYS = "Add Sub, Mult Div, LShift RShift, BitAnd BitOr, And Or, Lt LtE, Gt GtE, Eq NotEq"
SWAPS = {
    getattr(ast, one): getattr(ast, other)
    for pair in f"{BOTH_WAYS}, Is IsNot, In NotIn".split(", ")
    for one, other in (pair.split(), pair.split()[::-1])
} | {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult}


class Change(NamedTuple):
    """A way to change a node of a module."""

    line: int
    title: str
    make: Callable[[], None]


# --- what can be changed ------------------------------------------------------------------------


def changes(tree: ast.AST) -> Iterator[Change]:
    """Yield all changes of a module, always in the same order."""
    for node in _code(tree):
        yield from _swaps(node)
        if isinstance(node, ast.Constant):
            yield from _constants(node)
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield _replace(node, "test", ast.UnaryOp(ast.Not(), node.test), "not (condition)")
        elif isinstance(node, ast.Return) and not isinstance(node.value, ast.Constant | None):
            yield _replace(node, "value", ast.Constant(None), "return None")
        if isinstance(node, ast.stmt):
            yield from _deletions(node)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: neither annotations nor decorators, which tests cannot notice.

    Functions that write machine code run only when numba compiles, and mutants of kernels do not.
    """
    if any(getattr(one, "id", "") == "intrinsic" for one in getattr(tree, "decorator_list", [])):
        return
    if _is_hint(tree):
        return
    yield tree
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _is_hint(tree: ast.AST) -> bool:
    """Does it only fetch cells into the cache? That changes no result."""
    if isinstance(tree, ast.For):
        return all(map(_is_hint, tree.body))
    call = getattr(tree, "value", None) if isinstance(tree, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "").startswith("fetch")


def _swaps(node: ast.AST) -> Iterator[Change]:
    operators = getattr(node, "ops", None) or [getattr(node, "op", None)]
    for i, operator in enumerate(operators):
        if type(operator) not in SWAPS:
            continue
        other = SWAPS[type(operator)]()
        title = f"{type(operator).__name__} -> {type(other).__name__}"
        if hasattr(node, "ops"):
            yield Change(node.lineno, title, lambda i=i, o=other: node.ops.__setitem__(i, o))
        else:
            yield _replace(node, "op", other, title)


def _constants(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        other: object = not node.value
    elif isinstance(node.value, int | float):
        other = node.value + 1
    else:
        return
    yield _replace(node, "value", other, f"{node.value} -> {other}")


def _deletions(node: ast.stmt) -> Iterator[Change]:
    for name in ("body", "orelse", "finalbody"):
        for i, child in enumerate(getattr(node, name, [])):
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            can_go = isinstance(child, ast.Expr | ast.AugAssign | ast.Raise)
            if can_go and not is_text and not _is_hint(child):
                statements = getattr(node, name)
                title = f"delete {ast.unparse(child)[:50]!r}"
                yield Change(
                    child.lineno, title, lambda i=i, s=statements: s.__setitem__(i, ast.Pass())
                )


def _replace(node: ast.AST, name: str, value: object, title: str) -> Change:
    return Change(node.lineno, title, lambda: setattr(node, name, value))


def mutant(source: str, number: int) -> tuple[Change, str]:
    """Return one of the changes of a module, and the source after it."""
    tree = ast.parse(source)
    change = list(changes(tree))[number]
    change.make()
    return change, ast.unparse(ast.fix_missing_locations(tree))


# --- tests of mutants ---------------------------------------------------------------------------


def run_tests(copy: Path, target: Target, limit: float) -> int | None:
    """Run the tests of a target in a forked process; None if they take too long."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(copy)
        with open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        import pytest

        options = ["-x", "-p", "no:cacheprovider", "--hypothesis-profile=quick"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded before
        if not target.compiled:  # NumPy warns where compiled kernels do not
            options += ["-W", "ignore::RuntimeWarning"]
        os._exit(int(pytest.main([*options, *target.tests])))
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def load_kernels(compiled: bool) -> None:
    """Load what takes long, but none of our modules that may change."""
    for name in ("pytest", "sklearn.base"):
        import_module(name)
    if compiled:
        sys.path.append("tests")
        import conftest

        conftest.use_every_kernel()
        sys.path.remove("tests")
    for name in list(sys.modules):
        ours = name.split(".")[0] in ("comarkov", "conftest")
        if ours and not (compiled and name.startswith("comarkov.kernels")):
            del sys.modules[name]


def test_target(copy: Path, name: str, sample: int, seed: int) -> bool:
    """Test a sample of the mutants of a target; print the survivors. Do tests kill 90 %?"""
    target = TARGETS[name]
    package = copy / "src" / "comarkov"
    files = sorted({path for form in target.modules for path in package.glob(form)})
    if not files:
        raise SystemExit(f"{name}: no file is called {' or '.join(target.modules)}")
    sources = {path: path.read_text() for path in files}
    everything = [
        (path, i) for path in files for i in range(len(list(changes(ast.parse(sources[path])))))
    ]
    start = time.monotonic()
    if run_tests(copy, target, 600) != PASSED:
        raise SystemExit(f"{name}: the tests fail without any change")
    limit = 3 * (time.monotonic() - start) + 10
    chosen = sorted(random.Random(seed).sample(everything, min(sample, len(everything))))
    killed = 0
    for path, number in chosen:
        change, text = mutant(sources[path], number)
        path.write_text(text)
        code = run_tests(copy, target, limit)
        path.write_text(sources[path])
        killed += code != PASSED
        if code == PASSED:
            line = sources[path].splitlines()[change.line - 1].strip()
            print(f"{path.relative_to(package)}:{change.line}: {change.title}: {line}", flush=True)
    took = time.monotonic() - start
    print(f"{name}: {killed} of {len(chosen)} killed ({len(everything)} mutants), {took:.0f} s")
    return killed >= 0.9 * len(chosen)


def _run_target(target: str, settings: list[str]) -> tuple[str, bool]:
    """Test a target in a process of its own; return its last line, and do tests kill 90 %?"""
    command = [sys.executable, __file__, target, *settings]
    line = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            print(line, end="", flush=True)
    return line.strip(), child.returncode == 0


def main() -> None:
    """Test the targets, each in a process of its own: only one can run without compiled kernels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET")
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=date.today().toordinal())
    options = parser.parse_args()
    if len(options.targets) > 1:
        settings = [f"--sample={options.sample}", f"--seed={options.seed}"]
        runs = [_run_target(target, settings) for target in options.targets]
        print("; ".join(summary for summary, _ in runs))
        sys.exit(not all(is_good for _, is_good in runs))
    (name,) = options.targets
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "benchmarks", "demo"))
        os.chdir(copy)
        os.environ.update(PYTHONPATH=str(copy / "src"), PYTHONDONTWRITEBYTECODE="1")
        if not TARGETS[name].compiled:
            os.environ["NUMBA_DISABLE_JIT"] = "1"
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(copy / "src"))
        load_kernels(TARGETS[name].compiled)
        is_good = test_target(copy, name, options.sample, options.seed)
    sys.exit(not is_good)


if __name__ == "__main__":
    main()
