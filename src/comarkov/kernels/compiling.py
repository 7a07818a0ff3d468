"""How numba compiles kernels, and when it must compile them again.

Wrappers that nobody calls are not made, for a shorter first use. All arithmetic divides as NumPy
does: by zero, too.
"""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

#: For single precision only: operations may be fused, and so differ between machines.
FUSED = {"contract"}

_compile = partial(njit, error_model="numpy", no_cfunc_wrapper=True)

#: A part of kernels, which Python cannot call.
subroutine = partial(_compile, no_cpython_wrapper=True)

#: A subroutine that is inlined by force: LLVM leaves functions of such a size alone, and then does
#: not vectorise.
step = partial(subroutine, forceinline=True)


def kernel(**options: Any) -> Callable[[Callable], Callable]:
    """A function that Python calls, kept on the disk until any file of this folder changes.

    numba itself looks only at the file that defines the function, and would go on using the old
    version of a step from another file.
    """
    make = partial(_compile, nogil=True, **options)

    def compiled(function: Callable) -> Callable:
        kept = make(cache=True)(function)
        return kept if _depends_on_all_sources(kept) else make()(function)

    return compiled


def _digest_of_sources() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


_SOURCES = _digest_of_sources()


def _depends_on_all_sources(kept: Any) -> bool:
    """Make the cache of a function depend on all sources; False if numba has changed too much."""
    index = getattr(getattr(kept, "_cache", None), "_cache_file", None)
    if not hasattr(index, "_source_stamp"):
        return False
    index._source_stamp = (index._source_stamp, _SOURCES)
    return True
