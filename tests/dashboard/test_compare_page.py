"""The page's own decisions, without a browser."""

from functools import partial
from types import SimpleNamespace
from urllib.parse import parse_qsl

import panel as pn
import pytest

from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.compare.starting import StartResult
from workbench.dashboard.compare.steering import APPLIES
from workbench.dashboard.shared.link import from_query, to_query
from workbench.dashboard.shared.run_monitor import Listing
from workbench.dashboard.shared.shell import Text
from workbench.runs.request import FILE
from workbench.runs.store.layout import StoreError


@pytest.fixture
def listings(monkeypatch):
    """What the store of the page holds, the last of these."""
    listings = [Listing(0, ())]
    monkeypatch.setattr(
        "workbench.dashboard.compare.page.monitor_of",
        lambda store: SimpleNamespace(
            latest=lambda patience=0.0: listings[-1],
            has_looked=lambda: True,
            look_soon=lambda: None,
            look_now=lambda: None,
            progress=None,
        ),
    )
    return listings


@pytest.fixture
def page(listings, tmp_path):
    return ComparePage(tmp_path / "runs")


@pytest.fixture
def holds(page, listings):
    """A function that changes what the store of the page holds."""

    def change(*readings):
        listings.append(Listing(len(listings), readings))
        page.tick()

    return change


@pytest.fixture
def asked(monkeypatch):
    """(action, name) of what the buttons ask of runs; ``refusing`` and ``old`` name those that refuse, and of other kernels."""
    asked = SimpleNamespace(of=[], refusing=set(), old=set())

    def run(path):
        def ask(action: str) -> None:
            if path.name in asked.refusing:
                raise StoreError(f"{path.name} is being written")
            asked.of.append((action, path.name))

        actions = {action: partial(ask, action) for action in APPLIES}
        return SimpleNamespace(by_other_kernels=lambda: path.name in asked.old, **actions)

    monkeypatch.setattr("workbench.dashboard.compare.steering.Run", run)
    return asked


def opened(page, query: str) -> list[str]:
    """Takes in the query of an address; returns the names whose values do not fit."""
    return from_query(query, page.parameters)


def address(page) -> dict[str, str]:
    """What the address says of the page."""
    return dict(parse_qsl(to_query(page.parameters)[1:]))


def test_the_newest_eight_are_drawn_without_a_click(page, holds, reading_of):
    assert "Curves appear here" in page.figure.meaning.object
    readings = [reading_of(f"run-{at}") for at in range(10)]
    holds(*readings)
    assert set(page.figure.curve.colours()) == {f"run-{at}" for at in range(8)}
    assert len(page.table.rows) == 10 and "Curves appear" not in page.figure.meaning.object
    holds(reading_of("newer"), *readings)
    assert "newer" in page.figure.curve.colours() and "run-7" not in page.figure.curve.colours()


def test_what_is_picked_by_hand_stays_and_the_newest_come_back_with_a_click(
    page, holds, reading_of
):
    holds(reading_of("b"), reading_of("a"))
    page.draw("b")
    assert set(page.figure.curve.colours()) == set(page.table.colours) == {"a"}
    holds(reading_of("c"), reading_of("b"), reading_of("a"))
    assert set(page.figure.curve.colours()) == {"a"}
    assert not page.newest.disabled
    page.newest.clicks += 1
    assert set(page.figure.curve.colours()) == {"a", "b", "c"}
    assert page.newest.disabled


def test_runs_of_one_data_set_are_drawn_the_newest_first_and_the_others_offered(
    page, holds, reading_of
):
    of_kos = [reading_of(f"kos-{at}") for at in range(3)]
    of_news = [reading_of(f"news-{at}", corpus="news") for at in range(2)]
    holds(*of_kos)
    assert not page.figure._data.visible
    holds(reading_of("waits", n_points=0, corpus="bars"), *of_news, *of_kos)

    def drawn() -> set[str]:
        return set(page.figure.curve.colours())

    assert list(page.figure.data.options.values()) == ["", "bars", "news", "kos"]
    assert page.figure._data.visible and drawn() == {"news-0", "news-1"}
    page.figure.data.value = "kos"
    assert "On kos. Held-out perplexity" in page.figure.meaning.object
    assert drawn() == {"kos-0", "kos-1", "kos-2"} and address(page)["data"] == "kos"
    page.draw("news-1")
    assert drawn() == {"news-1"} and page.figure.data.value == ""
    page.table.chosen = ["news-0", "kos-1", "kos-2"]
    page.ticked.clicks += 1
    assert drawn() == {"news-0"}
    assert "2 of the chosen runs have other data" in page.figure.meaning.object
    assert opened(page, "?data=nips") == [] and page.figure.data.value == "nips"
    halves = reading_of("halves", split={"fraction": 0.5, "per": "document", "seed": 0})
    assert page.figure.data.options and opened(page, "?data=") == []
    holds(halves, *of_kos)
    page.newest.clicks += 1
    assert drawn() == {"halves"}


