"""The published data sets of the catalog, and those prepared from them: their files, content, origin and licence.

Statistics were counted on the files; ``agreement`` says how they compare with what was published.
data/README.md describes the same, with the origin of each file.

Some have documents with inputs (covariates), or in sequences: names by state and year, symbols, text. They are made from files
in a folder of WORKBENCH_DATA each time; nothing of them is stored. Each names the rows that are held out by default.

Source of these: specification of stick-breaking, C.6 and D.5; Linderman, Johnson & Adams (2015), section 4.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import pairwise
from pathlib import Path

import numpy as np

from workbench.corpus.catalog.data_set import DataSet, Form
from workbench.corpus.corpus import Corpus, CorpusError
from workbench.corpus.experiments import (
    drop_stop_words,
    frequent_words,
    keep_documents,
    keep_top_words,
)
from workbench.corpus.formats.by_name import numbered
from workbench.corpus.formats.fasta import rows_of_symbols
from workbench.corpus.formats.npz import read_arrays
from workbench.corpus.texts.english_stop_words import ENGLISH_STOP_WORDS
from workbench.corpus.texts.words import WORD_PATTERN, most_frequent
from workbench.data.names import with_options
from workbench.data.opening import read_lines, read_text


def titles(path: Path) -> dict:
    """Return the titles in a file that has one title per line."""
    return {"titles": read_lines(path, None, "lines")}


def years_titles_authors(documents: Path, authors_of: Path, names: Path) -> dict:
    """Return times and titles from lines ``year TAB title`` or ``year/name``, and authors as `_authors` reads them."""
    rows = [line.split("\t") for line in read_lines(documents, None, "lines")]
    try:
        years = [int(row[0].split("/")[0]) for row in rows]
    except ValueError as error:
        raise CorpusError(f"{documents}: each line must begin with a year ({error})") from None
    return {
        "titles": [row[-1] for row in rows],
        "times": years,
        "authors": _authors(authors_of, names),
    }


def ids_and_topics(path: Path) -> dict:
    """Return titles and labels from lines ``id TAB split TAB topics``; titles are the ids, labels the topics."""
    rows = [line.split("\t") for line in read_lines(path, None, "lines")]
    return {"titles": [row[0] for row in rows], "labels": [row[-1] for row in rows]}


def newsgroups(labels: Path, groups: Path) -> dict:
    """Return the newsgroup of each message as its label, and a title such as ``train/alt.atheism/49960``."""
    group_names = read_lines(groups, None, "lines")
    ids, train, numbers = read_arrays(labels, ("label", "train", "file_id")).values()
    labels_of_documents = [group_names[group] for group in ids]
    addresses = zip(np.where(train, "train", "test"), labels_of_documents, numbers, strict=True)
    return {
        "labels": labels_of_documents,
        "titles": [f"{part}/{group}/{number}" for part, group, number in addresses],
    }


def _authors(path: Path, names: Path) -> list[tuple[str, ...]]:
    """Return the names of each document's authors: ``path`` has their numbers, ``names`` has one name per line."""
    author_names = read_lines(names, None, "names")
    indptr, indices = read_arrays(path, ("indptr", "indices")).values()
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(author_names):
        raise CorpusError(
            f"{path}: author ids must lie in 0..{len(author_names) - 1}, the lines of {names.name}"
        )
    return [
        tuple(author_names[author] for author in indices[start:end])
        for start, end in pairwise(indptr)
    ]


UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/bag-of-words"
LDA_PACKAGE = "https://raw.githubusercontent.com/lda-project/lda/HEAD/lda/tests"
LDA_C = "https://raw.githubusercontent.com/blei-lab/lda-c/HEAD/example"

