"""The report for readers: the topics of one run for people who know no topic models, with passages of documents."""

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import xarray as xr
from markupsafe import Markup

from workbench.corpus.document_table import DocumentTable
from workbench.measures import (
    representative_documents,
    token_topics,
    top_words,
    topic_descriptions,
)
from workbench.measures.consensus import matches_in_others
from workbench.measures.documents import distinct_columns, text_of
from workbench.measures.groups import columns_of, run_with_counts
from workbench.measures.tables import topic_entries
from workbench.measures.topics import share_intervals
from workbench.numbers import format_interval
from workbench.report.commands import commands, missing_in_commands, wrapped
from workbench.report.files import ReportError
from workbench.report.gathering import ReportedRun, corpora_of, stores_of, table_of
from workbench.report.method import about_corpus, cautions, commands_of_edits, method
from workbench.report.rendering import drawn_figures, render
from workbench.tables import Column, Table, numbers
from workbench.views import Picture, RunsToDraw
from workbench.views.coloured_words import segments_of_text
from workbench.views.effects import ALL
from workbench.views.elements import short_text, topic_colours
from workbench.views.every import view_named
from workbench.views.topics import names_of_topics

TEMPLATE = "readers.html.jinja"
N_WORDS, N_LISTED, RELEVANCE = 12, 6, 0.6
"""Words of a topic, and in the table of topics; the relevance that Sievert & Shirley (2014) recommend to readers."""
N_PASSAGES, N_CANDIDATES = 3, 12
LEAST_SHARE = 0.002
"""Smallest share of a topic with passages; of an HDP many topics have a few words."""
LETTERS, MOST_TEXT = 340, 200_000
"""Letters of a passage, and of the longest text that is searched for one."""
MOST_TITLE, MOST_VALUE, MOST_COLUMNS = 100, 40, 4
"""Letters of a title and of a value of a column, and number of columns, under a passage."""
MOST_GROUPINGS = 3
"""Maximum of columns by which topics are drawn."""
LINK = Markup('<a href="#topic-{}">{}</a>')
NAMES = "The last commands name the runs as this store does; reproduced runs may have other names."
SENTENCE = re.compile(r"(?<=[^\sA-Z][.!?])\s+|\s*\n\s*\n\s*|(?<=[。！？])")
"""What stands between two sentences; a point after a capital letter ends an abbreviation."""


def readers_page(reported_runs: list[ReportedRun], title: str | None, progress: bool) -> str:
    """Return the page about the first run; the others, on the same training corpus, say which topics are found again.

    Raises MeasureError for a run without topics of documents, and ReportError for runs on another training corpus.
    """
    first, *others = reported_runs
    run, table = run_with_counts(first.dataset), table_of(first)
    columns = distinct_columns(run, table)
    entry = first._replace(dataset=_with_name_of_label(run, columns))
    if runs_of_other_data := [other for other in others if other.spec.train != first.spec.train]:
        raise ReportError(
            f"further runs tell which topics of {run.attrs['name']} are found again, so they are on its training corpus; "
            f"{runs_of_other_data[0].dataset.attrs['name']} is on another; leave it out"
        )
    again = matches_in_others(run, [other.dataset for other in others]) if others else None
    share_ends, names = share_intervals(run), names_of_topics(run, 3, 60)
    entries, stores = topic_entries(run, N_LISTED, RELEVANCE), stores_of(reported_runs)
    quoted_topics = [topic_entry for topic_entry in entries if topic_entry["share"] >= LEAST_SHARE]
    return render(
        TEMPLATE,
        title=title or f"Topics of {entry.spec.corpus}",
        n_topics=len(entries),
        name=run.attrs["name"],
        corpus=about_corpus(entry, [*columns][1:]),
        table=Markup(_topic_table(entries, share_ends, again, names).html()),
        intervals=_about_intervals(share_ends, again, len(others)),
        topics=[_topic(entry, topic_entry, names, table, columns) for topic_entry in quoted_topics],
        n_unquoted=len(entries) - len(quoted_topics),
        least_share=f"{LEAST_SHARE:.1%}",
        has_texts=table is not None and table.texts is not None,
        figures=drawn_figures(_pictures(entry), progress),
        method=method(entry),
        cautions=cautions(reported_runs, again, names),
        commands="\n".join(
            [
                *(
                    wrapped(line)
                    for line in commands([each.spec for each in reported_runs], stores)
                ),
                *commands_of_edits(reported_runs),
            ]
        ),
        notes=[
            *missing_in_commands([each.spec for each in reported_runs], stores),
            *[NAMES] * bool(stores),
        ],
    )


