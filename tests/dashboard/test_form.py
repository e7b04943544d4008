"""What the browser and the fields of the form tell one another."""

import pytest
from bokeh.document import Document

from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.shared.ui_events import DRAWN


@pytest.fixture
def form():
    """A form that is on a page."""
    made = Settings()
    made.form._document = Document()
    DRAWN.add(made.form._document)
    return made


def types(form: Settings, name: str, value) -> None:
    """What the browser does when a field is changed."""
    form.form._handle_msg({"field": name, "value": value})


def test_what_is_typed_goes_into_the_field_and_is_not_sent_back(form):
    for name, typed, held in (
        ("seed", "7", 7),
        ("holdout", "0", 0.0),
        ("top_words", "", None),
        ("alpha", "0.1, 1", "0.1, 1"),
        ("cg_second_order", "yes", True),
        ("engines", ["cgs", "vb"], ["vb", "cgs"]),
        ("path", "a b.csv", "a b.csv"),
    ):
        types(form, name, typed)
        assert form.fields()[name].value == held and type(form.fields()[name].value) is type(held)
    # which stand in their order
    assert {name for told in [form.form.news] for name in told.get("values", ())} <= {"engines"}


def test_what_others_change_is_sent_alone_and_what_it_was_before_is_not_lost(form):
    types(form, "seed", "7")
    form.numbers["seed"].value = 0
    assert form.form.news == {"number": 1, "values": {"seed": "0"}}
    form.numbers["jobs"].value = 2
    assert form.form.news == {"number": 2, "values": {"jobs": "2"}}


@pytest.mark.parametrize(
    "said",
    [
        None,
        "x",
        {"field": "nonsense", "value": "1"},
        {"field": "seed"},
        {"field": "seed", "value": "many"},
        {"field": "seed", "value": ["1"]},
        {"field": "holdout", "value": "nan"},
        {"field": "singletons", "value": "<b>"},
        {"field": "engines", "value": "cgs"},
        {"field": "engines", "value": [["cgs"]]},
        {"press": "nonsense"},
    ],
)
def test_a_message_that_no_form_sends_changes_nothing(form, said):
    before = {name: field.value for name, field in form.fields().items()}
    form.form._handle_msg(said)
    assert {name: field.value for name, field in form.fields().items()} == before


def test_a_run_that_is_gone_leaves_the_menu_and_the_field(form):
    form.offer(["b", "a"])
    types(form, "start", "b")
    assert form.form.menus["start"] == ["random", "b", "a"]
    form.offer(["a"])
    assert form.form.news["values"] == {"start": "random"} and form.form.menus["start"][1:] == ["a"]
