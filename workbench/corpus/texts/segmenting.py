"""Texts of languages that put no blanks between words, cut into words by the package budoux.

Its models find phrases: in Chinese these are words; in Japanese a word and its particles or ending, which are cut off here.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

from workbench.errors import DataError, Named, nearest_or_all

SEGMENTERS = {
    "japanese": "load_default_japanese_parser",
    "chinese": "load_default_simplified_chinese_parser",
    "chinese-traditional": "load_default_traditional_chinese_parser",
}
"""What a segmenter is called → the function of budoux that loads its model."""
UNSPACED = re.compile("[々-〇ぁ-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾟ\U00020000-\U0003ffff]+")
"""Chinese characters and kana."""
ENDING = re.compile("(?<=[^ぁ-ゟ])[ぁ-ゟ]+$")
"""Hiragana behind other signs: the particles of a noun, the ending of a verb."""
SEEN = "\u200b"
"""A blank without width, to stand between words of a text that is shown."""


def segmenter_of(name: str | None, between: str = " ") -> Callable[[str], str]:
    """Return a function that puts blanks between the words of a text; None where texts stay as they are.

    Only Chinese characters and kana are looked at, so that words of other scripts stay whole.

    Raises
    ------
    DataError
        Another name; the package is not installed.
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
