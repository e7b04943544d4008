"""Every field of the form: what is typed or chosen is what the runs that it starts are told to do."""

from pathlib import Path

import pytest
from form_values import CELLS, REST, ROWS, data_of_engine, option_value
from missing import skip_without_budoux, skip_without_pgmpy

import workbench as wb
from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import BY_LOOKS, FILE, choices
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import cells_of
from workbench.engines import get_engine
from workbench.models.options import checked_option
from workbench.records import Records
from workbench.runs.execution.memory_check import Planned
from workbench.runs.loading import load_data

DATA_SETS = {Corpus: "docstrings", Records: "votes"}


class Desk:
    """A form, how to type into it, and the values that its button starts runs with."""

    def __init__(self):
        self.values, self.form = None, Settings(on_start=self.keep)

    def keep(self, values: dict) -> None:
        self.values = values

    def type(self, name: str, value) -> None:
        """What the browser does when a field is changed, which has to be seen for it."""
        for fold, names in self.form._folded.items():
            if name in names and fold not in self.form.form.unfolded:
                self.form.form._handle_msg({"press": fold})
        assert name in self.form.form.seen
        self.form.form._handle_msg({"field": name, "value": value})

    def start(self) -> dict:
        """The values that runs are started with."""
        self.form.start.clicks += 1
        assert not self.form.form.wrong, self.form.form.wrong
        return self.values


def planned(values: dict, data: Corpus | Records | None = None) -> list[Planned]:
    """The runs that values of the form make of data, or of the file or data set that the values name."""
    kind = get_engine(values["engines"][0]).model.data
    data = load_data(values["corpus"], kind, **values["read"]) if data is None else data
    return [run for name in values["engines"] for run in cells_of(data, name, values, Path("runs"))]


def engines_of(choice, kind) -> list[str]:
    """The engines that have an option and infer from this type of data."""
    return [engine for engine in choice.engines if get_engine(engine).model.data is kind]


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        pytest.param(choice, kind, id=f"{choice.key}-of-{kind.__name__}")
        for choice in choices()
        for kind in (Corpus, Records)
        if engines_of(choice, kind)
    ],
)
def test_an_option_goes_to_the_runs_of_every_engine_that_has_it(choice, kind):
    typed, wanted, beside = option_value(choice)
    engines, desk = engines_of(choice, kind), Desk()
    desk.type("engines", engines)
    desk.type("corpus", DATA_SETS[kind])
    for name, value in beside.items():
        desk.type(name, value)
    desk.type(choice.key, typed)
    data = data_of_engine(get_engine(engines[0]))
    specs = [run.spec for run in planned(desk.start(), data)]
    values = {spec.engine: spec.options[choice.field.name] for spec in specs}
    assert {
        engine: checked_option(engine, choice.field, value) for engine, value in values.items()
    } == dict.fromkeys(engines, wanted)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with a table of 41 documents and one of records."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "mine.csv").write_text(ROWS)
    (folder / "records.csv").write_text(CELLS)
    return folder


@pytest.fixture
def desk(files) -> Desk:
    """A form for the table of documents."""
    desk = Desk()
    for name, value in (
        ("corpus", FILE),
        ("path", str(files / "mine.csv")),
        ("engines", ["cgs"]),
        ("n_topics", "3"),
    ):
        desk.type(name, value)
    return desk


@pytest.mark.parametrize("name", REST)
def test_a_setting_goes_to_the_run(name, desk, files):
    typed, of, wanted, beside = REST[name]
    if name == "records.model":
        skip_without_pgmpy()
    if name == "segmenter":
        skip_without_budoux()
    for other, value in beside.items():
        desk.type(other, str(files / value) if other == "path" else value)
    if typed is not None:
        desk.type(name, typed)
    (run,) = planned(desk.start())
    assert of(run.spec, run.train) == wanted


def test_a_run_begins_from_the_one_that_is_chosen(desk, tmp_path):
    (first,) = planned(desk.start())
    wb.fit(first.train, "cgs", 3, n_iterations=2, store=tmp_path, name="before", progress=False)
    desk.form.offer(["before"])
    desk.type("start", "before")
    (run,) = cells_of(first.train, "cgs", desk.start(), tmp_path)
    assert run.spec.start["name"] == "before"


def test_a_file_is_read_as_it_looks_unless_it_is_told(desk):
    assert desk.form.reading["format"].shown() == BY_LOOKS
    assert planned(desk.start())[0].train.n_documents == 40
