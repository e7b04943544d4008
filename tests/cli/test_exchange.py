"""`workbench data convert` and `workbench export`: what they write, what they say, and what they never overwrite."""

import json
import re

import numpy as np
import pytest

from workbench.corpus import load_corpus, read_corpus

pytestmark = pytest.mark.usefixtures("six_documents")


def test_a_corpus_is_converted_and_the_files_and_sizes_are_told(command, told, six_documents):
    status, out, err = command("data", "convert", "docword.six.txt", "six.dat")
    assert (status, err) == (0, "")
    assert (
        "6 documents, 4 words, 9 pairs, 28 tokens" in out
        and "six.vocab.txt" in out
        and "six.dat" in out
    )
    sizes = told("data", "convert", "six.dat", "new/six.csv.gz")
    (file,) = sizes.pop("files")
    assert sizes == {
        "corpus": "six",
        "n_documents": 6,
        "n_words": 4,
        "n_pairs": 9,
        "n_tokens": 28,
        "lost": [],
    }
    assert file["path"] == "new/six.csv.gz" and file["bytes"] > 20
    assert read_corpus("new/six.csv.gz").content_hash == read_corpus(six_documents).content_hash


@pytest.mark.parametrize("line", [("d.npz",), ("d", "--shards")])
def test_a_name_of_the_catalog_is_converted_too(command, line):
    assert command("data", "convert", "docstrings", *line)[0] == 0
    assert load_corpus(line[0]).content_hash == load_corpus().content_hash


def test_texts_are_read_as_asked_and_a_format_may_be_said(command, tmp_path):
    (tmp_path / "talks.csv").write_text("id,body\n1,green ideas\n2,green sleep\n")
    status, _, err = command("data", "convert", "talks.csv", "out.txt", "--read", "text=body", "--read", "title=id",
        "--read", "min_documents=2", "--format", "mallet",
    )  # fmt: skip
    assert status == 0, err
    assert (tmp_path / "out.txt").read_text() == "1 - green\n2 - green\n"


def test_what_has_no_place_is_said(command, tmp_path):
    (tmp_path / "six.titles.txt").write_text("".join(f"title {d}\n" for d in range(6)))
    (tmp_path / "six.npz").write_bytes(b"")
    np.savez(
        tmp_path / "six.npz", doc=np.arange(6), word=np.arange(6)[::-1] % 4, count=np.ones(6, int)
    )
    status, out, err = command("data", "convert", "six.npz", "six.mallet", "--json")
    assert status == 0 and json.loads(out)["lost"] == ["blanks and commas in titles"]
    assert "six.mallet has no place for blanks and commas in titles; npz holds everything" in err


def test_what_is_there_is_replaced_only_when_forced_and_the_source_never(
    command, six_documents, tmp_path
):
    six = (tmp_path / six_documents).read_text()
    command("data", "convert", "docword.six.txt", "six.dat")
    for arguments, sentence in (
        (("docword.six.txt", "six.dat"), "six.dat is there already; --force replaces it, or choose another OUT"),
        (("six.dat", "six.dat", "--force"), "six.dat is what is read and is never overwritten; choose another OUT"),
        (("six.dat", "./new/../six.dat"), "new/../six.dat is what is read and is never overwritten; choose another OUT"),
        (("docword.six.txt", "x.mtx", "--vocabulary", "x.vocab.txt"), "x.vocab.txt is what is read and is never overwritten; "
         "choose another OUT"),
    ):  # fmt: skip
        (tmp_path / "new").mkdir(exist_ok=True)
        (tmp_path / "x.vocab.txt").write_text("ant \nbee\ncat\ndog")
        status, _, err = command("data", "convert", *arguments)
        assert status == 2 and err == f"workbench: {sentence}\n"
    assert (tmp_path / six_documents).read_text() == six and not (tmp_path / "x.mtx").exists()
    (tmp_path / "six.dat").write_text("old")
    assert command("data", "convert", "docword.six.txt", "six.dat", "--force")[0] == 0
    assert (tmp_path / "six.dat").read_text().startswith("2 0:3 1:2\n")


def test_a_vocabulary_beside_that_says_the_same_stays_and_another_one_is_not_replaced(
    command, told, tmp_path
):
    command("data", "convert", "docword.six.txt", "six.dat")
    files = told("data", "convert", "six.dat", "six.mtx")["files"]
    assert [file["path"] for file in files] == ["six.mtx"]
    (tmp_path / "six.vocab.txt").write_text("a\nb\nc\nd\n")
    status, _, err = command("data", "convert", "docword.six.txt", "six.ldac")
    assert status == 2 and "six.vocab.txt is there already; --force replaces it" in err
    assert not (tmp_path / "six.ldac").exists()


