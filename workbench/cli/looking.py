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
    run: RunName,
    words: Annotated[int, typer.Option("--words", help="Words of each topic.")] = 10,
    relevance: Annotated[
        float,
        typer.Option(
            "--relevance",
            help="1 ranks words by their probability, 0 by how much likelier they are than elsewhere.",
        ),
    ] = 1.0,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the topics of a run, largest first: share of the tokens, label, words."""
    from workbench.measures.tables import topic_entries

    dataset = wb.open_run(run, store)
    found = topic_entries(dataset, words, relevance)
    if json:
        return print_json({"name": dataset.attrs["name"], "relevance": relevance, "topics": found})
    _print_topics(found)


def documents(
    run: RunName,
    topic: Annotated[
        int | None,
        typer.Option("--topic", metavar="TOPIC", help="The run's own number of a topic."),
    ] = None,
    number: Annotated[int, typer.Option("--number", help="Documents of each topic.")] = 5,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the documents that represent a topic best, or every topic, largest first."""
    dataset = wb.open_run(run, store)
    names = {"share": "theta"}  # in JSON, as since the first version
    found = wb.top_documents(dataset, topic, number).rename(columns=names)
    found = found[["topic", "title", "document", "theta", "n_tokens", "n_topic_tokens"]].to_dict(
        "records"
    )
    if json:
        return print_json({"name": dataset.attrs["name"], "documents": found})
    print_table(
        ("topic", "title", "share", "tokens"),
        [
            (each["topic"], each["title"], f"{each['theta']:.1%}", f"{each['n_tokens']:,}")
            for each in found
        ],
        left=(1,),
    )
    if not found:
        say("no document has a token of it")


def print_words(run) -> None:
    """Prints the largest topics of a run with their words; nothing where it has none yet, no words, or very many documents."""
    from workbench.measures.tables import topic_entries

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
    found = topic_entries(dataset, SHOWN_WORDS)
    _print_topics(found[:SHOWN_TOPICS])
    if len(found) > SHOWN_TOPICS:
        say(f"and {len(found) - SHOWN_TOPICS} smaller ones; `workbench topics {run.name}` has all")


def _print_topics(found: list[dict]) -> None:
    labelled = any(each["label"] for each in found)
    print_table(
        ("topic", "share", *(["label"] if labelled else []), "words"),
        [
            (
                each["topic"],
                f"{each['share']:.1%}",
                *([each["label"]] if labelled else []),
                " ".join(each["words"]),
            )
            for each in found
        ],
        left=(2, 3),
    )
