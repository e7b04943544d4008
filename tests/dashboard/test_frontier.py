"""The tab Frontier of the Sweep page, without a browser."""

import pytest
from dashboard.sweeping import listed, start
from same_process import working_here

import workbench as wb
from workbench.dashboard.shared.policy import Limits
from workbench.dashboard.sweep.frontier import (
    Frontier,
    cost_and_distance,
    hybrids,
    overtaking_map,
)
from workbench.dashboard.sweep.request import FoundRuns, progress_of
from workbench.measures import frontier
from workbench.report.figures import table_of
from workbench.runs.afterwards.heldout_by_document import pool_chains
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.request import written

FORM = {
    "corpus": "simulated",
    "engine": "svb-cgs",
    "r": [0, 1],
    "n_chains": 2,
    "split": "",
    "n_topics": 3,
    "alpha": 0.1,
    "beta": 0.1,
    "cost": "cpu_time",
    "n_iterations": 14,
    "seeds": 2,
    "holdout": 0.2,
    "jobs": 2,
    "reference": None,
    "top_words": None,
    "singletons": "keep",
    "repeat": 1,
    "merge": 1,
}
SETTINGS = ["svb-cgs r=0", "svb-cgs r=1 n_chains=2", "cgs"]


@pytest.fixture
def swept(store, corpus, queued):
    """A function that makes the runs of a form, here and now."""

    def sweep(**changes):
        start(asked_of(**changes), store)
        for path in queued:
            carry_on(path)
        queued.clear()
        return runs_of(store, **changes)

    return sweep


def asked_of(**changes) -> Frontier:
    return Frontier.from_query({name: written(value) for name, value in (FORM | changes).items()})


def runs_of(store, **changes) -> FoundRuns:
    return asked_of(**changes).find(listed(store))


def given_to_cards(store, **changes) -> list[tuple]:
    """Return the arguments from which the two cards are made."""
    results = asked_of(**changes).results(listed(store), runs_of(store, **changes))
    assert [result[0] for result in results] == [cost_and_distance, overtaking_map]
    return [result[1:] for result in results]


# ---------------------------------------------------------------------- which runs


def test_settings_are_each_r_with_each_number_of_chains_and_cgs_and_no_chains_where_nothing_is_sampled():
    assert asked_of().labels == SETTINGS
    assert asked_of().n_runs() == len(asked_of().wanted(FoundRuns([]))) == 4 + 2 * 3
    more = asked_of(r=[0, 1, 2, float("inf")], n_chains=[1, 5], split="gap")
    assert more.labels == [
        "svb-cgs r=0",
        "svb-cgs r=1",
        "svb-cgs r=1 n_chains=5",
        "svb-cgs r=2",
        "svb-cgs r=2 n_chains=5",
        "svb-cgs r=inf",
        "svb-cgs r=inf n_chains=5",
        "cgs",
        "adaptive-cgs budget_r=1",
        "adaptive-cgs budget_r=1 n_chains=5",
        "adaptive-cgs",
        "adaptive-cgs n_chains=5",
    ]
    assert asked_of(r=0, n_chains=1, split="chance").labels == [
        "svb-cgs r=0",
        "cgs",
        "mixed-cgs chance=0.2",
        "mixed-cgs",
        "mixed-cgs chance=0.9",
    ]
    # which has nothing to adapt
    assert asked_of(r=0, split="gap").labels == ["svb-cgs r=0", "cgs"]
    assert hybrids()[0] == "svb-cgs" and "adaptive-cgs" not in hybrids() and "cgs" not in hybrids()


def test_a_start_makes_four_long_chains_and_every_setting_and_a_second_one_what_is_missing(
    store, corpus, queued
):
    n, sentence = start(asked_of(), store)
    assert n == 10 and sentence.startswith("10 runs started, 2 in parallel") and len(queued) == 10
    specs = [Run(path).spec for path in queued]
    assert [(spec.engine, spec.seed, spec.n_iterations) for spec in specs[:4]] == [
        ("cgs", seed, 28) for seed in range(2, 6)
    ]
    assert [(spec.label(), spec.seed) for spec in specs[4:]] == [
        (label, seed) for seed in (0, 1) for label in SETTINGS
    ]
    assert len({spec.train for spec in specs}) == 1
    for path in queued:
        carry_on(path)
    found = runs_of(store)
    places = [(one.spec.label(), one.spec.seed) for one in found.settings]
    assert places == [(label, seed) for label in SETTINGS for seed in (0, 1)]
    assert sorted(one.spec.seed for one in found.reference) == [2, 3, 4, 5]
    assert start(asked_of(), store)[0] == 0
    assert start(asked_of(r=[0, 1, 2]), store)[0] == 2


def test_long_chains_that_are_there_are_the_reference_whoever_started_them(
    store, corpus, queued, monkeypatch
):
    with monkeypatch.context() as here:
        working_here(here)
        settings = {"n_topics": 3, "holdout": 0.2, "store": store, "progress": False}
        wb.compare(corpus, ["cgs"], seeds=3, seed=50, n_iterations=30, **settings)
        wb.compare(corpus, ["cgs"], seed=60, n_iterations=27, **settings)
    assert sorted(one.spec.seed for one in runs_of(store).reference) == [50, 51, 52]
    start(asked_of(), store)
    assert [Run(path).spec.seed for path in queued if Run(path).spec.n_iterations == 28] == [2]