def _with_name_of_label(run: xr.Dataset, columns: Mapping[str, Sequence]) -> xr.Dataset:
    """Return the run with the labels of its documents called as the equal column of their file, if there is one."""
    if "document_label" not in run.coords or "label" in columns:
        return run
    labels = [text_of(value) for value in run["document_label"].values]
    same = (name for name in columns if labels == [*map(text_of, columns[name])])
    return run.rename(document_label=f"document_{next(same)}")


def _topic_table(
    entries: list[dict],
    share_ends: xr.Dataset | None,
    again: xr.Dataset | None,
    names: Mapping[int, str],
) -> Table:
    """Return the table of topics, largest first: name, share with its interval, runs that have it, words."""
    columns = [
        Column("name", "topic"),
        *numbers("share", kind="share", digits=1),
        *numbers("interval", label="95 % of draws"),
        *numbers("again", label="in other runs"),
        *numbers("range", label="share in all runs"),
        Column("words", "words"),
    ]
    rows = [
        {
            "name": LINK.format(topic_entry["topic"], names[topic_entry["topic"]])
            if topic_entry["share"] >= LEAST_SHARE
            else names[topic_entry["topic"]],
            "share": topic_entry["share"],
            "interval": _interval(share_ends, topic_entry["topic"]),
            "again": None
            if again is None
            else int(again["n_found"].sel(topic=topic_entry["topic"])),
            "range": _interval(again, topic_entry["topic"]),
            "words": ", ".join(topic_entry["words"]),
        }
        for topic_entry in entries
    ]
    return Table(columns, rows, "topics").without_empty_columns()


def _interval(ends: xr.Dataset | None, topic: int) -> str:
    """Return the interval of a topic's share in per cent as text; "" without one."""
    if ends is None:
        return ""
    low, high = (100 * float(ends[end].sel(topic=topic)) for end in ("low", "high"))
    return format_interval(low, high)


def _about_intervals(share_ends: xr.Dataset | None, again: xr.Dataset | None, n_others: int) -> str:
    """Return sentences about the intervals of the shares in the table, or that there is none and why."""
    sentences = []
    if share_ends is not None:
        sentences.append(
            f"95 % of draws: the share lies between these per cent in 95 % of {share_ends.attrs['n_draws']:,} states that the "
            "computation went through after it had settled."
        )
    if again is not None:
        sentences.append(
            f"In other runs: how many of {n_others} further computations with other random starts or settings find a topic "
            "with nearly the same words, and the least and largest share in per cent that it has in any of them."
        )
    return " ".join(sentences) or (
        "The shares have no interval: this run gives one estimate and no draws. Runs with other seeds would show how much of "
        "a share is chance."
    )


def _topic(
    entry: ReportedRun,
    topic_entry: dict,
    names: Mapping[int, str],
    table: DocumentTable | None,
    columns: Mapping[str, Sequence],
) -> dict:
    """Return name, description, colour, share, words and passages of a topic for the page."""
    run, topic = entry.dataset, topic_entry["topic"]
    words = top_words(run, N_WORDS, RELEVANCE, topic)["word"].values
    return {
        "number": topic,
        "name": names[topic],
        "description": topic_descriptions(run).get(topic, ""),
        "colour": topic_colours(run)(topic),
        "share": f"{100 * topic_entry['share']:.1f} %",
        "words": ", ".join(map(str, words)),
        "passages": _passages(entry, topic, {str(word).lower() for word in words}, table, columns),
    }


