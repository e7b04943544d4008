"""Named data sets: found, verified by content, and as published."""

import gzip
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from data_files import refused
from missing import loaded, skip_without
from published_tiny import FIVE_TOKENS, publish, write_uci

from workbench.corpus import CorpusError, data_sets, load_corpus
from workbench.corpus.catalog.published import DOCSTRINGS, PREPARED, PUBLISHED
from workbench.corpus.formats import ldac
from workbench.corpus.formats.readers import FORMATS

ALL = (
    "docstrings, kos, nips, nips17, reuters395, reuters_top, ap, news20, kos500, news5, ap1000, news1000, names, dna, alice, "
    "reuters_sequences, bars, zipf, lda"
)
PATHS = "a path works too: " + ", ".join(
    [*(format.MEANING for format in FORMATS.values()), "a folder of shards"]
)


# ---------------------------------------------------------------------- the bundled one


def test_every_bundled_document_has_words_a_title_of_its_own_and_its_module():
    corpus = load_corpus("docstrings")
    assert corpus.document_tokens.min() >= 10
    assert len(set(corpus.titles)) == corpus.n_documents
    packages = {"networkx", "numpy", "pandas", "scipy", "sklearn", "xarray"}
    assert {title.split(".")[0] for title in corpus.titles} == packages
    assert all(
        title.split(".")[0] == label.split(".")[0]
        for title, label in zip(corpus.titles, corpus.labels, strict=True)
    )
    assert corpus.labels[corpus.titles.index("scipy.linalg.lu")] == "scipy.linalg"


def test_load_corpus_without_a_name_is_the_bundled_one():
    assert load_corpus().name == "docstrings"


def test_the_bundled_corpus_is_under_two_megabytes():
    folder = DOCSTRINGS.folder()
    assert sum((folder / file).stat().st_size for file in DOCSTRINGS.forms[0].files) < 2e6


def test_an_installed_package_carries_the_corpus_inside(tmp_path, monkeypatch):
    inside = tmp_path / "workbench" / "_data" / "docstrings"
    shutil.copytree(DOCSTRINGS.folder(), inside)
    monkeypatch.setattr("workbench.data.opening.PACKAGE", tmp_path / "workbench")
    assert DOCSTRINGS.folder() == inside
    assert_as_described(load_corpus(), DOCSTRINGS)


def test_an_installation_without_the_corpus_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.data.opening.PACKAGE", tmp_path / "workbench")
    assert "the bundled data set 'docstrings' is missing from this installation" in refused(
        load_corpus
    )


# ---------------------------------------------------------------------- the published ones


def assert_as_described(corpus, data_set):
    for size in ("n_documents", "n_words", "n_pairs", "n_tokens"):
        assert getattr(corpus, size) == getattr(data_set, size)


@pytest.mark.parametrize(
    "data_set",
    [*PUBLISHED, *(pytest.param(each, marks=pytest.mark.slow) for each in PREPARED)],
    ids=lambda data_set: data_set.name,
)
def test_a_data_set_is_as_described(data_set):
    corpus = loaded(data_set.name)
    assert_as_described(corpus, data_set)
    assert corpus.name == data_set.name and corpus.content_hash == data_set.content
    if data_set in PREPARED:
        assert data_set.folder() == data_set.source.folder() and data_set.whereabouts() == "here"
    else:
        assert corpus.document_tokens.min() >= 1


def test_both_forms_of_kos_are_the_same_corpus(kos, tmp_path, monkeypatch):
    data_set = data_sets()["kos"]
    read = {
        form.files[0]: form.read(folder, "kos") for folder, form in data_set._complete_folders()
    }
    assert {corpus.content_hash for corpus in read.values()} == {kos.content_hash}
    assert kos.vocabulary[:3] == ("aarp", "abandon", "abandoned")
    if "kos.npz" not in read:
        skip_without("WORKBENCH_DATA has no kos.npz")
    for file in ("kos.npz", "kos.vocab.txt"):
        shutil.copy(data_set.folder() / file, tmp_path)
    monkeypatch.setenv("WORKBENCH_DATA", str(tmp_path))
    assert load_corpus("kos").content_hash == kos.content_hash


