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

from numba import njit
from numba.core import event

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


def _digest_of_sources() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


_SOURCES = _digest_of_sources()


def _depends_on_all_sources(cached: Any) -> bool:
    """Make the cache of a function depend on all sources; False if numba has changed too much."""
    index = getattr(getattr(cached, "_cache", None), "_cache_file", None)
    if not hasattr(index, "_source_stamp"):
        return False
    index._source_stamp = (index._source_stamp, _SOURCES)
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
