"""The published data sets of the catalog: which files, which content, where from, under which licence.

Statistics were counted on the files; ``agreement`` says how they compare with what was published.
data/README.md tells the same with the origin of each file.
"""

from workbench.corpus.catalog import attached
from workbench.corpus.catalog.data_set import DataSet, Form

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
            attached.years_titles_authors,
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
            attached.years_titles_authors,
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
        Form(("reuters395.npz", "reuters395.vocab.txt", "reuters395.titles.txt"), attached.titles),
        Form(
            ("reuters.ldac", "reuters.tokens", "reuters.titles"),
            attached.titles,
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
            attached.ids_and_topics,
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
            attached.newsgroups,
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
