"""The Choose K page's own decisions, without a browser."""

import re
import shutil
from urllib.parse import parse_qsl

import pytest
from same_process import working_here
from toys import simulated

import workbench as wb
from workbench.corpus import ShardedCorpus
from workbench.corpus.shards import shard_writer
from workbench.dashboard.choose_k.page import ChooseKPage
from workbench.dashboard.choose_k.results import points_of, results_file, shown_of
from workbench.dashboard.choose_k.sweeping import mistakes, runs_of, start_sweep, values_of
from workbench.dashboard.shared.link import from_query, to_query
from workbench.dashboard.shared.policy import Limits, PolicyError
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.dashboard.sweeps.progress import Progress, told
from workbench.errors import DataError
from workbench.measures import numbers_by_k, recommend_k
from workbench.runs.execution import queue, warm_sweep
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.store.lock import Lock
from workbench.runs.store.status import QUEUES, RUNNING, STOPPED, requested, set_state

FORM = {
    "corpus": "simulated",
    "read": {},
    "engine": "cgs",
    "n_topics": [2, 3],
    "n_iterations": 6,
    "seeds": 2,
    "holdout": 0.2,
    "jobs": 2,
    "warm": False,
}


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def corpus(monkeypatch):
    """A small corpus under a name of the catalog."""
    small = simulated()
    monkeypatch.setattr("workbench.dashboard.compare.starting.data_of", lambda *given: small)
    monkeypatch.setattr("workbench.dashboard.choose_k.sweeping.data_of", lambda *given: small)
    monkeypatch.setattr("workbench.dashboard.choose_k.sweeping.names_of", lambda name: {small.name})
    return small


@pytest.fixture
def swept(store, corpus, monkeypatch):
    """A function that makes the runs of a form as the command line does."""
    working_here(monkeypatch)

    def sweep(**changes):
        values = FORM | changes
        wb.sweep(
            corpus,
            {"n_topics": values["n_topics"]},
            values["engine"],
            values["seeds"],
            store,
            progress=False,
            **{name: values[name] for name in ("n_iterations", "holdout", "warm")},
        )
        return listed(store)

    return sweep


@pytest.fixture
def opened(store, corpus, monitor, monkeypatch):
    """A page on the store, whose listing is as of now at every tick, and which has all numbers at once."""
    monkeypatch.setattr("workbench.dashboard.sweeps.page.LIVE_EVERY", 0.0)
    page = ChooseKPage(store)
    for name, value in {
        "n_topics": "2, 3",
        "n_iterations": 6,
        "seeds": 2,
        "holdout": 0.2,
        "jobs": 2,
    }.items():
        page.fields[name].value = value
    return page


def listed(store):
    return RunMonitor(store).look().readings


def ks_of(runs) -> list[tuple[int, int]]:
    return [(one.spec.model["n_topics"], one.spec.seed) for one in runs]


def said(text) -> str:
    return re.sub("<[^>]*>", " ", text.object)


# ---------------------------------------------------------------------- which runs


def test_the_runs_of_a_form_are_those_of_its_settings_whoever_started_them(swept):
    swept(n_topics=[2, 3, 4], seeds=3)
    swept(engine="svb")
    readings = swept(holdout=0.1)
    assert ks_of(runs_of(readings, values_of(FORM))) == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert ks_of(runs_of(readings, values_of(FORM | {"n_topics": [4, 2], "seeds": 1}))) == [
        (2, 0),
        (4, 0),
    ]
    assert {one.spec.engine for one in runs_of(readings, values_of(FORM | {"engine": "svb"}))} == {
        "svb"
    }
    assert not runs_of(readings, values_of(FORM | {"corpus": "another", "engine": "vb"}))


def test_runs_with_other_options_priors_or_tokens_are_not_among_them(store, corpus, swept):
    readings = swept(seeds=1)
    settings = {"n_topics": 3, "n_iterations": 3, "holdout": 0.2, "store": store, "progress": False}
    wb.compare(corpus, ["cgs"], alpha=0.5, **settings)
    wb.compare(corpus, ["cgs"], options={"learn_alpha": "maximised"}, **settings)
    wb.compare(corpus, ["cgs"], split_seed=1, **settings)
    found = runs_of(listed(store), values_of(FORM))
    assert sorted(one.name for one in found) == sorted(one.name for one in readings)


