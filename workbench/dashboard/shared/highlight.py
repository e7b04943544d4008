"""One run lifted out of the others wherever it is seen: in the figure, its legend, the tables and the trees.

All of it happens in the browser (`highlight.js`): nothing is asked of the server, and nothing is told to it, so files of
the figure know nothing of it.
"""

from __future__ import annotations

from html import escape

import panel as pn
import param

from workbench.dashboard.shared.shell import SCRIPTS


class Highlight(pn.custom.JSComponent):
    """Lifts the run that is pointed at, that has the focus, or that was clicked; Escape or a second click lets go.

    A part of the page takes part by the attribute ``data-run`` (a run) or ``data-runs`` (see `data_runs`).
    """

    slots = param.List(doc="The runs of each slot of the figure, in the order of its legend.")
    said = param.List(doc="What the legend says of each slot.")

    _esm = SCRIPTS / "highlight.js"

    def show(self, slots: list[list[str]], said: list[str]) -> None:
        """Brings it to what is drawn; nothing is sent when nothing has changed."""
        if slots != self.slots or said != self.said:
            self.param.update(slots=slots, said=said)


def data_runs(names) -> str:
    """The attribute of an HTML element that stands for these runs."""
    return f'data-runs="{escape(chr(10).join(names))}"'
