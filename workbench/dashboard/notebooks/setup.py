"""Helpers of views in notebooks: load Panel into the page from no other host, and send changes to the browser.

Reasons, and the faults of Panel that are mended here: docs/decisions/notebook_views.md.
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
    """The output of a notebook cell; events of its widgets are handled on the loop of the kernel, like its regular updates.

    JupyterLab handles widget events in threads of their own ("comms over subshells"), which would mix their messages with those
    of a tick and change Bokeh's models meanwhile. Changes are applied before the clicks of the same message: Panel holds the
    changes of a message until its end, and what a click sends would discard them.
    """

    def __init__(self, *components, kind: str):
        super().__init__(
            *components,
            css_classes=[*kind.split(), "wb-notebook"],
            stylesheets=[LAYOUT_CSS, NOTEBOOK_CSS],
            margin=0,
            sizing_mode="stretch_width",
        )
        self._loop = None
        self._comm_of_document: dict[Document, Comm] = {}

    def get_root(self, doc: Document | None = None, comm: Comm | None = None, preprocess=True):
        """Return the Bokeh model of the cell, and store the comm that its changes are sent through."""
        if doc is not None and comm is not None:
            self._comm_of_document[doc] = comm
        return super().get_root(doc, comm, preprocess)

    @property
    def is_shown(self) -> bool:
        """Return whether the view is displayed in the output of some cell; Panel does not report that an output is gone."""
        return bool(self._models)

    def send_changes(self) -> None:
        """Send the changes of Bokeh's models; Panel sends all other changes by itself."""
        for document, comm in self._comm_of_document.items() if self.is_shown else ():
            send_changes(document, comm)

    def _repr_mimebundle_(self, include=None, exclude=None):
        load_panel()
        self._loop = IOLoop.current()
        return super()._repr_mimebundle_(include, exclude)

    def _on_msg(self, ref: str, manager, msg) -> None:
        for _, events in groupby(
            msg["content"]["events"], lambda event: event["kind"] == "MessageSent"
        ):
            message = msg | {"content": msg["content"] | {"events": list(events)}}
            self._loop.add_callback(super()._on_msg, ref, manager, message)


def load_panel() -> None:
    """Put the scripts that a view needs into the output of this cell, unless the output of another cell has them.

    A cell that is executed again has lost its output, and so may a page that was loaded again: then they are put in again, or
    the view would stay blank.
    """
    from IPython.display import publish_display_data
    from IPython.utils.capture import capture_output

    cell = sys.modules["IPython"].get_ipython().get_parent().get("metadata", {}).get("cellId")
    if not _SHOWN_BY:
        # if HoloViews is loaded, this assumes that the page has all scripts; its output may be hidden
        with capture_output():
            pn.extension(inline=True)
    if not _SHOWN_BY or cell in _SHOWN_BY:
        pn.io.notebook.load_notebook(inline=True)
    _SHOWN_BY.add(cell)
    publish_display_data({pn.io.notebook.LOAD_MIME: MEND, "application/javascript": MEND})


def changes_of(document: Document) -> list[DocumentPatchedEvent]:
    """Return the changes of a document that are held back, not yet sent.

    Panel would send them in binary form and too fast. ``unhold`` would also call the callbacks of Bokeh's models, which take
    them for changes by the visitor.
    """
    return list(document.callbacks._held_events)


def send_changes(document: Document, comm: Comm) -> None:
    """Send the held changes of a document displayed in a notebook: each change of data in a message of its own.

    Bokeh reads data in several steps, and fails if they become shorter meanwhile, as they may within one message. The messages
    are text and few: a binary one needs two more for each column, and messages that come too fast are lost.
    """
    for _, group in groupby(
        enumerate(changes_of(document)), lambda pair: pair[0] if isinstance(pair[1], DATA) else -1
    ):
        patch = diff(document, binary=False, events=[change for _, change in group])
        if patch is not None:
            pn.io.notebook.push(document, comm, binary=False, msg=patch)
