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
from workbench.dashboard.shared.card import CardContent
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import File, FileError
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.shell import button, column, message, styled
from workbench.dashboard.shared.snapshots import SnapshotKey, apply_to_run, counts_of, run_of
from workbench.dashboard.shared.uploads import Upload
from workbench.dashboard.topics.cells import TopicCard, whole_number_of
from workbench.dashboard.topics.documents import MOST_TEXT, documents_html, topics_of
from workbench.measures import token_topics, used_topics
from workbench.numbers import MIB, format_size, with_noun
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
            label, kinds, endings=KINDS, advice_text="use `workbench infer` in a terminal"
        )
        self.go = button("Infer topics", color="primary")
        super().__init__(
            "Analyse new text",
            handover,
            components=(self.text, self.file, column(self.go, kind="wb-bar")),
            kind="unseen",
            more_files={"CSV of the documents": lambda: self._csv},
            has_picture=False,
        )
        self._inference_task, self._snapshot, self._topic_and_labels = (
            LatestTask(),
            None,
            (NONE, {}),
        )
        self._documents: InferredDocuments | None = None
        self._document = self._n_inferences = 0
        self.file.param.watch(self._on_file, "value")
        self.go.on_click(
            lambda event: self._ask(
                "a text", (self.text.value_input or self.text.value or "").encode, ".txt"
            )
        )

    def follow(self, snapshot: SnapshotKey, topic: int, labels: dict[int, str]) -> None:
        """Set the shown run and topic; remove documents that were analysed with another run."""
        self._snapshot, self._topic_and_labels = snapshot, (topic, labels)
        if self._documents is not None and snapshot.path != self._documents.snapshot.path:
            self._documents = None
            self.clear("The documents were analysed with another run; infer their topics again.")
        self._draw()

    def clicked(self, kind: str, value: str) -> None:
        """Handle a click: choose a document, or do the same as `TopicCard.clicked`."""
        if kind == "document" and self._documents is not None:
            self._document = min(
                max(whole_number_of(value), 0), self._documents.corpus.n_documents - 1
            )
            self._draw()
        else:
            super().clicked(kind, value)

    def _on_file(self, event) -> None:
        if event.new is not None:
            name, read_file = event.new.name, lambda: event.new.existing_path().read_bytes()
            self._ask(name, read_file, Path(name).suffix.lower())

    def _ask(self, name: str, read_file: Callable[[], bytes], kind: str) -> None:
        self.status.object = message("Inferring topics …")
        snapshot = self._snapshot

        def on_result(documents: InferredDocuments | None, error: Exception | None) -> None:
            self._documents, self._document, self._n_inferences = (
                documents,
                0,
                self._n_inferences + 1,
            )
            if error is not None:
                self.clear()
                self.show(None, error)
            self._draw()

        self._inference_task.reset()
        self._inference_task.submit(
            name, lambda: infer_documents(snapshot, name, read_file(), kind), on_result
        )

    def _draw(self) -> None:
        """Show the list, and the chosen document, or the first."""
        if self._documents is not None:
            choices = self._document, *self._topic_and_labels
            self.bring(
                (self._n_inferences, *choices), partial(unseen_card, self._documents, *choices)
            )

    def _csv(self) -> File:
        if self._documents is None:
            raise FileError("no text has been analysed yet; type a text or choose a file first")
        return self._documents.csv()


class InferredDocuments(NamedTuple):
    """New documents with the topic proportions that a run infers for them."""

    snapshot: SnapshotKey
    corpus: Corpus
    inference: xr.Dataset
    # the text, if it is a single one and short enough to be shown
    raw: str | None

    def csv(self) -> File:
        """Return a CSV file with the theta of every document."""
        theta = self.inference["theta"]
        columns = {name: self.inference[name].values for name in ("n_tokens", "out_of_vocabulary")}
        table = pd.DataFrame(
            {"document": self.corpus.titles}
            | columns
            | {
                f"topic {topic}": column
                for topic, column in zip(theta["topic"].values, theta.values.T, strict=True)
            }
        )
        written = io.BytesIO()  # a str would need four bytes per letter
        table.to_csv(written, index=False, lineterminator="\n")
        return File(f"{self.snapshot.path.name}-unseen.csv", written.getvalue())


def infer_documents(
    snapshot: SnapshotKey | None, name: str, content: bytes, kind: str
) -> InferredDocuments:
    """Return the documents of a text or file with topics inferred from the run's last snapshot.

    Raises
    ------
    ValueError
        One sentence: there is no run, no text, no word that the run knows, too much text, or another kind of file.
    """
    if snapshot is None:
        raise FileError("there is no run to infer topics with; start one on the Compare page")
    if len(content) > (most := policy().max_upload):
        raise size_error(f"{name} has {format_size(len(content))}", format_size(most))
    if kind not in KINDS:
        raise FileError(f"{name} is no file of text; files end in {', '.join(KINDS)}")
    if not content.strip():
        raise FileError(f"{name} is empty; type or paste some words")
    raw = content.decode("utf-8", errors="replace") if kind == ".txt" else None
    counting = run_of(snapshot).spec.counted
    corpus = (
        _typed_corpus(name, raw, counting)
        if raw is not None
        else _uploaded_corpus(name, content, kind, counting)
    )
    if (run := counts_of(snapshot)) is not None:
        check_size(snapshot, name, corpus.n_documents, run.sizes["topic"])
        if corpus.n_tokens and not set(corpus.vocabulary).intersection(run["word"].values):
            raise FileError(
                f"the run {snapshot.path.name} knows no word of {name}, so it has no topics; use text like its own"
            )
    topics_of_documents = with_edition(
        infer(run_of(snapshot), corpus, progress=False), snapshot.edition.texts
    )
    return InferredDocuments(
        snapshot, corpus, topics_of_documents, raw if raw is None or len(raw) <= MOST_TEXT else None
    )


