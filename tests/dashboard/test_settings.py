"""The form, its checks, and the link."""

from dataclasses import replace

import panel as pn
import pytest
from form_values import ROWS, field_values
from pytest import approx

from workbench.corpus import CorpusError
from workbench.corpus.formats.readers import FORMATS
from workbench.dashboard.compare.engine_choice import EngineChoice, families
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.settings import FOLDED, Settings
from workbench.dashboard.compare.starting import start_runs
from workbench.dashboard.shared.form import Fold
from workbench.dashboard.shared.link import from_query, to_query
from workbench.dashboard.shared.run_monitor import Reading
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.runs.execution.fit import resume
from workbench.runs.execution.run import open_runs
from workbench.runs.execution.worker import SLOTS
from workbench.runs.loading import load_data, named_sets
from workbench.runs.request import FILE, RunRequest, request_fields, written


def mistakes(form: Settings) -> dict[str, str]:
    """What is wrong with the request of a form."""
    return mistakes_in(form.request())


def fill(form: Settings, **values) -> None:
    """Sets fields; a name with a dot has two underscores."""
    for name, value in values.items():
        form.fields[name.replace("__", ".")].value = value


@pytest.fixture
def form():
    return Settings()


def test_every_option_of_every_engine_has_a_field_with_its_own_label_default_and_values(form):
    form.fields["engines"].value = list(ENGINES)
    options = form.request().options
    for name in ENGINES:
        for field in options_of(get_engine(name)).values():
            widget = form.fields[form.request().key_of(field.name, name)]
            label = field.metadata["label"] or field.name.replace("_", " ")
            assert widget.label.lower() == label.lower()
            menu = field.metadata["choices"] and not field.metadata["otherwise"]
            value = options[name][field.name]
            assert value == (
                approx(field.default) if isinstance(field.default, float) else field.default
            )
            assert not menu or [*widget.options.values()] == [
                *map(written, field.metadata["choices"])
            ]


@pytest.mark.parametrize(
    "values",
    [
        {"engines": ["cgs"]},
        {"engines": ["cgs", "network-gibbs"], "model": "hpam2"},
        {"engines": ["bn-vb"], "corpus": "votes"},
        {"engines": ["bn-vb"], "corpus": FILE},
        {"engines": ["cv-hdp", "svb-cgs"], "corpus": FILE},
    ],
)
def test_fields_with_an_effect_are_shown_and_no_others(form, values):
    fill(form, **values)
    for section in FOLDED:
        assert not form.fields[f"fold:{section}"].is_open
        form.fields[f"fold:{section}"].unfold()
    seen = [name for name in form.form.seen if name in request_fields()]
    assert {*seen} == {*form.request().used_fields()} and len(seen) == len({*seen})


def test_a_mistake_in_a_folded_option_unfolds_it(form):
    fill(form, engines=["cv-hdp"], alpha_total="3")
    form.start.clicks += 1
    assert "alpha_total" in form.form.seen
    assert "give “Learn alpha” no with it" in form.form.wrong["alpha_total"]
    form.fields["cv-hdp.learn_alpha"].value = "False"
    assert not mistakes(form) and not form.form.wrong


