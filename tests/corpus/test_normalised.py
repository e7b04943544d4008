"""Equal contents are equal data: arrays and texts of numpy become Python's own, and no number is narrowed in silence."""

import datetime
from dataclasses import replace

import numpy as np
import pytest
from data_files import refused

import workbench as wb
from workbench.corpus import Corpus, synthetic
from workbench.data.arrays import narrowed, whole_numbers
from workbench.data.drawing import draw_share
from workbench.errors import DataError, InputError
from workbench.models import LDA
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.models.bayes_nets.simulated import draw_records
from workbench.records import Records

PAIRS = [0, 0, 1], [0, 1, 1], [1, 2, 3]
HASH = "455948f5ea78bf79e0a402315618b35cf51aa3a1ac7ffeb915a59d6d9994d9a6"


def plain() -> Corpus:
    about = {
        "titles": ["x", "y"],
        "labels": ["u", ""],
        "authors": [("A", "B"), ()],
        "times": [1987, 1.5],
    }
    return Corpus.from_pairs(*PAIRS, ["ant", "bee"], **about)


def test_arrays_of_texts_and_numbers_have_the_hash_of_lists():
    arrays = Corpus.from_pairs(
        *map(np.array, PAIRS),
        np.array(["ant", "bee"]),
        titles=np.array(["x", "y"], object),
        labels=np.array(["u", ""]),
        authors=[np.array(["A", "B"]), []],
        times=[np.int64(1987), np.float32(1.5)],
    )
    # old files keep their names: that of lists is the hash of before arrays were normalised
    assert arrays.content_hash == plain().content_hash == HASH
    assert {type(one) for one in (*arrays.vocabulary, *arrays.labels, *arrays.authors[0])} == {str}
    assert [type(time) for time in arrays.times] == [int, float]


def test_a_corpus_with_numpys_texts_is_stored_and_read_back(tmp_path):
    corpus = replace(
        plain(),
        vocabulary=np.array(["ant", "bee"]),
        sequence=[(np.str_("s"), np.int64(1)), ["s", 2]],
    )
    assert Corpus.load(corpus.save(tmp_path)).content_hash == corpus.content_hash


def test_records_of_numpys_texts_have_the_hash_of_lists():
    values, ones = np.array([[0, 1], [1, 0]]), np.ones(2, int)
    one = Records(values, ones, np.array(["a", "b"]), [np.array(["x", "y"])] * 2)
    assert one.content_hash == Records(values, ones, ["a", "b"], [["x", "y"]] * 2).content_hash


