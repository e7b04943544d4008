"""What the tests of the tabs of the Sweep page share."""

import re

from workbench.dashboard.shared.run_monitor import RunMonitor


def listed(store):
    """Return the runs of a store, newest first."""
    return RunMonitor(store).look().readings if store.exists() else ()


def plain(text) -> str:
    """Return the text of a sentence of the page."""
    return re.sub("<[^>]*>", " ", text.object).strip()
