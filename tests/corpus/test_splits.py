"""Held-out tokens, held-out documents, halves of documents: how many, of what, and the same for ever."""

import json

import numpy as np
import pytest
from data_files import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import corpus_of_table as corpus_of
from toys import dense

from workbench.corpus import (
    Corpus,
    CorpusError,
    drop_singletons,
    hold_out_documents,
    hold_out_ends,
    hold_out_halves,
    hold_out_rows,
    hold_out_tokens,
    prepare,
    split_halves,
    split_in_words,
)

COUNTS = st.lists(
    st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=1, max_size=6
).filter(lambda table: sum(map(sum, table)) >= 2)


@settings(max_examples=100, deadline=None)
@given(
    COUNTS,
    st.sampled_from([0.1, 0.25, 0.5, 0.75]),
    st.integers(0, 2**40),
    st.sampled_from(["corpus", "document"]),
)
def test_training_and_test_counts_add_up_to_the_corpus_pair_by_pair(table, fraction, seed, per):
    corpus = corpus_of(table)
    try:
        train, test = hold_out_tokens(corpus, fraction, seed, per)
    except CorpusError:
        share = [corpus.n_tokens] if per == "corpus" else corpus.document_tokens
        drawn = (
            round(fraction * corpus.n_tokens)
            if per == "corpus"
            else sum(int(fraction * n) for n in share)
        )
        assert drawn in (0, corpus.n_tokens)
        return
    assert np.array_equal(dense(train) + dense(test), table)
    assert train.vocabulary == test.vocabulary == corpus.vocabulary
    assert train.titles == test.titles == corpus.titles
    if per == "corpus":
        assert test.n_tokens == round(fraction * corpus.n_tokens)
    else:
        assert test.document_tokens.tolist() == [int(fraction * n) for n in corpus.document_tokens]


def test_shares_of_a_document_are_not_lost_to_rounding_errors():
    corpus = Corpus.from_pairs([0, 1], [0, 0], [100, 9])  # 0.29 * 100 is 28.999999999999996
    _, test = hold_out_tokens(corpus, 0.29, per="document")
    assert test.document_tokens.tolist() == [29, 2]


def test_a_seed_names_the_same_split_for_ever():
    """The numbers were printed once; they may never change, or stored runs lose their test sets."""
    corpus = corpus_of([[3, 0, 2, 1], [0, 0, 0, 0], [1, 4, 0, 5]])
    assert dense(hold_out_tokens(corpus, 0.4, seed=0)[1]).tolist() == [
        [2, 0, 1, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 3],
    ]
    assert dense(hold_out_tokens(corpus, 0.4, seed=0, per="document")[1]).tolist() == [
        [1, 0, 1, 0],
        [0, 0, 0, 0],
        [0, 1, 0, 3],
    ]


def test_a_seed_names_the_same_halves_and_documents_for_ever():
    corpus = corpus_of([[3, 0, 2, 1], [0, 0, 1, 0], [1, 4, 0, 5], [2, 2, 2, 2]])
    assert dense(split_halves(corpus, seed=0)[1]).tolist() == [
        [2, 0, 1, 0],
        [0, 0, 0, 0],
        [1, 2, 0, 2],
        [0, 2, 1, 1],
    ]
    assert hold_out_documents(corpus, 0.5, seed=0)[1].titles == ("document 0", "document 3")


def test_other_seeds_give_other_splits():
    corpus = corpus_of([[50, 50, 50, 50]])
    splits = {hold_out_tokens(corpus, 0.3, seed)[1].content_hash for seed in range(20)}
    assert len(splits) > 15  # 20 draws from thousands of splits hardly coincide


@pytest.mark.parametrize(
    "split",
    [
        lambda corpus, seed: hold_out_tokens(corpus, 0.5, seed),
        lambda corpus, seed: hold_out_tokens(corpus, 0.5, seed, per="document"),
        split_halves,
    ],
    ids=["corpus", "document", "halves"],
)
def test_every_subset_of_tokens_is_equally_likely(split):
    """One document, tokens a a b c, two drawn: the table of test counts follows the hypergeometric law."""
    corpus = corpus_of([[2, 1, 1, 0]])
    n_draws = 6000
    seen = {}
    for seed in range(n_draws):
        drawn = tuple(dense(split(corpus, seed)[1])[0])
        seen[drawn] = seen.get(drawn, 0) + 1
    expected = {(2, 0, 0, 0): 1 / 6, (1, 1, 0, 0): 2 / 6, (1, 0, 1, 0): 2 / 6, (0, 1, 1, 0): 1 / 6}
    assert set(seen) == set(expected)
    for drawn, probability in expected.items():
        error = np.sqrt(probability * (1 - probability) / n_draws)
        # seeds are fixed: fails or passes for ever
        assert abs(seen[drawn] / n_draws - probability) < 4 * error


