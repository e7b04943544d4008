"""What the tests of the tabs of the Sweep page share."""

import re

from workbench.dashboard.shared.run_monitor import RunMonitor


def listed(store):
    """Return the runs of a store, newest first."""
    return RunMonitor(store).look().readings if store.exists() else ()


def start(asked, store) -> tuple[int, str]:
    """Start the runs of a request; return their number and the sentence about them."""
    started = asked.begin(store, asked.find(listed(store)))
    return len(started.runs), started.sentence


def plain(text) -> str:
    """Return the text of a sentence of the page."""
    return re.sub("<[^>]*>", " ", text.object).strip()
