"""What a session frees of Bokeh's models."""

import gc

import panel as pn
import pytest
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.models import Button

from workbench.dashboard.compare.curve import Curve
from workbench.dashboard.shared.light_components import BokehModel
from workbench.dashboard.shared.private_api import drop_empty_defaults
from workbench.dashboard.shared.shell import column, text


def shown(*parts):
    """The document of a page with these parts."""
    document = Document()
    column(*parts, kind="wb-card").server_doc(document)
    return document


def n_containers() -> int:
    """Lists, dicts and sets of Bokeh's models that are alive."""
    gc.collect()
    return sum(isinstance(one, PropertyValueContainer) for one in gc.get_objects())


def written(document) -> list[str]:
    """All that the browser is sent of each model."""
    return sorted(repr(Serializer(deferred=False).encode(model)) for model in document.models)


@pytest.mark.slow
def test_what_is_freed_changes_nothing_of_the_page():
    figure = Curve().figure
    document = shown(text("said"), BokehModel(figure), pn.widgets.Select(options=["a", "b"]))
    before, n_models = written(document), len(document.models)
    alive = n_containers()
    drop_empty_defaults(document)
    assert alive - n_containers() > 500
    assert figure.legend[0].tags == [] and figure.renderers[0].js_property_callbacks == {}
    document.models.recompute()
    assert len(document.models) == n_models
    assert written(document) == before


def test_what_is_freed_can_be_changed_later():
    button = Button(label="press")
    document = shown(BokehModel(button))
    drop_empty_defaults(document)
    button.tags.append("seen")
    drop_empty_defaults(document)
    assert button.tags == ["seen"]  # a change is no default any more
