"""When a session may change its page: once the browser has drawn it, and while holding the lock of the document."""

from collections.abc import Callable
from weakref import WeakSet

from bokeh.document import Document
from bokeh.events import DocumentReady

DRAWN: WeakSet[Document] = WeakSet()
"""The documents that a browser has drawn."""


def when_drawn(document: Document, work: Callable[[], None]) -> None:
    """Do the work, holding the session's lock, once the browser has drawn the page.

    Before that, changing a menu or a text causes an error in the browser, and changes made after the browser has asked for the
    document and before it reports it drawn are lost.
    """
    tasks = [work]

    def on_ready(event: DocumentReady) -> None:
        DRAWN.add(document)
        if tasks:
            tasks.pop()()

    document.on_event(DocumentReady, on_ready)


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