def _passages(
    entry: ReportedRun,
    topic: int,
    listed_words: set[str],
    table: DocumentTable | None,
    columns: Mapping[str, Sequence],
) -> list[dict]:
    """Return passages of the topic's most representative documents that differ, with the documents' titles and columns."""
    run, corpus = entry.dataset, entry.corpora[0]
    best, passages = representative_documents(run, topic, N_CANDIDATES), {}
    texts = None if table is None or corpus is None else table.texts
    candidates = list(zip(best["document"].values.tolist(), best["theta"].values, strict=True))
    titles = [str(title) for title in best["title"].values]
    # other titles first: copies of a story have the same
    order = sorted(range(len(titles)), key=lambda index: titles[:index].count(titles[index]))
    for document, share in (candidates[index] for index in order):
        title, *values = ((name, text_of(column[document])) for name, column in columns.items())
        segments = []
        if texts is not None and texts[document] and len(texts[document]) <= MOST_TEXT:
            tokens = token_topics(run, corpus, document)
            segments = segments_of_text(texts[document], tokens, table.counted) or []
        passage_entry = {
            "pieces": passage(segments, topic, listed_words) if segments else [],
            "title": short_text(title[1], MOST_TITLE),
            "about": [
                f"{share:.0%} of its words",
                *(
                    short_text(" ".join(pair), MOST_VALUE)
                    for pair in values[:MOST_COLUMNS]
                    if pair[1]
                ),
            ],
        }
        passages.setdefault(
            "".join(text for text, _ in passage_entry["pieces"]) or title[1], passage_entry
        )
        if len(passages) == N_PASSAGES:
            break
    return list(passages.values())


def passage(
    segments: list[dict], topic: int, listed_words: Collection[str] = (), letters: int = LETTERS
) -> list[tuple[str, str]]:
    """Return the stretch of a text that has most different words of a topic, as (text, kind).

    The kind is "listed" for a word of the topic that is in ``listed_words``, "own" for its other words, and "" for other text.
    ``segments`` are of `segments_of_text`. It begins with a sentence and ends with a word; dots stand for what is left out.
    """
    text = "".join(segment["word"] for segment in segments)
    words, offset = [], 0  # (first letter, word) of each word of the topic
    for segment in segments:
        if segment["topic"] == topic:
            words.append((offset, segment["word"]))
        offset += len(segment["word"])
    positions = [position for position, _ in words]
    starts = [0, *(match.end() for match in SENTENCE.finditer(text))]

    def n_different(start: int) -> int:
        window = words[bisect_left(positions, start) : bisect_left(positions, start + letters)]
        return len({word.lower() for _, word in window})

    if max(map(n_different, starts)) < n_different(positions[0] if positions else 0):
        starts += positions  # of a text that has hardly a sentence
    start = max(starts, key=n_different)
    end = len(text)
    if end > start + letters:
        end = max(text.rfind(" ", start, start + letters), start + letters // 2)
    parts, end_of_parts = [("… ", "")] if start else [], start
    for position, word in words[bisect_left(positions, start) : bisect_left(positions, end)]:
        kind = "listed" if word.lower() in listed_words else "own"
        parts += [(text[end_of_parts:position], ""), (word, kind)]
        end_of_parts = position + len(word)
    parts += [(text[end_of_parts:end], ""), (" …" if end < len(text) else "", "")]
    return [(text_part, kind) for text_part, kind in parts if text_part]


def _pictures(entry: ReportedRun) -> list[Picture]:
    """Return the pictures of topics over time and by group, and of effects, as far as the documents have such columns."""
    run = entry.dataset
    selection = RunsToDraw([run], 2, corpora_of([entry]))
    by_group, effects = view_named("topics-by-group"), view_named("effects")
    pictures = view_named("topics-over-time").pictures(selection)
    for number, column in enumerate(columns_of(run)[:MOST_GROUPINGS]):
        pictures += [
            replace(picture, name=f"{picture.name}-{number}", title=f"{picture.title}, {column}")
            for picture in by_group.pictures(selection, by=column)
        ]
    return pictures + (effects.pictures(selection, beside=ALL) or effects.pictures(selection))
