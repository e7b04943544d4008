"""Files to download, and figures as such files."""

from typing import NamedTuple

from workbench.dashboard.shared.policy import policy
from workbench.report.captions import caption
from workbench.report.figures import draw_picture, table_of
from workbench.report.gathering import ReportedRun
from workbench.views import Picture

HEIGHTS = {1: 2.1, 2: 2.9}
"""Columns of a journal page that a panel of curves fills → its height in inches."""


class FileError(ValueError):
    """The error that says in one sentence why a file cannot be made and what to do."""


class File(NamedTuple):
    """A file to download."""

    name: str
    content: bytes


def picture_file(
    picture: Picture,
    gathered_runs: tuple[list[ReportedRun], list[str]] | None,
    form: str,
    columns: int = 1,
) -> File:
    """Return a figure as SVG, PDF or PNG, one or two columns of a journal page wide, or the table behind it as CSV.

    The file contains the caption: what the figure shows and, if ``gathered_runs`` has runs (from `gather_started`), their
    settings, their seeds and the command that reproduces them.
    """
    if form == "csv":
        return File(f"{picture.name}.csv", table_of(picture))
    caption_text = (
        policy().for_visitors(caption(picture, *gathered_runs))
        if gathered_runs
        else picture.caption
    )
    return File(
        f"{picture.name}.{form}", draw_picture(picture, (form,), columns, caption_text)[form]
    )
