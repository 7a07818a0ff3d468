"""How numba compiles kernels: wrappers that nobody calls are not made, for a shorter first use."""

from functools import partial

from numba import njit

#: Called from Python, and kept on the disk.
kernel = partial(njit, nogil=True, cache=True, no_cfunc_wrapper=True)

#: A part of kernels, which Python cannot call. It is inlined by force: LLVM leaves functions of
#: such a size alone, and then does not vectorise.
step = partial(njit, forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)
