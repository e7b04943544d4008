"""The documents of a corpus some at a time, whether it is in memory or in shards: for whatever is a sum over documents."""

from collections.abc import Iterator

from workbench.corpus.corpus import Corpus
from workbench.corpus.sharded import ShardedCorpus


def shards_of(corpus: Corpus | ShardedCorpus) -> Iterator[tuple[int, Corpus]]:
    """(number of the first document, documents) of each shard, one in memory at a time; a corpus in memory is one."""
    if isinstance(corpus, ShardedCorpus):
        yield from (
            (int(corpus.bounds[shard]), corpus.shard(shard)) for shard in range(corpus.n_shards)
        )
    else:
        yield 0, corpus


def one_document(corpus: Corpus | ShardedCorpus, document: int) -> Corpus:
    """The corpus of one document; the vocabulary stays whole."""
    return (
        corpus.rows(document, document + 1)
        if isinstance(corpus, ShardedCorpus)
        else corpus.of_documents([document])
    )
