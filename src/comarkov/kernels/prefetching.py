"""Cells of tables that are fetched into the cache before they are needed.

The entries of a matrix lead to rows of a table that lie anywhere in memory. Without a hint, the
processor waits for each of them.
"""

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiling import step

LINE = 16  # cells of 4 bytes that a processor fetches together
READ, KEEP, DATA = 0, 3, 1  # operands of the instruction


@intrinsic
def fetch(typing_context, table, row, column):
    """Fetch a cell and those near it; a hint, which does nothing else."""

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.ptrtoint(array.data, ir.IntType(64))
        strides = cgutils.unpack_tuple(builder, array.strides)
        for i, stride in enumerate(strides, 1):
            number = context.cast(builder, args[i], signature.args[i], types.intp)
            place = builder.add(place, builder.mul(number, stride))
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        options = [ir.Constant(integer, option) for option in (READ, KEEP, DATA)]
        builder.call(instruction, [builder.inttoptr(place, byte), *options])
        return context.get_dummy_value()

    return types.void(table, row, column), codegen


if config.DISABLE_JIT:  # then kernels are Python, which has no such instruction

    def fetch(table, row, column):
        """Do nothing."""


@step()
def fetch_row(table, row):
    """Fetch all cells of a row."""
    for a in range(0, table.shape[1], LINE):
        fetch(table, row, a)
