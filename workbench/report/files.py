"""Atomic writing of files."""

import os
from pathlib import Path

from workbench.data.saving import partial_of
from workbench.errors import InputError


class ReportError(InputError):
    """Raised when a report cannot be made or written."""


def put_file(path: Path, content: bytes) -> Path:
    """Write a file atomically through a temporary file; raise ReportError if it cannot be written."""
    partial = partial_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True) if path.parent.is_dir() else None
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another place") from error
    return path