@pytest.mark.parametrize(
    ("name", "n_authors", "n_times", "last_year", "title"),
    [
        ("nips", 2_037, 3_990, 1999, "Connectivity Versus Entropy"),
        ("nips17", 2_864, 5_877, 2003, None),
    ],
)
def test_nips_has_authors_titles_and_years(name, n_authors, n_times, last_year, title):
    corpus = loaded(name)
    assert len({author for authors in corpus.authors for author in authors}) == n_authors
    assert sum(map(len, corpus.authors)) == n_times
    assert "2000/ZengerKoch" not in corpus.titles
    assert set(corpus.times) == set(range(1987, last_year + 1))
    assert title is None or (corpus.titles[0], corpus.authors[0]) == (title, ("Abu-Mostafa_Y",))


def test_the_reuters_stories_have_titles_or_topics():
    assert (
        loaded("reuters395")
        .titles[1]
        .startswith("1 GERMANY: Historic Dresden church rising from WW2 ashes.")
    )
    corpus = loaded("reuters_top")
    assert corpus.titles[0] == "5" and corpus.labels[0] == "grain wheat corn barley oat sorghum"
    wanted = {"acq", "crude", "earn", "grain", "interest", "money-fx", "trade"}
    assert all(wanted & set(topics.split()) for topics in corpus.labels)


@pytest.mark.slow
def test_the_newsgroups_have_their_groups_and_their_two_parts():
    corpus = loaded("news20")
    assert len(set(corpus.labels)) == 20 and corpus.titles[0] == "train/alt.atheism/49960"
    train, test = load_corpus("news20", part="train"), load_corpus("news20:part=test")
    assert (train.n_documents, train.n_pairs, train.n_tokens) == (11_269, 1_467_345, 2_765_300)
    assert (test.n_documents, test.n_pairs, test.n_tokens) == (7_505, 967_874, 1_796_919)
    assert train.vocabulary == test.vocabulary == corpus.vocabulary
    assert (train.name, test.name) == ("news20:part=train", "news20:part=test")
    assert load_corpus(train.name).content_hash == train.content_hash


def test_a_prepared_data_set_that_comes_out_otherwise_is_refused(kos, monkeypatch):
    from dataclasses import replace

    other = replace(PREPARED[0], make=lambda corpus: corpus)
    assert refused(other.load) == (
        f"the data set 'kos500' did not come out as described: content with the sha256 {other.content[:12]}… was wanted, "
        f"{kos.content_hash[:12]}… came; another version of scikit-learn may have other stop words"
    )


def test_the_published_forms_of_reuters395_and_ap_are_accepted_too(tmp_path, monkeypatch):
    """Written here as their publishers have them: lda-c files."""
    for name, counts, vocabulary, titles in (
        ("reuters395", "reuters.ldac", "reuters.tokens", "reuters.titles"),
        ("ap", "ap.dat", "vocab.txt", None),
    ):
        corpus, folder = loaded(name), tmp_path / name
        folder.mkdir()
        (folder / counts).write_bytes(
            ldac.write(corpus, folder / counts, vocabulary=False).files[folder / counts]
        )
        (folder / vocabulary).write_text("\n".join(corpus.vocabulary))
        if titles:
            (folder / titles).write_text("\n".join(corpus.titles))
        monkeypatch.setenv("WORKBENCH_DATA", str(folder))
        monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
        assert load_corpus(name).content_hash == corpus.content_hash
        monkeypatch.undo()


def test_data_sets_tell_what_a_page_wants_to_show():
    assert ", ".join(data_sets()) == ALL
    for name, data_set in data_sets().items():
        facts = data_set.facts()
        assert data_set.name == name == facts["name"] and data_set.title and data_set.origin
        assert facts["where"] in ("here", "fetchable", "by hand", "drawn")
        assert facts["where"] == "drawn" or (
            data_set.licence and data_set.agreement and len(data_set.content) == 64
        )
    assert (
        "reconstruction" in data_sets()["reuters_top"].agreement + data_sets()["reuters_top"].title
    )
    assert "one document short" in data_sets()["nips17"].agreement


