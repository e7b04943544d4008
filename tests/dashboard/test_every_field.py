"""Every field of the form: what is typed or chosen is what the runs that it starts are told to do."""

from pathlib import Path

import pytest
from form_values import CELLS, REST, ROWS, data_of_engine, option_value
from missing import skip_without_budoux, skip_without_pgmpy

import workbench as wb
from workbench.corpus import Corpus
from workbench.dashboard.compare.settings import Settings
from workbench.engines import get_engine
from workbench.engines.options import shared_options
from workbench.models.options import checked_option
from workbench.records import Records
from workbench.runs.execution.memory_check import Planned
from workbench.runs.loading import load_data
from workbench.runs.request import FILE, RunRequest

DATA_SETS = {Corpus: "docstrings", Records: "votes"}


class Desk:
    """A form, how to fill it, and the request that its button starts runs with."""

    def __init__(self):
        self.request, self.form = None, Settings(on_start=self.keep)

    def keep(self, request: RunRequest) -> None:
        self.request = request

    def fill(self, name: str, value) -> None:
        """What the browser does when a field is changed, which has to be seen for it."""
        for fold, names in self.form._folded.items():
            if name in names:
                self.form.unfold(fold, True)
        assert name in self.form.form.seen
        self.form.fields[name].value = value

    def start(self) -> RunRequest:
        """The request that runs are started with."""
        self.form.start.clicks += 1
        assert not self.form.form.wrong, self.form.form.wrong
        return self.request


def planned(request: RunRequest, data: Corpus | Records | None = None) -> list[Planned]:
    """The runs of a request on data, or on the file or data set that it names."""
    kind = get_engine(request.engines[0]).model.data
    data = load_data(request.corpus, kind, **request.read) if data is None else data
    return request.cells(data, Path("runs"))


def engines_of(option, kind) -> list[str]:
    """The engines that have an option and infer from this type of data."""
    return [engine for engine in option.engines if get_engine(engine).model.data is kind]


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        pytest.param(option, kind, id=f"{option.key}-of-{kind.__name__}")
        for option in shared_options()
        for kind in (Corpus, Records)
        if engines_of(option, kind)
    ],
)
def test_an_option_goes_to_the_runs_of_every_engine_that_has_it(option, kind):
    typed, wanted, beside = option_value(option)
    engines, desk = engines_of(option, kind), Desk()
    desk.fill("engines", engines)
    desk.fill("corpus", DATA_SETS[kind])
    for name, value in beside.items():
        desk.fill(name, value)
    desk.fill(option.key, typed)
    data = data_of_engine(get_engine(engines[0]))
    specs = [run.spec for run in planned(desk.start(), data)]
    values = {spec.engine: spec.options[option.field.name] for spec in specs}
    assert {
        engine: checked_option(engine, option.field, value) for engine, value in values.items()
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
        desk.fill(name, value)
    return desk


@pytest.mark.parametrize("name", REST)
def test_a_setting_goes_to_the_run(name, desk, files):
    typed, of, wanted, beside = REST[name]
    if name == "records.model":
        skip_without_pgmpy()
    if name == "segmenter":
        skip_without_budoux()
    for other, value in beside.items():
        desk.fill(other, str(files / value) if other == "path" else value)
    if name != "path":
        desk.fill(name, typed)
    (run,) = planned(desk.start())
    assert of(run.spec, run.train) == wanted


def test_a_run_begins_from_the_one_that_is_chosen(desk, tmp_path):
    (first,) = planned(desk.start())
    wb.fit(first.train, "cgs", 3, n_iterations=2, store=tmp_path, name="before", progress=False)
    desk.form.offer(["before"])
    desk.fill("start", "before")
    (run,) = desk.start().cells(first.train, tmp_path)
    assert run.spec.start["name"] == "before"


def test_a_file_is_read_as_it_looks_unless_it_is_told(desk):
    assert desk.form.fields["format"].value == ""
    assert planned(desk.start())[0].train.n_documents == 40
