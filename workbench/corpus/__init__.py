"""Documents as arrays: the `Corpus`, what reads and splits it, and the named data sets."""

from workbench.corpus.catalog import data_sets, load_corpus
from workbench.corpus.corpus import Corpus, CorpusError, WordMajor
from workbench.corpus.readers import read_corpus
from workbench.corpus.splits import hold_out_tokens

__all__ = ["Corpus", "CorpusError", "WordMajor", "data_sets", "hold_out_tokens", "load_corpus", "read_corpus"]
