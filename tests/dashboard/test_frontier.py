"""The Frontier page's own decisions, without a browser."""

import re
from urllib.parse import parse_qsl

import pytest
from same_process import working_here
from toys import simulated

import workbench as wb
from workbench.dashboard.frontier.page import FrontierPage
from workbench.dashboard.frontier.results import (
    Asked,
    frontier_of,
    overtaking_of,
    points_of,
    results_file,
)
from workbench.dashboard.frontier.sweeping import (
    found_in,
    hybrids,
    labels,
    mistakes,
    n_wanted,
    of_corpus,
    progress_of,
    start,
    values_of,
)
from workbench.dashboard.shared.link import from_query, to_query
from workbench.dashboard.shared.policy import Limits
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import frontier
from workbench.runs.afterwards.heldout_by_document import pool_chains
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on

FORM = {
    "corpus": "simulated",
    "read": {},
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
def store(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def corpus(monkeypatch):
    """A small corpus under a name of the catalog."""
    small = simulated()
    monkeypatch.setattr("workbench.dashboard.frontier.sweeping.data_of", lambda *given: small)
    monkeypatch.setattr("workbench.dashboard.frontier.sweeping.names_of", lambda name: {small.name})
    return small


@pytest.fixture
def swept(store, corpus, queued):
    """A function that makes the runs of a form, here and now."""

    def sweep(**changes):
        values = values_of(FORM | changes)
        start(store, values, found_in(listed(store), values))
        for path in queued:
            carry_on(path)
        queued.clear()
        return found_in(listed(store), values)

    return sweep


@pytest.fixture
def opened(store, corpus, queued, monitor, monkeypatch):
    """A page on the store, whose listing is as of now at every tick, and which has all numbers at once."""
    monkeypatch.setattr("workbench.dashboard.sweeps.page.LIVE_EVERY", 0.0)
    page = FrontierPage(store)
    for name, value in {
        "n_topics": "3",
        "n_iterations": 14,
        "seeds": 2,
        "holdout": 0.2,
        "jobs": 2,
        "r": "0, 1",
        "n_chains": "2",
    }.items():
        page.fields[name].value = value
    return page


def listed(store):
    return RunMonitor(store).look().readings if store.exists() else ()


def asked_of(found, clock="cpu_time", others=()) -> Asked:
    return Asked(
        points_of(found.settings), points_of(found.reference), points_of(others), 14, 28, clock
    )


def said(text) -> str:
    return re.sub("<[^>]*>", " ", text.object)


# ---------------------------------------------------------------------- which runs


def test_settings_are_each_r_with_each_number_of_chains_and_cgs_and_no_chains_where_nothing_is_sampled():
    assert labels(values_of(FORM)) == SETTINGS and n_wanted(values_of(FORM)) == 4 + 2 * 3
    more = values_of(FORM | {"r": [0, 1, 2, float("inf")], "n_chains": [1, 5], "split": "gap"})
    assert labels(more) == [
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
    # which has nothing to adapt
    assert labels(values_of(FORM | {"r": 0, "split": "gap"})) == ["svb-cgs r=0", "cgs"]
    assert hybrids()[0] == "svb-cgs" and "adaptive-cgs" not in hybrids() and "cgs" not in hybrids()


def test_a_start_makes_four_long_chains_and_every_setting_and_a_second_one_what_is_missing(
    store, corpus, queued
):
    values = values_of(FORM)
    n, sentence = start(store, values, found_in((), values))
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
    found = found_in(listed(store), values)
    places = [(one.spec.label(), one.spec.seed) for one in found.settings]
    assert places == [(label, seed) for label in SETTINGS for seed in (0, 1)]
    assert sorted(one.spec.seed for one in found.reference) == [2, 3, 4, 5]
    assert start(store, values, found)[0] == 0
    more = values_of(FORM | {"r": [0, 1, 2]})
    assert start(store, more, found_in(listed(store), more))[0] == 2


def test_long_chains_that_are_there_are_the_reference_whoever_started_them(
    store, corpus, queued, monkeypatch
):
    with monkeypatch.context() as here:
        working_here(here)
        wb.compare(
            corpus,
            ["cgs"],
            seeds=3,
            seed=50,
            n_topics=3,
            n_iterations=30,
            holdout=0.2,
            store=store,
            progress=False,
        )
        wb.compare(
            corpus,
            ["cgs"],
            seed=60,
            n_topics=3,
            n_iterations=27,
            holdout=0.2,
            store=store,
            progress=False,
        )
    values = values_of(FORM)
    found = found_in(listed(store), values)
    assert sorted(one.spec.seed for one in found.reference) == [50, 51, 52]
    start(store, values, found)
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
        assert found_in(listed(store), values_of(FORM | change)) == ([], [])
    assert len(swept(seeds=1, repeat=2).settings) == 3
    found = found_in(listed(store), values_of(FORM | {"repeat": 2}))
    assert all(one.spec.split["repeat"] == 2 for one in (*found.settings, *found.reference))
    assert len(of_corpus(listed(store), values_of(FORM))) == 2 * (4 + 3)


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
    found = mistakes(values_of(FORM | {"corpus": "docstrings"} | change))
    assert list(found) == [field] and sentence in found[field]


def test_more_runs_than_the_server_allows_are_refused_before_the_start(ruled):
    assert not mistakes(values_of(FORM | {"corpus": "docstrings"}))
    ruled(limits=Limits(start=9))
    assert "These are 10 runs where 9 may be started at once" in str(
        mistakes(values_of(FORM | {"corpus": "docstrings"}))
    )
    ruled(limits=Limits(iterations=20))
    assert "The reference has 28 iterations where 20 may be." in str(
        mistakes(values_of(FORM | {"corpus": "docstrings"}))
    )


# ---------------------------------------------------------------------- what is shown


def test_numbers_on_the_page_are_those_of_the_measure(store, swept):
    found = swept()
    shown = frontier_of(asked_of(found))
    own, chains = ([Run(one.path).progress() for one in readings] for readings in found)
    table = frontier(own, chains, [pool_chains([one.path for one in found.reference])])
    for label in SETTINGS:
        one = table.sel(label=label)
        row = next(row for row in shown.table.split("<tr")[2:] if f'title="{label}"' in row)
        assert f"{float(one['distance']):.4f} ± {float(one['distance_se']):.4f}" in row
        assert f"{float(one['updates']):,.0f}" in row and f"{float(one['cpu_time']):,.2f}" in row
        assert ("lit" in row) == bool(one["efficient_cpu_time"])
    assert (
        "The reference: 4 chains of cgs, together with" in shown.said
        and "have not ended" not in shown.said
    )
    assert shown.figure.count("<svg") == 1
    lines = results_file(asked_of(found), False, "csv").content.decode().splitlines()
    assert lines[0].startswith("label,engine,r") and len(lines) == 4
    assert results_file(asked_of(found), False, "svg").content.startswith(b"<?xml")


def test_a_run_that_has_gone_on_is_shown_up_to_the_iterations_of_the_form(
    store, corpus, swept, monkeypatch
):
    before = frontier_of(asked_of(swept(seeds=1)))
    working_here(monkeypatch)
    wb.compare(
        corpus, ["cgs"], n_topics=3, n_iterations=20, holdout=0.2, store=store, progress=False
    )
    again = found_in(listed(store), values_of(FORM | {"seeds": 1}))
    assert max(point.iteration for point in points_of(again.settings)) == 20
    assert frontier_of(asked_of(again)).table == before.table


def test_points_wait_for_the_chains_of_the_reference(swept):
    found = swept(seeds=1)
    shown = frontier_of(asked_of(found._replace(reference=found.reference[:2])))
    assert (
        "as soon as 4 chains of the reference have begun; 2 have." in shown.said
        and not shown.figure
    )
    assert frontier_of(Asked((), (), (), 14, 28, "updates")).said == ""
    late = asked_of(found)._replace(long=40)
    assert "4 of its chains have not ended, so distances may change." in frontier_of(late).said


def test_the_map_has_a_cell_for_each_regime_that_was_run(store, swept):
    swept(seeds=1)
    found = swept(seeds=1, repeat=3)
    shown = overtaking_of(asked_of(found, others=of_corpus(listed(store), values_of(FORM))))
    assert (
        "of 2 cells a hybrid comes sooner than cgs to the perplexity that both reach." in shown.said
        and shown.figure
    )
    one = overtaking_of(asked_of(found, others=of_corpus(listed(store), values_of(FORM))[:3]))
    assert "The map has one cell so far, where svb-cgs r=" in one.said and not one.figure
    assert {row[2] for row in shown.picture.rows} == {1, 3}
    assert "No hybrid has a run of cgs beside it yet." in overtaking_of(asked_of(found)).said


def test_progress_counts_runs_that_are_to_come(store, corpus, swept):
    found = swept(seeds=1)
    done = progress_of(found, values_of(FORM | {"seeds": 1}))
    assert (done.n_wanted, done.n_ended, done.n_short, done.left) == (7, 7, 0, 0)
    more = progress_of(found, values_of(FORM))
    # a chain of the reference is the second run of cgs
    assert (more.n_wanted, more.n_ended) == (9, 7) and more.left > 0


# ---------------------------------------------------------------------- the page


def test_a_link_finds_the_runs_again_and_the_cost_that_was_chosen(opened, swept, store):
    swept()
    opened.tick()
    assert (
        said(opened.progress).strip() == "All 10 runs have ended."
        and opened.shown["frontier"].results.visible
    )
    by_seconds = opened.shown["frontier"].figure.object
    opened.fields["cost"].value = "updates"
    opened.tick()
    assert opened.shown["frontier"].figure.object != by_seconds
    link = dict(parse_qsl(to_query(opened.parts)[1:]))
    assert link == {
        "r": "0, 1",
        "n_chains": "2",
        "n_topics": "3",
        "n_iterations": "14",
        "seeds": "2",
        "holdout": "0.2",
        "jobs": "2",
        "cost": "updates",
    }
    again = FrontierPage(store)
    assert (
        from_query(to_query(opened.parts), again.parts) == []
        and again.fields["cost"].value == "updates"
    )
    again.tick()
    assert again.shown["frontier"].table.object == opened.shown["frontier"].table.object
    assert from_query("?r=all&engine=cgs&repeat=many&cost=money", again.parts) == [
        "r",
        "engine",
        "repeat",
        "cost",
    ]
