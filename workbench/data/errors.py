"""The error that readers, writers and checks of data raise."""

from workbench.errors import InputError


class DataError(InputError):
    """Data that cannot be used as they are, or a split that cannot be made."""
