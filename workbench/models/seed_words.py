"""Seed words: words that topics are expected to have, as pseudo-counts in the prior of these topics."""

import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral

from workbench.errors import Got, Named, nearest_or_all
from workbench.models.model import ModelError
from workbench.models.options import OptionError, option

MARK = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([^\s:;,"]+)|([:;])|,|\s)')
"""A word in quotes, a word without them, or what ends a topic's name or its words; commas and blanks separate words."""
PLAIN = re.compile(r'[^\s:;,"]+')
SEEDS = Named("seed_words")
WEIGHT = 100.0
"""Default of ``seed_weight``."""
MOST_DIGITS = 9
"""Maximum number of digits of a topic's number."""


def seed_words_option():
    """Return the option ``seed_words`` of models with topics."""
    return option(
        "",
        "words that topics are expected to have, as energy: oil barrel; sport: ball game. Names stand for the first topics "
        "in order, a number for the topic with this number.",
        choices=("",),
        otherwise=seeds_text,
        late=True,
        label="Seed words",
        example="energy: oil barrel; sport: ball game",
    )


def seed_weight_option():
    """Return the option ``seed_weight`` of models with topics."""
    return option(
        WEIGHT,
        "pseudo-counts of each seed word in its topic: as many tokens as the prior has already seen there",
        low=1e-3,
        high=1e9,
        late=True,
        label="Weight of a seed word",
    )


def seeds_text(seeds: Mapping | str) -> str:
    """Return seed words as text such as "energy: oil barrel; sport: ball game", which `parse_seeds` parses.

    seeds : a text of this form, or topic (a name, or a number from 0 on) → words. A name or word with blanks or one of
        ``: ; ,`` has double quotes. The words of a set are sorted.

    Raises
    ------
    OptionError
        For another type, a topic without words, or one that is named twice.
    """
    if isinstance(seeds, Mapping):
        texts = [_topic_text(topic, words) for topic, words in seeds.items()]
        if None not in texts:
            seeds = "; ".join(texts)
    if not isinstance(seeds, str):
        raise OptionError(
            SEEDS,
            " must be a dict from topics (names, or numbers from 0 on) to words, as {'energy': ['oil', 'barrel']}, or a text, "
            "as energy: oil barrel; sport: ball game",
            Got(seeds),
            value=seeds,
        )
    return "; ".join(
        f"{_quoted(topic)}: {' '.join(map(_quoted, words))}"
        for topic, words in parse_seeds(seeds).items()
    )


def _topic_text(topic: object, words: object) -> str | None:
    """Return a topic and its words as text; None if one of them is of another type."""
    is_number = isinstance(topic, Integral) and not isinstance(topic, bool) and topic >= 0
    if not (is_number or isinstance(topic, str)) or not isinstance(words, Iterable):
        return None
    found = tuple(words.split() if isinstance(words, str) else words)
    if not all(isinstance(word, str) and word for word in found):
        return None
    in_order = sorted(found) if isinstance(words, set | frozenset) else found
    return f"{_quoted(str(topic))}: {' '.join(map(_quoted, in_order))}"


def parse_seeds(text: str) -> dict[str, tuple[str, ...]]:
    """Return topic → its seed words, from a text such as "energy: oil barrel; sport: ball game"; topic 03 is "3".

    Raises
    ------
    OptionError
    """
    topics: dict[str, tuple[str, ...]] = {}
    for part in _parts(text):
        if not part:
            continue
        end = part.index(None) if None in part else 0
        name, words = " ".join(part[:end]), tuple(dict.fromkeys(part[end + 1 :]))
        if not name or not words or None in words:
            raise _not_seeds(
                text, f"'{' '.join(word or ':' for word in part)}' is no topic with its words"
            )
        if name.isdecimal():
            if len(name) > MOST_DIGITS:
                raise _not_seeds(text, f"topic '{name[:MOST_DIGITS]}…' is no number of a topic")
            name = str(int(name))
        if name in topics:
            raise _not_seeds(text, f"topic '{name}' comes twice")
        topics[name] = words
    return topics


def _parts(text: str) -> list[list[str | None]]:
    """Split a text at its semicolons into lists of words, with None for a colon."""
    parts: list[list[str | None]] = [[]]
    position = 0
    while position < len(text):
        match = MARK.match(text, position)
        if match is None:
            raise _not_seeds(text, "a quotation mark has no end")
        quoted, word, mark = match.groups()
        position = match.end()
        if mark == ";":
            parts.append([])
        elif quoted or word or mark:
            parts[-1].append(re.sub(r"\\(.)", r"\1", quoted[1:-1]) if quoted else word)
    return parts


def _not_seeds(text: str, reason: str) -> OptionError:
    return OptionError(
        SEEDS,
        f": {reason}; write each topic once, as energy: oil barrel; sport: ball game",
        value=text,
    )


def _quoted(word: str) -> str:
    return word if PLAIN.fullmatch(word) else '"' + re.sub(r'(["\\])', r"\\\1", word) + '"'


def cells_of_seeds(
    text: str, n_topics: int, vocabulary: Sequence[str]
) -> tuple[tuple[int, int], ...]:
    """Return the (topic, word) numbers of the seed words in a text. Names get the first topics that no number claims, in order.

    Raises
    ------
    ModelError
        For a topic beyond ``n_topics``, or a word that the vocabulary lacks.
    """
    seeds, number_of_word = parse_seeds(text), {word: w for w, word in enumerate(vocabulary)}
    numbers = _numbers(seeds, n_topics)
    for name, k in numbers.items():
        if k >= n_topics:
            raise ModelError(
                SEEDS,
                f" has words for topic '{name}', and the topics are 0 to {n_topics - 1}; leave it out, or set ",
                Named("n_topics"),
                value=text,
            )
    unknown = [word for words in seeds.values() for word in words if word not in number_of_word]
    if unknown:
        more = f" and {len(unknown) - 1} more" if unknown[1:] else ""
        advice = nearest_or_all(
            unknown[0], vocabulary, "leave it out, or choose a word of the corpus"
        )
        raise ModelError(
            SEEDS, f" has '{unknown[0]}'{more}, which the corpus lacks; {advice}", value=text
        )
    return tuple(
        (numbers[name], number_of_word[word]) for name, words in seeds.items() for word in words
    )


def names_of_topics(text: str, n_topics: int) -> list[str]:
    """Return the name that seed words give to each topic, "" for none."""
    numbers, names = _numbers(parse_seeds(text), n_topics), [""] * n_topics
    for name, k in numbers.items():
        names[k] = "" if name.isdecimal() else name
    return names


def _numbers(seeds: Iterable[str], n_topics: int) -> dict[str, int]:
    """Return the number of each topic; from ``n_topics`` on where there are too few."""
    claimed = {int(name) for name in seeds if name.isdecimal()}
    free = (k for k in range(n_topics) if k not in claimed)
    return {name: int(name) if name.isdecimal() else next(free, n_topics) for name in seeds}
