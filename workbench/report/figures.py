"""Write all figures of a set of runs to files: SVG, PDF, PNG, a caption and the data."""

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path

from workbench.report.captions import caption
from workbench.report.drawing import FORMATS, WIDTHS, draw
from workbench.report.files import ReportError, checked_formats, put_file
from workbench.report.gathering import (
    AnyRun,
    corpora_of,
    gather_started,
    pooled_chains_of,
    scores_of_sequences,
)
from workbench.views import Picture, pictures


def save_figures(
    runs: AnyRun | Iterable[AnyRun],
    folder: str | os.PathLike,
    formats: str | Iterable[str] = FORMATS,
    columns: int = 2,
    store: str | os.PathLike | None = None,
) -> list[Path]:
    """Draw all figures of the runs; write them with captions and data to a folder.

    Parameters
    ----------
    runs, store
        See `workbench.report.gathering.gather`; finished or not.
    folder : path
        Created if missing; files of the same name are replaced.
    formats : of "svg", "pdf", "png"
        All three by default. The same runs give the same bytes.
    columns : {1, 2}, default 2
        Width: one column (3.4 in) or two (7 in) of a journal page.

    Returns
    -------
    list of Path
        For each figure its pictures in the order of ``formats``, then ``.txt`` (caption: settings, split and seeds of its runs,
        and the command that reproduces them; the pictures contain it too) and ``.csv`` (every record, nothing thinned).

    Raises
    ------
    MeasureError, StoreError, ReportError
        No run, an unknown run, none with a committed iteration; an unknown format; a folder that cannot be written.
    """
    formats = checked_formats(formats, FORMATS, "figures are written")
    if columns not in WIDTHS:
        raise ReportError(f"a figure is 1 or 2 columns wide; got {columns!r}")
    if not isinstance(folder, (str, os.PathLike)):
        raise ReportError(f"wanted a folder to write to; got {type(folder).__name__}")
    (entries, left_out), folder, written = gather_started(runs, store), Path(folder), []
    datasets, pooled_chains = [entry.dataset for entry in entries], pooled_chains_of(entries)
    for picture in pictures(
        datasets, columns, corpora_of(entries), scores_of_sequences(entries), pooled_chains
    ):
        written += put_picture(
            picture, folder, formats, columns, caption(picture, entries, left_out)
        )
    return written


def put_picture(
    picture: Picture, folder: Path, formats: Iterable[str], columns: int, text: str
) -> list[Path]:
    """Write a figure in each format, its caption (``text``) as .txt and its table as .csv; return the paths."""
    files = draw_picture(picture, formats, columns, text) | {
        "txt": text.encode(),
        "csv": table_of(picture),
    }
    return [
        put_file(folder / f"{picture.name}.{extension}", content)
        for extension, content in files.items()
    ]


def draw_picture(
    picture: Picture, formats: Iterable[str], columns: int, text: str
) -> dict[str, bytes]:
    """Draw a figure with its title and caption (``text``); return format → bytes."""
    return draw(
        picture.panels,
        columns,
        formats,
        picture.legend,
        picture.height,
        picture.title,
        text,
        picture.width,
    )


def table_of(picture: Picture) -> bytes:
    """Return the data of a figure as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(picture.header)
    writer.writerows(["" if value != value else value for value in row] for row in picture.rows)
    return file.getvalue().encode()
