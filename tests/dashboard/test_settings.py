"""The form, its checks, and the link."""

import pytest
from form_values import field_values
from missing import skip_without_pgmpy
from pytest import approx

from workbench.corpus import CorpusError
from workbench.corpus.formats.readers import FORMATS
from workbench.dashboard.compare.fields import FILE, SPLIT, choice_of, choices
from workbench.dashboard.compare.mistakes import mistakes_in
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import start_runs, summary_of_start
from workbench.dashboard.shared.link import from_query, take, to_query, widget_part, written
from workbench.dashboard.shared.values import Values
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.models.bayes_nets.bayes_net import PRIOR
from workbench.models.networks.network import Network
from workbench.records import Records
from workbench.runs.execution.fit import resume
from workbench.runs.execution.run import open_runs
from workbench.runs.execution.worker import SLOTS
from workbench.runs.loading import named_sets
from workbench.runs.spec import model_fields


def test_every_option_of_every_engine_has_a_field_with_its_own_default_and_values():
    form = Settings()
    for name in ENGINES:
        for field in options_of(get_engine(name)).values():
            choice, widget = (
                choice_of(name, field.name),
                form.options[choice_of(name, field.name).key],
            )
            assert name in choice.engines
            default = field.default
            assert widget.read() == (
                default if default is None or field.metadata["choices"] else approx(default)
            )
            menu = field.metadata["choices"] and not field.metadata["otherwise"]
            assert not menu or tuple(widget.options.values()) == field.metadata["choices"]
    assert len({choice.key for choice in choices()}) == len(choices()) == len(form.options)


def test_an_option_that_means_another_thing_to_another_engine_is_another_field():
    assert (
        choice_of("cgs", "learn_alpha").key == choice_of("vb", "learn_alpha").key == "learn_alpha"
    )
    assert (
        choice_of("cv-hdp", "learn_alpha").key
        == choice_of("g-hdp", "learn_alpha").key
        == "cv-hdp.learn_alpha"
    )
    assert choice_of("cgs", "r") is None
    form = Settings()
    form.engines.value = ["cgs", "cv-hdp", "g-hdp"]
    form.options["learn_alpha"].value, form.options["cv-hdp.learn_alpha"].value = "sampled", False
    told = {engine: own["learn_alpha"] for engine, own in form.values()["options"].items()}
    assert told == {"cgs": "sampled", "cv-hdp": False, "g-hdp": False}
    assert not mistakes_in(form.values())


@pytest.mark.parametrize("engine", ENGINES)
def test_the_form_as_it_is_can_be_started_with_any_engine_alone(engine):
    form = Settings()
    form.engines.value = [engine]
    if get_engine(engine).model.data is Records:
        form.corpus.value = "votes"
    values = form.values()
    assert not mistakes_in(values)
    has = set(model_fields(get_engine(engine)))
    assert {name for name in ("n_topics", "alpha", "beta") if values[name] is not None} == has
    fields = {"alpha": form.numbers["alpha"], "beta": form.numbers["beta"]}
    if get_engine(engine).model.data is Records:
        fields = {name: form.of_networks[f"records.{name}"] for name in fields}
    assert all(
        field.visible == (name in get_engine(engine).model.takes) for name, field in fields.items()
    )


NETWORKS = [name for name in ENGINES if get_engine(name).model is Network]


@pytest.mark.parametrize("engine", NETWORKS)
def test_a_network_is_chosen_where_an_engine_of_networks_is_ticked(engine):
    form = Settings()
    assert not form.network.visible and not form.supers.visible
    form.engines.value = ["cgs", engine]
    assert form.network.visible and not form.supers.visible
    form.network.value, form.supers.value = "hpam2", 3
    assert (
        form.supers.visible
        and form.values()["sizes"] == {"super": 3}
        and not mistakes_in(form.values())
    )
    form.supers.value = 0
    assert list(mistakes_in(form.values())) == ["super"]
    form.network.value = "author-topic"
    assert (
        not form.supers.visible
        and form.values()["sizes"] is None
        and not mistakes_in(form.values())
    )


