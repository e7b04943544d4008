"""What a visitor takes away: the figure that is seen, the numbers behind it, the report, whole runs. All of it as bytes."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.dashboard.curve import AXES, MEASURES, Drawn
from workbench.measures import Curve
from workbench.report import export_run, write_report
from workbench.report.drawing import draw
from workbench.report.export import FORMATS
from workbench.runs.run import Run
from workbench.views.curves import overlay
from workbench.views.style import MARKERS, Look

NAMES = {"csv": "CSV", "npz": "NumPy (npz)", "mallet": "MALLET", "pyldavis": "pyLDAvis"}
FORMS = {NAMES.get(form, form): form for form in FORMATS}
"""What the page calls the formats of a whole run."""
LINES = ("-", "--")
CLOCKS = ("iteration", "updates", "elapsed")
LARGEST = 256 * 2**20
"""Bytes that a page hands over; more would lie in the server's memory for each visitor."""


class FileError(ValueError):
    """What a file wanted, what came, and what to do, in one sentence."""


class File(NamedTuple):
    """A file for the visitor's browser."""

    name: str
    content: bytes


def figure_file(drawn: Drawn, extension: str) -> File:
    """The figure as it is seen (runs, colours, measure, axis, ranges), drawn for paper: svg, pdf or png."""
    _something(drawn)
    x_column, columns = AXES[drawn.axis][0], MEASURES[drawn.measure][0]
    curves, looks = [], {}
    for at, (path, label, colour) in enumerate(drawn.runs):
        progress = Run(path).progress()
        for column, line in zip(columns, LINES, strict=False):
            if column in progress:
                name = label if len(columns) == 1 else f"{label}, {column.rpartition('_')[2]}"
                x, y = (progress[each].values.astype(float) for each in (x_column, column))
                curves.append(Curve(name, name, x, y, np.full(len(x), np.nan), 1))
                looks[name] = Look(colour, line, MARKERS[at % len(MARKERS)])
    panel = overlay(curves, columns[0], x_column, looks).opts(
        xlim=drawn.x_range, ylim=drawn.y_range, backend="matplotlib"
    )
    return File(f"{_stem(drawn)}.{extension}", draw([panel], formats=(extension,))[extension])


def table_file(drawn: Drawn) -> File:
    """Every record of the runs that are seen, nothing thinned, as CSV: run, label, seed, clocks and what is drawn."""
    _something(drawn)
    tables = []
    for path, label, _ in drawn.runs:
        run = Run(path)
        progress = run.progress()
        told = {name: progress[name].values for name in (*CLOCKS, *MEASURES[drawn.measure][0]) if name in progress}
        tables.append(pd.DataFrame({"run": run.name, "label": label, "seed": run.spec.seed} | told))
    return File(f"{_stem(drawn)}.csv", pd.concat(tables).to_csv(index=False, lineterminator="\n").encode())


def report_file(drawn: Drawn) -> File:
    """The report of the runs that are seen."""
    _something(drawn)
    with tempfile.TemporaryDirectory() as folder:
        path = write_report([path for path, *_ in drawn.runs], Path(folder) / "report.html")
        return File(f"report-{_corpora(drawn)}-{_counted(drawn.runs)}.html", path.read_bytes())


def runs_file(paths: list[Path], form: str) -> File:
    """Whole runs in a format of `export_run`, zipped, a folder each.

    Raises
    ------
    FileError
        No run, or more than a page hands over.
    """
    if not paths:
        raise FileError("no run is ticked; tick the runs to download in the table")
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "runs.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in paths:
                for written in export_run(Run(path), Path(folder) / path.name, (form,)):
                    archive.write(written, written.relative_to(folder))
        if (size := packed.stat().st_size) > LARGEST:
            raise FileError(
                f"{_counted(paths)} as {form} make {size / 2**20:.0f} MiB where a page hands over {LARGEST / 2**20:.0f}; "
                "tick fewer runs, or use `workbench export` in a terminal"
            )
        name = paths[0].name if len(paths) == 1 else _counted(paths)
        return File(f"{name}-{form}.zip", packed.read_bytes())


def _something(drawn: Drawn) -> None:
    if not drawn.runs:
        raise FileError("nothing is drawn; click the swatch of a run in the table, or wait for its first iteration")


def _stem(drawn: Drawn) -> str:
    """What the figure shows, as the name of a file: docstrings-headline-perplexity-by-iterations."""
    return f"{_corpora(drawn)}-{drawn.measure}-perplexity-by-{drawn.axis}"


def _corpora(drawn: Drawn) -> str:
    names = dict.fromkeys(Run(path).spec.corpus for path, *_ in drawn.runs)
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", "+".join(names)).strip("-.")[:60] or "corpus"


def _counted(runs) -> str:
    return "1-run" if len(runs) == 1 else f"{len(runs)}-runs"
