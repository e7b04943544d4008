"""A file for the visitor's browser, and a figure as one."""

from typing import NamedTuple

from workbench.report.captions import caption
from workbench.report.figures import draw_picture, table_of
from workbench.report.gathering import ReportedRun
from workbench.views import Picture

HEIGHTS = {1: 2.1, 2: 2.9}
"""Inches of a panel of curves that is as wide as one column of a journal page, or as two."""


class FileError(ValueError):
    """Why a file cannot be made and what to do, in one sentence."""


class File(NamedTuple):
    """A file for the visitor's browser."""

    name: str
    content: bytes


def picture_file(
    picture: Picture,
    gathered: tuple[list[ReportedRun], list[str]] | None,
    form: str,
    columns: int = 1,
) -> File:
    """A figure for paper as svg, pdf or png, as wide as one or two columns of a journal page; as csv the table behind it.

    The caption is inside: what is to be seen, and settings and seeds of the runs as `gather_started` gave them, if any, with
    the command that makes them again.
    """
    if form == "csv":
        return File(f"{picture.name}.csv", table_of(picture))
    said = caption(picture, *gathered) if gathered else picture.caption
    return File(f"{picture.name}.{form}", draw_picture(picture, (form,), columns, said)[form])
