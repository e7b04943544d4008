"""Japanese and Chinese are cut into words."""

import pytest
from missing import skip_without_budoux

import workbench as wb
from workbench.corpus.texts.words import SEGMENTERS, segmenter_of
from workbench.errors import DataError

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
    assert wb.Corpus.from_texts(JAPANESE[:1]).vocabulary == ("政府は新しい経済政策を発表した",)


def test_japanese_is_cut_into_words_without_particles_and_endings():
    skip_without_budoux()
    corpus = wb.Corpus.from_texts(JAPANESE, segmenter="japanese")
    assert {"政府", "経済政策", "発表", "サッカー日本代表", "試合"} == set(corpus.vocabulary)
    assert wb.Corpus.from_texts(["今日は天気がとても良い"], segmenter="japanese").vocabulary == (
        "とても",
        "今日",
        "天気",
    )
    single = wb.Corpus.from_texts(
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
    corpus = wb.Corpus.from_texts(texts, segmenter=name, more_stop_words="我们,我們,大家,一起")
    assert set(corpus.vocabulary) == words
    assert corpus.table.texts == tuple(texts) and corpus.table.counted["segmenter"] == name


def test_english_is_read_alike_with_a_segmenter():
    skip_without_budoux()
    texts = ["Red ants eat the café's jam", "42 green bees"]
    for name in SEGMENTERS:
        assert (
            wb.Corpus.from_texts(texts, segmenter=name).content_hash
            == wb.Corpus.from_texts(texts).content_hash
        )


def test_a_segmenter_that_there_is_not_is_one_sentence(monkeypatch):
    with pytest.raises(
        DataError,
        match="segmenter must be japanese, chinese, chinese-traditional or None; got 'japan'",
    ):
        wb.Corpus.from_texts(JAPANESE, segmenter="japan")
    monkeypatch.setattr("workbench.corpus.texts.words.find_spec", lambda name: None)
    with pytest.raises(
        DataError,
        match=r"segmenter='chinese' needs the package budoux; `pip install budoux`, or leave it out",
    ):
        wb.Corpus.from_texts(CHINESE, segmenter="chinese")
    assert segmenter_of(None)("今天") == "今天"


def test_a_text_that_is_shown_has_its_words_in_colour():
    from workbench.dashboard.topics.documents import text_coloured
    from workbench.measures import token_topics

    skip_without_budoux()
    corpus = wb.Corpus.from_texts(CHINESE * 3, segmenter="chinese")
    run = wb.fit(corpus, "cvb0", n_topics=2, n_iterations=2, progress=False)
    pieces = text_coloured(CHINESE[0], token_topics(run, corpus, 0), corpus.table.counted)
    assert "".join(piece["word"] for piece in pieces).replace("\u200b", "") == CHINESE[0]
    assert {"政府", "经济"} <= {piece["word"] for piece in pieces if piece["topic"] is not None}
