"""When a session may change its page: once the browser has drawn it, and with the lock of its document."""

from collections.abc import Callable
from weakref import WeakSet

from bokeh.document import Document
from bokeh.events import DocumentReady

DRAWN: WeakSet[Document] = WeakSet()
"""The documents that their browsers have drawn."""


def when_drawn(document: Document, work: Callable[[], None]) -> None:
    """Do the work, with the session's lock, once the browser has drawn the page.

    Not earlier: a menu or a text that is changed before the browser has drawn it is an error there, and what is changed
    after the browser has asked for the document and before it reports it drawn never gets there.
    """
    once = [work]

    def drawn(event: DocumentReady) -> None:
        DRAWN.add(document)
        if once:
            once.pop()()

    document.on_event(DocumentReady, drawn)


def with_lock(document: Document | None, work: Callable[[], None]) -> None:
    """Do the work at the session's next event, with its lock; without a session at once.

    Panel calls a widget's watchers without the lock. That does for Panel's own objects; Bokeh's models (the
    figure) then refuse the change whenever a tick happens to be under way.
    """
    if document is None or document.session_context is None:
        work()
    elif document in DRAWN:
        document.add_next_tick_callback(work)
    else:
        when_drawn(document, work)
