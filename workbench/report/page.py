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
    pooled,
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
from workbench.views import SideBySide, pictures

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
        reported = gather(runs, store)
        if reference is not None:
            paired_differences([entry.dataset for entry in reported], reference)
        return put_file(path, readers_page(reported, title, progress).encode())
    reported, left_out = gather_started(runs, store)
    order = [id(run) for run in in_papers_order([entry.dataset for entry in reported])]
    reported.sort(key=lambda entry: order.index(id(entry.dataset)))
    return put_file(path, _page(reported, left_out, reference, title, progress).encode())


def _page(
    reported: list[ReportedRun],
    left_out: list[str],
    reference: str | None,
    title: str | None,
    progress: bool,
) -> str:
    datasets = [entry.dataset for entry in reported]
    shown = SideBySide(datasets)
    counted = shown.first("phi", "n_kw")
    rows, against, target = label_rows(reported, reference)
    made = pictures(
        datasets,
        2,
        corpora_of(reported),
        scores_of_sequences(reported),
        pooled(reported),
        progress,
    )
    figures = drawn_figures(
        (picture for picture in made if not picture.name.startswith(AS_TEXT)), progress
    )
    scored, by_documents = (
        any(entry.spec.test is not None for entry in reported),
        any(row["documents"] for row in rows),
    )
    engines = list(dict.fromkeys(entry.spec.engine for entry in reported))
    corpora = list(dict.fromkeys(entry.spec.corpus for entry in reported))
    return render(
        TEMPLATE,
        title=title or f"{join_words(engines)} on {join_words(corpora)}",
        findings=findings(reported),
        lead=f"{len(reported)} {'run' if len(reported) == 1 else 'runs'}: {'; '.join(dict.fromkeys(shown.labels))}",
        remarks=remarks(reported, left_out),
        labels=rows,
        target=target,
        against=against,
        scored=scored,
        by_documents=by_documents,
        engines=[(name, get_engine(name).title, get_engine(name).source) for name in engines],
        definitions=definitions(reported, by_documents),
        data=data_rows(reported),
        settings=settings(reported),
        statistics=statistics(reported),
        versions=version_rows(reported),
        commands="\n".join(
            wrapped(line)
            for line in commands([entry.spec for entry in reported], stores_of(reported))
        ),
        growing=any("n_active_topics" in run for run in datasets),
        priors=prior_rows(reported),
        moves=move_tables(reported),
        figures=[figure | {"first": figure["name"].startswith(FIRST)} for figure in figures],
        topics=topic_tables(counted),
        hierarchies=hierarchy_tables(counted),
        runs=run_rows(reported),
        scores=score_table(reported),
        rows_of=rows_of(reported),
    )
