"""Corpora with larger counts: documents joined, counts repeated.

Both leave the vocabulary and the share of each word in the corpus as they are. They are done before anything is held out, so
that training and test tokens are of one kind.
"""

import numpy as np

from workbench.corpus.corpus import INT32_MAX, MOST_TOKENS, Corpus, CorpusError
from workbench.corpus.document_table import DocumentTable
from workbench.data.drawing import check_whole
from workbench.errors import Got, Named

MERGE, REPEAT = Named("merge"), Named("repeat")


def merge_documents(corpus: Corpus, n: int) -> Corpus:
    """Return the corpus with every ``n`` consecutive documents joined; the last may have fewer.

    A joined document has the title of its first with the number of the others, the authors of all, and the texts one below
    the other. Labels and times stay where all documents that are joined share theirs; otherwise the corpus has none, and no
    other columns of its table. Refused are documents with inputs or in sequences, of which joined ones would have none.
    """
    if check_whole(MERGE, n, 1) == 1:
        return corpus
    if corpus.inputs is not None or corpus.sequence is not None:
        have = "have inputs" if corpus.inputs is not None else "stand in sequences"
        raise CorpusError(
            MERGE,
            f" cannot join documents that {have}, as those of {corpus.name!r}",
            Got(n),
            "; leave it out",
            value=n,
        )
    groups = [slice(start, start + n) for start in range(0, corpus.n_documents, n)]
    shared = {name: _shared(getattr(corpus, name), groups) for name in ("labels", "times")}
    texts = corpus.table.texts if corpus.table is not None else None
    return Corpus.from_pairs(
        corpus.documents // np.int32(n),
        corpus.words,
        corpus.counts,
        corpus.vocabulary,
        len(groups),
        titles=[_title(corpus.titles[group]) for group in groups],
        authors=corpus.authors
        and [tuple(dict.fromkeys(sum(map(tuple, corpus.authors[group]), ()))) for group in groups],
        table=texts
        and DocumentTable(
            {corpus.table.text: ["\n\n".join(filter(None, texts[group])) for group in groups]},
            corpus.table.text,
            corpus.table.counted,
        ),
        name=corpus.name,
        **shared,
    )


def repeat_counts(corpus: Corpus, times: int) -> Corpus:
    """Return the corpus with every count multiplied by ``times``, as if each document were repeated.

    Documents, vocabulary and pairs stay; there are as many more tokens. Refused are counts and corpora that no engine holds.
    """
    times = check_whole(REPEAT, times, 1)
    if times == 1:
        return corpus
    most = min(INT32_MAX // int(corpus.counts.max()), MOST_TOKENS // corpus.n_tokens)
    if times > most:
        raise CorpusError(
            REPEAT,
            f" must be at most {most} for {corpus.name!r}, which has {corpus.n_tokens} tokens and counts up to "
            f"{corpus.counts.max()}",
            Got(times),
            value=times,
        )
    return corpus.with_pairs(corpus.indptr, corpus.words, corpus.counts * np.int32(times))


def _title(titles: tuple[str, ...]) -> str:
    return titles[0] if len(titles) == 1 else f"{titles[0]} + {len(titles) - 1} more"


def _shared(values: tuple | None, groups: list[slice]) -> list | None:
    """Return (joined document,) the value that its documents share; None where they differ."""
    if values is None or any(len(set(values[group])) > 1 for group in groups):
        return None
    return [values[group][0] for group in groups]
