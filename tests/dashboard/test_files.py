"""What a visitor takes away."""

import io
import zipfile
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from workbench.dashboard import files
from workbench.dashboard.charts import MEASURES
from workbench.dashboard.curve import COLOURS, Drawn
from workbench.dashboard.downloads import Downloads, Handover, size
from workbench.dashboard.files import File, FileError, figure_file, report_file, runs_file, table_file
from workbench.report.export import FORMATS
from workbench.runs.run import open_run


@pytest.fixture
def seen(new_run):
    """Two runs as they are seen on the page, zoomed by hand."""
    paths = new_run("one"), new_run("two", "cgs")
    runs = tuple((path, path.name, colour) for path, colour in zip(paths, COLOURS, strict=False))
    return Drawn(runs, "seconds", "both", (0.0, 2.5), (10.0, 40.0))


def test_the_figure_is_what_is_seen(seen, monkeypatch):
    drawn = []
    monkeypatch.setattr(files, "draw", lambda panels, formats: drawn.append(panels) or {"svg": b"<svg/>"})
    assert figure_file(seen, "svg") == File("simulated-both-perplexity-by-seconds.svg", b"<svg/>")
    ((panel,),) = drawn
    lines = {line.label: line for line in panel}
    assert list(lines) == ["one, state", "one, average", "two, state", "two, average"]
    for (path, name, colour) in seen.runs:
        run = open_run(path)
        for which, style in (("state", "-"), ("average", "--")):
            line = lines[f"{name}, {which}"]
            np.testing.assert_array_equal(line.dimension_values(0), run["elapsed"])
            np.testing.assert_array_equal(line.dimension_values(1), run[f"test_perplexity_{which}"])
            options = line.opts.get("style", backend="matplotlib").kwargs
            assert (options["color"], options["linestyle"]) == (colour, style)
    ranges = panel.opts.get("plot", backend="matplotlib").kwargs
    assert (ranges["xlim"], ranges["ylim"]) == (seen.x_range, seen.y_range)


@pytest.mark.slow
@pytest.mark.parametrize("form, begins", [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_a_figure_comes_in_the_form_that_was_asked_for(seen, form, begins):
    assert figure_file(seen, form).content.startswith(begins)


def test_the_table_has_every_record_of_what_is_seen(seen):
    name, content = table_file(seen)
    assert name == "simulated-both-perplexity-by-seconds.csv"
    table = pd.read_csv(io.BytesIO(content))
    assert list(table) == [
        "run", "label", "seed", "iteration", "steps", "updates", "elapsed", "test_perplexity_state", "test_perplexity_average",
    ]
    for path, name, _ in seen.runs:
        own, run = table[table["run"] == name], open_run(path)
        for column in list(table)[3:]:
            np.testing.assert_array_equal(own[column], 4 * run["iteration"] if column == "steps" else run[column])


@pytest.fixture
def learning(new_run):
    """A run of the HDP that tries moves, and one of LDA that learns, seen by their priors."""
    paths = (
        new_run("hdp", "cv-hdp", n_iterations=8, options={"moves_every": 2, "moves_after": 2}),
        new_run("lda", "cvb0", options={"learn_alpha": "maximised", "learn_after": 2}),
    )
    runs = tuple((path, path.name, colour) for path, colour in zip(paths, COLOURS, strict=False))
    return lambda measure: Drawn(runs, "steps", measure, (0.0, 50.0), (0.0, 5.0))


@pytest.mark.parametrize("measure, stem, of", [
    ("alpha", "alpha-by-steps", {"hdp": "alpha_total", "lda": None}),
    ("beta total", "beta-total-by-steps", {"hdp": "beta_total"}), ("active", "active-by-steps", {"hdp": "n_active_topics"}),
])
def test_files_of_what_is_learnt_have_what_was_recorded_and_leave_out_runs_that_have_nothing(measure, stem, of, learning):
    name, content = table_file(learning(measure))
    assert name == f"simulated-{stem}.csv"
    table, column = pd.read_csv(io.BytesIO(content)), MEASURES[measure][0][0]
    for run, variable in of.items():
        dataset = open_run(learning(measure).runs[run == "lda"][0])
        wanted = dataset[variable] if variable else dataset["alpha"].sum("topic")
        np.testing.assert_allclose(table[table["run"] == run][column], wanted, rtol=1e-15)
    assert figure_file(learning(measure), "svg").name == f"simulated-{stem}.svg"
    if measure == "beta total":
        assert table[table["run"] == "lda"][column].isna().all()


def test_files_of_the_priors_of_topics_have_a_row_for_each_topic_the_largest_first(learning):
    name, content = table_file(learning("by topic"))
    assert name == "simulated-alpha-by-topic.csv"
    table = pd.read_csv(io.BytesIO(content))
    assert list(table) == ["run", "label", "seed", "rank", "prior"]
    for path, name, _ in learning("by topic").runs:
        own, last = table[table["run"] == name], open_run(path)["alpha"].values[-1]
        np.testing.assert_allclose(own["prior"], np.sort(last)[::-1])
        assert own["rank"].tolist() == [1, 2, 3, 4]


def test_a_figure_of_what_no_run_records_is_a_sentence(learning):
    with pytest.raises(FileError, match="no run that is drawn records beta, prior of each word; choose another chart"):
        figure_file(learning("beta"), "svg")


@pytest.mark.slow
def test_the_report_is_of_the_runs_that_are_seen(seen):
    name, content = report_file(seen)
    assert name == "report-simulated-2-runs.html"
    assert content.startswith(b"<!doctype html>") or content.startswith(b"<!DOCTYPE html>")
    assert b"cgs" in content and b"svb" in content


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
    monkeypatch.setattr(files, "Run", lambda path: SimpleNamespace(spec=SimpleNamespace(corpus="../a b/ü")))
    assert files._stem(seen) == "a-b-both-perplexity-by-seconds"


def test_a_click_makes_the_file_hands_it_over_and_forgets_it_when_it_has_arrived():
    handover, made = Handover(), []

    def make() -> File:
        made.append(downloads.buttons["CSV"].disabled)
        return File("numbers.csv", b"1,2")

    downloads = Downloads(handover, {"CSV": lambda: make})
    assert made == []
    downloads.buttons["CSV"].clicks += 1
    assert made == [True] and not downloads.buttons["CSV"].disabled
    assert handover.file == {"name": "numbers.csv", "content": b"1,2"}
    assert "numbers.csv, 1 kB" in downloads.said.object
    handover._handle_msg("something else")
    assert handover.file
    handover._handle_msg("arrived")
    assert handover.file == {}


def test_what_goes_wrong_is_a_sentence_and_the_button_can_be_pressed_again():
    downloads = Downloads(Handover(), {"CSV": lambda: lambda: 1 / 0})
    downloads.buttons["CSV"].clicks += 1
    assert "Division by zero" in downloads.said.object and not downloads.buttons["CSV"].disabled


@pytest.mark.parametrize("n_bytes, text", [
    (1, "1 kB"), (34_400, "34 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (20_000_000, "20.0 MB"),
])
def test_sizes_are_for_people(n_bytes, text):
    assert size(n_bytes) == text
