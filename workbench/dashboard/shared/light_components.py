"""Boxes and sentences that weigh little, and what a session lets go of when its page is sent.

A page has some fifty of them. Of Panel's own every one watches all of its looks, and a pane has a row around it. Why, and
what was measured: docs/decisions/page_shell.md.
"""

from __future__ import annotations

from html import escape
from typing import ClassVar

import panel as pn
import param
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.models import LayoutDOM
from panel.models.markup import HTML
from panel.reactive import Reactive
from panel.viewable import Layoutable

LOOKS = frozenset(Layoutable.param) - {"visible"} | {"html_attributes"}
"""What a part is given when it is made, and keeps."""


class Light(Reactive):
    """A part whose looks stay and that the browser does not change: only the rest, and whether it is seen, is sent."""

    _linked_properties = ()
    __abstract = True

    def _link_params(self) -> None:
        changing = [name for name in self._synced_params if name not in LOOKS]
        self._internal_callbacks.append(self.param.watch(self._param_change, changing))


class Box(Light, pn.Column):
    """Parts below one another, or as its style sheet has them."""

    html_attributes = param.Dict(default={}, doc="Attributes of its element: role, aria-label.")


class Sentence(Light):
    """HTML. A change sends the text alone; Panel's own pane sends style sheets too, in a notebook another host's."""

    object = param.String(doc="The HTML; escape what others wrote.")

    _rename: ClassVar = {"object": "text", "name": None}

    def __init__(self, object: str = "", **settings):
        super().__init__(object=object, **settings)

    def _process_param_change(self, params: dict) -> dict:
        told = super()._process_param_change(params)
        return told | {"text": escape(told["text"])} if "text" in told else told

    def _get_model(self, doc, root=None, parent=None, comm=None) -> HTML:
        model = HTML(disable_math=True, **self._get_properties(doc))
        self._models[(root or model).ref["id"]] = (model, parent)
        return model


class Given(Light):
    """A model of Bokeh's as it is. Panel's own pane has a row around it, and looks through all that the model refers to."""

    def __init__(self, model: LayoutDOM):
        self._drawn = model
        super().__init__()

    def _get_model(self, doc, root=None, parent=None, comm=None) -> LayoutDOM:
        self._models[(root or self._drawn).ref["id"]] = (self._drawn, parent)
        return self._drawn


def let_go(document) -> None:
    """Lets go of the empty lists, dicts and sets that Bokeh makes for each model.

    What is asked for again is made again; what was changed is no default any more, and stays.
    """
    for model in document.models:
        held = model._unstable_default_values
        model._unstable_default_values = {
            name: value for name, value in held.items() if not isinstance(value, PropertyValueContainer)
        }