def test_runs_of_another_regime_model_or_split_are_not_among_them(store, corpus, swept):
    swept(seeds=1)
    for change in (
        {"repeat": 2},
        {"merge": 2},
        {"top_words": 4},
        {"singletons": "train"},
        {"n_topics": 4},
        {"holdout": 0.1},
        {"alpha": 0.5},
        {"beta": 0.5},
    ):
        assert runs_of(store, **change).all == []
    assert len(swept(seeds=1, repeat=2).settings) == 3
    assert all(one.spec.split["repeat"] == 2 for one in runs_of(store, repeat=2).all)
    assert len(given_to_cards(store)[1][0]) == 2 * (4 + 3)


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        (
            {"n_topics": [3, 4]},
            "n_topics",
            "Frontier compares engines on one model; give one number.",
        ),
        ({"holdout": 0.0}, "holdout", "A distance needs held-out tokens; hold out some, as 0.1."),
        (
            {"reference": 20},
            "reference",
            "The reference needs at least 28 iterations, 2 times those of the runs.",
        ),
        ({"r": -1}, "r", "got -1"),
        ({"repeat": 0}, "repeat", "a whole number of at least 1"),
    ],
)
def test_what_no_frontier_can_be_of_gets_one_sentence_under_its_field(change, field, sentence):
    found = asked_of(corpus="docstrings", **change).sentences()
    assert list(found) == [field] and sentence in found[field]


def test_more_runs_than_the_server_allows_are_refused_before_the_start(ruled):
    asked = asked_of(corpus="docstrings")
    assert not asked.sentences()
    ruled(limits=Limits(start=9))
    assert "These are 10 runs where 9 may be started at once" in str(asked.sentences())
    ruled(limits=Limits(iterations=20))
    assert "The reference has 28 iterations where 20 may be." in str(asked.sentences())


# ---------------------------------------------------------------------- what is shown


def test_numbers_on_the_page_are_those_of_the_measure(store, swept):
    found = swept()
    shown = cost_and_distance(*given_to_cards(store)[0])
    own, chains = ([Run(one.path).progress() for one in readings] for readings in found)
    table = frontier(own, chains, [pool_chains([one.path for one in found.reference])])
    for label in SETTINGS:
        one = table.sel(label=label)
        row = next(row for row in shown.table.split("<tr")[2:] if f'title="{label}"' in row)
        assert f"{float(one['distance']):.4f} ± {float(one['distance_se']):.4f}" in row
        assert f"{float(one['updates']):,.0f}" in row and f"{float(one['cpu_time']):,.2f}" in row
        assert ("lit" in row) == bool(one["efficient_cpu_time"])
    assert (
        "The reference: 4 chains of cgs, together with" in shown.sentence
        and "have not ended" not in shown.sentence
    )
    assert shown.picture
    lines = table_of(shown.picture).decode().splitlines()
    assert lines[0].startswith("label,engine,r") and len(lines) == 4


def test_a_run_that_has_gone_on_is_shown_up_to_the_iterations_of_the_form(
    store, corpus, swept, monkeypatch
):
    swept(seeds=1)
    before = cost_and_distance(*given_to_cards(store, seeds=1)[0])
    working_here(monkeypatch)
    wb.compare(
        corpus, ["cgs"], n_topics=3, n_iterations=20, holdout=0.2, store=store, progress=False
    )
    settings, *others = given_to_cards(store, seeds=1)[0]
    assert max(point.iteration for point in settings) == 20
    assert cost_and_distance(settings, *others).table == before.table


def test_points_wait_for_the_chains_of_the_reference(store, swept):
    swept(seeds=1)
    settings, reference, *others = given_to_cards(store, seeds=1)[0]
    shown = cost_and_distance(settings, reference[:2], *others)
    assert (
        "as soon as 4 chains of the reference have begun; 2 have." in shown.sentence
        and not shown.picture
    )
    assert cost_and_distance((), (), *others).sentence == ""
    shown = cost_and_distance(settings, reference, others[0], 40, others[2])
    assert "4 of its chains have not ended, so distances may change." in shown.sentence


def test_the_map_has_a_cell_for_each_regime_that_was_run(store, swept):
    swept(seeds=1)
    swept(seeds=1, repeat=3)
    (points,) = given_to_cards(store)[1]
    shown = overtaking_map(points)
    assert (
        "of 2 cells a hybrid comes sooner than cgs to the perplexity that both reach."
        in shown.sentence
        and shown.picture
    )
    one = overtaking_map(points[:3])
    assert "The map has one cell so far, where svb-cgs r=" in one.sentence
    assert {row[2] for row in shown.picture.rows} == {1, 3}
    assert "No hybrid has a run of cgs beside it yet." in overtaking_map(()).sentence


def test_progress_counts_runs_that_are_to_come(store, corpus, swept):
    found = swept(seeds=1)
    done = progress_of(found.all, asked_of(seeds=1).wanted(found), 2)
    assert done == (7, 7, 0, 0, 0, ())
    more = progress_of(found.all, asked_of().wanted(found), 2)
    # a chain of the reference is the second run of cgs
    assert (more.n_wanted, more.n_ended) == (9, 7) and more.seconds_left > 0
