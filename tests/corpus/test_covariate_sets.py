"""Data sets with inputs and sequences: rows, counts, what is held out, and draws without replacement."""

import numpy as np
import pytest
from data_files import refused
from missing import loaded
from scipy.stats import hypergeom

import workbench as wb
from workbench.corpus import CorpusError, load_corpus
from workbench.corpus.catalog.published import COVARIATE_SETS, drawn_without_replacement


@pytest.mark.slow
@pytest.mark.parametrize(
    "data_set", COVARIATE_SETS, ids=[data_set.name for data_set in COVARIATE_SETS]
)
def test_a_data_set_comes_out_as_described(data_set):
    corpus = loaded(data_set.name)
    sizes = (corpus.n_documents, corpus.n_words, corpus.n_pairs, corpus.n_tokens)
    assert sizes == (data_set.n_documents, data_set.n_words, data_set.n_pairs, data_set.n_tokens)
    assert (corpus.name, corpus.content_hash) == (data_set.name, data_set.content)
    assert corpus.describe()["sequences" if corpus.sequence else "inputs"] >= 1


@pytest.mark.slow
def test_names_are_44_states_with_fifty_births_a_row_before_2012():
    corpus = loaded("names")
    train, test, split = wb.prepare(corpus)
    assert (
        np.sum(train.document_tokens > 0) == 44 * 52 and np.sum(test.document_tokens > 0) == 44 * 2
    )
    assert set(train.document_tokens[corpus.input("year") < 2012].tolist()) == {50}
    assert split == {"rows": {"by": "year", "at_least": 2012}}
    whole, other = loaded("names", births="all"), loaded("names", draw=1)
    totals = np.bincount(whole.words, whole.counts)
    assert np.all(np.diff(totals) <= 0) and whole.document_tokens.min() >= 749
    assert (whole.name, other.name) == ("names:births=all", "names:draw=1")
    assert other.content_hash != corpus.content_hash
    with pytest.raises(
        CorpusError,
        match=r"births must be 'all' or at most those of every row, and \w\w \d+ has \d+",
    ):
        load_corpus("names:births=20000")


@pytest.mark.parametrize(
    ("name", "n_test", "n_sequences"),
    [
        ("dna", 190, 19),
        pytest.param("alice", 100, 1, marks=pytest.mark.slow),
        pytest.param("reuters_sequences", 200, 20, marks=pytest.mark.slow),
    ],
)
def test_the_ends_of_sequences_are_held_out(name, n_test, n_sequences):
    corpus = loaded(name)
    _, test, _ = wb.prepare(corpus)
    assert test.n_tokens == n_test and len(corpus.by_sequence.names) == n_sequences
    assert np.all(corpus.document_tokens == 1) and corpus.by_sequence.documents.tolist() == list(
        range(corpus.n_documents)
    )


def test_windows_beyond_the_text_are_refused():
    loaded("alice")
    assert "windows must be at most 2" in refused(load_corpus, "alice:windows=3")


def test_draws_without_replacement_are_hypergeometric():
    """20,000 rows of 7, 3, 2 items, 5 drawn: frequencies of the first word within five standard errors of its law."""
    counts = np.tile([7, 3, 2], (20_000, 1))
    found = drawn_without_replacement(counts, 5, 3)
    assert np.all(found.sum(axis=1) == 5) and np.all(found <= counts)
    for word, n in enumerate((7, 3, 2)):
        wanted = hypergeom(12, n, 5).pmf(np.arange(6))
        shares = np.bincount(found[:, word], minlength=6) / 20_000
        assert np.all(np.abs(shares - wanted) <= 5 * np.sqrt(wanted * (1 - wanted) / 20_000))
    assert np.array_equal(drawn_without_replacement(counts[:9], 12, 0), counts[:9])
