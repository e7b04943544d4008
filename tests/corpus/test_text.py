"""Counting words of raw text."""

import numpy as np
import pytest
from data_files import refused
from missing import skip_without_budoux
from sklearn.feature_extraction.text import CountVectorizer

import workbench as wb
from workbench.corpus import Corpus, CorpusError
from workbench.corpus.document_table import DocumentTable
from workbench.corpus.texts.counting import DROPPED, as_counted
from workbench.corpus.texts.words import (
    SEGMENTERS,
    WORD_PATTERN,
    languages,
    segmenter_of,
    stop_list,
)
from workbench.data.reading import noting

FRUIT = ["Apple banana apple", "banana cherry", "Cherry, cherry and apple!"]


def counts(corpus):
    """Per document, word → count."""
    return [
        {
            corpus.vocabulary[w]: int(c)
            for w, c in zip(corpus.words[a:b], corpus.counts[a:b], strict=True)
        }
        for a, b in zip(corpus.indptr[:-1], corpus.indptr[1:], strict=True)
    ]


def test_words_are_counted_in_lower_case_without_stop_words():
    corpus = Corpus.from_texts(FRUIT)
    assert corpus.vocabulary == ("apple", "banana", "cherry")
    assert counts(corpus) == [
        {"apple": 2, "banana": 1},
        {"banana": 1, "cherry": 1},
        {"apple": 1, "cherry": 2},
    ]
    assert corpus.titles == ("document 0", "document 1", "document 2")


def test_empty_documents_keep_their_rows():
    corpus = Corpus.from_texts(["", "apple", "the and of", "12 345"])
    assert corpus.n_documents == 4
    assert corpus.document_tokens.tolist() == [0, 1, 0, 0]


RARE = ["apple banana", "apple cherry", "apple cherry"]
CAFES = ["Café cafe CAFÉ, El Niño"]


@pytest.mark.parametrize(
    ("texts", "options", "vocabulary"),
    [
        (["apple"], {}, "apple"),
        (["we don't know; they've said it isn't apple, we'll eat apples"], {}, "apple apples eat know said"),
        (["Äpfel яблоко りんご 42 x_1"], {}, "äpfel яблоко りんご"),
        (FRUIT, {"stop_words": ["apple"]}, "and banana cherry"),
        (FRUIT, {"stop_words": None}, "and apple banana cherry"),
        (FRUIT, {"stop_words": "none"}, "and apple banana cherry"),
        (FRUIT, {"stop_words": ""}, "and apple banana cherry"),
        (FRUIT, {"stop_words": " None "}, "and apple banana cherry"),
        (FRUIT, {"stop_words": "Apple, banana"}, "and cherry"),
        (FRUIT, {"stop_words": "apple,"}, "and banana cherry"),
        (["e-mail apple"], {"stop_words": ["E-Mail"], "token_pattern": "[a-z]+"}, "apple"),
        (RARE, {"min_documents": 2}, "apple cherry"),
        (RARE, {"max_share": 0.7}, "banana cherry"),
        (["pear pear fig fig apple date"], {"max_words": 3}, "apple fig pear"),
        (CAFES, {"lowercase": False}, "CAFÉ Café El Niño cafe"),
        (CAFES, {"accents": "strip"}, "cafe el nino"),
        (CAFES, {"min_letters": 4}, "cafe café niño"),
        (["The cat AND the dog"], {"lowercase": False}, "cat dog"),
        (["el café"], {"stop_words": ["CAFÉ"], "accents": "strip"}, "el"),
    ],
)  # fmt: skip
def test_options_decide_which_words_of_texts_count(texts, options, vocabulary):
    corpus = Corpus.from_texts(texts, labels=texts, name="fruit", **options)
    assert corpus.vocabulary == tuple(vocabulary.split())
    assert (corpus.labels, corpus.name) == (tuple(texts), "fruit")


def test_a_file_of_stop_words_may_have_a_comma_in_its_name(tmp_path):
    (path := tmp_path / "my, own.txt").write_text("banana")
    assert Corpus.from_texts(FRUIT, stop_words=str(path)).vocabulary == ("and", "apple", "cherry")


