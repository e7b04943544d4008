"""The Oracle page's own decisions, without a browser: what is typed is computed, or one sentence says why not."""

import re

import pytest
from toys import LDA_ENGINES

from workbench.dashboard.oracle.answers import answer_of
from workbench.dashboard.oracle.page import OraclePage
from workbench.dashboard.oracle.toys import TOYS
from workbench.dashboard.shared.files import picture_file
from workbench.dashboard.shared.link import from_query, to_query
from workbench.measures.exact import against_exact

TWO, UNEQUAL, BARS = TOYS


@pytest.fixture(autouse=True, scope="module")
def few_starts():
    """One start of each engine, and answers that the tests of no other file share."""
    answer_of.cache_clear()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "workbench.dashboard.oracle.answers.against_exact",
            lambda *given: against_exact(*given, n_starts=1),
        )
        yield
    answer_of.cache_clear()


@pytest.fixture
def page():
    """A page after its first tick, which computes here and now."""
    made = OraclePage()
    made.tick()
    return made


def said(text) -> str:
    return re.sub("<[^>]*>", " ", text.object)


def first_cells(html: str) -> list[str]:
    return re.findall(r'<th scope="row">([^<]*)', html)


def test_a_toy_that_is_chosen_fills_the_fields_and_is_computed(page):
    page.fields["toy"].value = UNEQUAL
    assert page.toy == TOYS[UNEQUAL] and page.fields["counts"].value == "3,1,0\n1,1,3"
    assert "−11.259462 nats" in said(page.exact.status)
    found = answer_of(TOYS[UNEQUAL], "svb")
    assert f"−{-float(found['bound'].sel(kind='exact')):.4f}" in page.engines.table.object


def test_a_toy_that_is_typed_is_ones_own_until_it_is_one_of_those_offered(page):
    page.fields["counts"].value = "5,1,0;0,1,4"
    assert page.fields["toy"].value == "" and "2,048 assignments of topics to 11 tokens" in said(
        page.exact.status
    )
    page.fields["counts"].value = "5,1,0;0,1,5"
    assert page.fields["toy"].value == TWO
    page.fields["beta"].value = "0.2"
    assert page.fields["toy"].value == "" and page.toy.beta == "0.2"


def test_what_is_no_toy_is_one_sentence_and_nothing_else_is_shown(page):
    for counts, sentence in (
        ("0,0;0,0", "The table has no token; type a count of at least 1"),
        (
            "17",
            "17 tokens in 2 topics have 2^17 assignments, and at most 65,536 (2^16) are enumerated; take at most 16 tokens",
        ),
        (
            "1,,1;2,3",
            "The count of word 2 in document 1 must be a whole number of at least 0; there is none",
        ),
        (
            "1,<b>",
            "The count of word 2 in document 1 must be a whole number of at least 0; got '<b>'",
        ),
    ):
        page.fields["counts"].value = counts
        assert page.form.wrong == {"counts": sentence}
        for card in (page.exact, page.engines, page.microscope):
            assert not card.results.visible
        page.fields["counts"].value = "1,1"
        assert not page.form.wrong and first_cells(page.engines.table.object) == LDA_ENGINES


@pytest.mark.parametrize(
    "field, wrong",
    [
        (
            "n_topics",
            {None: "a whole number from 1 to 16", 17: "got 17", 0: "got 0"},
        ),
        (
            "alpha",
            {
                "": "greater than 0",
                "0.1, 0.2, 0.3": "one number or one per topic (2); got 3 numbers",
            },
        ),
        (
            "beta",
            {"-1": "greater than 0", "half": "got 'half'", "inf": "greater than 0"},
        ),
    ],
)
def test_what_is_no_model_is_told_under_its_field(page, field, wrong):
    for value, sentence in wrong.items():
        page.fields[field].value = value
        assert list(page.form.wrong) == [field] and sentence in page.form.wrong[field]
        assert not page.engines.table.object


def test_one_topic_and_one_token_have_numbers_or_dashes(page):
    page.fields["counts"].value = "1"
    page.fields["n_topics"].value = 1
    assert (
        first_cells(page.engines.table.object) == LDA_ENGINES and "–" in page.engines.table.object
    )
    assert "nan" not in page.engines.table.object + page.exact.table.object


def test_a_link_has_the_toy_and_the_count_and_gives_them_back(page):
    page.fields["toy"].value = BARS
    page.microscope.fields["function"].value = "log"
    query = to_query(page.parameters)
    again = OraclePage()
    assert from_query(query, again.parameters) == []
    assert again.toy == TOYS[BARS] and again.microscope.fields["function"].value == "log"
    assert from_query("?n_topics=x&function=cube&counts=a;b", again.parameters) == [
        "n_topics",
        "function",
    ]
    again.tick()
    assert "got 'a'" in again.form.wrong["counts"]


def test_downloads_are_of_what_is_shown(page):
    assert page.exact.card_content.picture.name == "exact-posterior"
    table, figure = (
        picture_file(page.engines.card_content.picture, None, form) for form in ("csv", "svg")
    )
    assert (table.name, figure.name) == ("toy-bounds.csv", "toy-bounds.svg")
    assert b"<svg" in figure.content
    first, *rows = table.content.decode().splitlines()
    assert first.startswith("engine,F,collapsed,exact F,B,log_evidence")
    assert [row.split(",")[0] for row in rows] == LDA_ENGINES


def test_an_engine_that_fails_is_one_sentence(page, monkeypatch):
    def failing(*given):
        raise ValueError("no such thing")

    monkeypatch.setattr("workbench.dashboard.oracle.page.answer_of", failing)
    page.fields["counts"].value = "2,1"
    assert said(page.engines.status).strip() == "No such thing" and "log p(words)" in said(
        page.exact.status
    )