def test_curves_of_chosen_runs_stand_out_while_one_of_them_is_drawn(page, holds, reading_of):
    holds(*(reading_of(f"run-{at}") for at in range(10)))

    def faded() -> set[str]:
        curve = page.figure.curve
        return {
            slot.line.names[0] for slot in curve.slots if slot.parts["line", 0].glyph.line_alpha < 1
        }

    page.table.chosen = ["run-3", "run-9"]
    assert faded() == {f"run-{at}" for at in range(8)} - {"run-3"}
    page.draw("run-3")
    assert faded() == set()  # neither is in the figure


def test_chosen_runs_are_drawn_and_those_beyond_eight_are_compared_and_reported(
    page, holds, reading_of
):
    holds(*(reading_of(f"run-{at}") for at in range(12)))
    assert page.ticked.disabled and len(page.figure.compared_runs().runs) == 8
    page.table.chosen = [f"run-{at}" for at in (11, 1, *range(3, 11))]
    page.ticked.clicks += 1
    names = [f"run-{at}" for at in (1, *range(3, 12))]
    assert set(page.figure.curve.colours()) == set(names[:8])
    assert {path.name for path, *_ in page.figure.compared_runs().runs} == set(names)
    assert {colour for *_, colour in page.figure.compared_runs().runs[8:]} == {""}
    assert (
        "The figure has room for 8; 2 more are in the comparison and the report."
        in page.figure.meaning.object
    )
    page.newest.clicks += 1
    assert (
        len(page.figure.compared_runs().runs) == 8
        and "more are in" not in page.figure.meaning.object
    )


def test_the_settings_of_one_chosen_run_go_into_the_form(page, holds, reading_of, monkeypatch):
    used = []
    monkeypatch.setattr(page.settings, "use", used.append)
    holds(first := reading_of("first"), reading_of("second"))
    assert page.use.disabled
    page.table.chosen = ["first", "second"]
    assert page.use.disabled
    page.table.chosen = ["first"]
    page.use.clicks += 1
    assert not page.use.disabled and used == [first.spec]


def test_buttons_act_on_the_chosen_runs_that_they_make_sense_for(page, holds, reading_of, asked):
    holds(
        reading_of("live", state="running"),
        reading_of("held", state="paused"),
        reading_of("done", state="finished"),
    )
    assert all(button.disabled for button in page.steering.buttons.values())
    page.table.chosen = ["live", "held", "done"]
    assert {action: page.steering.targets(action) for action in page.steering.buttons} == {
        "pause": ("live",),
        "resume": ("held",),
        "stop": ("live", "held"),
        "remove": ("done",),
    }
    assert page.steering.buttons["stop"].label == "Stop 2"
    page.steering.press("stop")
    assert asked.of == [("stop", "live"), ("stop", "held")]


def test_going_on_says_which_runs_other_kernels_made(page, holds, reading_of, asked):
    """Not of a run that is held: the kernels that made it wait in their process."""
    asked.old = {"old", "held"}
    states = {"old": "stopped", "new": "stopped", "held": "paused"}
    holds(*(reading_of(name, state=state) for name, state in states.items()))
    page.table.chosen = list(states)
    page.steering.press("resume")
    assert (
        "3 runs asked to resume; run &#x27;old&#x27; was computed with other kernels than those installed now: from here on"
        in page.steering.status.object
    )
    page.steering.press("stop")
    assert page.steering.status.object.count("other kernels") == 0


def test_one_run_that_refuses_does_not_hold_up_the_others_and_is_told(
    page, holds, reading_of, asked
):
    asked.refusing = {"a", "c"}
    holds(*(reading_of(name, state="finished") for name in "abc"))
    page.table.chosen = ["a", "b", "c"]
    for _ in range(2):
        page.steering.press("remove")
    assert asked.of == [("remove", "b")]
    assert "A is being written; 1 more of 3 refused too" in page.steering.status.object


def test_many_runs_that_go_on_stand_in_line(page, holds, reading_of, asked, monkeypatch):
    lined = []
    monkeypatch.setattr("workbench.dashboard.compare.steering.SLOTS", 2)
    monkeypatch.setattr(
        "workbench.dashboard.compare.steering.enqueue",
        lambda paths, jobs: lined.append((len(paths), jobs)),
    )
    holds(
        reading_of("held", state="paused"), *(reading_of(name, state="stopped") for name in "abc")
    )
    page.table.chosen = ["held", "a", "b", "c"]
    page.steering.press("resume")
    assert (lined, asked.of) == ([(3, 2)], [("resume", "held")])


def test_removing_asks_first_and_forgets_when_the_choice_changes(page, holds, reading_of, asked):
    holds(reading_of("one", state="finished"), reading_of("two", state="finished"))
    page.table.chosen = ["one"]
    page.steering.press("remove")
    page.table.chosen = ["one", "two"]
    page.steering.press("remove")
    assert asked.of == []
    page.steering.press("remove")
    assert asked.of == [("remove", "one"), ("remove", "two")]


