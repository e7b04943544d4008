"""The Ledger page: each figure, table and number of the papers, the results of our runs for it, and what was not run."""

from functools import lru_cache, partial
from html import escape
from pathlib import Path

import panel as pn

from workbench.dashboard.ledger.rows import ledger_file, ledger_html, with_verdict
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.link import follow_address, widget_part, write_address
from workbench.dashboard.shared.shell import (
    begin_session,
    column,
    lay_out,
    page_or_sentence,
    styled,
    text,
)
from workbench.errors import InputError
from workbench.papers.ledger_table import VERDICTS, Entry, counts, entries
from workbench.papers.results import FILE, SHIPPED
from workbench.runs.store.places import default_store

TITLE = "workbench · Ledger"
ALL = "All"
OWN = f"{FILE} of this store"
NOTE = (
    "Results come from <code>workbench reproduce NAME</code>: those that come with the package, and those of the store of this "
    "server. Of a figure the fullest counts (whole, part, quick), of equally full ones the newest. Quick and part are less "
    "than the paper has: the whole can come out otherwise. A click on a command selects all of it."
)


class LedgerPage:
    """The page of one visitor, which shows the ledger of the store."""

    def __init__(self, store: Path | None = None):
        self._file, self._seen = Path(store or default_store()) / FILE, None
        self._rows: list[Entry] = []
        options = {ALL: ""} | {
            f"{verdict[:1].upper()}{verdict[1:]}": verdict for verdict in VERDICTS
        }
        self.verdict = styled(
            pn.widgets.Select(label="Verdict", options=options, value="", width=200)
        )
        self.said = text(sizing_mode="stretch_width", visible=False)
        self.counts, self.table = (
            text("", "ledger.css", sizing_mode="stretch_width") for _ in range(2)
        )
        self.handover = Handover()
        self.downloads = Downloads(
            self.handover,
            {
                name: partial(self._file_of, form)
                for name, form in (("CSV", "csv"), ("Markdown", "md"))
            },
        )
        self.parts = {"verdict": widget_part(self.verdict)}
        self._refused = follow_address(self.parts)
        self.verdict.param.watch(self._chosen, "value")

    def tick(self) -> None:
        """Read the results again if their files have changed."""
        seen = _state(self._file), _state(SHIPPED)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._rows, wrong = list(_entries(self._file, *seen)), ""
        except InputError as error:
            self._rows, wrong = list(_entries(None, None, seen[1])), sentence_of(error)
        self.said.say(wrong or self._refused, "bad")
        self._show()

    def _chosen(self, event) -> None:
        self._show()
        write_address(self.parts)

    def _show(self) -> None:
        listed = "".join(
            f"<li>{escape(name)} <b>{n}</b></li>" for name, n in counts(self._rows).items()
        )
        self.counts.object = f'<ul aria-label="rows by verdict">{listed}</ul>'
        self.table.object = ledger_html(self.shown)

    @property
    def shown(self) -> list[Entry]:
        """Return the rows that have the chosen verdict."""
        return with_verdict(self._rows, self.verdict.value)

    def _file_of(self, form: str):
        return partial(ledger_file, self.shown, form)

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        head = column(
            text("<h2>What the papers have, and what came out here</h2>"),
            text(f'<p class="muted">{NOTE}</p>', sizing_mode="stretch_width"),
            self.said,
            self.counts,
            self.verdict,
            *self.downloads.row("Download", "download the ledger"),
            kind="wb-card ledger-head",
        )
        main = column(
            head, column(self.table, kind="wb-card ledger"), self.handover, kind="wb-main"
        )
        begin_session(self, TITLE, [], self.tick)
        return lay_out("workbench", "every figure and number of the papers", [main], [], "ledger")


def page() -> pn.Column:
    """Return the page for one visitor."""
    return page_or_sentence(lambda: LedgerPage().view())


def _state(path: Path) -> tuple[int, int] | None:
    """Return the time of the last change and the size of a file; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _entries(own: Path | None, of_own, of_shipped) -> tuple[Entry, ...]:
    """Return the entries of the ledger, cached for all sessions until a file of results changes."""
    return tuple(
        row._replace(source=OWN) if own and row.source == str(own) else row for row in entries(own)
    )
