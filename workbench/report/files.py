"""Files that appear whole or not at all."""

import os
from pathlib import Path

from workbench.data.saving import partial_of
from workbench.errors import InputError


class ReportError(InputError):
    """What a report wanted, what came, and what to do, in one sentence."""


def put_file(path: Path, content: bytes) -> Path:
    """Writes under a temporary name beside it and renames; a place that cannot be written is a `ReportError`."""
    partial = partial_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True) if path.parent.is_dir() else None
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another place") from error
    return path
