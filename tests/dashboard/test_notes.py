"""The card with what people write of the chosen runs."""

import pytest

from workbench.dashboard.shared.notes import NotesCard
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.runs.store.notes import FILE, annotate, read_notes


@pytest.fixture
def card(new_run, tmp_path):
    """A card, and a function that lets it read the store anew with some runs chosen; two runs are there."""
    changes = []
    made = NotesCard(lambda: changes.append(1))
    for name in "ab":
        new_run(name, n_iterations=2)
    readings = RunMonitor(tmp_path / "runs")

    def choose(*names):
        made.show({reading.name: reading for reading in readings.look().readings}, list(names))
        return made.written

    return made, choose, tmp_path / "runs", changes


def test_the_note_is_that_of_one_run_and_the_tags_are_those_of_all_that_are_chosen(card):
    made, choose, store, _ = card
    annotate(store / "a", note="look\nagain", tags=["x"])
    annotate(store / "b", tags=["y", "x"])
    assert choose() == {"names": [], "notes": "", "tags": []}
    assert choose("a", "gone") == {"names": ["a"], "notes": "look\nagain", "tags": ["x"]}
    assert choose("b", "a") == {"names": ["b", "a"], "notes": "", "tags": ["x", "y"]}


def test_what_is_typed_is_written_to_every_run_that_it_was_typed_for(card):
    made, choose, store, changes = card
    choose("a", "b")
    made._handle_msg({"runs": ["a", "b"], "tag": "paper"})
    made._handle_msg({"runs": ["a"], "note": "first"})
    assert [read_notes(store / name)[:2] for name in "ab"] == [
        ("first", ("paper",)),
        ("", ("paper",)),
    ]
    assert (made.said, made.wrong, len(changes)) == ("Saved.", False, 2)
    made._handle_msg({"runs": ["a", "b"], "untag": "paper"})
    assert [read_notes(store / name).tags for name in "ab"] == [(), ()]
    assert choose("a")["notes"] == "first" and made.said == ""


def test_a_mistake_is_told_and_nothing_is_written(card):
    made, choose, store, _ = card
    choose("a")
    made._handle_msg({"runs": ["a"], "tag": "one, two"})
    assert made.wrong and made.said.startswith("A tag holds no comma")
    assert not (store / "a" / FILE).exists()


@pytest.mark.parametrize(
    "said",
    [
        {"runs": ["gone"], "note": "x"},
        {"runs": "a", "note": "x"},
        {"runs": [1], "note": "x"},
        {"runs": ["a"], "note": 3},
        {"runs": ["a"], "remove": "x"},
        {"note": "x"},
        "text",
        None,
    ],
)
def test_only_a_text_for_runs_that_are_there_is_written(said, card):
    made, choose, store, changes = card
    choose("a")
    made._handle_msg(said)
    assert changes == [] and not (store / "a" / FILE).exists()


def test_notes_that_cannot_be_read_say_so_in_their_place(card):
    made, choose, store, _ = card
    (store / "a" / FILE).write_text("no json")
    assert "cannot be read" in choose("a")["notes"]