def test_stop_words_of_other_languages_and_of_a_file(tmp_path):
    text = ["Der Apfel und die Birne", "La pomme et la poire"]
    assert Corpus.from_texts(text, stop_words="german").vocabulary == (
        "apfel",
        "birne",
        "et",
        "la",
        "poire",
        "pomme",
    )
    assert Corpus.from_texts(text, stop_words="fr").vocabulary == (
        "apfel",
        "birne",
        "der",
        "die",
        "poire",
        "pomme",
        "und",
    )
    (tmp_path / "mine.txt").write_text("apfel\n\n Pomme \n")
    for own in (tmp_path / "mine.txt", str(tmp_path / "mine.txt")):
        assert not {"apfel", "pomme"} & set(Corpus.from_texts(text, stop_words=own).vocabulary)
    assert (
        languages()[0] == "english"
        and {"german", "french", "spanish"} <= set(languages())
        and len(languages()) > 30
    )
    assert (
        Corpus.from_texts(FRUIT, stop_words="en").content_hash
        == Corpus.from_texts(FRUIT).content_hash
    )


@pytest.mark.parametrize("more", ["apple,Banana", ["apple", "BANANA "], " apple , banana ,"])
def test_more_stop_words_are_left_out_besides_those_of_a_language(more):
    assert Corpus.from_texts(FRUIT, more_stop_words=more).vocabulary == ("cherry",)
    assert Corpus.from_texts(FRUIT, stop_words=None, more_stop_words=more).vocabulary == (
        "and",
        "cherry",
    )
    assert (
        Corpus.from_texts(FRUIT, more_stop_words="").content_hash
        == Corpus.from_texts(FRUIT).content_hash
    )
    with pytest.raises(
        CorpusError,
        match="more_stop_words must be words separated by commas, a list of words or None; got 3",
    ):
        Corpus.from_texts(FRUIT, more_stop_words=3)
    assert "more_stop_words must be" in refused(Corpus.from_texts, FRUIT, more_stop_words=[3])


def test_phrases_are_one_word_wherever_their_words_follow_each_other():
    texts = ["The New York Times of New York", "new united states of america", "York, new.", ""]
    phrases = ["new YORK", "new york times", "united states of america"]
    for given in (phrases, ", ".join(phrases), iter(phrases)):
        assert counts(Corpus.from_texts(texts, phrases=given)) == [
            {"new_york_times": 1, "new_york": 1},
            {"new": 1, "united_states_of_america": 1},
            {"york": 1, "new": 1},
            {},
        ]
    left_out = Corpus.from_texts(texts[:1], phrases=phrases, more_stop_words="new_york")
    assert counts(left_out) == [{"new_york_times": 1}]
    with_pairs = Corpus.from_texts(texts[:2], phrases="new york", ngrams=2, stop_words=None)
    assert {"new_york_times", "of_new_york", "the_new_york"} < set(with_pairs.vocabulary)
    no_phrase = Corpus.from_texts(FRUIT, phrases="")
    assert no_phrase.content_hash == Corpus.from_texts(FRUIT).content_hash
    for wrong, sentence in (
        (["new, york"], "a phrase must have no comma; got 'new, york'"),
        ("new york, york", "each of the phrases must have two words or more; 'york' has 1"),
        (3, "phrases must be phrases separated by commas, a list of phrases or None; got 3"),
    ):
        assert sentence in refused(Corpus.from_texts, texts, phrases=wrong)


