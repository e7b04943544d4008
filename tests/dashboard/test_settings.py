"""The form, its checks, and the link."""

from dataclasses import fields
from html import unescape

import pytest

from workbench.dashboard.link import from_query, take, to_query, widget_part, written
from workbench.dashboard.settings import FILE, Settings, check
from workbench.dashboard.starting import start_runs, told
from workbench.engines import ENGINES, get_engine
from workbench.models import LDA
from workbench.runs.run import open_runs


def test_every_option_of_every_engine_has_a_field():
    options = {field.name for name in ENGINES for field in fields(get_engine(name).options)}
    assert options == set(Settings().options)


def test_defaults_are_those_of_the_model_and_the_comparison():
    values = Settings().values()
    assert (values["n_topics"], values["alpha"], values["beta"]) == tuple(field.default for field in fields(LDA))
    assert (values["n_iterations"], values["seed"], values["seeds"], values["holdout"]) == (300, 0, 1, 0.1)
    assert values["corpus"] == "docstrings"
    check(values)


def test_only_options_of_the_chosen_engines_are_shown_and_told():
    form = Settings()
    form.engines.value = ["cgs"]
    assert not any(widget.visible for widget in form.options.values())
    assert form.values()["options"] == {}
    form.engines.value = ["svb"]
    assert [name for name, widget in form.options.items() if widget.visible] == ["schedule"]


def test_the_path_is_there_when_the_corpus_is_a_file():
    form = Settings()
    assert not form.path.visible
    form.corpus.value, form.path.value = FILE, " some/where.csv "
    assert form.path.visible
    assert form.values()["corpus"] == "some/where.csv"


@pytest.mark.parametrize("wrong, said", [
    ({"n_topics": 0}, "topics must be"), ({"n_topics": None}, "topics must be"), ({"alpha": -1.0}, "alpha must be"),
    ({"beta": 0.0}, "beta must be"), ({"n_iterations": 0}, "iterations must be"), ({"seed": -1}, "seed must be"),
    ({"seeds": 0}, "number of seeds must be"), ({"holdout": 1.0}, "test share must be"),
    ({"holdout": None}, "test share must be"),
    ({"engines": []}, "choose at least one engine"), ({"options": {"r": "often"}}, "option 'r'"),
    ({"corpus": "/no/such/file.csv"}, "no file and no folder"), ({"corpus": ""}, "needs a path"),
])
def test_a_mistake_is_one_sentence_and_starts_nothing(wrong, said):
    asked = []
    form = Settings(on_start=asked.append)
    values = form.values() | wrong
    form.values = lambda: values
    form.start.clicks += 1
    assert asked == []
    assert said in unescape(form.said.object).lower()
    assert 'class="bad"' in form.said.object and form.said.visible


def test_a_sentence_is_text_whatever_is_in_it():
    form = Settings()
    form.say("<img src=x onerror=alert(1)>", "bad")
    assert "<img" not in form.said.object


def test_a_start_makes_a_run_of_each_engine_and_seed(tmp_path, monkeypatch):
    launched = []
    monkeypatch.setattr("workbench.runs.run.launch", launched.append)
    text = tmp_path / "texts.csv"
    text.write_text("text\n" + "apples pears plums apples\nred green blue red\napples red pears green\n" * 20)
    values = Settings().values() | {"corpus": str(text), "seeds": 2, "n_iterations": 3, "n_topics": 2}
    started, finished = start_runs(tmp_path / "runs", values)
    assert (len(started), finished) == (6, [])
    names = {run.name for run in started}
    assert {run.name for run in open_runs(tmp_path / "runs")} == names == {path.name for path in launched}
    assert told(started, finished) == "6 runs started."


def test_a_corpus_that_cannot_be_split_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.runs.run.launch", lambda path: pytest.fail("started"))
    text = tmp_path / "texts.csv"
    text.write_text("text\napples pears\n")
    with pytest.raises(ValueError, match=r"\w"):
        start_runs(tmp_path / "runs", Settings().values() | {"corpus": str(text), "holdout": 0.01})
    assert open_runs(tmp_path / "runs") == []


def test_a_finished_run_is_said_to_be_there():
    assert told([], [object()]) == "1 run was there already, finished; change the seed or raise the iterations for more."


def test_a_link_goes_round_for_every_field():
    form, other = Settings(), Settings()
    parts, others = ({name: widget_part(w) for name, w in f.widgets().items()} for f in (form, other))
    assert to_query(parts) == ""
    unusual = {"corpus": FILE, "path": "a & b=c.csv", "engines": ["cgs"], "r": "inf", "n_samples": 3, "phases": "interleaved",
               "schedule": "sequential", "n_topics": 7, "alpha": 0.25, "beta": 1e-05, "n_iterations": 42, "seed": 9, "seeds": 2,
               "holdout": 0.0}
    assert unusual.keys() == form.widgets().keys()
    for name, value in unusual.items():
        form.widgets()[name].value = value
    assert from_query(to_query(parts), others) == []
    assert {name: widget.value for name, widget in other.widgets().items()} == unusual


@pytest.mark.parametrize("name, text", [
    ("n_topics", "many"), ("n_topics", "1.5"), ("alpha", "nan"), ("alpha", "inf"), ("engines", "cgs,nonsense"),
    ("corpus", "/etc"), ("schedule", "<b>"), ("seed", ""),
])
def test_a_value_of_the_link_that_does_not_fit_is_left_out(name, text):
    widget = Settings().widgets()[name]
    before = widget.value
    assert not take(widget, text)
    assert widget.value == before


def test_numbers_are_written_as_people_do():
    assert [written(value) for value in (0.1, 1.0, 300, None, ["a", "b"])] == ["0.1", "1", "300", "", "a,b"]
