"""The Choose K page: runs that differ in K and seed, started from here, and the K that is recommended."""

from functools import partial
from pathlib import Path

import panel as pn

from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.choose_k.results import NOTHING, Shown, points_of, results_file, shown_of
from workbench.dashboard.choose_k.sweeping import (
    engines,
    mistakes,
    progress_of,
    runs_of,
    start_sweep,
    values_of,
)
from workbench.dashboard.compare.fields import corpora, defaults, number_field, reading_fields
from workbench.dashboard.compare.settings import ALWAYS
from workbench.dashboard.compare.starting import describe_sweep, n_runs, paces
from workbench.dashboard.compare.wording import LABELS
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.downloads import Downloads
from workbench.dashboard.shared.run_monitor import Listing, Reading
from workbench.dashboard.shared.shell import column, message, page_or_sentence, text
from workbench.dashboard.shared.values import Field, Menu, Values
from workbench.dashboard.sweeps.page import SweepPage
from workbench.dashboard.sweeps.progress import Progress
from workbench.runs.execution import warm_sweep
from workbench.runs.execution.run import default_store
from workbench.runs.settings import DEFAULT_ENGINE

NUMBERS = ("n_iterations", "seeds", "holdout", "jobs")
SEEDS, TOPICS = 3, "5, 10, 20, 40"
"""As many seeds as give an error, and numbers of topics to begin with."""
WARM = (
    "begin each number of topics from the runs of the next smaller one: fewer iterations are needed, but a bad start is handed "
    "on, and one number waits for the other"
)


class ChooseKPage(SweepPage):
    """The page of one visitor: runs that differ in K and seed."""

    name, said_of, heading = "choose-k", "how many topics", "Runs to choose from"

    def __init__(self, store: Path):
        self.advice = text(sizing_mode="stretch_width")
        self.figure, self.table = (
            text(sizing_mode="stretch_width"),
            text("", "comparison.css", sizing_mode="stretch_width"),
        )
        self.runs: list[Reading] = []  # those of the form, by K and seed
        super().__init__(store, _fields())
        self.files = Downloads(
            self.handover,
            {"CSV": partial(self._make, "csv")},
            {form.upper(): partial(self._make, form) for form in ("svg", "pdf", "png")},
        )
        download = self.files.row("Download", "download the numbers by K")
        self.results = column(self.figure, self.table, *download, kind="wb-stack", visible=False)

    def settings(self, read: dict) -> dict:
        """What the fields say, as settings of the sweep."""
        return values_of(read)

    def mistakes(self, values: dict) -> dict[str, str]:
        """Setting → what is wrong with it."""
        return mistakes(values)

    def look(self, listing: Listing, values: dict | None) -> str:
        """Takes the runs of the form from a listing; returns what would be started, in words."""
        self.runs = [] if values is None else runs_of(listing.readings, values)
        if values is None:
            self._asked = points_of([]), "", ()
            return ""
        self._asked = (
            points_of(self.runs),
            values["engine"] + " warm" * values["warm"],
            tuple(values["n_topics"]),
        )
        return describe_sweep(values, paces(listing.readings))

    def runs_shown(self) -> list[Reading]:
        """All runs of the form that are there."""
        return self.runs

    def progress_made(self, values: dict) -> Progress:
        """How far these runs are."""
        return progress_of(self.runs, values, self._listing.readings)

    def goes_on(self, values: dict) -> bool:
        """Is a warm sweep at work on these runs?"""
        return values["warm"] and bool(
            {one.name for one in self.runs} & warm_sweep.at_work(self.store)
        )

    def stoppable(self, values: dict) -> list[Reading]:
        """The runs that Stop asks: of a warm sweep all, since each begins the next."""
        return self.runs if values["warm"] else super().stoppable(values)

    def await_numbers(self, asked: tuple) -> None:
        """Says that they are being computed, where there are runs and no numbers yet."""
        if asked[0] and not self.table.object:
            self.advice.object = message("The numbers of the runs are being computed …")

    def numbers(self, asked: tuple) -> Shown:
        """What the card shows of these runs."""
        return shown_of(*asked)

    def show(self, found: Shown | None, error: Exception | None) -> None:
        """Shows the numbers, or why there are none."""
        found = found or NOTHING
        self.advice.object = found.advice if error is None else message(sentence_of(error), "bad")
        self.figure.object, self.table.object, self.results.visible = (
            found.figure,
            found.table,
            bool(found.table),
        )

    def n_started_by(self, values: dict) -> int:
        """How many runs Start makes."""
        return n_runs(values)

    def make_runs(self, values: dict) -> tuple[int, str]:
        """Starts them; returns how many, and a sentence."""
        return start_sweep(self.store, values)

    def cards(self) -> list:
        """The one card beside the form."""
        return [
            column(
                text("<h2>Recommended K</h2>"),
                self.advice,
                self.progress,
                self.results,
                kind="wb-card choose-k",
            )
        ]

    def _make(self, form: str, columns: int = 1):
        return partial(results_file, *self._asked, form, columns)


def page() -> pn.Column:
    """The page for one visitor, of the store that WORKBENCH_STORE names."""
    return page_or_sentence(lambda: ChooseKPage(default_store()).view())


def _fields() -> dict[str, Field]:
    """The fields of the form by their names in a link."""
    numbers = {
        name: number_field(name, value)
        for name, value in (defaults() | {"seeds": SEEDS}).items()
        if name in NUMBERS
    }
    reading = reading_fields()
    return {
        "corpus": Menu("Corpus", corpora(), DEFAULT, wide=True),
        "path": Field(
            "Path of the corpus",
            placeholder="docword.….txt.gz, .csv, .jsonl, folder of .txt",
            wide=True,
        ),
        **{name: reading[name] for name in ALWAYS},
        "engine": Menu(
            "Engine",
            {name: name for name in engines()},
            DEFAULT_ENGINE,
            f"the engine of all runs; {DEFAULT_ENGINE} is a good first choice",
        ),
        "n_topics": Values(
            LABELS["n_topics"],
            TOPICS,
            "numbers of topics to compare, separated by commas",
            whole=True,
            wide=True,
        ),
        **numbers,
        "warm": Menu("Warm starts", {"no": False, "yes": True}, False, WARM),
    }
