"""Inference on unseen text: typed or uploaded, folded into the run, shown by topics, and downloaded as a table."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import panel as pn
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.corpus import corpus_of
from workbench.corpus.texts.words import WORD_PATTERN
from workbench.dashboard.shared.background import LatestTask
from workbench.dashboard.shared.card import Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.shell import button, column, message, styled
from workbench.dashboard.shared.snapshots import SnapshotKey, counts_of, made_of, run_of
from workbench.dashboard.shared.uploads import Upload
from workbench.dashboard.topics.cells import TopicCard, whole
from workbench.dashboard.topics.documents import MOST_TEXT, shelf, topics_of
from workbench.measures import token_topics, used_topics
from workbench.numbers import MIB, format_size
from workbench.runs.afterwards.infer import infer, inference_bytes
from workbench.runs.execution.bounded_reading import read_bounded
from workbench.runs.store.edition import with_edition
from workbench.tables import Column, numbers
from workbench.views.coloured_words import MOST_TYPES, segments_of_text, segments_of_words
from workbench.views.elements import short_text
from workbench.views.live import NONE

MOST_TOKENS = 5 * 10**6
"""Maximum number of tokens of a file."""
MOST_TYPED = 5 * MIB
"""Maximum number of letters of a typed text."""
MOST_READ = 100 * MIB
"""Maximum memory in bytes of the documents of a file, without their texts."""
MOST_BYTES = 200 * MIB
"""Maximum memory in bytes of inference for a file; it grows with documents times topics."""
MOST_LISTED = 200
MOST_LETTERS = 200
"""Letters shown of a title."""
MOST_UNKNOWN = 40
KINDS = (".txt", ".csv", ".jsonl")
COLUMNS = (
    Column("Document"),
    Column(
        "Unknown",
        kind="share",
        digits=1,
        meaning="share of the tokens whose word the run does not know",
    ),
    *numbers("Tokens", meaning="words that were counted: without stop words"),
)


class Unseen(TopicCard):
    """The card *Analyse new text*."""

    def __init__(self, handover: Handover):
        self.text = styled(
            pn.widgets.TextAreaInput(
                label="Text of a document that the run has not seen",
                placeholder="Type or paste a text",
                rows=5,
                max_length=min(policy().max_upload, MOST_TYPED),
                sizing_mode="stretch_width",
            )
        )
        kinds = (
            f".txt (one document), .csv or .jsonl (a column or field “text”), of at most {MOST_TOKENS:,} tokens, "
            f"{format_size(MOST_READ)} of memory once it is read and {format_size(most_bytes())} for documents times topics"
        )
        label = "File of documents that the run has not seen"
        self.file = Upload(
            label, kinds, endings=KINDS, otherwise="use `workbench infer` in a terminal"
        )
        self.go = button("Infer topics", color="primary")
        super().__init__(
            "Analyse new text",
            handover,
            above=(self.text, self.file, column(self.go, kind="wb-bar")),
            kind="unseen",
            more={"CSV of the documents": lambda: self._csv},
            drawn=False,
        )
        self._inferring, self._snapshot, self._given = LatestTask(), None, (NONE, {})
        self._folded: Folded | None = None
        self._document = self._times = 0
        self.file.param.watch(self._arrived, "value")
        self.go.on_click(
            lambda event: self._ask(
                "a text", (self.text.value_input or self.text.value or "").encode, ".txt"
            )
        )

    def follow(self, snapshot: SnapshotKey, topic: int, labels: dict[int, str]) -> None:
        """Set the shown run and topic; remove documents that were analysed with another run."""
        self._snapshot, self._given = snapshot, (topic, labels)
        if self._folded is not None and snapshot.path != self._folded.snapshot.path:
            self._folded = None
            self.clear("The documents were analysed with another run; infer their topics again.")
        self._draw()

    def clicked(self, kind: str, value: str) -> None:
        """Handle a click: choose a document, or do the same as `TopicCard.clicked`."""
        if kind == "document" and self._folded is not None:
            self._document = min(max(whole(value), 0), self._folded.corpus.n_documents - 1)
            self._draw()
        else:
            super().clicked(kind, value)

    def _arrived(self, event) -> None:
        if event.new is not None:
            name, read = event.new.name, lambda: event.new.there().read_bytes()
            self._ask(name, read, Path(name).suffix.lower())

    def _ask(self, name: str, read: Callable[[], bytes], kind: str) -> None:
        self.said.object = message("Inferring topics …")
        snapshot = self._snapshot

        def then(found: Folded | None, error: Exception | None) -> None:
            self._folded, self._document, self._times = found, 0, self._times + 1
            if error is not None:
                self.clear()
                self.show(None, error)
            self._draw()

        self._inferring.reset()
        self._inferring.submit(name, lambda: folded(snapshot, name, read(), kind), then)

    def _draw(self) -> None:
        """Show the list, and the chosen document, or the first."""
        if self._folded is not None:
            asked = self._document, *self._given
            self.bring((self._times, *asked), partial(unseen_shown, self._folded, *asked))

    def _csv(self) -> File:
        if self._folded is None:
            raise FileError("no text has been analysed yet; type a text or choose a file first")
        return self._folded.csv()


class Folded(NamedTuple):
    """New documents with the topic proportions that a run infers for them."""

    snapshot: SnapshotKey
    corpus: Corpus
    inferred: xr.Dataset
    # the text, if it is a single one and short enough to be shown
    raw: str | None

    def csv(self) -> File:
        """Return a CSV file with the theta of every document."""
        theta = self.inferred["theta"]
        about = {name: self.inferred[name].values for name in ("n_tokens", "out_of_vocabulary")}
        table = pd.DataFrame(
            {"document": self.corpus.titles}
            | about
            | {
                f"topic {topic}": column
                for topic, column in zip(theta["topic"].values, theta.values.T, strict=True)
            }
        )
        written = io.BytesIO()  # a str would need four bytes per letter
        table.to_csv(written, index=False, lineterminator="\n")
        return File(f"{self.snapshot.path.name}-unseen.csv", written.getvalue())


def folded(snapshot: SnapshotKey | None, name: str, content: bytes, kind: str) -> Folded:
    """Return the documents of a text or file with topics inferred from the run's last snapshot.

    Raises
    ------
    ValueError
        One sentence: there is no run, no text, no word that the run knows, too much text, or another kind of file.
    """
    if snapshot is None:
        raise FileError("there is no run to infer topics with; start one on the Compare page")
    if len(content) > (most := policy().max_upload):
        raise too_much(f"{name} has {format_size(len(content))}", format_size(most))
    if kind not in KINDS:
        raise FileError(f"{name} is no file of text; files end in {', '.join(KINDS)}")
    if not content.strip():
        raise FileError(f"{name} is empty; type or paste some words")
    raw = content.decode("utf-8", errors="replace") if kind == ".txt" else None
    counted = run_of(snapshot).spec.counted
    corpus = (
        _typed(name, raw, counted) if raw is not None else _uploaded(name, content, kind, counted)
    )
    if (run := counts_of(snapshot)) is not None:
        check_size(snapshot, name, corpus.n_documents, run.sizes["topic"])
        if corpus.n_tokens and not set(corpus.vocabulary).intersection(run["word"].values):
            raise FileError(
                f"the run {snapshot.path.name} knows no word of {name}, so it has no topics; use text like its own"
            )
    inferred = with_edition(infer(run_of(snapshot), corpus, progress=False), snapshot.edition.texts)
    return Folded(snapshot, corpus, inferred, raw if raw is None or len(raw) <= MOST_TEXT else None)


def most_bytes() -> int:
    """Return the maximum memory in bytes that inference may use here."""
    return int(min(MOST_BYTES, policy().limits.memory * 1e9))


def check_size(snapshot: SnapshotKey, name: str, n_documents: int, n_topics: int) -> None:
    """Raise FileError if inference on the documents needs more memory than allowed."""
    each, most = made_of(snapshot, partial(inference_bytes, n_documents=1)), most_bytes()
    if n_documents * each > most:
        size = format_size(n_documents * each)
        much = f"{name} has {n_documents:,} documents, which take up to {size} under {n_topics:,} topics"
        raise too_much(much, f"{format_size(most)} ({most // each:,} documents)")


def too_much(much: str, most: str) -> FileError:
    """Return the error for too large an input: ``much`` says how large it is, ``most`` what the page takes."""
    return FileError(f"{much} where a page takes {most}; use `workbench infer` in a terminal")


def _typed(name: str, raw: str, counted: dict | None) -> Corpus:
    """Return a typed text as a corpus; if the run has a word pattern chosen by the user, read the text like a file."""
    if (counted or {}).get("token_pattern", WORD_PATTERN) == WORD_PATTERN:
        return corpus_of(pd.Series([raw], [name]), counted=counted)
    return _uploaded(name, json.dumps({"title": name, "text": raw}).encode(), ".jsonl", counted)


def _uploaded(name: str, content: bytes, kind: str, counted: dict | None = None) -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{kind}"
        path.write_bytes(content)
        try:
            corpus = read_bounded(path, most=MOST_READ, keep_text=False, counted=counted)
        except ValueError as error:
            raise FileError(str(error).replace(str(path), name)) from None
    if corpus.n_tokens > MOST_TOKENS:
        raise too_much(f"{name} counts {corpus.n_tokens:,} tokens", f"{MOST_TOKENS:,}")
    return corpus


def unseen_shown(found: Folded, document: int, topic: int, labels: dict[int, str]) -> Shown:
    """Return the card's content: the share of tokens unknown to the run, the list of documents, and one document."""
    n, rate = found.corpus.n_documents, found.inferred.attrs["out_of_vocabulary"]
    more = f" The first {MOST_LISTED} are listed; the CSV has all." if n > MOST_LISTED else ""
    said = (
        f"{n:,} document{'s' if n != 1 else ''} under the topics of {found.snapshot.path.name}: {100 * rate:.1f} % of "
        f"{found.corpus.n_tokens:,} tokens are unknown to it.{more}"
    )
    html = shelf(listing_of(found), unseen_document(found, document, topic, labels))
    return Shown(message(said), table=html)


