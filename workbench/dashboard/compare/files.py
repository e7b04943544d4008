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
from workbench.dashboard.compare.curve import FigureState
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


def curve_picture(state: FigureState) -> tuple[Picture, list[Path]]:
    """Return a picture of the figure as the page shows it (colours, axes, smoothing, target, ranges), and its runs.

    Its table has every record of the curves: the run, its clocks and the values drawn. The table of a mean has the label, the
    number of runs, and after each value its standard error (``_se``). Smoothed values (``_smoothed``) follow the recorded ones.
    """
    x_name, x_label = AXES[state.axis]
    names, y_label = MEASURES[state.measure]
    curves, looks_of_curves, marks, tables = [], {}, [], []
    n_before = Counter()
    for label, colour, runs, numbers, errors in _lines(state):
        tables.append(_records(state, label, runs, numbers, errors))
        dash, marker = LINES[n_before[colour] % len(LINES)], MARKERS[len(curves) % len(MARKERS)]
        n_before[colour] += 1
        for column, width in zip(names, WIDTHS, strict=False):
            x, y, error = numbers[x_name], numbers[column], errors[column]
            if not np.isfinite(y).any():
                continue
            name = label if len(names) == 1 else f"{label}, {column.rpartition('_')[2]}"
            if not runs[0].spec.length:  # an imported model: a horizontal line
                x, y, error = np.array(state.x_range), np.full(2, y[-1]), np.full(2, np.nan)
                looks_of_curves[name] = Look(colour, ":", marker, WIDTHS[0])
            else:
                looks_of_curves[name] = Look(colour, dash, marker, width)
                indices = np.flatnonzero(y <= (-np.inf if state.target is None else state.target))
                if indices.size and column == names[0]:
                    marks.append(point_at(x[indices[0]], y[indices[0]], colour))
                if state.smoothing:
                    marks.append(faint_curve(x, y, colour))
                    y, error = smoothed(y, state.smoothing), smoothed(error, state.smoothing)
            curves.append(Curve(name, name, x, y, error, len(runs)))
    if not curves:
        raise FileError(f"no run that is drawn records {y_label}; choose another chart")
    if names[0] in VARIABLES and state.measure in CHARTS["Perplexity"]:
        y_label = dimension(names[0]).pprint_label
    if x_name in VARIABLES:
        x_label = dimension(x_name).pprint_label
    across = [line_across(state.target, *state.x_range)] if state.target is not None else []
    panel = overlay(curves, names[0], x_name, looks_of_curves, under=[*across, *marks]).opts(
        xlim=state.x_range,
        ylim=state.y_range,
        xlabel=x_label,
        ylabel=y_label,
        logx="x" in state.log,
        logy="y" in state.log,
        backend="matplotlib",
    )
    records = pd.concat(tables)
    title, rows = f"{y_label}, against {x_label}", records.to_numpy(object).tolist()
    return (
        Picture(_stem(state), title, _sentences(state), [panel], list(records), rows),
        [path for path, *_ in state.runs],
    )


def _records(
    state: FigureState,
    label: str,
    runs: list[Run],
    numbers: dict[str, np.ndarray],
    errors: dict[str, np.ndarray],
) -> pd.DataFrame:
    """Return the table of a curve's records, with the columns that `curve_picture` describes."""
    columns = (
        {"label": label, "n_runs": len(runs), "runs": " ".join(run.name for run in runs)}
        if state.mean
        else {"run": runs[0].name, "label": label, "seed": runs[0].spec.seed}
    )
    columns |= {name: numbers[name] for name in CLOCKS}
    for name in MEASURES[state.measure][0]:
        columns[name] = numbers[name]
        columns |= {f"{name}_se": errors[name]} if state.mean else {}
        if state.smoothing:
            columns[f"{name}_smoothed"] = smoothed(numbers[name], state.smoothing)
    return pd.DataFrame(columns)


