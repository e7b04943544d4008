"""The card *Settings and results*: what settings have to do with a result, over the runs that the table shows.

The browser draws it (`results.js`) from the rows that the table has found, so that nothing more is sent.
"""

import panel as pn
import param

from workbench.dashboard.compare.table import called, is_setting
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.link import Part, attribute_part
from workbench.dashboard.shared.shell import column, text

RESULTS = {
    "held_out": "Held-out perplexity",
    "training": "Training perplexity",
    "bound": "Bound per training token",
    "time": "Seconds of inference",
    "topics": "Topics with a token",
    "updates": "Site updates",
}
"""Number of a row of the table → what the card calls it."""
TITLES = {"engine": "Engine", "corpus": "Corpus"}
"""What settings are called in which runs may always differ."""


class Results(Drawn):
    """The picture. Of one setting it is a point for each run against it, of several a line for each run through all."""

    settings = param.List(
        doc="The settings that are drawn; empty: the first in which the runs differ."
    )
    result = param.Selector(
        default="held_out", objects=list(RESULTS), doc="What they are drawn against."
    )
    results = param.Dict(default=RESULTS, constant=True, doc="Each result → what it is called.")
    titles = param.Dict(default=TITLES, doc="Setting → what it is called.")

    _esm = code("finding", "results")
    _stylesheets = style("results")

    def call(self, settings: dict[str, str]) -> None:
        """Takes what the settings are called in which runs differ."""
        self.titles = TITLES | settings

    def parts(self) -> dict[str, Part]:
        """Settings and result as parts of the address."""

        def take(given: str) -> bool:
            names = [name for name in given.split(",") if name]
            if fits := all(map(is_setting, names)):
                self.settings, self.titles = (
                    names,
                    self.titles | {name: called(name) for name in names},
                )
            return fits

        return {
            "settings": Part(lambda: ",".join(self.settings), "", take),
            "result": Part(lambda: self.result, "held_out", attribute_part(self, "result").take),
        }

    def view(self) -> pn.Column:
        """The card."""
        return column(text("<h2>Settings and results</h2>"), self, kind="wb-card")
