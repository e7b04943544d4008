"""The card of one count: its numbers are those of the measure, and what cannot be counted is a sentence under its field."""

import re

import pytest

from workbench.dashboard.oracle.answers import answer_of
from workbench.dashboard.oracle.microscope import MicroscopeCard
from workbench.dashboard.oracle.toys import TOYS
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.link import from_query, to_query
from workbench.measures.count_expectations import FUNCTIONS, count_expectations
from workbench.numbers import format_number

TOY = TOYS["Unequal alpha (toy A)"]


@pytest.fixture
def card():
    made = MicroscopeCard(Handover())
    made.take(TOY)
    return made


def set_fields(card, **values):
    for name, value in values.items():
        card.fields[name].value = value


def shown(card) -> list[list[str]]:
    """The numbers of its table, without the errors below them."""
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", card.table.object)
    return [re.findall(r'<td class="n">([^ <]+)', row) for row in rows]


def wanted(q, prior) -> list[list[str]]:
    values = count_expectations(q, prior)["expectation"]
    return [
        [format_number(float(value), 5) for value in values.sel(function=name)]
        for name in FUNCTIONS
    ]


def test_the_count_of_a_document_has_the_responsibilities_of_its_engine(card):
    q = answer_of(TOY, "cvb")["token_topic"].values
    assert shown(card) == wanted(q[:4, 0], 0.7)
    assert (
        "n_dk of document 1 and topic 1, cvb: 4 tokens" in card.status.object
        and "prior a = 0.7." in card.status.object
    )
    assert card.card_content.picture.title == "Approximations of the expectation of ψ(a + n)"
    set_fields(card, which=2, topic=2, responsibilities="svb-cgs")
    assert shown(card) == wanted(answer_of(TOY, "svb-cgs")["token_topic"].values[4:, 1], 0.4)


def test_counts_of_a_word_and_of_all_tokens_have_their_own_priors(card):
    q = answer_of(TOY, "cvb")["token_topic"].values
    set_fields(card, count="word", which=2)
    assert (
        shown(card) == wanted(q[[3, 5], 0], 0.3)
        and "n_wk of word 2 and topic 1" in card.status.object
    )
    set_fields(card, count="all")
    assert shown(card) == wanted(q[:, 0], 3 * 0.3) and "n_k of topic 1" in card.status.object
    set_fields(card, a="2.5")
    assert shown(card) == wanted(q[:, 0], 2.5)


def test_probabilities_are_typed_with_copies(card):
    set_fields(card, count="typed", q="0.9, 0.1*3")
    assert shown(card) == wanted([0.9, 0.1, 0.1, 0.1], 0.1)
    assert card.form.seen == ["count", "q", "a", "function"]


@pytest.mark.parametrize(
    "changed, field, sentence",
    [
        ({"which": 3}, "which", "from 1 to 2; got 3"),
        ({"which": None}, "which", "the field is empty"),
        ({"topic": 0}, "topic", "from 1 to 2; got 0"),
        ({"a": "-1"}, "a", "got '-1'"),
        ({"a": "x"}, "a", "got 'x'"),
        ({"count": "typed", "q": "0.5, 2"}, "q", "got '2'"),
        ({"count": "typed", "q": ""}, "q", "there is none"),
        ({"count": "typed", "q": "nan"}, "q", "got 'nan'"),
        ({"count": "typed", "q": "0.5*501"}, "q", "got '0.5*501'"),
        (
            {"count": "typed", "q": "0.5*400, 0.1*400"},
            "q",
            "at most 500 tokens here; these are 800",
        ),
    ],
)
def test_what_cannot_be_counted_is_one_sentence_under_its_field(card, changed, field, sentence):
    set_fields(card, **changed)
    assert sentence in card.form.wrong[field] and len(card.form.wrong) == 1
    assert not card.results.visible and card.status.object == ""


def test_a_document_without_tokens_has_no_count(card):
    card.take(TOY._replace(counts="3,1;0,0"))
    set_fields(card, which=2)
    assert card.form.wrong["which"] == "Document 2 has no token, so its counts are 0; take another"


def test_without_a_toy_only_typed_probabilities_are_left(card):
    card.take(None)
    assert "mend it, or type probabilities" in card.status.object and not card.table.object
    set_fields(card, count="typed")
    assert shown(card) == wanted([0.9, 0.5, 0.1, 0.1], 0.1)


def test_a_link_sets_the_fields(card):
    set_fields(card, count="typed", q="0.5*8", a="0.01", function="log")
    again = MicroscopeCard(Handover())
    assert (
        from_query(to_query(card.parameters), again.parameters) == []
        and again.table.object == card.table.object
    )
    assert from_query(
        "?count=other&function=sine&responsibilities=g-hdp&which=x", again.parameters
    ) == [
        "count",
        "function",
        "responsibilities",
        "which",
    ]


def test_its_table_is_that_of_the_count_and_gone_with_it(card):
    assert sum("improved" in row for row in card.card_content.picture.rows) > 1
    set_fields(card, which=9)
    assert card.card_content.picture is None
