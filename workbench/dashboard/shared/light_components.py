"""Boxes, sentences and figures that take little memory.

A page has some fifty of them. Each of Panel's own watches all parameters of its looks, and a pane has a row around it. Why, and
what was measured: docs/decisions/page_shell.md.
"""

from html import escape
from typing import ClassVar

import panel as pn
import param
from bokeh.models import LayoutDOM
from panel.models.markup import HTML
from panel.reactive import Reactive
from panel.viewable import Layoutable

from workbench.dashboard.shared.private_api import register_model, watch_params

FIXED = frozenset(Layoutable.param) - {"visible"} | {"html_attributes"}
"""The parameters of a component that are set when it is made and never change."""


class LightComponent(Reactive):
    """A component with fixed looks that the browser does not change: only its content and its visibility are sent."""

    _linked_properties = ()
    __abstract = True

    def _link_params(self) -> None:
        watch_params(self, FIXED)


class Box(LightComponent, pn.Column):
    """Parts below one another, or as its style sheet arranges them."""

    html_attributes = param.Dict(default={}, doc="Attributes of its element: role, aria-label.")


class Sentence(LightComponent):
    """HTML. A change sends the text alone; Panel's own pane sends style sheets too, in a notebook those of another host."""

    object = param.String(doc="The HTML; escape what others wrote.")

    _rename: ClassVar = {"object": "text", "name": None}

    def __init__(self, object: str = "", **settings):
        super().__init__(object=object, **settings)

    def _process_param_change(self, params: dict) -> dict:
        sent = super()._process_param_change(params)
        return sent | {"text": escape(sent["text"])} if "text" in sent else sent

    def _get_model(self, doc, root=None, parent=None, comm=None) -> HTML:
        properties = self._get_properties(doc) | {"disable_math": True}
        return register_model(self, HTML(**properties), root, parent)


class BokehModel(LightComponent):
    """A model of Bokeh as it is. Panel's own pane puts a row around it, and searches all that the model refers to."""

    def __init__(self, model: LayoutDOM):
        self._bokeh_model = model
        super().__init__()

    def _get_model(self, doc, root=None, parent=None, comm=None) -> LayoutDOM:
        return register_model(self, self._bokeh_model, root, parent)
