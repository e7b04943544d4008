"""Work that changes a page waits until its browser has drawn it; long work is done in threads."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import Slider

from workbench.dashboard.shared.background import in_background
from workbench.dashboard.shared.ui_events import when_drawn, with_lock


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


def on_a_loop_of_its_own(coroutine) -> threading.Thread:
    """Runs it in a thread, which is returned: a browser that another test has open keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()
        return pool.submit(threading.current_thread).result()


def test_only_the_thread_of_the_server_touches_the_document_after_work_in_the_background(document):
    touched, told = [], []

    async def serve() -> None:
        done = asyncio.Event()

        def schedule(callback) -> None:
            touched.append(threading.current_thread())
            callback()
            done.set()

        document.add_next_tick_callback = schedule
        when_drawn(document, lambda: None)
        document.callbacks.trigger_event(DocumentReady())
        in_background(document, threading.current_thread, lambda worker, error: told.append(worker))
        await asyncio.wait_for(done.wait(), 20)

    server = on_a_loop_of_its_own(serve())
    assert touched == [server]
    assert told[0].name.startswith("workbench-pool-starts")


def test_work_for_a_session_that_has_gone_tells_nobody():
    async def serve() -> None:
        document = SimpleNamespace(
            session_context=None, add_next_tick_callback=lambda callback: pytest.fail("told")
        )
        worked = asyncio.Event()
        loop = asyncio.get_running_loop()
        in_background(
            document,
            lambda: loop.call_soon_threadsafe(worked.set),
            lambda result, error: pytest.fail("told"),
        )
        await asyncio.wait_for(worked.wait(), 20)
        await asyncio.sleep(0.1)

    on_a_loop_of_its_own(serve())
