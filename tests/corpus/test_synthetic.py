"""Corpora drawn with their truth: what they are, that they follow it, and that a name draws them again."""

import numpy as np
import pandas as pd
import pytest
from data_files import refused

import workbench as wb
from workbench.cli import main
from workbench.corpus import data_sets, load_corpus, synthetic
from workbench.corpus.quality import quality_of


def test_bars_are_the_rows_and_the_columns_of_the_picture():
    corpus, truth = synthetic.bars()
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (1000, 25, 100_000)
    assert set(corpus.document_tokens) == {100}
    pictures = truth["phi"].reshape(10, 5, 5)
    for k in range(5):
        row, column = np.zeros((5, 5)), np.zeros((5, 5))
        row[k], column[:, k] = 0.2, 0.2
        assert np.array_equal(pictures[k], row) and np.array_equal(pictures[5 + k], column)
    assert corpus.vocabulary[:6] == ("r1c1", "r1c2", "r1c3", "r1c4", "r1c5", "r2c1")


@pytest.mark.parametrize(
    "draw", [synthetic.bars, synthetic.zipf, synthetic.lda], ids=lambda draw: draw.__name__
)
def test_the_counts_of_the_truth_are_those_of_the_tokens_and_follow_their_probabilities(draw):
    corpus, truth = draw(n_documents=300, tokens_per_document=80, seed=4)
    n_dk, n_kw = truth["n_dk"], truth["n_kw"]
    assert np.array_equal(n_dk.sum(1), corpus.document_tokens)
    assert np.array_equal(
        n_kw.sum(0), np.bincount(corpus.words, corpus.counts, minlength=corpus.n_words)
    )
    assert np.array_equal(n_dk.sum(0), n_kw.sum(1))
    assert np.allclose(truth["theta"].sum(1), 1) and np.allclose(truth["phi"].sum(1), 1)
    for counts, shares, totals in (
        (n_dk, truth["theta"], n_dk.sum(1)),
        (n_kw, truth["phi"], n_kw.sum(1)),
    ):
        expected = totals[:, None] * shares
        # Multinomial: the squared deviations add up to expected · (1 - share) in the mean; 20 % is five standard errors
        # and more for thousands of cells, of which the few large ones carry the sum.
        assert np.sum((counts - expected) ** 2) == pytest.approx(
            np.sum(expected * (1 - shares)), rel=0.2
        )
        assert np.all(counts[shares == 0] == 0)


def test_zipf_falls_with_the_rank_and_has_lengths_about_a_median():
    corpus, _ = synthetic.zipf(2000, 3000, 100, 100, exponent=1.2, spread=0.5, seed=1)
    totals = np.bincount(corpus.words, corpus.counts, minlength=3000)
    ranks = np.arange(1, 101)
    slope = np.polyfit(np.log(ranks), np.log(totals[:100]), 1)[0]
    # -1.21 ± 0.012 over seeds: logs of few tokens lean down
    assert slope == pytest.approx(-1.2, abs=0.07)
    logs = np.log(corpus.document_tokens)
    # 5 · 1.25 · 0.5 · 100 / sqrt(2000)
    assert np.median(corpus.document_tokens) == pytest.approx(100, abs=6)
    # 5 · 0.5 / sqrt(2 · 2000)
    assert logs.std() == pytest.approx(0.5, abs=0.04)


def test_no_spread_and_no_exponent_are_equal_documents_of_equal_words():
    corpus, truth = synthetic.zipf(50, 40, 30, 400, exponent=0, spread=0)
    assert set(corpus.document_tokens) == {30}
    # 400 draws of sd 0.07: five errors
    assert truth["phi"].mean(0) == pytest.approx(np.full(40, 1 / 40), abs=0.02)


@pytest.mark.slow
def test_twenty_thousand_documents_are_drawn():
    corpus, _ = synthetic.zipf(20_000, 20_000, n_topics=100)
    assert corpus.n_tokens > 3e6


@pytest.mark.parametrize("name", ["bars", "zipf", "lda"])
def test_equal_arguments_draw_equal_corpora_and_other_seeds_others(name):
    draw = getattr(wb.synthetic, name)
    corpus = draw(n_documents=20, seed=3)[0]
    assert corpus.name == f"{name}:n_documents=20:seed=3"
    assert load_corpus(corpus.name).content_hash == corpus.content_hash
    assert load_corpus(name, n_documents=20, seed=3).content_hash == corpus.content_hash
    assert draw(n_documents=20, seed=4)[0].content_hash != corpus.content_hash


def test_a_name_tells_no_defaults():
    assert synthetic.bars(5, seed=0, n_documents=10)[0].name == "bars:n_documents=10"
    assert synthetic.bars(alpha=0.25, n_documents=10)[0].name == "bars:n_documents=10:alpha=0.25"
    assert load_corpus("lda").name == "lda"


