"""Names suggested for topics: frequent phrases of their documents, their most relevant words, and a title."""

import math
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import pdtrc

from workbench.corpus.document_table import DocumentTable
from workbench.corpus.texts.words import SEEN
from workbench.measures.documents import counted_words, ranked_documents
from workbench.measures.matching import responsibilities
from workbench.measures.selection import MeasureError, attributes, one_run
from workbench.measures.topics import place_of, top_words, topics_by_size, used_topics, word_tokens
from workbench.runs.store.notes import LONGEST_LABEL

N_DOCUMENTS, N_TITLES = 50, 10
"""Numbers of a topic's most representative documents whose texts and titles are read."""
MOST_TEXT = 50_000
"""Number of letters of a text that are read."""
LONGEST_PHRASE, FEWEST_DOCUMENTS = 4, 2
"""Largest number of words of a phrase, and smallest number of documents that have it."""
CHANCE = 0.01
"""Two words are a phrase if fewer pairs than this are expected to be adjacent as often by chance, a Poisson number of times."""
N_WORDS, RELEVANCE = 3, 0.6
"""Number of words that make a name, and the weight by which they are ranked, see `top_words`."""
ADJACENT = re.compile(rf"[ \t\r\n{SEEN}-]+")
"""What may stand between two words of a phrase."""
BETWEEN = " \0 "
"""Separator of texts that are read together, which is no part of a phrase."""

NUMBERED = re.compile(r"document \d+")
"""A title that a corpus without titles has."""


class Word(NamedTuple):
    """A word of a text: which document has it, where it is in the text, and its place in the vocabulary."""

    document: int
    start: int
    end: int
    word: int


def suggested_names(
    run: xr.Dataset, table: DocumentTable | None = None, n: int = 4, topic: int | None = None
) -> xr.Dataset:
    """Return names that suit each topic, or one ``topic`` alone, at the last snapshot, the best first.

    First come phrases of two to four adjacent words, in texts and titles of the topic's 50 most representative documents
    (`representative_documents`). The likeliest topic of each of their words is this one, at least two documents have the
    phrase, and its words are adjacent more often than by chance. They are ranked by the product of their C-value, where f
    counts documents, and the mean over their words of log(phi / p(w))::

        C(a) = log2 |a| (f(a) - mean of f over the longer phrases that contain a)

    Then come the topic's three words of the highest relevance (lambda = 0.6, see `top_words`), and of the titles of its ten
    most representative documents the one whose words of the topic have the highest probability in all.

    Parameters
    ----------
    run : Dataset of one run
    table : DocumentTable, optional
        The texts, ``corpus.table`` or ``Run.table``; without it, phrases are those of titles.
    n : int, default 4
        Maximum number of names of a topic.

    Returns
    -------
    Dataset
        Dims ``topic`` (largest first) and ``rank`` (from 1): ``name``, "" where there is none, and ``source``: "phrase",
        "words" or "title".

    Frantzi, Ananiadou & Mima (2000); Sievert & Shirley (2014), section 3.1.
    """
    run, n = one_run(run), MeasureError.whole("the number of names", n, 1)
    words = top_words(run, N_WORDS, RELEVANCE)["word"]
    topics = topics_by_size(run) if topic is None else [int(words["topic"][place_of(run, topic)])]
    names_and_sources = np.full((2, len(topics), n), "", dtype=object)
    for row, each in enumerate(topics):
        phrases, title = _phrases_and_title(run, each, table)
        of_words = ", ".join(map(str, words.sel(topic=each).values))
        n_phrases = max(n - 1 - bool(title), 1)
        names = [(name, "phrase") for name in phrases[:n_phrases]] + [(of_words, "words")]
        names += [(title, "title")] if title else []
        for rank, name in enumerate(names[:n]):
            names_and_sources[:, row, rank] = _as_label(name[0]), name[1]
    dims = "topic", "rank"
    return xr.Dataset(
        {
            "name": (dims, names_and_sources[0], attributes("suggested name of the topic")),
            "source": (dims, names_and_sources[1], attributes("what the name is made of")),
        },
        {"topic": topics, "rank": np.arange(1, n + 1)},
    )


