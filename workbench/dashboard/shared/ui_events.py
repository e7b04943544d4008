"""Work at a turn of a session: with its lock, and all that it changes told to the browser in one message."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import WeakSet

from bokeh.document.events import ColumnDataChangedEvent, DocumentPatchedEvent
from bokeh.events import DocumentReady

DRAWN: WeakSet = WeakSet()
"""The documents that their browsers have drawn."""


def when_drawn(document, work: Callable[[], None]) -> None:
    """Does the work, with the session's lock, once the browser has drawn the page.

    Not earlier: a menu or a text that is changed before the browser has drawn it is an error there. And what Panel is told
    to change after the browser has asked for the document and before it says that it has drawn it, never gets there.
    """
    once = [work]

    def drawn(event) -> None:
        DRAWN.add(document)
        if once:
            once.pop()()

    document.on_event(DocumentReady, drawn)


def with_lock(document, work: Callable[[], None]) -> None:
    """Does the work at the session's next turn, with its lock; without a session at once.

    Panel calls a widget's watchers without the lock. That does for Panel's own objects; Bokeh's models (the
    figure) then refuse the change whenever a tick happens to be under way.
    """
    if document is None or document.session_context is None:
        work()
    elif document in DRAWN:
        document.add_next_tick_callback(partial(in_one_message, document, work))
    else:
        when_drawn(document, partial(in_one_message, document, work))


def in_one_message(document, work: Callable[[], None]) -> None:
    """Does the work, and sends what it changes when it is done; to be called with the session's lock.

    Bokeh sends a message for each property, which for a click that moves every curve took three times as long as the
    work. Panel's `hold` sends one, but loses it until the next where two meet at a socket that is busy.

    Only then is told what a model holds: data of one source must not be replaced and then streamed to in one work. What
    replaces data goes first: a glyph that the browser changes before takes the old number of rows to the new data.
    Python's callbacks of Bokeh's models are not told of what the work changes.
    """
    callbacks, session = document.callbacks, document.session_context.session
    document.hold("combine")
    try:
        work()
    finally:
        changes = [event for event in callbacks._held_events if isinstance(event, DocumentPatchedEvent)]
        callbacks._held_events = [event for event in callbacks._held_events if not isinstance(event, DocumentPatchedEvent)]
        document.unhold()  # what else there is, such as work for the next turn
        replaced = {event.model.id: event for event in changes if _replaces_data(event)}
        changes = [*replaced.values(), *(event for event in changes if not _replaces_data(event))]
        for connection in session._subscribed_connections if changes else ():
            message = connection.protocol.create("PATCH-DOC", changes)
            session._pending_writes.append(connection._socket.send_message(message))


def _replaces_data(event) -> bool:
    """Is all of the data of a source replaced, rather than some columns?"""
    return isinstance(event, ColumnDataChangedEvent) and event.cols is None
