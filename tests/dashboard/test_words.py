"""The words of the Compare page: labels are short nouns, help is a sentence, and links keep their values."""

import re

import pandas as pd
import pytest

from workbench.dashboard.compare.comparison import BEST, table
from workbench.dashboard.compare.figure_card import FigureCard
from workbench.dashboard.compare.settings import Settings
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.values import as_sentence

UNHELPED = {"corpus", "path", "engines"}
"""Fields whose label says all, and the list whose text stands above it."""
OLD = ("as usual", "in line", "at a time", "not here", "close-up", "headline", "what all reach")


@pytest.fixture(scope="module")
def form():
    return Settings()


def test_the_help_of_every_field_is_a_sentence(form):
    helped = {name: field.meaning for name, field in form.fields().items() if name not in UNHELPED}
    assert [
        name
        for name, meaning in helped.items()
        if not re.fullmatch(r"[^a-z\s].*[^.…][.…]", meaning, re.DOTALL)
    ] == []
    assert as_sentence("words of r.") == "Words of r." and as_sentence("") == ""


def test_a_label_of_the_form_is_short_and_none_of_the_old_words_is_left(form):
    fields = form.fields()
    assert (fields["holdout"].label, fields["jobs"].label) == ("Held-out tokens", "Parallel runs")
    assert (
        fields["max_share"].label == "Ignore words in more than … of documents"
        and fields["max_share"].looks["wide"]
    )
    said = " ".join(
        f"{field.label} {field.meaning}" for name, field in fields.items() if name != "holdout"
    ).lower()
    assert [word for word in OLD if word in said] == []


def test_choices_of_the_figure_have_names_with_a_capital_and_the_link_their_values():
    card = FigureCard(Handover())
    assert (
        card.measure.options["Recommended estimate"] == "headline"
        and card.span.options["Zoom to end"] == "close-up"
    )
    for choice in (card.axis, card.measure, card.span, card.lines):
        assert all(word[0].isupper() for word in choice.options)
    parts = card.parts()
    assert (
        parts["range"].take("close-up")
        and card.span.value == "close-up"
        and parts["range"].now() == "close-up"
    )
    assert parts["measure"].take("bound") and card.measure.options == {"Bound": "bound"}
    assert card.until.placeholder == "Reached by all" and "best" in BEST and "Automatic" in BEST


def test_the_heads_of_the_comparison_are_explained_in_sentences():
    told = re.findall(r'title="([^"]*)"', table(compared(), ()))
    assert len(told) == 9 and all(one[0].isupper() and one.endswith(".") for one in told)


def compared():
    """A comparison of one label."""
    ends = ("difference", "difference_low", "difference_high", "documents_low", "documents_high")
    return pd.DataFrame(
        dict.fromkeys((*ends, "mc_error"), 0.0)
        | {
            "test_perplexity": 9.0,
            "mc_source": "seeds",
            "reference": "cgs",
            "until": 9.0,
            "n_runs": 1.0,
            "n_reached": 1.0,
            "elapsed": 1.0,
            "updates": 2.0,
            "n_pairs": 1,
            "has_course": True,
        },
        index=["cgs"],
    ).assign(runs=[("a",)])
