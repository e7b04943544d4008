"""Commands that look into the topics of a run: topics and documents."""

from __future__ import annotations

import math
import warnings
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import Json, RunName, Store
from workbench.cli.printing import print_json, print_table, say

SHOWN_TOPICS, SHOWN_WORDS = 20, 8
"""Topics and words of each that end a fit."""
LARGE = 2 * 10**7
"""Numbers of a snapshot from which on it is not read just to end a fit."""


def topics(
    run: RunName, words: Annotated[int, typer.Option("--words", help="Words of each topic.")] = 10,
    relevance: Annotated[float, typer.Option(
        "--relevance", help="1 ranks words by their probability, 0 by how much likelier they are than elsewhere.")] = 1.0,
    store: Store = None, json: Json = False,
) -> None:
    """Show the topics of a run, largest first: share of the tokens, label, words."""
    dataset = wb.open_run(run, store)
    found = _found(dataset, words, relevance)
    if json:
        return print_json({"name": dataset.attrs["name"], "relevance": relevance, "topics": found})
    _print_topics(found)


def documents(
    run: RunName,
    topic: Annotated[int | None, typer.Option("--topic", metavar="TOPIC", help="The run's own number of a topic.")] = None,
    number: Annotated[int, typer.Option("--number", help="Documents of each topic.")] = 5,
    store: Store = None, json: Json = False,
) -> None:
    """Show the documents that represent a topic best, or every topic, largest first."""
    from workbench.measures import representative_documents, topics_by_size

    dataset = wb.open_run(run, store)
    asked = topics_by_size(dataset) if topic is None else [topic]
    found = []
    for one in asked:
        table = representative_documents(dataset, one, number)
        for at in range(table.sizes["rank"]):
            row = {name: table[name].values[at].item() for name in ("document", "theta", "n_tokens", "n_topic_tokens")}
            found.append({"topic": int(one), "title": str(table["title"].values[at])} | row)
    if json:
        return print_json({"name": dataset.attrs["name"], "documents": found})
    print_table(("topic", "title", "share", "tokens"), [
        (each["topic"], each["title"], f"{each['theta']:.1%}", f"{each['n_tokens']:,}") for each in found
    ], left=(1,))
    if not found:
        say("no document has a token of it")


def print_words(run) -> None:
    """Prints the largest topics of a run with their words; nothing where it has none yet, no words, or very many documents."""
    if max(map(math.prod, run.shapes().values()), default=0) > LARGE:
        return say(f"`workbench topics {run.name}` has the words of its topics")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about notes, of which others tell
            dataset = run.dataset()
    except wb.SpecError as error:  # its corpus is not there
        return say(str(error))
    if not {"phi", "n_kw"} <= set(dataset) or not dataset.sizes.get("snapshot"):
        return
    found = _found(dataset, SHOWN_WORDS, 1.0)
    _print_topics(found[:SHOWN_TOPICS])
    if len(found) > SHOWN_TOPICS:
        say(f"and {len(found) - SHOWN_TOPICS} smaller ones; `workbench topics {run.name}` has all")


def _found(dataset, n_words: int, relevance: float) -> list[dict]:
    """Number, share, tokens, label and words of each topic, largest first."""
    from workbench.measures import top_words, topic_sizes, topics_by_size

    words, sizes, found = top_words(dataset, n_words, relevance)["word"], topic_sizes(dataset), []
    labels = dict(zip(dataset["topic"].values.tolist(), dataset["topic_label"].values, strict=True)) if (
        "topic_label" in dataset) else {}
    for topic in topics_by_size(dataset):
        own = sizes.sel(topic=topic)
        found.append({
            "topic": int(topic), "share": float(own["share"]), "tokens": float(own["n_k"]), "label": str(labels.get(topic, "")),
            "words": [str(word) for word in words.sel(topic=topic).values],
        })
    return found


def _print_topics(found: list[dict]) -> None:
    labelled = any(each["label"] for each in found)
    print_table(("topic", "share", *(["label"] if labelled else []), "words"), [
        (each["topic"], f"{each['share']:.1%}", *([each["label"]] if labelled else []), " ".join(each["words"]))
        for each in found
    ], left=(2, 3))
