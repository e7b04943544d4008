"""Corpora drawn from a model, with the true parameters, and a CSV file of simulated news.

Each function returns ``(corpus, truth)``; the truth has ``theta`` (document, topic), ``phi`` (topic, word) and the
counts of the tokens' true topics, ``n_dk`` (document, topic) and ``n_kw`` (topic, word). `load_corpus` draws the
same corpora by name: ``load_corpus("bars", side=4)`` or ``load_corpus("bars:side=4")``.

Equal arguments give equal corpora with one version of numpy.
"""

import csv
import io
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial, wraps
from inspect import signature
from numbers import Real
from pathlib import Path
from reprlib import repr as shorter

import numpy as np

from workbench.corpus.corpus import TEXT_BYTES, Corpus, CorpusError
from workbench.data.available_memory import check_fits
from workbench.data.names import with_options
from workbench.data.opening import path_of
from workbench.data.saving import encoded, put_files
from workbench.errors import DataError

LEAST = {
    "side": 2,
    "n_documents": 1,
    "n_words": 1,
    "tokens_per_document": 1,
    "n_topics": 1,
    "seed": 0,
}
"""Arguments that are whole numbers, with the smallest value of each; all others are real numbers."""
PRIORS = ("alpha", "beta")


def _bytes(n_documents: float, n_words: float, n_topics: float, n_tokens: float = 0) -> float:
    """Estimate the bytes needed to draw a corpus of this size: parameters, counts, texts, and the order of the tokens."""
    return (
        16.0 * n_topics * (n_documents + n_words)
        + 2.0 * TEXT_BYTES * (n_documents + n_words)
        + 80.0 * n_tokens
    )


def _checked(name: str, value: object):
    """Return an argument of a simulating function as a number; raise an error if it is no number or out of range."""
    number = (
        isinstance(value, Real) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max
    )
    if name not in LEAST and (not number or (value == 0 and name in PRIORS)):
        least = "greater than" if name in PRIORS else "of at least"
        raise CorpusError(f"{name} must be a number {least} 0; got {shorter(value)}")
    if name in LEAST and (not number or value < LEAST[name] or value != math.floor(value)):
        raise CorpusError(
            f"{name} must be a whole number of at least {LEAST[name]}; got {shorter(value)}"
        )
    return int(value) if name in LEAST else float(value)


def _name_corpus(forecast: Callable, draw: Callable) -> Callable:
    """Wrap the simulating function ``draw``: check its arguments, and name the corpus by those that are not defaults.

    The wrapper checks the arguments, and that the draw fits into memory: ``forecast`` of all arguments gives the bytes.
    """
    arguments = signature(draw)

    @wraps(draw)
    def named(*args, **options):
        settings = {
            name: _checked(name, value)
            for name, value in arguments.bind(*args, **options).arguments.items()
        }
        defaults = {name: parameter.default for name, parameter in arguments.parameters.items()}
        # their products may be infinite
        sizes = {name: float(value) for name, value in (defaults | settings).items()}
        check_fits(
            forecast(**sizes),
            with_options(draw.__name__, settings),
            "ask for fewer or shorter documents",
        )
        try:
            corpus, truth = draw(**settings)
        except DataError:
            raise
        except ValueError as error:  # numpy's, of distributions that are none in its precision
            sentence = f"{with_options(draw.__name__, settings)} cannot be drawn ({error}); take priors nearer to 1"
            raise CorpusError(sentence) from None
        changed = {
            name: value
            for name, value in settings.items()
            if value != arguments.parameters[name].default
        }
        return replace(corpus, name=with_options(draw.__name__, changed)), truth

    return named


@partial(
    _name_corpus,
    lambda side, n_documents, tokens_per_document, **others: _bytes(
        n_documents, side * side, 2 * side, n_documents * tokens_per_document
    ),
)
def bars(
    side: int = 5,
    n_documents: int = 1000,
    tokens_per_document: int = 100,
    seed: int = 0,
    alpha: float = 1.0,
) -> tuple[Corpus, dict]:
    """Simulate pictures of ``side`` × ``side`` pixels; each topic is uniform over the pixels of one row or column.

    The defaults are the published ones: words are 25 pixels (``r1c1`` …), topics 10 bars, the rows first. An
    argument out of range raises CorpusError.

    Source: Griffiths & Steyvers (2004), figure 1.
    """
    pixels = np.arange(side**2).reshape(side, side)
    phi = np.zeros((2 * side, side**2))
    for k, bar in enumerate([*pixels, *pixels.T]):
        phi[k, bar] = 1 / side
    random = np.random.default_rng(seed)
    theta = random.dirichlet(np.full(2 * side, alpha), n_documents)
    vocabulary = [f"r{row}c{column}" for row in range(1, side + 1) for column in range(1, side + 1)]
    return _draw(theta, phi, np.full(n_documents, tokens_per_document), random, vocabulary)


