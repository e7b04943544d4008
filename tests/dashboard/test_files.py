"""What a visitor takes away."""

import io
import zipfile
from functools import partial
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from workbench.dashboard.compare import files
from workbench.dashboard.compare.charts import MEASURES
from workbench.dashboard.compare.curve import FigureState
from workbench.dashboard.compare.files import (
    curve_picture,
    runs_file,
)
from workbench.dashboard.shared.downloads import Downloads, Handover, picture_downloads
from workbench.dashboard.shared.files import File, FileError
from workbench.measures import mean_curves
from workbench.measures.curves import smoothed
from workbench.models import VARIABLES
from workbench.report.drawing import WIDTHS
from workbench.report.export import FORMATS
from workbench.runs.execution.run import open_run
from workbench.views.elements import COLOURS
from workbench.views.picture import BANDS


@pytest.fixture
def seen(new_run):
    """Two runs as they are seen on the page, zoomed by hand."""
    paths = new_run("one"), new_run("two", "cgs")
    runs = tuple((path, path.name, colour) for path, colour in zip(paths, COLOURS, strict=False))
    return FigureState(runs, "seconds", "both", (0.0, 2.5), (10.0, 40.0))


def test_the_figure_is_what_is_seen(seen):
    picture, paths = curve_picture(seen)
    assert paths == [path for path, *_ in seen.runs]
    (panel,) = picture.panels
    lines = {line.label: line for line in panel}
    assert list(lines) == ["one, state", "one, average", "two, state", "two, average"]
    for path, name, _ in seen.runs:
        run = open_run(path)
        for which in ("state", "average"):
            line = lines[f"{name}, {which}"]
            np.testing.assert_array_equal(line.dimension_values(0), run["elapsed"])
            np.testing.assert_array_equal(line.dimension_values(1), run[f"test_perplexity_{which}"])
    ranges = panel.opts.get("plot", backend="matplotlib").kwargs
    assert (ranges["xlim"], ranges["ylim"]) == (seen.x_range, seen.y_range)


def file_of(drawn, form: str, columns: int = 1) -> File:
    """The file that a click hands over."""
    handover = Handover()
    downloads = picture_downloads(handover, lambda: partial(curve_picture, drawn))
    downloads.width.value = columns
    downloads.buttons[form].clicks += 1
    return File(**handover.file)


def told(svg: bytes) -> tuple[float, str, str]:
    """Width in points, title and caption of a file."""
    root = ElementTree.fromstring(svg)
    return (
        float(root.get("width").removesuffix("pt")),
        root.find("{*}title").text,
        root.find("{*}desc").text,
    )


@pytest.mark.parametrize("columns", [1, 2])
def test_a_figure_is_as_wide_as_the_columns_of_a_page_and_says_what_it_shows_and_how_it_was_made(
    columns, seen
):
    width, title, caption = told(
        file_of(seen._replace(target=20.0, smoothing=0.5), "SVG", columns).content
    )
    assert width == pytest.approx(72 * WIDTHS[columns])
    assert title == "held-out perplexity, against inference time (s)"
    for part in (
        VARIABLES["test_perplexity_average"].meaning,
        "a point before weighs 0.5",
        "at or below 20,",
        "inference seeds: 0\n",
        "alpha (per topic): 0.1",
        ".npz --engines svb,cgs --topics 4",
    ):
        assert part in caption
    assert BANDS not in caption


def test_the_table_has_every_record_of_what_is_seen(seen):
    name, content = file_of(seen, "CSV")
    assert name == "simulated-both-perplexity-by-seconds.csv"
    table = pd.read_csv(io.BytesIO(content))
    assert list(table) == [
        "run",
        "label",
        "seed",
        "iteration",
        "steps",
        "updates",
        "elapsed",
        "test_perplexity_state",
        "test_perplexity_average",
    ]
    for path, name, _ in seen.runs:
        own, run = table[table["run"] == name], open_run(path)
        for column in list(table)[3:]:
            wanted = 4 * run["iteration"] if column == "steps" else run[column]
            # pandas before 3.1 rounds what it reads
            np.testing.assert_allclose(own[column], wanted, rtol=1e-12)


@pytest.fixture
def repeated(new_run):
    """Three runs of one label and one of another, seen as means, smoothed, with a target that one of the lines reaches."""
    paths = [new_run(f"svb-{seed}", seed=seed, n_iterations=12 + seed) for seed in range(3)]
    runs = tuple((path, "svb · mean of 3", COLOURS[0]) for path in paths)
    lone = (new_run("lone", "cgs"), "cgs", COLOURS[1])
    return FigureState((*runs, lone), "updates", "state", (0.0, 9.0), (1.0, 40.0), True, 0.5, 20.0)


