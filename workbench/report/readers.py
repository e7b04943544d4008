"""The report for readers: the topics of one run for people who know no topic models, with passages of documents."""

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import xarray as xr
from markupsafe import Markup

from workbench.corpus.document_table import DocumentTable
from workbench.data.available_memory import available_memory
from workbench.engines.engine import HYBRID, SAMPLER
from workbench.measures import (
    MeasureError,
    representative_documents,
    token_topics,
    top_words,
    topic_descriptions,
)
from workbench.measures.consensus import matches_in_others
from workbench.measures.documents import distinct_columns, text_of
from workbench.measures.groups import columns_of, run_with_counts
from workbench.measures.tables import topic_entries
from workbench.measures.topics import FEWEST_DRAWS, share_intervals, used_topics
from workbench.numbers import format_interval, with_noun
from workbench.report.commands import commands, missing_in_commands, wrapped
from workbench.report.files import ReportError
from workbench.report.gathering import ReportedRun, corpora_of, stores_of, table_of
from workbench.report.method import (
    about_corpus,
    cautions,
    commands_of_edits,
    edits_of,
    hides,
    method,
    with_hidden,
)
from workbench.report.rendering import drawn_figures, render
from workbench.runs.execution.run import Run
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
"""Letters of a passage, and of the beginning of a text that is searched for one."""
MOST_TITLE, MOST_VALUE, MOST_COLUMNS = 100, 40, 4
"""Letters of a title and of a value of a column, and number of columns, under a passage."""
MOST_GROUPINGS = 3
"""Maximum of columns by which topics are drawn."""
LINK = Markup('<a href="#topic-{}" dir="auto">{}</a>')
NAMES = "The last commands name the runs as this store does; reproduced runs may have other names."
TABLE = re.compile("in the table|One run of each label")
"""What a sentence of a caption has that is of no use without a table or further labels."""
TEXT = Markup('<span dir="auto">{}</span>')
SENTENCE = re.compile(r"(?<=[^\sA-Z][.!?])\s+|\s*\n\s*\n\s*|(?<=[。！？])")
"""What stands between two sentences; a point after a capital letter ends an abbreviation."""


