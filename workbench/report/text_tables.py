"""The tables of a report for a paper or a page of notes: LaTeX and Markdown."""

from pathlib import Path

from workbench.report.files import ReportError, put_file
from workbench.report.gathering import gather
from workbench.report.tables import label_rows

FORMS = ("md", "tex")
RESULT = {
    "label": "engine", "n_runs": "runs", "iteration": "iterations", "test_perplexity": "held-out perplexity",
    "documents": "95 % over documents", "difference": "difference from {against}", "n_pairs": "pairs",
}
COST = {
    "label": "engine", "elapsed": "inference (s)", "cpu_time": "CPU (s)", "updates": "site updates",
    "time_per_update": "ns per update", "time_to": "seconds to {target}",
}
TABLES = {"result": RESULT, "cost": COST}


def write_tables(runs, folder=".", forms=FORMS, reference: str | None = None, store=None) -> list[Path]:
    """Writes result and cost of runs as ``result.md``, ``result.tex``, ``cost.md`` and ``cost.tex``; their paths.

    Parameters
    ----------
    runs, reference, store
        See `workbench.write_report`.
    folder : path
        Made if it is not there; files in it are replaced.
    forms : "md", "tex" or both

    Raises
    ------
    MeasureError, StoreError, ReportError
    """
    forms = (forms,) if isinstance(forms, str) else tuple(forms)
    if unknown := [form for form in forms if form not in FORMS]:
        raise ReportError(f"tables are written as {' and '.join(FORMS)}; got {unknown[0]!r}")
    rows, against, target = label_rows(gather(runs, store), reference)
    written = []
    for name, columns in TABLES.items():
        there = {key: head.format(against=against, target=target) for key, head in columns.items()
                 if (key != "time_to" or target) and any(row[key] not in ("", "–") for row in rows)}
        cells = [[str(row[key]) for key in there] for row in rows]
        for form in forms:
            text = {"md": markdown, "tex": latex}[form](list(there.values()), cells)
            written.append(put_file(Path(folder) / f"{name}.{form}", text.encode()))
    return written


def markdown(heads: list[str], cells: list[list[str]]) -> str:
    """A table in Markdown, the first column to the left."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *cells]
    return "".join(f"| {' | '.join(one.replace('|', chr(92) + '|') for one in line)} |\n" for line in lines)


def latex(heads: list[str], cells: list[list[str]]) -> str:
    """A table in LaTeX, with rules of booktabs."""
    import pandas as pd

    table = pd.DataFrame(cells, columns=heads)
    told = table.style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis=1)
    text = told.to_latex(hrules=True, column_format="l" + "r" * (len(heads) - 1))
    return text.replace("±", "$\\pm$").replace("−", "$-$").replace("…", "\\ldots{}").replace("–", "--")
