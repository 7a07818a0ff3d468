"""What NumPy raises, beside ValueError, for the header of an array that is not the text it wrote."""

import tokenize

BAD_HEADER = (tokenize.TokenError, SyntaxError)
