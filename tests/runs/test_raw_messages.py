"""What was refused with a traceback, or not at all: names, seeds, rows, data and priors get one sentence, or are taken."""

import numpy as np
import pytest
from toys import records_of

import workbench as wb
from workbench.corpus import prepare
from workbench.engines import get_engine
from workbench.engines.options import split_options
from workbench.errors import InputError
from workbench.models.networks.levels import Level, Rows
from workbench.models.networks.network import Network, Variable
from workbench.records import prepare_records

LONGEST = 600
"""Characters of the longest sentence: a value that came has 200 of them, the rest is our own."""


@pytest.fixture
def corpus(thirty_documents):
    return thirty_documents[0]


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 300, "several\nlines", "a\0b"])
@pytest.mark.parametrize("use", ["open_run", "start of a sweep", "key of a grid", "engine"])
def test_a_name_that_is_long_or_of_several_lines_gets_one_sentence(corpus, store, name, use):
    uses = {
        "open_run": lambda: wb.open_run(name, store),
        "start of a sweep": lambda: wb.sweep(
            corpus, {"n_topics": [2]}, start=name, store=store, progress=False
        ),
        "key of a grid": lambda: wb.sweep(corpus, {name: [2]}, store=store, progress=False),
        "engine": lambda: wb.fit(corpus, name),
    }
    with pytest.raises(InputError) as error:
        uses[use]()
    assert "\n" not in str(error.value) and (
        use == "engine" or len(str(error.value)) < LONGEST + len(str(store))
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda corpus, store: wb.sweep(corpus, {"seed": ["a"]}, store=store, progress=False),
        lambda corpus, store: wb.compare(corpus, "cgs", seed="a", store=store, progress=False),
    ],
)
def test_a_seed_that_is_no_number_gets_a_sentence(corpus, store, ask):
    with pytest.raises(InputError, match="seed must be a whole number .*; got 'a'"):
        ask(corpus, store)


def test_seeds_may_be_integers_of_numpy(corpus, store):
    seeds = dict(seed=np.int64(3), split_seed=np.int32(2))
    found = wb.compare(corpus, "svb", n_topics=2, n_iterations=2, progress=False, **seeds)
    assert found.seed.values.tolist() == [3]
    _, _, split = prepare(corpus, seed=np.int64(2))
    assert type(split["seed"]) is int
    assert type(prepare_records(records_of(corpus), seed=np.int64(2))[2]["seed"]) is int


def test_rows_to_hold_out_that_are_a_number_get_a_sentence(corpus):
    with pytest.raises(InputError, match="must be a text such as .*; got 3"):
        prepare(corpus, rows=3)


@pytest.mark.parametrize(
    "split",
    [
        wb.hold_out_tokens,
        wb.hold_out_documents,
        wb.split_halves,
        wb.hold_out_rows,
        wb.hold_out_cells,
        wb.hold_out_records,
    ],
)
@pytest.mark.parametrize("data", ["kos", None])
def test_a_name_is_not_data_to_be_split(split, data):
    with pytest.raises(
        InputError, match=f"what is split must be a (Corpus|Records) .*; got {data!r}"
    ):
        split(data, *["year"] * (split is wb.hold_out_rows))


def test_a_number_is_not_data_to_be_compared():
    with pytest.raises(InputError, match="documents are a Corpus, a name or path, .*; got 3"):
        wb.compare(3, "cgs")


@pytest.mark.parametrize("engine", ["vb", "cgs", "cvb0", "network-gibbs"])
def test_the_largest_priors_are_finite_and_larger_ones_refused(corpus, engine):
    more = {"model": "lda"} if engine == "network-gibbs" else {}
    found = wb.fit(
        corpus, engine, n_topics=2, alpha=1e12, beta=1e12, n_iterations=2, progress=False, **more
    )
    assert all(
        np.isfinite(found[name]).all() for name in found.data_vars if found[name].dtype.kind == "f"
    )
    with pytest.raises(
        InputError,
        match=r"must be at most 1e\+12, or counts beside it are lost in rounding; got 1e\+300",
    ):
        wb.fit(corpus, engine, n_topics=2, alpha=1e300, n_iterations=2, progress=False, **more)


def test_concentrations_of_the_hdp_are_bounded():
    with pytest.raises(InputError, match=r"from 1e-08 to 1e\+12"):
        split_options(get_engine("g-hdp"), {"alpha_total": 1e300})


def test_a_group_is_named_once():
    levels = (
        Level("theta", "super", (Rows(("document",)),)),
        Level("theta1", "topic", (Rows(("document", "super")),), groups=("super", "super")),
        Level("phi", "word", (Rows(("topic",)),)),
    )
    with pytest.raises(
        InputError, match="'theta1' groups its priors twice by the same variable; got super, super"
    ):
        Network("twice", (Variable("super", 2), Variable("topic", 3)), levels)
