"""Parts that weigh little, and what a session lets go of."""

import panel as pn
from bokeh.core.property.wrappers import PropertyValueContainer
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.models import Button

from workbench.dashboard.compare.curve import Curve
from workbench.dashboard.shared.light_components import Given, let_go
from workbench.dashboard.shared.shell import column, text


def shown(*parts):
    """The document of a page with these parts."""
    document = Document()
    column(*parts, kind="wb-card").server_doc(document)
    return document


def empty_defaults(document) -> int:
    held = (value for model in document.models for value in model._unstable_default_values.values())
    return sum(isinstance(value, PropertyValueContainer) for value in held)


def written(document) -> list[str]:
    """All that the browser is sent of each model."""
    return sorted(repr(Serializer(deferred=False).encode(model)) for model in document.models)


def test_a_sentence_that_changes_sends_its_text_alone():
    sentence = text("first")
    document, sent = shown(sentence), []
    document.on_change(sent.append)
    sentence.object = "<b>then</b>"
    assert [(event.attr, event.new) for event in sent] == [("text", "&lt;b&gt;then&lt;/b&gt;")]  # the browser unescapes it


def test_a_box_and_a_sentence_are_shown_and_hidden():
    sentence = text("some", visible=False)
    box = column(sentence, kind="wb-bar")
    document = shown(box)
    model = next(model for model in document.models if type(model).__name__ == "HTML")
    assert not model.visible
    sentence.visible, box.visible = True, False
    assert model.visible and [type(one).__name__ for one in document.models if not getattr(one, "visible", True)] == ["Column"]


def test_a_model_that_is_given_is_in_the_page_itself():
    button = Button(label="press")
    assert button in shown(Given(button)).roots[0].children


def test_what_is_let_go_of_changes_nothing_of_the_page():
    figure = Curve().figure
    document = shown(text("said"), Given(figure), pn.widgets.Select(options=["a", "b"]))
    before, n_models = written(document), len(document.models)
    assert empty_defaults(document) > 500
    let_go(document)
    assert not empty_defaults(document)
    assert figure.legend[0].tags == [] and figure.renderers[0].js_property_callbacks == {}
    document.models.recompute()
    assert len(document.models) == n_models
    assert written(document) == before


def test_what_is_let_go_of_can_be_changed_later():
    button = Button(label="press")
    document = shown(Given(button))
    let_go(document)
    button.tags.append("seen")
    let_go(document)
    assert button.tags == ["seen"]  # a change is no default any more
