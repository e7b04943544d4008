"""The card with what people write of the chosen runs."""

import pytest

from workbench.dashboard.shared.notes import NotesCard
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.runs.store.notes import FILE, annotate, read_notes


@pytest.fixture
def card(new_run, store):
    """A card, a function that lets it read the store anew with some runs chosen, and what was changed; two runs are there."""
    changes = []
    made = NotesCard(lambda: changes.append(1))
    for name in "ab":
        new_run(name, n_iterations=2)
    readings = RunMonitor(store)

    def choose(*names):
        made.show({reading.name: reading for reading in readings.look().readings}, names)
        return made.note.value, made.tags.value

    return made, choose, changes


def test_the_note_is_that_of_one_run_and_the_tags_are_those_of_all_that_are_chosen(card, store):
    made, choose, changes = card
    annotate(store / "a", note="look\nagain", tags=["x"])
    annotate(store / "b", tags=["y", "x"])
    assert choose() == ("", []) and not made._fields.visible
    assert choose("a", "gone") == ("look\nagain", ["x"]) and made.note.visible
    assert choose("b", "a") == ("", ["x", "y"]) and not made.note.visible
    (store / "a" / FILE).write_text("no json")
    assert "cannot be read" in choose("a")[0] and not changes


def test_what_is_typed_is_written_to_every_run_that_is_chosen(card, store):
    made, choose, changes = card
    choose("a", "b")
    made.tag.value = "paper"
    assert [read_notes(store / name).tags for name in "ab"] == [("paper",)] * 2
    assert made.tag.value == "" and "Saved." in made.status.object
    choose("a")
    made.note.value = "first"
    assert [read_notes(store / name).note for name in "ab"] == ["first", ""]
    choose("a", "b")
    made.tags.value = []
    assert [read_notes(store / name).tags for name in "ab"] == [(), ()] and len(changes) == 3
    assert choose("a") == ("first", []) and not made.status.object


def test_a_mistake_is_told_and_nothing_is_written(card, store):
    made, choose, _ = card
    choose("a")
    made.tag.value = "one, two"
    assert "A tag holds no comma" in made.status.object and not (store / "a" / FILE).exists()
