"""The Sweep page's own decisions, without a browser."""

from urllib.parse import parse_qsl

import pytest
from dashboard.sweeping import listed, plain
from same_process import working_here

import workbench as wb
from workbench.dashboard.shared.link import from_query, to_query
from workbench.dashboard.sweep.page import SweepPage
from workbench.dashboard.sweep.request import Progress
from workbench.runs.execution.run import Run
from workbench.runs.execution.worker import carry_on
from workbench.runs.store.lock import Lock
from workbench.runs.store.status import RUNNING, STOPPED, requested, set_state

SMALL = {
    "choose-k": {"n_topics": "2, 3", "n_iterations": "6"},
    "frontier": {"r": "0, 1", "n_chains": "2", "n_topics": "3", "n_iterations": "14"},
}
SHARED = {"seeds": "2", "holdout": "0.2", "jobs": "2"}
NONE_YET = "No run of these settings yet."


@pytest.fixture
def opened(store, corpus, monitor, monkeypatch):
    """A function that opens a tab with small settings; the page lists the store and has its results at every tick."""
    monkeypatch.setattr("workbench.dashboard.sweep.page.REFRESH_SECONDS", 0.0)

    def open_tab(tab: str = "choose-k") -> SweepPage:
        page = SweepPage(store)
        page.choice.value = tab
        for name, value in (SMALL[tab] | SHARED).items():
            page.fields[name].value = value
        return page

    return open_tab


@pytest.fixture
def page(opened):
    """The page with the tab Choose K."""
    return opened()


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
    assert progress.sentence(goes_on) == sentence


def test_an_empty_store_says_what_to_do(page):
    assert plain(page.progress) == f"{NONE_YET} Press Start."
    assert page.stop.disabled and not page.start.disabled
    assert not page.cards[0].results.visible
    assert "4 runs, 2 in parallel, 2 queued" in plain(page.ahead)
    page.choice.value = "frontier"
    assert "with the 4 chains of the reference" in plain(page.ahead)


@pytest.mark.parametrize("tab", SMALL)
def test_a_link_finds_the_runs_again(opened, store, monkeypatch, tab, queued):
    page = opened(tab)
    page.start.clicks += 1
    for path in queued:
        carry_on(path)
    page.tick()
    assert plain(page.progress) == f"All {len(queued)} runs have ended."
    card = page.cards[0]
    assert card.results.visible
    link = dict(parse_qsl(to_query(page.parameters)[1:]))
    tab_parameter = {"tab": tab} if tab != "choose-k" else {}
    assert link == tab_parameter | {
        name: str(value) for name, value in (SMALL[tab] | SHARED).items()
    }
    again = SweepPage(store)
    assert NONE_YET in plain(again.progress)
    again.choice.value = tab
    assert from_query(to_query(page.parameters), again.parameters) == []
    again.tick()
    assert plain(again.progress) == plain(page.progress)
    assert again.cards[0].table.object == card.table.object


def test_choices_of_a_link_that_there_are_not_change_nothing(opened):
    wrong = "?engine=g-hdp&warm=maybe"
    assert from_query(wrong, opened().parameters) == ["engine", "warm"]
    wrong = "?engine=cgs&cost=money&tab=none"
    assert from_query(wrong, opened("frontier").parameters) == ["engine", "cost", "tab"]


def test_numbers_of_a_link_that_are_none_are_reported_at_their_fields(page):
    assert from_query("?n_topics=ten&seeds=none", page.parameters) == []
    assert set(page.form.wrong) == {"n_topics", "seeds"}


def test_the_tabs_share_the_data_and_keep_their_own_fields(page):
    page.choice.value = "frontier"
    assert page.fields["seeds"].value == "2" and page.fields["n_topics"].value != "2, 3"
    assert page.stacks["frontier"].visible and not page.stacks["choose-k"].visible
    page.choice.value = "choose-k"
    assert page.fields["n_topics"].value == "2, 3"


def test_the_cost_that_is_chosen_is_drawn(drawn, opened, queued):
    page = opened("frontier")
    page.start.clicks += 1
    for path in queued:
        carry_on(path)
    page.tick()
    by_seconds = page.cards[0].card_content.picture
    page.fields["cost"].value = "updates"
    page.tick()
    assert by_seconds and page.cards[0].card_content.picture != by_seconds


def test_mistakes_stand_under_their_fields_and_nothing_is_started(page, store):
    page.fields["n_topics"].value = "0"
    assert "got 0" in page.form.wrong["n_topics"] and page.ahead.object == ""
    assert plain(page.progress) == "The form does not describe runs yet."
    page.start.clicks += 1
    assert "Nothing is started" in page.status.object and not store.exists()
    page.fields["n_topics"].value = "2, 3"
    assert page.form.wrong == {}


def test_start_and_stop_act_on_the_runs_of_the_form(page, store, corpus, queued):
    page.start.clicks += 1
    assert "4 runs started" in page.status.object and not page._busy
    paths = [one.path for one in listed(store)]
    other = wb.start(corpus, "svb", n_topics=2, n_iterations=5, store=store, name="other").path
    Run(other).wait(60)
    with Lock(paths[0] / "lock"), Lock(paths[1] / "lock"):
        for path in paths[:2]:
            set_state(path, RUNNING)
        page.tick()
        assert not page.stop.disabled and "0 of 4 runs have ended" in plain(page.progress)
        page.stop.clicks += 1
        assert "2 runs asked to stop; Start resumes them." in page.status.object
        assert [requested(path) for path in (*paths[:2], other)] == [STOPPED, STOPPED, RUNNING]
        page.fields["engine"].value = "svb"
        assert not page._stopping, "the runs that the form describes now go on"
        page.fields["engine"].value = "cgs"
    for path in paths[:2]:
        set_state(path, STOPPED)
    page.tick()
    assert page.stop.disabled and not page.start.disabled
    assert "Start runs the others." in plain(page.progress)


def test_where_nothing_can_be_changed_there_is_neither_start_nor_stop(opened, ruled):
    ruled(read_only=True)
    page = opened()
    page.tick()
    assert plain(page.progress) == NONE_YET
    view = page.view()
    assert page.start not in list(view.select()) and "read-only" in view[0][0].object


@pytest.mark.slow
def test_results_of_runs_that_change_while_they_are_computed_are_shown_all_the_same(
    opened, store, corpus, monkeypatch
):
    settings, waiting = {"n_iterations": 6, "holdout": 0.2, "progress": False}, []
    working_here(monkeypatch)
    monkeypatch.setattr(
        "workbench.dashboard.shared.background.in_background",
        lambda document, work, then, *pool: waiting.append(lambda: then(work(), None)),
    )
    page = opened()
    while waiting:  # those of the form as it was filled
        waiting.pop()()
    (card,) = page.cards
    for seeds in (1, 2):
        wb.sweep(corpus, {"n_topics": [2, 3]}, "cgs", seeds, store, **settings)
        page.tick()  # at the second one, what the first began is still being computed
    assert len(waiting) == 1
    waiting.pop()()
    assert ">1</td>" in card.table.object
    page.tick()
    waiting.pop()()
    assert ">2</td>" in card.table.object
    page.fields["seeds"].value = "1"
    page.fields["engine"].value = "svb"  # what is on its way is of another form
    waiting.pop()()
    assert ">2</td>" in card.table.object
    page.tick()
    waiting.pop()()
    assert not card.results.visible and not waiting
