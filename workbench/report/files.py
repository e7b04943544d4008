"""Atomic writing of files, and their formats."""

from collections.abc import Collection, Iterable
from pathlib import Path

from workbench.data.saving import replacing
from workbench.errors import InputError


class ReportError(InputError):
    """Raised when a report cannot be made or written."""


def put_file(path: Path, content: bytes) -> Path:
    """Write a file atomically and return its path; raise ReportError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror}; choose another place") from error
    return path


def checked_formats(
    formats: str | Iterable[str], known_formats: Collection[str], beginning: str
) -> list[str]:
    """Return formats, given as a list or comma-separated text, in lower case; raise ReportError for unknown or no format.

    ``beginning`` is that of the error's sentence, as "figures are written".
    """
    names = formats.split(",") if isinstance(formats, str) else formats
    formats = [str(name).strip().lower().lstrip(".") for name in names]
    unknown = [name for name in formats if name not in known_formats]
    if unknown or not formats:
        got = ", ".join(map(repr, unknown)) or "no format"
        raise ReportError(f"{beginning} as {', '.join(known_formats)}; got {got}")
    return formats