@partial(
    _name_corpus,
    lambda n_documents, n_words, n_topics, tokens_per_document, spread, **others: _bytes(
        n_documents,
        n_words,
        n_topics,
        n_documents * tokens_per_document * math.exp(min(spread, 30.0) ** 2 / 2),
    ),
)
def zipf(
    n_documents: int = 2000,
    n_words: int = 5000,
    tokens_per_document: int = 150,
    n_topics: int = 20,
    exponent: float = 1.0,
    seed: int = 0,
    alpha: float = 0.1,
    beta: float = 0.1,
    spread: float = 0.7,
) -> tuple[Corpus, dict]:
    """Simulate documents whose lengths and word frequencies resemble those of real text.

    Each topic is a Dirichlet draw whose mean falls with a word's rank as rank^-exponent: phi_k ~
    Dirichlet(n_words · beta · mean). A document's length is log-normal about a median.

    Parameters
    ----------
    tokens_per_document : int
        The median; every document has at least one token.
    exponent : float, default 1, Zipf's law
        0 gives words that are equally frequent on average.
    alpha, beta : float
        Dirichlet priors per topic and, on average, per word type: small ones give documents of few topics, and
        topics that differ.
    spread : float, default 0.7, that of KOS
        Standard deviation of the log of the length; 0 gives all documents one length.
    """
    random = np.random.default_rng(seed)
    mean = np.arange(1, n_words + 1) ** -exponent
    phi = random.dirichlet(n_words * beta * mean / mean.sum(), n_topics)
    theta = random.dirichlet(np.full(n_topics, alpha), n_documents)
    lengths = np.exp(math.log(tokens_per_document) + spread * random.standard_normal(n_documents))
    return _draw(theta, phi, np.maximum(1, np.rint(lengths)).astype(np.int64), random)


@partial(
    _name_corpus,
    lambda n_documents, n_words, n_topics, **others: (
        _bytes(n_documents, n_words, n_topics) + 24.0 * n_documents * n_words
    ),
)
def lda(
    n_documents: int = 200,
    n_words: int = 500,
    tokens_per_document: int = 100,
    n_topics: int = 10,
    seed: int = 0,
    alpha: float = 0.1,
    beta: float = 0.1,
) -> tuple[Corpus, dict]:
    """Simulate documents of equal length from LDA; `workbench.models.LDA.simulate` has more options."""
    return draw_lda(np.full(n_topics, alpha), beta, n_documents, n_words, tokens_per_document, seed)


def draw_lda(
    alphas: np.ndarray,
    beta: float | np.ndarray,
    n_documents: int,
    n_words: int,
    tokens_per_document: int,
    seed: int,
) -> tuple[Corpus, dict]:
    """Simulate a corpus for `workbench.models.LDA.simulate`; return it with its true parameters and counts.

    beta : prior of each word in a topic, one number or (topic, word)
    """
    random = np.random.default_rng(seed)
    n_topics = len(alphas)
    if np.ndim(beta):
        phi = np.array([random.dirichlet(row) for row in beta])
    else:
        phi = random.dirichlet(np.full(n_words, beta), n_topics)
    theta = random.dirichlet(alphas, n_documents)
    n_dk = random.multinomial(tokens_per_document, theta)
    counts, n_kw = (
        np.zeros((n_documents, n_words), dtype=np.int64),
        np.zeros((n_topics, n_words), dtype=np.int64),
    )
    for k in range(n_topics):
        topic_counts = random.multinomial(n_dk[:, k], phi[k])
        counts += topic_counts
        n_kw[k] = topic_counts.sum(0)
    documents, words = np.nonzero(counts)
    corpus = Corpus.from_pairs(
        documents,
        words,
        counts[documents, words],
        n_documents=n_documents,
        n_words=n_words,
        name="simulated",
    )
    return corpus, {"theta": theta, "phi": phi, "n_dk": n_dk, "n_kw": n_kw}


def _draw(
    theta: np.ndarray,
    phi: np.ndarray,
    lengths: np.ndarray,
    random: np.random.Generator,
    vocabulary: tuple[str, ...] | None = None,
) -> tuple[Corpus, dict]:
    """Simulate a corpus from given theta and phi; return it with its true parameters and counts.

    beta : prior of each word in a topic, one number or (topic, word)
    """
    n_documents, n_words = len(theta), phi.shape[1]
    n_dk = random.multinomial(lengths, theta)
    n_kw = np.zeros(phi.shape, dtype=np.int64)
    documents, words = [], []
    for k, n_d in enumerate(n_dk.T):
        shares = np.cumsum(phi[k])
        topic_words = np.searchsorted(shares / shares[-1], random.random(n_d.sum()), side="right")
        n_kw[k] = np.bincount(topic_words, minlength=n_words)
        documents.append(np.repeat(np.arange(n_documents), n_d))
        words.append(topic_words)
    documents, words = np.concatenate(documents), np.concatenate(words)
    corpus = Corpus.from_pairs(
        documents, words, np.ones(len(words), np.int64), vocabulary, n_documents, n_words
    )
    return corpus, {"theta": theta, "phi": phi, "n_dk": n_dk, "n_kw": n_kw}


