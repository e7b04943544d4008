"""The ledger as HTML (a table for each paper, with a group of rows for each item) and as files."""

from collections.abc import Iterable
from html import escape

import pandas as pd

from workbench.dashboard.shared.files import File
from workbench.papers.ledger_table import (
    Entry,
    Line,
    by_paper,
    describe_result,
    to_markdown,
    verdict_of,
)
from workbench.papers.results import WHOLE
from workbench.papers.verdicts import FAILS, HOLDS

KINDS = {HOLDS: "good", FAILS: "bad"}


def with_verdict(rows: Iterable[Entry], verdict: str) -> list[Entry]:
    """Return the entries that have lines with a verdict, with only these lines; all entries if ``verdict`` is empty."""
    if not verdict:
        return list(rows)
    chosen = [
        row._replace(lines=tuple(line for line in row.lines if line.verdict == verdict))
        for row in rows
    ]
    return [row for row in chosen if row.lines]


def ledger_html(rows: list[Entry]) -> str:
    """Return the ledger as HTML: a heading and a table for each paper, with all texts escaped."""
    return (
        "".join(
            f'<h2>{escape(paper)}</h2><table aria-label="{escape(paper)}"><thead><tr><th scope="col">Verdict</th>'
            f'<th scope="col">Claim</th><th scope="col">Ours</th></tr></thead>{"".join(map(_group, own))}</table>'
            for paper, own in by_paper(rows).items()
        )
        or '<p class="muted">No row has this verdict.</p>'
    )


def ledger_file(rows: list[Entry], form: str) -> File:
    """Return the ledger as a file: CSV with a row for each line, or a page of Markdown."""
    if form == "md":
        return File("ledger.md", to_markdown(rows).encode())
    table = pd.DataFrame(
        [
            {
                "id": row.item.id,
                "paper": row.item.paper,
                "where": row.item.where,
                "target": row.item.target,
                "figure": row.figure,
                "verdict": line.verdict,
                "extent": row.extent,
                "claim": line.says,
                "ours": line.ours,
                "result": describe_result(row),
                "command": row.command,
                "source": row.source,
            }
            for row in rows
            for line in row.lines
        ]
    )
    return File("ledger.csv", table.to_csv(index=False, lineterminator="\n").encode())


def _group(entry: Entry) -> str:
    """Return the rows of an item: a head with its target, result and command, then one row for each line."""
    item = entry.item
    why = f" {item.why}" if entry.figure and item.why else ""
    about = [f'<p class="target">{escape(item.target + why)}</p>']
    if entry.result:
        kind = "" if entry.extent == WHOLE else ' class="less"'
        about.append(
            f"<p{kind}>{escape(describe_result(entry))} <span>From {escape(entry.source)}.</span></p>"
        )
    if entry.command:
        about.append(f"<p><code>{escape(entry.command)}</code></p>")
    about += [f"<p>Means, {escape(mean)}</p>" for mean in entry.means]
    name = f' <span class="figure">{escape(entry.figure)}</span>' if entry.figure else ""
    head = f'<tr><th colspan="3" scope="rowgroup"><b>{escape(item.id)}</b> {escape(item.where)}{name}{"".join(about)}</th></tr>'
    return f'<tbody data-item="{escape(item.id)}">{head}{"".join(_row(line, entry.extent) for line in entry.lines)}</tbody>'


def _row(line: Line, extent: str) -> str:
    kind = KINDS.get(line.verdict, "muted")
    says, ours = escape(line.says), escape(line.ours)
    told = f"<td>{says}</td><td>{ours}</td>" if ours else f'<td colspan="2">{says}</td>'
    return f'<tr><td class="{kind}">{escape(verdict_of(line, extent))}</td>{told}</tr>'
