"""Named data sets whose documents have inputs (covariates) or are in sequences: names by state and year, symbols, text.

They are made from files in a folder of WORKBENCH_DATA each time; nothing of them is stored. Each names
the rows that are held out by default.

Source: specification of stick-breaking, C.6 and D.5; Linderman, Johnson & Adams (2015), section 4.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path

import numpy as np

from workbench.corpus.catalog.data_set import DataSet, Form
from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.formats.by_name import numbered
from workbench.corpus.formats.fasta import rows_of_symbols
from workbench.corpus.texts.english_stop_words import ENGLISH_STOP_WORDS
from workbench.corpus.texts.words import WORD_PATTERN
from workbench.data.drawing import check_whole
from workbench.data.names import with_options
from workbench.data.opening import read_text

OUTSIDE = frozenset(("AK", "HI", "DC"))
"""States outside the contiguous United States."""
UNCOUNTED = frozenset(("CA", "IL", "NY", "TX"))
"""States without full counts."""
YEARS = range(1960, 2014)
FIRST_TEST_YEAR = 2012


@dataclass(frozen=True, kw_only=True)
class MadeSet(DataSet):
    """A named data set that a function builds from files; its sizes are those with the default options."""

    make: Callable[..., Corpus]
    held_out_rows: str

    @property
    def options(self) -> dict:
        """The options of `load`, as a dict from names to defaults."""
        return {
            name: parameter.default
            for name, parameter in signature(self.make).parameters.items()
            if parameter.default is not parameter.empty
        }

    def load(self, **options) -> Corpus:
        """Return the corpus with these options; with the defaults, raise an error if it differs from the published one."""
        changed = {name: value for name, value in options.items() if value != self.options[name]}
        if not changed:
            return self._verified()[1]
        form = next(iter(self._found()), None)
        if form is None:
            raise CorpusError(self._how_to_get())
        return self._made(*form, changed)

    def _made(self, folder: Path, form: Form, changed: dict) -> Corpus:
        corpus = self.make(*(folder / file for file in form.files), **changed)
        return replace(
            corpus, name=with_options(self.name, changed), held_out_rows=self.held_out_rows
        )

    def _checked(self, folder: Path, form: Form, mend: str = "replace or remove it") -> Corpus:
        corpus = self._made(folder, form, {})
        if corpus.content_hash != self.content:
            raise CorpusError(
                f"the files of the data set {self.name!r} in {folder} are not those described: content with the sha256 "
                f"{self.content[:12]}… was wanted, {corpus.content_hash[:12]}… came; {mend}"
            )
        return corpus


# ---------------------------------------------------------------------- names


def names_by_state(counted: Path, places: Path, births: int | str = 50, draw: int = 0) -> Corpus:
    """Return boys' names by state and year as a corpus: 44 states, 1960 to 2013, the 100 most frequent names.

    For years before 2012, ``births`` births of each row are drawn without replacement with the seed ``draw``; "all" keeps
    the full counts. From 2012 on the counts are always full.
    """
    if births != "all":
        check_whole("births", births, 1)
    check_whole("draw", draw, 0)
    left_out = OUTSIDE | UNCOUNTED
    rows = csv.DictReader(io.StringIO(read_text(counted)))
    lines = [
        (row["STATE"], int(row["YEAR"]), row["NAME"], int(row["COUNT"]))
        for row in rows
        if row["SEX"] == "M" and row["STATE"] not in left_out
    ]
    totals = Counter()
    for _, _, name, count in lines:
        totals[name] += count
    names = sorted(totals, key=lambda name: (-totals[name], name))[:100]
    states = sorted({state for state, *_ in lines})
    row_of_state, column_of_name = (
        {value: index for index, value in enumerate(values)} for values in (states, names)
    )
    counts = np.zeros((len(states), len(YEARS), len(names)), np.int64)
    for state, year, name, count in lines:
        if name in column_of_name:
            counts[row_of_state[state], year - YEARS[0], column_of_name[name]] = count
    counts = counts.reshape(-1, len(names))
    year, state = np.tile(np.array(YEARS), len(states)), np.repeat(states, len(YEARS))
    titles = [f"{value} {other}" for value, other in zip(state, year, strict=True)]
    trained = np.flatnonzero(year < FIRST_TEST_YEAR)
    if births != "all":
        fewest = trained[counts[trained].sum(axis=1).argmin()]
        if counts[fewest].sum() < births:
            least = f"{titles[fewest]} has {counts[fewest].sum()}"
            raise CorpusError(
                f"births must be 'all' or at most those of every row, and {least}; got {births}; ask for fewer"
            )
        counts[trained] = drawn_without_replacement(counts[trained], births, draw)
    latitude, longitude = _coordinates(places, state)
    documents, words = np.nonzero(counts)
    return Corpus.from_pairs(
        documents,
        words,
        counts[documents, words],
        vocabulary=names,
        n_documents=len(counts),
        titles=titles,
        inputs={"year": year, "latitude": latitude, "longitude": longitude},
    )


def drawn_without_replacement(counts: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Draw n items of each row of counts without replacement (Floyd's algorithm); return the drawn counts (row, word)."""
    totals, bits = counts.sum(axis=1), np.random.PCG64(seed)
    chosen = np.full((len(counts), n), -1, np.int64)
    for i in range(n):
        last = totals - n + i
        place = (bits.random_raw(len(counts)) % (last + 1).astype(np.uint64)).astype(np.int64)
        chosen[:, i] = np.where((chosen[:, :i] == place[:, None]).any(axis=1), last, place)
    up_to = counts.cumsum(axis=1)
    words = np.stack(
        [np.searchsorted(row, items, "right") for row, items in zip(up_to, chosen, strict=True)]
    )
    drawn = np.zeros_like(counts)
    np.add.at(drawn, (np.arange(len(counts))[:, None], words), 1)
    return drawn


