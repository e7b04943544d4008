"""One run highlighted wherever it is visible: in the figure, its legend, the tables and the tree.

All of it happens in the browser (`highlight.js`); the server is not involved, and files of the figure have no highlight.
"""

from html import escape

import panel as pn
import param

from workbench.dashboard.shared.shell import SCRIPTS


class Highlight(pn.custom.JSComponent):
    """Highlights the run that is pointed at, has the focus or was clicked; Escape or a second click ends it.

    An element belongs to a run by the attribute ``data-run`` (a run) or ``data-runs`` (see `data_runs`).
    """

    slots = param.List(doc="The runs of each slot of the figure, in the order of its legend.")
    said = param.List(doc="Label of each slot in the legend.")

    _esm = SCRIPTS / "highlight.js"

    def show(self, slots: list[list[str]], said: list[str]) -> None:
        """Sets the runs that are drawn; nothing is sent when nothing has changed."""
        if slots != self.slots or said != self.said:
            self.param.update(slots=slots, said=said)


def data_runs(names) -> str:
    """The attribute of an HTML element that stands for these runs."""
    return f'data-runs="{escape(chr(10).join(names))}"'
