"""Work that changes a page waits until its browser has drawn it; what it changes is sent in one message."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import ColumnDataSource, Slider
from bokeh.protocol import Protocol
from bokeh.server.connection import ServerConnection
from bokeh.server.session import ServerSession
from tornado.locks import Lock

from workbench.dashboard.shared.ui_events import send_in_one_message, when_drawn, with_lock


@pytest.fixture
def document() -> Document:
    """A document with a session."""
    made, context = Document(), SimpleNamespace(session=None)
    made._session_context = lambda: context
    return made


def test_work_on_a_page_that_is_drawn_is_done_at_the_next_event(document):
    done = []
    when_drawn(document, lambda: None)
    document.callbacks.trigger_event(DocumentReady())
    with_lock(document, lambda: done.append(1))
    assert not done and len(document.session_callbacks) == 1


def test_before_the_page_is_drawn_work_waits_and_is_done_once(document):
    slider = Slider(start=0, end=9, value=1)
    with_lock(document, lambda: slider.update(value=5))
    with_lock(document, lambda: slider.update(end=6))
    assert slider.value == 1 and not document.session_callbacks
    for value in (5, 2):
        document.callbacks.trigger_event(DocumentReady())
        assert (slider.value, slider.end) == (value, 6)
        slider.value = 2


@pytest.fixture
def sent_by(monkeypatch):
    """A function that does work on (slider, source) under the lock of a session, and returns the messages to its browser."""
    monkeypatch.setattr(ServerConnection, "send_patch_document", None)
    send_in_one_message()
    slider, source, parts = Slider(start=0, end=9, value=1), ColumnDataSource({"x": [1.0]}), []
    document = Document()
    document.add_root(slider)
    document.add_root(source)
    document.models.flush_synced()
    session = ServerSession("session", document)

    async def write_message(part, binary) -> None:
        parts.append(part)

    web_socket = SimpleNamespace(is_closing=lambda: False, write_message=write_message)
    socket = SimpleNamespace(write_lock=Lock(), ws_connection=web_socket)
    browser = ServerConnection(Protocol(), socket, None, session)

    def sent(work) -> list[list[dict]]:
        parts.clear()
        with ThreadPoolExecutor(
            1
        ) as thread:  # a browser test before may have left a loop in this one
            locked = session.with_document_locked(lambda: work(slider, source))
            thread.submit(asyncio.run, locked).result()
        return [json.loads(content)["events"] for content in parts[2::3]]

    yield sent
    browser.detach_session()


def test_changes_of_one_work_are_one_message_in_their_order(sent_by):
    def work(slider, source) -> None:
        slider.value = 2
        source.stream({"x": [2.0]})
        slider.end = 10

    [events] = sent_by(work)
    assert [event["kind"] for event in events] == [
        "ModelChanged",
        "ColumnsStreamed",
        "ModelChanged",
    ]
    assert [event["attr"] for event in events] == ["value", "data", "end"]
    assert sent_by(lambda slider, source: None) == []
    assert [
        event["new"] for event in sent_by(lambda slider, source: slider.update(value=3))[0]
    ] == [3]


def test_data_that_are_replaced_go_first(sent_by):
    def work(slider, source) -> None:
        slider.value = 2
        source.data = {"x": [1.0, 2.0]}

    [events] = sent_by(work)
    assert [event["attr"] for event in events] == ["data", "value"]


def test_what_was_changed_before_an_error_is_sent_with_what_follows(sent_by):
    def work(slider, source) -> None:
        slider.value = 3
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        sent_by(work)
    [events] = sent_by(lambda slider, source: slider.update(end=11))
    assert [event["new"] for event in events] == [3, 11]


def test_a_source_that_is_new_comes_whole_and_its_data_once(sent_by):
    def work(slider, source) -> None:
        new = ColumnDataSource({"x": [5.0]}, name="new")
        slider.document.add_root(new)
        new.data = {"x": [6.0]}
        new.stream({"x": [7.0]})
        source.data = {"x": [2.0]}

    [events] = sent_by(work)
    assert [event["kind"] for event in events] == ["ColumnDataChanged", "RootAdded"]
    assert "[6.0, 7.0]" in json.dumps(events[1])


def test_changes_of_what_has_left_the_page_are_not_sent(sent_by):
    def work(slider, source) -> None:
        slider.value, document = 2, slider.document
        document.remove_root(slider)

    assert [[event["kind"] for event in events] for events in sent_by(work)] == [["RootRemoved"]]
