"""The downloads of the Compare page: the drawn figure, the report, and complete runs."""

import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from workbench.dashboard.compare.charts import (
    AXES,
    CHARTS,
    MEASURES,
    describe_measure,
)
from workbench.dashboard.compare.curve import Drawn
from workbench.dashboard.compare.grouping import mean_of
from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.numbers import COLUMNS, numbers_of
from workbench.dashboard.shared.policy import policy
from workbench.data.opening import data_folders
from workbench.measures import Curve
from workbench.measures.curves import smoothed
from workbench.models import VARIABLES
from workbench.numbers import format_size
from workbench.report import export_run, write_report
from workbench.report.export import FORMATS
from workbench.report.page import RESEARCHERS
from workbench.runs.execution.run import Run
from workbench.views import Picture
from workbench.views.elements import (
    LINES,
    MARKERS,
    Look,
    dimension,
    faint_curve,
    line_across,
    overlay,
    point_at,
)
from workbench.views.picture import BANDS

NAMES = {"csv": "CSV", "npz": "NumPy (npz)", "mallet": "MALLET", "pyldavis": "pyLDAvis"}
FORMS = {NAMES.get(form, form): form for form in FORMATS}
"""Label → format of a complete run."""
WIDTHS = (1.3, 0.65)
"""Widths in points of the lines of the first and of the second quantity."""
CLOCKS = ("iteration", "steps", "updates", "elapsed")
LARGEST = 256 * 2**20
"""Bytes of the largest download, since it is in the server's memory for each visitor."""


def curve_picture(drawn: Drawn) -> tuple[Picture, list[Path]]:
    """Return a picture of the figure as the page shows it (colours, axes, smoothing, target, ranges), and its runs.

    Its table has every record of the curves: the run, its clocks and the values drawn. The table of a mean has the label, the
    number of runs, and after each value its standard error (``_se``). Smoothed values (``_smoothed``) follow the recorded ones.
    """
    x_name, x_label = AXES[drawn.axis]
    names, y_label = MEASURES[drawn.measure]
    curves, looks, beside, tables = [], {}, [], []
    n_before = Counter()
    for label, colour, runs, numbers, errors in _lines(drawn):
        tables.append(_records(drawn, label, runs, numbers, errors))
        dash, marker = LINES[n_before[colour] % len(LINES)], MARKERS[len(curves) % len(MARKERS)]
        n_before[colour] += 1
        for column, width in zip(names, WIDTHS, strict=False):
            x, y, error = numbers[x_name], numbers[column], errors[column]
            if not np.isfinite(y).any():
                continue
            name = label if len(names) == 1 else f"{label}, {column.rpartition('_')[2]}"
            if not runs[0].spec.length:  # an imported model: a horizontal line
                x, y, error = np.array(drawn.x_range), np.full(2, y[-1]), np.full(2, np.nan)
                looks[name] = Look(colour, ":", marker, WIDTHS[0])
            else:
                looks[name] = Look(colour, dash, marker, width)
                below = np.flatnonzero(y <= (-np.inf if drawn.target is None else drawn.target))
                if below.size and column == names[0]:
                    beside.append(point_at(x[below[0]], y[below[0]], colour))
                if drawn.smoothing:
                    beside.append(faint_curve(x, y, colour))
                    y, error = smoothed(y, drawn.smoothing), smoothed(error, drawn.smoothing)
            curves.append(Curve(name, name, x, y, error, len(runs)))
    if not curves:
        raise FileError(f"no run that is drawn records {y_label}; choose another chart")
    if names[0] in VARIABLES and drawn.measure in CHARTS["Perplexity"]:
        y_label = dimension(names[0]).pprint_label
    if x_name in VARIABLES:
        x_label = dimension(x_name).pprint_label
    across = [line_across(drawn.target, *drawn.x_range)] if drawn.target is not None else []
    panel = overlay(curves, names[0], x_name, looks, under=[*across, *beside]).opts(
        xlim=drawn.x_range,
        ylim=drawn.y_range,
        xlabel=x_label,
        ylabel=y_label,
        logx="x" in drawn.log,
        logy="y" in drawn.log,
        backend="matplotlib",
    )
    records = pd.concat(tables)
    title, rows = f"{y_label}, against {x_label}", records.to_numpy(object).tolist()
    return (
        Picture(_stem(drawn), title, _sentences(drawn), [panel], list(records), rows),
        [path for path, *_ in drawn.runs],
    )


