"""The tab Choose K of the Sweep page, without a browser."""

import shutil

import pytest
from dashboard.sweeping import listed, start
from same_process import working_here
from toys import simulated

import workbench as wb
from workbench.corpus import ShardedCorpus
from workbench.corpus.shards import shard_writer
from workbench.dashboard.shared.policy import Limits, PolicyError
from workbench.dashboard.sweep.choose_k import ChooseK
from workbench.errors import DataError
from workbench.measures import numbers_by_k, recommend_k
from workbench.report.figures import table_of
from workbench.runs.execution import queue, warm_sweep
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.request import written
from workbench.runs.store.lock import Lock
from workbench.runs.store.status import QUEUES

FORM = {
    "corpus": "simulated",
    "engine": "cgs",
    "n_topics": [2, 3],
    "n_iterations": 6,
    "seeds": 2,
    "holdout": 0.2,
    "jobs": 2,
    "warm": False,
}


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


def asked_of(**changes) -> ChooseK:
    return ChooseK.from_query({name: written(value) for name, value in (FORM | changes).items()})


def runs_of(readings, **changes):
    return asked_of(**changes).find(readings).settings


def shown(store, **changes):
    """Return what the card shows of the runs of a form."""
    asked, readings = asked_of(**changes), listed(store)
    ((make, *given),) = asked.results(readings, asked.find(readings))
    return make(*given)


def ks_of(runs) -> list[tuple[int, int]]:
    return [(one.spec.n_topics, one.spec.seed) for one in runs]


# ---------------------------------------------------------------------- which runs


def test_the_runs_of_a_form_are_those_of_its_settings_whoever_started_them(swept):
    swept(n_topics=[2, 3, 4], seeds=3)
    swept(engine="svb")
    readings = swept(holdout=0.1)
    assert ks_of(runs_of(readings)) == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert ks_of(runs_of(readings, n_topics=[4, 2], seeds=1)) == [
        (2, 0),
        (4, 0),
    ]
    assert {one.spec.engine for one in runs_of(readings, engine="svb")} == {"svb"}
    assert not runs_of(readings, corpus="another", engine="vb")


def test_runs_with_other_options_priors_or_tokens_are_not_among_them(store, corpus, swept):
    readings = swept(seeds=1)
    settings = {"n_topics": 3, "n_iterations": 3, "holdout": 0.2, "store": store, "progress": False}
    wb.compare(corpus, ["cgs"], alpha=0.5, **settings)
    wb.compare(corpus, ["cgs"], options={"learn_alpha": "maximised"}, **settings)
    wb.compare(corpus, ["cgs"], split_seed=1, **settings)
    found = runs_of(listed(store))
    assert sorted(one.name for one in found) == sorted(one.name for one in readings)


def test_runs_of_a_warm_sweep_are_those_that_began_from_each_other(swept):
    swept(n_topics=[2, 4], seeds=1, warm=True)
    readings = swept(n_topics=[2, 3, 4], seeds=1, warm=True)
    found = runs_of(readings, n_topics=[2, 3, 4], seeds=1, warm=True)
    assert ks_of(found) == [(2, 0), (3, 0), (4, 0)]
    assert [one.spec.start and one.spec.start["name"] for one in found] == [
        None,
        found[0].name,
        found[1].name,
    ]
    assert ks_of(runs_of(readings, n_topics=[2, 3, 4], seeds=1)) == [(2, 0)]


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("ks", "sentence"),
    [
        (0, "whole number from 1 to 65535; got 0"),
        ([5, "ten"], "whole number from 1 to 65535; got 'ten'"),
        ([5, ""], "there is none beside a comma"),
        (1, "Topics K must be several numbers to choose from, as 5, 10, 20."),
    ],
)
def test_a_wrong_list_of_topics_gets_one_sentence_under_its_field(ks, sentence):
    found = asked_of(corpus="docstrings", n_topics=ks).sentences()
    assert list(found) == ["n_topics"] and sentence in found["n_topics"]


