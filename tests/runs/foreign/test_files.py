"""Files of other programs: what they hold comes out as it is, and a damaged one is one sentence."""

import gzip

import numpy as np
import pandas as pd
import pytest
from foreign_models import (
    N_TOPICS,
    SPLIT,
    gensim_model,
    of_tomotopy,
    own_perplexity,
    split_corpus,
    tables,
    texts_of,
    tomotopy_model,
)

import workbench as wb
from workbench.errors import InputError
from workbench.runs.foreign import mallet, tomotopy
from workbench.runs.foreign.reading import read

ALPHAS, BETA = (0.5, 0.25, 0.125), 0.01


def perplexity_of(path, store, **settings) -> float:
    train, test = split_corpus()
    run = wb.open_run(wb.import_run(path, store, corpus=train, test=test, split=SPLIT, **settings))
    return float(run.test_perplexity[-1])


def refused(path, said, **settings):
    """Reads a file that cannot be read as a model; the sentence has ``said``."""
    with pytest.raises(InputError, match=said) as caught:
        read(path, **settings)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


# ------------------------------------------------------------------------------------------------ tomotopy


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["LDAModel", "HDPModel", "CTModel", "PAModel"])
def test_a_file_of_tomotopy_is_the_model_that_was_saved(kind, tmp_path):
    model = tomotopy_model(kind)
    model.save(str(tmp_path / "model.bin"))
    theta, phi, words = of_tomotopy(kind, model)
    given = read(tmp_path / "model.bin")
    assert (
        given.engine == tomotopy.KINDS[kind]
        and list(given.words) == words
        and given.iterations == 30
    )
    np.testing.assert_array_equal(given.phi, phi)
    np.testing.assert_array_equal(given.theta, theta)
    assert perplexity_of(tmp_path / "model.bin", tmp_path) == pytest.approx(
        own_perplexity(theta, phi, words), abs=1e-6
    )


@pytest.mark.slow
def test_a_file_of_tomotopy_that_is_damaged_or_has_no_documents_is_one_sentence(
    tmp_path, monkeypatch
):
    model = tomotopy_model("LDAModel")
    model.save(str(tmp_path / "small.bin"), full=False)
    refused(tmp_path / "small.bin", "has no documents.*full=True")
    model.save(str(tmp_path / "whole.bin"))
    # of a damaged file tomotopy may not come to an end
    monkeypatch.setattr(tomotopy, "PATIENCE", 1.5)
    (tmp_path / "cut.bin").write_bytes((tmp_path / "whole.bin").read_bytes()[:40])
    refused(tmp_path / "cut.bin", "cannot be read as a model of tomotopy")


def test_words_that_tomotopy_removed_are_not_looked_for_in_its_documents(tmp_path):
    model = tomotopy_model("LDAModel", rm_top=2)
    removed = set(model.removed_top_words)
    train, test = split_corpus()
    with pytest.warns(UserWarning, match="2 of the 30 words of the corpus are not in the model"):
        run = wb.open_run(
            wb.import_run(model, tmp_path, corpus=train, test=test, unknown="leave out")
        )
    assert float(run.n_k.sum()) == sum(
        word not in removed for text in texts_of(train) for word in text
    )


# ------------------------------------------------------------------------------------------------ pickles


def test_a_pickle_is_opened_for_nobody_who_does_not_trust_it(tmp_path):
    model = gensim_model()
    model.save(str(tmp_path / "lda.model"))
    refused(tmp_path / "lda.model", "kept as a pickle and runs whatever was written.*trust=True")
    given, direct = read(tmp_path / "lda.model", trust=True), read(model)
    np.testing.assert_array_equal(given.phi, direct.phi)
    np.testing.assert_array_equal(given.infer(split_corpus()[0]), direct.infer(split_corpus()[0]))
    (tmp_path / "cut.model").write_bytes((tmp_path / "lda.model").read_bytes()[:-100])
    refused(tmp_path / "cut.model", "cannot be read as a model of gensim", trust=True)