DOCSTRINGS = DataSet(
    "docstrings",
    "docstrings of numpy, scipy, pandas, xarray, scikit-learn and networkx",
    (
        Form(
            (
                "docword.docstrings.txt.gz",
                "vocab.docstrings.txt",
                "titles.docstrings.txt",
                "labels.docstrings.txt",
            )
        ),
    ),
    content="75bb28ebd85f3fc859208b84b5d810c41c013272a3a740c9953710a280289a7e",
    n_documents=3_753,
    n_words=3_908,
    n_pairs=181_760,
    n_tokens=298_356,
    agreement="exact: published here",
    licence="BSD-3-Clause; xarray Apache-2.0",
    origin="the six packages, by data/make_docstrings.py",
    bundled=True,
)

KOS = DataSet(
    "kos",
    "blog entries of dailykos.com, 2004",
    (
        Form(
            ("docword.kos.txt.gz", "vocab.kos.txt"),
            urls=(f"{UCI}/docword.kos.txt.gz", f"{UCI}/vocab.kos.txt"),
        ),
        Form(("kos.npz", "kos.vocab.txt")),
    ),
    content="fddd7667d720c303ab536c7ae58a582b2bab23d1e1176be745a77e2e99f24b99",
    n_documents=3_430,
    n_words=6_906,
    n_pairs=353_160,
    n_tokens=467_714,
    agreement="exact",
    licence="CC BY 4.0 according to its repository; the text belongs to its authors",
    origin='the UCI Machine Learning Repository, data set "Bag of Words"',
)

NIPS = DataSet(
    "nips",
    "papers of NIPS 0-12 (1987-1999), with authors, titles and years",
    (
        Form(
            (
                "nips.npz",
                "nips.vocab.txt",
                "nips.docs.txt",
                "nips.docauthors.npz",
                "nips.authors.txt",
            ),
            years_titles_authors,
        ),
    ),
    content="424b19672c4001fbcc3228fed950ec4ac603f570988db0d8fe72b123503f7431",
    n_documents=1_740,
    n_words=13_649,
    n_pairs=933_295,
    n_tokens=2_301_375,
    agreement="exact, and its 2,037 authors; not the NIPS of UCI, which has 1,500 documents and 12,419 words",
    licence="none stated; the papers belong to their authors",
    origin="S. Roweis' nips12raw_str602, as text in G. Heinrich's knowceans-tools (nips-corpus-20111205.zip)",
)

NIPS17 = DataSet(
    "nips17",
    "papers of NIPS 1-17 (1987-2003), with authors and years",
    (
        Form(
            (
                "nips17.npz",
                "nips17.vocab.txt",
                "nips17.docs.txt",
                "nips17.docauthors.npz",
                "nips17.authors.txt",
            ),
            years_titles_authors,
        ),
    ),
    content="77241e3723817f3507e86478fd5c0df866a37dd8b2c45f28c7ddf33473065a65",
    n_documents=2_483,
    n_words=14_036,
    n_pairs=1_304_438,
    n_tokens=3_280_697,
    agreement="one document short of the 2,484 published: 2000/ZengerKoch has fewer than two non-zero counts, and its source "
    "removed it",
    licence="none stated; the papers belong to their authors",
    origin="G. Chechik's nips_1-17.mat; counts in stephenslab/fastTopics-experiments, authors in knowceans-tools",
)

REUTERS395 = DataSet(
    "reuters395",
    "395 Reuters news stories of 1996-97, the example of the Python package lda",
    (
        Form(("reuters395.npz", "reuters395.vocab.txt", "reuters395.titles.txt"), titles),
        Form(
            ("reuters.ldac", "reuters.tokens", "reuters.titles"),
            titles,
            tuple(
                f"{LDA_PACKAGE}/{file}"
                for file in ("reuters.ldac", "reuters.tokens", "reuters.titles")
            ),
        ),
    ),
    content="532c6e2a56cdd52147c5ae7a7cc8f78cfb236aaf93fc7205d101d33fba37c3ff",
    n_documents=395,
    n_words=4_258,
    n_pairs=60_114,
    n_tokens=84_010,
    agreement="exact",
    licence="distributed with a package under MPL-2.0; the stories are Reuters'",
    origin="the Python package lda (lda-project/lda), files lda/tests/reuters.*",
)

