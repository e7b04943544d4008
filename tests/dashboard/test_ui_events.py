"""Work that changes a page waits until its browser has drawn it."""

from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import Slider

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