def test_how_texts_were_counted_is_written_down(tmp_path):
    (path := tmp_path / "own.txt").write_text("cherry\nbanana\n")
    usual = {"token_pattern": WORD_PATTERN, "lowercase": True, "accents": "keep", "ngrams": 1}
    changed = {"token_pattern": r"\w+", "lowercase": False, "accents": "strip", "ngrams": 2}
    for options, more in (
        ({}, {}),
        ({"stop_words": "german"}, {"stop_words": "german"}),
        ({"stop_words": None}, {"stop_words": []}),
        ({"stop_words": "none"}, {"stop_words": []}),
        ({"stop_words": path}, {"stop_words": ["banana", "cherry"]}),
        ({"stop_words": iter(["cherry"])}, {"stop_words": ["cherry"]}),
        ({"tokenizer": str.split}, {"tokenizer": True}),
        ({"more_stop_words": "a, b"}, {"more_stop_words": ["a", "b"]}),
        ({"phrases": iter(["ripe pear"])}, {"phrases": ["ripe pear"]}),
        ({"ngrams": 2, "max_words": 1}, {"ngrams": 2}),
        (changed, changed),
    ):
        assert Corpus.from_texts(FRUIT, **options).table.counted == usual | more
    assert as_counted(usual | {"min_letters": 2, "new": 1}, {"ngrams": 2}) == usual | {
        "min_letters": 2,
        "ngrams": 2,
    }
    table = Corpus.from_texts(["red ant"]).table
    assert table.content_hash == DocumentTable({"text": ["red ant"]}, "text", usual).content_hash


def test_ngrams_are_of_words_that_follow_each_other_without_stop_words():
    corpus = Corpus.from_texts(["new york and new jersey", "york"], ngrams=3)
    assert counts(corpus) == [
        {
            "new": 2,
            "york": 1,
            "jersey": 1,
            "new_york": 1,
            "york_new": 1,
            "new_jersey": 1,
            "new_york_new": 1,
            "york_new_jersey": 1,
        },
        {"york": 1},
    ]
    assert Corpus.from_texts(FRUIT, ngrams=1).content_hash == Corpus.from_texts(FRUIT).content_hash


def test_a_tokenizer_takes_the_place_of_the_pattern():
    corpus = Corpus.from_texts(["A-b c-D", "the c-d"], tokenizer=str.split)
    assert counts(corpus) == [{"a-b": 1, "c-d": 1}, {"c-d": 1}]
    assert counts(Corpus.from_texts(["東京都"], tokenizer=lambda text: [text[:2], text[2:]])) == [
        {"東京": 1, "都": 1}
    ]


def test_the_words_are_those_of_scikit_learn_where_nothing_else_is_asked_for():
    text = [" ".join(FRUIT), "don't x_1 naïve the Äpfel's e-mail 42 U.S.", "ß ŉ İstanbul ﬁne"]
    counter = CountVectorizer(stop_words=sorted(stop_list("english")), token_pattern=WORD_PATTERN)
    table = counter.fit_transform(text).toarray()
    corpus = Corpus.from_texts(text)
    assert corpus.vocabulary == tuple(counter.get_feature_names_out())
    assert (corpus.to_scipy().toarray() == table).all()


