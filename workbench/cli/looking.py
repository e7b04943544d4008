"""Commands that show the topics of a run: topics and documents."""

from __future__ import annotations

import math
import warnings
from typing import Annotated

import typer

import workbench as wb
from workbench.cli.flags import Json, RunName, Store
from workbench.cli.printing import print_json, print_table, say
from workbench.tables import numbers, texts

SHOWN_TOPICS, SHOWN_WORDS = 20, 8
"""Topics and words of each that end a fit."""
LARGE = 2 * 10**7
"""Numbers of a snapshot from which on it is not read just to end a fit."""


def topics(
    run: RunName,
    words: Annotated[int, typer.Option("--words", help="Number of words per topic.")] = 10,
    relevance: Annotated[
        float,
        typer.Option(
            "--relevance",
            help="1 ranks words by probability, 0 by lift over the whole corpus.",
        ),
    ] = 1.0,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the topics of a run, largest first, with their share of the tokens, label and words."""
    from workbench.measures.tables import topic_entries

    dataset = wb.open_run(run, store)
    entries = topic_entries(dataset, words, relevance)
    if json:
        return print_json(
            {"name": dataset.attrs["name"], "relevance": relevance, "topics": entries}
        )
    _print_topics(entries)


def documents(
    run: RunName,
    topic: Annotated[
        int | None,
        typer.Option(
            "--topic", metavar="TOPIC", help="Number of the topic in the run; default: all topics."
        ),
    ] = None,
    number: Annotated[int, typer.Option("--number", help="Number of documents per topic.")] = 5,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the most representative documents of a topic, or of every topic, largest first."""
    dataset = wb.open_run(run, store)
    names = {"share": "theta"}  # in JSON, as since the first version
    best = wb.top_documents(dataset, topic, number).rename(columns=names)
    best = best[["topic", "title", "document", "theta", "n_tokens", "n_topic_tokens"]].to_dict(
        "records"
    )
    if json:
        return print_json({"name": dataset.attrs["name"], "documents": best})
    columns = [
        *numbers("topic"),
        *texts("title"),
        *numbers("share", kind="share", digits=1),
        *numbers("tokens"),
    ]
    print_table(
        columns, [(each["topic"], each["title"], each["theta"], each["n_tokens"]) for each in best]
    )
    if not best:
        say("no document has a token of it")


def print_words(run) -> None:
    """Print the largest topics of a run with their words; nothing if it has no topics, no words, or very many documents."""
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
    entries = topic_entries(dataset, SHOWN_WORDS)
    _print_topics(entries[:SHOWN_TOPICS])
    if len(entries) > SHOWN_TOPICS:
        say(
            f"and {len(entries) - SHOWN_TOPICS} smaller ones; `workbench topics {run.name}` has all"
        )


def _print_topics(entries: list[dict]) -> None:
    """Print topics as a table, with labels if there are any."""
    columns = [
        *numbers("topic"),
        *numbers("share", kind="share", digits=1),
        *texts(*(["label"] if any(entry["label"] for entry in entries) else [])),
        *texts("words"),
    ]
    print_table(columns, [entry | {"words": " ".join(entry["words"])} for entry in entries])
