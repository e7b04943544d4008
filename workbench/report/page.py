"""Write a self-contained HTML page about a set of runs, without scripts, for light and dark screens and paper."""

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.engines import get_engine
from workbench.measures import in_papers_order, paired_differences
from workbench.numbers import join_words
from workbench.report.captions import data_rows, definitions, remarks, rows_of, settings, statistics
from workbench.report.commands import commands, wrapped
from workbench.report.files import ReportError, put_file
from workbench.report.findings import findings
from workbench.report.gathering import (
    AnyRun,
    ReportedRun,
    corpora_of,
    gather,
    gather_started,
    pooled_chains_of,
    scores_of_sequences,
    stores_of,
)
from workbench.report.readers import readers_page
from workbench.report.rendering import drawn_figures, render
from workbench.report.tables import (
    hierarchy_tables,
    label_rows,
    move_tables,
    prior_rows,
    run_rows,
    score_table,
    topic_tables,
    version_rows,
)
from workbench.views import RunsToDraw, pictures

AUDIENCES = RESEARCHERS, READERS = "researchers", "readers"
"""For whom a report is written: a comparison of engines, or the topics of one run."""
TEMPLATE = "report.html.jinja"
AS_TEXT = "topic-words-"
"""Figures that the page shows as text instead, so that words can be searched and copied."""
FIRST = "ordering"
"""The figure next to the first table."""


def write_report(
    runs: AnyRun | Iterable[AnyRun],
    path: str | os.PathLike = "report.html",
    reference: str | None = None,
    title: str | None = None,
    store: str | os.PathLike | None = None,
    audience: str = RESEARCHERS,
    progress: bool = False,
) -> Path:
    """Write one HTML file about runs: numbers, figures, topics, settings, and the command that reproduces them.

    Parameters
    ----------
    runs, store
        See `workbench.report.gathering.gather`; finished or not. Runs with counts also have the words of their topics.
    path : path, default "report.html"
        An existing file is replaced.
    reference : str, optional
        The reference of paired differences; see `workbench.measures.summary`.
    audience : "researchers" or "readers", default "researchers"
        A comparison of engines, or the topics of the first run for people who know no topic models, with passages of
        documents; further runs on the same training corpus then say which topics are found again.
    progress : bool, default False
        Whether bars on stderr show how many figures are made.

    Raises
    ------
    MeasureError, StoreError, ReportError
        No run, an unknown run, none with a committed iteration; an unknown reference or audience; a path that cannot be
        written; for readers, a first run without topics of documents, or further runs on another corpus.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ReportError(f"wanted a path to write to; got {type(path).__name__}")
    path = Path(path)
    if path.is_dir():
        raise ReportError(
            f"{path} is a folder; give the name of a file, such as {path / 'report.html'}"
        )
    if ReportError.one_of("the audience", audience, AUDIENCES) == READERS:
        entries = gather(runs, store)
        if reference is not None:
            paired_differences([entry.dataset for entry in entries], reference)
        return put_file(path, readers_page(entries, title, progress).encode())
    entries, left_out = gather_started(runs, store)
    order = [id(run) for run in in_papers_order([entry.dataset for entry in entries])]
    entries.sort(key=lambda entry: order.index(id(entry.dataset)))
    return put_file(path, _page(entries, left_out, reference, title, progress).encode())


def _page(
    entries: list[ReportedRun],
    left_out: list[str],
    reference: str | None,
    title: str | None,
    progress: bool,
) -> str:
    datasets = [entry.dataset for entry in entries]
    selection = RunsToDraw(datasets)
    runs_with_counts = selection.first("phi", "n_kw")
    rows, against, target = label_rows(entries, reference)
    all_pictures = pictures(
        datasets,
        2,
        corpora_of(entries),
        scores_of_sequences(entries),
        pooled_chains_of(entries),
        progress,
    )
    figures = drawn_figures(
        (picture for picture in all_pictures if not picture.name.startswith(AS_TEXT)), progress
    )
    is_scored, by_documents = (
        any(entry.spec.test is not None for entry in entries),
        any(row["documents"] for row in rows),
    )
    engines = list(dict.fromkeys(entry.spec.engine for entry in entries))
    corpora = list(dict.fromkeys(entry.spec.corpus for entry in entries))
    return render(
        TEMPLATE,
        title=title or f"{join_words(engines)} on {join_words(corpora)}",
        findings=findings(entries),
        lead=f"{len(entries)} {'run' if len(entries) == 1 else 'runs'}: {'; '.join(dict.fromkeys(selection.labels))}",
        remarks=remarks(entries, left_out),
        labels=rows,
        target=target,
        against=against,
        scored=is_scored,
        by_documents=by_documents,
        engines=[(name, get_engine(name).title, get_engine(name).source) for name in engines],
        definitions=definitions(entries, by_documents),
        data=data_rows(entries),
        settings=settings(entries),
        statistics=statistics(entries),
        versions=version_rows(entries),
        commands="\n".join(
            wrapped(line)
            for line in commands([entry.spec for entry in entries], stores_of(entries))
        ),
        growing=any("n_active_topics" in run for run in datasets),
        priors=prior_rows(entries),
        moves=move_tables(entries),
        figures=[figure | {"first": figure["name"].startswith(FIRST)} for figure in figures],
        topics=topic_tables(runs_with_counts),
        hierarchies=hierarchy_tables(runs_with_counts),
        runs=run_rows(entries),
        scores=score_table(entries),
        rows_of=rows_of(entries),
    )
