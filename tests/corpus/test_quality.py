"""Empty and repeated documents are counted and named."""

import json
import random
from collections import Counter

import pytest
from data_files import refused

import workbench as wb
from workbench.cli import main
from workbench.corpus.quality import NEAR, describe_quality, quality_of
from workbench.corpus.shards.streaming import read_shards

TEXTS = [
    "Red ants eat",
    "",
    "eat the RED ants!",
    "the of",
    "green bee",
    "green bee green",
    "bee; green",
    "red ants eat",
    "x",
]


def test_empty_and_repeated_documents_are_found():
    found = quality_of(wb.Corpus.from_texts(TEXTS))
    assert found.empty.tolist() == [1, 3, 8]
    assert found.repeated.tolist() == [2, 6, 7] and found.originals.tolist() == [0, 4, 0]


def test_quality_names_empty_and_repeated_documents_and_no_others():
    said = describe_quality(wb.Corpus.from_texts([*TEXTS, "", "green bee"]))
    assert said == [
        "4 of 11 documents of 'texts' have no word that is counted: 'document 1', 'document 3', 'document 8' and 1 more",
        "4 of 11 documents of 'texts' have the same words as an earlier one: 'document 2' as 'document 0', 'document 6' as "
        "'document 4', 'document 7' as 'document 0' and 1 more",
    ]
    assert describe_quality(wb.Corpus.from_texts(["red", "green", ""]))[0].startswith(
        "1 of 3 documents of 'texts' has no word"
    )
    assert describe_quality(wb.Corpus.from_texts(["red ant", "green ant"])) == []


def test_repeated_documents_are_left_out_with_their_columns_and_counted(tmp_path):
    (path := tmp_path / "a.csv").write_text(
        "text,title\n" + "".join(f"{text},{at}\n" for at, text in enumerate(TEXTS))
    )
    whole, found = (wb.load_corpus(path, repeated=rule) for rule in ("keep", "drop"))
    kept = [0, 1, 3, 4, 5, 8]
    assert list(found.titles) == list(map(str, kept)) and len(found.table.texts) == 6
    assert found.content_hash == whole.of_documents(kept).content_hash == found.reading["content"]
    assert found.reading["left_out"]["repeated_documents"] == 3
    assert "repeated_documents" not in whole.reading["left_out"]
    assert "repeated must be one of keep, drop; got 'x'" in refused(
        wb.load_corpus, path, repeated="x"
    )
    assert "not looked for in shards; leave repeated out" in refused(
        read_shards, path, tmp_path / "shards", repeated="drop"
    )


def jaccard(one: str, other: str) -> float:
    one, other = (Counter(text.split()) for text in (one, other))
    return (one & other).total() / (one | other).total()


@pytest.mark.parametrize("seed", range(3))
def test_nearly_repeated_documents_are_those_that_a_comparison_of_all_finds(seed):
    draw = random.Random(seed)
    texts = [
        " ".join(f"w{int(draw.paretovariate(0.5)) % 3000:x}" for _ in range(draw.randint(1, 120)))
        for _ in range(150)
    ]
    for _ in range(50):  # some words of an earlier text replaced, up to a tenth of them
        words = draw.choice(texts).split()
        for _ in range(draw.randint(0, len(words) // 10)):
            words[draw.randrange(len(words))] = f"w{draw.randrange(3000):x}"
        texts.append(" ".join(words))
    found = quality_of(wb.Corpus.from_texts(texts, token_pattern=r"\w+", stop_words=None))
    near = dict(zip(found.near.tolist(), found.near_originals.tolist(), strict=True))
    wanted = {
        later
        for later in range(200)
        if later not in found.repeated
        and any(jaccard(texts[earlier], texts[later]) >= NEAR for earlier in range(later))
    }
    assert len(wanted) > 10 and set(near) <= wanted
    # at the threshold one of a hundred is missed, and most are above it
    assert len(wanted - set(near)) <= 1
    assert all(
        jaccard(texts[one], texts[other]) >= NEAR and other < one for one, other in near.items()
    )


def test_nearly_repeated_documents_are_named_and_looked_for_within_bounds(monkeypatch):
    text = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrst")
    corpus = wb.Corpus.from_texts(
        [text, "", text + " wordz", text.replace("worda", "wordy"), "wordz", text]
    )
    assert describe_quality(corpus)[2] == (
        "2 of 6 documents of 'texts' have nearly the same words as an earlier one (90% of those of both): 'document 2' as "
        "'document 0', 'document 3' as 'document 0'"
    )
    monkeypatch.setattr("workbench.corpus.quality.MOST_TOKENS", 50)
    assert describe_quality(corpus)[2] == (
        "'texts' has more than 50 tokens; nearly repeated documents were not looked for"
    )
    many = wb.Corpus.from_texts(
        [f"{text} word{at % 2 + 1}" for at in range(4000)], token_pattern=r"\w+"
    )
    monkeypatch.undo()
    assert len(quality_of(many).near) == 1 and len(quality_of(many).repeated) == 3998


@pytest.mark.parametrize(
    "command", [["fit", "a.csv", "-k", "2", "-n", "2", "-q"], ["data", "info", "a.csv"]]
)
def test_the_command_line_says_it_before_the_start(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text,kind\nred ant,x\nRed ant!,y\ngreen bees,x\nthe,z\n")
    assert main(command) == 0
    err = capsys.readouterr().err
    assert "1 of 4 documents of 'a' has no word that is counted: 'document 3'" in err
    assert (
        "1 of 4 documents of 'a' has the same words as an earlier one: 'document 1' as 'document 0'"
        in err
    )


def test_info_of_a_file_says_what_is_kept_of_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes(
        "text,kind,day\nred café,x,2020-01-31\ngreen bees,y,2021-02-01\n".encode("cp1252")
    )
    assert main(["data", "info", "a.csv", "--read", "time=day", "--read", "label=kind"]) == 0
    out, err = (" ".join(text.split()) for text in capsys.readouterr())
    assert "a.csv is not UTF-8 and was read as cp1252" in err
    for fact in (
        "documents 2",
        "tokens 4",
        "times 2020-01-31 to 2021-02-01",
        "labels 2",
        "texts kept",
        "columns kind, day",
    ):
        assert fact in out, out
    assert (
        main(["data", "info", "a.csv", "--read", "keep_text=false", "--read", "encoding=cp1252"])
        == 0
    )
    assert "texts not kept" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (["stop_words=alpha,beta"], ["and", "gamma"]),
        (["stop_words=none"], ["alpha", "and", "beta", "gamma"]),
        (["stop_words="], ["alpha", "and", "beta", "gamma"]),
        (["more_stop_words=alpha,beta"], ["gamma"]),
        (["stop_words=stop.txt"], ["alpha", "and", "beta"]),
    ],
)
def test_stop_words_are_a_list_a_file_or_none_on_the_command_line(
    tmp_path, monkeypatch, capsys, read, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text\nalpha and beta\nbeta and gamma\n")
    (tmp_path / "stop.txt").write_text("gamma\n")
    assert (
        main(
            ["data", "info", "a.csv", "--json", *(part for one in read for part in ("--read", one))]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["first words"] == words


def test_info_of_a_file_is_one_json_object(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("text,kind\nred ant,x\nRed ant!,y\nthe,z\n")
    assert main(["data", "info", "a.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["documents"] == 3
        and found["empty"] == 1
        and found["repeated"] == 1
        and found["columns"] == ["kind"]
    )