def test_what_cannot_be_stored_is_said_before_anything_is_written(tmp_path):
    dated = replace(plain(), times=(datetime.date(1987, 1, 1), None))
    with pytest.raises(
        DataError,
        match="'corpus' cannot be stored .*date is not JSON serializable.*; give texts or numbers",
    ):
        dated.save(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("values", "dtype", "sentence"), [
    ([1, 2**32 + 5], np.int32, "counts must lie in -2147483648..2147483647; row 1 has 4294967301"),
    ([2**31], np.int32, "row 0 has 2147483648"),
    (np.array([2**63 + 1], np.uint64), np.int64, "row 0 has 9223372036854775809"),
    ([0.0, 1e300], np.int64, "row 1 has 1e+300"),
    ([0.0, 2.0**63], np.int64, "row 1 has 9.223372036854775808e+18|row 1 has 9.223372036854776e"),
    ([1.0, np.inf], np.int64, "counts must be whole numbers; row 1 has inf"),
    ([1.0, 2.5], np.int32, "counts must be whole numbers; row 1 has 2.5"),
    ([2**70], np.int64, "counts must be whole numbers; got values of type object"),
    ([[1], [2, 3]], np.int64, "counts must be an array; got values that make none"),
    (["1"], np.int64, "counts must be whole numbers; got values of type <U1"),
])  # fmt: skip
def test_numbers_that_a_type_cannot_hold_are_refused_with_their_row(values, dtype, sentence):
    with pytest.raises(DataError, match=sentence.replace("+", r"\+").replace("..", r"\.\.")):
        whole_numbers(values, "counts", dtype)


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_narrowed_numbers_are_the_same_numbers(kind, dtype):
    limits = np.iinfo("i2" if kind.startswith("f") else kind)
    values = np.array(
        [max(limits.min, np.iinfo(dtype).min), 0, 7, min(limits.max, np.iinfo(dtype).max)]
    ).astype(kind)
    found = narrowed(values, "values", dtype)
    assert found.dtype == dtype and [int(one) for one in found] == [int(one) for one in values]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        *(
            (
                lambda field=field: replace(plain(), **{field: np.array([2**32 + 5, 1, 1])}),
                f"{field} must lie in .* row 0 has 4294967301",
            )
            for field in ("words", "counts")
        ),
        (
            lambda: Records(np.array([[2**32, 0]]), [1], ["a", "b"], [["x"]] * 2),
            "values must lie in",
        ),
        (
            lambda: Records(np.array([[0]]), np.array([2**63 + 1], np.uint64), ["a"], [["x"]]),
            "multiplicities must lie in",
        ),
        (
            lambda: Records(np.array([[0], [1]]), [2**62, 2**62], ["a"], [["x", "y"]]),
            "there may be 1099511627776 records",
        ),
        (
            lambda: Records.from_columns({"a": ["x"], "n": ["1e300"]}, multiplicity="n"),
            "'n' must be a whole number of at least 1 and at most 1099511627776, not '1e300'",
        ),
        (
            lambda: Corpus.from_pairs([0], [2**31 - 2], [1]),
            "2147483647 words without a vocabulary must be a mistake",
        ),
        (
            lambda: Corpus.from_pairs([10**15], [0], [1]),
            "1000000000000001 documents with 1 counts must be a mistake",
        ),
        (
            lambda: Corpus.from_pairs([0], [0], [1], n_documents="5"),
            "n_documents must be a whole number of at least 0; got '5'",
        ),
        (
            lambda: draw_records(BayesNet("one", (Node("a", 2),)), [0.5, 0.5], 10**15),
            "1,000,000,000,000,000 records of network 'one' would take more than a petabyte",
        ),
        (
            lambda: draw_share(2**31 + 4, 0.1, 0, 0, "documents"),
            "a subset of 2,147,483,652 would take about 2.0 GB of memory and WORKBENCH_MEMORY",
        ),
        (
            lambda: wb.hold_out_cells(
                Records([[0, 1], [1, 0]], [2**39, 5], ["a", "b"], [["x", "y"]] * 2)
            ),
            "a split of 549,755,813,893 records would take",
        ),
    ],
)
def test_numbers_above_their_types_and_sizes_above_memory_are_refused_everywhere(
    call, sentence, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_MEMORY", "1G")
    with pytest.raises(DataError, match=sentence):
        call()


@pytest.mark.parametrize("about", [
    {"titles": 5}, {"labels": "ab"}, {"authors": {"a": 1, "b": 2}}, {"vocabulary": 3}, {"vocabulary": "ab"}, {"name": 5},
    {"name": " "},
    {"sequence": 5}, {"sequence": ["a", "b"]}, {"sequence": [("a", 2**60), ("a", 1)]}, {"inputs": {"x": [[1], [2, 3]]}},
    {"inputs": [[1], [2, 3]], "input_names": ["x"]}, {"inputs": {"x": ["1", "2"]}},
])  # fmt: skip
def test_arguments_that_are_no_lists_are_refused_in_one_line(about):
    assert len(refused(Corpus.from_pairs, *PAIRS, **about).splitlines()) == 1


@pytest.mark.parametrize("digits", [400, 6000])
def test_whole_numbers_beyond_floats_are_refused_as_settings(digits):
    huge = 10**digits
    for given in (
        {"n_topics": huge},
        {"n_topics": 2, "alpha": huge},
        {"n_topics": 2, "beta": huge},
    ):
        with pytest.raises(InputError, match=r"must be .*; got (\d+|a number of [\d,]+ bits)"):
            LDA(**given)


def test_inputs_are_doubles_whatever_they_were():
    assert replace(plain(), inputs={"x": np.array([1, 2], np.float32)}).inputs.dtype == np.float64


# ---------------------------------------------------------------------- drawn corpora


@pytest.mark.parametrize("name", [
    "bars:n_documents=200000000", "bars:side=100000", "bars:tokens_per_document=1e300", "zipf:n_documents=200000000",
    "zipf:spread=1e300",
    "zipf:n_words=200000000:n_topics=1000", "lda:n_documents=200000:n_words=200000", "zipf:n_topics=1e18",
])  # fmt: skip
def test_what_would_not_fit_is_refused_before_anything_is_drawn(name, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "4G")
    monkeypatch.setattr(np.random, "default_rng", lambda *seed: pytest.fail("it was drawn"))
    with pytest.raises(
        DataError,
        match=r"would take .* of memory and WORKBENCH_MEMORY allows 4.0 GB; ask for fewer",
    ):
        wb.load_corpus(name)


@pytest.mark.parametrize(
    "arguments",
    [
        {"beta": 1e308},
        {"alpha": 1e-320},
        {"exponent": 1e300},
        {"spread": 30.0},
        {"beta": 1e-320},
    ],
)
def test_priors_beyond_numpys_precision_give_a_corpus_or_a_sentence(arguments):
    try:
        assert (
            synthetic.zipf(
                n_documents=3, n_words=5, tokens_per_document=4, n_topics=2, **arguments
            )[0].n_tokens
            > 0
        )
    except DataError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    "draw, arguments",
    [
        (synthetic.bars, {"side": 6, "n_documents": 3000}),
        (synthetic.zipf, {"n_documents": 3000, "n_words": 3000}),
        (synthetic.lda, {"n_documents": 2000, "n_words": 2000}),
    ],
)
def test_the_forecast_of_a_drawn_corpus_is_about_what_it_takes(draw, arguments, monkeypatch):
    import tracemalloc

    forecasts = []
    monkeypatch.setattr(synthetic, "check_fits", lambda n_bytes, *said: forecasts.append(n_bytes))
    tracemalloc.start()
    draw(**arguments)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # it is to refuse what cannot be, not to be exact
    assert 0.8 * taken < forecasts[0] < 3 * taken, (forecasts, taken)
