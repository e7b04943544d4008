"""Notes, tags and labels from the command line."""

import csv
import json

import pytest

import workbench as wb
from workbench.runs.store.archive import get_corpus


@pytest.fixture
def two_runs(command, six_documents):
    """Runs a and b of two topics."""
    for name in ("a", "b"):
        command("fit", six_documents, "-k", 2, "-n", 2, "-q", "--name", name)


def test_a_note_and_tags_are_written_shown_and_taken_away(command, told, two_runs):
    status, out, err = command("note", "a", "a first try", "--tag", "good", "--tag", "to show")
    assert (status, err) == (0, "") and "a first try" in out and "good, to show" in out
    noted = told("note", "a", "--untag", "good")
    assert noted == {"name": "a", "note": "a first try", "tags": ["to show"], "labels": {}}
    assert "a first try" in command("show", "a")[1] and "to show" in command("show", "a")[1]
    assert told("note", "a", "")["note"] == ""


def test_without_a_text_what_is_written_is_shown_and_nothing_changes(command, two_runs):
    assert "nothing is written about a; `workbench note a" in command("note", "a")[2]
    assert not (wb.Run("runs/a").path / "notes.json").exists()


def test_runs_are_listed_by_tag(command, told, two_runs):
    command("note", "a", "--tag", "good", "--tag", "new")
    command("note", "b", "--tag", "new")

    def listed(*tags):
        return [run["name"] for run in told("runs", *tags)["runs"]]

    assert listed("--tag", "good") == ["a"] and listed("--tag", "new") == ["a", "b"] == listed()
    assert listed("--tag", "new", "--tag", "good") == ["a"] and listed("--tag", "old") == []
    assert (
        "has the tag old; `workbench note RUN --tag old` gives it"
        in command("runs", "--tag", "old")[2]
    )


def test_a_label_is_shown_and_exported(command, told, two_runs):
    status, out, _ = command("label", "a", 1, "small animals")
    assert status == 0 and "1 small animals" in out
    assert "1 small animals" in command("show", "a")[1]
    assert told("show", "a")["labels"] == {"1": "small animals"}
    for name in ("a", "b"):
        command("export", name, "--format", "csv,npz", "--out", name)
    with open("a/topics.csv") as file:
        assert {(row["topic"], row["label"]) for row in csv.DictReader(file)} == {
            ("0", ""),
            ("1", "small animals"),
        }
    with open("b/topics.csv") as file:
        assert next(csv.reader(file)) == ["topic", "rank", "word", "probability", "count"]


def test_label_lists_and_accepts_suggestions(command, told, two_runs):
    suggested = told("label", "a")["suggested"]
    assert set(suggested) == {"0", "1"} and told("label", "a", 1)["suggested"] == {
        "1": suggested["1"]
    }
    assert suggested["0"][0] in command("label", "a")[1]
    command("label", "a", 0, suggested["1"][0])
    assert [len(names) for names in suggested.values()] == [1, 1]
    assert told("label", "a", "--suggested")["labels"] == {"0": suggested["1"][0]}
    command("label", "a", 0, "")
    accepted = told("label", "a", "--suggested")["labels"]
    assert accepted == {topic: names[0] for topic, names in suggested.items()}
    status, _, err = command("label", "a", 1, "mine", "--suggested")
    assert status == 2 and "without a text" in err


def test_a_file_that_cannot_be_read_hides_no_run(command, two_runs):
    (wb.Run("runs/a").path / "notes.json").write_text("{")
    status, out, err = command("runs", "--json")
    assert (
        status == 0
        and len(json.loads(out)["runs"]) == 2
        and "the notes of run 'a' cannot be read" in err
    )
    assert command("show", "a")[0] == 0
    status, out, err = command("note", "a", "new")
    assert status == 2 and out == "" and "mend or delete" in err


def test_without_its_corpus_a_run_is_still_shown(command, two_runs):
    command("label", "a", 0, "animals")
    for file in (wb.Run("runs/a").path.parent / ".corpora").iterdir():
        file.unlink()
    get_corpus.cache_clear()
    status, _, err = command("show", "a")
    assert status == 0 and "the corpus of this run is not in the store" in err
