"""Documents as arrays: the `Corpus`; functions that read, split and draw corpora; and the named data sets."""

from workbench.corpus.catalog import synthetic
from workbench.corpus.catalog.named import data_sets, find_data_set, is_named, load_corpus
from workbench.corpus.corpus import AnyCorpus, Corpus, CorpusError, WordMajor
from workbench.corpus.experiments import (
    SINGLETONS,
    drop_singletons,
    drop_stop_words,
    frequent_words,
    keep_documents,
    keep_top_words,
    prepare,
    split_in_words,
)
from workbench.corpus.formats.readers import FORMATS, read_corpus
from workbench.corpus.formats.writers import write_corpus
from workbench.corpus.shards.sharded import ShardedCorpus
from workbench.corpus.splits import (
    hold_out_documents,
    hold_out_ends,
    hold_out_halves,
    hold_out_rows,
    hold_out_tokens,
    known_words,
    split_halves,
)
from workbench.plugins import load_plugins

__all__ = [
    "SINGLETONS",
    "AnyCorpus",
    "Corpus",
    "CorpusError",
    "ShardedCorpus",
    "WordMajor",
    "data_sets",
    "drop_singletons",
    "drop_stop_words",
    "find_data_set",
    "frequent_words",
    "hold_out_documents",
    "hold_out_ends",
    "hold_out_halves",
    "hold_out_rows",
    "hold_out_tokens",
    "is_named",
    "keep_documents",
    "keep_top_words",
    "known_words",
    "load_corpus",
    "prepare",
    "read_corpus",
    "split_halves",
    "split_in_words",
    "synthetic",
    "write_corpus",
]

FORMATS |= load_plugins("formats", FORMATS)
