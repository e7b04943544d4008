"""Notes that people write about a run: a note, tags, and labels of its topics, in ``notes.json`` of its folder.

The file is replaced as a whole and is not part of the hash of a run; workers do not read it, so it may change while the run is
computed. A label is stored with the top words of its topic, to find the topic again if an engine renumbers topics.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

import numpy as np

from workbench.errors import InputError
from workbench.runs.spec import RunSpec
from workbench.runs.store.status import one_writer, read_json, refusing_damage, replace_json

if TYPE_CHECKING:
    import xarray as xr

FILE = "notes.json"
LONGEST_NOTE, LONGEST_TAG, LONGEST_LABEL = 10_000, 40, 80
"""Largest numbers of characters of a note, a tag and a label."""
MOST_TAGS = 30
KEPT_WORDS = 50
"""Number of top words of its topic that are stored with a label, with their probabilities."""
MARGIN = 0.1
"""A label moves to another topic only if that is nearer by more than this than the topic of the label's number."""
FARTHEST = 0.7
"""Largest distance, from 0 to 1, at which a label is moved to a topic."""


class NoteError(InputError):
    """Raised for an invalid note, tag or label."""


class Label(NamedTuple):
    """The label of a topic, with the top words of the topic when it was labelled."""

    text: str
    topic: int  # number of the topic when it was labelled
    iteration: int  # iteration of the snapshot that was labelled
    words: tuple[str, ...]  # top words of the topic when it was labelled
    probabilities: tuple[float, ...]  # phi of these words


class Notes(NamedTuple):
    """The note, the tags and the topic labels that users wrote about a run."""

    note: str = ""
    tags: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()


def read_notes(path: Path) -> Notes:
    """Return the notes of the run in a folder, empty ones by default; raise NoteError if the file is damaged."""
    file = Path(path) / FILE
    with refusing_damage(file, f"the notes of run '{file.parent.name}'", NoteError):
        if not (values := read_json(file)):
            return Notes()
        labels = tuple(
            Label(
                str(label["text"]),
                int(label["topic"]),
                int(label["iteration"]),
                tuple(map(str, label["words"])),
                tuple(map(float, label["probabilities"])),
            )
            for label in values["labels"]
        )
        return Notes(str(values["note"]), tuple(map(str, values["tags"])), labels)


def annotate(path: Path, note: str | None = None, tags: Iterable[str] | None = None) -> Notes:
    """Replace the note, the tags or both, and return all notes; None keeps the old value, "" or [] deletes it.

    Raises NoteError for a value that is not a text or too long, for more than 30 tags, or if the folder cannot be written.
    """
    changes = {} if note is None else {"note": plain_text("a note", note, LONGEST_NOTE, lines=True)}
    changes |= {} if tags is None else {"tags": _tags(tags)}
    return _change(path, lambda notes: notes._replace(**changes))


def label_topic(path: Path, run: xr.Dataset, topic: int, text: str) -> Notes:
    """Label a topic of the last snapshot, and return all notes; the text "" removes the label.

    run : the Dataset of the run in this folder, with its counts; topic : number of the topic in the run

    Raises NoteError if there is no snapshot or no such topic, or if the label is not a text or too long.
    """
    text = plain_text("a label", text, LONGEST_LABEL)
    if "phi" not in run:
        raise NoteError(
            f"run '{Path(path).name}' has no snapshot yet, so it has no topics; label them after its first"
        )
    topics = run["topic"].values
    if isinstance(topic, bool) or not isinstance(topic, numbers.Integral) or topic not in topics:
        raise NoteError(
            f"there is no topic {topic!r} in run '{Path(path).name}'; it has {topics.min()} to {topics.max()}"
        )
    phi = run["phi"].sel(topic=topic).values
    order = np.argsort(-phi, kind="stable")[:KEPT_WORDS]
    words, iteration = (
        tuple(map(str, run["word"].values[order])),
        int(run["snapshot_iteration"][-1]),
    )
    label = Label(text, int(topic), iteration, words, tuple(float(p) for p in phi[order]))

    def with_label(notes: Notes) -> Notes:
        others = (
            other
            for other, label_topic_number in zip(
                notes.labels, _topics_of_labels(notes.labels, run), strict=True
            )
            if label_topic_number != topic
        )
        return notes._replace(labels=(*others, *([label] if text else [])))

    return _change(path, with_label)


def labels_of_topics(notes: Notes, run: xr.Dataset) -> dict[int, str]:
    """Return the labels of topics in a run's last snapshot, as topic number → text, in ascending order.

    A label belongs to the topic of its number, unless another topic's words are clearly nearer to the words of the topic that
    was labelled; no topic has two labels. A label whose topic no longer exists is left out, but kept in the notes.
    """
    labels = {
        topic: label.text
        for label, topic in zip(notes.labels, _topics_of_labels(notes.labels, run), strict=True)
        if topic is not None
    }
    return dict(sorted(labels.items()))


