"""Years of documents: what is one, and what is refused in a sentence."""

import pytest

from workbench.corpus import Corpus
from workbench.corpus.times import nearest_years, years_of
from workbench.errors import DataError


def corpus_of(times):
    n = len(times) if times is not None else 2
    return Corpus.from_pairs(range(n), [0] * n, [1] * n, times=times, name="mine")


def test_every_year_from_the_first_to_the_last_is_one():
    years = years_of(corpus_of((1990, "1987", 1988.0)))
    assert (years.first, years.n, list(years.labels)) == (1987, 4, [1987, 1988, 1989, 1990])
    assert years.of_documents.tolist() == [3, 0, 1]


@pytest.mark.parametrize(
    "times, sentence",
    [
        (
            None,
            "topics over time need the year of each document, and 'mine' has none; give times, as the corpus nips has",
        ),
        (
            (1990, 1990.5),
            "the time of a document must be a year, a whole number; that of 'document 1' is 1990.5",
        ),
        (
            (1990, None),
            "the time of a document must be a year, a whole number; that of 'document 1' is None",
        ),
        (
            ("1990-03", 1990),
            "the time of a document must be a year, a whole number; that of 'document 0' is '1990-03'",
        ),
        (
            (True, 1990),
            "the time of a document must be a year, a whole number; that of 'document 0' is True",
        ),
        (
            (float("nan"), 1),
            "the time of a document must be a year, a whole number; that of 'document 0' is nan",
        ),
        (
            (float("inf"), 1),
            "the time of a document must be a year, a whole number; that of 'document 0' is inf",
        ),
        (
            (0, 10_000),
            "the times of 'mine' go from 0 to 10000; topics over time take at most 10000 years: give years, or "
            "count time in larger steps",
        ),
    ],
)
def test_what_is_no_year_is_refused_in_a_sentence(times, sentence):
    with pytest.raises(DataError) as error:
        years_of(corpus_of(times))
    assert str(error.value) == sentence


def test_an_unseen_document_is_of_the_nearest_year_and_of_the_last_where_it_has_none():
    assert nearest_years(corpus_of((1980, 1991, None, 2010)), 1990, 3).tolist() == [0, 1, 2, 2]
    assert nearest_years(corpus_of(None), 1990, 3).tolist() == [2, 2]
