"""Notes, tags and labels: kept beside the run, never in its way, and labels with their topics."""

import json
import threading

import numpy as np
import pytest
from filelock import FileLock

import workbench as wb
from workbench.runs.store import status
from workbench.runs.store.notes import (
    Label,
    NoteError,
    Notes,
    annotate,
    label_topic,
    labels_of_topics,
    read_notes,
)


@pytest.fixture
def run(train, test, store):
    """A finished run of four topics in a store."""
    wb.fit(
        train, "svb", n_topics=4, n_iterations=6, test=test, store=store, name="a", progress=False
    )
    return wb.Run(store / "a")


def test_notes_of_a_run_without_any_are_empty(run):
    assert run.notes == Notes("", (), ())
    assert "topic_label" not in run.dataset()


def test_notes_and_tags_are_kept_and_changed_one_without_the_other(run):
    run.annotate(note="  a first try\nwith two lines ", tags=["good", " to  show ", "good"])
    assert wb.Run(run.path).notes[:2] == ("a first try\nwith two lines", ("good", "to show"))
    run.annotate(note="")
    assert run.notes[:2] == ("", ("good", "to show"))
    run.annotate(tags=[])
    assert run.notes == Notes()


def test_notes_have_no_part_in_the_hash_and_go_with_the_run(run):
    before = run.spec.hash
    run.annotate(note="x", tags=["y"])
    assert run.spec.hash == before
    run.remove()
    assert not run.path.exists()


def test_letters_of_any_script_come_back_as_they_were(run):
    told = "Größe · 主题 · שלום · 👩‍🔬"
    run.annotate(note=told, tags=[told[:12]])
    assert run.notes.note == told


def test_a_label_stands_in_every_dataset_of_the_run(run):
    run.label(2, "  warm \n things ")
    run.label(0, "other things")
    assert run.dataset()["topic_label"].values.tolist() == ["other things", "", "warm things", ""]
    run.label(2, "cold things")
    assert labels_of_topics(run.notes, run.dataset()) == {0: "other things", 2: "cold things"}
    run.label(2, "")
    assert labels_of_topics(run.notes, run.dataset()) == {0: "other things"}
    assert wb.open_run(run)["topic_label"].values.tolist() == ["other things", "", "", ""]


def test_a_label_stays_with_its_topic_when_topics_are_numbered_anew(run):
    run.label(1, "one")
    run.label(3, "three")
    found = run.dataset()
    moved = found.isel(topic=[3, 0, 1, 2]).assign_coords(topic=np.arange(4))
    assert labels_of_topics(run.notes, moved) == {0: "three", 2: "one"}


@pytest.mark.parametrize(
    "changed",
    [lambda phi: phi[1], lambda phi: np.roll(phi, 25, axis=1)],
    ids=["all are alike", "it changed beyond recognition"],
)
def test_where_words_say_nothing_the_number_of_a_topic_decides(run, changed):
    run.label(1, "one")
    found = run.dataset()
    found["phi"][:] = changed(found["phi"].values)
    assert labels_of_topics(run.notes, found) == {1: "one"}


def test_no_topic_has_two_labels(run):
    found = run.dataset()
    like_zero = tuple(map(str, found["word"].values)), tuple(found["phi"].values[0].tolist())
    notes = Notes(labels=tuple(Label(text, 0, 1, *like_zero) for text in ("a", "b")))
    shown = labels_of_topics(notes, found)
    assert 0 in shown and len(shown) == len(set(shown.values()))


def test_labels_of_topics_that_are_gone_are_kept_but_not_shown(train, store):
    wb.fit(
        train,
        "g-hdp",
        n_topics=3,
        n_iterations=5,
        store=store,
        name="h",
        progress=False,
    )
    run = wb.Run(store / "h")
    found = run.dataset()
    run.label(int(found["n_k"].values[-1].argmax()), "the largest")
    found["n_kw"] = found["n_kw"] * 0
    assert labels_of_topics(run.notes, found) == {} and len(run.notes.labels) == 1


def test_more_labels_than_topics_show_those_that_have_one(run):
    for topic in range(4):
        run.label(topic, f"t{topic}")
    one = run.dataset().isel(topic=[2])
    assert labels_of_topics(run.notes, one) == {2: "t2"}


def test_a_file_that_cannot_be_read_gets_one_sentence_and_the_run_still_opens(run):
    for content in ("{", "[]", '{"note": "a", "tags": 3, "labels": []}', '{"note": "a"}'):
        (run.path / "notes.json").write_text(content)
        with pytest.raises(NoteError, match=r"notes\.json .*; mend or delete .*notes.json"):
            _ = run.notes
        with pytest.warns(UserWarning, match="mend or delete"):
            assert run.dataset().sizes["topic"] == 4
        with pytest.raises(NoteError, match="mend or delete"):
            run.annotate(note="lost?")
        assert (run.path / "notes.json").read_text() == content


def test_two_writers_lose_nothing(run):
    def write(name):
        for _ in range(10):
            annotate(run.path, **{"note": "n"} if name == "note" else {"tags": ["t"]})

    threads = [threading.Thread(target=write, args=(name,)) for name in ("note", "tags")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_notes(run.path)[:2] == ("n", ("t",))


def test_a_writer_that_waits_too_long_says_so(run, monkeypatch):
    monkeypatch.setattr(status, "LOCK_TIMEOUT", 0.01)
    run.annotate(note="x")
    with (
        FileLock(str(run.path / "notes.json.lock")),
        pytest.raises(NoteError, match="by another process; try again"),
    ):
        run.annotate(note="y")


def test_the_file_is_whole_json_for_other_programs(run):
    run.annotate(note="x", tags=["t"])
    run.label(0, "zero")
    told = json.loads((run.path / "notes.json").read_text())
    assert told["note"] == "x" and told["tags"] == ["t"]
    (label,) = told["labels"]
    assert (label["text"], label["topic"], label["iteration"]) == ("zero", 0, 6)
    phi = run.dataset()["phi"].values[0]
    assert label["probabilities"] == sorted(phi, reverse=True)[:50]


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda run: run.annotate(note=3), "a note is text; got int"),
        (
            lambda run: run.annotate(note="x" * 10_001),
            "a note may have 10,000 characters; this one has 10,001",
        ),
        (
            lambda run: run.annotate(note="a\x00b"),
            "a note holds '.x00', which is no character of text",
        ),
        (
            lambda run: run.annotate(tags="good"),
            "tags are a list of texts; got 'good'; one tag is written",
        ),
        (lambda run: run.annotate(tags=["a,b"]), "a tag holds no comma"),
        (lambda run: run.annotate(tags=[" "]), "a tag needs at least one character"),
        (
            lambda run: run.annotate(tags=[f"t{at}" for at in range(31)]),
            "a run may have 30 tags; 31 came",
        ),
        (lambda run: run.annotate(tags=["x" * 41]), "a tag may have 40 characters"),
        (lambda run: run.label(0, "x" * 81), "a label may have 80 characters"),
        (lambda run: run.label(4, "x"), "there is no topic 4 in run 'a'; it has 0 to 3"),
        (lambda run: run.label("0", "x"), "there is no topic '0'"),
        (
            lambda run: label_topic(run.path, run.progress(), 0, "x"),
            "no snapshot yet, so it has no topics; label them after its first",
        ),
    ],
)
def test_wrong_input_gets_one_sentence_and_changes_nothing(run, ask, told):
    with pytest.raises(NoteError, match=told) as caught:
        ask(run)
    assert "\n" not in str(caught.value) and run.notes == Notes()
