"""Every figure of a set of runs as files: SVG, PDF, PNG, a caption and the data behind it."""

import csv
import io
import os
from pathlib import Path

from workbench.report.captions import caption
from workbench.report.drawing import FORMATS, WIDTHS, draw
from workbench.report.files import ReportError, put_file
from workbench.report.gathering import corpora_of, gather_begun, pooled, scores_of_sequences
from workbench.views import Picture, pictures


def save_figures(runs, folder, formats=FORMATS, columns: int = 2, store=None) -> list[Path]:
    """Draws every figure that the runs make and writes it with its caption and its data.

    Parameters
    ----------
    runs, store
        See `workbench.report.gathering.gather`; finished or not.
    folder : path
        Made if it is not there; files of the same name are replaced.
    formats : of "svg", "pdf", "png"
        All three by default. The same runs give the same bytes.
    columns : {1, 2}, default 2
        Width: one column (3.4 in) or two (7 in) of a journal page.

    Returns
    -------
    list of Path
        For each figure its pictures in the order of ``formats``, then ``.txt`` (caption: settings, split and seeds of the
        runs that it shows and the command that makes them again; the pictures hold it too) and ``.csv`` (every record,
        nothing thinned).

    Raises
    ------
    MeasureError, StoreError, ReportError
        No run, an unknown run, none with a committed iteration; an unknown format; a folder that cannot be written.
    """
    formats = checked_formats(formats)
    if columns not in WIDTHS:
        raise ReportError(f"a figure is 1 or 2 columns wide; got {columns!r}")
    if not isinstance(folder, (str, os.PathLike)):
        raise ReportError(f"wanted a folder to write to; got {type(folder).__name__}")
    (found, left_out), folder, written = gather_begun(runs, store), Path(folder), []
    datasets, together = [each.dataset for each in found], pooled(found)
    for picture in pictures(
        datasets, columns, corpora_of(found), scores_of_sequences(found), together
    ):
        written += put_picture(picture, folder, formats, columns, caption(picture, found, left_out))
    return written


def checked_formats(formats) -> list[str]:
    """The formats of figures in small letters; an unknown one, or none, is a `ReportError`."""
    formats = [
        str(name).lower().lstrip(".")
        for name in ([formats] if isinstance(formats, str) else formats)
    ]
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise ReportError(
            f"figures are written as {', '.join(FORMATS)}; got {', '.join(unknown) or 'no format'}"
        )
    return formats


def put_picture(picture: Picture, folder: Path, formats, columns: int, text: str) -> list[Path]:
    """Writes a figure under its name in each format, then its caption and the table behind it."""
    files = draw_picture(picture, formats, columns, text) | {
        "txt": text.encode(),
        "csv": table_of(picture),
    }
    return [
        put_file(folder / f"{picture.name}.{extension}", content)
        for extension, content in files.items()
    ]


def draw_picture(picture: Picture, formats, columns: int, text: str) -> dict[str, bytes]:
    """A figure in each format, with its title and caption inside."""
    return draw(
        picture.panels, columns, formats, picture.legend, picture.height, picture.title, text
    )


def table_of(picture: Picture) -> bytes:
    """The table behind a figure as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(picture.header)
    writer.writerows(["" if value != value else value for value in row] for row in picture.rows)
    return file.getvalue().encode()
