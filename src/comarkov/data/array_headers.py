"""Arrays from files: what NumPy raises for bad headers, and text that Python cannot hold."""

import sys
import tokenize

import numpy as np

#: What NumPy raises, beside ValueError, for a header that is not Python.
BAD_HEADER = (tokenize.TokenError, SyntaxError)


def is_text(array: np.ndarray) -> bool:
    """Are all characters of an array of text characters? Python ends with SystemError if not."""
    if array.dtype.kind != "U" or array.dtype.itemsize == 0 or array.size == 0:
        return True
    code = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    codes = np.ascontiguousarray(array).reshape(-1).view(code)
    return bool(codes.max() <= sys.maxunicode)
