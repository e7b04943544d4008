"""Every format that people bring, and one sentence for everything that can be wrong with it."""

import csv
import gzip
import json

import pytest
from data_files import put, refusal

from workbench.corpus import read_corpus
from workbench.corpus.formats.readers import FORMATS
from workbench.data.rows import stream_columns

UCI = "3\n4\n3\n1 1 2\n1 3 1\n3 2 5\n"


# ---------------------------------------------------------------------- UCI bag of words


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, UCI) for name in ("docword.toy.txt", "docword.toy.txt.gz", "toy", "toy.csv")),
        ("docword.toy.txt", gzip.compress(UCI.encode(), mtime=0)),
    ],
)
def test_a_bag_of_words_is_known_by_its_header_and_not_by_its_name(tmp_path, name, content):
    corpus = read_corpus(put(tmp_path, name, content))
    assert corpus.name == ("toy.csv" if name == "toy.csv" else "toy")
    assert (corpus.n_documents, corpus.n_words, corpus.n_pairs, corpus.n_tokens) == (3, 4, 3, 8)
    assert corpus.indptr.tolist() == [0, 2, 2, 3]
    assert corpus.words.tolist() == [0, 2, 1]
    assert corpus.vocabulary == ("w0", "w1", "w2", "w3")


def test_vocabulary_titles_and_labels_beside_the_file_are_used(tmp_path):
    path = put(tmp_path, "docword.toy.txt.gz", UCI)
    put(tmp_path, "vocab.toy.txt", "ant\nbee\ncat\ndög\n")
    put(tmp_path, "titles.toy.txt", "one\ntwo words\nthree\n")
    put(tmp_path, "labels.toy.txt", "x\ny\nx")
    corpus = read_corpus(path)
    assert corpus.vocabulary == ("ant", "bee", "cat", "dög")
    assert corpus.titles == ("one", "two words", "three")
    assert corpus.labels == ("x", "y", "x")


def test_a_vocabulary_may_be_a_file_or_a_list(tmp_path):
    path = put(tmp_path, "docword.toy.txt", UCI)
    words = put(tmp_path, "words.txt", "a\r\nb\r\nc\r\nd\r\n")
    assert read_corpus(path, vocabulary=words).vocabulary == tuple("abcd")
    assert read_corpus(path, vocabulary=list("abcd")).vocabulary == tuple("abcd")


@pytest.mark.parametrize(
    "rows", ["1\t1\t2\r\n1  3 1 \r\n\r\n3 2 5", "3 2 5\n1 3 1\n1 1 1\n1 1 1\n"]
)
def test_spaces_blank_lines_order_and_repeated_pairs_do_not_matter(tmp_path, rows):
    n_rows = len(rows.split("\n")) - 1
    corpus = read_corpus(put(tmp_path, "toy", f"3\r\n4\r\n{n_rows}\r\n{rows}"))
    assert corpus.content_hash == read_corpus(put(tmp_path, "docword.toy.txt", UCI)).content_hash


