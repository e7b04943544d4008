"""What a view needs in a notebook: whether there is one, Panel in its page without another host, and a way to send changes.

Why it is so, and what of Panel is mended: docs/decisions/notebook_views.md.
"""

import sys
from itertools import groupby

import panel as pn
from bokeh.document import Document
from bokeh.document.events import (
    ColumnDataChangedEvent,
    ColumnsStreamedEvent,
    DocumentPatchedEvent,
)
from panel.io.model import diff
from pyviz_comms import Comm
from tornado.ioloop import IOLoop

from workbench.dashboard.shared.shell import LAYOUT_CSS, NAMES, NOTEBOOK_CSS, SCRIPTS

MEND = NAMES + (SCRIPTS / "notebook.js").read_text(encoding="utf-8")
DATA = (ColumnDataChangedEvent, ColumnsStreamedEvent)
_SHOWN_BY: set[str | None] = set()
"""The cells that have shown a view."""


class Cell(pn.Column):
    """The output of a cell. Events of its widgets are handled on the kernel's loop, where its ticks are.

    JupyterLab handles them in threads of their own ("comms over subshells"), which would mix their messages with those of a
    tick and change Bokeh's models meanwhile. Changes are taken in before the clicks of the same message: Panel holds the
    changes of a message until its end, and what a click sends would throw them away.
    """

    def __init__(self, *parts, kind: str):
        super().__init__(
            *parts,
            css_classes=[*kind.split(), "wb-notebook"],
            stylesheets=[LAYOUT_CSS, NOTEBOOK_CSS],
            margin=0,
            sizing_mode="stretch_width",
        )
        self._loop = None
        self._places: dict[Document, Comm] = {}

    def get_root(self, doc: Document | None = None, comm: Comm | None = None, preprocess=True):
        """Return the Bokeh model of the cell, and keep what its changes are sent with."""
        if doc is not None and comm is not None:
            self._places[doc] = comm
        return super().get_root(doc, comm, preprocess)

    @property
    def is_shown(self) -> bool:
        """Return whether the output of some cell has this. Panel reports nowhere else that an output is gone."""
        return bool(self._models)

    def send_changes(self) -> None:
        """Send what has changed in Bokeh's models; Panel sends the rest by itself."""
        for document, comm in self._places.items() if self.is_shown else ():
            send_changes(document, comm)

    def _repr_mimebundle_(self, include=None, exclude=None):
        load_panel()
        self._loop = IOLoop.current()
        return super()._repr_mimebundle_(include, exclude)

    def _on_msg(self, ref: str, manager, msg) -> None:
        for _, events in groupby(
            msg["content"]["events"], lambda event: event["kind"] == "MessageSent"
        ):
            part = msg | {"content": msg["content"] | {"events": list(events)}}
            self._loop.add_callback(super()._on_msg, ref, manager, part)


def load_panel() -> None:
    """Puts what draws a view into the output of this cell, unless another cell's has it.

    A cell that is executed again has lost its output, and so may a page that was loaded again: there it is put again,
    or the view would stay blank.
    """
    from IPython.display import publish_display_data
    from IPython.utils.capture import capture_output

    cell = sys.modules["IPython"].get_ipython().get_parent().get("metadata", {}).get("cellId")
    if not _SHOWN_BY:
        # beside HoloViews it trusts that the page has everything, and its output may be hidden
        with capture_output():
            pn.extension(inline=True)
    if not _SHOWN_BY or cell in _SHOWN_BY:
        pn.io.notebook.load_notebook(inline=True)
    _SHOWN_BY.add(cell)
    publish_display_data({pn.io.notebook.LOAD_MIME: MEND, "application/javascript": MEND})


def changes_of(document: Document) -> list[DocumentPatchedEvent]:
    """Return the changes that a document holds: what Panel sends itself is binary and too fast.

    ``unhold`` would call the callbacks of Bokeh's models too, which take changes for those of a reader's hand.
    """
    return list(document.callbacks._held_events)


def send_changes(document: Document, comm: Comm) -> None:
    """Send what has changed in a document that is displayed in a notebook: each change of data alone, others together.

    Bokeh reads data in several steps, and fails where they become shorter meanwhile, as they may within one message. As
    text and in few messages: in binary every column would be two more, and what comes too fast is lost on the way.
    """
    for _, together in groupby(
        enumerate(changes_of(document)), lambda one: one[0] if isinstance(one[1], DATA) else -1
    ):
        patch = diff(document, binary=False, events=[change for _, change in together])
        if patch is not None:
            pn.io.notebook.push(document, comm, binary=False, msg=patch)