def test_tokens_of_all_documents_are_in_one_urn():
    """Per corpus, the number drawn from a document varies as the hypergeometric law says."""
    corpus = corpus_of([[10, 0], [0, 10]])
    drawn = np.array(
        [hold_out_tokens(corpus, 0.5, seed)[1].document_tokens[0] for seed in range(2000)]
    )
    assert abs(drawn.mean() - 5) < 4 * np.sqrt(25 / 19 / 2000)
    # 10 draws of 20, half of them here: 10 · ¼ · 10/19; four errors of a variance
    assert abs(drawn.var() - 25 / 19) < 0.2


@settings(max_examples=100, deadline=None)
@given(COUNTS, st.integers(0, 2**40))
def test_halves_add_up_and_the_odd_token_is_observed(table, seed):
    corpus = corpus_of(table)
    lengths = corpus.document_tokens
    if lengths.max() < 2:
        return
    observed, scored = split_halves(corpus, seed)
    kept = np.where(lengths < 2, 0, lengths)
    assert observed.document_tokens.tolist() == ((kept + 1) // 2).tolist()
    assert scored.document_tokens.tolist() == (kept // 2).tolist()
    assert np.array_equal(dense(observed) + dense(scored), dense(corpus) * (lengths >= 2)[:, None])
    assert (
        observed.titles == scored.titles == corpus.titles
        and observed.vocabulary == scored.vocabulary == corpus.vocabulary
    )


@settings(max_examples=100, deadline=None)
@given(COUNTS, st.sampled_from([0.2, 0.5, 0.75]), st.integers(0, 2**40))
def test_each_document_is_for_training_or_unseen_as_a_whole(table, fraction, seed):
    corpus = corpus_of(table)
    corpus = corpus.with_pairs(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        labels=[f"label {d}" for d in range(len(table))],
        times=range(len(table)),
        authors=[[f"author {d}"] for d in range(len(table))],
    )
    try:
        train, unseen = hold_out_documents(corpus, fraction, seed)
    except CorpusError:
        n_unseen = round(fraction * len(table))
        assert n_unseen in (0, len(table)) or not corpus.document_tokens.all()
        return
    assert unseen.n_documents == round(fraction * len(table))
    assert sorted(train.times + unseen.times) == list(range(len(table)))
    for part in (train, unseen):
        places = list(part.times)
        assert places == sorted(places) and np.array_equal(dense(part), np.array(table)[places])
        assert part.titles == tuple(f"document {d}" for d in places)
        assert part.labels == tuple(f"label {d}" for d in places)
        assert part.authors == tuple((f"author {d}",) for d in places)


def test_every_choice_of_documents_is_equally_likely():
    corpus, n_draws = corpus_of([[1], [2], [3], [4]]), 3000
    seen = [hold_out_documents(corpus, 0.5, seed)[1].document_tokens for seed in range(n_draws)]
    seen = np.unique(seen, axis=0, return_counts=True)
    assert len(seen[0]) == 6
    error = np.sqrt(1 / 6 * 5 / 6 / n_draws)
    # seeds are fixed: fails or passes for ever
    assert np.all(np.abs(seen[1] / n_draws - 1 / 6) < 4 * error)


def test_held_out_documents_and_held_out_tokens_of_one_seed_are_independent():
    """Documents of one token: which are unseen says nothing of which tokens would have been held out."""
    corpus, both, n_draws = corpus_of([[1]] * 10), 0, 1000
    for seed in range(n_draws):
        unseen = {
            int(title.split()[1]) for title in hold_out_documents(corpus, 0.5, seed)[1].titles
        }
        both += len(
            unseen
            & set(np.flatnonzero(hold_out_tokens(corpus, 0.5, seed)[1].document_tokens).tolist())
        )
    variance = 5 * 0.5 * 0.5 * 5 / 9  # hypergeometric: 5 of 10, where 5 are marked
    # 5 when both come from one stream
    assert abs(both / n_draws - 2.5) < 4 * np.sqrt(variance / n_draws)


def test_equal_keys_at_the_edge_do_not_change_how_many_are_drawn(monkeypatch):
    class Stuck:
        def __init__(self, seed):
            pass

        def random_raw(self, size):
            return np.zeros(size, dtype=np.uint64)

    monkeypatch.setattr(np.random, "PCG64", Stuck)
    corpus = corpus_of([[3, 2], [4, 1]])
    assert dense(hold_out_tokens(corpus, 0.5)[1]).sum() == 5
    assert hold_out_tokens(corpus, 0.4, per="document")[1].document_tokens.tolist() == [2, 2]


def test_no_fraction_is_a_test_corpus_without_pairs():
    corpus = corpus_of([[3, 1], [0, 2]])
    train, test = hold_out_tokens(corpus, 0)
    assert train.content_hash == corpus.content_hash
    assert (test.n_documents, test.n_words, test.n_pairs, test.n_tokens) == (2, 2, 0, 0)


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        *(
            (lambda corpus, options=options: hold_out_tokens(corpus, **options), sentence)
            for options, sentence in (
                ({"fraction": 1}, "fraction must be a number of at least 0 and below 1; got 1"),
                (
                    {"fraction": -0.1},
                    "fraction must be a number of at least 0 and below 1; got -0.1",
                ),
                (
                    {"fraction": float("nan")},
                    "fraction must be a number of at least 0 and below 1; got nan",
                ),
                (
                    {"fraction": "0.1"},
                    "fraction must be a number of at least 0 and below 1; got '0.1'",
                ),
                ({"seed": -1}, "seed must be a whole number of at least 0; got -1"),
                ({"seed": 1.5}, "seed must be a whole number of at least 0; got 1.5"),
                ({"per": "word"}, "per must be 'corpus' or 'document'; got 'word'"),
                (
                    {"fraction": 0.01},
                    "fraction 0.01 of 8 tokens is no token at all; ask for a larger fraction, or for 0 to have no test set",
                ),
                (
                    {"fraction": 0.1, "per": "document"},
                    "fraction 0.1 per document is no token at all, the longest document has 5; "
                    "ask for at least 0.2, or use per='corpus'",
                ),
                (
                    {"fraction": 0.99},
                    "fraction 0.99 of 8 tokens leaves none to train on; ask for a smaller fraction",
                ),
            )
        ),
        (
            lambda corpus: hold_out_documents(corpus, 0.1),
            "fraction 0.1 of 2 documents of 'corpus' is 0; at least one to hold out and one to train on were wanted; "
            "ask for another fraction",
        ),
        (
            lambda corpus: hold_out_documents(corpus.of_documents([0]), 0.9),
            "fraction 0.9 of 1 documents of 'corpus' is 1; at least one to hold out and one to train on were wanted; "
            "ask for another fraction",
        ),
        (
            lambda corpus: hold_out_documents(hold_out_tokens(corpus, 0)[1], 0.5),
            "all 1 training document(s) are empty; ask for another fraction or seed",
        ),
        (
            lambda corpus: hold_out_documents(corpus, 1),
            "fraction must be a number of at least 0 and below 1; got 1",
        ),
        (
            lambda corpus: hold_out_documents(corpus, 0.5, "x"),
            "seed must be a whole number of at least 0; got 'x'",
        ),
        (
            lambda corpus: split_halves(corpus, -1),
            "seed must be a whole number of at least 0; got -1",
        ),
        (
            lambda corpus: split_halves(corpus_of([[1, 0], [0, 1]])),
            "no document of 'corpus' has two tokens to be split into halves; give longer documents",
        ),
        (
            lambda corpus: hold_out_tokens(hold_out_tokens(corpus, 0)[1]),
            "a corpus needs at least one token to be split; 'corpus' has none",
        ),
        (
            lambda corpus: hold_out_halves(corpus_of(np.eye(4, dtype=int)), 0.5),
            "none of the 2 documents drawn from 'corpus' has two tokens to be split into halves; ask for another fraction or "
            "seed, or give longer documents",
        ),
        (
            lambda corpus: hold_out_halves(corpus_of(np.kron(np.eye(4, dtype=int), [1, 1])), 0.5),
            "no word of the 2 scored token(s) of 'corpus' has a training token; ask for another fraction or seed",
        ),
        (
            lambda corpus: prepare(
                corpus_of([[1, 1, 0], [1, 1, 0], [0, 0, 2]]), 0.34, per="half", singletons="train"
            ),
            "no word of the 1 scored token(s) of 'corpus' has a training token once singletons are out; keep them, or hold "
            "out fewer documents",
        ),
    ],
)
def test_what_cannot_be_split_is_refused_with_a_sentence(split, sentence):
    assert refused(split, corpus_of([[3, 2], [0, 3]])) == sentence


