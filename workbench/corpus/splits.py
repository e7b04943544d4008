"""Splits of a corpus into training and test part: by tokens, documents, times or places, ends of sequences, halves.

Both parts have the vocabulary and all documents of the corpus, and their counts add up to its counts. Only
`hold_out_documents` gives each document to one part.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from workbench.corpus.corpus import AnyCorpus, Corpus, CorpusError
from workbench.corpus.shards.shard_writer import ShardWriter
from workbench.corpus.shards.sharded import Documents, ShardedCorpus, finish
from workbench.data.arrays import sealed
from workbench.data.drawing import (
    SHARE,
    check_fraction,
    check_seed,
    check_type,
    counts_drawn,
    draw_share,
    drawn_blocks,
)
from workbench.data.saving import new_folder
from workbench.errors import Got, Named
from workbench.numbers import parse_number

ROWS = Named("holdout_rows", text="rows to hold out")
PAIRS = 1 << 18
"""Pairs whose tokens are processed at a time."""
# streams of one seed, so that no split is a function of another
TOKENS, DOCUMENTS, HALVES = range(3)


def hold_out_tokens(
    corpus: Corpus | ShardedCorpus,
    fraction: float = 0.1,
    seed: int = 0,
    per: str = "corpus",
    folder: str | Path | None = None,
) -> tuple[Corpus, Corpus] | tuple[ShardedCorpus, ShardedCorpus]:
    """Return training and test corpus; the test tokens are drawn uniformly without replacement.

    Both have the documents and the vocabulary of the corpus (documents may become empty, words unused),
    and their counts add up to the corpus pair by pair. With ``fraction=0`` the test corpus has no pairs.

    Parameters
    ----------
    fraction : float in [0, 1), default 0.1
        The published protocol holds out a tenth.
    seed : int, at least 0
        Equal seeds give equal splits everywhere.
    per : "corpus" or "document"
        "corpus" draws ``round(fraction * n_tokens)`` of all tokens; "document" draws
        ``floor(fraction * n_d)`` of the n_d tokens of each document.
    folder : path, only for a `ShardedCorpus`
        Folder to which both parts are written, as ``train`` and ``test``; if it has the same split already, that is
        opened. Default: beside the corpus, named after it and the split, as ``NAME.split-0.1-0-corpus``.

    Raises
    ------
    CorpusError
        An argument out of range, or a split that would leave no test or no training token; a folder that cannot be written.

    Source: specification of LDA, B.1; of the HDP, section 8.
    """
    check_type(corpus, AnyCorpus, "Corpus")
    if folder is not None and isinstance(corpus, Corpus):
        raise CorpusError(
            f"a folder is where parts of a ShardedCorpus are written, and {corpus.name!r} is in memory; leave "
            "folder out"
        )
    lengths, n_held_out = _split_sizes(corpus, fraction, seed, per)
    if isinstance(corpus, ShardedCorpus):
        split = {"fraction": float(fraction), "seed": int(seed), "per": per}
        masks = drawn_blocks(lengths, n_held_out, int(seed), TOKENS)
        return split_shards(corpus, split, masks, folder)
    test_counts = _draw_counts(corpus, lengths, n_held_out, seed, TOKENS)
    return with_counts(corpus, corpus.counts - test_counts), with_counts(corpus, test_counts)


def hold_out_documents(
    corpus: Corpus, fraction: float = 0.1, seed: int = 0
) -> tuple[Corpus, Corpus]:
    """Return training and unseen documents; ``round(fraction * n_documents)``, drawn at random, are unseen.

    Each document goes to one of the two with all its tokens, its title, authors, label and time, in the order
    of the corpus; both parts keep the whole vocabulary. `split_halves` splits the unseen ones further.
    Equal seeds give equal splits everywhere, independent of the tokens that `hold_out_tokens` draws. Raise CorpusError
    for an argument out of range, or if a part has no documents or no tokens.

    Source: specification of LDA, B.4.
    """
    _check_corpus(corpus)
    unseen = draw_share(
        corpus.n_documents, fraction, seed, DOCUMENTS, f"documents of {corpus.name!r}"
    )
    parts = (
        corpus.of_documents(np.flatnonzero(~unseen)),
        corpus.of_documents(np.flatnonzero(unseen)),
    )
    for part, part_name in zip(parts, ("training", "held-out"), strict=True):
        if part.n_tokens == 0:
            raise CorpusError(
                f"all {part.n_documents} {part_name} document(s) are empty; ask for another fraction or seed"
            )
    return parts


def split_halves(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Split each document's tokens at random into halves; return a corpus of observed halves and one of scored halves.

    With an odd number of tokens the observed half has one more. Documents of fewer than two tokens are empty in both
    halves; no document is removed. Equal seeds give equal halves everywhere. Raise CorpusError for a seed out of range,
    or if no document has two tokens.

    Source: specification of LDA, B.4 (document completion).
    """
    _check_corpus(corpus)
    seed = check_seed(seed)
    lengths = corpus.document_tokens
    if lengths.max() < 2:
        raise CorpusError(
            f"no document of {corpus.name!r} has two tokens to be split into halves; give longer documents"
        )
    scored_counts = _draw_counts(corpus, lengths, lengths // 2, seed, HALVES)
    observed_counts = np.where(lengths[corpus.documents] < 2, 0, corpus.counts - scored_counts)
    return with_counts(corpus, observed_counts), with_counts(corpus, scored_counts)


def hold_out_halves(
    corpus: Corpus, fraction: float = 0.2, seed: int = 0
) -> tuple[Corpus, Corpus, int]:
    """Return training corpus, test corpus (a random half of each test document), and how many tokens were excluded.

    Test documents are drawn as by `hold_out_documents`, and split as by `split_halves`. Their scored halves are the test
    corpus; their observed halves and all other documents are the training corpus. Scored tokens whose word has no training
    token are left out. Both corpora have all documents and the vocabulary of the corpus, as after `hold_out_tokens`.

    Raises
    ------
    DataError
        An argument out of range, a part without documents, or no scored token.

    Source: specification of stick-breaking, B.8 (document completion).
    """
    _check_corpus(corpus)
    is_split = draw_share(
        corpus.n_documents, fraction, seed, DOCUMENTS, f"documents of {corpus.name!r}"
    )
    lengths = np.where(is_split, corpus.document_tokens, 0)
    if lengths.max() < 2:
        raise CorpusError(
            f"none of the {is_split.sum()} documents drawn from {corpus.name!r} has two tokens to be split into "
            "halves; ask for another fraction or seed, or give longer documents"
        )
    scored_counts = _draw_counts(corpus, corpus.document_tokens, lengths // 2, seed, HALVES)
    train = with_counts(corpus, corpus.counts - scored_counts)
    test = known_words(with_counts(corpus, scored_counts), train)
    if test.n_tokens == 0:
        raise CorpusError(
            f"no word of the {scored_counts.sum()} scored token(s) of {corpus.name!r} has a training token; ask for "
            "another fraction or seed"
        )
    return train, test, int(scored_counts.sum()) - test.n_tokens


def known_words(documents: Corpus, train: Corpus) -> Corpus:
    """Return the documents without tokens of words that do not occur in ``train``, as topics say nothing about these."""
    return with_counts(
        documents, np.where(np.isin(documents.words, train.words), documents.counts, 0)
    )


def hold_out_rows(
    corpus: Corpus, by: str, values: Iterable | None = None, at_least: float | None = None
) -> tuple[Corpus, Corpus]:
    """Return training and test corpus; test documents are chosen by the value of a field, such as the time.

    Both have all documents and the vocabulary of the corpus, as after `hold_out_tokens`; each document is empty in one
    of the two.

    Parameters
    ----------
    by : str
        An input of the corpus, or "labels", "times" or "sequence" (its name).
    values : iterable or one value
        Documents with one of these values are held out.
    at_least : number
        Documents with at least this value are held out. Give either ``values`` or ``at_least``.

    Raises
    ------
    DataError
        No field of that name, a value that no document has, or a part without tokens.
    """
    _check_corpus(corpus)
    row_values = _row_values(corpus, by)
    if (values is None) == (at_least is None):
        raise CorpusError(
            "rows are held out by their values or from a value on; give one of values=… and at_least=…"
        )
    if values is not None:
        wanted_values = (
            [values]
            if isinstance(values, str) or not isinstance(values, Iterable)
            else list(values)
        )
        distinct_values = set(row_values)
        if missing := [value for value in wanted_values if value not in distinct_values] or (
            [] if wanted_values else [values]
        ):
            raise CorpusError(
                f"no document of {corpus.name!r} has {missing[0]!r} as its {by!r}; it has {len(distinct_values)} values, "
                f"as {next(iter(distinct_values))!r}"
            )
        wanted_values = set(wanted_values)
        return _whole_rows(corpus, np.array([value in wanted_values for value in row_values]))
    try:
        held_out = np.array([bool(value >= at_least) for value in row_values])
    except TypeError:
        raise CorpusError(
            f"{by!r} of {corpus.name!r} cannot be compared with {at_least!r}; give values=… instead"
        ) from None
    return _whole_rows(corpus, held_out)


def parse_rows(text: str, corpus: Corpus) -> dict:
    """Parse a choice of test documents, as "last 10" or "year>=2012", to arguments of `hold_out_ends` or `hold_out_rows`.

    A value after ``>=`` is a number if it looks like one; a value after ``=`` if the corpus has that number, too.
    """
    if end := re.fullmatch(r"\s*last\s+([1-9][0-9]*)\s*", str(text)):
        return {"n_rows": int(end[1])}
    condition = re.fullmatch(r"\s*([^=<>]+?)\s*(>=|=)\s*([^=<>]+?)\s*", str(text))
    if condition is None:
        raise CorpusError(
            ROWS, " are written 'last 10', 'year>=2012' or 'year=2012,2013'", Got(text), value=text
        )
    by, comparison, value = condition.groups()
    if comparison == ">=":
        return {"by": by, "at_least": parse_number(value)}
    distinct_values = set(_row_values(corpus, by))
    values = [part.strip() for part in value.split(",")]
    return {
        "by": by,
        "values": [
            parse_number(part) if parse_number(part) in distinct_values else part for part in values
        ],
    }


def format_rows(rows: dict) -> str:
    """Return arguments of `hold_out_ends` or `hold_out_rows` as a text that `parse_rows` parses, such as "last 10"."""
    if "n_rows" in rows:
        return f"last {rows['n_rows']}"
    if rows.get("values") is None:
        return f"{rows['by']}>={rows['at_least']}"
    values = rows["values"] if isinstance(rows["values"], list | tuple) else [rows["values"]]
    return f"{rows['by']}={','.join(map(str, values))}"


def hold_out_ends(corpus: Corpus, n_rows: int = 1) -> tuple[Corpus, Corpus]:
    """Return training and test corpus; the last ``n_rows`` documents of each sequence are the test set, to be forecast.

    Both have all documents and the vocabulary of the corpus, as after `hold_out_rows`. A sequence of at most ``n_rows``
    documents is not split: nothing would be left to forecast from. Raise CorpusError if no sequence is longer, or if a
    part has no tokens.
    """
    _check_corpus(corpus)
    CorpusError.whole("n_rows", n_rows, 1)
    _, indptr, documents = corpus.by_sequence
    lengths = np.diff(indptr)
    if lengths.max() <= n_rows:
        raise CorpusError(
            f"no sequence of {corpus.name!r} is longer than {n_rows}, the longest has {lengths.max()}; "
            "hold out fewer rows of each"
        )
    # 1 for the last of a sequence
    before_end = np.repeat(indptr[1:], lengths) - np.arange(len(documents))
    held_out = np.zeros(corpus.n_documents, bool)
    held_out[documents[(before_end <= n_rows) & np.repeat(lengths > n_rows, lengths)]] = True
    return _whole_rows(corpus, held_out)


def _check_corpus(corpus: object) -> None:
    """Raise an error unless the object is a `Corpus` in memory."""
    check_type(corpus, AnyCorpus, "Corpus")
    corpus.require_memory("of these only tokens are held out, with hold_out_tokens")


def _row_values(corpus: Corpus, by: str) -> list:
    """Return the values (document,) of the input or field ``by``; for "sequence" return the names of sequences."""
    if by in corpus.input_names:
        return corpus.input(by).tolist()
    fields = [
        field for field in ("labels", "times", "sequence") if getattr(corpus, field) is not None
    ]
    if by not in fields:
        field_list = ", ".join(map(repr, (*corpus.input_names, *fields))) or "nothing"
        raise CorpusError(
            f"{corpus.name!r} has no input and no field {by!r} to hold out rows by; there is {field_list}"
        )
    return [name for name, _ in corpus.sequence] if by == "sequence" else list(getattr(corpus, by))


def _whole_rows(corpus: Corpus, held_out: np.ndarray) -> tuple[Corpus, Corpus]:
    """Return training and test corpus, where ``held_out`` (document,) bool marks the test documents."""
    in_test = held_out[corpus.documents]
    parts = tuple(
        with_counts(corpus, np.where(mask, corpus.counts, 0)) for mask in (~in_test, in_test)
    )
    for part, n_documents, part_name in zip(
        parts, (np.sum(~held_out), np.sum(held_out)), ("training", "held-out"), strict=True
    ):
        if part.n_tokens == 0:
            raise CorpusError(
                f"the {n_documents} {part_name} document(s) of {corpus.name!r} have no token; hold out others"
            )
    return parts


def _split_sizes(
    corpus: AnyCorpus, fraction: float, seed: int, per: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of tokens of each document, or of the corpus, and how many to hold out, both (group,) int64.

    The groups are the documents or, with ``per="corpus"``, the whole corpus as one.
    Raise an error for arguments out of range, and for a split without test or training tokens.
    """
    check_fraction(fraction)
    seed = check_seed(seed)
    if per == "corpus":
        lengths = np.array([corpus.n_tokens])
        sizes = np.array([round(fraction * corpus.n_tokens)])
    elif per == "document":
        lengths = corpus.document_tokens
        # 0.29 * 100 is 28.999999999999996
        sizes = np.floor(fraction * lengths + 1e-9).astype(np.int64)
    else:
        raise CorpusError.must_be(Named("holdout_per", text="per"), "'corpus' or 'document'", per)
    _check_sizes(corpus, fraction, per, lengths, int(sizes.sum()))
    return lengths, sizes


def _check_sizes(corpus: AnyCorpus, fraction: float, per: str, lengths: np.ndarray, n_test: int):
    """Raise an error for a split with no training tokens, or with no test tokens though the fraction is not 0."""
    if corpus.n_tokens == 0:
        raise CorpusError(
            f"a corpus needs at least one token to be split; {corpus.name!r} has none"
        )
    if n_test == 0 and fraction > 0 and per == "corpus":
        problem = (
            f"of {corpus.n_tokens} tokens is no token at all; ask for a larger ",
            SHARE,
            ", or for 0 to have no test set",
        )
    elif n_test == 0 and fraction > 0:
        smallest = math.ceil(1e4 / lengths.max()) / 1e4
        problem = (
            f"per document is no token at all, the longest document has {lengths.max()}; ask for at least {smallest:g}, or "
            "use per='corpus'",
        )
    elif n_test == corpus.n_tokens:
        problem = f"of {corpus.n_tokens} tokens leaves none to train on; ask for a smaller ", SHARE
    else:
        return
    raise CorpusError(SHARE, f" {fraction:g} ", *problem, value=fraction)


def _draw_counts(
    corpus: Corpus, lengths: np.ndarray, sizes: np.ndarray, seed: int, stream: int
) -> np.ndarray:
    """Draw tokens as `draw_subsets` does; return how many tokens of each document-word pair were drawn (pair,) int32."""
    parts = (corpus.counts[first : first + PAIRS] for first in range(0, corpus.n_pairs, PAIRS))
    drawn_counts, end = np.empty(corpus.n_pairs, np.int32), 0
    for part in counts_drawn(parts, drawn_blocks(lengths, sizes, int(seed), stream)):
        drawn_counts[end : (end := end + len(part))] = part
    return drawn_counts


def with_counts(corpus: Corpus, counts: np.ndarray) -> Corpus:
    """Return the corpus with other counts (pair,); pairs whose count is 0 are removed."""
    return corpus.with_pairs(*map(sealed, _with_counts(corpus, counts)))


PARTS = ("train", "test")
SPLIT = "split.json"


def split_shards(
    corpus: ShardedCorpus,
    split: dict,
    blocks: Iterator[np.ndarray],
    folder: str | Path | None = None,
) -> tuple[ShardedCorpus, ShardedCorpus]:
    """Write a training and a test corpus to the subfolders ``train`` and ``test``, unless they exist; return both.

    Parameters
    ----------
    split : dict
        ``fraction``, ``seed`` and ``per``; an existing folder is used if it has the same.
    blocks : iterator of (token,) bool
        Which tokens are held out, as `workbench.data.drawing.drawn_blocks` yields them.
    folder : path, default beside the corpus

    Raises
    ------
    DataError
        A folder that has another split or cannot be written.
    """
    identity = {"corpus": corpus.content_hash, **split}
    name = "-".join(
        [
            "split",
            *(f"{value:g}" if isinstance(value, float) else str(value) for value in split.values()),
        ]
    )
    folder = (
        corpus.folder.with_name(f"{corpus.folder.name}.{name}") if folder is None else Path(folder)
    )
    if folder.exists():
        return _open_split(folder, identity)
    with new_folder(folder) as partial, ExitStack() as stack:
        writers = []
        for part in PARTS:
            (partial / part).mkdir()
            writers.append(
                stack.enter_context(closing(ShardWriter(partial / part, corpus.n_words)))
            )
            writers[-1].take(corpus.folder, corpus.fields, list(corpus.input_names))
        queue: list[Documents] = []

        def counts() -> Iterator[np.ndarray]:
            for documents in corpus.blocks():
                queue.append(documents)
                yield documents.counts

        for test_counts in counts_drawn(counts(), blocks):
            documents = queue.pop()
            for writer, counts in zip(
                writers, (documents.counts - test_counts, test_counts), strict=True
            ):
                writer.add(*_with_counts(documents, counts))
        for writer in writers:
            finish(writer, corpus.name, corpus.held_out_rows, corpus.reading)
        (partial / SPLIT).write_text(json.dumps(identity))
    return _open_split(folder, identity)


def _with_counts(
    documents: Documents, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indptr, words and counts of documents with other counts (pair,); pairs whose count is 0 are removed."""
    is_positive = counts > 0
    bounds = np.zeros(len(is_positive) + 1, np.int64)
    np.cumsum(is_positive, out=bounds[1:])
    indptr = bounds[documents.indptr]
    del bounds  # eight bytes a pair
    return indptr, documents.words[is_positive], counts[is_positive]


def _open_split(folder: Path, identity: dict) -> tuple[ShardedCorpus, ShardedCorpus]:
    """Open the training and test corpus in a folder; raise an error if they belong to another split."""
    try:
        stored_identity = json.loads((folder / SPLIT).read_bytes())
    except (OSError, ValueError):
        stored_identity = None
    if stored_identity != identity:
        raise CorpusError(
            f"{folder} is there and is not this split; give another folder, or delete it"
        )
    return tuple(ShardedCorpus.open(folder / part) for part in PARTS)
