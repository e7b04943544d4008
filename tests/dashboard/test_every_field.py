"""Every field of the form: what is typed or chosen is what the runs that it starts are told to do."""

import pytest
from form_values import CELLS, OPTIONS, REST, ROWS
from missing import skip_without_budoux, skip_without_pgmpy

import workbench as wb
from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import BY_LOOKS, FILE, choices
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import start_runs
from workbench.engines import get_engine
from workbench.records import Records
from workbench.runs.execution.fit import fit
from workbench.runs.store.archive import get_corpus

KNOWN = {
    "sb-dtm",
    "sb-ctm-lds",
    "sbm-gp",
    "lnm-gp",
    "raw-gp",
    "static",
    "sbm-lds",
    "lnm-lds",
    "raw-lds",
    "hmm",
}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A form for a file of 40 documents, how to type into it, and what it starts: runs that only stand in the store."""
    desk = Desk(tmp_path)
    monkeypatch.setattr(
        "workbench.dashboard.compare.starting.enqueue", lambda paths, jobs: desk.lines.append(jobs)
    )
    return desk


class Desk:
    def __init__(self, folder):
        self.store, self.lines, self.runs = folder / "runs", [], []
        (folder / "mine.csv").write_text(ROWS)
        (folder / "records.csv").write_text(CELLS)
        inputs = {
            "year": [1990.0 + d % 3 for d in range(40)],
            "latitude": [30.0 + d for d in range(40)],
        }
        times = [1990 + d % 3 for d in range(40)]
        sequence = [("one", d) for d in range(40)]
        years = Corpus.from_pairs(
            range(40),
            [d % 3 for d in range(40)],
            [2] * 40,
            times=times,
            inputs=inputs,
            sequence=sequence,
        )
        wb.write_corpus(years, folder / "years.npz")
        self.form = Settings(
            on_start=lambda values: self.runs.extend(start_runs(self.store, values)[0])
        )
        for name, value in (
            ("corpus", FILE),
            ("path", str(folder / "mine.csv")),
            ("engines", ["cgs"]),
            ("n_topics", "3"),
        ):
            self.type(name, value)

    def type(self, name: str, value) -> None:
        """What the browser does when a field is changed, which has to be seen for it."""
        for fold, names in self.form._folded.items():
            if name in names and fold not in self.form.form.unfolded:
                self.form.form._handle_msg({"press": fold})
        assert name in self.form.form.seen
        self.form.form._handle_msg({"field": name, "value": value})

    def start(self) -> list:
        """The specs of what is started."""
        self.form.start.clicks += 1
        assert not self.form.form.wrong, self.form.form.wrong
        return [run.spec for run in self.runs]


def test_the_walk_leaves_no_field_out():
    assert {*OPTIONS, *REST, "start", "seeds", "jobs"} == set(Settings().fields())


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
def test_an_option_goes_to_the_runs_of_every_engine_that_has_it(choice, kind, desk):
    typed, wanted, beside = OPTIONS[choice.key]
    engines = engines_of(choice, kind)
    if KNOWN & set(engines):
        desk.type("path", str(desk.store.parent / "years.npz"))
    if kind is Records:
        desk.type("path", str(desk.store.parent / "records.csv"))
    assert wanted != choice.field.default
    desk.type("engines", engines)
    for name, value in beside.items():
        desk.type(name, value)
    desk.type(choice.key, typed)
    specs = desk.start()
    assert {spec.engine: spec.options[choice.field.name] for spec in specs} == dict.fromkeys(
        engines, wanted
    )


@pytest.mark.parametrize("name", REST)
def test_a_setting_goes_to_the_run(name, desk):
    typed, of, wanted, beside = REST[name]
    if name == "records.model":
        skip_without_pgmpy()
    if name == "segmenter":
        skip_without_budoux()
    for other, value in beside.items():
        desk.type(other, str(desk.store.parent / value) if other == "path" else value)
    if typed is not None:
        desk.type(name, typed)
    (spec,) = desk.start()
    assert of(spec, get_corpus(desk.store, spec.train)) == wanted


def test_as_many_runs_as_there_are_seeds_are_lined_up_so_many_at_a_time(desk):
    desk.type("seeds", "3")
    desk.type("jobs", "2")
    assert [spec.seed for spec in desk.start()] == [0, 1, 2] and desk.lines == [2]


def test_a_run_begins_from_the_one_that_is_chosen(desk):
    (first,) = desk.start()
    fit(
        get_corpus(desk.store, first.train),
        "cgs",
        3,
        n_iterations=2,
        store=desk.store,
        name="before",
        progress=False,
    )
    desk.form.offer(["before"])
    desk.type("start", "before")
    assert desk.start()[-1].start["name"] == "before"


def test_a_file_is_read_as_it_looks_unless_it_is_told(desk):
    assert desk.form.reading["format"].shown() == BY_LOOKS
    assert get_corpus(desk.store, desk.start()[0].train).n_documents == 40
