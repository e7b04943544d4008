"""The Ledger page: each figure, table and number of the papers, the results of our runs for it, and what was not run."""

from functools import partial
from pathlib import Path

import pandas as pd
import panel as pn
from markdown_it import MarkdownIt

from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.files import File
from workbench.dashboard.shared.link import follow_address, widget_parameter, write_address
from workbench.dashboard.shared.shell import (
    column,
    lay_out,
    page_or_sentence,
    styled,
    text,
)
from workbench.errors import InputError
from workbench.numbers import capital
from workbench.papers.ledger_table import (
    VERDICTS,
    Entry,
    describe_result,
    entries,
    to_markdown,
)
from workbench.papers.results import FILE, SHIPPED
from workbench.runs.store.places import default_store
from workbench.runs.store.status import stamp

ALL = "All"
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image"])
OWN_SOURCE = f"{FILE} of this store"
NOTE = (
    "Results come from <code>workbench reproduce NAME</code>: those that come with the package, and those of the store of this "
    "server. Of a figure the fullest counts (whole, part, quick), of equally full ones the newest. Quick and part are less "
    "than the paper has: the whole can come out otherwise. A click on a command selects all of it."
)


class LedgerPage:
    """The page of one visitor, which shows the ledger of the store: the papers' results beside ours."""

    def __init__(self, store: Path | None = None):
        self._file, self._stamps = Path(store or default_store()) / FILE, None
        self._rows: list[Entry] = []
        options = {ALL: ""} | {capital(verdict): verdict for verdict in VERDICTS}
        self.verdict = styled(
            pn.widgets.Select(label="Verdict", options=options, value="", width=200)
        )
        self.status = text(sizing_mode="stretch_width", visible=False)
        self.table = text("", "ledger.css", sizing_mode="stretch_width")
        self.handover = Handover()
        self.downloads = Downloads(
            self.handover,
            {
                name: partial(self._file_of, form)
                for name, form in (("CSV", "csv"), ("Markdown", "md"))
            },
        )
        self.parameters = {"verdict": widget_parameter(self.verdict)}
        self._link_error = follow_address(self.parameters)
        self.verdict.param.watch(self._on_choice, "value")

    def tick(self) -> None:
        """Read the results again if their files have changed."""
        stamps = stamp(self._file), stamp(SHIPPED)
        if stamps == self._stamps:
            return
        self._stamps = stamps
        try:
            rows, wrong = entries(self._file), ""
        except InputError as error:
            rows, wrong = entries(None), sentence_of(error)
        own_file = str(self._file)
        self._rows = [
            row._replace(source=OWN_SOURCE) if row.source == own_file else row for row in rows
        ]
        self.status.say(wrong or self._link_error, "bad")
        self._show()

    def _on_choice(self, event) -> None:
        self._show()
        write_address(self.parameters)

    def _show(self) -> None:
        written = (
            to_markdown(self.chosen_rows, "") if self.chosen_rows else "No row has this verdict."
        )
        html = MARKDOWN.render(written)
        self.table.object = html.replace("<table>", '<table aria-label="verdicts">')

    @property
    def chosen_rows(self) -> list[Entry]:
        """Return the rows that have lines of the chosen verdict, with only those lines; all rows if none is chosen."""
        chosen_verdict = self.verdict.value
        if not chosen_verdict:
            return self._rows
        rows_and_lines = (
            (row, [line for line in row.lines if line.verdict == chosen_verdict])
            for row in self._rows
        )
        return [row._replace(lines=tuple(lines)) for row, lines in rows_and_lines if lines]

    def _file_of(self, form: str):
        return partial(ledger_file, self.chosen_rows, form)

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        head = column(
            text("<h2>What the papers have, and what came out here</h2>"),
            text(f'<p class="muted">{NOTE}</p>', sizing_mode="stretch_width"),
            self.status,
            self.verdict,
            *self.downloads.row("Download", "download the ledger"),
            kind="wb-card ledger-head",
        )
        main = column(
            head, column(self.table, kind="wb-card ledger"), self.handover, kind="wb-main"
        )
        return lay_out(self, "ledger", "every figure and number of the papers", main)


def page() -> pn.Column:
    """Return the page for one visitor."""
    return page_or_sentence(lambda: LedgerPage().view())


def ledger_file(rows: list[Entry], form: str) -> File:
    """Return the ledger as a file: CSV with a row for each line of each entry, or a page of Markdown."""
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
