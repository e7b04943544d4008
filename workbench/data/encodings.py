"""Decode the bytes of text files: by UTF-8, a byte order mark, a named encoding, or a detected one."""

import codecs
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from workbench.data.blocks import start_of
from workbench.data.reading import note
from workbench.errors import DataError

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
STRICT = "utf-8"
DETECT = "detect"
WESTERN = "cp1252"
LEAST = 32
"""Minimum of bytes beyond ASCII to detect the script of a text; with fewer, Latin letters are assumed."""
SAMPLE = 1 << 18
"""Bytes from which an encoding is detected."""
FITTING = 0.75
"""Share of the bytes beyond ASCII that must be letters of the language; of random bytes a half may be."""
OF_WEST = (
    "àâæçèéêëîïôœùûüÿ",
    "äöüß",
    "áéíñóúü",
    "àáâãçéêíóôõúü",
    "åäéö",
    "åæéø",
    "àèéìíòóùú",
    "áæéíðóöúýþ",
    "äõöüšž",
    "àçèéíïòóúü",
    "áèéëïóöü",
    "çë",
)
OF_CENTRE = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "âîăşţ", "ćčđšž")
LETTERS = {
    WESTERN: OF_WEST,
    "cp1250": OF_CENTRE,
    "cp1254": ("âçîöûüğışi̇",),
    "cp1257": ("ąčėęįšūųž", "āčēģīķļņšūž"),
    "iso8859_2": OF_CENTRE,
    "mac_roman": OF_WEST,
    "cp850": OF_WEST,
}
"""Encoding of Latin letters → the letters beyond ASCII of languages that use it; of encodings that fit equally, the first is
chosen. French, German, Spanish, Portuguese, Swedish and Finnish, Danish and Norwegian, Italian, Icelandic, Estonian, Catalan,
Dutch, Albanian; Polish, Czech, Slovak, Hungarian, Romanian, Slovenian and Croatian; Turkish; Lithuanian, Latvian."""
LATIN = "LATIN"
"""Beginning of the Unicode names of Latin letters."""
SIGNS = "‘’‚“”„«»‹›–—…•·€£§°©®™ªº¿¡½×\xa0"
"""Characters beyond ASCII, besides letters, that texts in any language have."""


def decoded(data: bytes, path: Path, encoding: str = STRICT) -> str:
    """Return the bytes of a file as text.

    Parameters
    ----------
    encoding : str, default "utf-8"
        "detect": where the bytes are not UTF-8 and look like another encoding, that one, with a warning. A byte order mark of
        UTF-8, UTF-16 or UTF-32 comes first, unless another encoding is named.

    Raises
    ------
    DataError
        An unknown encoding; a byte that is invalid in the encoding, with its line.
    """
    name = _expected_encoding(data, encoding)
    try:
        text = data.decode(name)
    except UnicodeError:
        text = data.decode(name := named_encoding(lambda: [data], path, encoding))
    note("found", encoding=name)
    return text


def named_encoding(
    blocks: Callable[[], Iterable[bytes]], path: Path, encoding: str = STRICT
) -> str:
    """Return the name of the encoding in which `decoded` reads these bytes; ``blocks()`` must yield them anew at each call.

    Raises
    ------
    DataError
        As `decoded`.
    """
    name = _expected_encoding(next(filter(None, blocks()), b""), encoding)
    if (error := _error(blocks(), name)) is None:
        return name
    if encoding == DETECT and name == STRICT and (detected := _detect(blocks)):
        warnings.warn(
            f"{path} is not UTF-8 and was read as {detected}; say encoding=… if that is wrong",
            stacklevel=3,
        )
        return detected
    line, byte = error
    expected, mend = (
        name.removesuffix("-sig").upper(),
        f"save the file with the encoding {STRICT.upper()}",
    )
    if encoding == DETECT:
        mend += ", or say which it has with encoding=…"
    raise DataError(f"{path}, line {line}: byte 0x{byte:02x} is not {expected}; {mend}")


def _expected_encoding(start: bytes, encoding: str) -> str:
    """Return the encoding given as option, else the one of a byte order mark, else UTF-8."""
    if encoding not in (STRICT, DETECT):
        return _python_name(encoding)
    return next(
        (encoding_name for mark, encoding_name in MARKS.items() if start.startswith(mark)), STRICT
    )


def _error(blocks: Iterable[bytes], name: str) -> tuple[int, int] | None:
    """Return (line, byte value) of the first byte that is invalid in the encoding; None if all are valid."""
    decoder, n_lines, block = codecs.getincrementaldecoder(name)(), 0, b""
    try:
        for block in blocks:
            decoder.decode(block)
            n_lines += block.count(b"\n")
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        position, data = getattr(error, "start", 0), getattr(error, "object", block)
        return n_lines + data.count(b"\n", 0, position) + 1, data[position] if position < len(
            data
        ) else 0
    return None


def _python_name(encoding: object) -> str:
    """Return Python's name of a text encoding; raise an error if Python has no such encoding."""
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        codec = None
    if codec is None or not codec._is_text_encoding:
        raise DataError.must_be(
            "encoding", "the name of an encoding, as utf-8, cp1252 or utf-16", encoding
        )
    return "utf-8-sig" if codec.name == STRICT else codec.name


def _detect(blocks: Callable[[], Iterable[bytes]]) -> str | None:
    """Return the encoding detected in bytes that are not valid UTF-8; None if they are damaged UTF-8 or no text."""
    if any(b"\0" in block for block in blocks()) or _has_utf8(blocks()):
        return None
    sample = start_of(blocks(), SAMPLE)[:SAMPLE]
    high_bytes = Counter(byte for byte in sample if byte > 127)
    encoding = _best_guess(sample) if high_bytes.total() >= LEAST else None
    return next(
        (
            name
            for name in (encoding or _latin_encoding(high_bytes), WESTERN)
            if _error(blocks(), name) is None
        ),
        None,
    )


def _has_utf8(blocks: Iterable[bytes]) -> bool:
    """Return whether most bytes beyond ASCII form valid UTF-8 characters."""
    n_high = n_invalid = 0
    for text in codecs.iterdecode(blocks, "utf-8", "replace"):
        n_invalid += text.count("\ufffd")
        n_high += sum(character > "\x7f" for character in text) if not text.isascii() else 0
    return n_high - n_invalid >= n_invalid


def _best_guess(data: bytes) -> str | None:
    """Return the encoding that charset-normalizer detects; None if the letters beyond ASCII are mostly Latin."""
    from charset_normalizer import from_bytes

    match = from_bytes(data).best()
    signs = [sign for sign in str(match or "") if sign > "\x7f"]
    n_other = sum(
        sign.isalpha() and not unicodedata.name(sign, LATIN).startswith((LATIN, "MODIFIER"))
        for sign in signs
    )
    return match.encoding if 2 * n_other > len(signs) else None


def _latin_encoding(high_bytes: Counter[int]) -> str:
    """Return the Latin encoding that turns most bytes beyond ASCII into letters of one language; else Western European."""

    def n_known(name: str, letters: str) -> int:
        return sum(
            n
            for byte, n in high_bytes.items()
            if (sign := bytes([byte]).decode(name, "replace").lower()) in letters or sign in SIGNS
        )

    scores = {
        name: max(n_known(name, letters) for letters in languages)
        for name, languages in LETTERS.items()
    }
    best = max(scores, key=scores.get)
    return best if scores[best] >= FITTING * high_bytes.total() else WESTERN
