"""Write the tables of a report as LaTeX and Markdown."""

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.report.files import checked_formats, put_file
from workbench.report.gathering import AnyRun, ReportedRun, gather
from workbench.report.tables import label_rows, run_rows, topic_tables
from workbench.tables import Column, Table, numbers
from workbench.views import SideBySide

FORMS = ("md", "tex")
LABEL = Column("label", "engine")
RESULT = [
    LABEL,
    *numbers("n_runs", label="runs"),
    *numbers("iteration", label="iterations"),
    *numbers("test_perplexity", label="held-out perplexity"),
    *numbers("documents", label="95 % over documents"),
    *numbers("difference", label="difference from {against}"),
    *numbers("n_pairs", label="pairs"),
]
COST = [
    LABEL,
    *numbers("elapsed", label="inference (s)"),
    *numbers("cpu_time", label="CPU (s)"),
    *numbers("updates", label="site updates"),
    *numbers("time_per_update", label="ns per update"),
    *numbers("time_to", label="seconds to {target}"),
]
TOPICS = [
    LABEL,
    *numbers("number", label="topic"),
    Column("node", "of"),
    *numbers("share", label="share of tokens"),
    Column("words", "most probable words", wide=True),
]
RUNS = [
    LABEL,
    Column("name", "run"),
    *numbers("seed"),
    *numbers("iteration"),
    *numbers("test_perplexity", label="held-out perplexity"),
    *numbers("test_perplexity_state", label="of the state"),
    *numbers("test_perplexity_average", label="running average"),
    *numbers("elapsed", label="inference (s)"),
    *numbers("cpu_time", label="CPU (s)"),
]


def write_tables(
    runs: AnyRun | Iterable[AnyRun],
    folder: str | os.PathLike = ".",
    forms: str | Iterable[str] = FORMS,
    reference: str | None = None,
    store: str | os.PathLike | None = None,
) -> list[Path]:
    """Write the tables of a report as Markdown and LaTeX, such as ``result.md`` and ``result.tex``; return the paths.

    ``result`` and ``cost`` have a row for each label, ``topics`` one for each topic of a run with counts of each label, and
    ``runs`` one for each run.

    Parameters
    ----------
    runs, reference, store
        See `workbench.write_report`.
    folder : path
        Created if missing; existing files are replaced.
    forms : "md", "tex" or both

    Raises
    ------
    MeasureError, StoreError, ReportError
    """
    forms = checked_formats(forms, FORMS, "tables are written")
    reported = gather(runs, store)
    labels, against, target = label_rows(reported, reference)
    tables = {
        "result": (RESULT, labels),
        "cost": (COST if target else COST[:-1], labels),
        "topics": (TOPICS, _topic_rows(reported)),
        "runs": (RUNS, run_rows(reported)),
    }
    written = []
    for name, (columns, rows) in tables.items():
        headed = [
            column._replace(label=column.heading.format(against=against, target=target))
            for column in columns
        ]
        table = Table(headed, rows).without_empty_columns()
        for form in forms if rows else ():
            text = table.markdown() if form == "md" else table.latex()
            written.append(put_file(Path(folder) / f"{name}.{form}", text.encode()))
    return written


def _topic_rows(reported: list[ReportedRun]) -> list[dict]:
    """Return the table of topics of one run per label: a row per topic, with its words as one text."""
    first_runs = SideBySide([entry.dataset for entry in reported]).first("phi", "n_kw")
    return [
        topic | {"label": run["label"], "words": " ".join(word["word"] for word in topic["words"])}
        for run in topic_tables(first_runs)
        for topic in run["topics"]
    ]
