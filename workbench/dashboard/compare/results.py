"""The card *Settings and results*: how a result depends on the settings, over the runs in the table."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import panel as pn

from workbench.dashboard.compare.run_cards import looked_at
from workbench.dashboard.compare.table import called, is_setting
from workbench.dashboard.shared.card import Card, Shown
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Offers
from workbench.dashboard.shared.link import QueryParameter, widget_parameter
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import labelled, message, styled
from workbench.measures.selection import labels_of_specs
from workbench.runs.store.status import FINISHED
from workbench.views.every import view_named
from workbench.views.settings_results import Result, settings_picture

RESULTS = {
    "Held-out perplexity": "test_perplexity",
    "Training perplexity": "train_perplexity",
    "Bound per training token": "bound_per_token",
    "Seconds of inference": "elapsed",
    "Topics with a token": "n_active_topics",
    "Site updates": "updates",
}
"""Name on the card → column of a reading."""
EVERY = "All that runs of an engine differ in"
NOTHING = "Runs that differ in a setting are compared here."
UNFINISHED = "Runs that have not finished are left out: {}."


class Results(Card):
    """The card *Settings and results*: a panel for the chosen setting, or for each setting in which the runs differ."""

    def __init__(self, handover: Handover):
        self.setting = Offers("Setting", EVERY, called)
        self.result = styled(pn.widgets.Select(label="Result", options=RESULTS, width=230))
        super().__init__(
            "Settings and results", handover, labelled(self.setting), labelled(self.result)
        )

    def follow(self, readings: Iterable[Reading], settings: Iterable[str], data: str = "") -> None:
        """Show these runs; ``settings`` are those in which runs differ, and ``data`` names the data."""
        self.setting.offer(settings)
        seen = [one for one in readings if one.spec is not None and len(one.numbers)]
        key = looked_at(seen), self.setting.value, self.result.value, data
        self.bring(key, partial(results_of, seen, *key[1:]))

    def parameters(self) -> dict[str, QueryParameter]:
        """Return the query parameters of the page's address for the chosen setting and the chosen result."""
        return {
            "settings": self.setting.parameter(is_setting),
            "result": widget_parameter(self.result),
        }


def results_of(readings: list[Reading], setting: str, measure: str, data: str = "") -> Shown:
    """Return the picture of the result against the settings, for the runs that finished and recorded the measure."""
    finished = [one for one in readings if one.state == FINISHED]
    said = message(UNFINISHED.format(n)) if (n := len(readings) - len(finished)) else ""
    column, labels = COLUMNS.index(measure), labels_of_specs([one.spec for one in finished])
    results = [
        Result(label, one.name, one.spec, float(one.latest[column]))
        for label, one in zip(labels, finished, strict=True)
        if math.isfinite(one.latest[column])
    ]
    picture = settings_picture(
        view_named("settings"), results, measure, [setting] if setting else []
    )
    if picture is None:
        return Shown(message(NOTHING) + said)
    if data:
        picture = replace(picture, caption=f"On {data}. {picture.caption}")
    return Shown(said, picture, "", tuple(one.path for one in finished))
