"""Requests of runs: every text of a form or a link is what the runs that are laid out are told to do."""

from pathlib import Path

import pytest
from form_values import CELLS, REST, ROWS, data_of_engine, option_value
from missing import skip_without_budoux, skip_without_pgmpy
from toys import simulated

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.options import shared_options
from workbench.models.options import checked_option
from workbench.records import Records
from workbench.runs.execution.memory_check import Planned
from workbench.runs.loading import load_data
from workbench.runs.request import FILE, OF_RECORDS, RunRequest, written

DATA_SETS = {Corpus: "docstrings", Records: "votes"}


def request_of(texts: dict) -> RunRequest:
    """The request of these texts, all of fields that have an effect, without a mistake; a link goes round."""
    request = RunRequest.from_query({name: written(value) for name, value in texts.items()})
    assert {*texts} <= {*request.used_fields(), "corpus", "path", "engines"} and not [
        *request.mistakes()
    ]
    assert RunRequest.from_query(request.to_query()) == request
    return request


def planned(request: RunRequest) -> list[Planned]:
    """The runs of a request on the file or data set that it names."""
    kind = get_engine(request.engines[0]).model.data
    return request.cells(load_data(request.corpus, kind, **request.read), Path("runs"))


def engines_of(option, kind) -> list[str]:
    """The engines that have an option and infer from this type of data."""
    return [engine for engine in option.engines if get_engine(engine).model.data is kind]


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        pytest.param(option, kind, id=f"{option.key}-of-{kind.__name__}")
        for option in shared_options()
        for kind in DATA_SETS
        if engines_of(option, kind)
    ],
)
def test_an_option_goes_to_the_runs_of_every_engine_that_has_it(option, kind):
    typed, wanted, beside = option_value(option)
    engines = engines_of(option, kind)
    texts = {"engines": engines, "corpus": DATA_SETS[kind], option.key: typed, "jobs": "2"}
    data = data_of_engine(get_engine(engines[0]))
    specs = [run.spec for run in request_of(texts | beside).cells(data, Path("runs"))]
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


@pytest.mark.parametrize("name", REST)
def test_a_setting_goes_to_the_run(name, files):
    typed, of, wanted, beside = REST[name]
    if name == "records.model":
        skip_without_pgmpy()
    if name == "segmenter":
        skip_without_budoux()
    texts = {"corpus": FILE, "engines": "cgs"} | beside | ({} if typed is None else {name: typed})
    if texts["corpus"] == FILE or name == "corpus":
        texts["path"] = str(files / beside.get("path", "mine.csv"))
    (run,) = planned(request_of(texts))
    assert of(run.spec, run.train) == wanted


def test_a_run_begins_from_the_one_that_is_chosen(tmp_path):
    data = simulated()
    wb.fit(data, "cgs", 3, n_iterations=2, store=tmp_path, name="before", progress=False)
    request = RunRequest(engines=("cgs",), n_topics=3, holdout=0, start="before")
    (run,) = request.cells(data, tmp_path)
    assert run.spec.start["name"] == "before"


def test_a_file_is_read_as_it_looks_unless_it_is_told(files):
    request = request_of({"corpus": FILE, "path": str(files / "mine.csv"), "engines": "cgs"})
    assert request.read == {} and planned(request)[0].train.n_documents == 40


def test_settings_of_documents_and_of_records_go_round_together():
    of_records = {name for name in REST if name.startswith(OF_RECORDS)} - {"records.model"}
    usual = {"corpus": FILE, "path": "some file.csv"}
    documents = {*REST, "seeds", "jobs", "start"} - of_records - {"engines", "records.model"}
    for names, engine in ((of_records, "bn-vb"), (documents - usual.keys(), "network-gibbs")):
        texts = {name: written(REST[name][0]) if name in REST else "2" for name in names}
        texts |= usual | {"engines": engine}
        assert RunRequest.from_query(texts).to_query() == texts


def test_the_query_of_a_request_has_what_python_gave_it_and_no_more():
    assert RunRequest(jobs=2).to_query() == {"jobs": "2"}
    given = {"n_topics": [5, 10], "options": {"svb-cgs": {"r": [0, 1]}}, "top_words": 50, "jobs": 2}
    request = RunRequest(engines=("cgs", "svb-cgs"), corpus="a.csv", **given)
    assert request.to_query() == {
        **{"n_topics": "5,10", "r": "0,1", "top_words": "50", "jobs": "2"},
        **{"engines": "cgs,svb-cgs", "corpus": FILE, "path": "a.csv"},
    }


def test_cells_are_every_combination_of_the_values_engine_by_engine():
    request = RunRequest(
        engines=("svb-cgs", "cgs"), n_topics=[2, 3], options={"svb-cgs": {"r": [0, 1]}}, seeds=2
    )
    cells = request.cells(simulated(), Path("runs"))
    specs = [(cell.spec.engine, cell.spec.n_topics, cell.spec.seed) for cell in cells]
    hybrids = [("svb-cgs", k, seed) for k in (2, 3) for _ in (0, 1) for seed in (0, 1)]
    assert sorted(specs) == sorted(hybrids + [("cgs", k, s) for k in (2, 3) for s in (0, 1)])
    assert len(cells) == request.n_runs() == 12
    assert len({cell.spec.hash for cell in cells}) == 12
    assert len({id(cell.train) for cell in cells}) == 1


def test_a_request_of_no_engine_has_one_mistake():
    assert [name for name, _ in RunRequest(engines=()).mistakes()] == ["engines"]


def test_requests_of_records_are_those_whose_engines_are_all_of_records():
    records = [RunRequest(engines=names).of_records for names in (("bn-vb",), ("cgs", "bn-vb"))]
    assert records == [True, False]
