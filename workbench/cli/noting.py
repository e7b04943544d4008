"""Commands for notes, tags and labels: note, label."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli.flags import Json, RunName, Store
from workbench.cli.printing import note_rows, print_facts, print_json, say
from workbench.cli.stored import find, labels_by_topic

Tags = Annotated[list[str] | None, typer.Option("--tag", help="Tag to add; may be given several times.")]
Untag = Annotated[list[str] | None, typer.Option("--untag", help="Tag to take away; may be given several times.")]


def note(
    run: RunName,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help='What to note; "" deletes the note.')] = None,
    tag: Tags = None, untag: Untag = None, store: Store = None, json: Json = False,
) -> None:
    """Write a note about a run, or tags; without either, show what is written."""
    from workbench.runs.store.notes import NoteError

    found = find(run, store)
    tags = None
    if tag or untag:
        before, gone = found.notes.tags, untag or ()
        if unknown := [each for each in gone if each not in before]:
            raise NoteError(f"{found.name} has no tag '{unknown[0]}'; it has {', '.join(before) or 'none'}")
        tags = [each for each in (*before, *(tag or ())) if each not in gone]
    _print_notes(found, found.annotate(text, tags) if text is not None or tags is not None else found.notes, json)


def label(
    run: RunName, topic: Annotated[int, typer.Argument(metavar="TOPIC", help="The run's own number of the topic.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help='What to call it; "" takes the label away.')],
    store: Store = None, json: Json = False,
) -> None:
    """Give a topic of a run a label."""
    found = find(run, store)
    _print_notes(found, found.label(topic, text), json)


def _print_notes(run, notes, json: bool) -> None:
    labels = labels_by_topic(run, notes)
    if json:
        print_json({"name": run.name, "note": notes.note, "tags": notes.tags, "labels": labels})
        return
    if notes.note or notes.tags or labels:
        print_facts([("run", run.name), *note_rows(notes, labels)])
    else:
        say(f'nothing is written about {run.name}; `workbench note {run.name} "…" --tag …` writes something')
