"""Guess the obvious roles of columns of a file from the columns' names and first values."""

from workbench.corpus.shards.sharded import is_sharded
from workbench.corpus.times import times_of
from workbench.dashboard.compare.starting import path_of
from workbench.dashboard.shared.uploads import ReceivedFile
from workbench.errors import DataError
from workbench.runs.execution.bounded_reading import columns_bounded
from workbench.runs.request import OF_FILES

TIME = f"{OF_FILES}time"
USUAL = {
    "text": (
        "text",
        "body",
        "content",
        "abstract",
        "article",
        "message",
        "review",
        "comment",
        "description",
        "tweet",
        "post",
    ),
    TIME: ("date", "time", "year", "timestamp", "published", "created_at", "day"),
    "title": ("title", "headline", "subject", "name", "id"),
    "label": ("label", "category", "class", "section", "topic", "group", "genre"),
}
"""Field of the form → usual names of its column, the likeliest first."""
LEAST_WORDS = 4
"""Words per value, on average, from which a column without a usual name is taken for the texts."""


def columns_of(
    corpus: str | ReceivedFile, format: str | None, encoding: str
) -> dict[str, list[str]] | None:
    """Return a dict column -> its first values, for the file named in the form; None if the form names no file.

    Raises
    ------
    DataError, PolicyError
        The file cannot be read, or there is none.
    """
    if (path := path_of(corpus)) is None:
        return None
    if is_sharded(path):
        return {}  # its columns were chosen when the shards were written
    return columns_bounded(path, format=format, encoding=encoding)


def guess_columns(columns: dict[str, list[str]]) -> dict[str, str]:
    """Return a dict field of the form -> column, for fields whose column is obvious; no column serves two fields."""
    columns_of_fields: dict[str, str] = {}
    for field, names in USUAL.items():
        names_of_columns = {
            column.lower(): column
            for column in reversed(columns)
            if column not in columns_of_fields.values()
        }
        fitting = [
            names_of_columns[name]
            for name in names
            if name in names_of_columns
            and (field != TIME or _are_times(columns[names_of_columns[name]]))
        ]
        if fitting:
            columns_of_fields[field] = fitting[0]
        elif field == "text" and (longest := _longest_column(columns)) is not None:
            columns_of_fields[field] = longest
    return columns_of_fields


def _longest_column(columns: dict[str, list[str]]) -> str | None:
    """Return the column with the most words per value; None if even that has fewer than `LEAST_WORDS`."""
    words = {
        name: sum(len(value.split()) for value in values) / max(1, len(values))
        for name, values in columns.items()
    }
    name = max(words, key=words.get, default=None)
    return name if name is not None and words[name] >= LEAST_WORDS else None


def _are_times(values: list[str]) -> bool:
    try:
        return any(time is not None for time in times_of(values, "", str))
    except DataError:
        return False