def with_labels(run: xr.Dataset, path: Path) -> xr.Dataset:
    """Return the Dataset with ``topic_label`` (topic) added; unchanged if no topic is labelled.

    Unlabelled topics have the name that their model gives them, if any, else "".
    """
    notes = read_notes(path)
    if not notes.labels or "phi" not in run:
        return run
    texts = labels_of_topics(notes, run)
    topics = run["topic"].values.tolist()
    names = run["topic_label"].values if "topic_label" in run else [""] * len(topics)
    labels = np.array(
        [texts.get(topic, name) for topic, name in zip(topics, names, strict=True)], dtype=object
    )
    return run.assign(topic_label=("topic", labels, {"long_name": "what people call the topic"}))


def _topics_of_labels(labels: tuple[Label, ...], run: xr.Dataset) -> list[int | None]:
    """Return the topic in the run's last snapshot that each label belongs to; None if that topic no longer exists.

    It is the assignment with the smallest sum of Jensen-Shannon distances between the words of the labelled topic and those of
    the present topics, with all other words as one; the topic of the same number counts as nearer by `MARGIN`. If the engine
    does not renumber topics, that topic is always possible, however much it has changed.
    """
    if not labels or "phi" not in run:
        return [None] * len(labels)
    from scipy.optimize import linear_sum_assignment

    topics, phi = run["topic"].values, run["phi"].values
    has_tokens = run["n_kw"].isel(snapshot=-1).sum("word").values > 0
    index = {str(word): w for w, word in reversed(list(enumerate(run["word"].values)))}
    distances = np.array([_distances(label, phi, index) for label in labels])
    is_same_number = np.array([label.topic for label in labels])[:, None] == topics
    keeps_numbers = not RunSpec.from_json(run.attrs["spec"]).parts()[0].grows
    is_possible = ((distances <= FARTHEST) & has_tokens) | (is_same_number & keeps_numbers)
    costs = np.where(is_possible, distances - MARGIN * is_same_number, len(labels) + 1.0)
    column_of = {
        row: column
        for row, column in zip(*linear_sum_assignment(costs), strict=True)
        if is_possible[row, column]
    }
    return [int(topics[column_of[row]]) if row in column_of else None for row in range(len(labels))]


def _distances(label: Label, phi: np.ndarray, index_of: dict[str, int]) -> np.ndarray:
    """Return the Jensen-Shannon distance (topic,), in 0..1, from the labelled topic to each current topic."""
    from scipy.spatial.distance import cdist

    known_words = [
        (index_of[word], p)
        for word, p in zip(label.words, label.probabilities, strict=True)
        if word in index_of
    ]
    phi_now, phi_then = (
        phi[:, [index for index, _ in known_words]],
        np.array([p for _, p in known_words]),
    )
    phi_then = np.append(phi_then, max(1 - phi_then.sum(), 0.0))[None]
    phi_now = np.column_stack([phi_now, np.maximum(1 - phi_now.sum(axis=1), 0.0)])
    return np.nan_to_num(cdist(phi_then, phi_now, "jensenshannon")[0]) / np.sqrt(np.log(2))


def _change(path: Path, change: Callable[[Notes], Notes]) -> Notes:
    """Apply ``change`` to the notes of a run, write and return the result; one process at a time."""
    file = Path(path) / FILE
    with one_writer(file, f"the notes of run '{file.parent.name}'", NoteError):
        notes = change(read_notes(path))
        values = notes._asdict() | {"labels": [label._asdict() for label in notes.labels]}
        replace_json(file, values)
    return notes


def plain_text(
    what: str,
    text: object,
    longest: int,
    refusal: type[InputError] = NoteError,
    lines: bool = False,
) -> str:
    """Return the text stripped, in one line unless ``lines``; raise ``refusal`` if it is invalid or too long."""
    if not isinstance(text, str):
        raise refusal(f"{what} is text; got {type(text).__name__}")
    text = "\n".join(text.strip().splitlines()) if lines else " ".join(text.split())
    if len(text) > longest:
        raise refusal(
            f"{what} may have {longest:,} characters; this one has {len(text):,}; shorten it"
        )
    if bad_characters := [
        char for char in text if char not in "\n\t" and category(char) in ("Cc", "Cs")
    ]:
        raise refusal(
            f"{what} holds {bad_characters[0]!r}, which is no character of text; take it out"
        )
    return text


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags without duplicates, in order; raise NoteError if one is invalid."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise NoteError(f"tags are a list of texts; got {tags!r}; one tag is written [tag]")
    texts = tuple(dict.fromkeys(plain_text("a tag", tag, LONGEST_TAG) for tag in tags))
    if "" in texts:
        raise NoteError(
            "a tag needs at least one character that is not a blank; leave it out, or write one"
        )
    if any("," in tag for tag in texts):
        raise NoteError("a tag holds no comma, which stands between tags; leave it out")
    if len(texts) > MOST_TAGS:
        raise NoteError(f"a run may have {MOST_TAGS} tags; {len(texts)} came; leave some out")
    return texts