def most_bytes() -> int:
    """Return the maximum memory in bytes that inference may use here."""
    return int(min(MOST_BYTES, policy().limits.memory * 1e9))


def check_size(snapshot: SnapshotKey, name: str, n_documents: int, n_topics: int) -> None:
    """Raise FileError if inference on the documents needs more memory than allowed."""
    each, most = apply_to_run(snapshot, partial(inference_bytes, n_documents=1)), most_bytes()
    if n_documents * each > most:
        size = format_size(n_documents * each)
        size_text = f"{name} has {n_documents:,} documents, which take up to {size} under {n_topics:,} topics"
        raise size_error(size_text, f"{format_size(most)} ({most // each:,} documents)")


def size_error(size_text: str, most: str) -> FileError:
    """Return the error for too large an input: ``size_text`` says how large it is, ``most`` what the page takes."""
    return FileError(f"{size_text} where a page takes {most}; use `workbench infer` in a terminal")


def _typed_corpus(name: str, raw: str, counting: dict | None) -> Corpus:
    """Return a typed text as a corpus; if the run has a word pattern chosen by the user, read the text like a file."""
    if (counting or {}).get("token_pattern", WORD_PATTERN) == WORD_PATTERN:
        return corpus_of(pd.Series([raw], [name]), counted=counting)
    return _uploaded_corpus(
        name, json.dumps({"title": name, "text": raw}).encode(), ".jsonl", counting
    )


def _uploaded_corpus(name: str, content: bytes, kind: str, counting: dict | None = None) -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{kind}"
        path.write_bytes(content)
        try:
            corpus = read_bounded(path, most=MOST_READ, keep_text=False, counted=counting)
        except ValueError as error:
            raise FileError(str(error).replace(str(path), name)) from None
    if corpus.n_tokens > MOST_TOKENS:
        raise size_error(f"{name} counts {corpus.n_tokens:,} tokens", f"{MOST_TOKENS:,}")
    return corpus


def unseen_card(
    documents: InferredDocuments, document: int, topic: int, labels: dict[int, str]
) -> CardContent:
    """Return the card's content: the share of tokens unknown to the run, the list of documents, and one document."""
    n, rate = documents.corpus.n_documents, documents.inference.attrs["out_of_vocabulary"]
    limit_note = f" The first {MOST_LISTED} are listed; the CSV has all." if n > MOST_LISTED else ""
    sentence = (
        f"{with_noun(n, 'document')} under the topics of {documents.snapshot.path.name}: {100 * rate:.1f} % of "
        f"{documents.corpus.n_tokens:,} tokens are unknown to it.{limit_note}"
    )
    html = documents_html(
        listing_of(documents), unseen_document(documents, document, topic, labels)
    )
    return CardContent(message(sentence), table=html)


def listing_of(documents: InferredDocuments) -> dict:
    """Return a dict with the list of documents, from which `documents_html` makes HTML."""
    unknown, tokens = (
        documents.inference[name].values[:MOST_LISTED].tolist()
        for name in ("out_of_vocabulary", "n_tokens")
    )
    rows = [
        {
            "document": number,
            "title": short_text(str(title), MOST_LETTERS),
            "share": share if n else None,
            "tokens": n,
        }
        for number, (title, share, n) in enumerate(
            zip(documents.corpus.titles[:MOST_LISTED], unknown, tokens, strict=True)
        )
    ]
    return {"documents": rows, "columns": COLUMNS, "caption": "documents that were analysed"}


def unseen_document(
    documents: InferredDocuments, document: int, topic: int, labels: dict[int, str]
) -> dict:
    """Return a document as a dict, from which `documents_html` makes HTML: its text if available, else its words by count."""
    counting = run_of(documents.snapshot).spec.counted or {}
    run, theta = counts_of(documents.snapshot), documents.inference["theta"].values[document]
    single_document = documents.corpus.of_documents([document])
    n_types, bag = single_document.n_pairs, documents.raw is None
    if bag:
        most_frequent = np.sort(
            np.argsort(-single_document.counts, kind="stable")[:MOST_TYPES]
        )  # most frequent words
        single_document = single_document.with_pairs(
            [0, len(most_frequent)],
            single_document.words[most_frequent],
            single_document.counts[most_frequent],
        )
    tokens = token_topics(run, single_document, 0, theta)
    unknown = tokens["word"].values[tokens["likely"].values < 0].astype(str)
    note = "Words in the colours of their likeliest topics, " + (
        "by count" if bag else "plain where they are stop words"
    )
    note += (
        f"; the {MOST_TYPES} most frequent of {n_types:,}."
        if single_document.n_pairs < n_types
        else "."
    )
    if len(unknown):
        further_note = (
            f" and {len(unknown) - MOST_UNKNOWN} more" if len(unknown) > MOST_UNKNOWN else ""
        )
        note += f" Unknown to the run: {', '.join(unknown[:MOST_UNKNOWN])}{further_note}."
    used_numbers = used_topics(run)["topic"].values
    return {
        "document": document,
        "title": short_text(documents.corpus.titles[document], MOST_LETTERS),
        "topic": topic,
        "note": note,
        "words": segments_of_words(tokens)
        if bag
        else segments_of_text(documents.raw, tokens, counting),
        "raw": not bag,
        "topics": topics_of(
            used_numbers, theta[np.isin(run["topic"].values, used_numbers)], labels
        ),
    }
