"""Split a text into words: pattern or tokenizer, case, accents, length, stop words, n-grams.

Texts of languages without blanks between words are cut by the package budoux, whose models find phrases: in Chinese these are
words; in Japanese a word and its particles or ending, which are cut off here.

Stop words of English are scikit-learn's; those of other languages come from the package `stop-words`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from inspect import signature
from itertools import chain
from pathlib import Path

from workbench.corpus.texts.english_stop_words import ENGLISH_STOP_WORDS
from workbench.errors import DataError, Named, nearest_or_all, shown

SEGMENTERS = {
    "japanese": "load_default_japanese_parser",
    "chinese": "load_default_simplified_chinese_parser",
    "chinese-traditional": "load_default_traditional_chinese_parser",
}
"""Name of a segmenter → the function of budoux that loads its model."""
UNSPACED = re.compile("[々-〇ぁ-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾟ\U00020000-\U0003ffff]+")
"""Chinese characters and kana."""
ENDING = re.compile("(?<=[^ぁ-ゟ])[ぁ-ゟ]+$")
"""Hiragana after other characters: the particles of a noun, the ending of a verb."""
SEEN = "\u200b"
"""A blank of zero width, put between the words of a text that is shown."""


def segmenter_of(name: str | None, between: str = " ") -> Callable[[str], str]:
    """Return a function that puts ``between`` between the words of Chinese or Japanese text; `str` for no segmenter.

    Only Chinese characters and kana are split; words of other scripts stay whole.

    Raises
    ------
    DataError
        An unknown name; the package is not installed.
    """
    if name is None:
        return str
    if name not in SEGMENTERS:
        raise DataError(
            Named("segmenter"),
            f" must be {', '.join(SEGMENTERS)} or None; got {name!r}; "
            f"{nearest_or_all(name, SEGMENTERS)}",
            field="segmenter",
            value=name,
        )
    if find_spec("budoux") is None:
        raise DataError(
            Named("segmenter", repr(name)),
            " needs the package budoux; `pip install budoux`, or leave it out",
            field="segmenter",
            value=name,
        )
    parse = _model(name).parse

    def words_of(run: re.Match) -> str:
        phrases = (
            ENDING.sub(lambda signs: between + between.join(signs[0]), phrase)
            for phrase in parse(run[0])
        )
        return f"{between}{between.join(phrases)}{between}"

    return lambda text: UNSPACED.sub(words_of, text)


@lru_cache
def _model(name: str):
    import budoux

    return getattr(budoux, SEGMENTERS[name])()


WORD_PATTERN = r"[^\W\d_]{2,}"  # two letters or more of any alphabet; no digits, no underscores
CONTRACTIONS = frozenset(
    (
        "ain",
        "aren",
        "couldn",
        "didn",
        "doesn",
        "don",
        "hadn",
        "hasn",
        "haven",
        "isn",
        "ll",
        "mustn",
        "needn",
        "shan",
        "shouldn",
        "ve",
        "wasn",
        "weren",
        "wouldn",
    )
)  # what WORD_PATTERN leaves of "don't", "we'll", "they've"
ACCENTS = ("keep", "strip")
MOST_NGRAM = 5
JOINT = "_"
"""Joins the words of an n-gram."""


def analyser(
    stop_words="english",
    token_pattern: str = WORD_PATTERN,
    lowercase: bool = True,
    accents: str = "keep",
    min_letters: int = 1,
    ngrams: int = 1,
    tokenizer: Callable[[str], Iterable[str]] | None = None,
    more_stop_words=None,
    segmenter: str | None = None,
    phrases=None,
) -> Callable[[str], list[str]]:
    """Return a function from a text to the list of its words; the options are those of `count_words`.

    Raises
    ------
    DataError
        An option out of range; when the function is called, a tokenizer that returns something else than strings.
    """
    pattern = compiled_pattern(token_pattern)
    DataError.whole("min_letters", min_letters, 1)
    ngrams = DataError.whole("ngrams", ngrams, 1, MOST_NGRAM)
    if not isinstance(lowercase, bool):
        raise DataError.must_be("lowercase", "true or false", lowercase)
    DataError.one_of("accents", accents, ACCENTS)
    if tokenizer is not None and not callable(tokenizer):
        raise DataError.must_be("tokenizer", "a function of a text, or None", tokenizer)
    segment = segmenter_of(segmenter)
    spell, plain_spelling = spelling(lowercase, accents), spelling(False, accents)

    def words_in(text: str) -> list[str]:
        text = segment(spell(text))
        return pattern.findall(text) if tokenizer is None else _tokens(tokenizer, text)

    known = known_phrases(phrases, words_in)
    stop_words = chain(stop_list(stop_words), further_words(more_stop_words))
    joined = {JOINT.join(phrase) for same_start in known.values() for phrase in same_start}

    def tokens_of(stop_word: str) -> list[str]:
        word = plain_spelling(stop_word.lower())
        return [word] if word in joined else pattern.findall(word)

    left_out = frozenset(token for word in stop_words for token in tokens_of(word))

    def words_of(text: str) -> list[str]:
        words = words_in(text)
        if known:
            words = [JOINT.join(words[start:end]) for start, end in units(words, known)]
        if lowercase:  # as most texts are read, and faster
            words = [word for word in words if word not in left_out]
        elif left_out:
            words = [word for word in words if word.lower() not in left_out]
        if min_letters > 1:
            words = [word for word in words if len(word) >= min_letters]
        sequences = (
            words[start : start + n]
            for n in range(2, ngrams + 1)
            for start in range(len(words) - n + 1)
        )
        return [*words, *map(JOINT.join, sequences)] if ngrams > 1 else words

    return words_of


OF_WORDS = {name: option.default for name, option in signature(analyser).parameters.items()}
"""Option by which words are found in texts → its default."""


def spelling(lowercase: bool, accents: str) -> Callable[[str], str]:
    """Return a function that lower-cases a text and strips accents, as the options say."""
    plain = _without_accents if accents == "strip" else str
    return (lambda text: plain(text.lower())) if lowercase else plain


def _tokens(tokenizer: Callable, text: str) -> list[str]:
    tokens = list(tokenizer(text))
    if odd := [token for token in tokens if not isinstance(token, str)]:
        raise DataError(
            f"the tokenizer must give strings; it gave {shown(repr(odd[0]))}", field="tokenizer"
        )
    return tokens


def _without_accents(text: str) -> str:
    """Return the text without accents: é becomes e."""
    if text.isascii():
        return text
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(character)
    )


def compiled_pattern(token_pattern: str) -> re.Pattern:
    """Return the compiled pattern of a word; raise an error if it is invalid or has more than one group."""
    try:
        pattern = re.compile(token_pattern)
    except (re.error, TypeError, RecursionError, OverflowError) as error:
        problem = f" must be a regular expression; {token_pattern!r} is not ({error})"
        raise DataError(Named("token_pattern"), problem, value=token_pattern) from None
    if pattern.groups > 1:
        raise DataError(
            Named("token_pattern"),
            f" may have one group, the word; {token_pattern!r} has {pattern.groups}; ",
            "write (?:…) for the others",
            value=token_pattern,
        )
    return pattern


def most_frequent(counts: Mapping[str, int], n: int | None) -> list[str]:
    """Return the ``n`` most frequent words (None: all), the most frequent first; ties are in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))[:n]