def test_another_chart_shows_its_first_measure_and_the_link_names_the_measure_alone(
    page, holds, reading_of
):
    figure = page.figure
    holds(reading_of("one"))
    figure.chart.value = "Number of topics"
    assert (figure.measure.value, figure.curve.measure) == ("active", "active")
    figure.measure.value = "large"
    assert address(page) == {"measure": "large"}
    for query, refused, seen in (
        ("beta+total", [], ("Priors as learnt", "beta total")),
        ("nonsense", ["measure"], ("Priors as learnt", "beta total")),
        ("both", [], ("Perplexity", "both")),
    ):
        assert opened(page, f"?measure={query}") == refused
        assert (figure.chart.value, figure.curve.measure) == seen


def test_lines_smoothing_and_target_are_in_the_link_and_told(page, holds, reading_of):
    curve = page.figure.curve
    holds(reading_of("one"))
    assert opened(page, "?lines=mean+of+seeds&smoothing=0.6&until=3.5") == []
    assert address(page) == {"lines": "mean of seeds", "smoothing": "0.6", "until": "3.5"}
    assert (curve.mean, curve.smoothing, curve.until) == (True, 0.6, 3.5)
    assert "faint" in page.figure.meaning.object and "at or below 3.5" in page.figure.meaning.object
    assert opened(page, "?smoothing=1.5&until=-3") == ["smoothing", "until"]
    page.figure.until.value = None
    assert "until" not in address(page) and "at or below 2" not in page.figure.meaning.object


def test_ranges_that_were_moved_by_hand_are_in_the_link_until_they_follow_again(
    page, holds, reading_of
):
    holds(reading_of("one"))
    assert address(page) == {}
    assert opened(page, "?zoom=1,2.5,0.1,1e7") == []
    holds(reading_of("one"), reading_of("two"))
    assert address(page) == {"zoom": "1,2.5,0.1,1e+07"}
    page.figure.axis.value = "seconds"
    assert address(page) == {"axis": "seconds"}
    for text in ("", "1,2,3", "2,1,0,1", "0,1,nan,2", "0,inf,0,1", "a,b,c,d"):
        assert opened(page, f"?zoom={text}") == ["zoom"], text
    assert opened(page, "?zoom=0,3,1,2") == [] and page.figure.curve.seen()[3:5] == ((0, 3), (1, 2))


def test_a_download_without_a_choice_says_what_to_do_and_sends_nothing(page):
    for downloads, name, said in (
        (page.figure.files, "SVG", "Nothing is drawn; click"),
        (page.figure.files, "CSV", "Nothing is drawn; click"),
        (page.figure.files, "Report", "Nothing is drawn; click"),
        (page.figure.files, "Report for readers", "Nothing is drawn; click"),
        (page.run_files, "Download as", "No run is ticked; tick"),
    ):
        downloads.buttons[name].clicks += 1
        assert said in downloads.status.object and downloads.status.visible
        assert page.handover.file == {} and not downloads.buttons[name].disabled


def test_who_has_no_run_sees_ways_to_begin_until_there_is_one(
    page, holds, reading_of, ruled, monkeypatch
):
    begun = []

    def start(store, request):
        begun.append(request)
        return StartResult([], [], "")

    monkeypatch.setattr("workbench.dashboard.compare.page.start_runs", start)
    page.tick()
    example, own_file = page.welcome.select(pn.widgets.Button)
    assert page.welcome.visible and page.table.empty == "No run yet."
    own_file.clicks += 1
    assert page.settings.fields["corpus"].value == FILE and "upload" in page.settings.form.seen
    page.settings.fields["n_topics"].value = "77"
    example.clicks += 1
    assert begun == [Settings().request()]
    holds(reading_of("one"))
    assert not page.welcome.visible
    ruled(others=True)
    html = [text.object for text in ComparePage(page.store).welcome.select(Text)]
    assert not any("workbench serve" in each for each in html)


def test_a_failure_of_a_start_is_told_and_start_can_be_pressed_again(page, monkeypatch):
    monkeypatch.setattr("workbench.dashboard.compare.page.start_runs", lambda store, values: 1 / 0)
    page.settings.start.clicks += 1
    assert "division by zero" in page.settings.status.object.lower()
    assert not page.settings.start.disabled and page.settings.start.label == "Start"


def test_runs_that_do_not_fit_are_refused_beside_the_form_and_leave_nothing(
    page, tmp_path, queued, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_MEMORY", "30M")
    page.settings.start.clicks += 1
    assert (
        "runs at a time need about" in page.settings.status.object
        or "nothing smaller of it fits" in page.settings.status.object
    )
    assert (
        "WORKBENCH_MEMORY allows 30 MB" in page.settings.status.object
        and page.settings.status.visible
    )
    assert queued == list(tmp_path.rglob("zarr.json")) == []