def test_files_of_means_hold_mean_error_and_what_is_smoothed(repeated):
    name, content = file_of(repeated, "CSV")
    assert name == "simulated-mean-state-perplexity-by-updates.csv"
    table, measure = pd.read_csv(io.BytesIO(content)), "test_perplexity_state"
    assert list(table) == [
        "label",
        "n_runs",
        "runs",
        "iteration",
        "steps",
        "updates",
        "elapsed",
        measure,
        f"{measure}_se",
        f"{measure}_smoothed",
    ]
    (curve,) = mean_curves([open_run(path) for path, *_ in repeated.runs[:3]], measure, "updates")
    own = table[table["label"] == "svb · mean of 3"]
    assert set(own["n_runs"]) == {3} and set(own["runs"]) == {"svb-0 svb-1 svb-2"}
    for column, wanted in (
        ("updates", curve.x),
        (measure, curve.y),
        (f"{measure}_se", curve.error),
        (f"{measure}_smoothed", smoothed(curve.y, 0.5)),
    ):
        np.testing.assert_allclose(own[column], wanted, rtol=1e-9, atol=1e-12)
    assert table[table["label"] == "cgs"][f"{measure}_se"].isna().all()


@pytest.fixture
def learning(new_run):
    """A run of the HDP that tries moves, and one of LDA that learns, seen by their priors."""
    paths = (
        new_run("hdp", "cv-hdp", n_iterations=8, options={"moves_every": 2, "moves_after": 2}),
        new_run("lda", "cvb0", options={"learn_alpha": "maximised", "learn_after": 2}),
    )
    runs = tuple((path, path.name, colour) for path, colour in zip(paths, COLOURS, strict=False))
    return lambda measure: FigureState(runs, "steps", measure, (0.0, 50.0), (0.0, 5.0))


@pytest.mark.parametrize(
    "measure, stem, of",
    [
        ("alpha", "alpha-by-steps", {"hdp": "alpha_total", "lda": None}),
        ("beta total", "beta-total-by-steps", {"hdp": "beta_total"}),
        ("active", "active-by-steps", {"hdp": "n_active_topics"}),
    ],
)
def test_files_of_what_is_learnt_have_what_was_recorded_and_leave_out_runs_that_have_nothing(
    measure, stem, of, learning
):
    name, content = file_of(learning(measure), "CSV")
    assert name == f"simulated-{stem}.csv"
    table, column = pd.read_csv(io.BytesIO(content)), MEASURES[measure][0][0]
    for run, variable in of.items():
        dataset = open_run(learning(measure).runs[run == "lda"][0])
        wanted = dataset[variable] if variable else dataset["alpha"].sum("topic")
        np.testing.assert_allclose(table[table["run"] == run][column], wanted, rtol=1e-15)
    if measure == "beta total":
        assert table[table["run"] == "lda"][column].isna().all()


def test_a_figure_of_what_no_run_records_is_a_sentence(learning):
    with pytest.raises(
        FileError,
        match="no run that is drawn records beta, prior of each word; choose another chart",
    ):
        curve_picture(learning("beta"))


@pytest.mark.parametrize("form", FORMATS)
def test_whole_runs_come_zipped_with_a_folder_each(seen, form):
    paths = [path for path, *_ in seen.runs]
    name, content = runs_file(paths, form)
    assert name == f"2-runs-{form}.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert {path.split("/")[0] for path in archive.namelist()} == {"one", "two"}
    assert runs_file(paths[:1], form).name == f"one-{form}.zip"


def test_more_than_a_page_hands_over_is_a_sentence(seen, monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 100)
    with pytest.raises(FileError, match="tick fewer runs, or use `workbench export`"):
        runs_file([path for path, *_ in seen.runs], "csv")


def test_a_corpus_of_any_name_makes_a_name_of_a_file(seen, monkeypatch):
    monkeypatch.setattr(
        files, "Run", lambda path: SimpleNamespace(spec=SimpleNamespace(corpus="../a b/ü"))
    )
    assert files._stem(seen) == "a-b-both-perplexity-by-seconds"


def test_a_click_makes_the_file_hands_it_over_and_forgets_it_when_it_has_arrived():
    handover = Handover()
    downloads = Downloads(handover, {"CSV": lambda: lambda: File("numbers.csv", b"1,2")})
    downloads.buttons["CSV"].clicks += 1
    assert not downloads.buttons["CSV"].disabled and "numbers.csv, 1 kB" in downloads.status.object
    for message in ("something else", "arrived"):
        assert handover.file == {"name": "numbers.csv", "content": b"1,2"}
        handover._handle_msg(message)
    assert handover.file == {}


def test_what_goes_wrong_is_a_sentence_and_the_button_can_be_pressed_again():
    downloads = Downloads(Handover(), {"CSV": lambda: lambda: 1 / 0})
    downloads.buttons["CSV"].clicks += 1
    assert "Division by zero" in downloads.status.object and not downloads.buttons["CSV"].disabled
