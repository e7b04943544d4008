"""Atomic writing of files."""

from pathlib import Path

from workbench.data.saving import replacing
from workbench.errors import InputError


class ReportError(InputError):
    """Raised when a report cannot be made or written."""


def put_file(path: Path, content: bytes) -> Path:
    """Write a file atomically through a temporary file; raise ReportError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another place") from error
    return path
