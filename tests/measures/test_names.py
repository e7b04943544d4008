"""Names suggested for topics: planted phrases, relevant words and titles, and none by chance."""

from itertools import cycle, islice

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.measures import MeasureError, suggested_names, top_words
from workbench.runs.store.notes import LONGEST_LABEL

GAS = ("gas", "pipeline", "turbine", "grid", "meter")
BREAD = ("bread", "flour", "oven", "yeast", "salt")
N_TEXTS = 40


def corpus_of(phrases: tuple[str, ...], of_titles: tuple[str, str] = ("", "")):
    """Half of the texts have gas words in random order and one of the phrases twice; the other half are of bread."""
    numbers = np.random.default_rng(3)

    def text(words, planted: str) -> str:
        drawn = numbers.permutation([*words, *words, *words])
        return " ".join([*drawn[:6], planted, *drawn[6:]])

    planted = islice(cycle(phrases), N_TEXTS // 2)
    texts = [text(GAS, f"the {phrase}, the {phrase}.") for phrase in planted]
    texts += [text(BREAD, "") for _ in range(N_TEXTS // 2)]
    titles = [f"{of_titles[each >= N_TEXTS // 2]} {each}".strip() for each in range(N_TEXTS)]
    return wb.corpus_of(pd.Series(texts, titles))


def fitted(corpus):
    return wb.fit(corpus, "cgs", n_topics=2, n_iterations=30, seed=1, progress=False)


def topic_of(run, word: str) -> int:
    return int(run["phi"].sel(word=word).idxmax("topic"))


def names_of(found, topic: int) -> list[tuple[str, str]]:
    names, sources = found["name"].sel(topic=topic).values, found["source"].sel(topic=topic).values
    return [pair for pair in zip(names.tolist(), sources.tolist(), strict=True) if pair[0]]


def test_suggested_names_are_the_planted_phrase_the_relevant_words_and_a_title():
    corpus = corpus_of(("Natural gas",), ("Pipeline and grid", "On bread"))
    run = fitted(corpus)
    found = suggested_names(run, corpus.table)
    gas, bread = topic_of(run, "gas"), topic_of(run, "bread")
    words = {
        topic: ", ".join(top_words(run, 3, 0.6)["word"].sel(topic=topic).values.tolist())
        for topic in (gas, bread)
    }
    assert names_of(found, gas)[:2] == [("Natural gas", "phrase"), (words[gas], "words")]
    assert names_of(found, gas)[2][0].startswith("Pipeline and grid ")
    assert names_of(found, bread)[0] == (words[bread], "words")
    assert names_of(found, bread)[1][0].startswith("On bread ")
    one = suggested_names(run, corpus.table, n=2, topic=gas)
    assert names_of(one, gas) == names_of(found, gas)[:2]


def test_suggested_names_prefer_a_phrase_that_half_of_a_shorter_one_is_part_of():
    corpus = corpus_of(("compressed natural gas", "natural gas"))
    run = fitted(corpus)
    names = names_of(suggested_names(run, corpus.table), topic_of(run, "gas"))
    assert names[0] == ("compressed natural gas", "phrase")
    assert "natural gas" not in [name for name, _ in names]


def test_suggested_names_without_texts_are_words_alone():
    run = fitted(corpus_of(("natural gas",)))
    found = suggested_names(run)
    assert set(found["source"].values[:, 0]) == {"words"}
    assert set(found["source"].values[:, 1:].ravel()) == {""}


def test_suggested_names_refuse_an_unknown_topic():
    run = fitted(corpus_of(("natural gas",)))
    with pytest.raises(MeasureError, match="no topic 7"):
        suggested_names(run, topic=7)


def test_words_in_random_order_are_no_phrases_however_rare_they_are():
    numbers = np.random.default_rng(5)
    words = np.array(["".join(map(chr, 97 + row)) for row in numbers.integers(0, 26, (3000, 6))])
    shares = numbers.dirichlet(np.full(len(words), 0.3))
    texts = [" ".join(numbers.choice(words, 2000, p=shares)) for _ in range(30)]
    corpus = wb.corpus_of(pd.Series(texts, [f"on\x01 {words[at]}\nof 1" for at in range(30)]))
    found = suggested_names(fitted(corpus), corpus.table)
    assert set(found["source"].values.ravel()) == {"words", "title", ""}
    for name in found["name"].values.ravel():
        assert name.isprintable() and len(name) <= LONGEST_LABEL


def test_a_topic_without_tokens_has_its_words_as_name():
    corpus = corpus_of(("natural gas",))
    run = wb.fit(corpus, "cgs", n_topics=60, n_iterations=30, seed=1, progress=False)
    empty = int(run["n_kw"].isel(snapshot=-1).sum("word").argmin("topic"))
    assert not run["n_kw"].isel(snapshot=-1, topic=empty).any()
    found = suggested_names(run, corpus.table, topic=empty)
    assert [source for _, source in names_of(found, empty)] == ["words"]