def test_other_pickles_are_never_opened(tmp_path):
    (tmp_path / "sklearn.joblib").write_bytes(b"\x80\x04\x95" + b"sklearn.decomposition" * 3)
    for trust in (False, True):
        refused(tmp_path / "sklearn.joblib", "load it yourself", trust=trust)


# ------------------------------------------------------------------------------------------------ MALLET


def write_state(path, topics_seed=3) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """A state as MALLET writes it, with topics drawn at random; returns theta, phi and words by their definition."""
    train, _ = split_corpus()
    rng, words = (
        np.random.default_rng(topics_seed),
        list(dict.fromkeys(word for text in texts_of(train) for word in text)),
    )
    lines = [
        "#doc source pos typeindex type topic",
        f"#alpha : {' '.join(map(str, ALPHAS))} ",
        f"#beta : {BETA}",
    ]
    n_dk, n_kw = np.zeros((train.n_documents, N_TOPICS)), np.zeros((N_TOPICS, len(words)))
    for d, text in enumerate(texts_of(train)):
        for at, word in enumerate(text):
            topic = int(rng.integers(N_TOPICS))
            lines.append(f"{d} NA {at} {words.index(word)} {word} {topic}")
            n_dk[d, topic] += 1
            n_kw[topic, words.index(word)] += 1
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    theta, phi = n_dk + ALPHAS, n_kw + BETA
    return theta / theta.sum(axis=1, keepdims=True), phi / phi.sum(axis=1, keepdims=True), words


def test_a_state_of_mallet_gives_theta_and_phi(tmp_path):
    theta, phi, words = write_state(tmp_path / "state.gz")
    given = read(tmp_path / "state.gz")
    assert given.topic_prior == ALPHAS and given.word_prior == BETA
    np.testing.assert_allclose(given.theta, theta)
    assert perplexity_of(tmp_path / "state.gz", tmp_path) == pytest.approx(
        own_perplexity(theta, phi, words), abs=1e-6
    )


def test_a_state_of_mallet_that_is_cut_or_damaged_is_one_sentence(tmp_path):
    write_state(tmp_path / "state.gz")
    whole = (tmp_path / "state.gz").read_bytes()
    (tmp_path / "cut.gz").write_bytes(whole[:-200])
    refused(tmp_path / "cut.gz", "ends in the middle")
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"something else"))
    refused(tmp_path / "other.gz", "no state of MALLET")
    text = gzip.decompress(whole).decode()
    for wrong, said in (
        (text.replace("0 NA 1 ", "0 NA one ", 1), None),
        (text.replace(" 2\n", " 7\n", 1), "topic 7 and alpha of 3"),
        (text.replace("\n1 NA", "\nx NA", 1), r"line \d+: wanted 'doc source"),
        (text[: text.index("0 NA")], "no tokens"),
    ):
        (tmp_path / "wrong.gz").write_bytes(gzip.compress(wrong.encode()))
        if said:
            refused(tmp_path / "wrong.gz", said)
        else:
            read(tmp_path / "wrong.gz")  # a position is not looked at


def write_texts(folder):
    """Weights and doc-topics as MALLET writes them, of the tables; returns theta and phi."""
    theta, phi = tables()
    words = split_corpus()[0].vocabulary
    (folder / "weights.txt").write_text(
        "".join(
            f"{k}\t{word}\t{float(phi[k, w] * 50)!r}\n"
            for k in range(N_TOPICS)
            for w, word in enumerate(words)
        )
    )
    (folder / "doc-topics.txt").write_text(
        "#doc name topic proportion ...\n"
        + "".join(
            f"{d}\tdocument {d}\t" + "\t".join(map(repr, row)) + "\n"
            for d, row in enumerate(theta.tolist())
        )
    )
    return theta, phi