def readers_page(reported_runs: list[ReportedRun], title: str | None, progress: bool) -> str:
    """Return the page about the first run; the others, on the same training corpus, say which topics are found again.

    Raises MeasureError for a run without topics of documents, and ReportError for runs on another training corpus.
    """
    first, *others = reported_runs
    if first.path is not None and "n_dk" not in first.dataset:
        Run(first.path).edited()  # raises the error that says what is missing, such as the corpus
    run, table = run_with_counts(first.dataset), table_of(first)
    columns = distinct_columns(run, table)
    entry = first._replace(dataset=_with_name_of_label(run, columns))
    if runs_of_other_data := [other for other in others if other.spec.train != first.spec.train]:
        raise ReportError(
            f"further runs tell which topics of {run.attrs['name']} are found again, so they are on its training corpus; "
            f"{runs_of_other_data[0].dataset.attrs['name']} is on another; leave it out"
        )
    names = names_of_topics(run, 3, 60)
    entries, stores = topic_entries(run, N_LISTED, RELEVANCE), stores_of(reported_runs)
    all_of_topics = [with_hidden(each) for each in reported_runs]
    whole = all_of_topics[0]
    share_ends = share_intervals(run) if len(entries) > 1 else None
    if share_ends is not None:
        entries = _with_means(entries, run, share_ends.attrs["n_draws"])
    again = (
        _again(reported_runs, all_of_topics, [topic_entry["topic"] for topic_entry in entries])
        if others
        else None
    )
    if again is not None and "low" in again:  # the share of this run is that of the table
        shown = xr.DataArray(
            [topic_entry["share"] for topic_entry in entries], again["low"].coords, "topic"
        )
        again["low"], again["high"] = (
            np.minimum(again["low"], shown),
            np.maximum(again["high"], shown),
        )
    quoted_topics = [topic_entry for topic_entry in entries if topic_entry["share"] >= LEAST_SHARE]
    words = top_words(run, N_WORDS, RELEVANCE)["word"]
    chosen = _in_memory(run if whole is None else whole)
    return render(
        TEMPLATE,
        title=title or f"Topics of {entry.spec.corpus}",
        n_topics=with_noun(len(entries), "topic"),
        name=run.attrs["name"],
        corpus=about_corpus(entry, [*columns][1:]),
        table=Markup(_topic_table(entries, share_ends, again, names).html()),
        intervals=_about_intervals(entry, share_ends, again, len(others), len(entries)),
        topics=[
            {
                "number": topic_entry["topic"],
                "name": names[topic_entry["topic"]],
                "description": topic_descriptions(run).get(topic_entry["topic"], ""),
                "colour": topic_colours(run)(topic_entry["topic"]),
                "share": f"{100 * topic_entry['share']:.1f} %",
                "words": ", ".join(
                    map(str, listed := words.sel(topic=topic_entry["topic"]).values)
                ),
                "passages": _passages(
                    entry._replace(dataset=chosen),
                    topic_entry["topic"],
                    {str(word).lower() for word in listed},
                    table,
                    columns,
                ),
            }
            for topic_entry in quoted_topics
        ],
        unquoted=_unquoted(len(entries) - len(quoted_topics)),
        has_texts=table is not None and table.texts is not None,
        figures=drawn_figures(_pictures(entry), progress),
        method=method(entry),
        cautions=cautions(reported_runs, whole, again, names),
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


def _unquoted(n: int) -> str:
    """Return a sentence on the number of topics that are too small for passages; "" for none."""
    if not n:
        return ""
    return f"{with_noun(n, 'topic')} with less than {LEAST_SHARE:.1%} of the words {'is' if n == 1 else 'are'} left out here."


def _again(
    reported_runs: list[ReportedRun], all_of_topics: list[xr.Dataset | None], shown: list[int]
) -> xr.Dataset:
    """Return in how many other runs the shown topics are found, hidden topics included, and the range of their shares.

    ``all_of_topics``: `with_hidden` of each run. The range is left out if topics are hidden, as the other shares are then of
    the words of the topics that are shown, and if there is a single topic.
    """
    runs = [
        each.dataset if whole is None else whole
        for each, whole in zip(reported_runs, all_of_topics, strict=True)
    ]
    again = matches_in_others(runs[0], runs[1:]).sel(topic=shown)
    none_hidden = all(
        each.dataset is whole for each, whole in zip(reported_runs, all_of_topics, strict=True)
    )
    return again if none_hidden and len(shown) > 1 else again.drop_vars(["low", "high"])


def _with_means(entries: list[dict], run: xr.Dataset, n_draws: int) -> list[dict]:
    """Return the topics with their mean share in the last draws, those that have the intervals, and in its order.

    Topics that people put first precede.
    """
    sizes = run["n_k"].values[-n_draws:]
    means = (sizes / sizes.sum(axis=1, keepdims=True)).mean(axis=0)
    share_of = dict(zip(run["topic"].values.tolist(), means.tolist(), strict=True))
    n_first = len({*np.atleast_1d(run.attrs.get("first", [])).tolist()} & {*share_of})
    found = [topic_entry | {"share": share_of[topic_entry["topic"]]} for topic_entry in entries]
    return found[:n_first] + sorted(found[n_first:], key=lambda topic_entry: -topic_entry["share"])


def _in_memory(run: xr.Dataset) -> xr.Dataset:
    """Return a run at its last snapshot with the arrays that choose passages read once, if they fit into memory."""
    last = used_topics(run.isel(snapshot=[-1]))
    needed = [last[name] for name in ("n_kw", "n_dk", "theta", "phi") if name in last]
    if sum(values.nbytes for values in needed) > available_memory().n_bytes / 4:
        return last
    return last.assign({values.name: values.compute() for values in needed})


def _with_name_of_label(run: xr.Dataset, columns: Mapping[str, Sequence]) -> xr.Dataset:
    """Return the run with the labels of its documents called as the equal column of their file, if there is one.

    A column with a name that is taken, as time, is left as it is.
    """
    if "document_label" not in run.coords or "label" in columns:
        return run
    labels = [text_of(value) for value in run["document_label"].values]
    same = (name for name in columns if labels == [*map(text_of, columns[name])])
    name = f"document_{next(same, 'label')}"
    return run if name == "document_time" or name in run.coords else run.rename(document_label=name)


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
            else TEXT.format(names[topic_entry["topic"]]),
            "share": topic_entry["share"],
            "interval": _interval(share_ends, topic_entry["topic"]),
            "again": None
            if again is None
            else int(again["n_found"].sel(topic=topic_entry["topic"])),
            "range": _interval(again, topic_entry["topic"]),
            "words": TEXT.format(", ".join(topic_entry["words"])),
        }
        for topic_entry in entries
    ]
    return Table(columns, rows, "topics").without_empty_columns()