REUTERS_TOP = DataSet(
    "reuters_top",
    "Reuters-21578, stories on the seven topics with more than 300 documents; a reconstruction",
    (
        Form(
            ("reuters_top.npz", "reuters_top.vocab.txt", "reuters_top.docs.txt"),
            ids_and_topics,
        ),
    ),
    content="bd893af9b8a962f8c42fb1b1b7a7b187a6b80979b5cd31f89baff2c0027a21ca",
    n_documents=8_417,
    n_words=4_550,
    n_pairs=354_066,
    n_tokens=563_571,
    agreement="a reconstruction: published were 8,433 documents, 4,593 words and 566,298 tokens, by an unknown selection",
    licence="text copyright Reuters; free distribution for research purposes only",
    origin="Reuters-21578, Distribution 1.0 (D. Lewis): acq, crude, earn, grain, interest, money-fx, trade",
)

AP = DataSet(
    "ap",
    "Associated Press articles of 1988-90, the example of lda-c",
    (
        Form(("ap.npz", "ap.vocab.txt")),
        Form(("ap.dat", "vocab.txt"), urls=(f"{LDA_C}/ap.tgz",)),
    ),
    content="1d7c94b0843332361c0374df36c91789b55b1c15175547de92a6c5c5354e9d5f",
    n_documents=2_246,
    n_words=10_473,
    n_pairs=302_031,
    n_tokens=435_838,
    agreement="exact",
    licence="none stated; from TREC AP",
    origin="the example of D. Blei's lda-c, ap.dat and vocab.txt",
)

NEWS20 = DataSet(
    "news20",
    "20 Newsgroups, split by date into train and test",
    (
        Form(
            ("news20.npz", "news20.vocab.txt", "news20.labels.npz", "news20.groups.txt"),
            newsgroups,
        ),
    ),
    content="9e48be970be253293e4e6ed367dc8ffa3aef5ff1fccb241878890ad1e4cbb34c",
    n_documents=18_774,
    n_words=61_188,
    n_pairs=2_435_219,
    n_tokens=4_562_219,
    agreement="exact in documents, words and the sizes of the groups; 5,277 of its entries, of words of a single document, "
    "were restored from the messages",
    licence="none stated; the messages belong to their authors",
    origin='J. Rennie\'s "bydate" matlab version of 20 Newsgroups',
    parts=("train", "test"),
)

PUBLISHED = (DOCSTRINGS, KOS, NIPS, NIPS17, REUTERS395, REUTERS_TOP, AP, NEWS20)


FIVE_GROUPS = (
    "comp.os.ms-windows.misc",
    "rec.autos",
    "rec.sport.baseball",
    "sci.space",
    "talk.politics.misc",
)


def five_hundred(kos: Corpus) -> Corpus:
    """Return 500 random documents of ``kos`` (numpy's generator, seed 0), in the order drawn, without unused words."""
    documents = np.random.default_rng(0).choice(kos.n_documents, 500, replace=False)
    return frequent_words(kos.of_documents(documents))


@dataclass(frozen=True, kw_only=True)
class PreparedSet(DataSet):
    """A data set made from the files of another one; its sizes are those of the resulting corpus."""

    source: DataSet
    make: Callable[[Corpus], Corpus]
    part: str = "all"  # part of the source

    def folders(self) -> list[Path]:
        """Return the folders to search for the files of the source data set."""
        return self.source.folders()

    def fetch(self, progress: bool = True) -> Path:
        """Return the folder with the files of the source data set; see `DataSet.fetch`."""
        return self.source.fetch(progress)

    def load(self) -> Corpus:
        """Prepare the corpus and return it; raise an error if its content is not the expected one."""
        corpus = replace(self.make(self.source.load(self.part)), name=self.name)
        if corpus.content_hash != self.content:
            raise CorpusError(
                f"the data set {self.name!r} did not come out as described: content with the sha256 {self.content[:12]}… was "
                f"wanted, {corpus.content_hash[:12]}… came; another version of scikit-learn may have other stop words"
            )
        return corpus