@pytest.mark.slow
def test_runs_are_exported_one_into_the_folder_and_several_into_folders_of_their_names(
    command, tmp_path
):
    for name, alpha in (("a", ".1"), ("b", ".1,.3")):
        command("fit", "docword.six.txt", *f"-k 2 -n 5 --name {name} --alpha {alpha} -q".split())
    arguments = "export", "a", "--out", "one", "--format", "csv,pyldavis", "--json"
    status, out, err = command(*arguments)
    assert (status, err) == (0, "")
    assert json.loads(out)["files"] == [
        f"one/{name}"
        for name in (
            "progress.csv",
            "n_k.csv",
            "topics.csv",
            "documents.csv",
            "spec.json",
            "pyldavis.json",
        )
    ]
    status, out, err = command(
        "export", "a", "b", "--out", "two", "--format", "lda-c", "--store", "runs"
    )
    assert status == 0
    assert "final.other has one alpha; the mean of the run's 2 is written" in err.splitlines()
    assert "two/b/final.beta" in out and (tmp_path / "two" / "a" / "final.gamma").exists()
    status, _, err = command("export", "a", "--format", "gml")
    assert (
        status == 2
        and "runs are exported as csv, long, npz, netcdf, zarr, mallet, lda-c, pyldavis; got 'gml'"
        in err
    )
    assert not (tmp_path / "export").exists()


TALKS = "id,body\n" + "".join(f"{d},green ideas {'sleep ' * d}\n" for d in range(9))


def test_a_file_is_converted_into_shards_with_the_hash_of_the_file(command, told, tmp_path):
    (tmp_path / "talks.csv").write_text(TALKS)
    line = (
        "data convert talks.csv talks --shards --processes 1 --read text=body --read title=id"
    ).split()
    status, out, err = command(*line)
    assert status == 0 and "9 documents, 3 words, 26 pairs, 54 tokens, 1 shard)" in out
    assert "reading 100%" in err and "writing 100%" in err
    taken = sum(file.stat().st_size for file in (tmp_path / "talks").iterdir())
    assert re.search(rf"^talks +{taken:,}$", out, re.MULTILINE), "the bytes of the whole folder"
    expected = read_corpus("talks.csv", text="body", title="id").content_hash
    assert load_corpus("talks").content_hash == expected
    status, out, err = command(*line, "--force", "--quiet", "--json")
    assert (
        (status, err) == (0, "")
        and json.loads(out)["n_tokens"] == 54
        and load_corpus("talks").content_hash == expected
    )
    facts = told("data", "info", "talks")
    assert facts["content"] == expected and facts["shards"] == 1
    assert facts["first words"] == ["green", "ideas", "sleep"]
    assert command("data", "convert", "talks", "talks.jsonl")[0] == 0
    assert read_corpus("talks.jsonl").content_hash == expected
    assert command("data", "convert", "talks", "again", "--shards")[0] == 0
    assert load_corpus("again").content_hash == expected
    assert sorted(file.name for file in tmp_path.iterdir() if "six" not in file.name) == [
        "again",
        "talks",
        "talks.csv",
        "talks.jsonl",
    ]


def test_shards_that_cannot_be_written_are_refused_and_what_is_there_stays(command, tmp_path):
    command("data", "convert", "docword.six.txt", "six", "--shards", "-q")
    (tmp_path / "other").mkdir()
    before = (tmp_path / "six" / "corpus.json").read_bytes()
    for arguments, sentence in (
        (("docword.six.txt", "six", "--shards"), "six is there already; --force replaces it, or choose another OUT"),
        (("docword.six.txt", "other", "--shards", "--force"), "other is there already and has no shards; choose another OUT"),
        (("six", "six", "--shards", "--force"), "six is what is read and is never overwritten; choose another OUT"),
        (("docword.six.txt", "x", "--shards", "--format", "csv"), "shards are a format of their own; leave --format out"),
        (("docword.six.txt", "x.csv", "--processes", "2"), "processes count words where a folder of shards is written; give "
         "--shards, or leave --processes out"),
        (("docword.six.txt", "six", "--shards", "--force", "-q", "--read", "ngrams=2"), "docword.six.txt is a bag of words, "
         "already counted; leave out ngrams"),
        (("nowhere.csv", "x", "--shards"), "there is no file or folder nowhere.csv; check the path"),
    ):  # fmt: skip
        status, _, err = command("data", "convert", *arguments)
        assert (status, err) == (2, f"workbench: {sentence}\n")
    assert (tmp_path / "six" / "corpus.json").read_bytes() == before
    assert not [file for file in tmp_path.iterdir() if file.name.startswith((".", "x"))]
