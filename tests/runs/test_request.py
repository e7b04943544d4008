"""Requests of runs: every text of a form or a link is what the runs that are laid out are told to do."""

from pathlib import Path

import pytest
from form_values import CELLS, REST, ROWS, data_of_engine, every_option, option_value
from missing import skip_without_budoux, skip_without_pgmpy
from toys import simulated

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.models.options import checked_option
from workbench.records import Records
from workbench.runs.execution.memory_check import Planned
from workbench.runs.loading import load_data
from workbench.runs.request import FILE, OF_RECORDS, RunRequest, written
from workbench.runs.spec import PRIORS

DATA_SETS = {Corpus: "docstrings", Records: "votes"}


def request_of(texts: dict) -> RunRequest:
    """The request of these texts, all of fields that have an effect, without a mistake; a link goes round."""
    request = RunRequest.from_query({name: written(value) for name, value in texts.items()})
    assert {*texts} <= {*request.used_fields(), "corpus", "path", "engines"} and not [
        *request.mistakes()
    ]
    assert RunRequest.from_query(request.to_query()) == request
    return request


def assert_again(run: Planned, data) -> None:
    """The settings of a run, taken into a form or a link, describe the same run."""
    query = RunRequest.of_spec(run.spec).to_query()
    (again,) = RunRequest.from_query(query).cells(data, Path("runs"))
    assert again.spec == run.spec


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
        for option in every_option()
        for kind in DATA_SETS
        if engines_of(option, kind)
    ],
)
def test_an_option_goes_to_the_runs_of_every_engine_that_has_it(option, kind):
    typed, wanted, beside = option_value(option)
    engines = engines_of(option, kind)
    texts = {"engines": engines, "corpus": DATA_SETS[kind], option.key: typed, "jobs": "2"}
    data = data_of_engine(get_engine(engines[0]))
    runs = request_of(texts | beside).cells(data, Path("runs"))
    specs = [run.spec for run in runs]
    assert_again(runs[0], data)
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
    again = RunRequest.from_query(RunRequest.of_spec(run.spec).to_query())
    assert [cell.spec for cell in planned(again)] == [run.spec]


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


@pytest.mark.parametrize("engine", ENGINES)
def test_only_settings_of_the_engine_are_used_and_their_defaults_are_right(engine):
    chosen = get_engine(engine)
    request = request_of({"engines": engine, "corpus": DATA_SETS[chosen.model.data]})
    used, records = request.used_fields(), chosen.model.data is Records
    options = {one.field.name for one in used.values() if one.part == "options"}
    assert options == {*request.options[engine]} == {*options_of(chosen)}
    for name in PRIORS:
        assert (f"records.{name}" in used) == (name in chosen.model.takes and records)
        assert (name in used) == (name in chosen.model.takes and not records)
    for name in ("start", "top_words", "holdout_per"):
        assert (name in used) != records
    assert ("n_topics" in used) == ("n_topics" in chosen.model.takes)
    assert ("model" in used) == chosen.model.is_network and "super" not in used


def test_an_option_that_means_another_thing_to_another_engine_is_another_field():
    engines = ("cgs", "vb", "cv-hdp", "g-hdp")
    request = RunRequest(engines=engines)
    keys = [request.key_of("learn_alpha", engine) for engine in engines]
    assert keys == ["learn_alpha"] * 2 + ["cv-hdp.learn_alpha"] * 2
    assert request.key_of("r", "cgs") is None
    texts = {"engines": engines, "learn_alpha": "sampled", "cv-hdp.learn_alpha": "False"}
    options = RunRequest.from_query({name: written(text) for name, text in texts.items()}).options
    assert [options[engine]["learn_alpha"] for engine in engines] == ["sampled"] * 2 + [False] * 2


def test_a_network_whose_topics_the_labels_determine_has_no_number_of_them():
    data, texts = load_data("docstrings"), {"engines": "network-gibbs", "model": "labeled"}
    assert "n_topics" not in request_of(texts).used_fields()
    beside = request_of(texts | {"engines": "cgs,network-gibbs", "n_topics": 7})
    plain, labelled = beside.cells(data, Path("runs"))
    assert plain.spec.n_topics == 7
    assert [*labelled.spec.model["variables"][0]["labels"]] == sorted({*data.labels})
    assert_again(labelled, data)


def test_a_network_has_the_number_of_its_super_topics_and_no_other():
    texts = {"engines": "cgs,network-gibbs", "model": "hpam2", "super": "3"}
    assert request_of(texts).sizes == {"super": 3}
    wrong = RunRequest.from_query(texts | {"super": "0"})
    assert {name for name, _ in wrong.mistakes()} == {"super", *wrong.settings_of("cgs")}
    other = RunRequest.from_query(texts | {"model": "author-topic"})
    assert other.sizes is None and "super" not in other.to_query()


def test_what_means_nothing_to_records_is_not_handed_over():
    of_documents = {"top_words": "2000", "merge": "2", "repeat": "2", "singletons": "train"}
    texts = of_documents | {"holdout_per": "half", "corpus": FILE, "path": "a.csv"}
    texts |= {"records.missing": "NA", "text": "body"}
    records = RunRequest.from_query(texts | {"engines": "bn-vb"})
    assert all(getattr(records, name) == getattr(RunRequest(), name) for name in of_documents)
    assert (records.holdout_per, records.read) == ("cell", {"missing": "NA"})
    documents = RunRequest.from_query(texts | {"engines": "cgs"})
    assert (documents.holdout_per, documents.read) == ("half", {"text": "body"})
    assert RunRequest.from_query(texts | {"corpus": "bars"}).read == {}


def test_a_published_network_has_its_own_priors():
    skip_without_pgmpy()
    texts = {"engines": "bn-vb", "corpus": "alarm", "records.beta": "0"}
    assert [name for name, _ in RunRequest.from_query(texts).mistakes()] == ["records.beta"]
    request = RunRequest.from_query(texts | {"records.model": "alarm"})
    assert not [*request.mistakes()] and request.alpha is request.beta is request.sizes is None
    assert {"records.alpha", "records.beta", "network"}.isdisjoint(request.used_fields())


def test_an_unknown_network_is_a_mistake_in_the_model():
    request = RunRequest(engines=("network-vb",), model="nonsense")
    assert "model" in {name for name, _ in request.mistakes()}


def test_a_request_of_no_engine_has_one_mistake():
    assert [name for name, _ in RunRequest(engines=()).mistakes()] == ["engines"]


def test_requests_of_records_are_those_whose_engines_are_all_of_records():
    records = [RunRequest(engines=names).of_records for names in (("bn-vb",), ("cgs", "bn-vb"))]
    assert records == [True, False]
