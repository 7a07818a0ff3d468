"""The error for results that cannot be right, light to import: the command line needs it."""


class InternalError(RuntimeError):
    """A result that cannot be right: a fault of comarkov, not of the data."""
