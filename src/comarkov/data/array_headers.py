"""What NumPy raises, beside ValueError, for an array whose header is not Python."""

import tokenize

BAD_HEADER = (tokenize.TokenError, SyntaxError)