def keys_of(engine: str) -> set[str]:
    """The keys of the options of an engine that are not about priors and have no place of their own."""
    return {
        one.key for one in choices() if engine in one.engines and not one.hyper and one.key != SPLIT
    }


@pytest.mark.parametrize("engine", ["cgs", "svb"])
def test_only_options_of_the_chosen_engines_are_shown_and_told(engine):
    form = Settings()
    form.engines.value = [engine]
    assert not any(field.visible for field in form.options.values())
    fold(form, "options")
    assert (
        {name for name, field in form.options.items() if field.visible} == keys_of(engine) != set()
    )
    assert set(form.values()["options"][engine]) == set(options_of(get_engine(engine)))


def test_a_mistake_in_a_folded_option_unfolds_it():
    form = Settings()
    form.engines.value = ["cv-hdp"]
    form.options["alpha_total"].value = "3"
    form.start.clicks += 1
    seen = shown(form)
    assert "give “Learn alpha” no with it" in seen[seen.index("Total alpha") + 1]
    form.options["cv-hdp.learn_alpha"].value = False
    assert not mistakes_in(form.values()) and not form.form.wrong


def shown(form: Settings) -> list[str]:
    """What is to be seen of the form in order: labels of fields, texts of headings and the fold, what is wrong with a field."""
    drawn, seen = form.form, []
    for name in drawn.seen:
        seen.append(drawn.told.get(name) or form._parts[name].label)
        if name in drawn.wrong:
            seen.append(drawn.wrong[name])
    return seen


def fold(form: Settings, name: str) -> None:
    """What the browser does at a click on a fold."""
    form.form._handle_msg({"press": f"fold:{name}"})


def test_data_sets_that_are_not_here_are_marked_and_choosing_one_says_how_to_get_it(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    form = Settings()
    marks = {name: mark for mark, name in form.corpus.options.items()}
    assert set(marks) == {*named_sets(), FILE}
    assert (marks["docstrings"], marks["kos"]) == ("docstrings", "kos (not downloaded)")
    assert (marks["votes"], marks["ability"]) == ("votes", "ability (not downloaded)")
    form.corpus.value = "kos"
    assert "set WORKBENCH_DATA" in shown(form)[1] and "docword.kos.txt.gz" in shown(form)[1]
    form.corpus.value = "docstrings"
    assert shown(form)[1] == "Preprocessing: defaults"


def test_what_means_nothing_to_records_is_neither_shown_nor_handed_over():
    form = Settings()
    form.top_words.value, form.singletons.value, form.holdout_per.value = 2000, "train", "half"
    form.merge.value = form.repeat.value = 2
    form.engines.value, form.corpus.value = ["bn-vb"], "votes"
    form.unfold("fold:corpus", True)
    form.unfold("fold:options", True)
    hidden = form.top_words, form.merge, form.repeat, form.singletons, form.holdout_per
    assert not any(field.visible for field in hidden) and form.of_records.visible
    values = form.values()
    names = "top_words", "singletons", "holdout_per", "merge", "repeat"
    assert [values[name] for name in names] == [None, "keep", "cell", 1, 1]
    form.corpus.value, form.reading_records["records.missing"].value = FILE, "NA"
    assert all(field.visible for field in form.reading_records.values())
    assert not any(field.visible for field in form.reading.values()) and form.values()["read"] == {
        "missing": "NA"
    }
    form.engines.value = ["cgs"]
    assert form.holdout_per.visible and not form.of_records.visible and form.values()["read"] == {}


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
    corpus, engines, field, said
):
    form = Settings()
    form.corpus.value, form.engines.value = corpus, engines
    found = mistakes_in(form.values())
    assert list(found) == [field] and found[field].startswith(said)


def test_records_are_started_by_their_name(tmp_path, queued):
    form = Settings()
    form.engines.value, form.corpus.value, form.of_records.value = ["bn-vb"], "votes", "record"
    (run,), *_ = start_runs(tmp_path, form.values())
    assert (run.spec.corpus, run.spec.engine, run.spec.split["per"]) == ("votes", "bn-vb", "record")