def _as_label(name: str) -> str:
    """Return a name as a label may be: in one line, without control characters, cut at a blank if it is too long."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())
    return (
        line
        if len(line) <= LONGEST_LABEL
        else line[: LONGEST_LABEL + 1].rsplit(" ", 1)[0][:LONGEST_LABEL]
    )


def _phrases_and_title(
    run: xr.Dataset, topic: int, table: DocumentTable | None
) -> tuple[list[str], str]:
    """Return the phrases of a topic's documents, the best first, and one of their titles, or "" for none."""
    if not {"n_dk", "theta"} <= set(run) or "document" not in run["theta"].dims:
        return [], ""
    documents = ranked_documents(run, topic)[0][:N_DOCUMENTS]
    titles = [str(title) for title in run["document"].values[documents]]
    counting = table.counted if table is not None else {}
    used_run = used_topics(run)
    if topic not in used_run["topic"]:
        return [], ""
    likelihoods = used_run["theta"][documents].values, used_run["phi"].values.T
    position = used_run["topic"].values.tolist().index(topic)
    index = {str(word): number for number, word in enumerate(used_run["word"].values)}
    in_titles = _own_words(titles, likelihoods, position, index, counting)
    word_lists = [in_titles]
    if table is not None and table.texts is not None:
        texts = [str(table.texts[document] or "") for document in documents]
        word_lists.append(_own_words(texts, likelihoods, position, index, counting))
    own_words = {
        (word.document, word.word)
        for word in in_titles[1]
        if word.document < N_TITLES and not NUMBERED.fullmatch(titles[word.document])
    }
    probabilities = Counter()  # document → probability of the topic's words in its title
    for document, word in sorted(own_words):
        probabilities[document] += float(likelihoods[1][word, position])
    tokens = word_tokens(run)
    phi = np.maximum(likelihoods[1][:, position], 1e-300)
    lifts = np.log(phi * tokens.sum() / np.maximum(tokens, 1.0))
    return _phrases(word_lists, lifts), titles[
        max(probabilities, key=probabilities.get)
    ] if probabilities else ""


def _own_words(
    texts: list[str],
    likelihoods: tuple[np.ndarray, np.ndarray],
    position: int,
    index: Mapping[str, int],
    counting: Mapping[str, object],
) -> tuple[str, list[Word]]:
    """Return the texts as one, and those of its words whose likeliest topic in their document is the topic at ``position``.

    likelihoods : theta (document, topic) and phi (word, topic); index : word → its place in phi
    """
    joined_texts = BETWEEN.join(text.replace("\0", " ")[:MOST_TEXT] for text in texts)
    text, spans = counted_words(joined_texts, counting)
    bounds = [match.start() for match in re.finditer("\0", text)]
    words = [
        Word(bisect_right(bounds, start), start, end, index[spelt])
        for start, end, spelt in spans or ()
        if spelt in index
    ]
    if not words:
        return text, []
    cells = np.array([word.document * len(index) + word.word for word in words])
    distinct, inverse = np.unique(cells, return_inverse=True)
    documents, ids = np.divmod(distinct, len(index))
    is_own = responsibilities(*likelihoods, documents, ids).argmax(axis=1) == position
    return text, [word for word, is_one in zip(words, is_own[inverse], strict=True) if is_one]


def _phrases(word_lists: list[tuple[str, list[Word]]], lifts: np.ndarray) -> list[str]:
    """Return the phrases of adjacent words, the best first; of two that share two words only the better one.

    lifts : log(phi / p(w)) of each word
    """
    documents, spelt = defaultdict(set), defaultdict(Counter)
    n_words = Counter(word.word for _, words in word_lists for word in words)
    for text, words in word_lists:
        for first in range(len(words)):
            for last in range(first + 1, min(first + LONGEST_PHRASE, len(words))):
                if not ADJACENT.fullmatch(text, words[last - 1].end, words[last].start):
                    break
                phrase = tuple(word.word for word in words[first : last + 1])
                documents[phrase].add(words[first].document)
                written = text[words[first].start : words[last].end].replace(SEEN, "")
                spelt[phrase][" ".join(written.split())] += 1
    n_pairs = {phrase: each.total() for phrase, each in spelt.items() if len(phrase) == 2}
    chance = sum(n_pairs.values()) / max(n_words.total(), 1) ** 2
    joined_pairs = set()
    for pair, n_pair in n_pairs.items():
        expected_number = chance * n_words[pair[0]] * n_words[pair[1]]
        if pdtrc(n_pair - 1, expected_number) * len(n_pairs) < CHANCE:
            joined_pairs.add(pair)
    n_documents = {
        phrase: len(documents_of_phrase)
        for phrase, documents_of_phrase in documents.items()
        if len(documents_of_phrase) >= FEWEST_DOCUMENTS
        and len({*phrase}) == len(phrase)
        and joined_pairs.issuperset(pairwise(phrase))
    }
    longer = defaultdict(list)
    for phrase, n in n_documents.items():
        for length in range(2, len(phrase)):
            for first in range(len(phrase) - length + 1):
                longer[phrase[first : first + length]].append(n)
    values = {
        phrase: lifts[[*phrase]].mean()
        * math.log2(len(phrase))
        * (n - (np.mean(longer[phrase]) if longer[phrase] else 0))
        for phrase, n in n_documents.items()
    }
    best: list[tuple[int, ...]] = []
    for phrase in sorted(values, key=values.get, reverse=True):
        if values[phrase] > 0 and all(len({*phrase} & {*other}) < 2 for other in best):
            best.append(phrase)
    return [spelt[phrase].most_common(1)[0][0] for phrase in best]
