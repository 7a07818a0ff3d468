"""How numba compiles kernels, when it must compile them again, and the notice that it does.

Wrappers that are never called are not built, which shortens the first use. All arithmetic divides
as NumPy does, by zero too.
"""

import logging
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import config, njit, types

from .._compat import cgutils, event, intrinsic, ir

NOTICE = "comarkov compiles its numerical code on first use, which takes about 15 seconds."

#: For single precision only: operations may be fused, and so differ between machines.
FUSED = {"contract"}

_compile = partial(njit, error_model="numpy", no_cfunc_wrapper=True)

#: A part of kernels, which Python cannot call.
subroutine = partial(_compile, no_cpython_wrapper=True)

#: A subroutine that is always inlined: LLVM does not inline functions of this size by itself, and
#: then does not vectorise.
step = partial(subroutine, forceinline=True)


def kernel(**options: Any) -> Callable[[Callable], Callable]:
    """A function that Python calls, cached on disk until any file of this folder changes.

    numba itself checks only the file that defines the function, and would go on using the old
    version of a step from another file.
    """
    make = partial(_compile, nogil=True, **options)

    def compiled(function: Callable) -> Callable:
        cached = make(cache=True)(function)
        return cached if _depends_on_all_sources(cached) else make()(function)

    return compiled


_FILES = sorted(Path(__file__).parent.glob("*.py"))
_SOURCES = sha256(b"\0".join(file.read_bytes() for file in _FILES)).hexdigest()


def _depends_on_all_sources(cached: Any) -> bool:
    """Make the cache of a function depend on all sources; False if numba has changed too much.

    The version is compared before anything else is read, so types that no longer exist do no harm.
    """
    index = getattr(getattr(cached, "_cache", None), "_cache_file", None)
    if not hasattr(index, "_version"):
        return False
    index._version = f"{index._version} {_SOURCES}"
    return True


class _Notice(event.Listener):
    """Logs once per process that kernels are compiled, not just loaded from the cache.

    Without any configuration, Python prints warnings of a logger on stderr. Silence this one with
    ``logging.getLogger("comarkov").setLevel("ERROR")``.
    """

    def __init__(self) -> None:
        self._is_logged = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not self._is_logged and function.__module__.startswith(f"{__package__}."):
            self._is_logged = True
            logging.getLogger("comarkov").warning(NOTICE)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())


@intrinsic
def borrow(typing_context, value):
    """Return an array, or a tuple of arrays, without the owners of the arrays.

    Counting references takes an atomic operation per array and call, on a counter that all threads
    share. It is not needed: the caller of a kernel keeps the arrays alive until it returns.
    """

    def codegen(context, builder, signature, args):
        return _without_owner(context, builder, value, args[0])

    return value(value), codegen


def _without_owner(context, builder, kind, value):
    if isinstance(kind, types.BaseTuple):
        members = zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
        borrowed = [_without_owner(context, builder, *member) for member in members]
        return context.make_tuple(builder, kind, borrowed)
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


CELLS_FETCHED = 16  # cells of 4 bytes that a processor fetches together
PREFETCH = 0, 3, 1  # operands of the instruction: to read, to keep, data


@intrinsic
def fetch(typing_context, table, row, column):
    """Fetch a cell and those near it; a hint, which does nothing else."""

    def codegen(context, builder, signature, args):
        array = context.make_array(table)(context, builder, args[0])
        place = builder.ptrtoint(array.data, ir.IntType(64))
        strides = cgutils.unpack_tuple(builder, array.strides)
        for arg, kind, stride in zip(args[1:], (row, column), strides, strict=True):
            number = context.cast(builder, arg, kind, types.intp)
            place = builder.add(place, builder.mul(number, stride))
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        options = [ir.Constant(integer, option) for option in PREFETCH]
        builder.call(instruction, [builder.inttoptr(place, byte), *options])
        return context.get_dummy_value()

    return types.void(table, row, column), codegen


if config.DISABLE_JIT:  # then kernels are Python, which has no such functions

    def borrow(value):
        """Return the same."""
        return value

    def fetch(table, row, column):
        """Do nothing."""


@step()
def fetch_row(table, row):
    """Fetch all cells of a row."""
    for a in range(0, table.shape[1], CELLS_FETCHED):
        fetch(table, row, a)
