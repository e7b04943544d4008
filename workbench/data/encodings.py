"""Bytes of text files as text: UTF-8, what a byte order mark says, an encoding that is named, or one that is detected."""

import codecs
import warnings
from pathlib import Path

from workbench.errors import DataError

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
STRICT = "utf-8"
DETECT = "detect"
WESTERN = "cp1252"
LEAST = 32
"""Bytes beyond ASCII from which an encoding can be told from others; with fewer, Western European is taken."""
SAMPLE = 1 << 18


def decoded(data: bytes, path: Path, encoding: str = STRICT) -> str:
    """The bytes of a file as text.

    Parameters
    ----------
    encoding : str, default "utf-8"
        "detect": where the bytes are not UTF-8 and look like another encoding, that one, with a warning. A byte order mark of
        UTF-8, UTF-16 or UTF-32 comes first, unless another encoding is named.

    Raises
    ------
    DataError
        An encoding that there is not; a byte that is none of the encoding, with its line.
    """
    name = next((known for mark, known in MARKS.items() if data.startswith(mark)), STRICT)
    if encoding not in (STRICT, DETECT):
        name = _known(encoding)
    try:
        return data.decode(name)
    except UnicodeError as error:
        at = getattr(error, "start", 0)
        if encoding == DETECT and name == STRICT and (found := _detected(data)):
            warnings.warn(f"{path} is not UTF-8 and was read as {found}; say encoding=… if that is wrong", stacklevel=2)
            return data.decode(found)
        line = data.count(b"\n", 0, at) + 1
        wanted, mend = name.removesuffix("-sig").upper(), f"save the file with the encoding {STRICT.upper()}"
        if encoding == DETECT:
            mend += ", or say which it has with encoding=…"
        raise DataError(f"{path}, line {line}: byte 0x{data[at]:02x} is not {wanted}; {mend}") from None


def _known(encoding) -> str:
    """Python's name of an encoding of text."""
    try:
        found = codecs.lookup(encoding)
    except (LookupError, TypeError, ValueError):
        found = None
    if found is None or not found._is_text_encoding:
        raise DataError.must_be("encoding", "the name of an encoding, as utf-8, cp1252 or utf-16", encoding)
    return "utf-8-sig" if found.name == STRICT else found.name


def _detected(data: bytes) -> str | None:
    """The encoding of bytes that are not UTF-8; None where they are UTF-8 with damage, or no text."""
    if b"\0" in data or _has_utf8(data):
        return None
    beyond = sum(byte > 127 for byte in data[:SAMPLE])
    found = _best(data[:SAMPLE]) if beyond >= LEAST else WESTERN
    for name in filter(None, (found, WESTERN)):
        try:
            data.decode(name)
            return name
        except UnicodeError:
            continue
    return None


def _has_utf8(data: bytes) -> bool:
    """Do most of the bytes beyond ASCII make characters of UTF-8?"""
    text = data.decode("utf-8", errors="replace")
    wrong = text.count("\ufffd")
    right = sum(character > "\x7f" for character in text) - wrong
    return right >= wrong


def _best(data: bytes) -> str | None:
    """What charset-normalizer takes the bytes for."""
    from charset_normalizer import from_bytes

    found = from_bytes(data).best()
    return found and found.encoding
