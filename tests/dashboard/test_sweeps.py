"""Several values in a field: a run of each combination."""

import math
from dataclasses import replace

import pytest

from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import (
    describe_sweep,
    paces,
    start_runs,
)
from workbench.numbers import format_duration
from workbench.runs.request import parse, request_fields

TEXT = "text\n" + "apples pears plums apples\nred green blue red\napples red pears green\n" * 20


@pytest.fixture
def form(monkeypatch):
    """A form with two engines, and how many of what; nothing is launched."""
    made = Settings()
    values = {"engines": ["cgs", "svb-cgs", "cv-hdp"], "n_topics": "2, 3", "alpha": "0.1,0.5"}
    for name, value in (values | {"r": "0, 1, inf", "n_iterations": "3", "jobs": "2"}).items():
        made.fields[name].value = value
    return made


@pytest.mark.parametrize(
    "text, value",
    [
        ("10", 10),
        ("10, 20 ,40", [10, 20, 40]),
        ("0.5", 0.5),
        ("0,1,inf", [0, 1, math.inf]),
        ("", None),
        ("1, 1", 1),
        ("often", "often"),
        ("1,,2", [1, "", 2]),
        ("1,", [1, ""]),
        ("1e-3", 0.001),
    ],
)
def test_a_field_holds_a_number_several_or_none(text, value):
    assert parse(request_fields()["r"].field, text) == value


def test_values_that_differ_for_an_engine_are_its_runs_and_are_told_before_the_start(form):
    request = form.request()
    assert not mistakes_in(request)
    assert request.n_runs() == 2 * 2 + 2 * 2 * 3 + 2  # alpha is of LDA, r of the hybrid
    assert "18 runs, 2 in parallel, 16 queued." in form.ahead.object
    form.fields["seeds"].value = "2"
    assert "36 runs" in form.ahead.object
    form.fields["r"].value = "often"
    assert form.ahead.object == ""


def test_one_run_is_told_as_one(form):
    form.fields["engines"].value = ["cv-hdp"]
    form.fields["n_topics"].value = "4"
    assert ">1 run." in form.ahead.object


def test_a_start_makes_a_run_of_every_combination_and_lines_them_up(form, tmp_path, monkeypatch):
    lined = []
    monkeypatch.setattr(
        "workbench.dashboard.compare.starting.enqueue",
        lambda paths, jobs: lined.append((paths, jobs)),
    )
    text = tmp_path / "texts.csv"
    text.write_text(TEXT)
    request = replace(form.request(), corpus=str(text))
    started, finished, sentence = start_runs(tmp_path / "runs", request)
    specs = [run.spec for run in started]
    assert {
        (spec.model["n_topics"], spec.model["alpha"]) for spec in specs if spec.engine == "cgs"
    } == {(k, alpha) for k in (2, 3) for alpha in (0.1, 0.5)}
    assert {
        (spec.model["n_topics"], spec.options["r"]) for spec in specs if spec.engine == "svb-cgs"
    } == {(k, r) for k in (2, 3) for r in (0, 1, "inf")}
    assert [spec.model["n_topics"] for spec in specs if spec.engine == "cv-hdp"] == [2, 3]
    assert (len(started), finished, len({spec.train for spec in specs})) == (18, [], 1)
    assert lined == [([run.path for run in started], 2)]
    assert sentence.startswith("18 runs started, 2 in parallel, about ")


@pytest.mark.parametrize(
    "field, wrong, said",
    [
        ("n_topics", "10, 0", "must be"),
        ("alpha", "0.1, -1", "must be"),
        ("r", "1, often", "“r” of svb-cgs"),
        ("n_topics", "10,,20", "; there is none beside a comma"),
        ("alpha", "0.1,", "; there is none beside a comma"),
        ("jobs", "0", "must be"),
        ("jobs", "10000", "must be"),
    ],
)
def test_one_wrong_value_among_several_is_told_under_its_field(field, wrong, said, form):
    form.fields[field].value = wrong
    found = mistakes_in(form.request())
    assert list(found) == [field] and said in found[field].lower()


def test_more_runs_than_a_click_may_start_are_refused_under_the_field_with_most_values(form):
    form.fields["r"].value = ",".join(map(str, range(500)))
    found = mistakes_in(form.request())
    assert list(found) == ["r"] and "where 500 may be started at once" in found["r"]


def test_the_time_is_told_at_the_pace_of_runs_on_the_same_corpus(form, reading_of):
    readings = [
        reading_of(f"{engine}-run", label=engine, n_topics=5, n_points=6)
        for engine in form.fields["engines"].value
    ]
    pace = paces(readings)
    seconds = readings[0].latest[2] / (6 * 5)
    assert pace == {
        (engine, "kos"): pytest.approx(seconds) for engine in form.fields["engines"].value
    }
    assert paces([reading_of(n_points=4)]) == paces([reading_of()._replace(spec=None)]) == {}
    request = replace(form.request(), corpus="kos", jobs=1)
    assert describe_sweep(request, pace).startswith("18 runs, 1 in parallel, 17 queued; estimated ")
    topics = 2 * (2 + 3) + 2 * 3 * (2 + 3) + (2 + 3)
    assert f"estimated {format_duration(3 * seconds * topics)}." in describe_sweep(request, pace)
    assert "estimated" not in describe_sweep(replace(request, corpus="nips"), pace)
    for change in ({"top_words": 100}, {"merge": 2}, {"repeat": 2}):
        assert "estimated" not in describe_sweep(replace(request, **change), pace)
