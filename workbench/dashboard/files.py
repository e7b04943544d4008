"""What a visitor takes away: the figure that is seen, the numbers behind it, the report, whole runs. All of it as bytes."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from workbench.dashboard.charts import AXES, BY_TOPIC, CHARTS, MEASURES, RANK
from workbench.dashboard.curve import Drawn
from workbench.dashboard.numbers import COLUMNS, by_size, last_alphas, numbers_of
from workbench.measures import Curve
from workbench.models import VARIABLES
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
CLOCKS = ("iteration", "steps", "updates", "elapsed")
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
    x_name, x_label = RANK if drawn.measure == BY_TOPIC else AXES[drawn.axis]
    columns, y_label = MEASURES[drawn.measure]
    curves, looks = [], {}
    for at, (path, label, colour) in enumerate(drawn.runs):
        numbers = _numbers(path, drawn)
        for column, line in zip(columns, LINES, strict=False):
            if np.isfinite(numbers[column]).any():
                name = label if len(columns) == 1 else f"{label}, {column.rpartition('_')[2]}"
                x, y = numbers[x_name], numbers[column]
                curves.append(Curve(name, name, x, y, np.full(len(x), np.nan), 1))
                looks[name] = Look(colour, line, MARKERS[at % len(MARKERS)])
    if not curves:
        raise FileError(f"no run that is drawn records {y_label}; choose another chart")
    own = {"ylabel": y_label} if columns[0] not in VARIABLES or drawn.measure not in CHARTS["Perplexity"] else {}
    own |= {"xlabel": x_label} if x_name not in VARIABLES else {}
    panel = overlay(curves, columns[0], x_name, looks).opts(
        xlim=drawn.x_range, ylim=drawn.y_range, backend="matplotlib", **own
    )
    return File(f"{_stem(drawn)}.{extension}", draw([panel], formats=(extension,))[extension])


def table_file(drawn: Drawn) -> File:
    """Every record of the runs that are seen, nothing thinned, as CSV: run, label, seed, clocks and what is drawn."""
    _something(drawn)
    tables = []
    for path, label, _ in drawn.runs:
        numbers, run = _numbers(path, drawn), Run(path)
        clocks = (RANK[0],) if drawn.measure == BY_TOPIC else CLOCKS
        told = {name: numbers[name] for name in (*clocks, *MEASURES[drawn.measure][0])}
        tables.append(pd.DataFrame({"run": run.name, "label": label, "seed": run.spec.seed} | told))
    return File(f"{_stem(drawn)}.csv", pd.concat(tables).to_csv(index=False, lineterminator="\n").encode())


def _numbers(path: Path, drawn: Drawn) -> dict[str, np.ndarray]:
    """Column → the numbers of a run, nothing thinned."""
    progress = Run(path).progress()
    if drawn.measure == BY_TOPIC:
        prior = by_size(last_alphas(progress))
        return {RANK[0]: np.arange(1, len(prior) + 1), "prior": prior}
    numbers = dict(zip(COLUMNS, numbers_of(progress).T, strict=True))
    whole = {name: numbers[name].astype(np.int64) for name in ("iteration", "updates")}
    return numbers | whole


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
    if drawn.measure == BY_TOPIC:
        return f"{_corpora(drawn)}-alpha-by-topic"
    what = f"{drawn.measure}-perplexity" if drawn.measure in CHARTS["Perplexity"] else drawn.measure.replace(" ", "-")
    return f"{_corpora(drawn)}-{what}-by-{drawn.axis}"


def _corpora(drawn: Drawn) -> str:
    names = dict.fromkeys(Run(path).spec.corpus for path, *_ in drawn.runs)
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", "+".join(names)).strip("-.")[:60] or "corpus"


def _counted(runs) -> str:
    return "1-run" if len(runs) == 1 else f"{len(runs)}-runs"
