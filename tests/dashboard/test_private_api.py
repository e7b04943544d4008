"""The private parts of Panel and Bokeh that the pages use: one that goes with a new version fails here by its name."""

import inspect
from pathlib import Path

import bokeh
import panel as pn
import pytest
from bokeh.document.callbacks import DocumentCallbackManager
from bokeh.models import Button, LegendItem
from bokeh.server.connection import ServerConnection
from bokeh.server.server import BaseServer
from bokeh.server.session import ServerSession
from panel.custom import JSComponent
from panel.models.markup import HTML
from panel.reactive import Reactive, Syncable
from panel.viewable import Layoutable
from panel.widgets.select import CheckButtonGroup, RadioButtonGroup, SingleSelectBase

STATIC = Path(bokeh.__file__).parent / "server/static/js"
USED = [
    (Button(), "_unstable_default_values"),
    (LegendItem(), "_unstable_default_values"),
    (pn.state, "_schedule_busy_cleanup"),
    (pn.state, "_views"),
    (pn.Column(), "_models"),
    (pn.Column(), "_internal_callbacks"),
    (pn.Column(), "_synced_params"),
    (Syncable, "_param_change"),
    (pn.io.notebook, "LOAD_MIME"),
    (pn.io.notebook, "load_notebook"),
    (pn.io.notebook, "push"),
]
"""(class or instance, attribute) that is read, written or called."""
OVERRIDDEN = [
    (Syncable, "_linked_properties", None),
    (Syncable, "_link_params", "self"),
    (Reactive, "_process_param_change", "self params"),
    (Reactive, "_get_properties", "self doc"),
    (Reactive, "_rename", None),
    (Reactive, "_get_model", "self doc root parent comm"),
    (RadioButtonGroup, "_get_properties", "self doc"),
    (CheckButtonGroup, "_get_properties", "self doc"),
    (SingleSelectBase, "_widget_type", None),
    (Syncable, "_on_msg", "self ref manager msg"),
    (ServerConnection, "error", "self message text"),
    (JSComponent, "_handle_msg", "self data"),
    (JSComponent, "_esm", None),
    (JSComponent, "_stylesheets", None),
    (pn.Column, "_repr_mimebundle_", "self include exclude"),
]
"""(class, what ours have of their own in its place, parameters of a method)."""
IN_THE_BROWSER = [
    ("RadioButtonGroup", "_update_active"),
    ("CheckboxButtonGroup", "_update_active"),
    ("Slider", "_update_title"),
    ("Spinner", "btn_up_el"),
    ("Slider", "noUi-handle"),
]
"""What names.js extends, in Bokeh's own code."""


@pytest.mark.parametrize(
    "owner, name", USED, ids=lambda given: given if isinstance(given, str) else ""
)
def test_what_is_used_is_there(owner, name):
    assert hasattr(owner, name)


@pytest.mark.parametrize(
    "owner, name, parameters", OVERRIDDEN, ids=lambda given: given if isinstance(given, str) else ""
)
def test_what_is_overridden_is_there_and_takes_the_same(owner, name, parameters):
    assert hasattr(owner, name)
    if parameters is not None:
        assert " ".join(inspect.signature(getattr(owner, name)).parameters) == parameters


@pytest.mark.parametrize(
    "owner, name",
    [
        (DocumentCallbackManager, "_held_events"),
        (ServerSession, "_pending_writes"),
        (ServerSession, "_subscribed_connections"),
        (ServerConnection, "_socket"),
        (BaseServer, "_tornado"),
    ],
)
def test_what_an_instance_gets_when_it_is_made_is_there(owner, name):
    assert f"self.{name}" in inspect.getsource(owner.__init__)


@pytest.mark.parametrize("view, name", IN_THE_BROWSER)
def test_what_is_extended_in_the_browser_is_there(view, name):
    assert name in (STATIC / "bokeh-widgets.min.js").read_text(encoding="utf-8"), view


def test_a_notebook_s_messages_are_handled_where_they_are_mended():
    source = Path(pn.__file__).parent / "dist/panel.min.js"
    for name in ("_document_changed", "msg_handler", "_receiver"):
        assert name in source.read_text(encoding="utf-8")


def test_looks_and_markup_are_where_they_are_imported_from():
    assert {"visible", "sizing_mode", "margin"} <= set(Layoutable.param) and {
        "text",
        "disable_math",
    } <= HTML.properties()