def _prepared(
    name: str, title: str, source: DataSet, make: Callable[[Corpus], Corpus], **facts
) -> PreparedSet:
    """Return the data set that the function ``make`` makes from the corpus of ``source``, with the source's licence."""
    origin = f"made here of {source.name!r}: {source.origin}"
    return PreparedSet(
        name,
        title,
        source.forms,
        licence=source.licence,
        origin=origin,
        source=source,
        make=make,
        **facts,
    )


PREPARED = (
    _prepared(
        "kos500",
        "500 blog entries of dailykos.com, drawn from 'kos'",
        KOS,
        five_hundred,
        content="4c7ba5c459abd12c98e46b3cc47fb816e7fc43cd1a5b913d559cecd5c859dd3a",
        n_documents=500,
        n_words=6_253,
        n_pairs=50_212,
        n_tokens=66_321,
        agreement="exact: the documents of the specification of the HDP, section 17",
    ),
    _prepared(
        "news5",
        "five groups of 20 Newsgroups, stop words and rare words out",
        NEWS20,
        lambda news20: frequent_words(drop_stop_words(keep_documents(news20, FIVE_GROUPS)), 10),
        content="2eb7e3f9792fac8c2cf191e8a653944fd8e8b7ca9a8335a6d4efb0274cd0686c",
        n_documents=4_700,
        n_words=8_631,
        n_pairs=340_902,
        n_tokens=510_142,
        agreement="other preparation: published were 4,716 documents, 8,424 words and 437,850 tokens; here scikit-learn's stop "
        "words and words of fewer than ten tokens are out",
    ),
    _prepared(
        "ap1000",
        "Associated Press articles, the 1,000 most frequent words",
        AP,
        lambda ap: keep_top_words(ap, 1000),  # stop words are out already
        content="deeefe5db3d0bed77c04b4e50c2bb9c307e74840ea9db72b9b2f053e1956e3de",
        n_documents=2_246,
        n_words=1_000,
        n_pairs=151_821,
        n_tokens=233_992,
        agreement="as the specification of stick-breaking, B.9, has it; stop words are out of 'ap' already",
    ),
    _prepared(
        "news1000",
        "training messages of 20 Newsgroups, the 1,000 most frequent words, stop words out",
        NEWS20,
        lambda news20: keep_top_words(drop_stop_words(news20, ENGLISH_STOP_WORDS), 1000),
        part="train",
        content="8715aa0a5262cca71d25934a6093731370a4c93d7d86c13356f0e57ddf96c252",
        n_documents=11_269,
        n_words=1_000,
        n_pairs=433_149,
        n_tokens=678_293,
        agreement="as the specification of stick-breaking, B.9, has it",
    ),
)

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
        """Return the corpus built with these options; with the defaults, raise an error for unexpected content."""
        changed = {name: value for name, value in options.items() if value != self.options[name]}
        if not changed:
            return self._verified()[1]
        form = next(iter(self._complete_folders()), None)
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


