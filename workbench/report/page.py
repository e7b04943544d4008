"""Write a self-contained HTML page about a set of runs, without scripts, for light and dark screens and paper."""

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.engines import get_engine
from workbench.measures import in_papers_order
from workbench.numbers import join_words
from workbench.report.captions import data_rows, definitions, remarks, rows_of, settings, statistics
from workbench.report.commands import commands, wrapped
from workbench.report.drawing import draw, inline
from workbench.report.files import ReportError, put_file
from workbench.report.findings import findings, once
from workbench.report.gathering import (
    AnyRun,
    ReportedRun,
    corpora_of,
    gather_started,
    pooled,
    scores_of_sequences,
    stores_of,
)
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

    Raises
    ------
    MeasureError, StoreError, ReportError
        No run, an unknown run, none with a committed iteration; an unknown reference; a path that cannot be written.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ReportError(f"wanted a path to write to; got {type(path).__name__}")
    path = Path(path)
    if path.is_dir():
        raise ReportError(
            f"{path} is a folder; give the name of a file, such as {path / 'report.html'}"
        )
    reported, left_out = gather_started(runs, store)
    order = [id(run) for run in in_papers_order([entry.dataset for entry in reported])]
    reported.sort(key=lambda entry: order.index(id(entry.dataset)))
    return put_file(path, _page(reported, left_out, reference, title).encode())


def _page(
    reported: list[ReportedRun], left_out: list[str], reference: str | None, title: str | None
) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    datasets = [entry.dataset for entry in reported]
    shown = SideBySide(datasets)
    counted = shown.first("phi", "n_kw")
    rows, against, target = label_rows(reported, reference)
    figures = [
        {
            "svg": Markup(
                inline(
                    draw(
                        picture.panels,
                        2,
                        ("svg",),
                        picture.legend,
                        picture.height,
                        width=picture.width,
                    )["svg"].decode(),
                    picture.name,
                    picture.title,
                    picture.hover,
                )
            ),
            "title": picture.title,
            "caption": picture.caption,
            "first": picture.name.startswith(FIRST),
        }
        for picture in pictures(
            datasets, 2, corpora_of(reported), scores_of_sequences(reported), pooled(reported)
        )
        if not picture.name.startswith(AS_TEXT)
    ]
    for figure, text in zip(figures, once([figure["caption"] for figure in figures]), strict=True):
        figure["caption"] = text
    scored, by_documents = (
        any(entry.spec.test is not None for entry in reported),
        any(row["documents"] for row in rows),
    )
    engines = list(dict.fromkeys(entry.spec.engine for entry in reported))
    corpora = list(dict.fromkeys(entry.spec.corpus for entry in reported))
    template = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(TEMPLATE)
    return template.render(
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
        figures=figures,
        topics=topic_tables(counted),
        hierarchies=hierarchy_tables(counted),
        runs=run_rows(reported),
        scores=score_table(reported),
        rows_of=rows_of(reported),
    )