@dataclass(frozen=True)
class DrawnSet:
    """A named data set that is simulated on request and stored nowhere."""

    draw: Callable
    title: str
    n_documents: int  # with the default options
    n_words: int
    n_tokens: int | None  # None if the number is random
    origin: str

    @property
    def name(self) -> str:
        """The name of the function that simulates the corpus."""
        return self.draw.__name__

    @property
    def options(self) -> dict:
        """Return the options of `load` by name, with their defaults."""
        return {
            name: parameter.default for name, parameter in signature(self.draw).parameters.items()
        }

    def folder(self) -> None:
        """Return None: a simulated data set has no files."""
        return None

    def whereabouts(self) -> str:
        """Return "drawn": the data set is simulated."""
        return "drawn"

    def facts(self) -> dict:
        """Return name, title and options of the data set, as values that JSON can hold."""
        names = ("name", "title", "n_documents", "n_words", "n_tokens", "origin", "options")
        return {**{name: getattr(self, name) for name in names}, "where": self.whereabouts()}

    def load(self, **options) -> Corpus:
        """Simulate the corpus; for its true parameters too, call the function, as in ``wb.synthetic.bars(side=4)``."""
        return self.draw(**options)[0]


DRAWN = (
    DrawnSet(
        bars,
        "rows and columns of a square of pixels, the topics known",
        1000,
        25,
        100_000,
        "drawn here; Griffiths & Steyvers (2004), figure 1",
    ),
    DrawnSet(
        zipf,
        "documents with the word frequencies of real text, the topics known",
        2000,
        5000,
        None,
        "drawn here",
    ),
    DrawnSet(
        lda,
        "documents of one length drawn from LDA, the topics known",
        200,
        500,
        20_000,
        "drawn here",
    ),
)


WORDS = {
    "sport": "match team goal player coach league season score win fans",
    "food": "recipe kitchen salt bread cheese oven dinner",
    "technology": "software data cloud model chip network code startup device",
    "health": "doctor patient vaccine hospital drug trial symptom nurse clinic",
    "money": "bank market stock price tax budget loan",
}
FIRST, DAYS = date(2019, 1, 1), 1800
BREAK, OWN = 0.3, 0.8
"""The day from which health is common, as a share of all days; the share of a document's words from its category."""
EMPTY, TWICE = 200, 11
"""One document in this many is empty; number of the document that repeats the text before it."""


def write_example_csv(path: str | Path, n_documents: int = 1500, seed: int = 0) -> Path:
    """Write a CSV file of simulated news with id, date, category, source and text; return its path.

    A document has a day, uniform over 1,800 from 2019 on, and a category and a second theme drawn with weights that change with
    the day: technology rises all the time, health at once after three tenths of it, money falls. Of its 15 to 39 words four in
    five are of the category, uniform over its words, the others of the second theme; the source is web or print by chance.
    Every 200th text is empty, and one is repeated.

    Raise DataError for fewer than 20 documents, a seed out of range or a path that cannot be written.
    """
    n_documents, random = (
        CorpusError.whole("n_documents", n_documents, 20),
        np.random.default_rng(CorpusError.whole("seed", seed, 0)),
    )
    themes, rows = [words.split() for words in WORDS.values()], []
    for number in range(n_documents):
        day = int(random.integers(DAYS))
        share_of_time = day / DAYS
        weights = np.array(
            [
                1.0,
                1.0,
                0.3 + 2 * share_of_time,
                0.3 if share_of_time < BREAK else 2.0,
                1.6 - 1.5 * share_of_time,
            ]
        )
        theme, second_theme = random.choice(len(themes), 2, p=weights / weights.sum())
        from_main = random.random(random.integers(15, 40)) < OWN
        words = [
            str(random.choice(themes[theme if is_main else second_theme])) for is_main in from_main
        ]
        text = "" if number % EMPTY == EMPTY // 2 else f"The {' '.join(words)}."
        item_date = FIRST + timedelta(days=day)
        rows.append(
            [
                f"item {number}",
                item_date.isoformat(),
                list(WORDS)[theme],
                str(random.choice(["web", "print"])),
                text,
            ]
        )
    rows[TWICE][-1] = rows[TWICE - 1][-1]
    content = io.StringIO()
    csv.writer(content, lineterminator="\n").writerows(
        [["id", "date", "category", "source", "text"], *rows]
    )
    path = path_of(path)
    put_files({path: encoded(content.getvalue(), path)})
    return path