def test_priors_of_records_are_those_of_their_networks_and_a_published_network_has_its_own():
    skip_without_pgmpy()
    form = Settings()
    form.engines.value, form.corpus.value = ["bn-vb"], "alarm"
    fields = form.of_networks
    assert all(field.visible for field in fields.values()) and not form.numbers["alpha"].visible
    assert (form.values()["alpha"], form.values()["model"]) == (PRIOR, None)
    fields["records.beta"].value = "0"
    form.start.clicks += 1
    assert list(form.form.wrong) == ["records.beta"]
    fields["records.model"].value = "alarm"
    assert not fields["records.alpha"].visible and mistakes_in(form.values()) == {}
    values = form.values()
    assert (values["alpha"], values["beta"], values["model"], values["sizes"]) == (
        None,
        None,
        "alarm",
        None,
    )


def test_how_a_file_is_read_is_asked_where_the_corpus_is_one_and_only_what_differs_is_handed_over():
    form = Settings()
    form.reading["text"].value = "body"
    assert form.values()["read"] == {} and not any(field.visible for field in form.reading.values())
    form.corpus.value = FILE
    of_file = [
        "File",
        "Path of the corpus",
        "Read as",
        "Text column",
        "Title column",
        "Label column",
        "Time column",
    ]
    assert shown(form)[:9] == ["Corpus", *of_file, "Preprocessing: defaults"]
    (
        form.reading["title"].value,
        form.reading["stop_words"].value,
        form.reading["min_documents"].value,
    ) = "", None, 0
    assert form.values()["read"] == {
        "text": "body",
        "title": None,
        "stop_words": None,
        "min_documents": 0,
    }
    assert "Preprocessing: Stop words none, Min. documents 0" in shown(form)
    assert tuple(form.reading["format"].options.values()) == (None, *FORMATS)


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
            READ | {"min_documents": 2},
            "min_documents",
            "raise “Ignore words in more than … of documents”",
        ),
        (
            BODY,
            READ | {"max_share": None},
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
            "Held-out share 0.1 of 1 tokens is no token at all; ask for a larger held-out",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told_under_its_field_in_the_words_of_the_page(
    content, read, field, said, tmp_path
):
    form = Settings(on_start=lambda values: started.append(values))
    started, path = [], tmp_path / ("mine" if "\0" in content else "mine.csv")
    path.write_text(content)
    form.corpus.value, form.path.value = FILE, str(path)
    for name, value in read.items():
        form.reading[name].value = value
    form.start.clicks += 1
    with pytest.raises(CorpusError) as caught:
        start_runs(tmp_path / "runs", started[0])
    form.say("Reading the corpus …", busy=True)
    form.refuse(caught.value)
    seen = shown(form)
    assert said in seen[seen.index(form.fields()[field].label) + 1] and list(form.form.wrong) == [
        field
    ]
    assert form.said.visible and not form.start.disabled and form.ahead.object == ""
    form.start.clicks += 1
    assert len(started) == 2, "it may have been mended"


@pytest.mark.parametrize(
    "field, wrong, said",
    [
        ("n_topics", 0, "topics must be"),
        ("n_topics", None, "topics must be"),
        ("alpha", -1.0, "alpha must be"),
        ("beta", 0.0, "beta must be"),
        ("n_iterations", 0, "iterations must be"),
        ("seed", -1, "seed must be"),
        ("seeds", 0, "number of seeds must be"),
        ("holdout", 1.0, "held-out share must be"),
        ("holdout", None, "held-out share must be"),
        ("top_words", 0, "vocabulary must be a whole number of at least 1; got 0"),
        ("merge", 0, "documents joined must be a whole number of at least 1; got 0"),
        (
            "repeat",
            None,
            "counts repeated must be a whole number of at least 1; the field is empty",
        ),
        ("engines", [], "choose at least one engine"),
        ("r", "often", "“r” of svb-cgs must be a number"),
        ("n_chains", 0, "“chains” of svb-cgs must be"),
        ("phases", "interleaved", "“phases” interleaved needs “chains” 1"),
        (
            "jobs",
            None,
            f"parallel runs must be a whole number from 1 to {SLOTS}; the field is empty",
        ),
        ("path", "/no/such/file.csv", "no file and no folder"),
        ("path", "", "needs a path"),
    ],
)
def test_a_mistake_is_one_sentence_under_its_field_and_starts_nothing(field, wrong, said):
    asked = []
    form = Settings(on_start=asked.append)
    if field == "path":
        form.corpus.value, form.path.value = FILE, "."
    widget = form.fields()[field]
    right, widget.value = widget.value, written(wrong) if isinstance(widget, Values) else wrong
    form.start.clicks += 1
    assert asked == [] and list(form.form.wrong) == [field]
    assert said in form.form.wrong[field].lower() and 'class="bad"' in form.said.object
    widget.value = right
    assert not form.form.wrong and not form.said.visible
    form.path.value = form.path.value or "."
    form.start.clicks += 1
    assert len(asked) == 1


def test_a_sentence_is_text_whatever_is_in_it():
    form = Settings()
    form.say("<img src=x onerror=alert(1)>", "bad")
    assert "<img" not in form.said.object


def test_a_start_says_which_runs_other_kernels_began(tmp_path, queued, monkeypatch):
    text = tmp_path / "texts.csv"
    text.write_text("text\n" + "apples pears plums apples\nred green blue red\n" * 20)
    values = Settings().values() | {
        "corpus": str(text),
        "engines": ["cgs"],
        "n_iterations": 3,
        "n_topics": 2,
    }
    (run,), *_ = start_runs(tmp_path / "runs", values)
    resume(run, progress=False)
    monkeypatch.setattr("workbench.runs.store.reader.KERNELS", "others")
    sentence = summary_of_start(*start_runs(tmp_path / "runs", values | {"n_iterations": 5}))
    assert (
        sentence.startswith("1 run started, about ")
        and f"; run '{run.name}' was computed with other kernels than" in sentence
    )


def test_a_corpus_that_cannot_be_split_starts_nothing(tmp_path, queued):
    text = tmp_path / "texts.csv"
    text.write_text("text\napples pears\n")
    with pytest.raises(ValueError, match=r"\w"):
        start_runs(tmp_path / "runs", Settings().values() | {"corpus": str(text), "holdout": 0.01})
    assert queued == open_runs(tmp_path / "runs") == []


def test_a_link_goes_round_for_every_field():
    form, other = Settings(), Settings()
    for one in (form, other):
        one.offer(["a-run"])
    parts, others = (
        {name: widget_part(w) for name, w in f.fields().items()} for f in (form, other)
    )
    assert to_query(parts) == ""
    typed = {name: text for name, (text, *_) in field_values().items()}
    typed |= {
        "path": "a & b=c.csv",
        "r": "1, 2.5, inf",
        "seeds": "2",
        "jobs": "2",
        "start": "a-run",
    }
    for name, field in form.fields().items():
        before, field.value = field.value, field.typed(typed[name])
        assert field.value != before
    assert from_query(to_query(parts), others) == []
    unusual = {name: field.read() for name, field in form.fields().items()}
    assert {name: field.read() for name, field in other.fields().items()} == unusual


@pytest.mark.parametrize(
    "name, text",
    [
        ("n_topics", "many"),
        ("n_topics", "1.5"),
        ("alpha", "nan"),
        ("alpha", "inf"),
        ("engines", "cgs,nonsense"),
        ("corpus", "/etc"),
        ("schedule", "<b>"),
        ("seed", ""),
        ("singletons", "none"),
        ("top_words", "all"),
        ("start", "no-run"),
        ("restart_documents", "maybe"),
        ("r", "1,often"),
        ("alpha", "0.1,"),
        ("jobs", "two"),
    ],
)
def test_a_value_of_the_link_that_does_not_fit_is_left_out(name, text):
    widget = Settings().fields()[name]
    before = widget.value
    assert not take(widget, text)
    assert widget.value == before
