"""When a session may change its page: once the browser has drawn it, and while holding the lock of the document."""

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from bokeh.document import Document
from bokeh.document.events import (
    ColumnDataChangedEvent,
    ColumnsPatchedEvent,
    ColumnsStreamedEvent,
    DocumentPatchedEvent,
    ModelChangedEvent,
)
from bokeh.events import DocumentReady
from bokeh.server.connection import ServerConnection
from panel.io.document import dispatch_tornado
from tornado.websocket import WebSocketClosedError

DRAWN: WeakSet[Document] = WeakSet()
"""The documents that a browser has drawn."""
DATA = (ColumnDataChangedEvent, ColumnsStreamedEvent, ColumnsPatchedEvent)
UNSENT: WeakKeyDictionary[ServerConnection, list[DocumentPatchedEvent]] = WeakKeyDictionary()
"""The changes that each browser is still to get."""


def when_drawn(document: Document, work: Callable[[], None]) -> None:
    """Do the work, holding the session's lock, once the browser has drawn the page.

    Before that, changing a menu or a text causes an error in the browser, and changes made after the browser has asked for the
    document and before it reports it drawn are lost.
    """
    once = [work]

    def drawn(event: DocumentReady) -> None:
        DRAWN.add(document)
        if once:
            once.pop()()

    document.on_event(DocumentReady, drawn)


def with_lock(document: Document | None, work: Callable[[], None]) -> None:
    """Do the work at the session's next event, holding its lock; without a session, at once.

    Panel calls a widget's watchers without the lock. That suffices for Panel's own objects, but Bokeh's models (the figure)
    refuse the change if a tick is in progress.
    """
    if document is None or document.session_context is None:
        work()
    elif document in DRAWN:
        document.add_next_tick_callback(work)
    else:
        when_drawn(document, work)


def send_in_one_message() -> None:
    """Let Bokeh send all changes that are made under a session's lock as one message, not one for each property.

    A message is made after the work, from what the models then hold: data of a source must not be replaced and then streamed to
    in one work. A second call of this function changes nothing.
    """
    ServerConnection.send_patch_document = _send_together


class _Sending(NamedTuple):
    """Awaiting this sends a browser the changes that it is still to get, if there are any."""

    connection: ServerConnection

    def __await__(self) -> Generator:
        return self._send().__await__()

    async def _send(self) -> None:
        if self.connection not in UNSENT:
            return
        # Made and written at once: messages arrive in the order in which they were made, those of Panel too.
        with await self.connection._socket.write_lock.acquire():
            changes = _in_order(UNSENT.pop(self.connection, []))
            written = dispatch_tornado(self.connection, changes)
        with suppress(WebSocketClosedError):
            for part in written:
                await part


def _send_together(self, event: DocumentPatchedEvent) -> _Sending:
    """Return what sends a change and all others that there are by then; ``self`` is the connection.

    Bokeh awaits what this returns when the work is done, still holding the lock.
    """
    UNSENT.setdefault(self, []).append(event)
    return _Sending(self)


def _in_order(changes: list[DocumentPatchedEvent]) -> list[DocumentPatchedEvent]:
    """Return the changes that a browser is to get, with replaced data first.

    A glyph that the browser changes before its data are replaced takes the old number of rows for the new data. Left out are
    changes of models that have left the page since, which the browser may not know any more, and of data of sources that it has
    yet to get, which come whole.
    """
    known = changes[0].document.models.synced_references if changes else set()
    there = [
        each
        for each in changes
        if not isinstance(each, (ModelChangedEvent, *DATA)) or each.model.document is each.document
    ]
    kept = [each for each in there if not isinstance(each, DATA) or each.model in known]
    return sorted(kept, key=lambda each: not (isinstance(each, DATA[0]) and each.cols is None))