def test_texts_of_mallet_give_theta_and_phi(tmp_path):
    theta, phi = write_texts(tmp_path)
    found = perplexity_of(tmp_path / "weights.txt", tmp_path, theta=tmp_path / "doc-topics.txt")
    assert found == pytest.approx(
        own_perplexity(theta, phi, split_corpus()[0].vocabulary), abs=1e-6
    )
    pairs = (" ".join(f"{k} {float(row[k])!r}" for k in np.argsort(-row)) for row in theta)
    (tmp_path / "old.txt").write_text("".join(f"{d} doc{d} {row}\n" for d, row in enumerate(pairs)))
    np.testing.assert_array_equal(mallet.read_doc_topics(tmp_path / "old.txt")[0], theta)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("weights.txt", "0\tword1\tmany\n", "line 1: wanted topic, word and weight"),
        ("weights.txt", "0\tword1\t1\n1\tword2\t1\n", "a weight of at least 0 for each word"),
        ("weights.txt", "0\tword1\t-1\n", "a weight of at least 0 for each word"),
    ],
)
def test_texts_of_mallet_that_are_wrong_are_one_sentence(name, text, said, tmp_path):
    (tmp_path / name).write_text(text)
    refused(tmp_path / name, said)


def test_doc_topics_that_are_wrong_are_one_sentence(tmp_path):
    write_texts(tmp_path)
    several = "0\ta\t1\n1\tb\t.5\t.5\n"
    for text, said in (
        ("0\ta\tx\n", "line 1: wanted a number"),
        (several, "not the same topics in each line"),
    ):
        (tmp_path / "wrong.txt").write_text(text)
        with pytest.raises(InputError, match=said):
            read(tmp_path / "weights.txt", theta=tmp_path / "wrong.txt")


# ------------------------------------------------------------------------------------------------ tables


def test_npz_and_csv_give_theta_and_phi(tmp_path):
    theta, phi = tables()
    train, _ = split_corpus()
    expected = own_perplexity(theta, phi, train.vocabulary)
    np.savez(
        tmp_path / "model.npz", theta=theta, phi=phi, words=np.array(train.vocabulary), alpha=0.1
    )
    assert perplexity_of(tmp_path / "model.npz", tmp_path) == pytest.approx(expected, abs=1e-6)
    assert read(tmp_path / "model.npz").topic_prior == (0.1,) * N_TOPICS
    order = np.random.default_rng(1).permutation(train.n_documents)
    pd.DataFrame(phi, columns=list(train.vocabulary)).to_csv(
        tmp_path / "phi.csv", index_label="topic"
    )
    pd.DataFrame(theta[order], index=[train.titles[d] for d in order]).to_csv(
        tmp_path / "theta.csv", index_label="document"
    )
    # documents by their titles
    found = perplexity_of(tmp_path / "phi.csv", tmp_path, theta=tmp_path / "theta.csv")
    assert found == pytest.approx(expected, abs=1e-6)
    frames = (
        pd.DataFrame(phi, columns=list(train.vocabulary)),
        pd.DataFrame(theta, index=train.titles),
    )
    found = perplexity_of(frames[0], tmp_path, theta=frames[1])
    assert found == pytest.approx(expected, abs=1e-6)


def test_tables_that_are_wrong_are_one_sentence(tmp_path):
    theta, phi = tables()
    np.savez(tmp_path / "phi.npz", weights=phi)
    refused(tmp_path / "phi.npz", "holds theta and phi by these names")
    np.savez(tmp_path / "objects.npz", phi=np.array([{"a": 1}], object))
    refused(tmp_path / "objects.npz", "cannot be read.*not as objects")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "phi.npz").read_bytes()[:-50])
    refused(tmp_path / "cut.npz", "cannot be read")
    (tmp_path / "text.csv").write_text("a,b\n0.5,half\n")
    refused(tmp_path / "text.csv", "no number in the column 'b'")
    (tmp_path / "ragged.csv").write_text("a,b,c\n0.5,0.5\n")
    refused(tmp_path / "ragged.csv", "3 names of columns and 2 columns")
    (tmp_path / "what.xyz").write_text("hello")
    refused(tmp_path / "what.xyz", "no model that is known here")


def test_read_refuses_a_path_without_a_file(tmp_path):
    refused(
        tmp_path / "nothing",
        r"cannot be read \(No such file or directory\); give a model of tomotopy",
    )