def test_runs_of_a_warm_sweep_are_those_that_began_from_each_other(swept):
    swept(n_topics=[2, 4], seeds=1, warm=True)
    readings = swept(n_topics=[2, 3, 4], seeds=1, warm=True)
    values = values_of(FORM | {"n_topics": [2, 3, 4], "seeds": 1, "warm": True})
    found = runs_of(readings, values)
    assert ks_of(found) == [(2, 0), (3, 0), (4, 0)]
    assert [one.spec.start and one.spec.start["name"] for one in found] == [
        None,
        found[0].name,
        found[1].name,
    ]
    assert ks_of(runs_of(readings, values | {"warm": False})) == [(2, 0)]


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("ks", "sentence"),
    [
        (0, "whole number from 1 to 65535; got 0"),
        ([5, "ten"], "whole number from 1 to 65535; got 'ten'"),
        (None, "whole number from 1 to 65535; the field is empty"),
        ([5, ""], "there is none beside a comma"),
        (1, "Topics K must be several numbers to choose from, as 5, 10, 20."),
    ],
)
def test_a_wrong_list_of_topics_gets_one_sentence_under_its_field(ks, sentence):
    found = mistakes(values_of(FORM | {"corpus": "docstrings", "n_topics": ks}))
    assert list(found) == ["n_topics"] and sentence in found["n_topics"]


def test_more_runs_than_the_server_allows_are_refused_before_the_start(ruled):
    ruled(limits=Limits(start=3))
    assert "These are 4 runs where 3 may be started at once" in str(
        mistakes(values_of(FORM | {"corpus": "docstrings"}))
    )


# ---------------------------------------------------------------------- the start


def test_a_start_makes_every_run_and_a_second_one_those_that_are_missing(
    store, corpus, monkeypatch
):
    queued = []
    monkeypatch.setattr(
        "workbench.dashboard.compare.starting.enqueue",
        lambda paths, jobs: queued.append((paths, jobs)),
    )
    n, sentence = start_sweep(store, values_of(FORM))
    assert n == 4 and sentence.startswith("4 runs started, 2 in parallel")
    assert len(queued[0][0]) == 4 and queued[0][1] == 2
    for path in queued[0][0]:
        carry_on(path)
    assert start_sweep(store, values_of(FORM))[0] == 0
    assert start_sweep(store, values_of(FORM | {"n_topics": [2, 3, 5]}))[0] == 2


def test_a_warm_start_leaves_the_sweep_to_a_process_and_is_refused_while_that_goes_on(
    store, corpus, monkeypatch
):
    monkeypatch.setattr(queue, "launch", carry_on)
    monkeypatch.setattr(warm_sweep, "spawn", lambda *given, lock, log: lock.release())
    values = values_of(FORM | {"n_topics": [3, 2], "warm": True})
    n, sentence = start_sweep(store, values)
    assert n == 4 and sentence.startswith("4 runs, ")
    assert sentence.endswith("first those with 2 topics, then others from these.")
    assert ks_of(listed(store)) in ([(2, 1), (2, 0)], [(2, 0), (2, 1)])
    (lock,) = (store / QUEUES).iterdir()
    with Lock(lock), pytest.raises(ValueError, match="these runs are active already"):
        start_sweep(store, values)
    warm_sweep.climb(lock)
    assert ks_of(runs_of(listed(store), values)) == [(2, 0), (2, 1), (3, 0), (3, 1)]


def test_a_server_that_is_to_look_at_starts_nothing(store, corpus, ruled):
    ruled(read_only=True)
    for warm in (False, True):
        with pytest.raises(ValueError, match="nothing can be started"):
            start_sweep(store, values_of(FORM | {"warm": warm}))
    assert not store.exists()


# ---------------------------------------------------------------------- what is shown


