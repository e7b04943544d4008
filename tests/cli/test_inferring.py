"""The commands `infer` and `bound`: what they print, where, and what they write."""

import csv

import pytest

import workbench as wb

TRAINING = [
    "sun beach sand sun sea",
    "sea sand beach swim sun",
    "snow ski mountain snow",
    "mountain ski slope snow",
]
UNSEEN = ["sun and sand", "snow, snow, zebra", "zebra", ""]


@pytest.fixture(autouse=True)
def two_runs(in_a_folder_of_its_own):
    """Runs `talk` (cgs) and `half` (svb-cgs) on four texts in ./runs, and four unseen texts in new.csv."""
    corpus = wb.Corpus.from_texts(TRAINING)
    for name, engine in (("talk", "cgs"), ("half", "svb-cgs")):
        wb.fit(corpus, engine, n_topics=2, n_iterations=30, store="runs", name=name, progress=False)
    with open("new.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["title", "text"], *([f"[{i}] new", text] for i, text in enumerate(UNSEEN))]
        )


def test_infer_prints_a_table_for_people(command):
    status, out, _ = command("infer", "talk", "new.csv")
    assert status == 0
    assert "[1] new" in out and "33.3%" in out and "snow" in out and "topic 1:" in out
    assert "33.3% of the tokens are unknown to talk" in out and "by foldin_same" in out


def test_infer_counts_texts_as_those_of_the_run(told):
    corpus = wb.Corpus.from_texts(
        ["New York city", "a City called New York"], ngrams=2, lowercase=False, stop_words=None
    )
    wb.fit(corpus, "cgs", n_topics=2, n_iterations=3, store="runs", name="pairs", progress=False)
    with open("city.csv", "w") as file:
        file.write("text\nNew York city\n")
    for more, n_tokens in ((), 5), (("--read", "ngrams=1"), 3):
        (found,) = told("infer", "pairs", "city.csv", *more)["documents"]
        assert (found["n_tokens"], found["out_of_vocabulary"]) == (n_tokens, 0)


def test_infer_prints_every_document_as_json(told):
    found = told("infer", "talk", "new.csv", "--seed", 3)
    expected, documents = wb.infer("talk", wb.load_corpus("new.csv"), seed=3), found["documents"]
    assert found["run"] == "talk"
    assert [document["document"] for document in documents] == [f"[{i}] new" for i in range(4)]
    assert [document["theta"] for document in documents] == expected.theta.values.tolist()
    assert [document["n_tokens"] for document in documents] == [2, 3, 1, 0]
    assert found["perplexity_foldin_same"] == expected.attrs["perplexity_foldin_same"]


def test_infer_writes_theta_to_a_file_with_every_digit(command, told, tmp_path):
    status, out, _ = command("infer", "talk", "new.csv", "--out", "deep/theta.csv")
    assert (status, out) == (0, "deep/theta.csv: theta of 4 documents\n")
    with open("deep/theta.csv", newline="") as file:
        rows = list(csv.reader(file))
    expected = wb.infer("talk", wb.load_corpus("new.csv"))
    assert rows[0] == ["document", "n_tokens", "out_of_vocabulary", "topic 0", "topic 1"]
    assert [
        [float(value) for value in row[3:]] for row in rows[1:]
    ] == expected.theta.values.tolist()
    assert not [path for path in (tmp_path / "deep").iterdir() if path.name != "theta.csv"]
    written = told("infer", "talk", "new.csv", "--out", "theta.csv")
    assert written["path"] == "theta.csv" and "documents" not in written


def test_infer_keeps_the_columns_that_it_was_given(command):
    with open("dated.csv", "w", newline="") as file:
        rows = [[text, f"2024-07-{at + 1:02}", "" if at else "x"] for at, text in enumerate(UNSEEN)]
        csv.writer(file).writerows([["text", "day", "kind"], *rows])
    assert command("infer", "talk", "dated.csv", "--out", "theta.csv", "--read", "time=day")[0] == 0
    with open("theta.csv", newline="") as file:
        found = list(csv.DictReader(file))
    assert list(found[0])[-3:] == ["time", "day", "kind"]
    assert [(row["time"], row["day"], row["kind"]) for row in found] == [
        (day, day, kind) for _, day, kind in rows
    ]
    inferred = wb.infer("talk", wb.load_corpus("dated.csv"))
    assert (
        inferred["document_kind"].values.tolist() == ["x", "", "", ""]
        and "document_text" not in inferred.coords
    )


def test_infer_scores_by_a_protocol_whose_name_goes_with_the_number(command, told):
    for protocol, n_scored in (("document_completion", 2), ("foldin_same", 4)):
        score = told("infer", "talk", "new.csv", "--protocol", protocol)
        assert score == wb.document_completion("talk", wb.load_corpus("new.csv"), protocol=protocol)
        assert score["protocol"] == protocol and score["n_scored"] == n_scored
        status, out, err = command("infer", "talk", "new.csv", "--protocol", protocol)
        assert (
            (status, err) == (0, "")
            and f"by {protocol} (theta is fitted to" in out
            and f"{n_scored} tokens of" in out
        )


def test_a_long_table_is_cut_and_says_so(command):
    with open("long.csv", "w") as file:
        file.write("text\n" + "sun and sand\n" * 25)
    _, out, err = command("infer", "talk", "long.csv")
    assert (
        out.count("document ") == 1 + 20
        and "and 5 documents more; --out FILE.csv writes them all" in err
    )


def test_strangers_alone_are_a_sentence_and_no_failure(command):
    with open("strangers.csv", "w") as file:
        file.write("text\nzebra giraffe\n")
    status, out, err = command("infer", "talk", "strangers.csv", "--json")
    assert status == 0 and '"perplexity_foldin_same": null' in out
    assert (
        err
        == "none of the 2 words of 'strangers' is known to the run, so every theta is the prior mean\n"
    )


def test_bound_prints_the_number_of_each_method(command, told):
    found = told("bound", "half", "--runs", 3, "--temperatures", 5, "-q")
    assert found["method"] == "ais" and len(found["log_weights"]) == 3 and found["iteration"] == 30
    found = told("bound", "half", "--method", "bracket", "--sweeps", 5, "-q")
    assert found["low"] <= found["high"]
    for arguments, sentence in (
        (("--runs", 3, "--temperatures", 5), "nats, standard error "),
        (("--runs", 1, "--temperatures", 5), "nats, no standard error from one run"),
        (("--method", "bracket", "--sweeps", 5), " nats: an interval from Gibbs samples"),
    ):
        status, out, err = command("bound", "half", *arguments, "-q")
        assert (
            (status, err) == (0, "") and out.startswith("log p(words) >= B, ") and sentence in out
        )
        assert "half at iteration 30, 14 sampled tokens" in out
    said = command("bound", "half", "--temperatures", 0)[2]
    assert said == "workbench: --temperatures must be a whole number of at least 1; got 0\n"
