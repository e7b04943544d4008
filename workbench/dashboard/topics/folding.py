"""Unseen documents under the topics of a run: a text or a file, folded in and shown."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import xarray as xr

from workbench.corpus import Corpus, read_corpus
from workbench.corpus.text import WORD_PATTERN
from workbench.dashboard.compare.files import File, FileError
from workbench.dashboard.shared.downloads import size
from workbench.dashboard.shared.snapshots import Moment, counts_of, documents_of, topic_colour
from workbench.dashboard.topics.shelf import topics_of, words_coloured
from workbench.measures import token_topics, used_topics
from workbench.runs.afterwards.infer import infer
from workbench.runs.execution.run import Run

LARGEST = 5 * 10**6
"""Bytes of an upload, and letters of a text."""
MOST_LISTED = 200
MOST_UNKNOWN = 40
KINDS = (".txt", ".csv", ".jsonl")


class Folded(NamedTuple):
    """Documents under the topics of a run."""

    moment: Moment
    corpus: Corpus
    inferred: xr.Dataset
    raw: str | None             # the text, where there is one text

    def csv(self) -> File:
        """Every document with its theta."""
        theta = self.inferred["theta"]
        columns = {
            "document": self.corpus.titles, "n_tokens": self.inferred["n_tokens"].values,
            "out_of_vocabulary": self.inferred["out_of_vocabulary"].values,
        } | {f"topic {topic}": theta.values[:, at] for at, topic in enumerate(theta["topic"].values)}
        content = pd.DataFrame(columns).to_csv(index=False, lineterminator="\n").encode()
        return File(f"{self.moment.path.name}-unseen.csv", content)


def folded(moment: Moment | None, name: str, content: bytes, kind: str) -> Folded:
    """The documents of a text or a file under the topics of the run's last snapshot.

    Raises
    ------
    ValueError
        One sentence: no run, nothing in it, no word that the run knows, too much, or another kind of file.
    """
    if moment is None:
        raise FileError("there is no run to fold text into; start one on the Compare page")
    if len(content) > LARGEST:
        raise FileError(
            f"{name} has {size(len(content))} where a page takes {size(LARGEST)}; use `workbench infer` in a terminal"
        )
    if kind not in KINDS:
        raise FileError(f"{name} is no file of text; files end in {', '.join(KINDS)}")
    if not content.strip():
        raise FileError(f"{name} is empty; type or paste some words")
    raw = None
    if kind == ".txt":
        raw = content.decode("utf-8", errors="replace")
        corpus = Corpus.from_texts([raw], titles=[name])
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"upload{kind}"
            path.write_bytes(content)
            try:
                corpus = read_corpus(path)
            except ValueError as error:
                raise FileError(str(error).replace(str(path), name)) from None
    run = counts_of(moment)
    if run is not None and corpus.n_tokens and not set(corpus.vocabulary).intersection(run["word"].values):
        raise FileError(f"the run {moment.path.name} knows no word of {name}, so it has no topics; fold in text like its own")
    return Folded(moment, corpus, infer(Run(moment.path), corpus), raw)


def listed(found: Folded) -> dict:
    """The documents as `Shelf` lists them."""
    unknown, tokens = (found.inferred[name].values.tolist() for name in ("out_of_vocabulary", "n_tokens"))
    documents = [
        {"document": at, "title": str(title), "share": share if n else None, "tokens": n}
        for at, (title, share, n) in enumerate(zip(found.corpus.titles, unknown, tokens, strict=True))
    ]
    return {"documents": documents[:MOST_LISTED], "caption": "documents that were folded in"}


def unseen_document(found: Folded, document: int, topic: int, labels: dict[int, str]) -> dict:
    """A document as `Shelf` shows it: the text itself where it is at hand, else its words by count."""
    run, theta = documents_of(found.moment), found.inferred["theta"].values[document]
    tokens = token_topics(run, found.corpus, document, theta)
    unknown = [str(word) for word in tokens["word"].values[tokens["likely"].values < 0]]
    note = "Words in the colours of their likeliest topics" + (
        "; a bag of words has no order, so they stand by count." if found.raw is None else ", plain where they are stop words."
    )
    if unknown:
        more = f" and {len(unknown) - MOST_UNKNOWN} more" if len(unknown) > MOST_UNKNOWN else ""
        note += f" Unknown to the run: {', '.join(unknown[:MOST_UNKNOWN])}{more}."
    used = used_topics(run)["topic"].values
    return {
        "document": document, "title": found.corpus.titles[document], "topic": topic, "note": note,
        "words": words_coloured(tokens) if found.raw is None else text_coloured(found.raw, tokens),
        "raw": found.raw is not None,
        "topics": topics_of(used, theta[[run["topic"].values.tolist().index(one) for one in used]], labels),
    }


def text_coloured(raw: str, tokens: xr.Dataset) -> list[dict]:
    """The text in pieces: words that were counted with their topic, and what lies between them with none."""
    topics = dict(zip(tokens["word"].values, tokens["likely"].values.tolist(), strict=True))
    pieces, end = [], 0
    for found in re.finditer(WORD_PATTERN, raw):
        word = found.group().lower()
        if word in topics:
            topic = topics[word]
            pieces += [{"word": raw[end : found.start()], "topic": None}, {
                "word": found.group(), "n": 1, "topic": topic, "colour": topic_colour(topic) if topic >= 0 else "",
                "told": f"topic {topic}" if topic >= 0 else "unknown to the run",
            }]
            end = found.end()
    return [piece for piece in (*pieces, {"word": raw[end:], "topic": None}) if piece["word"]]


def sentence_about(found: Folded) -> str:
    """How many documents, and how much of them the run does not know."""
    n, rate = found.corpus.n_documents, found.inferred.attrs["out_of_vocabulary"]
    documents = "1 document" if n == 1 else f"{n:,} documents"
    said = (
        f"{documents} under the topics of {found.moment.path.name}: {100 * rate:.1f} % of {found.corpus.n_tokens:,} tokens "
        "are unknown to it."
    )
    if n > MOST_LISTED:
        said += f" The first {MOST_LISTED} are listed; the CSV has all."
    return said
