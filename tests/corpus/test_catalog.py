"""Named data sets: found, verified, and as published."""

import gzip
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from workbench.corpus import CorpusError, data_sets, load_corpus
from workbench.corpus.catalog import DOCSTRINGS, KOS


def assert_as_published(corpus, data_set):
    sizes = (corpus.n_documents, corpus.n_words, corpus.n_pairs, corpus.n_tokens)
    assert sizes == (data_set.n_documents, data_set.n_words, data_set.n_pairs, data_set.n_tokens)


def test_the_bundled_corpus_is_the_default_and_as_described():
    corpus = load_corpus()
    assert_as_published(corpus, DOCSTRINGS)
    assert corpus.name == "docstrings"
    assert corpus.n_documents >= 2_000 and corpus.n_tokens >= 200_000


def test_every_bundled_document_has_words_a_title_of_its_own_and_its_module():
    corpus = load_corpus("docstrings")
    assert corpus.document_tokens.min() >= 10
    assert len(set(corpus.titles)) == corpus.n_documents
    packages = {"networkx", "numpy", "pandas", "scipy", "sklearn", "xarray"}
    assert {title.split(".")[0] for title in corpus.titles} == packages
    assert all(title.split(".")[0] == label.split(".")[0] for title, label in zip(corpus.titles, corpus.labels, strict=True))
    assert corpus.labels[corpus.titles.index("scipy.linalg.lu")] == "scipy.linalg"


def test_the_bundled_words_are_prose():
    vocabulary = set(load_corpus("docstrings").vocabulary)
    assert {"graph", "matrix", "distribution", "cluster", "frequency", "dataframe"} <= vocabulary
    assert not {"parameters", "returns", "optional", "the", "numpy", "array_like"} & vocabulary
    assert all(word.isalpha() and word.islower() and len(word) >= 3 for word in vocabulary)


def test_the_bundled_corpus_is_under_two_megabytes():
    folder = DOCSTRINGS.folder()
    assert sum((folder / file.name).stat().st_size for file in DOCSTRINGS.files) < 2e6


def test_an_installed_package_carries_the_corpus_inside(tmp_path, monkeypatch):
    inside = tmp_path / "workbench" / "_data" / "docstrings"
    shutil.copytree(DOCSTRINGS.folder(), inside)
    monkeypatch.setattr("workbench.corpus.catalog.PACKAGE", tmp_path / "workbench")
    assert DOCSTRINGS.folder() == inside
    assert_as_published(load_corpus(), DOCSTRINGS)


def test_an_installation_without_the_corpus_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.corpus.catalog.PACKAGE", tmp_path / "workbench")
    with pytest.raises(CorpusError, match="the bundled data set 'docstrings' is missing from this installation"):
        load_corpus()


def test_the_bundled_corpus_loads_in_a_moment():
    best = min(timed(load_corpus) for _ in range(3))
    assert best < 1  # 0.15 s where it was made; a busy machine is slower


def timed(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def test_kos_is_as_published(kos):
    assert_as_published(kos, KOS)
    assert kos.name == "kos"
    assert kos.vocabulary[:3] == ("aarp", "abandon", "abandoned")


def test_data_sets_tell_what_a_page_wants_to_show():
    assert list(data_sets()) == ["docstrings", "kos"]
    for name, data_set in data_sets().items():
        assert data_set.name == name
        assert data_set.title and data_set.licence and data_set.origin
        assert all(len(file.sha256) == 64 for file in data_set.files)


@pytest.fixture
def tiny_set(tmp_path, monkeypatch):
    """A catalog with one data set of two documents, its file in the second folder of WORKBENCH_DATA."""
    import hashlib

    from workbench.corpus import catalog

    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir(), full.mkdir()
    data = gzip.compress(b"2\n3\n2\n1 1 4\n2 3 1\n", mtime=0)
    (full / "docword.tiny.txt.gz").write_bytes(data)
    file = catalog.DataFile("docword.tiny.txt.gz", hashlib.sha256(data).hexdigest())
    tiny = replace(KOS, name="tiny", files=(file,), n_documents=2, n_words=3, n_pairs=2, n_tokens=5)
    monkeypatch.setattr(catalog, "DATA_SETS", {"tiny": tiny})
    monkeypatch.setenv("WORKBENCH_DATA", os.pathsep.join([str(empty), str(full)]))
    return full / "docword.tiny.txt.gz"


def test_files_are_looked_for_in_every_folder_of_the_variable(tiny_set):
    assert_as_published(load_corpus("tiny"), replace(KOS, n_documents=2, n_words=3, n_pairs=2, n_tokens=5))


def test_a_file_with_another_checksum_is_refused(tiny_set):
    tiny_set.write_bytes(gzip.compress(b"2\n3\n2\n1 1 5\n2 3 1\n", mtime=0))
    with pytest.raises(CorpusError, match="docword.tiny.txt.gz is not the published file of 'tiny': its sha256"):
        load_corpus("tiny")


def test_a_path_works_too(tiny_set):
    assert load_corpus(tiny_set).n_tokens == 5
    assert load_corpus(str(tiny_set), vocabulary=["a", "b", "c"]).vocabulary == ("a", "b", "c")


def test_a_name_in_the_current_folder_is_a_path(tiny_set, monkeypatch):
    monkeypatch.chdir(tiny_set.parent)
    assert load_corpus("docword.tiny.txt.gz").n_tokens == 5


def test_missing_files_say_what_to_do(monkeypatch):
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    with pytest.raises(CorpusError) as refused:
        load_corpus("kos")
    assert str(refused.value) == (
        "the data set 'kos' is not on this machine; set WORKBENCH_DATA (now: not set) to a folder that holds "
        'docword.kos.txt.gz and vocab.kos.txt, from the UCI Machine Learning Repository, data set "Bag of Words"'
    )


@pytest.mark.parametrize(
    ("wanted", "options", "sentence"),
    [
        (
            "docstring",
            {},
            "no data set and no file 'docstring', perhaps 'docstrings'; there are docstrings, kos, and a path works too: "
            "a UCI bag of words, a folder of .txt files, a CSV or a JSON lines file",
        ),
        (
            "xyzzy",
            {},
            "no data set and no file 'xyzzy'; there are docstrings, kos, and a path works too: "
            "a UCI bag of words, a folder of .txt files, a CSV or a JSON lines file",
        ),
        ("no/such.csv", {}, "there is no file or folder no/such.csv; check the path"),
        ("", {}, "load_corpus wants a name (docstrings, kos) or a path; got ''"),
        (7, {}, "load_corpus wants a name (docstrings, kos) or a path; got 7"),
        ("docstrings", {"text": "x"}, "the data set 'docstrings' is read as published, without text; leave the options out"),
    ],
)
def test_what_is_neither_name_nor_path_is_refused_with_a_sentence(wanted, options, sentence):
    with pytest.raises(CorpusError) as refused:
        load_corpus(wanted, **options)
    assert str(refused.value) == sentence


def test_the_package_imports_nothing_heavy():
    program = "import sys, workbench.corpus; print({'sklearn', 'pandas', 'scipy', 'numba'} & set(sys.modules) or 'nothing')"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "nothing"
