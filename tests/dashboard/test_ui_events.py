"""What a work changes reaches the browser in one message, in order, and what else it asks for is done."""

import json
from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import ColumnDataSource, Slider
from bokeh.protocol import Protocol

from workbench.dashboard.shared.ui_events import in_one_message, when_drawn, with_lock


@pytest.fixture
def visited():
    """A document with one visitor, its two models, and the messages that the visitor was sent."""
    document, sent = Document(), []

    connection = SimpleNamespace(
        protocol=Protocol(), _socket=SimpleNamespace(send_message=lambda message: message)
    )
    session = SimpleNamespace(_subscribed_connections=[connection], _pending_writes=sent)
    context = SimpleNamespace(session=session)
    document._session_context = lambda: context
    slider, source = Slider(start=0, end=9, value=1), ColumnDataSource({"x": [1.0]})
    document.add_root(slider)
    document.add_root(source)
    document.models.flush_synced()

    def messages() -> list[list[dict]]:
        return [json.loads(message.content_json)["events"] for message in sent]

    return SimpleNamespace(document=document, slider=slider, source=source, messages=messages)


def test_all_changes_are_one_message_in_the_order_in_which_they_were_made(visited):
    def work() -> None:
        visited.slider.value = 2
        visited.source.stream({"x": [2.0]})
        visited.slider.end = 10

    in_one_message(visited.document, work)
    [events] = visited.messages()
    assert [event["kind"] for event in events] == [
        "ModelChanged",
        "ColumnsStreamed",
        "ModelChanged",
    ]
    assert [event.get("attr") for event in events[::2]] == ["value", "end"]
    assert visited.document.callbacks.hold_value is None


def test_what_was_changed_before_an_error_is_sent_and_the_error_told(visited):
    def work() -> None:
        visited.slider.value = 3
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_one_message(visited.document, work)
    assert [[event["new"] for event in events] for events in visited.messages()] == [[3]]
    later = []
    visited.document.on_change(later.append)
    visited.slider.value = 4
    assert visited.document.callbacks.hold_value is None and [event.new for event in later] == [4]


def test_work_requested_meanwhile_is_done_at_the_next_event(visited):
    done, asked = [], []
    when_drawn(visited.document, lambda: None)
    visited.document.callbacks.trigger_event(DocumentReady())
    visited.document.on_change(lambda event: asked.append(type(event).__name__))
    in_one_message(visited.document, lambda: with_lock(visited.document, lambda: done.append(1)))
    assert (
        not done
        and len(visited.document.session_callbacks) == 1
        and asked == ["SessionCallbackAdded"]
    )


def test_before_the_page_is_drawn_work_waits_and_is_done_once(visited):
    with_lock(visited.document, lambda: visited.slider.update(value=5))
    with_lock(visited.document, lambda: visited.slider.update(value=6))
    assert visited.messages() == [] and not visited.document.session_callbacks
    for _again in range(2):
        visited.document.callbacks.trigger_event(DocumentReady())
        assert [[event["new"] for event in events] for events in visited.messages()] == [[5], [6]]