def _coordinates(path: Path, states: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return the latitudes and the longitudes (state,) of the states, from a file of lines ``state,latitude,longitude``."""
    known = {
        row[0]: (float(row[1]), float(row[2])) for row in csv.reader(io.StringIO(read_text(path)))
    }
    return tuple([known[state][which] for state in states] for which in (0, 1))


# ---------------------------------------------------------------------- sequences


def of_sequences(symbols: dict[str, list[str]], vocabulary: list[str]) -> Corpus:
    """Return named sequences of symbols as a corpus: each symbol is a document with one token."""
    rows = rows_of_symbols(symbols)
    ids, _ = numbered(rows["words"], vocabulary)
    return Corpus.from_pairs(**rows | {"words": ids, "vocabulary": vocabulary})


def windows_of(symbols: list[str], length: int, n: int) -> dict[str, list[str]]:
    """Cut the symbols into n consecutive windows of ``length`` symbols; return them by name, from "window 0" on."""
    most = len(symbols) // length
    if check_whole("windows", n, 1) > most:
        raise CorpusError(f"windows must be at most {most}, of {length:,} symbols each; got {n}")
    return {f"window {w}": symbols[w * length : (w + 1) * length] for w in range(n)}


def protein(path: Path) -> Corpus:
    """Return the protein corpus: nineteen windows of 682 symbols, amino acids and ``*``; the vocabulary is alphabetical."""
    symbols = list("".join(read_text(path).split()))
    return of_sequences(windows_of(symbols, 682, 19), sorted(set(symbols)))


def running_text(path: Path, windows: int = 1) -> Corpus:
    """Return a book's text as windows of 4,000 tokens, reduced to its 1,000 most frequent words without stop words."""
    tokens = _unstopped(read_text(path))
    words = _most_frequent(Counter(tokens), 1000)
    return of_sequences(
        windows_of([token for token in tokens if token in words], 4000, windows), words
    )


def stories(path: Path) -> Corpus:
    """Return the first 20 stories of at least 60 tokens, reduced to the 200 most frequent words without stop words."""
    entries = [json.loads(line) for line in read_text(path).splitlines()]
    texts = {str(story["id"]): _unstopped(story["body"] or "") for story in entries}
    words = _most_frequent(Counter(token for tokens in texts.values() for token in tokens), 200)
    known = set(words)
    texts = {name: [token for token in tokens if token in known] for name, tokens in texts.items()}
    return of_sequences(
        dict([(name, tokens) for name, tokens in texts.items() if len(tokens) >= 60][:20]), words
    )


def _unstopped(text: str) -> list[str]:
    """Return the words of a text in lower case without scikit-learn's stop words."""
    return [
        word for word in re.findall(WORD_PATTERN, text.lower()) if word not in ENGLISH_STOP_WORDS
    ]


def _most_frequent(counts: Counter, n: int) -> list[str]:
    """Return the ``n`` most frequent words in descending order of frequency; ties are in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))[:n]


COVARIATE_SETS = (
    MadeSet(
        "names",
        "boys' names by state and year, 50 births a row before 2012; held out are 2012 and 2013",
        (Form(("names_state.csv.gz", "state_latlon.csv")),),
        make=names_by_state,
        held_out_rows="year>=2012",
        content="05c7e2663b759c16f8c3f23bdbdfa067c14703c89d7d3a7d59f39930ee326b3e",
        n_documents=2_376,
        n_words=100,
        n_pairs=81_573,
        n_tokens=914_105,
        agreement="44 contiguous states where the paper has 48: full counts of CA, IL, NY and TX are not among the files",
        licence="US government data",
        origin="the state files of the US Social Security Administration; coordinates from HIPS/pgmult",
    ),
    MadeSet(
        "dna",
        "protein symbols translated from human chromosome 17, 19 windows of 682; held out are the last 10 of each",
        (Form(("human_chr17_part.aa.txt",)),),
        make=protein,
        held_out_rows="last 10",
        content="a512b110f83510d6be3e0a869bfeaaebac5cd47aea597783962dcf6983c6675d",
        n_documents=12_958,
        n_words=21,
        n_pairs=12_958,
        n_tokens=12_958,
        agreement="a stand-in: the paper's 682 symbols are of chromosome 22",
        licence="BSD-style, of mdshw5/pyfaidx",
        origin="tests/data/chr17.hg19.part.fa of mdshw5/pyfaidx, translated in frame 1",
    ),
    MadeSet(
        "alice",
        "Alice's Adventures in Wonderland, 4,000 tokens of its 1,000 most frequent words; held out are the last 100",
        (Form(("alice.txt",)),),
        make=running_text,
        held_out_rows="last 100",
        content="850d05f76e4410852bbc45e0a562ee196574c4fe2aaa913f907757390d196e48",
        n_documents=4_000,
        n_words=1_000,
        n_pairs=4_000,
        n_tokens=4_000,
        agreement="9,247 tokens of these words in all, where the authors' program has 9,367 with another list of stop words",
        licence="public domain",
        origin="Project Gutenberg, as in HIPS/pgmult",
    ),
    MadeSet(
        "reuters_sequences",
        "20 Reuters stories of at least 60 tokens over 200 words; held out are the last 10 of each",
        (Form(("reuters21578.jsonl.gz",)),),
        make=stories,
        held_out_rows="last 10",
        content="eafece4b776a470ab8fe4c470ee35b156fbaff0ec9c76d4c6c3e94ea2494f3b1",
        n_documents=1_622,
        n_words=200,
        n_pairs=1_622,
        n_tokens=1_622,
        agreement="instead of the paper's 20 articles of Associated Press, whose running text is not available",
        licence="for research purposes only",
        origin="Reuters-21578, distribution 1.0",
    ),
)
