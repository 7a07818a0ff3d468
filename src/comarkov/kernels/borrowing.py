"""Arrays without owners, for which numba counts no references."""

from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic


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


if config.DISABLE_JIT:  # then kernels are Python, which has no such functions

    def borrow(value):
        """Return the same."""
        return value