def _interval(ends: xr.Dataset | None, topic: int) -> str:
    """Return the interval of a topic's share in per cent as text; "" without one."""
    if ends is None or "low" not in ends:
        return ""
    low, high = (100 * float(ends[end].sel(topic=topic)) for end in ("low", "high"))
    return format_interval(low, high)


def _about_intervals(
    entry: ReportedRun,
    share_ends: xr.Dataset | None,
    again: xr.Dataset | None,
    n_others: int,
    n_topics: int,
) -> str:
    """Return sentences about the intervals of the shares in the table, or that there is none and why."""
    sentences = []
    if share_ends is not None:
        sentences.append(
            f"The share is the mean of {share_ends.attrs['n_draws']:,} states of the computation in the second half of the "
            "run. 95 % of draws: the share lies between these per cent in 95 % of these states."
        )
    if again is not None:
        other = (
            "whether one further computation with another random start or setting finds a topic with nearly the same words (1) "
            "or not (0)"
            if n_others == 1
            else f"how many of {n_others} further computations with other random starts or settings find a topic with nearly "
            "the same words"
        )
        sentences.append(f"In other runs: {other}.")
        if "low" in again:
            sentences.append(
                "Share in all runs: the least and the largest share in per cent, in this run and in those that find the topic."
            )
    return " ".join(sentences) or f"The shares have no interval: {_why_none(entry, n_topics)}"


def _why_none(entry: ReportedRun, n_topics: int) -> str:
    """Return the reason why the shares of a run's topics have no interval over draws, and what would give one."""
    engine = entry.spec.parts()[0]
    if n_topics == 1:
        return "the one topic has all words."
    if engine.kind == HYBRID:
        return "only a part of the words is sampled by this engine."
    if engine.kind != SAMPLER:
        return "this run gives one estimate and no draws. Runs with other seeds would show how much of a share is chance."
    if engine.grows:
        return "the numbers of topics change from draw to draw with this sampler."
    return f"fewer than {FEWEST_DRAWS} states were recorded after burn-in in the second half of the run; a longer run has one."


def _passages(
    entry: ReportedRun,
    topic: int,
    listed: set[str],
    table: DocumentTable | None,
    columns: Mapping[str, Sequence],
) -> list[dict]:
    """Return passages of the topic's most representative documents that differ, with the documents' titles and columns."""
    run, corpus = entry.dataset, entry.corpora[0]
    best, passages = representative_documents(run, topic, N_CANDIDATES), {}
    texts = None if table is None or corpus is None else table.texts
    is_part = entry.path is None and any(map(hides, edits_of(entry)))
    shares = best["n_topic_tokens"].values / best["n_tokens"].values
    candidates = list(zip(best["document"].values.tolist(), shares, strict=True))
    titles = [str(title) for title in best["title"].values]
    # other titles first: copies of a story have the same
    order = sorted(range(len(titles)), key=lambda place: titles[:place].count(titles[place]))
    for document, share in (candidates[place] for place in order):
        title, *values = ((name, text_of(column[document])) for name, column in columns.items())
        segments = []
        if texts is not None and texts[document]:
            tokens = token_topics(run, corpus, document)
            segments = segments_of_text(texts[document][:MOST_TEXT], tokens, table.counted) or []
        passage_entry = {
            "pieces": passage(segments, topic, listed) if segments else [],
            "title": short_text(title[1], MOST_TITLE),
            "about": [
                f"{share:.0%} of its words{' in the topics shown' * is_part}",
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
    shown = RunsToDraw([run], 2, corpora_of([entry]))
    by_group, effects = view_named("topics-by-group"), view_named("effects")
    found = []
    with suppress(MeasureError):  # a column called time that is none
        found += view_named("topics-over-time").pictures(shown)
    for number, column in enumerate(columns_of(run)[:MOST_GROUPINGS]):
        found += [
            replace(picture, name=f"{picture.name}-{number}", title=f"{picture.title}, {column}")
            for picture in by_group.pictures(shown, by=column)
        ]
    found += effects.pictures(shown, beside=ALL) or effects.pictures(shown)
    return [replace(picture, caption=_without_table(picture.caption)) for picture in found]


def _without_table(caption: str) -> str:
    """Return a caption without what it says of a table of numbers, and of runs of other labels, which this page lacks."""
    caption = re.sub("[;,] the table has all", "", caption)
    kept = [part for part in caption.rstrip(".").split(". ") if not TABLE.search(part)]
    return f"{'. '.join(kept)}."