def test_more_runs_than_the_server_allows_are_refused_before_the_start(ruled):
    ruled(limits=Limits(start=3))
    assert "These are 4 runs where 3 may be started at once" in str(
        asked_of(corpus="docstrings").sentences()
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
    n, sentence = start(asked_of(), store)
    assert n == 4 and sentence.startswith("4 runs started, 2 in parallel")
    assert len(queued[0][0]) == 4 and queued[0][1] == 2
    for path in queued[0][0]:
        carry_on(path)
    assert start(asked_of(), store)[0] == 0
    assert start(asked_of(n_topics=[2, 3, 5]), store)[0] == 2


def test_a_warm_start_leaves_the_sweep_to_a_process_and_is_refused_while_that_goes_on(
    store, corpus, monkeypatch
):
    monkeypatch.setattr(queue, "launch", carry_on)
    monkeypatch.setattr(warm_sweep, "spawn", lambda *given, lock, log: lock.release())
    warm = {"n_topics": [3, 2], "warm": True}
    n, sentence = start(asked_of(**warm), store)
    assert n == 4 and sentence.startswith("4 runs, ")
    assert sentence.endswith("first those with 2 topics, then others from these.")
    assert ks_of(listed(store)) in ([(2, 1), (2, 0)], [(2, 0), (2, 1)])
    (lock,) = (store / QUEUES).iterdir()
    with Lock(lock), pytest.raises(ValueError, match="these runs are active already"):
        start(asked_of(**warm), store)
    warm_sweep.climb(lock)
    assert ks_of(runs_of(listed(store), **warm)) == [(2, 0), (2, 1), (3, 0), (3, 1)]


def test_a_server_that_is_to_look_at_starts_nothing(store, corpus, ruled):
    ruled(read_only=True)
    for warm in (False, True):
        with pytest.raises(ValueError, match="nothing can be started"):
            start(asked_of(warm=warm), store)
    assert not store.exists()


# ---------------------------------------------------------------------- what is shown


def test_numbers_on_the_page_are_those_of_the_measure(store, corpus, swept):
    runs = runs_of(swept())
    train = wb.hold_out_tokens(corpus, fraction=0.2, seed=0)[0]
    table = numbers_by_k([wb.open_run(one.path) for one in runs], train)
    card = shown(store)
    for k in (2, 3):
        one = table.sel(n_topics=k)
        row = next(row for row in card.table.split("<tr")[2:] if f'scope="row">{k}</th>' in row)
        for name, digits in (
            ("log_likelihood", 4),
            ("npmi", 3),
            ("diversity", 3),
            ("stability", 3),
        ):
            assert f"{float(one[name]):.{digits}f}".replace("-", "−") in row, name
        assert all(f"topics?run={each.name}" in row for each in runs if each.spec.n_topics == k)
    assert (
        recommend_k(table).reason in card.sentence
        and '<tr class="lit" aria-current="true"' in card.table
    )
    # which Gibbs sampling has not
    assert card.picture and "Bound" not in card.table
    lines = table_of(card.picture).decode().splitlines()
    assert lines[0].startswith("n_topics,n_runs,n_finished,log_likelihood") and len(lines) == 3


def test_a_number_that_is_still_to_come_is_said_and_the_edge_is_not(store, swept):
    swept()
    card = shown(store, n_topics=[2, 3, 50])
    assert (
        "K = 50 has not been run yet, so this may change." in card.sentence
        and "try larger" not in card.sentence
    )


def test_where_nothing_is_held_out_the_page_says_so_and_shows_the_rest(store, swept):
    swept(holdout=0)
    card = shown(store, holdout=0)
    assert "No run has a held-out score to choose K by; hold out some tokens." in card.sentence
    assert card.picture and "Log likelihood" not in card.table and "Coherence" in card.table


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
    form = {"corpus": str(folder), "read": columns}
    assert asked_of(**form).sentences() == {} and start(asked_of(**form), store)[0] == 4
    found = runs_of(listed(store), **form)
    assert ks_of(found) == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert {(one.spec.corpus, one.state) for one in found} == {(small.name, "finished")} and found[
        0
    ].spec.shards > 1
    train, test = wb.hold_out_tokens(small, fraction=0.2, seed=0)
    for one in found:
        k, seed = one.spec.n_topics, one.spec.seed
        alone = wb.fit(train, "cgs", k, test=test, seed=seed, n_iterations=6, progress=False)
        scores = [float(run["test_perplexity"][-1]) for run in (alone, Run(one.path).progress())]
        # sums over shards have other last digits
        assert scores[1] == pytest.approx(scores[0], rel=1e-12)
    shutil.copytree(folder, tmp_path / "damaged")
    (tmp_path / "damaged" / "corpus.json").write_text("{")
    damaged = form | {"corpus": str(tmp_path / "damaged")}
    with pytest.raises(DataError, match="damaged: corpus.json cannot be read"):
        start(asked_of(**damaged), store)
    assert runs_of(listed(store), **damaged) == [], "nothing says what it was called"
    ruled(others=True, folders=(tmp_path / "elsewhere",))
    with pytest.raises(PolicyError, match="no file and no folder"):
        start(asked_of(**form), store)