def test_the_catalog_says_how_large_the_default_is_and_what_may_be_asked():
    for name in ("bars", "zipf", "lda"):
        data_set, corpus = data_sets()[name], load_corpus(name)
        assert (corpus.n_documents, corpus.n_words) == (data_set.n_documents, data_set.n_words)
        assert data_set.n_tokens in (None, corpus.n_tokens)
        assert (
            data_set.whereabouts() == "drawn"
            and data_set.folder() is None
            and "seed" in data_set.options
        )


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("bars:side=1", "side must be a whole number of at least 2; got 1"),
        ("bars:side=2.5", "side must be a whole number of at least 2; got 2.5"),
        ("bars:side=big", "side must be a whole number of at least 2; got 'big'"),
        ("bars:alpha=0", "alpha must be a number greater than 0; got 0"),
        ("bars:seed=-1", "seed must be a whole number of at least 0; got -1"),
        ("zipf:exponent=-1", "exponent must be a number of at least 0; got -1"),
        ("zipf:spread=nan", "spread must be a number of at least 0; got 'nan'"),
        (
            f"zipf:beta=1{'0' * 400}",
            f"beta must be a number greater than 0; got 1{'0' * 17}...{'0' * 19}",
        ),
        ("zipf:beta=Infinity", "beta must be a number greater than 0; got inf"),
        ("lda:n_topics=0", "n_topics must be a whole number of at least 1; got 0"),
        ("lda:n_words=0", "n_words must be a whole number of at least 1; got 0"),
    ],
)
def test_wrong_arguments_are_refused_with_a_sentence(wanted, sentence):
    assert refused(load_corpus, wanted) == sentence


@pytest.mark.parametrize(
    "wanted",
    ["bars:side=1e183", "zipf:n_documents=1e300:tokens_per_document=1e300", "lda:n_words=1e308"],
)
def test_sizes_whose_product_is_beyond_all_numbers_are_refused(wanted):
    assert "would take more than a petabyte of memory" in refused(load_corpus, wanted)


def test_one_topic_one_word_and_one_document_are_legal():
    corpus, truth = synthetic.zipf(1, 1, 5, 1, spread=0)
    assert (
        corpus.n_tokens == 5
        and np.allclose(truth["phi"], 1)
        and truth["n_dk"].tolist() == truth["n_kw"].tolist() == [[5]]
    )
    assert synthetic.lda(1, 1, 1, 1)[0].n_tokens == 1


# ---------------------------------------------------------------------- the CSV file of simulated news


def test_it_has_what_was_simulated(tmp_path):
    path = wb.write_example_csv(tmp_path / "news.csv", 3000, seed=2)
    table, corpus = (
        pd.read_csv(path),
        wb.load_corpus(path, title="id", time="date", label="category"),
    )
    assert list(table) == ["id", "date", "category", "source", "text"] and len(table) == 3000
    found = quality_of(corpus)
    assert (
        len(found.empty) == 15
        and found.repeated.tolist() == [11]
        and found.originals.tolist() == [10]
    )
    late = table["date"] > "2021-12-31"
    shares = {
        name: [(own == name).mean() for own in (table["category"][~late], table["category"][late])]
        for name in ("technology", "health", "money")
    }
    assert (
        shares["technology"][1] > 1.3 * shares["technology"][0]
        and shares["health"][1] > shares["health"][0]
    )
    assert shares["money"][1] < 0.6 * shares["money"][0]
    # five standard errors
    assert abs((table["source"] == "web").mean() - 0.5) < 5 * 0.5 / np.sqrt(3000)


def test_equal_seeds_give_equal_bytes(tmp_path):
    files = [
        wb.write_example_csv(tmp_path / f"{at}.csv", 40, seed) for at, seed in enumerate((1, 1, 2))
    ]
    one, same, other = (file.read_bytes() for file in files)
    assert one == same != other


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_documents": 5}, "n_documents must be a whole number of at least 20; got 5"),
        ({"seed": -1}, "seed must be a whole"),
    ],
)
def test_what_is_out_of_range_is_refused(tmp_path, settings, said):
    assert said in refused(wb.write_example_csv, tmp_path / "news.csv", **settings)
    assert not [*tmp_path.iterdir()]


def test_the_command_writes_it_and_replaces_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (
        main(["data", "example", "--documents", "30"]) == 0
        and "workbench fit news.csv" in capsys.readouterr().err
    )
    before = (tmp_path / "news.csv").read_bytes()
    assert (
        main(["data", "example"]) == 2
        and "news.csv is there already; --force replaces it" in capsys.readouterr().err
    )
    assert (tmp_path / "news.csv").read_bytes() == before