def _records(
    drawn: Drawn,
    label: str,
    runs: list[Run],
    numbers: dict[str, np.ndarray],
    errors: dict[str, np.ndarray],
) -> pd.DataFrame:
    """Return the table of a curve's records, with the columns that `curve_picture` describes."""
    columns = (
        {"label": label, "n_runs": len(runs), "runs": " ".join(run.name for run in runs)}
        if drawn.mean
        else {"run": runs[0].name, "label": label, "seed": runs[0].spec.seed}
    )
    columns |= {name: numbers[name] for name in CLOCKS}
    for name in MEASURES[drawn.measure][0]:
        columns[name] = numbers[name]
        columns |= {f"{name}_se": errors[name]} if drawn.mean else {}
        if drawn.smoothing:
            columns[f"{name}_smoothed"] = smoothed(numbers[name], drawn.smoothing)
    return pd.DataFrame(columns)


def _sentences(drawn: Drawn) -> str:
    said = (
        describe_measure(drawn.measure),
        drawn.mean and BANDS.strip(),
        drawn.smoothing
        and f"Smoothed: a point before weighs {drawn.smoothing:g} beside a point; what was recorded is faint.",
        drawn.log and f"The {' and the '.join(drawn.log)} axis is logarithmic.",
        drawn.target is not None
        and f"Marks are where a curve is first at or below {drawn.target:,.7g}, the line across.",
    )
    return " ".join(filter(None, said))


def _lines(
    drawn: Drawn,
) -> Iterator[tuple[str, str, list[Run], dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Yield label, colour and runs of each curve, and dicts column -> values and column -> standard errors.

    Standard errors of a single run are NaN.
    """
    _require_runs(drawn)
    several = Counter(label for _, label, _ in drawn.runs)
    lines: dict[str | Path, tuple[str, str, list[Run]]] = {}
    for path, label, colour in drawn.runs:
        name = label if drawn.mean or several[label] == 1 else f"{label}, {path.name}"
        lines.setdefault(label if drawn.mean else path, (name, colour, []))[-1].append(Run(path))
    for label, colour, runs in lines.values():
        both = mean_of([numbers_of(run.progress()) for run in runs])
        numbers, errors = (dict(zip(COLUMNS, part.T, strict=True)) for part in both)
        whole = ("iteration", "updates") if len(runs) == 1 else ("iteration",)
        numbers |= {
            name: numbers[name].astype(np.int64)
            for name in whole
            if np.isfinite(numbers[name]).all()
        }
        yield label, colour, runs, numbers, errors


def report_file(drawn: Drawn, audience: str = RESEARCHERS) -> File:
    """Return the report on the drawn runs, for readers on the first of them."""
    _require_runs(drawn)
    with tempfile.TemporaryDirectory() as folder:
        runs, file = [path for path, *_ in drawn.runs], Path(folder) / "report.html"
        content = write_report(runs, file, audience=audience).read_text()
    if policy().others:  # who are not told where files lie
        for home in (*(path.resolve().parent for path, *_ in drawn.runs), *data_folders()):
            content = content.replace(str(home), home.name)
    name = "report" if audience == RESEARCHERS else "readers"
    return File(f"{name}-{_corpora(drawn)}-{_counted(drawn.runs)}.html", content.encode())


def runs_file(paths: list[Path], form: str) -> File:
    """Return a zip file with a folder for each run, exported in the format ``form`` of `export_run`.

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
                f"{_counted(paths)} as {form} make {format_size(size)} where a page hands over {format_size(LARGEST)}; "
                "tick fewer runs, or use `workbench export` in a terminal"
            )
        name = paths[0].name if len(paths) == 1 else _counted(paths)
        return File(f"{name}-{form}.zip", packed.read_bytes())


def _require_runs(drawn: Drawn) -> None:
    if not drawn.runs:
        raise FileError(
            "nothing is drawn; click the swatch of a run in the table, or wait for its first iteration"
        )


def _stem(drawn: Drawn) -> str:
    """Return the figure's file name without extension, with corpora, measure and axis."""
    what = (
        f"{drawn.measure}-perplexity"
        if drawn.measure in CHARTS["Perplexity"]
        else drawn.measure.replace(" ", "-")
    )
    what = f"mean-{what}" if drawn.mean else what
    return f"{_corpora(drawn)}-{what}-by-{drawn.axis}"


def _corpora(drawn: Drawn) -> str:
    names = dict.fromkeys(Run(path).spec.corpus for path, *_ in drawn.runs)
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", "+".join(names)).strip("-.")[:60] or "corpus"


def _counted(runs) -> str:
    return "1-run" if len(runs) == 1 else f"{len(runs)}-runs"