def languages() -> list[str]:
    """Return the languages that have a list of stop words, English first."""
    from stop_words import AVAILABLE_LANGUAGES

    return ["english", *sorted(set(AVAILABLE_LANGUAGES) - {"english"})]


def stop_list(stop_words) -> Iterable[str]:
    """Return stop words: those of a language, of a file with one per line, of a list, or of text separated by commas.

    None, "none" and "" give no words. A text with a comma is a file if a file of this name exists.
    """
    if stop_words is None or (
        isinstance(stop_words, str) and stop_words.strip().lower() in ("", "none")
    ):
        return ()
    if isinstance(stop_words, str) and "," in stop_words and not Path(stop_words).is_file():
        return further_words(stop_words)
    if stop_words == "english":
        return ENGLISH_STOP_WORDS | CONTRACTIONS
    if isinstance(stop_words, str | Path):
        return (
            _file_words(Path(stop_words)) if _is_path(stop_words) else _language_words(stop_words)
        )
    words = list(stop_words) if isinstance(stop_words, Iterable) else [None]
    if not all(isinstance(word, str) for word in words):
        raise DataError.must_be(
            "stop_words", "a language, a file, a list of words or None", stop_words
        )
    return words


def known_phrases(phrases, words_in: Callable[[str], list[str]]) -> dict[str, list[list[str]]]:
    """Return a dict first word -> phrases that begin with it, as lists of words, the longest first.

    phrases : phrases, or a text separated by commas; ``words_in`` cuts each into words

    Raises
    ------
    DataError
        Phrases that are no texts, or a phrase of less than two words, or with a comma.
    """
    known: dict[str, list[list[str]]] = {}
    for phrase in further_words(phrases, "phrases"):
        if "," in phrase:  # which separates phrases in links and commands
            raise DataError(
                f"a phrase must have no comma; got {shown(repr(phrase))}", field="phrases"
            )
        words = words_in(phrase)
        if len(words) < 2:
            raise DataError(
                "each of the ",
                Named("phrases"),
                f" must have two words or more; {shown(repr(phrase))} has {len(words)}",
                field="phrases",
            )
        known.setdefault(words[0], []).append(words)
    return {word: sorted(found, key=len, reverse=True) for word, found in known.items()}


