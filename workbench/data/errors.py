"""The error that readers, writers and checks of data raise."""


class DataError(ValueError):
    """What was wanted of the data, what came, and what to do about it, in one sentence."""