def test_numbers_on_the_page_are_those_of_the_measure(store, corpus, swept):
    runs = runs_of(swept(), values_of(FORM))
    train = wb.hold_out_tokens(corpus, fraction=0.2, seed=0)[0]
    table = numbers_by_k([wb.open_run(one.path) for one in runs], train)
    points = points_of(runs)
    shown = shown_of(points, "cgs", (2, 3))
    for k in (2, 3):
        one = table.sel(n_topics=k)
        row = next(row for row in shown.table.split("<tr")[2:] if f'class="n">{k}</th>' in row)
        for name, digits in (
            ("log_likelihood", 4),
            ("npmi", 3),
            ("diversity", 3),
            ("stability", 3),
        ):
            assert f"{float(one[name]):.{digits}f}".replace("-", "−") in row, name
        assert all(
            f"topics?run={each.name}" in row for each in runs if each.spec.model["n_topics"] == k
        )
    assert (
        recommend_k(table).reason in shown.advice
        and '<tr class="lit" aria-current="true"' in shown.table
    )
    # which Gibbs sampling has not
    assert shown.figure.count("<svg") == 1 and "Bound" not in shown.table
    lines = results_file(points, "cgs", (2, 3), "csv").content.decode().splitlines()
    assert lines[0].startswith("n_topics,n_runs,n_finished,log_likelihood") and len(lines) == 3
    assert results_file(points, "cgs", (2, 3), "svg").content.startswith(b"<?xml")


def test_a_number_that_is_still_to_come_is_said_and_the_edge_is_not(swept):
    runs = runs_of(swept(), values_of(FORM))
    shown = shown_of(points_of(runs), "cgs", (2, 3, 50))
    assert (
        "K = 50 has not been run yet, so this may change." in shown.advice
        and "try larger" not in shown.advice
    )


def test_where_nothing_is_held_out_the_page_says_so_and_shows_the_rest(swept):
    runs = runs_of(swept(holdout=0), values_of(FORM | {"holdout": 0}))
    shown = shown_of(points_of(runs), "cgs", (2, 3))
    assert "No run has a held-out score to choose K by; hold out some tokens." in shown.advice
    assert (
        "<svg" in shown.figure
        and "Log likelihood" not in shown.table
        and "Coherence" in shown.table
    )


@pytest.mark.parametrize(
    ("progress", "goes_on", "sentence"),
    [
        (Progress(12, 12, 0, 0, 0.0, ()), False, "All 12 runs have ended."),
        (
            Progress(12, 12, 2, 0, 0.0, ()),
            False,
            "All 12 runs have ended, 2 with fewer iterations than the form says; Start takes them there.",
        ),
        (
            Progress(12, 5, 0, 2, 130.0, ()),
            False,
            "5 of 12 runs have ended; about 2 min 10 s left.",
        ),
        (Progress(12, 5, 0, 0, None, ()), True, "5 of 12 runs have ended."),
        (
            Progress(12, 1, 0, 0, 9.0, ()),
            False,
            "1 of 12 runs has ended. Start runs the others.",
        ),
        (
            Progress(2, 1, 0, 0, 9.0, ("no memory",)),
            False,
            "1 of 2 runs has ended; 1 failed: no memory. Start runs the others.",
        ),
    ],
)
def test_progress_is_one_sentence(progress, goes_on, sentence):
    assert told(progress, goes_on) == sentence


# ---------------------------------------------------------------------- the page


def test_an_empty_store_says_what_to_do(opened):
    assert "No run of these settings yet. Press Start." in said(opened.progress)
    assert opened.stop.disabled and not opened.start.disabled and not opened.results.visible
    assert "4 runs, 2 in parallel, 2 queued" in said(opened.ahead)


def test_a_link_finds_the_runs_again(opened, swept, store, monkeypatch):
    swept()
    opened.tick()
    assert said(opened.progress).strip() == "All 4 runs have ended." and opened.results.visible
    link = dict(parse_qsl(to_query(opened.parts)[1:]))
    assert link == {
        "n_topics": "2, 3",
        "n_iterations": "6",
        "seeds": "2",
        "holdout": "0.2",
        "jobs": "2",
    }
    again = ChooseKPage(store)
    assert "No run of these settings yet." in said(again.progress)
    assert from_query(to_query(opened.parts), again.parts) == []
    assert (
        said(again.progress).strip() == "All 4 runs have ended."
        and again.advice.object == opened.advice.object
    )
    wrong = "?n_topics=ten&engine=g-hdp&seeds=none&warm=maybe"
    assert from_query(wrong, again.parts) == ["n_topics", "engine", "seeds", "warm"]


def test_mistakes_stand_under_their_fields_and_nothing_is_started(opened, store):
    opened.fields["n_topics"].value = "0"
    assert "got 0" in opened.form.wrong["n_topics"] and opened.ahead.object == ""
    assert said(opened.progress).strip() == "The form does not describe runs yet."
    opened.start.clicks += 1
    assert "Nothing is started" in opened.said.object and not store.exists()
    opened.fields["n_topics"].value = "2, 3"
    assert opened.form.wrong == {}


