"""Work that a session does at an event: with its lock, and with all changes sent to the browser in one message."""

from collections.abc import Callable
from functools import partial
from weakref import WeakSet

from bokeh.document.events import ColumnDataChangedEvent
from bokeh.events import DocumentReady

from workbench.dashboard.shared.private_api import send_in_one_message, take_held_changes

DRAWN: WeakSet = WeakSet()
"""The documents that their browsers have drawn."""


def when_drawn(document, work: Callable[[], None]) -> None:
    """Does the work, with the session's lock, once the browser has drawn the page.

    Not earlier: a menu or a text that is changed before the browser has drawn it is an error there, and what is changed
    after the browser has asked for the document and before it reports it drawn never gets there.
    """
    once = [work]

    def drawn(event) -> None:
        DRAWN.add(document)
        if once:
            once.pop()()

    document.on_event(DocumentReady, drawn)


def with_lock(document, work: Callable[[], None]) -> None:
    """Does the work at the session's next event, with its lock; without a session at once.

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

    A message is made after the work, from what the models hold then: data of one source must not be replaced and then
    streamed to in one work. What replaces data goes first: a glyph that the browser changes before applies the old number of
    rows to the new data. Python's callbacks of Bokeh's models are not called for what the work changes.
    """
    document.hold("combine")
    try:
        work()
    finally:
        changes = take_held_changes(document)
        document.unhold()  # what else there is, such as work for the next event
        replaced = {event.model.id: event for event in changes if _replaces_data(event)}
        changes = [*replaced.values(), *(event for event in changes if not _replaces_data(event))]
        send_in_one_message(document.session_context.session, changes)


def _replaces_data(event) -> bool:
    """Is all of the data of a source replaced, rather than some columns?"""
    return isinstance(event, ColumnDataChangedEvent) and event.cols is None