# ---------------------------------------------------------------------- finding and verifying


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A catalog of one data set of two documents, five tokens; its UCI form lies in the second folder of WORKBENCH_DATA."""
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir(), full.mkdir()
    publish(monkeypatch)
    monkeypatch.setenv("WORKBENCH_DATA", os.pathsep.join([str(empty), str(full)]))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    write_uci(full)
    return full


def test_files_are_looked_for_in_every_folder_of_the_variable(tiny):
    assert load_corpus("tiny").n_tokens == 5
    assert data_sets()["tiny"].folder() == tiny and data_sets()["tiny"].whereabouts() == "here"


def test_what_is_recompressed_or_in_another_form_has_the_same_content(tiny):
    first = load_corpus("tiny").content_hash
    (tiny / "docword.tiny.txt.gz").write_bytes(
        gzip.compress(FIVE_TOKENS, compresslevel=1, mtime=77)
    )
    assert load_corpus("tiny").content_hash == first
    (tiny / "docword.tiny.txt.gz").unlink()
    np.savez(tiny / "tiny.npz", doc=[0, 1], word=[0, 2], count=[4, 1])
    (tiny / "tiny.vocab.txt").write_text("ant\nbee\ncat\n")
    assert load_corpus("tiny").content_hash == first


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        (
            "docword.tiny.txt.gz",
            gzip.compress(FIVE_TOKENS.replace(b"1 1 4", b"1 1 5"), mtime=0),
            r"docword.tiny.txt.gz with vocab.tiny.txt beside it is not the published 'tiny': 2 documents, 3 words, 2 pairs and "
            "5 tokens were wanted, 2 documents, 3 words, 2 pairs and 6 tokens came; replace or remove it",
        ),
        (
            "vocab.tiny.txt",
            b"ant\nbee\ncow\n",
            r"docword.tiny.txt.gz .*: content with the sha256 \w{12}… was wanted, \w{12}… came; replace or remove it",
        ),
        (
            "docword.tiny.txt.gz",
            gzip.compress(FIVE_TOKENS, mtime=0)[:-9],
            "docword.tiny.txt.gz, .*the compressed file ends early here; it is truncated, fetch it again",
        ),
        (
            "vocab.tiny.txt",
            None,
            "has docword.tiny.txt.gz of the data set 'tiny' but not vocab.tiny.txt; put it there",
        ),
    ],
)
def test_a_file_that_is_wrong_or_missing_is_refused_by_its_name(tiny, file, content, sentence):
    if content is None:
        (tiny / file).unlink()
    else:
        (tiny / file).write_bytes(content)
    with pytest.raises(CorpusError, match=f"{tiny}.{sentence}$"):
        load_corpus("tiny")


def test_a_wrong_file_does_not_hide_a_right_one(tiny):
    shutil.copytree(tiny, tiny.parent / "empty", dirs_exist_ok=True)
    (tiny.parent / "empty" / "vocab.tiny.txt").write_text("ant\nbee\ncow\n")
    assert load_corpus("tiny").vocabulary == ("ant", "bee", "cat")


def test_missing_files_say_what_to_do(tiny, monkeypatch):
    monkeypatch.delenv("WORKBENCH_DATA")
    assert refused(load_corpus, "tiny") == (
        "the data set 'tiny' is not on this machine and no public address serves its files; set WORKBENCH_DATA (now: not set) "
        "to a folder that holds docword.tiny.txt.gz and vocab.tiny.txt or tiny.npz and tiny.vocab.txt, from nowhere"
    )
    monkeypatch.undo()
    monkeypatch.setenv("WORKBENCH_DATA", str(tiny.parent / "empty"))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tiny.parent / "cache"))
    assert refused(load_corpus, "kos") == (
        f"the data set 'kos' is not on this machine; `workbench data fetch kos` gets it, or set WORKBENCH_DATA (now: "
        f"{tiny.parent / 'empty'}) to a folder that holds docword.kos.txt.gz and vocab.kos.txt or kos.npz and kos.vocab.txt, "
        'from the UCI Machine Learning Repository, data set "Bag of Words"'
    )


def test_a_path_works_too(tiny):
    file = tiny / "docword.tiny.txt.gz"
    assert load_corpus(file).n_tokens == 5
    assert load_corpus(str(file), vocabulary=["a", "b", "c"]).vocabulary == ("a", "b", "c")


def test_a_name_in_the_current_folder_is_a_path(tiny, monkeypatch):
    monkeypatch.chdir(tiny)
    assert load_corpus("docword.tiny.txt.gz").n_tokens == 5


@pytest.mark.parametrize(
    ("wanted", "options", "sentence"),
    [
        (
            "docstring",
            {},
            f"no data set and no file 'docstring' ({PATHS}); did you mean 'docstrings'?",
        ),
        (
            "xyzzy",
            {},
            f"no data set and no file 'xyzzy' ({PATHS}); there are {ALL}",
        ),
        ("no/such.csv", {}, "there is no file or folder no/such.csv; check the path"),
        ("", {}, f"load_corpus wants a name ({ALL}) or a path; got ''"),
        (7, {}, f"load_corpus wants a name ({ALL}) or a path; got 7"),
        (
            "docstrings",
            {"text": "x"},
            "the data set 'docstrings' is read as published, without text; leave the options out",
        ),
        (
            "docstrings:text=x",
            {},
            "the data set 'docstrings' is read as published, without text; leave the options out",
        ),
        ("news20:part=dev", {}, "part must be one of all, train, test; got 'dev'"),
        ("news20", {"text": "x"}, "the data set 'news20' has no option 'text'; there are part"),
        ("bars:side", {}, "an option in a name is written bars:option=value; got 'side'"),
        (
            "bars:side=4",
            {"side": 3},
            "the option 'side' of 'bars' is given twice; leave one of them out",
        ),
        (
            "bars:sides=4",
            {},
            "the data set 'bars' has no option 'sides'; there are side, n_documents, tokens_per_document, seed, alpha",
        ),
    ],
)
def test_what_is_neither_name_nor_path_is_refused_with_a_sentence(wanted, options, sentence):
    assert refused(load_corpus, wanted, **options) == sentence


@pytest.mark.parametrize(
    ("package", "heavy"),
    [
        ("workbench.corpus", {"sklearn", "pandas", "scipy", "numba", "requests"}),
        ("workbench.records", {"pandas", "pyarrow", "xarray"}),
    ],
)
def test_packages_of_data_import_nothing_heavy(package, heavy):
    program = f"import sys, {package}; print({heavy} & set(sys.modules) or 'nothing')"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "nothing"


def test_the_table_in_the_readme_is_the_catalog():
    readme = (DOCSTRINGS.folder().parent / "README.md").read_text()
    for data_set in PUBLISHED[1:]:
        sizes = (data_set.n_documents, data_set.n_words, data_set.n_pairs, data_set.n_tokens)
        row = " | ".join(
            [
                f"| `{data_set.name}` | {data_set.title}",
                *(f"{size:,}" for size in sizes),
                data_set.agreement,
            ]
        )
        assert f"{row} | `{data_set.content[:16]}…` |" in readme
        for form in data_set.forms:
            assert (
                f"| `{data_set.name}` | " + ", ".join(f"`{file}`" for file in form.files) in readme
            )
    for made in PREPARED:
        sizes = [
            f"{size:,}" for size in (made.n_documents, made.n_words, made.n_pairs, made.n_tokens)
        ]
        row = " | ".join(
            [
                f"| `{made.name}` | {made.title} | `{made.source.name}`",
                *sizes,
                f"`{made.content[:16]}…` |",
            ]
        )
        assert row in readme