def listing_of(found: Folded) -> dict:
    """Return a dict with the list of documents, from which `shelf` makes HTML."""
    unknown, tokens = (
        found.inferred[name].values[:MOST_LISTED].tolist()
        for name in ("out_of_vocabulary", "n_tokens")
    )
    documents = [
        {
            "document": at,
            "title": short_text(str(title), MOST_LETTERS),
            "share": share if n else None,
            "tokens": n,
        }
        for at, (title, share, n) in enumerate(
            zip(found.corpus.titles[:MOST_LISTED], unknown, tokens, strict=True)
        )
    ]
    return {"documents": documents, "columns": COLUMNS, "caption": "documents that were analysed"}


def unseen_document(found: Folded, document: int, topic: int, labels: dict[int, str]) -> dict:
    """Return a document as a dict, from which `shelf` makes HTML: its text if available, else its words by count."""
    counted = run_of(found.snapshot).spec.counted or {}
    run, theta = counts_of(found.snapshot), found.inferred["theta"].values[document]
    one = found.corpus.of_documents([document])
    n_types, bag = one.n_pairs, found.raw is None
    if bag:
        kept = np.sort(np.argsort(-one.counts, kind="stable")[:MOST_TYPES])  # most frequent words
        one = one.with_pairs([0, len(kept)], one.words[kept], one.counts[kept])
    tokens = token_topics(run, one, 0, theta)
    unknown = tokens["word"].values[tokens["likely"].values < 0].astype(str)
    note = "Words in the colours of their likeliest topics, " + (
        "by count" if bag else "plain where they are stop words"
    )
    note += f"; the {MOST_TYPES} most frequent of {n_types:,}." if one.n_pairs < n_types else "."
    if len(unknown):
        more = f" and {len(unknown) - MOST_UNKNOWN} more" if len(unknown) > MOST_UNKNOWN else ""
        note += f" Unknown to the run: {', '.join(unknown[:MOST_UNKNOWN])}{more}."
    used = used_topics(run)["topic"].values
    return {
        "document": document,
        "title": short_text(found.corpus.titles[document], MOST_LETTERS),
        "topic": topic,
        "note": note,
        "words": segments_of_words(tokens) if bag else segments_of_text(found.raw, tokens, counted),
        "raw": not bag,
        "topics": topics_of(used, theta[np.isin(run["topic"].values, used)], labels),
    }