@pytest.mark.parametrize(
    ("texts", "options", "sentence"),
    [
        ("apple", {}, "texts must be a list of strings, one per document; a single string came"),
        ([], {}, "a corpus needs at least one document; no text came"),
        (
            ["apple", None],
            {},
            "every text must be a string; text 1 (counted from 0) is None; leave its row out, or put '' there "
            "to keep an empty document",
        ),
        (
            ["apple", float("nan")],
            {},
            "every text must be a string; text 1 (counted from 0) is nan; leave its row out, or put '' there "
            "to keep an empty document",
        ),
        (
            ["", "the"],
            {},
            r"no word left in 2 text(s) after stop words and token_pattern='[^\\W\\d_]{2,}'; "
            "give longer texts, stop_words=None or another pattern",
        ),
        (
            ["apple", "banana"],
            {"min_documents": 2},
            "none of 2 words is in at least 2 and at most 100% of 2 documents; lower min_documents or raise max_share",
        ),
        (FRUIT, {"min_documents": 0}, "min_documents must be a whole number of at least 1; got 0"),
        (
            FRUIT,
            {"max_share": 1.5},
            "max_share must be a share of the documents, above 0 and at most 1; got 1.5",
        ),
        (
            FRUIT,
            {"max_words": 0},
            "max_words must be a whole number of at least 1, or None for all; got 0",
        ),
        (
            FRUIT,
            {"stop_words": "germn"},
            "stop_words must be a language, a file, a list of words or None; got 'germn'; did you mean 'german'?",
        ),
        (
            FRUIT,
            {"stop_words": "none.txt"},
            "there is no file none.txt of stop words; check the path, or name a language",
        ),
        (
            FRUIT,
            {"stop_words": 3},
            "stop_words must be a language, a file, a list of words or None; got 3",
        ),
        (FRUIT, {"min_letters": 0}, "min_letters must be a whole number of at least 1; got 0"),
        (FRUIT, {"ngrams": 6}, "ngrams must be a whole number from 1 to 5; got 6"),
        (FRUIT, {"ngrams": "2"}, "ngrams must be a whole number from 1 to 5; got '2'"),
        (FRUIT, {"lowercase": "no"}, "lowercase must be true or false; got 'no'"),
        (FRUIT, {"accents": "drop"}, "accents must be one of keep, strip; got 'drop'"),
        (
            FRUIT,
            {"tokenizer": "split"},
            "tokenizer must be a function of a text, or None; got 'split'",
        ),
        (FRUIT, {"tokenizer": lambda text: [1]}, "the tokenizer must give strings; it gave 1"),
        (
            FRUIT,
            {"max_share": None},
            "max_share must be a share of the documents, above 0 and at most 1; got None",
        ),
        (FRUIT, {"titles": ["one"]}, "titles must have one entry per document (3); it has 1"),
        (
            FRUIT,
            {"token_pattern": "(a)(b)"},
            "token_pattern may have one group, the word; '(a)(b)' has 2; write (?:…) for the others",
        ),
    ],
)
def test_wrong_texts_are_refused_with_a_sentence(texts, options, sentence):
    assert refused(Corpus.from_texts, texts, **options) == sentence


def test_a_pattern_that_is_no_pattern_is_refused():
    assert "token_pattern must be a regular expression; '[' is not" in refused(
        Corpus.from_texts, FRUIT, token_pattern="["
    )


# ---------------------------------------------------------------------- what each rule leaves out

TEXTS = ["the red ant ox red", "the red bee ox", "red cow the the"]
"""6 words and 13 tokens, of which 4 are "the" and 4 "red"."""


def dropped(texts, **options) -> tuple[Corpus, dict[str, list[int]]]:
    """The corpus of texts, and the words and tokens that each option removes."""
    with noting(DROPPED) as notes:
        corpus = Corpus.from_texts(texts, **options)
    return corpus, notes[DROPPED]


def test_words_and_tokens_that_each_rule_leaves_out_are_told_one_after_the_other():
    corpus, noted = dropped(TEXTS, stop_words=["the", "not there"], min_letters=3, max_share=0.9)
    assert list(noted.items()) == [
        ("found", [6, 13]),
        ("stop_words", [1, 4]),
        ("min_letters", [1, 2]),
        ("min_documents", [0, 0]),
        ("max_share", [1, 4]),
        ("max_words", [0, 0]),
    ]
    found, *removed = noted.values()
    assert (found - np.sum(removed, axis=0)).tolist() == [corpus.n_words, corpus.n_tokens] == [3, 3]


def test_a_word_that_two_rules_leave_out_is_told_of_once():
    options = {"min_documents": 2, "max_words": 1, "max_share": 0.5}
    _, noted = dropped([*TEXTS, "dog"], stop_words=None, **options)
    assert [noted[name] for name in options] == [[4, 4], [0, 0], [2, 8]]
    assert dropped(TEXTS, stop_words=None, max_words=2)[1]["max_words"] == [4, 5]


def test_from_texts_keeps_no_list_of_dropped_words_unless_asked():
    with noting() as notes:
        Corpus.from_texts(TEXTS)
    assert notes == {"found": {}, "left_out": {}}


# ---------------------------------------------------------------------- Japanese and Chinese