def _sentences(state: FigureState) -> str:
    sentences = (
        describe_measure(state.measure),
        state.mean and BANDS.strip(),
        state.smoothing
        and f"Smoothed: a point before weighs {state.smoothing:g} beside a point; what was recorded is faint.",
        state.log and f"The {' and the '.join(state.log)} axis is logarithmic.",
        state.target is not None
        and f"Marks are where a curve is first at or below {state.target:,.7g}, the line across.",
    )
    return " ".join(filter(None, sentences))


def _lines(
    state: FigureState,
) -> Iterator[tuple[str, str, list[Run], dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Yield label, colour and runs of each curve, and dicts column -> values and column -> standard errors.

    Standard errors of a single run are NaN.
    """
    _require_runs(state)
    several = Counter(label for _, label, _ in state.runs)
    lines: dict[str | Path, tuple[str, str, list[Run]]] = {}
    for path, label, colour in state.runs:
        name = label if state.mean or several[label] == 1 else f"{label}, {path.name}"
        lines.setdefault(label if state.mean else path, (name, colour, []))[-1].append(Run(path))
    for label, colour, runs in lines.values():
        both = mean_of([numbers_of(run.progress()) for run in runs])
        numbers, errors = (dict(zip(COLUMNS, rows.T, strict=True)) for rows in both)
        whole_columns = ("iteration", "updates") if len(runs) == 1 else ("iteration",)
        numbers |= {
            name: numbers[name].astype(np.int64)
            for name in whole_columns
            if np.isfinite(numbers[name]).all()
        }
        yield label, colour, runs, numbers, errors


def report_file(state: FigureState, audience: str = RESEARCHERS) -> File:
    """Return the report on the drawn runs, for readers on the first of them."""
    _require_runs(state)
    with tempfile.TemporaryDirectory() as folder:
        runs, file = [path for path, *_ in state.runs], Path(folder) / "report.html"
        content = write_report(runs, file, audience=audience).read_text()
    if policy().others:  # who are not told where files lie
        for home in (*(path.resolve().parent for path, *_ in state.runs), *data_folders()):
            content = content.replace(str(home), home.name)
    name = "report" if audience == RESEARCHERS else "readers"
    return File(f"{name}-{_corpora(state)}-{_number_of_runs(state.runs)}.html", content.encode())


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
        archive_path = Path(folder) / "runs.zip"
        with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in paths:
                for written in export_run(Run(path), Path(folder) / path.name, (form,)):
                    archive.write(written, written.relative_to(folder))
        if (size := archive_path.stat().st_size) > LARGEST:
            raise FileError(
                f"{_number_of_runs(paths)} as {form} make {format_size(size)} where a page hands over {format_size(LARGEST)}; "
                "tick fewer runs, or use `workbench export` in a terminal"
            )
        name = paths[0].name if len(paths) == 1 else _number_of_runs(paths)
        return File(f"{name}-{form}.zip", archive_path.read_bytes())


def _require_runs(state: FigureState) -> None:
    if not state.runs:
        raise FileError(
            "nothing is drawn; click the swatch of a run in the table, or wait for its first iteration"
        )


def _stem(state: FigureState) -> str:
    """Return the figure's file name without extension, with corpora, measure and axis."""
    measure_name = (
        f"{state.measure}-perplexity"
        if state.measure in CHARTS["Perplexity"]
        else state.measure.replace(" ", "-")
    )
    measure_name = f"mean-{measure_name}" if state.mean else measure_name
    return f"{_corpora(state)}-{measure_name}-by-{state.axis}"


def _corpora(state: FigureState) -> str:
    names = dict.fromkeys(Run(path).spec.corpus for path, *_ in state.runs)
    return re.sub(r"[^A-Za-z0-9._=-]+", "-", "+".join(names)).strip("-.")[:60] or "corpus"


def _number_of_runs(runs) -> str:
    return "1-run" if len(runs) == 1 else f"{len(runs)}-runs"
