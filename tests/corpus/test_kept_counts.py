"""A conversion to shards that was interrupted continues after the texts that it has counted, and ends with the same corpus."""

import json
import signal
import subprocess
import sys

import pytest
from data_files import put, refused

from workbench.cli import main
from workbench.corpus import read_corpus
from workbench.corpus.shards import kept_counts, streaming
from workbench.corpus.shards.kept_counts import KeptCounts, kept_beside
from workbench.corpus.shards.streaming import read_shards
from workbench.corpus.texts.counting import counted
from workbench.data import blocks, opening

N = 2000
TEXTS = [
    "ant bee{} café gnu{}{}".format(*(chr(97 + d // n % 26) for n in (1, 1, 26))) if d % 5 else ""
    for d in range(N)
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Files are read in many pieces, and all counts are worth keeping."""
    for module, name, value in [
        (blocks, "BATCH", 2000),
        (opening, "BLOCK", 64),
        (kept_counts, "LEAST", 0),
    ]:
        monkeypatch.setattr(module, name, value)


def written(folder, texts=TEXTS):
    return put(
        folder,
        "it.jsonl",
        "\n".join(json.dumps({"text": text, "title": f"t{d}"}) for d, text in enumerate(texts)),
    )


def interrupted(path, folder, at: float = 0.5, doing: str = "reading", **options) -> int:
    """Bytes of the counts that are left by a conversion that is interrupted."""

    def told(what, share):
        if what == doing and share > at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_shards(path, folder, progress=told, **options)
    assert sorted(each.name for each in path.parent.iterdir()) == [".shards.counted", "it.jsonl"]
    return sum(file.stat().st_size for file in kept_beside(folder).iterdir())


@pytest.fixture
def n_counted(monkeypatch):
    """How many texts were counted."""
    found = []
    monkeypatch.setattr(
        streaming,
        "counted",
        lambda texts, words_of: found.extend(texts) or counted(texts, words_of),
    )
    return lambda: len(found)


@pytest.mark.parametrize("doing", ["reading", "writing"])
def test_an_interrupted_conversion_goes_on_behind_the_texts_that_are_counted(
    tmp_path, n_counted, doing
):
    path = written(tmp_path)
    assert interrupted(path, tmp_path / "shards", 0.5 if doing == "reading" else 0.0, doing) > 1000
    before = n_counted()
    with pytest.warns(
        UserWarning,
        match=rf"continues after the {before:,} texts .* to begin anew delete .*\.shards\.counted",
    ):
        found = read_shards(path, tmp_path / "shards")
    assert before > 20 and n_counted() == N and (doing == "writing") == (before == N)
    assert found.content_hash == read_corpus(path, keep_text=False).content_hash
    assert sorted(each.name for each in tmp_path.iterdir()) == ["it.jsonl", "shards"]


@pytest.fixture
def path(tmp_path):
    """A file of texts."""
    return written(tmp_path)


@pytest.fixture
def folder(tmp_path):
    """Where its shards are to be."""
    return tmp_path / "shards"


def test_a_conversion_may_be_interrupted_again_and_go_on_with_several_processes(path, folder):
    first = interrupted(path, folder, 0.3)
    with pytest.warns(UserWarning, match="continues after"):
        assert interrupted(path, folder, 0.7) > first
    with pytest.warns(UserWarning, match="continues after"):
        found = read_shards(path, folder, processes=2)
    assert found.content_hash == read_corpus(path, keep_text=False).content_hash


@pytest.mark.parametrize("cut", [1, 7, 100, 900])
def test_a_batch_that_is_damaged_is_counted_again(path, folder, cut):
    interrupted(path, folder)
    last = sorted(kept_beside(folder).glob("*.npz"))[-1]
    last.write_bytes(last.read_bytes()[:-cut] + (b"\0" * 40 if cut == 7 else b""))
    with pytest.warns(UserWarning, match="continues after"):
        found = read_shards(path, folder)
    assert found.content_hash == read_corpus(path, keep_text=False).content_hash


@pytest.mark.parametrize("other", [{"min_letters": 4}, {"stop_words": ["ant"]}, {"title": None}])
def test_other_options_begin_anew_and_say_so(path, folder, other):
    interrupted(path, folder)
    with pytest.warns(UserWarning, match="begins anew"):
        found = read_shards(path, folder, **other)
    assert found.content_hash == read_corpus(path, keep_text=False, **other).content_hash


def test_a_file_that_has_changed_begins_anew_and_says_so(path, folder, n_counted):
    interrupted(path, folder)
    before = n_counted()
    path.write_text(path.read_text().replace("beeb", "beec"))
    with pytest.warns(UserWarning, match="begins anew: .* had the counts of another file"):
        found = read_shards(path, folder)
    assert (
        n_counted() == before + N
        and found.content_hash == read_corpus(path, keep_text=False).content_hash
    )


def test_counts_of_a_tokenizer_and_few_counts_are_not_kept(tmp_path, monkeypatch):
    path = written(tmp_path)

    def told(what, share):
        if share > 0.5:
            raise KeyboardInterrupt

    for least, options in ((0, {"tokenizer": str.split}), (2**24, {})):
        monkeypatch.setattr(kept_counts, "LEAST", least)
        with pytest.raises(KeyboardInterrupt):
            read_shards(path, tmp_path / "shards", progress=told, **options)
        assert [each.name for each in tmp_path.iterdir()] == ["it.jsonl"]


def test_a_file_that_is_wrong_leaves_no_counts(tmp_path):
    path = written(tmp_path)
    path.write_text(path.read_text() + "\n{")
    assert f"line {N + 1}" in refused(read_shards, path, tmp_path / "shards")
    assert [each.name for each in tmp_path.iterdir()] == ["it.jsonl"]


def test_a_second_conversion_at_the_same_time_keeps_nothing(path, folder):
    other = KeptCounts(kept_beside(folder), {"somebody": "else"})
    content = sorted(kept_beside(folder).iterdir())
    assert read_shards(path, folder).n_documents == N
    assert sorted(kept_beside(folder).iterdir()) == content
    other.delete()
    assert not kept_beside(folder).exists()


def test_a_command_that_is_killed_goes_on(tmp_path, capsys):
    path = written(tmp_path)
    program = f"""
import os, signal
from workbench.data import blocks, opening
from workbench.corpus.shards.streaming import read_shards
blocks.BATCH, opening.BLOCK = 2000, 64
def told(what, share):
    if share > 0.5:
        os.kill(os.getpid(), signal.SIGKILL)
read_shards({str(path)!r}, {str(tmp_path / "shards")!r}, progress=told)
"""
    assert (
        subprocess.run([sys.executable, "-c", program], timeout=120).returncode == -signal.SIGKILL
    )
    assert (tmp_path / ".shards.counted").exists() and not (tmp_path / "shards").exists()
    assert (
        main(
            [
                "data",
                "convert",
                str(path),
                str(tmp_path / "shards"),
                "--shards",
                "--processes",
                "1",
                "--quiet",
            ]
        )
        == 0
    )
    assert (
        "continues after the " in capsys.readouterr().err
        and not (tmp_path / ".shards.counted").exists()
    )