JAPANESE = [
    "政府は新しい経済政策を発表した。",
    "サッカー日本代表が試合に勝った。",
    "経済政策と試合",
]
CHINESE = [
    "我们都是中国人，今天天气很好，政府公布了新的经济政策。",
    "大家一起去公园玩 with friends",
]
TRADITIONAL = ["我們都是學生，今天天氣很好，政府公布了新的經濟政策。"]


def test_without_a_segmenter_a_sentence_is_a_word():
    assert Corpus.from_texts(JAPANESE[:1]).vocabulary == ("政府は新しい経済政策を発表した",)


def test_japanese_is_cut_into_words_without_particles_and_endings():
    skip_without_budoux()
    corpus = Corpus.from_texts(JAPANESE, segmenter="japanese")
    assert {"政府", "経済政策", "発表", "サッカー日本代表", "試合"} == set(corpus.vocabulary)
    assert Corpus.from_texts(["今日は天気がとても良い"], segmenter="japanese").vocabulary == (
        "とても",
        "今日",
        "天気",
    )
    single = Corpus.from_texts(
        ["吾輩は猫である"], segmenter="japanese", token_pattern=r"[^\W\d_]+", stop_words="japanese"
    )
    assert "猫" in single.vocabulary


@pytest.mark.parametrize(
    ("texts", "name", "words"),
    [
        (
            CHINESE,
            "chinese",
            {"中国人", "今天", "天气", "政府", "公布", "经济", "政策", "公园", "friends"},
        ),
        (
            TRADITIONAL,
            "chinese-traditional",
            {"學生", "今天", "天氣", "政府", "公布", "經濟", "政策"},
        ),
    ],
)
def test_chinese_is_cut_into_words_and_others_stay_whole(texts, name, words):
    skip_without_budoux()
    corpus = Corpus.from_texts(texts, segmenter=name, more_stop_words="我们,我們,大家,一起")
    assert set(corpus.vocabulary) == words
    assert corpus.table.texts == tuple(texts) and corpus.table.counted["segmenter"] == name


def test_english_is_read_alike_with_a_segmenter():
    skip_without_budoux()
    texts = ["Red ants eat the café's jam", "42 green bees"]
    for name in SEGMENTERS:
        assert (
            Corpus.from_texts(texts, segmenter=name).content_hash
            == Corpus.from_texts(texts).content_hash
        )


def test_a_segmenter_that_there_is_not_is_one_sentence(monkeypatch):
    with pytest.raises(
        CorpusError,
        match="segmenter must be japanese, chinese, chinese-traditional or None; got 'japan'",
    ):
        Corpus.from_texts(JAPANESE, segmenter="japan")
    monkeypatch.setattr("workbench.corpus.texts.words.find_spec", lambda name: None)
    with pytest.raises(
        CorpusError,
        match=r"segmenter='chinese' needs the package budoux; `pip install budoux`, or leave it out",
    ):
        Corpus.from_texts(CHINESE, segmenter="chinese")
    assert segmenter_of(None)("今天") == "今天"


def test_a_phrase_in_a_text_that_is_shown_has_one_colour():
    from workbench.measures.documents import counted_words

    text = "In New  York, the new Mills."
    counted = Corpus.from_texts([text], phrases="new york").table.counted
    shown, found = counted_words(text, counted)
    assert [shown[start:end] for start, end, word in found] == [
        "In",
        "New  York",
        "the",
        "new",
        "Mills",
    ]
    assert [word for *_, word in found] == ["in", "new_york", "the", "new", "mills"]


def test_a_text_that_is_shown_has_its_words_in_colour():
    from workbench.measures import token_topics
    from workbench.views.coloured_words import segments_of_text

    skip_without_budoux()
    corpus = Corpus.from_texts(CHINESE * 3, segmenter="chinese")
    run = wb.fit(corpus, "cvb0", n_topics=2, n_iterations=2, progress=False)
    pieces = segments_of_text(CHINESE[0], token_topics(run, corpus, 0), corpus.table.counted)
    assert "".join(piece["word"] for piece in pieces).replace("\u200b", "") == CHINESE[0]
    assert {"政府", "经济"} <= {piece["word"] for piece in pieces if piece["topic"] is not None}
