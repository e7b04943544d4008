"""All that is done with private parts of Panel and Bokeh, each with the reason why no public part serves.

The minor versions of both are pinned in pyproject.toml; raise them only where tests/dashboard and tests/browser pass.
"""

import contextvars
from collections.abc import Iterable, Iterator

import panel as pn
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.document.events import DocumentPatchedEvent
from bokeh.server.connection import ServerConnection

NOT_HANDLED = "the server could not handle this; its log says why"


def held_changes(document) -> list:
    """The changes of a document that is on hold: Panel holds those of a notebook, and sends them in binary and too fast."""
    return list(document.callbacks._held_events)


def take_held_changes(document) -> list[DocumentPatchedEvent]:
    """Removes and returns the changes that a document on hold would send, each as a message of its own, when it is released."""
    callbacks = document.callbacks
    held = callbacks._held_events
    callbacks._held_events = [
        event for event in held if not isinstance(event, DocumentPatchedEvent)
    ]
    return [event for event in held if isinstance(event, DocumentPatchedEvent)]


def send_in_one_message(session, changes: list[DocumentPatchedEvent]) -> None:
    """Sends changes to the browsers of a session as one message each: Bokeh itself makes a message of every change."""
    for connection in session._subscribed_connections if changes else ():
        message = connection.protocol.create("PATCH-DOC", changes)
        session._pending_writes.append(connection._socket.send_message(message))


def answer_without_tracebacks() -> None:
    """Has Bokeh answer a message that cannot be handled with a sentence: it sends the browser the whole traceback.

    The log of the server has it. To be called once; a second call changes nothing.
    """
    ServerConnection.error = _error


def _error(self, message, text: str):
    """What a connection, ``self``, sends in answer to a message that could not be handled."""
    answer = self.protocol.create("ERROR", message.header["msgid"], NOT_HANDLED)
    answer.content["traceback"] = None
    return answer


def drop_empty_defaults(document) -> None:
    """Frees the empty lists, dicts and sets that Bokeh makes for each model, 1.7 MiB in ten sessions.

    One that is read again is made again; one that was changed is no default any more, and stays.
    """
    for model in document.models:
        defaults = model._unstable_default_values
        model._unstable_default_values = {
            name: value
            for name, value in defaults.items()
            if not isinstance(value, PropertyValueContainer)
        }


def start_busy_cleanup() -> None:
    """Starts the one task that Panel makes for the whole process, in an empty context.

    Panel starts it in the context of the first event, which holds the first visitor's session for ever.
    """
    contextvars.Context().run(pn.state._schedule_busy_cleanup)


def is_shown(component) -> bool:
    """Is the component in a page or in the output of a cell? Panel does not report when a cell's output is gone."""
    return bool(component._models)


def connections_of(component) -> Iterator[tuple]:
    """(document, comm) of each place of a notebook where a component is shown; what changes in Bokeh's models is sent there."""
    for ref in component._models:
        if ref in pn.state._views:
            _, _, document, comm = pn.state._views[ref]
            yield document, comm


def register_model(component, model, root, parent):
    """Enters the model that a component has made where Panel looks for it, as each of Panel's own components does."""
    component._models[(root or model).ref["id"]] = (model, parent)
    return model


def watch_params(component, fixed: Iterable[str]) -> None:
    """Has Panel send changes of a component's parameters except the fixed ones: to watch all takes 1.1 MiB in ten sessions."""
    changing = [name for name in component._synced_params if name not in fixed]
    component._internal_callbacks.append(component.param.watch(component._param_change, changing))


def tornado_of(server):
    """The Tornado application of a server of Bokeh, which makes it itself and takes no routes that come before its own."""
    return server._tornado
