"""The card *Settings and results*: how a result depends on the settings, over the runs in the table."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import panel as pn

from workbench.dashboard.compare.run_cards import run_iterations
from workbench.dashboard.compare.table import is_setting, setting_label
from workbench.dashboard.shared.card import Card, CardContent
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Offers
from workbench.dashboard.shared.link import QueryParameter, widget_parameter
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import message, styled, with_label
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
        self.setting = Offers("Setting", EVERY, setting_label)
        self.result = styled(pn.widgets.Select(label="Result", options=RESULTS, width=230))
        super().__init__(
            "Settings and results", handover, with_label(self.setting), with_label(self.result)
        )

    def follow(self, readings: Iterable[Reading], settings: Iterable[str], data: str = "") -> None:
        """Show these runs; ``settings`` are those in which runs differ, and ``data`` names the data."""
        self.setting.offer(settings)
        readings_with_numbers = [
            reading for reading in readings if reading.spec is not None and len(reading.numbers)
        ]
        key = run_iterations(readings_with_numbers), self.setting.value, self.result.value, data
        self.bring(key, partial(results_card, readings_with_numbers, *key[1:]))

    def parameters(self) -> dict[str, QueryParameter]:
        """Return the query parameters of the page's address for the chosen setting and the chosen result."""
        return {
            "settings": self.setting.parameter(is_setting),
            "result": widget_parameter(self.result),
        }


def results_card(
    readings: list[Reading], setting: str, measure: str, data: str = ""
) -> CardContent:
    """Return the picture of the result against the settings, for the runs that finished and recorded the measure."""
    finished_readings = [reading for reading in readings if reading.state == FINISHED]
    note = message(UNFINISHED.format(n)) if (n := len(readings) - len(finished_readings)) else ""
    column, labels = (
        COLUMNS.index(measure),
        labels_of_specs([reading.spec for reading in finished_readings]),
    )
    results = [
        Result(label, reading.name, reading.spec, float(reading.latest[column]))
        for label, reading in zip(labels, finished_readings, strict=True)
        if math.isfinite(reading.latest[column])
    ]
    picture = settings_picture(
        view_named("settings"), results, measure, [setting] if setting else []
    )
    if picture is None:
        return CardContent(message(NOTHING) + note)
    if data:
        picture = replace(picture, caption=f"On {data}. {picture.caption}")
    return CardContent(note, picture, "", tuple(reading.path for reading in finished_readings))
