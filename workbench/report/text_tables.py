"""The tables of a report in LaTeX and Markdown."""

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.numbers import DASH
from workbench.report.files import ReportError, put_file
from workbench.report.gathering import AnyRun, ReportedRun, gather
from workbench.report.tables import label_rows, run_rows, topic_tables
from workbench.views import SideBySide

FORMS = ("md", "tex")
RESULT = {
    "label": "engine",
    "n_runs": "runs",
    "iteration": "iterations",
    "test_perplexity": "held-out perplexity",
    "documents": "95 % over documents",
    "difference": "difference from {against}",
    "n_pairs": "pairs",
}
COST = {
    "label": "engine",
    "elapsed": "inference (s)",
    "cpu_time": "CPU (s)",
    "updates": "site updates",
    "time_per_update": "ns per update",
    "time_to": "seconds to {target}",
}
TOPICS = {
    "label": "engine",
    "number": "topic",
    "node": "of",
    "share": "share of tokens",
    "words": "most probable words",
}
RUNS = {
    "label": "engine",
    "name": "run",
    "seed": "seed",
    "iteration": "iteration",
    "test_perplexity": "held-out perplexity",
    "test_perplexity_state": "of the state",
    "test_perplexity_average": "running average",
    "elapsed": "inference (s)",
    "cpu_time": "CPU (s)",
}
LEFT = {"label": "l", "name": "l", "node": "l", "words": "p{0.6\\linewidth}"}
"""Columns of text → LaTeX column type; all others are numbers."""


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
    forms = (forms,) if isinstance(forms, str) else tuple(forms)
    if unknown := [form for form in forms if form not in FORMS]:
        raise ReportError(f"tables are written as {' and '.join(FORMS)}; got {unknown[0]!r}")
    reported = gather(runs, store)
    labels, against, target = label_rows(reported, reference)
    cost = {key: head for key, head in COST.items() if key != "time_to" or target}
    tables = {
        "result": (RESULT, labels),
        "cost": (cost, labels),
        "topics": (TOPICS, _topic_rows(reported)),
        "runs": (RUNS, run_rows(reported)),
    }
    written = []
    for name, (columns, rows) in tables.items():
        keys = [key for key in columns if any(row[key] not in ("", DASH) for row in rows)]
        heads = [columns[key].format(against=against, target=target) for key in keys]
        cells = [[str(row[key]) for key in keys] for row in rows]
        for form in forms if rows else ():
            text = {"md": markdown, "tex": latex}[form](
                heads, cells, [LEFT.get(key, "r") for key in keys]
            )
            written.append(put_file(Path(folder) / f"{name}.{form}", text.encode()))
    return written


def _topic_rows(reported: list[ReportedRun]) -> list[dict]:
    """Return a row for each topic of a run of each label, its words as one text."""
    first_runs = SideBySide([entry.dataset for entry in reported]).first("phi", "n_kw")
    return [
        topic | {"label": run["label"], "words": " ".join(word["word"] for word in topic["words"])}
        for run in topic_tables(first_runs)
        for topic in run["topics"]
    ]


def markdown(heads: list[str], cells: list[list[str]], columns: list[str]) -> str:
    """Return a table in Markdown; ``columns`` are LaTeX column types: "r" aligns right."""
    lines = [heads, ["---:" if column == "r" else "---" for column in columns], *cells]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines
    )


def latex(heads: list[str], cells: list[list[str]], columns: list[str]) -> str:
    """Return a table in LaTeX, with rules of booktabs."""
    import pandas as pd

    table = pd.DataFrame(cells, columns=heads)
    styled = (
        table.style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis=1)
    )
    text = styled.to_latex(hrules=True, column_format="".join(columns))
    return (
        text.replace("±", "$\\pm$").replace("−", "$-$").replace("…", "\\ldots{}").replace("–", "--")
    )