def units(words: list[str], phrases: dict[str, list[list[str]]]) -> Iterator[tuple[int, int]]:
    """Yield the first position of each single word or phrase, and the position after its last word.

    Of phrases that begin with the same word the longest counts, of those that overlap the first.
    """
    start = 0
    while start < len(words):
        end = start + 1
        for phrase in phrases.get(words[start], ()):
            if words[start : start + len(phrase)] == phrase:
                end = start + len(phrase)
                break
        yield start, end
        start = end


def further_words(words, option: str = "more_stop_words") -> list[str]:
    """Return the words of a list, or of text separated by commas; no word is taken for a language or file name."""
    words = words.split(",") if isinstance(words, str) else () if words is None else words
    word_list = list(words) if isinstance(words, Iterable) else [None]
    if not all(isinstance(word, str) for word in word_list):
        what = option.split("_")[-1]
        raise DataError.must_be(
            option, f"{what} separated by commas, a list of {what} or None", words
        )
    return [word.strip() for word in word_list if word.strip()]


def is_language(stop_words: object) -> bool:
    """Return whether the value names a language that has a list of stop words."""
    return (
        isinstance(stop_words, str)
        and stop_words.strip().lower() not in ("", "none")
        and not ("," in stop_words or _is_path(stop_words))
    )


def _is_path(name: str) -> bool:
    return isinstance(name, Path) or bool(set(name) & set("./\\"))


def _language_words(language: str) -> list[str]:
    from stop_words import LANGUAGE_MAPPING, get_stop_words

    name = LANGUAGE_MAPPING.get(language.lower(), language.lower())
    if name == "english":
        return list(stop_list("english"))
    if name not in (known_languages := languages()):
        hint = nearest_or_all(language, known_languages)
        raise DataError(
            Named("stop_words"),
            f" must be a language, a file, a list of words or None; got {language!r}; {hint}",
            field="stop_words",
            value=language,
        )
    return get_stop_words(name)


def _file_words(path: Path) -> list[str]:
    from workbench.data.opening import path_of, read_text

    if not path_of(path).is_file():
        raise DataError(
            f"there is no file {path} of stop words; check the path, or name a language",
            field="stop_words",
        )
    return [word for line in read_text(path).splitlines() if (word := line.strip())]
