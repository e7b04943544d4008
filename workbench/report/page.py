"""One page about a set of runs: self-contained, without scripts, readable in light, dark and on paper."""

import os
from pathlib import Path

from workbench.engines import get_engine
from workbench.measures import in_papers_order
from workbench.numbers import join_words
from workbench.report.captions import definitions, remarks, rows_of, settings, statistics
from workbench.report.commands import commands, wrapped
from workbench.report.drawing import draw, inline
from workbench.report.files import ReportError, put_file
from workbench.report.findings import findings, once
from workbench.report.gathering import (
    Gathered,
    corpora_of,
    gather_begun,
    pooled,
    scores_of_sequences,
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
"""Figures that `save_figures` draws and the page writes out instead, so that words can be searched and copied."""
FIRST = "ordering"
"""The figure beside the first table."""


def write_report(
    runs, path="report.html", reference: str | None = None, title: str | None = None, store=None
) -> Path:
    """Writes one HTML file: numbers, figures, topics, settings, and the command that makes it again.

    Parameters
    ----------
    runs, store
        See `workbench.report.gathering.gather`; finished or not. The words of topics are there for runs that come with their
        counts.
    path : path, default "report.html"
        Replaced whole if it is there.
    reference : str, optional
        What paired differences are taken from; see `workbench.measures.summary`.

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
    found, left_out = gather_begun(runs, store)
    order = [id(run) for run in in_papers_order([each.dataset for each in found])]
    found.sort(key=lambda each: order.index(id(each.dataset)))
    return put_file(path, _page(found, left_out, reference, title).encode())


def _page(
    found: list[Gathered], left_out: list[str], reference: str | None, title: str | None
) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    datasets = [each.dataset for each in found]
    shown = SideBySide(datasets)
    counted = shown.first("phi", "n_kw")
    rows, against, target = label_rows(found, reference)
    figures = [
        {
            "svg": Markup(
                inline(
                    draw(one.panels, 2, ("svg",), one.legend, one.height)["svg"].decode(),
                    one.name,
                    one.title,
                    one.hover,
                )
            ),
            "title": one.title,
            "caption": one.caption,
            "first": one.name.startswith(FIRST),
        }
        for one in pictures(
            datasets, 2, corpora_of(found), scores_of_sequences(found), pooled(found)
        )
        if not one.name.startswith(AS_TEXT)
    ]
    for figure, said in zip(figures, once([figure["caption"] for figure in figures]), strict=True):
        figure["caption"] = said
    scored, by_documents = (
        any(each.spec.test is not None for each in found),
        any(row["documents"] for row in rows),
    )
    engines = list(dict.fromkeys(each.spec.engine for each in found))
    corpora = list(dict.fromkeys(each.spec.corpus for each in found))
    template = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(TEMPLATE)
    return template.render(
        title=title or f"{join_words(engines)} on {join_words(corpora)}",
        findings=findings(found),
        lead=f"{len(found)} {'run' if len(found) == 1 else 'runs'}: {'; '.join(dict.fromkeys(shown.labels))}",
        remarks=remarks(found, left_out),
        labels=rows,
        target=target,
        against=against,
        scored=scored,
        by_documents=by_documents,
        engines=[(name, get_engine(name).title, get_engine(name).source) for name in engines],
        definitions=definitions(found, by_documents),
        settings=settings(found),
        statistics=statistics(found),
        versions=version_rows(found),
        commands="\n".join(wrapped(line) for line in commands([each.spec for each in found])),
        growing=any("n_active_topics" in run for run in datasets),
        priors=prior_rows(found),
        moves=move_tables(found),
        figures=figures,
        topics=topic_tables(counted),
        hierarchies=hierarchy_tables(counted),
        runs=run_rows(found),
        scores=score_table(found),
        rows_of=rows_of(found),
    )
