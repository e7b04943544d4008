"""A file that is read into shards, some documents at a time, is the corpus that is read in memory: by its hash."""

import json
import random
import re
import shutil
import subprocess
import sys
import zipfile
from functools import partial

import numpy as np
import pandas as pd
import pytest
from campaigns.file_operations import full_after, operations
from data_files import put, refused
from sharded_corpora import drawn, full

from workbench.corpus import CorpusError, read_corpus, write_corpus
from workbench.corpus.shards import pair_files, shard_writer, streaming
from workbench.corpus.shards.streaming import read_shards
from workbench.data import blocks, opening, rows, stored_texts

WORDS = ["ant", "Bee", "café", "straße", "don't", "über", "a", "zebra", "gnu", "12", "ibis", "löwe"]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Files are read, and shards written, in many pieces."""
    for module, name, value in [
        (blocks, "BATCH", 500),
        (rows, "HEAD", 60),
        (opening, "BLOCK", 64),
        (opening, "HEAD", 8),
        (pair_files, "ROWS", 11),
        (shard_writer, "SHARD_PAIRS", 40),
        (stored_texts, "BLOCK", 3),
    ]:
        monkeypatch.setattr(module, name, value)


def texts(n: int = 60, seed: int = 0) -> list[str]:
    """Texts of some words, some of them empty."""
    draw = random.Random(seed)
    return [
        "" if d % 11 == 5 else " ".join(draw.choices(WORDS[: 4 + d % 9], k=draw.randrange(12)))
        for d in range(n)
    ]


def table(n: int = 60) -> pd.DataFrame:
    """Texts with all that may stand beside them."""
    return pd.DataFrame(
        {
            "key": [f'título {d}, "x"' for d in range(n)],
            "body": texts(n),
            "kind": ["one", "", "other"] * (n // 3),
            "day": [f"2024-{1 + d % 12:02d}-0{1 + d % 9}" for d in range(n)],
            "year": [1990 + d % 7 for d in range(n)],
            "who": ["ann", "bob"] * (n // 2),
            "turn": range(n),
        }
    )


COLUMNS = dict(
    text="body",
    title="key",
    label="kind",
    time="day",
    inputs="year",
    sequence="who",
    position="turn",
)


def csv(folder, name="it.csv", **options):
    return put(folder, name, table().to_csv(index=False, **options))


def json_lines(folder):
    return put(folder, "it.jsonl", "\n\n".join(map(json.dumps, table().to_dict("records"))))


def some_titled(folder):
    entries = [
        {"text": text} | ({"title": f"t{d}", "label": d} if d % 9 == 8 else {})
        for d, text in enumerate(texts())
    ]
    return put(folder, "it.jsonl.gz", "\n".join(map(json.dumps, entries)))


def tokens(folder):
    return put(
        folder, "it.jsonl", "\n".join(json.dumps({"tokens": text.split()}) for text in texts())
    )


def framed(folder, name, write):
    """A file of the table that pandas writes."""
    write(table(), folder / name)
    return folder / name


parquet = partial(
    framed, name="it.parquet", write=partial(pd.DataFrame.to_parquet, row_group_size=7)
)
excel = partial(framed, name="it.xlsx", write=partial(pd.DataFrame.to_excel, index=False))


def text_files(folder, inside="{d:02d}.txt"):
    for d, text in enumerate(texts()):
        put(folder, f"it/{inside.format(d=d, kind=d % 3)}", text)
    return folder / "it"


def zipped(folder):
    with zipfile.ZipFile(folder / "it.zip", "w") as archive:
        for d, text in enumerate(texts()):
            archive.writestr(f"top/{d % 4}/{d}.txt", text)
    return folder / "it.zip"


def mallet(folder, line="n{d} {label} {text}\n"):
    lines = (
        line.format(d=d, label="x" if d % 40 == 7 else "-", text=text)
        for d, text in enumerate(texts())
    )
    return put(folder, "it.mallet", "".join(lines))


def written(folder, name, **options):
    write_corpus(full(), folder / name, **options)
    return folder / name


def shuffled(folder):
    """A bag of words whose rows come in any order, some of them twice."""
    corpus = drawn()
    found = [*zip(corpus.documents + 1, corpus.words + 1, corpus.counts, strict=True)] * 2
    random.Random(1).shuffle(found)
    lines = "".join(f"{d} {w} {n}\n" for d, w, n in found)
    return put(folder, "docword.it.txt", f"40\n9\n{len(found)}\n{lines}")


def counts_in_any_order(folder):
    corpus = drawn()
    rows = zip(corpus.documents, corpus.words, corpus.counts, strict=True)
    found = [(f"d{d}", word, n, d % 2, d) for d, word, n in rows]
    random.Random(1).shuffle(found)
    frame = pd.DataFrame(found, columns=["document", "word", "count", "label", "year"])
    return put(folder, "it.csv", frame.to_csv(index=False))


def wide(folder):
    counts = pd.DataFrame(
        np.random.default_rng(0).poisson(1, (20, 3)), columns=["ant", "bee", "cat"]
    )
    return put(folder, "it.csv", counts.assign(year=range(20)).to_csv(index=False))


FILES = {
    "csv": (csv, COLUMNS),
    "tsv": (partial(csv, name="it.tsv", sep="\t"), COLUMNS),
    "csv with semicolons, packed": (partial(csv, name="it.csv.gz", sep=";"), COLUMNS),
    "csv quoted by backslashes": (partial(csv, doublequote=False, escapechar="\\"), COLUMNS),
    "csv without positions": (csv, COLUMNS | {"position": None}),
    "csv of texts alone": (csv, {"text": "body"}),
    "csv, pruned": (
        csv,
        {"text": "body", "min_documents": 3, "max_share": 0.4, "max_words": 4, "stop_words": None},
    ),
    "csv, words cut otherwise": (
        csv,
        {"text": "body", "ngrams": 2, "min_letters": 3, "lowercase": False, "accents": "strip"},
    ),
    "csv, a tokenizer": (csv, {"text": "body", "tokenizer": lambda text: text.split("e")}),
    "csv, a column of several uses": (
        csv,
        {"text": "body", "time": "turn", "sequence": "who", "position": "turn", "inputs": "turn"},
    ),
    "csv of counts, a column of several uses": (
        counts_in_any_order,
        {"inputs": "year", "time": "year", "sequence": "label", "position": "year"},
    ),
    "jsonl": (json_lines, COLUMNS),
    "jsonl, some with titles": (some_titled, {}),
    "jsonl of tokens": (tokens, {}),
    "jsonl of tokens, a vocabulary": (tokens, {"vocabulary": ["more", *reversed(WORDS)]}),
    "parquet": (parquet, COLUMNS),
    "excel": (excel, COLUMNS),
    "folder": (text_files, {}),
    "folder of folders": (partial(text_files, inside="{kind}/{d:02d}.txt"), {}),
    "zip": (zipped, {}),
    "mallet": (mallet, {}),
    "mallet without labels": (
        partial(mallet, line="n{d}\t-\t{text}\r\n\n"),
        {"stop_words": None, "token_pattern": r"\S+"},
    ),
    "uci": (partial(written, name="docword.it.txt"), {}),
    "uci, packed": (partial(written, name="docword.it.txt.gz"), {}),
    "uci without a vocabulary": (partial(written, name="docword.it.txt", vocabulary=False), {}),
    "uci in any order": (shuffled, {}),
    "lda-c": (partial(written, name="it.dat"), {}),
    "lda-c without a vocabulary": (partial(written, name="it.dat", vocabulary=False), {}),
    "mtx": (partial(written, name="it.mtx"), {}),
    "npz": (partial(written, name="it.npz"), {}),
    "csv of counts": (partial(written, name="it.csv"), {}),
    "jsonl of counts": (partial(written, name="it.jsonl"), {}),
    "csv of counts in any order": (counts_in_any_order, {"inputs": "year", "label": "label"}),
    "wide csv": (wide, {"inputs": "year"}),
    "words": (
        lambda folder: put(folder, "it.txt", " ".join(texts())),
        {"format": "words", "stop_words": None},
    ),
    "fasta": (lambda folder: put(folder, "it.fa", ">a\nACGT\nAC\n>b\nTT\n"), {}),
}


@pytest.mark.filterwarnings("ignore:.*has no place for")
@pytest.mark.parametrize("name", FILES)
def test_what_is_streamed_is_what_is_read(tmp_path, name):
    make, options = FILES[name]
    path = make(tmp_path)
    expected = read_corpus(path, **options)
    shares = []
    found = read_shards(
        path,
        tmp_path / "shards",
        progress=lambda what, share: shares.append((what, share)),
        **options,
    )
    assert (
        found.content_hash == found.computed_hash() == expected.content_hash
        and found.name == expected.name
    )
    assert (
        found.n_tokens == expected.n_tokens
        and found.in_memory().content_hash == expected.content_hash
    )
    found.check()
    assert not [file for file in tmp_path.iterdir() if file.name.endswith(".partial")]
    streamed = getattr(
        streaming.request_of(path, **options).format, "stream", None
    ) and name not in ("excel", "wide csv")
    assert not streamed or (
        shares[-1] == ("writing", 1.0) and ("reading", 1.0) in shares and found.n_parts > 1
    )


def test_rows_are_sorted_though_only_whole_batches_come_in_another_order(tmp_path):
    rows = pair_files.PairFiles(tmp_path / "rows")
    for documents in ([2, 3], [0, 1]):
        rows.add(np.array(documents), np.zeros(2, int), np.ones(2, int))
    assert [d for _, _, found, *_ in rows.blocks(4) for d in found] == [0, 1, 2, 3]


@pytest.mark.parametrize("processes", [1, 2])
def test_stop_words_may_be_an_iterator(tmp_path, processes):
    path, words = csv(tmp_path), ["ant", "bee"]
    expected = read_corpus(path, text="body", stop_words=words, more_stop_words=["gnu"])
    given = {"stop_words": iter(words), "more_stop_words": iter(["gnu"])}
    found = read_shards(path, tmp_path / "shards", processes=processes, text="body", **given)
    assert found.content_hash == expected.content_hash


@pytest.mark.slow
def test_several_processes_give_the_same_corpus(tmp_path):
    path = csv(tmp_path)
    found = read_shards(path, tmp_path / "shards", processes=3, **COLUMNS)
    assert found.content_hash == read_corpus(path, **COLUMNS).content_hash


def test_other_encodings_are_found_as_in_memory(tmp_path):
    path = put(tmp_path, "it.csv", ("text\n" + "löwe über straße\n" * 40).encode("cp1252"))
    with pytest.warns(UserWarning, match="it.csv is not UTF-8 and was read as cp1252"):
        expected = read_corpus(path)
    with pytest.warns(UserWarning, match="it.csv is not UTF-8 and was read as cp1252"):
        assert read_shards(path, tmp_path / "shards").content_hash == expected.content_hash
    wide = put(tmp_path, "wide.csv", ("text\n" + "löwe über\n" * 9).encode("utf-16"))
    assert read_shards(wide, tmp_path / "wide").content_hash == read_corpus(wide).content_hash


@pytest.mark.parametrize("at", range(8))
def test_a_byte_that_is_no_text_is_told_with_its_line_wherever_it_stands(tmp_path, at):
    for content in (
        b"text\n" + b"ant \n" * 30 + b" " * at + "é".encode()[:1],
        b"text\n" + b"ant\n" * 20 + b" " * at + b"b\xffe\n" + b"gnu\n",
    ):
        path = put(tmp_path, "it.csv", content)
        wanted = refused(read_corpus, path, encoding="utf-8")
        assert re.search(r"it.csv, line \d\d: byte 0x(c3|ff) is not UTF-8; save", wanted)
        assert refused(read_shards, path, tmp_path / "shards", encoding="utf-8") == wanted


MUTATED = [
    name
    for name, (make, _) in FILES.items()
    if make not in (parquet, excel) and "folder" not in name
]
PIECES = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b'\\"',
    b', "',
    b"\xff",
    b"\xc3",
    b"0",
    b"99999999999",
    b"-",
    b"{",
    b"\t",
    b" ",
    b"\0",
    b":",
    b"%",
]


def mutated(content: bytes, draw: random.Random) -> bytes:
    """The content with something put in, taken out, changed or cut off."""
    at, piece = draw.randrange(len(content) + 1), draw.choice(PIECES)
    length = draw.choice([0, 1, 9, len(content)])
    return content[:at] + (piece if length < 9 else b"") + content[at + length :]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MUTATED)
def test_a_file_that_is_changed_anyhow_gives_what_it_gives_in_memory(tmp_path, name):
    make, options = FILES[name]
    path, draw, n_refused = make(tmp_path), random.Random(0), 0
    content, folder = path.read_bytes(), tmp_path / "shards"

    def found(read, *arguments) -> str | None:
        try:
            return read(path, *arguments, **options).content_hash
        except CorpusError as error:
            assert "\n" not in str(error)
            return None

    for _ in range(20):
        path.write_bytes(mutated(content, draw))
        expected = found(read_corpus)
        assert found(read_shards, folder) == expected
        assert folder.exists() == (expected is not None)
        n_refused += expected is None
        shutil.rmtree(folder, ignore_errors=True)
    assert n_refused > 2


WRONG = {
    "docword.it.txt": [
        "3\n4\n3\n1 1 2\n1 3 1\n",
        "3\n4\n3\n1 1 2\n1 5 1\n3 2 5\n",
        "3\n4\n3\n1 1 2\n1 x 1\n3 2 5\n",
        "3\n4\n0\n",
        "3\n4\n1\n1 1 9999999999\n",
        "3\n4\nx\n1 1 1\n",
        "99999999\n4\n1\n1 1 1\n",
    ],
    "it.dat": ["1 0:1\n2 0:1\n", "1 0:1\nx\n"],
    "it.mtx": ["%%MatrixMarket matrix array real general\n1 1\n1\n"],
    "it.csv": [
        "text,label\na,b,c\n",
        'text\n"ant',
        "title\nant\n",
        "text\n",
        "document,word,count\nd,ant,x\n",
    ],
    "it.jsonl": [
        '{"text": "ant"}\n{"text": 3}\n',
        '{"text": "ant"}\nx\n',
        '{"counts": {"ant": -1}}\n',
        '{"counts": {}}\n',
    ],
    "it.mallet": ["name\n", "n - the of\n"],
    "it.npz": ["x"],
    "none.csv": [],
    "it.txt": ["\n\n"],
}


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        *((name, content, {}) for name, found in WRONG.items() for content in found or [None]),
        *(
            ("it.csv", table().to_csv(index=False), options)
            for options in (
                {"text": "body", "sequence": "who", "position": "year"},
                {"text": "nothing"},
                {"text": "body", "time": "key"},
                {"text": "body", "inputs": "who"},
                {"text": "body", "position": "turn"},
                {"text": "body", "vocabulary": ["a"]},
                {"text": "body", "nonsense": 1},
                {"text": "body", "min_documents": 0},
                {"text": "body", "max_share": 0.001},
                {"text": "body", "token_pattern": "q+"},
                {"text": "body", "encoding": "none"},
                {"document": "who", "word": "kind", "count": "turn", "inputs": "year"},
            )
        ),
    ],
)
def test_what_is_wrong_is_told_in_the_sentence_of_the_reader_and_nothing_is_left(
    tmp_path, name, content, options
):
    path = tmp_path / name if content is None else put(tmp_path, name, content)
    wanted = refused(read_corpus, path, **options)
    told = refused(read_shards, path, tmp_path / "shards", **options)
    # wrong numbers are counted in the rows that were read
    assert re.split(r"; \d+ of \d+ are", told)[0] == re.split(r"; \d+ of \d+ are", wanted)[0]
    assert [file.name for file in tmp_path.iterdir()] == ([] if content is None else [name])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("it.jsonl", '{"text": "a"}\n{"text": "' + "ant " * 30 + '"}\n'),
        ("docword.it.txt", "1\n1\n1\n" + "1 1 1" + " " * 99),
        ("it.mallet", "a - b\n" + "n - " + "ant " * 30),
        ("it.csv", "text\na b\n" + "ant " * 30),
    ],
)
def test_a_line_that_is_too_long_is_refused(tmp_path, monkeypatch, name, content):
    monkeypatch.setattr(opening, "LONGEST_LINE", 90)
    path = put(tmp_path, name, content)
    with pytest.raises(
        CorpusError,
        match=r"it\S*, line \d: a line of at most 90 characters was wanted and a longer one came",
    ):
        read_shards(path, tmp_path / "shards")
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_value_whose_quotes_do_not_close_is_refused_before_it_is_as_long_as_the_file(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(rows, "LONGEST_LINE", 90)
    path = put(tmp_path, "it.csv", 'text\n"ant\n' + "bee\n" * 200)
    with pytest.raises(
        CorpusError,
        match=r"it.csv, line \d\d: not a CSV row \(field larger than field limit \(90\)\)",
    ):
        read_shards(path, tmp_path / "shards")


def test_more_words_than_memory_holds_are_refused(tmp_path, monkeypatch):
    path = put(tmp_path, "it.jsonl", "\n".join(json.dumps({"text": text}) for text in texts()))
    monkeypatch.setattr(streaming, "WORD_BYTES", 10**9)
    monkeypatch.setenv("WORKBENCH_MEMORY", "1G")
    sentence = r"as many words again as the \d so far would take about \d.\d GB of memory and WORKBENCH_MEMORY allows 1.0 GB"
    with pytest.raises(CorpusError, match=sentence):
        read_shards(path, tmp_path / "shards")
    assert [file.name for file in tmp_path.iterdir()] == ["it.jsonl"]


@pytest.mark.parametrize("at", [0, 5, 30, 45])
def test_a_full_disk_leaves_nothing(tmp_path, at):
    path = csv(tmp_path)
    with (
        operations(full_after(at)),
        pytest.raises(CorpusError, match="cannot write .*shards: No space left on device; choose"),
    ):
        read_shards(path, tmp_path / "shards", **COLUMNS)
    assert [file.name for file in tmp_path.iterdir()] == ["it.csv"]


@pytest.mark.parametrize("what", ["reading", "writing"])
def test_an_interruption_leaves_nothing(tmp_path, what):
    def interrupt(doing, share):
        if doing == what and share > 0.5:
            raise KeyboardInterrupt

    path = csv(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        read_shards(path, tmp_path / "shards", progress=interrupt, **COLUMNS)
    assert [file.name for file in tmp_path.iterdir()] == ["it.csv"]


def test_a_folder_that_is_there_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    path = csv(tmp_path)
    read_shards(path, tmp_path / "shards", **COLUMNS)
    monkeypatch.setattr(
        "workbench.corpus.shards.streaming._stream", lambda *_: pytest.fail("was read")
    )
    assert "shards is there already" in refused(read_shards, path, tmp_path / "shards", **COLUMNS)


@pytest.mark.parametrize("options", [{"processes": 0}, {"keep_text": True}])
def test_options_of_streaming_that_cannot_be_are_refused(tmp_path, options):
    with pytest.raises(
        CorpusError,
        match="processes must be a whole number of at least 1|texts are not kept beside shards",
    ):
        read_shards(csv(tmp_path), tmp_path / "shards", **COLUMNS, **options)


@pytest.mark.slow
def test_a_process_that_is_killed_is_told(tmp_path):
    program = """
import os, signal
from workbench.corpus.shards import streaming
def counted(texts):
    os.kill(os.getpid(), signal.SIGKILL)
streaming._count_texts = counted
if __name__ == "__main__":
    import multiprocessing
    streaming.multiprocessing = multiprocessing
    streaming.read_shards("it.csv", "shards", processes=2, text="body")
"""
    csv(tmp_path), put(tmp_path, "program.py", program)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "a process that counts words was ended from outside" in done.stderr.splitlines()[-1], (
        done.stderr
    )
    assert not (tmp_path / "shards").exists() and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("row", ['"an \\"ibis\\" x",1', 'ibis,    "a gnu, too"'])
def test_what_tells_how_quotes_are_written_may_stand_across_two_pieces(tmp_path, monkeypatch, row):
    monkeypatch.setattr(rows, "HEAD", 16)
    for at in range(16):
        path = put(tmp_path, f"{at}.csv", f"text,other\n{'z' * (at + 1)},1\n{row}\n")
        assert read_shards(path, tmp_path / f"{at}").content_hash == read_corpus(path).content_hash