def names_by_state(
    counted: Path, coordinates_path: Path, births: int | str = 50, draw: int = 0
) -> Corpus:
    """Return counts of the 100 most frequent boys' names as a corpus: a document per state (44) and year (1960 to 2013).

    For years before 2012, ``births`` births of each row are drawn without replacement with the seed ``draw``; "all" keeps
    the full counts. From 2012 on the counts are always full.
    """
    if births != "all":
        births = CorpusError.whole("births", births, 1)
    draw = CorpusError.whole("draw", draw, 0)
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
    names = most_frequent(totals, 100)
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
    train_rows = np.flatnonzero(year < FIRST_TEST_YEAR)
    if births != "all":
        fewest = train_rows[counts[train_rows].sum(axis=1).argmin()]
        if counts[fewest].sum() < births:
            limit = f"{titles[fewest]} has {counts[fewest].sum()}"
            raise CorpusError(
                f"births must be 'all' or at most those of every row, and {limit}; got {births}; ask for fewer"
            )
        counts[train_rows] = drawn_without_replacement(counts[train_rows], births, draw)
    latitude, longitude = _coordinates(coordinates_path, state)
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
    items_drawn = np.full((len(counts), n), -1, np.int64)
    for i in range(n):
        last = totals - n + i
        item = (bits.random_raw(len(counts)) % (last + 1).astype(np.uint64)).astype(np.int64)
        items_drawn[:, i] = np.where((items_drawn[:, :i] == item[:, None]).any(axis=1), last, item)
    cumulative = counts.cumsum(axis=1)
    words = np.stack(
        [
            np.searchsorted(row, items, "right")
            for row, items in zip(cumulative, items_drawn, strict=True)
        ]
    )
    drawn_counts = np.zeros_like(counts)
    np.add.at(drawn_counts, (np.arange(len(counts))[:, None], words), 1)
    return drawn_counts


def _coordinates(path: Path, states: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return the latitudes and the longitudes (state,) of the states, from a file of lines ``state,latitude,longitude``."""
    coordinates = {
        row[0]: (float(row[1]), float(row[2])) for row in csv.reader(io.StringIO(read_text(path)))
    }
    return tuple([coordinates[state][axis] for state in states] for axis in (0, 1))


# ---------------------------------------------------------------------- sequences


def of_sequences(symbols: dict[str, list[str]], vocabulary: list[str]) -> Corpus:
    """Return named sequences of symbols as a corpus: each symbol is a document with one token."""
    rows = rows_of_symbols(symbols)
    ids, _ = numbered(rows["words"], vocabulary)
    return Corpus.from_pairs(**rows | {"words": ids, "vocabulary": vocabulary})


def windows_of(symbols: list[str], length: int, n: int) -> dict[str, list[str]]:
    """Cut the symbols into n consecutive windows of ``length`` symbols; return them by name, from "window 0" on."""
    most = len(symbols) // length
    n = CorpusError.whole("windows", n, 1)
    if n > most:
        raise CorpusError(f"windows must be at most {most}, of {length:,} symbols each; got {n}")
    return {f"window {w}": symbols[w * length : (w + 1) * length] for w in range(n)}


def protein(path: Path) -> Corpus:
    """Return the protein corpus: 19 windows of 682 symbols (amino acids and ``*``), with an alphabetical vocabulary."""
    symbols = list("".join(read_text(path).split()))
    return of_sequences(windows_of(symbols, 682, 19), sorted(set(symbols)))


def running_text(path: Path, windows: int = 1) -> Corpus:
    """Return windows of 4,000 tokens of a book, reduced to its 1,000 most frequent words other than stop words."""
    tokens = _content_words(read_text(path))
    words = most_frequent(Counter(tokens), 1000)
    return of_sequences(
        windows_of([token for token in tokens if token in words], 4000, windows), words
    )


def stories(path: Path) -> Corpus:
    """Return the first 20 stories with at least 60 tokens of the 200 most frequent words other than stop words."""
    entries = [json.loads(line) for line in read_text(path).splitlines()]
    texts = {str(story["id"]): _content_words(story["body"] or "") for story in entries}
    words = most_frequent(Counter(token for tokens in texts.values() for token in tokens), 200)
    vocabulary = set(words)
    texts = {
        name: [token for token in tokens if token in vocabulary] for name, tokens in texts.items()
    }
    return of_sequences(
        dict([(name, tokens) for name, tokens in texts.items() if len(tokens) >= 60][:20]), words
    )


def _content_words(text: str) -> list[str]:
    """Return the words of a text in lower case without scikit-learn's stop words."""
    return [
        word for word in re.findall(WORD_PATTERN, text.lower()) if word not in ENGLISH_STOP_WORDS
    ]


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