def test_data_sets_that_are_not_here_are_marked_and_choosing_one_says_how_to_get_it(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    form = Settings()
    marks = {name: mark for mark, name in form.fields["corpus"].options.items()}
    assert set(marks) == {*named_sets(), FILE}
    assert (marks["docstrings"], marks["kos"]) == ("docstrings", "kos (not downloaded)")
    assert (marks["votes"], marks["ability"]) == ("votes", "ability (not downloaded)")
    fill(form, corpus="kos")
    assert "set WORKBENCH_DATA" in form.form.wrong["corpus"]
    assert "docword.kos.txt.gz" in form.form.wrong["corpus"]
    fill(form, corpus="docstrings")
    assert not form.form.wrong


@pytest.mark.parametrize(
    ("corpus", "engines", "field", "said"),
    [
        (
            "votes",
            ["cgs"],
            "corpus",
            "'votes' is a data set of records, and documents were wanted; choose other data, or an",
        ),
        (
            "bars",
            ["bn-vb"],
            "corpus",
            "'bars' is a data set of documents, and records were wanted; choose other data, or an",
        ),
        (
            "votes",
            ["cgs", "bn-vb"],
            "engines",
            "Engines that are compared infer from the same data, and cgs from documents and",
        ),
    ],
)
def test_data_and_engines_that_do_not_go_together_are_told_under_one_field(
    form, corpus, engines, field, said
):
    form.fields["corpus"].value, form.fields["engines"].value = corpus, engines
    found = mistakes(form)
    assert list(found) == [field] and found[field].startswith(said)


def test_records_are_started_by_their_name(form, tmp_path, queued):
    fill(form, engines=["bn-vb"], corpus="votes", records__holdout_per="record")
    (run,), *_ = start_runs(tmp_path, form.request())
    assert (run.spec.corpus, run.spec.engine, run.spec.split["per"]) == ("votes", "bn-vb", "record")


def test_how_a_file_is_read_is_asked_where_the_corpus_is_one_and_only_what_differs_is_handed_over(
    form,
):
    fill(form, text="body")
    assert form.request().read == {} and "format" not in form.form.seen
    fill(form, corpus=FILE)
    of_file = ["upload", "path", "format", "text", "title", "label", "file.time"]
    assert form.form.seen[:9] == ["corpus", *of_file, "fold:preprocessing"]
    fill(form, title="", stop_words="", min_documents="0")
    wanted = {"text": "body", "title": None, "stop_words": None, "min_documents": 0}
    assert form.request().read == wanted
    assert "Stop words none, Min. documents 0" in form.fields["fold:preprocessing"].options[0]
    assert tuple(form.fields["format"].options.values()) == ("", *FORMATS)


BODY = "id,body\n1,apples pears\n2,plums\n"
READ = {"text": "body"}


@pytest.mark.parametrize(
    "content, read, field, said",
    [
        (
            BODY,
            {},
            "text",
            "The file, line 1: no column 'text' for the text; there are 'id', 'body'; say which under “Text col",
        ),
        (
            BODY,
            READ | {"label": "kind"},
            "label",
            "The file, line 1: no column 'kind' for the label",
        ),
        (
            BODY,
            READ | {"min_documents": "2"},
            "min_documents",
            "raise “Ignore words in more than … of documents”",
        ),
        (
            BODY,
            READ | {"max_share": ""},
            "max_share",
            "more than … of documents” must be a share of the documents, above 0",
        ),
        (
            BODY,
            READ | {"token_pattern": "("},
            "token_pattern",
            "“Word pattern” must be a regular expression",
        ),
        (
            BODY,
            READ | {"format": "folder"},
            "format",
            "“Read as” 'folder' wants a folder of .txt files",
        ),
        (BODY, {"text": "id"}, "path", "The file: no word left in 2 text(s)"),
        ("\0\1\2", {}, "format", "The file has a format that is not recognised"),
        (
            "id,body\n1,apples\n",
            READ,
            "holdout",
            "“Held-out share” 0.1 of 1 tokens is no token at all; ask for a larger “Held-out",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told_under_its_field_in_the_words_of_the_page_and_nothing_is_started(
    content, read, field, said, tmp_path, queued
):
    form = Settings(on_start=lambda values: started.append(values))
    started, path = [], tmp_path / ("mine" if "\0" in content else "mine.csv")
    path.write_text(content)
    form.fields["corpus"].value, form.fields["path"].value = FILE, str(path)
    for name, value in read.items():
        form.fields[name].value = value
    form.start.clicks += 1
    with pytest.raises(CorpusError) as caught:
        start_runs(tmp_path / "runs", started[0])
    assert queued == open_runs(tmp_path / "runs") == []
    form.say("Reading the corpus …", busy=True)
    form.refuse(caught.value)
    assert list(form.form.wrong) == [field] and said in form.form.wrong[field]
    assert form.status.visible and not form.start.disabled and form.ahead.object == ""
    form.start.clicks += 1
    assert len(started) == 2, "it may have been mended"


@pytest.mark.parametrize(
    "field, wrong, said",
    [
        ("n_topics", "0", "must be"),
        ("alpha", "-1", "must be"),
        ("beta", "0", "must be"),
        ("n_iterations", "0", "must be"),
        ("n_iterations", "", "the field is empty"),
        ("n_iterations", "10, 20", "must be a whole number"),
        ("seed", "-1", "must be"),
        ("seed", "one", "must be a whole number"),
        ("seeds", "0", "must be"),
        ("holdout", "1", "must be"),
        ("holdout", "", "must be"),
        ("top_words", "0", "must be a whole number of at least 1; got 0"),
        ("merge", "0", "must be a whole number of at least 1; got 0"),
        ("repeat", "", "must be a whole number of at least 1; the field is empty"),
        ("engines", [], "choose at least one engine"),
        ("r", "often", "“r” of svb-cgs must be a number"),
        ("n_chains", "0", "“chains” of svb-cgs must be"),
        ("phases", "interleaved", "“phases” interleaved needs “chains” 1"),
        ("jobs", "", f"must be a whole number from 1 to {SLOTS}; the field is empty"),
        ("path", "/no/such/file.csv", "no file and no folder"),
        ("path", "", "needs a path"),
    ],
)
def test_a_mistake_is_one_sentence_under_its_field_and_starts_nothing(field, wrong, said):
    asked = []
    form = Settings(on_start=asked.append)
    if field == "path":
        fill(form, corpus=FILE, path=".")
    right, form.fields[field].value = form.fields[field].value, wrong
    form.start.clicks += 1
    assert asked == [] and list(form.form.wrong) == [field]
    assert said in form.form.wrong[field].lower() and 'class="bad"' in form.status.object
    form.fields[field].value = right
    assert not form.form.wrong and not form.status.visible
    form.start.clicks += 1
    assert len(asked) == 1


def test_a_start_says_which_runs_other_kernels_began(tmp_path, queued, monkeypatch):
    text = tmp_path / "texts.csv"
    text.write_text("text\n" + "apples pears plums apples\nred green blue red\n" * 20)
    settings = {"corpus": str(text), "engines": ("cgs",), "n_topics": 2}
    (run,), *_ = start_runs(tmp_path / "runs", RunRequest(n_iterations=3, **settings))
    resume(run, progress=False)
    monkeypatch.setattr("workbench.runs.store.reader.KERNELS", "others")
    request = RunRequest(n_iterations=5, **settings)
    sentence = start_runs(tmp_path / "runs", request).sentence
    assert (
        sentence.startswith("1 run started, about ")
        and f"; run '{run.name}' was computed with other kernels than" in sentence
    )


def test_a_link_goes_round_for_every_field():
    form, other = Settings(), Settings()
    for one in (form, other):
        one.offer(["a-run"])
    parts, others = form.parameters(), other.parameters()
    assert to_query(parts) == ""
    unusual = {name: value for name, (value, *_) in field_values().items()}
    unusual |= {
        "path": "a & b=c.csv",
        "r": "1, 2.5, inf",
        "seeds": "2",
        "jobs": "2",
        "start": "a-run",
    }
    for name in parts:
        before, form.fields[name].value = form.fields[name].value, unusual[name]
        assert form.fields[name].value != before
    assert from_query(to_query(parts), others) == []
    assert {name: other.fields[name].value for name in others} == unusual


@pytest.mark.parametrize(
    "name, text",
    [
        ("engines", "cgs,nonsense"),
        ("corpus", "/etc"),
        ("schedule", "<b>"),
        ("singletons", "none"),
        ("start", "no-run"),
        ("restart_documents", "maybe"),
    ],
)
def test_a_value_of_the_link_that_does_not_fit_is_left_out(form, name, text):
    before = form.fields[name].value
    assert not form.parameters()[name].take(text)
    assert form.fields[name].value == before


@pytest.mark.parametrize(
    ("name", "text"),
    [("n_topics", "1.5"), ("alpha", "nan"), ("top_words", "all"), ("r", "1,often")],
)
def test_a_number_of_the_link_that_is_none_is_reported_at_its_field(form, name, text):
    assert form.parameters()[name].take(text) and list(form.form.wrong) == [name]


def test_a_search_opens_the_families_that_fit_and_keeps_what_is_ticked():
    choice, by_family = EngineChoice(["svb", "cgs"]), families()

    def boxes() -> dict:
        """The tick boxes that are shown, each with all engines of its family."""
        shown = [part for part in choice.objects if isinstance(part, pn.widgets.CheckBoxGroup)]
        titles = [
            next(one for one in by_family if by_family[one] == part.options) for part in shown
        ]
        return dict(zip(titles, shown, strict=True))

    def fold(title: str) -> Fold:
        return next(
            one for one in choice.objects if isinstance(one, Fold) and title in one.options[0]
        )

    def find(text: str) -> list[str]:
        choice.search.value_input = text
        return list(boxes())

    assert find("") == []
    assert find("cvb0-") == [
        title for title, names in by_family.items() if any("cvb0" in name for name in names)
    ]
    assert boxes()["LDA"].value == ["svb", "cgs"]
    boxes()["LDA"].value = ["svb", "cgs", "cvb0-cgs"]
    for text in ("Stick breaking", "stick-b", "STICK_BREAKING "):
        assert find(text) == ["Stick breaking"]
    assert find("Bayes nets") == find("bn_em") == ["Bayes nets"]
    assert find("networks") == ["Networks", "Bayes nets"] and find("cv hdp") == ["HDP"]
    assert find("hdp") == ["HDP"]
    fold("Networks").unfold()
    assert find("hd") == find("cv-hdp") == ["HDP", "Networks"]
    fold("Networks").unfold(False)
    assert find("<no>") == []
    said = next(part for part in choice.objects if "empty the field" in getattr(part, "value", ""))
    assert "No engine has &lt;no&gt;; empty the field to see all." in said.object
    assert find("") == [] and choice.value == ["svb", "cgs", "cvb0-cgs"] and not said.visible
    fold("Networks").unfold()
    assert find("hdp") == ["HDP"] and find("") == ["Networks"]


@pytest.mark.parametrize("others", [False, True])
def test_the_form_takes_the_settings_of_a_run(form, tmp_path, ruled, others):
    ruled(others=others)
    (tmp_path / "mine.csv").write_text(ROWS)
    path = str(tmp_path / "mine.csv")
    request = RunRequest(
        corpus=path,
        read={"text": "body", "more_stop_words": "pear,plum"},
        engines=("svb-cgs",),
        options={"svb-cgs": {"r": 3.0}},
        n_topics=7,
        alpha=0.25,
        seed=4,
        holdout=0.2,
        split_seed=6,
        jobs=SLOTS,
    )
    data = load_data(path, **request.read)
    (run,) = request.cells(data, tmp_path)
    fill(form, beta="0.5", n_topics="9")
    form.use(run.spec)
    form.offer_columns(form._file, {"body": [], "date": [], "kind": []}, True, None)
    more = ", but not its file" if others else ""
    assert f"The form has the settings of {run.spec.name}{more}." in form.status.object
    if others:
        assert "mine" not in to_query(form.parameters()) and form.text("corpus") == FILE
    else:
        assert [cell.spec for cell in form.request().cells(data, tmp_path)] == [run.spec]
    made = replace(run.spec, reading=None, start={"name": "a", "edits": ["drop 1"], "counts": ""})
    form.use(made)
    assert ", but not its data, which have no name and no file, its edits." in form.status.object


@pytest.mark.parametrize("others", [False, True])
def test_a_file_of_earlier_runs_is_a_corpus_of_the_menu_and_is_read_as_then(
    form, tmp_path, ruled, others
):
    ruled(others=others)
    (tmp_path / "mine.csv").write_text(ROWS)
    path = str(tmp_path / "mine.csv")
    request = RunRequest(corpus=path, read={"text": "body", "min_documents": 2}, engines=("cgs",))
    (run,) = request.cells(load_data(path, **request.read), tmp_path)
    fill(form, n_topics="9", title="kind")
    form.keep_pace([Reading(tmp_path / "a", run.spec, "cgs", {"state": "finished"}, 1)] * 2)
    corpora = form.fields["corpus"].options
    assert ("mine.csv" in corpora) == (not others)
    if not others:
        form.fields["corpus"].value = corpora["mine.csv"]
        now = form.request()
        assert (now.corpus, now.read, now.n_topics) == (path, request.read, 9)
        assert "Used in 2 runs here." in form.fields["about"].object
        assert form.text("title") == "title"
        (tmp_path / "mine.csv").unlink()
        form.keep_pace([])
        assert "mine.csv" not in form.fields["corpus"].options
    form.fields["corpus"].value = "kos"
    assert "Blog entries of dailykos.com, 2004." in form.fields["about"].object