def test_a_truncated_packed_file_is_refused_with_the_line_it_ends_in(tmp_path):
    rows = "".join(f"1 {word} {word * 7919 % 1000 + 1}\n" for word in range(1, 5001))
    whole = gzip.compress(f"1\n5000\n5000\n{rows}".encode())
    sentence = refusal(put(tmp_path, "docword.toy.txt", whole[: len(whole) // 2]))
    assert sentence.startswith("docword.toy.txt, line ")
    assert sentence.endswith(
        ": the compressed file ends early here; it is truncated, fetch it again"
    )
    assert 1000 < int(sentence.split("line ")[1].split(":")[0]) < 4500


def test_a_damaged_packed_file_is_refused(tmp_path):
    whole = bytearray(gzip.compress(UCI.encode()))
    whole[-6] ^= 0xFF  # its checksum
    assert refusal(put(tmp_path, "toy", bytes(whole))).startswith(
        "toy is a damaged gzip file (CRC check failed "
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("a\nb\nc\n", "vocab.toy.txt has 3 words where 4 were wanted; it does not belong to docword.toy.txt; "
         "give the right one with vocabulary=…"),
        ("a\n\nc\nd\n", "vocab.toy.txt, line 2: the line is empty; one of 4 words was wanted"),
        ("a\nb\na\nd\n", "vocab.toy.txt, line 3: the word 'a' stands on line 1 already; two words may not have one name, "
         "change one of them"),
        (b"a\nb\nc\xe9\nd\n", "vocab.toy.txt, line 3: byte 0xe9 is not UTF-8; save the file with the encoding UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_vocabulary_is_refused(tmp_path, words, sentence):
    path = put(tmp_path, "docword.toy.txt", UCI)
    put(tmp_path, "vocab.toy.txt", words)
    assert refusal(path) == sentence


def test_a_vocabulary_that_is_not_there_or_does_not_fit_is_refused(tmp_path):
    path = put(tmp_path, "docword.toy.txt", UCI)
    assert (
        refusal(path, vocabulary=tmp_path / "none.txt")
        == "there is no file none.txt; check the path"
    )
    assert (
        refusal(path, vocabulary=["a"])
        == "docword.toy.txt: the vocabulary must have 4 words; it has 1"
    )
    assert refusal(path, vocabulary=["a", "b", "a", "d"]) == (
        "the vocabulary has 'a' twice, as words 0 and 2 counted from 0; two words may not have one name, change one of them"
    )


def test_a_size_that_must_be_a_mistake_is_refused_before_memory_runs_out(tmp_path):
    assert refusal(put(tmp_path, "docword.toy.txt", "3\n2000000000\n1\n1 1 2\n")) == (
        "docword.toy.txt: 2000000000 words without a vocabulary must be a mistake; give one with vocabulary=…"
    )
    assert refusal(put(tmp_path, "docword.toy.txt", "2000000000\n3\n1\n1 1 2\n")) == (
        "docword.toy.txt: 2000000000 documents with 1 counts must be a mistake; correct their number"
    )


# ---------------------------------------------------------------------- a folder of text


def test_a_folder_gives_titles_from_files_and_labels_from_subfolders(tmp_path):
    put(tmp_path, "zoo/bird.txt", "ibis heron")
    put(tmp_path, "art/paint.TXT", "\ufeffoil canvas oil")
    put(tmp_path, "art/.hidden.txt", "secret")
    put(tmp_path, "art/notes.md", "markdown")
    put(tmp_path, "empty.txt", "")
    corpus = read_corpus(tmp_path)
    assert corpus.titles == ("paint", "empty", "bird")
    assert corpus.labels == ("art", "", "zoo")
    assert corpus.vocabulary == ("canvas", "heron", "ibis", "oil")
    assert corpus.document_tokens.tolist() == [3, 0, 2]
    assert corpus.name == tmp_path.name


def test_files_of_one_name_are_told_apart_by_their_folder(tmp_path):
    put(tmp_path, "a/1.txt", "ibis")
    put(tmp_path, "b/1.txt", "heron")
    assert read_corpus(tmp_path).titles == ("a/1", "b/1")


def test_a_flat_folder_has_no_labels(tmp_path):
    put(tmp_path, "1.txt", "ibis")
    assert read_corpus(tmp_path).labels is None


def test_a_folder_without_text_or_with_other_bytes_is_refused(tmp_path):
    folder = tmp_path / "texts"
    put(folder, "notes.md", "x")
    wanted = "texts has no .txt file, one per document was wanted; for another format give the file itself"
    assert refusal(folder) == wanted
    put(folder, "1.txt", "gut\nschön\n".encode() + b"b\xffd\n")
    assert refusal(folder) == (
        "texts/1.txt, line 3: byte 0xff is not UTF-8; save the file with the encoding UTF-8, or say which it has with "
        "encoding=…"
    )


# ---------------------------------------------------------------------- CSV


DIALECTS = {
    "bar": ("title|text\none|ibis, heron; a\ntwo|crane\n", {}),
    "said": ("sep=;\r\ntitle;text\r\none;ibis, heron|a, b\r\ntwo;crane\r\n", {}),
    "said after a mark": ("\ufeffsep=|\ntitle|text\none|ibis, heron\ntwo|crane\n", {}),
    "backslash": ('title,text\none,"ibis \\"heron\\", a"\ntwo,"crane"\n', {}),
    "blanks": ('title, text\none, "ibis, heron"\ntwo, "crane"\n', {}),
    "blanks alone": ('title, text\none, "ibis heron"\ntwo, "crane"\n', {}),
    "blanks and backslash": ('title, text\n"one", "ibis, \\"heron\\""\n"two", "crane"\n', {}),
    "given": ("title~text\none~'ibis ~heron'\ntwo~crane\n", {"separator": "~", "quote": "'"}),
    "escape": ('title,text\none,"ibis !"heron!""\ntwo,crane\n', {"escape": "!"}),
    "no quotes": (
        'title\ttext\none\tibis "heron\ntwo\t"crane\n',
        {"separator": "tab", "quote": "none"},
    ),
    "comments": (
        '# of birds\n\ntitle,text\n#one,"x\none,"ibis\n#heron"\n# end\ntwo,crane\n',
        {"comment": "#"},
    ),
}


@pytest.mark.parametrize(("content", "options"), DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("name", ["a.csv", "birds"])
def test_dialects_of_csv_are_read(tmp_path, content, options, name):
    corpus = read_corpus(put(tmp_path, name, content), **options)
    assert corpus.titles == ("one", "two") and {"ibis", "heron"} == set(corpus.vocabulary) - {
        "crane"
    }
    assert corpus.document_tokens.tolist() == [2, 1]
    assert not any(text.startswith((" ", "'")) for text in corpus.table.texts)


def test_csv_keeps_backslashes_blanks_and_doubled_quotes(tmp_path):
    content = 'label,text\nC:\\zoo, ibis\n sea,"a ""heron"", a \\ crane"\n'
    corpus = read_corpus(put(tmp_path, "a.csv", content))
    assert corpus.labels == ("C:\\zoo", " sea") and corpus.table.texts == (
        " ibis",
        'a "heron", a \\ crane',
    )


@pytest.mark.parametrize(
    ("name", "separator"),
    [("a.csv", ","), ("a.csv.gz", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a", ",")],
)
def test_a_csv_file_has_text_title_and_label(tmp_path, name, separator):
    content = (
        '\ufefftitle,text,label\none,ibis heron,zoo\ntwo,,zoo\nthree,"oil,\noil",art\n'.replace(
            ",", separator
        )
    )
    corpus = read_corpus(put(tmp_path, name, content))
    assert corpus.name == "a"
    assert corpus.titles == ("one", "two", "three")
    assert corpus.labels == ("zoo", "zoo", "art")
    assert corpus.document_tokens.tolist() == [2, 0, 2]


def test_columns_may_be_chosen_and_left_out(tmp_path):
    path = put(tmp_path, "a.csv", "body,head,label\nibis,one,x\nheron,two,y\n")
    corpus = read_corpus(path, text="body", title="head", label=None)
    assert (corpus.titles, corpus.labels) == (("one", "two"), None)


def test_a_text_that_says_na_is_a_text(tmp_path):
    assert read_corpus(put(tmp_path, "a.csv", "text\nNA\nnull\n")).vocabulary == ("na", "null")


def test_a_very_long_text_is_read_and_the_csv_module_left_as_it_was(tmp_path):
    before = csv.field_size_limit()
    assert read_corpus(put(tmp_path, "a.csv", "text\n" + "ibis " * 60_000)).n_tokens == 60_000
    assert csv.field_size_limit() == before


def test_a_reader_that_is_left_in_the_middle_leaves_the_csv_module_as_it_was(tmp_path):
    before = csv.field_size_limit()
    _, batches = stream_columns(put(tmp_path, "a.csv", "text\n" + "ibis\n" * 100_000))
    assert len(next(batches)[1]) < 100_000
    assert csv.field_size_limit() == before


def test_options_of_text_reach_the_counting(tmp_path):
    path = put(tmp_path, "a.csv", "text\nibis the\nibis heron\n")
    assert read_corpus(path, min_documents=2, stop_words=None).vocabulary == ("ibis",)


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        *(
            ("docword.toy.txt", content, {}, sentence)
            for content, sentence in [
                (
                    "3\n4\n4\n1 1 2\n1 3 1\n3 2 5\n",
                    "docword.toy.txt: the header promises 4 rows and 3 came, fewer: "
                    "the file is truncated, fetch it again",
                ),
                (
                    "3\n4\n2\n1 1 2\n1 3 1\n3 2 5\n",
                    "docword.toy.txt: the header promises 2 rows and 3 came, more: correct line 3",
                ),
                (
                    "3\n4\n3\n1 1 2\n1 5 1\n3 2 5\n",
                    "docword.toy.txt, line 5: the word id must lie in 1..4; it is 5",
                ),
                (
                    "3\n4\n3\n1 1 2\n\n1 3 1\n4 2 5\n",
                    "docword.toy.txt, line 7: the document id must lie in 1..3; it is 4",
                ),
                (
                    "3\n4\n3\n0 1 2\n1 3 1\n3 2 5\n",
                    "docword.toy.txt, line 4: the document id must lie in 1..3; it is 0",
                ),
                (
                    "3\n4\n3\n1 1 2\n1 3 1.5\n3 2 5\n",
                    "docword.toy.txt, line 5: the count must be a whole number, not '1.5'",
                ),
                (
                    "3\n4\n3\n1 1 2\n1 3 1\n3 2 -5\n",
                    "docword.toy.txt, line 6: the count must be a whole number, not '-5'",
                ),
                (
                    "3\n4\n3\n1 1 2\n1 x 1\n3 2 5\n",
                    "docword.toy.txt, line 5: the word must be a whole number, not 'x'",
                ),
                (
                    "3\n4\n3\n1 1 2\n1 3 1 7\n3 2 5\n",
                    "docword.toy.txt, line 5: three numbers were wanted, document, "
                    "word and count; 4 came: '1 3 1 7'",
                ),
                (
                    "3\n4\n3\n1 1 2\n1 3 1\n3 2",
                    "docword.toy.txt, line 6: three numbers were wanted, document, word "
                    "and count; 2 came: '3 2'",
                ),
                (
                    "3\n4\n1\n1 1 2 9\n",
                    "docword.toy.txt, line 4: three numbers were wanted, document, word and count; "
                    "4 came: '1 1 2 9'",
                ),
                (
                    "3\n4\n1\n1 1 99999999999999999999\n",
                    "docword.toy.txt, line 4: the count must be a whole number, "
                    "not '99999999999999999999'",
                ),
                (
                    "3\n4\n1\n1 1 9999999999\n",
                    "docword.toy.txt: a count may not exceed 2147483647; the largest is 9999999999",
                ),
                ("3\n4\n0\n", "docword.toy.txt: a corpus needs at least one token; none came"),
                (
                    "0\n4\n0\n",
                    "docword.toy.txt: the header must give between 1 and 2147483647 documents; it gives 0",
                ),
                (
                    "3\n4\nx\n1 1 1\n",
                    "docword.toy.txt, line 3: a UCI bag of words begins with three lines of one whole number each, "
                    "documents, words and rows; this line is none of them",
                ),
                (
                    "3\n",
                    "docword.toy.txt, line 2: a UCI bag of words begins with three lines of one whole number each, "
                    "documents, words and rows; this line is none of them",
                ),
                ("", "docword.toy.txt is empty; a file with data was wanted"),
            ]
        ),
        (
            "docword.toy.txt",
            UCI,
            {"min_documents": 2},
            "docword.toy.txt is a bag of words, already counted; leave out min_documents",
        ),
        *(
            ("a.csv", content, options | {"format": "csv"}, sentence)
            for content, options, sentence in [
                (
                    "sep=;\ntitle;text\none;ibis;heron\n",
                    {},
                    "a.csv, line 3: 2 columns were wanted and 3 came; put double quotes around a "
                    "text that contains ';'",
                ),
                (
                    "#\ntitle,text\n#\n\none,ibis\ntwo,a,b\n",
                    {"comment": "#"},
                    "a.csv, line 6: 2 columns were wanted and 3 came; put "
                    "double quotes around a text that contains ','",
                ),
                (
                    'title,text\none,"a \\"b\\", "c\n',
                    {},
                    "a.csv, line 2: not a CSV row (',' expected after '\"'); check the quotes",
                ),
                (
                    "#\n#\n",
                    {"comment": "#"},
                    "a.csv holds nothing but comments; a header and rows were wanted",
                ),
                (
                    "title,text\n",
                    {"separator": "::"},
                    "separator must be one character, tab, space or none; got '::'",
                ),
                (
                    "sep=\r\ntitle,text\n",
                    {"quote": ","},
                    "the characters of a CSV file must differ; separator=',', quote=','",
                ),
                (
                    "title,text\n",
                    {"separator": "|", "quote": "|"},
                    "the characters of a CSV file must differ; separator='|', quote='|'",
                ),
            ]
        ),
        *(
            ("a.csv", content, options, sentence)
            for content, options, sentence in [
                (
                    "head,body\na,b\n",
                    {},
                    "a.csv, line 1: no column 'text' for the text; there are 'head', 'body'; say "
                    "which with text=…",
                ),
                (
                    "text\nibis\n",
                    {"label": "kind"},
                    "a.csv, line 1: no column 'kind' for the label; there are 'text'; "
                    "say which with label=…",
                ),
                (
                    "text,title\nibis,a\nheron,b,c\n",
                    {},
                    "a.csv, line 3: 2 columns were wanted and 3 came; "
                    "put double quotes around a text that contains ','",
                ),
                (
                    "text,title\nibis\n",
                    {},
                    "a.csv, line 2: 2 columns were wanted and 1 came; put double quotes around "
                    "a text that contains ','",
                ),
                (
                    'text\n"ibis\n',
                    {},
                    "a.csv, line 2: not a CSV row (unexpected end of data); check the quotes",
                ),
                ("text\n", {}, "a.csv holds no document; at least one was wanted"),
                ("", {}, "a.csv is empty; a file with data was wanted"),
                (
                    "text\nibis\nété été\n".encode() + b"\xe9\n",
                    {},
                    "a.csv, line 4: byte 0xe9 is not UTF-8; save the file with the "
                    "encoding UTF-8, or say which it has with encoding=…",
                ),
                (
                    b"text\nibis\n\xe9t\xe9\n",
                    {"encoding": "utf-8"},
                    "a.csv, line 3: byte 0xe9 is not UTF-8; save the file with the encoding UTF-8",
                ),
                (
                    b"text\n\x9d\n",
                    {"encoding": "cp1252"},
                    "a.csv, line 2: byte 0x9d is not CP1252; save the file with the encoding UTF-8",
                ),
                (
                    b"text\nibis\n",
                    {"encoding": "latin-x"},
                    "encoding must be the name of an encoding, as utf-8, cp1252 or utf-16; "
                    "got 'latin-x'",
                ),
                (
                    b"text\nibis\n",
                    {"encoding": "base64"},
                    "encoding must be the name of an encoding, as utf-8, cp1252 or utf-16; "
                    "got 'base64'",
                ),
                (
                    "text,day\nibis,2020-01-31\nheron,2020-02-31\n",
                    {"time": "day", "on_bad": "refuse"},
                    "a.csv, line 3: 'day' must be a date, as "
                    "2024-07-31, or a whole number, as 2024; it is '2020-02-31'",
                ),
                (
                    "text,day\nibis,1\n",
                    {"time": "date"},
                    "a.csv, line 1: no column 'date' for the time; there are 'text', 'day'; say "
                    "which with time=…",
                ),
                (
                    "text\nibis\n",
                    {"keep_text": "yes"},
                    "keep_text must be true or false; got 'yes'",
                ),
                (
                    "text\nthe\n",
                    {},
                    r"a.csv: no word left in 1 text(s) after stop words and token_pattern='[^\\W\\d_]{2,}'; "
                    "give longer texts, stop_words=None or another pattern",
                ),
                (
                    "text\nibis\n",
                    {"vocabulary": ["ibis"]},
                    "a.csv is raw text and makes its own vocabulary; "
                    "leave vocabulary out, or prune with max_words",
                ),
                (
                    "text\nibis\n",
                    {"min_docs": 2},
                    "a reader option for raw text must be one of stop_words, min_documents, "
                    "max_share, max_words, token_pattern, lowercase, accents, min_letters, "
                    "ngrams, tokenizer, more_stop_words, segmenter, phrases; got 'min_docs'",
                ),
                (
                    "text\nibis\n",
                    {"format": "orc"},
                    f"format must be one of {', '.join(FORMATS)}; got 'orc'",
                ),
                (
                    "text\nibis\n",
                    {"format": "folder"},
                    "a.csv is a file; format='folder' wants a folder of .txt files",
                ),
                (
                    "text\nibis\n",
                    {"format": "uci"},
                    "a.csv, line 1: a UCI bag of words begins with three lines of one "
                    "whole number each, "
                    "documents, words and rows; this line is none of them",
                ),
            ]
        ),
        *(
            ("a.jsonl", content, {}, sentence)
            for content, sentence in [
                (
                    '{"text": "ibis"}\n{"text": "heron"\n',
                    "a.jsonl, line 2: not JSON (Expecting ',' delimiter, column 17); "
                    "one JSON object a line was wanted",
                ),
                (
                    '[{"text": "ibis"}]\n',
                    "a.jsonl, line 1: one JSON object a line was wanted; a value of type list came",
                ),
                (
                    '{"text": "ibis"}\n{"body": "x", "id": 1}\n',
                    "a.jsonl, line 2: no field 'text' for the text; "
                    "there are 'body', 'id'; say which with text=…",
                ),
                (
                    '{"text": null}\n',
                    "a.jsonl, line 1: 'text' must be a string; it is null; "
                    'leave the line out, or write "" for an empty document',
                ),
            ]
        ),
        (
            "a.jsonl",
            '{"text": "ibis"}\n',
            {"separator": ";"},
            "a.jsonl is a file with one JSON object a line, and separator, quote, escape, comment are of "
            "CSV files; leave them out",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_file_and_line(tmp_path, name, content, options, sentence):
    assert refusal(put(tmp_path, name, content), **options) == sentence


# ---------------------------------------------------------------------- JSON lines


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.ndjson", "a.json", "a"])
def test_json_lines_have_text_title_and_label(tmp_path, name):
    entries = [
        {"text": "ibis\u2028heron", "title": "one", "label": 3, "id": 7},
        {"text": "", "title": "two"},
    ]
    content = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n\n"
    corpus = read_corpus(put(tmp_path, name, content))
    assert corpus.name == "a"
    assert corpus.titles == ("one", "two")
    assert corpus.labels == ("3", "")
    assert corpus.document_tokens.tolist() == [2, 0]


def test_json_lines_without_titles_and_labels_are_read(tmp_path):
    corpus = read_corpus(put(tmp_path, "a.jsonl", '{"body": "ibis"}\n'), text="body")
    assert (corpus.titles, corpus.labels) == (("document 0",), None)


# ---------------------------------------------------------------------- none of these


def test_what_is_not_there_or_not_recognised_is_refused(tmp_path):
    assert refusal(tmp_path / "none.csv") == "there is no file or folder none.csv; check the path"
    assert refusal(put(tmp_path, "a.bin", "MZ\0\0")) == (
        "a.bin has a format that is not recognised; wanted is one of "
        f"{', '.join(format.MEANING for format in FORMATS.values())}; say which with format=…"
    )
    assert refusal(put(tmp_path, "b.bin", "")) == "b.bin is empty; a file with data was wanted"
