"""The Frontier page: settings of the hybrids by cost and distance from long Gibbs chains, all of them started from here."""

from functools import partial
from pathlib import Path
from typing import ClassVar

import panel as pn

from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.compare.fields import (
    corpora,
    defaults,
    number_field,
    reading_fields,
    single_fields,
)
from workbench.dashboard.compare.settings import ALWAYS
from workbench.dashboard.compare.wording import counted
from workbench.dashboard.frontier.results import (
    Asked,
    Shown,
    frontier_of,
    overtaking_of,
    points_of,
    results_file,
)
from workbench.dashboard.frontier.sweeping import (
    Found,
    found_in,
    hybrids,
    mistakes,
    n_reference,
    n_wanted,
    of_corpus,
    progress_of,
    start,
    values_of,
)
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.run_monitor import Listing, Reading
from workbench.dashboard.shared.shell import column, message, page_or_sentence, text
from workbench.dashboard.shared.values import Field, Menu, Number, Values
from workbench.dashboard.sweeps.page import SweepPage
from workbench.dashboard.sweeps.progress import Progress
from workbench.measures.frontier import CHAINS, LONGER
from workbench.runs.execution.run import default_store

USUAL = {"r": "0, 1, 2, 5, inf", "n_chains": "1, 5", "n_iterations": 100, "seeds": 3}
"""What stands in the form at first."""
SPLITS = {
    "by counts alone": "",
    "also where averaging harms most": "gap",
    "also at random": "random",
}
NAMES = {"CPU seconds": "cpu_time", "updates": "updates"}
"""What the menu calls the costs."""


class FrontierPage(SweepPage):
    """The page of one visitor: hybrids that differ in r, chains, split and seed, and the long chains they are set against."""

    name, said_of, heading = (
        "frontier",
        "cost and distance from long Gibbs chains",
        "Runs to compare",
    )
    placed_at: ClassVar = SweepPage.placed_at | {"budget_r": "r"}

    def __init__(self, store: Path):
        self.found = Found([], [])  # the runs of the form
        super().__init__(store, _fields())
        self.shown = {
            "frontier": Card(self.handover, self._make),
            "overtaking": Card(self.handover, self._make),
        }

    def settings(self, read: dict) -> dict:
        """What the fields say, as settings of the sweep."""
        return values_of(read)

    def mistakes(self, values: dict) -> dict[str, str]:
        """Setting → what is wrong with it."""
        return mistakes(values)

    def look(self, listing: Listing, values: dict | None) -> str:
        """Takes the runs of the form from a listing; returns what would be started, in words."""
        self.found = Found([], []) if values is None else found_in(listing.readings, values)
        if values is None:
            self._asked = Asked((), (), (), 0, 0, "cpu_time")
            return ""
        self._asked = Asked(
            points_of(self.found.settings),
            points_of(self.found.reference[:CHAINS]),
            points_of(of_corpus(listing.readings, values)),
            values["n_iterations"],
            n_reference(values),
            values["cost"],
        )
        return f"{counted(n_wanted(values))} with the {CHAINS} chains of the reference."

    def runs_shown(self) -> list[Reading]:
        """All runs of the form that are there."""
        return list(
            {
                one.name: one for one in (*self.found.reference[:CHAINS], *self.found.settings)
            }.values()
        )

    def progress_made(self, values: dict) -> Progress:
        """How far these runs are."""
        return progress_of(self.found, values)

    def numbers(self, asked: Asked) -> tuple[Shown, Shown]:
        """What both cards show of these runs."""
        return frontier_of(asked), overtaking_of(asked)

    def show(self, found: tuple[Shown, Shown] | None, error: Exception | None) -> None:
        """Shows the numbers, or why there are none."""
        for at, card in enumerate(self.shown.values()):
            card.show(found[at] if found else None, error)

    def n_started_by(self, values: dict) -> int:
        """How many runs Start makes."""
        return n_wanted(values)

    def make_runs(self, values: dict) -> tuple[int, str]:
        """Starts them; returns how many, and a sentence."""
        return start(self.store, values, self.found)

    def cards(self) -> list:
        """The two cards beside the form."""
        first, second = self.shown.values()
        return [
            column(
                text("<h2>Cost and distance</h2>"),
                first.said,
                self.progress,
                first.results,
                kind="wb-card",
            ),
            column(
                text("<h2>Where hybrids overtake</h2>"), second.said, second.results, kind="wb-card"
            ),
        ]

    def _make(self, card: "Card", form: str, columns: int = 1):
        return partial(results_file, self._asked, card is self.shown["overtaking"], form, columns)


class Card:
    """What is said, the figure, the table and the downloads of one card."""

    def __init__(self, handover: Handover, make):
        self.said, self.figure = (
            text(sizing_mode="stretch_width"),
            text(sizing_mode="stretch_width"),
        )
        self.table = text("", "comparison.css", sizing_mode="stretch_width")
        files = Downloads(
            handover,
            {"CSV": lambda: make(self, "csv")},
            {form.upper(): partial(make, self, form) for form in ("svg", "pdf", "png")},
        )
        self.results = column(
            self.figure,
            self.table,
            *files.row("Download", "download the numbers"),
            kind="wb-stack",
            visible=False,
        )

    def show(self, found: Shown | None, error: Exception | None) -> None:
        """Shows what was found, or why nothing was."""
        found = found or Shown("", "", "", None)
        self.said.object = found.said if error is None else message(sentence_of(error), "bad")
        self.figure.object, self.table.object, self.results.visible = (
            found.figure,
            found.table,
            bool(found.figure),
        )


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: FrontierPage(default_store()).view())


def _fields() -> dict[str, Field]:
    """The fields of the form by their names in a link."""
    usual, reading, single = defaults() | USUAL, reading_fields(), single_fields()
    numbers = {
        name: number_field(name, usual[name])
        for name in ("n_iterations", "seeds", "holdout", "jobs")
    }
    model = {name: number_field(name, usual[name]) for name in ("n_topics", "alpha", "beta")}
    return {
        "corpus": Menu("Corpus", corpora(), DEFAULT, wide=True),
        "path": Field(
            "Path of the corpus",
            placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt",
            wide=True,
        ),
        **{name: reading[name] for name in ALWAYS},
        "engine": Menu(
            "Hybrid",
            {name: name for name in hybrids()},
            hybrids()[0],
            "the engine whose r is varied; cgs runs beside it with the same seeds",
        ),
        "r": Values(
            "r",
            USUAL["r"],
            "the tokens of a word that a document has at most so often are sampled, those of others "
            "averaged; 0: none is sampled, inf: all are",
            infinite=True,
            wide=True,
        ),
        "n_chains": Values(
            "Chains S",
            USUAL["n_chains"],
            "samples of the tokens per iteration; several values separated by commas",
            whole=True,
        ),
        "split": Menu(
            "Split",
            SPLITS,
            "",
            "adaptive-cgs with as many updates chooses by itself what is sampled",
            wide=True,
        ),
        **model,
        **numbers,
        "cost": Menu(
            "Cost",
            NAMES,
            "cpu_time",
            "what settings are compared by: CPU seconds of inference on this machine, or "
            "updates of single tokens and pairs",
        ),
        "reference": Number(
            "Iterations of the reference",
            None,
            f"of each of the {CHAINS} chains of cgs that all others are set against; "
            f"empty: {LONGER} times as many as of the runs",
            placeholder=f"{LONGER} × iterations",
            wide=True,
        ),
        **{name: single[name] for name in ("top_words", "singletons", "repeat", "merge")},
    }