def test_start_and_stop_act_on_the_runs_of_the_form(opened, store, corpus, queued):
    opened.start.clicks += 1
    assert "4 runs started" in opened.said.object and not opened._busy
    paths = [one.path for one in listed(store)]
    other = wb.start(corpus, "svb", n_topics=2, n_iterations=5, store=store, name="other").path
    Run(other).wait(60)
    with Lock(paths[0] / "lock"), Lock(paths[1] / "lock"):
        for path in paths[:2]:
            set_state(path, RUNNING)
        opened.tick()
        assert not opened.stop.disabled and "0 of 4 runs have ended" in said(opened.progress)
        opened.stop.clicks += 1
        assert "2 runs asked to stop; Start resumes them." in opened.said.object
        assert [requested(path) for path in (*paths[:2], other)] == [STOPPED, STOPPED, RUNNING]
    for path in paths[:2]:
        set_state(path, STOPPED)
    opened.tick()
    assert (
        opened.stop.disabled
        and not opened.start.disabled
        and "Start runs the others." in said(opened.progress)
    )


def test_where_nothing_can_be_changed_there_is_neither_start_nor_stop(opened, ruled):
    ruled(read_only=True)
    opened.tick()
    assert said(opened.progress).strip() == "No run of these settings yet."
    assert (
        opened.start not in list(opened.view().select())
        and "read-only" in opened.view()[0][0].object
    )


@pytest.mark.slow
def test_numbers_of_runs_that_change_while_they_are_computed_are_shown_all_the_same(
    opened, swept, monkeypatch
):
    waiting = []
    monkeypatch.setattr(
        "workbench.dashboard.sweeps.page.in_background",
        lambda document, work, then, *pool: waiting.append(lambda: then(work(), None)),
    )
    swept(seeds=1)
    opened.tick()
    swept()
    opened.tick()  # the first are still being computed
    assert len(waiting) == 1
    waiting.pop()()
    assert ">1</td>" in opened.table.object
    opened.tick()
    waiting.pop()()
    assert ">2</td>" in opened.table.object
    opened.fields["seeds"].value = 1
    opened.fields["engine"].value = "svb"  # what is on its way is of another form
    waiting.pop()()
    assert ">2</td>" in opened.table.object
    opened.tick()
    waiting.pop()()
    assert not opened.results.visible and not waiting


def test_a_folder_of_shards_is_swept_and_its_runs_are_found_by_the_name_within(
    tmp_path, store, monkeypatch, ruled
):
    working_here(monkeypatch)
    enqueue = "workbench.dashboard.compare.starting.enqueue"
    monkeypatch.setattr(enqueue, lambda paths, jobs: [Run(path).resume() for path in paths])
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 40)
    ShardedCorpus.write(small := simulated(), folder := tmp_path / "folder")
    # as the fields of the page are filled
    columns = {"text": "text", "title": "title", "label": "label"}
    values = values_of(FORM | {"corpus": str(folder), "read": columns})
    assert mistakes(values) == {} and start_sweep(store, values)[0] == 4
    found = runs_of(listed(store), values)
    assert {(one.spec.model["n_topics"], one.spec.seed) for one in found} == {
        (2, 0),
        (2, 1),
        (3, 0),
        (3, 1),
    }
    assert {(one.spec.corpus, one.state) for one in found} == {(small.name, "finished")} and found[
        0
    ].spec.shards > 1
    train, test = wb.hold_out_tokens(small, fraction=0.2, seed=0)
    for one in found:
        k, seed = one.spec.model["n_topics"], one.spec.seed
        alone = wb.fit(train, "cgs", k, test=test, seed=seed, n_iterations=6, progress=False)
        scores = [float(run["test_perplexity"][-1]) for run in (alone, Run(one.path).progress())]
        # sums over shards have other last digits
        assert scores[1] == pytest.approx(scores[0], rel=1e-12)
    shutil.copytree(folder, tmp_path / "damaged")
    (tmp_path / "damaged" / "corpus.json").write_text("{")
    damaged = values | {"corpus": str(tmp_path / "damaged")}
    with pytest.raises(DataError, match="damaged: corpus.json is no JSON"):
        start_sweep(store, damaged)
    assert runs_of(listed(store), damaged) == [], "nothing says what it was called"
    ruled(others=True, folders=(tmp_path / "elsewhere",))
    with pytest.raises(PolicyError, match="no file and no folder"):
        start_sweep(store, values)