@settings(max_examples=100, deadline=None)
@given(COUNTS, st.sampled_from([0.2, 0.5, 0.8]), st.integers(0, 2**40))
def test_half_of_each_drawn_document_is_scored_but_for_words_that_are_not_trained(
    table, fraction, seed
):
    corpus = corpus_of(table)
    try:
        train, test, left_out = hold_out_halves(corpus, fraction, seed)
    except CorpusError:
        return
    # the test corpus has these, but for words without a training token
    scored = dense(corpus) - dense(train)
    known = dense(train).sum(axis=0) > 0
    assert np.array_equal(dense(test), scored * known) and left_out == scored[:, ~known].sum()
    drawn = scored.sum(axis=1) > 0
    assert (scored.sum(axis=1)[drawn] == corpus.document_tokens[drawn] // 2).all()
    assert drawn.sum() <= round(fraction * corpus.n_documents)
    assert (
        train.titles == test.titles == corpus.titles
        and train.vocabulary == test.vocabulary == corpus.vocabulary
    )


def test_halves_of_drawn_documents_are_those_of_the_unseen_documents():
    corpus = corpus_of(np.random.default_rng(0).integers(0, 5, (40, 6)))
    train, test, left_out = hold_out_halves(corpus, 0.25, 3)
    _, unseen = hold_out_documents(corpus, 0.25, 3)
    drawn = np.flatnonzero(test.document_tokens)
    assert left_out == 0 and len(drawn) == 10
    assert np.array_equal(dense(unseen), dense(corpus)[drawn])
    assert np.array_equal(dense(train)[drawn] + dense(test)[drawn], dense(unseen))


def test_tokens_that_are_left_out_of_halves_are_counted_and_told():
    table = np.zeros((10, 12), int)
    table[:, :2] = 3
    table[np.arange(10), 2 + np.arange(10)] = 2  # a word of each document's own
    train, test, split = prepare(corpus_of(table), 0.5, 4, per="half")
    # both of one document, by this seed
    assert split == {"fraction": 0.5, "seed": 4, "per": "half", "left_out": 2}
    assert test.n_tokens == 5 * 4 - 2 and train.n_tokens == 80 - 20
    assert split_in_words(split) == (
        "half of the tokens of 50 % of the documents held out, split seed 4, but for 2 tokens whose word has no training token"
    )


@pytest.mark.parametrize("singletons", ["train", "both-own", "both-full"])
def test_words_whose_training_tokens_were_singletons_are_left_out_of_halves_too(singletons):
    corpus = corpus_of(np.random.default_rng(0).poisson(0.4, (40, 60)))
    _, kept, by_words = prepare(corpus, 0.5, 1, per="half")
    train, test, split = prepare(corpus, 0.5, 1, per="half", singletons=singletons)
    assert set(test.words) <= set(train.words)
    _, whole = drop_singletons(*hold_out_halves(corpus, 0.5, 1)[:2], *singletons.split("-"))
    assert split["left_out"] - by_words["left_out"] == whole.n_tokens - test.n_tokens > 0
    assert kept.n_tokens > test.n_tokens


def test_a_tenth_of_kos_is_46771_tokens(kos):
    train, test = hold_out_tokens(kos)
    assert (train.n_tokens, test.n_tokens) == (420_943, 46_771)


# ---------------------------------------------------------------------- whole rows


@pytest.fixture
def known():
    """Five documents of four states and years, the fourth empty; 'ca' is a sequence of three, 'ny' of two."""
    return Corpus.from_pairs(
        [0, 1, 2, 4, 4],
        [0, 1, 0, 1, 2],
        [1, 2, 3, 4, 5],
        n_documents=5,
        name="known",
        labels=["x", "y", "x", "z", "y"],
        times=[1999, 2000, 2001, 2002, 2003],
        inputs={"year": [1999, 2000, 2001, 2002, 2003]},
        sequence=[("ca", 5), ("ny", 1), ("ca", 2), ("ca", 9), ("ny", 4)],
    )


@pytest.mark.parametrize(
    ("held_out", "rows"),
    [
        ({"by": "year", "at_least": 2001}, [2, 3, 4]),
        ({"by": "year", "values": [1999, 2003]}, [0, 4]),
        ({"by": "year", "values": 2000}, [1]),
        ({"by": "times", "at_least": 2003}, [4]),
        ({"by": "labels", "values": ["y", "z"]}, [1, 3, 4]),
        ({"by": "labels", "values": "x"}, [0, 2]),
        ({"by": "sequence", "values": "ny"}, [1, 4]),
        ({"n_rows": 1}, [3, 4]),
        ({"n_rows": 2}, [0, 3]),  # ca by position is 2, 0, 3; ny has no more than two and stays
    ],
)
def test_rows_are_held_out_whole_and_both_parts_have_all_documents(known, held_out, rows):
    train, test, split = prepare(known, rows=held_out)
    table = dense(known)
    assert np.array_equal(dense(test), np.where(np.isin(np.arange(5), rows)[:, None], table, 0))
    assert np.array_equal(dense(train) + dense(test), table)
    for part in (train, test):
        assert (part.n_documents, part.vocabulary, part.titles) == (
            5,
            known.vocabulary,
            known.titles,
        )
        assert np.array_equal(part.inputs, known.inputs) and part.sequence == known.sequence
    assert split == {"rows": held_out}


@settings(max_examples=50, deadline=None)
@given(COUNTS, st.data())
def test_rows_of_any_cut_are_complementary(table, data):
    years = data.draw(st.lists(st.integers(0, 5), min_size=len(table), max_size=len(table)))
    cut = data.draw(st.integers(0, 6))
    corpus = corpus_of(table).with_pairs(
        *(getattr(corpus_of(table), name) for name in ("indptr", "words", "counts")),
        inputs={"year": years},
    )
    try:
        train, test = hold_out_rows(corpus, "year", at_least=cut)
    except CorpusError as error:
        late = np.array(years) >= cut
        assert "have no token; hold out others" in str(error)
        assert 0 in (corpus.document_tokens[late].sum(), corpus.document_tokens[~late].sum())
        return
    assert np.array_equal(dense(train) + dense(test), table)
    assert not np.any((train.document_tokens > 0) & (test.document_tokens > 0))
    assert all(year >= cut for year, n in zip(years, test.document_tokens, strict=True) if n)


def test_a_split_by_rows_is_recorded_and_described(known):
    def described(**rows):
        return split_in_words(prepare(known, rows=rows)[2])

    assert described(by="year", at_least=2001) == "whole documents held out by year: from 2001 on"
    assert described(by="labels", values=["x", "z"]) == "whole documents held out by labels: x, z"
    assert described(n_rows=2) == "the last 2 documents of each sequence held out"
    numbers = prepare(known, rows={"by": "year", "values": np.arange(1999, 2001)})[2]
    assert json.dumps(numbers) == '{"rows": {"by": "year", "values": [1999, 2000]}}'
    train, test, split = prepare(
        known, top_words=2, singletons="both-own", rows={"by": "year", "at_least": 2001}
    )
    assert split == {
        "rows": {"by": "year", "at_least": 2001},
        "top_words": 2,
        "singletons": "both-own",
    }
    assert (
        train.n_words == 2
        and train.counts.min() > 1
        and train.sequence == test.sequence == known.sequence
    )


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        (
            lambda corpus: hold_out_rows(corpus, "lat", at_least=1),
            "'known' has no input and no field 'lat' to hold out rows by; there is 'year', 'labels', 'times', 'sequence'",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "year"),
            "rows are held out by their values or from a value on; give one of values=… and at_least=…",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "year", [2000], 2001),
            "rows are held out by their values or from a value on; give one of values=… and at_least=…",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "year", [2000, 1900]),
            "no document of 'known' has 1900 as its 'year'; it has 5 values, as 1999.0",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "labels", at_least=3),
            "'labels' of 'known' cannot be compared with 3; give values=… instead",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "year", at_least=2010),
            "the 0 held-out document(s) of 'known' have no token; hold out others",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "labels", "z"),
            "the 1 held-out document(s) of 'known' have no token; hold out others",
        ),
        (
            lambda corpus: hold_out_rows(corpus, "year", at_least=0),
            "the 0 training document(s) of 'known' have no token; hold out others",
        ),
        (
            lambda corpus: hold_out_ends(corpus, 3),
            "no sequence of 'known' is longer than 3, the longest has 3; hold out fewer rows of each",
        ),
        (
            lambda corpus: hold_out_ends(corpus, 0),
            "n_rows must be a whole number of at least 1; got 0",
        ),
        (
            lambda corpus: hold_out_ends(corpus_of([[1], [1]])),
            "the documents of 'corpus' stand in no sequences; give sequence=[(name, position), …]",
        ),
    ],
)
def test_rows_that_cannot_be_held_out_are_refused_with_a_sentence(known, split, sentence):
    assert refused(split, known) == sentence
