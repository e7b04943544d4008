"""Specs of runs: what their hash covers, names and labels, and wrong settings in one sentence."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from toys import records_of

import workbench as wb
from workbench.corpus import prepare
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import split_options
from workbench.errors import InputError
from workbench.models import ModelError
from workbench.models.networks.levels import Level, Rows
from workbench.models.networks.network import Network, Variable
from workbench.models.options import OptionError
from workbench.records import prepare_records
from workbench.runs.execution.compare import plan
from workbench.runs.execution.sweep import grid_axes
from workbench.runs.spec import RunSpec, SpecError, cautions, make_spec


def test_a_spec_survives_json(train, test):
    spec = make_spec(
        train, "svb-cgs", alpha=(0.1, 0.2), n_topics=2, options={"r": math.inf}, test=test
    )
    assert RunSpec.from_json(spec.to_json()) == spec
    assert spec.options["r"] == "inf" and spec.parts()[2].r == math.inf


def test_fields_of_a_later_version_are_left_out(train):
    spec = make_spec(train, "cgs")
    assert RunSpec.from_json(spec.to_json()[:-1] + ', "from_the_future": 1}') == spec


def test_the_hash_covers_what_decides_bits_and_nothing_else(train, test):
    spec = make_spec(train, "svb-cgs", test=test)
    free = {
        "n_iterations": 7,
        "record_every": 2,
        "snapshot_every": 3,
        "n_threads": 2,
        "name": "x",
        "split": {},
    }
    for field, value in free.items():
        assert replace(spec, **{field: value}).hash == spec.hash
    for changed in (
        make_spec(train, "svb-cgs"),
        make_spec(train, "svb-cgs", test=test, seed=1),
        make_spec(train, "svb-cgs", test=test, burn_in=1),
        make_spec(train, "svb-cgs", test=test, alpha=0.2),
        make_spec(train, "svb-cgs", test=test, options={"r": 2}),
        make_spec(test, "svb-cgs"),
        make_spec(train, "cgs", test=test),
    ):
        assert changed.hash != spec.hash


def test_an_option_that_is_spelled_out_hashes_like_its_default(train):
    assert make_spec(train, "svb-cgs", options={"r": "1"}).hash == make_spec(train, "svb-cgs").hash


def test_a_run_from_before_an_option_keeps_its_start_and_its_hash(train):
    for engine, start in (("svb", "dirichlet"), ("cv-hdp", "noise")):
        spec = make_spec(train, engine, options={"init": start})
        written = json.loads(spec.to_json())
        for name in ("init", "warm_up"):
            del written["options"][name]
        read = RunSpec.from_json(json.dumps(written))
        assert read.options["init"] == start and read.hash == spec.hash
        assert make_spec(train, engine).hash != spec.hash
        assert replace(read, options=written["options"]).hash == spec.hash


def test_an_option_is_read_and_hashed_by_its_former_name(train):
    spec = make_spec(train, "svb-cgs", options={"n_samples": 2})
    assert (
        spec == make_spec(train, "svb-cgs", options={"n_chains": 2})
        and spec.options["n_chains"] == 2
    )
    assert RunSpec.from_json(spec.to_json().replace("n_chains", "n_samples")) == spec
    before = {
        {"n_chains": "n_samples"}.get(name, name): value for name, value in spec.options.items()
    }
    assert replace(spec, options=before).hash == spec.hash  # that of earlier versions
    (planned,), *_ = plan(train, "svb-cgs", options={"n_samples": "2"})
    assert planned.options["n_chains"] == 2
    assert list(grid_axes({"n_samples": [1, 2]}, "svb-cgs")) == ["n_chains"]
    with pytest.raises(
        OptionError,
        match="option 'n_chains' of svb-cgs was 'n_samples' before; give one of them, not both",
    ):
        make_spec(train, "svb-cgs", options={"n_chains": 2, "n_samples": 2})


def test_a_run_is_named_for_corpus_engine_topics_and_hash(train):
    spec = make_spec(replace(train, name="my corpus/1"), "cgs", n_topics=4)
    assert spec.name == f"my-corpus-1-cgs-k4-{spec.hash[:8]}"


def test_a_label_tells_r_and_what_differs_from_the_default(train):
    assert make_spec(train, "svb").label() == "svb"
    assert make_spec(train, "svb-cgs").label() == "svb-cgs r=1"
    assert (
        make_spec(train, "svb-cgs", options={"r": "inf", "n_chains": 2}).label()
        == "svb-cgs r=inf n_chains=2"
    )


ALL = ", ".join(ENGINES)
WRONG = [
    ({"engine": "gensim"}, OptionError, f"no engine 'gensim'; there are {ALL}"),
    (
        {"engine": "svbcgs"},
        OptionError,
        "no engine 'svbcgs'; did you mean 'svb-cgs'?",
    ),
    ({"n_topics": 0}, ModelError, "topics must be a whole number from 1 to 65535; got 0"),
    ({"n_topics": 2.5}, ModelError, "topics must be a whole number from 1 to 65535; got 2.5"),
    ({"n_topics": True}, ModelError, "topics must be a whole number from 1 to 65535; got True"),
    ({"alpha": -1}, ModelError, "alpha must be a number greater than 0 (at least 1e-08); got -1"),
    ({"alpha": 0}, ModelError, "alpha must be a number greater than 0 (at least 1e-08); got 0"),
    (
        {"alpha": math.nan},
        ModelError,
        "alpha must be a number greater than 0 (at least 1e-08); got nan",
    ),
    (
        {"alpha": (0.1, 0.2)},
        ModelError,
        "alpha must be one number or one per topic (10); got 2 numbers",
    ),
    ({"beta": "x"}, ModelError, "beta must be a number greater than 0 (at least 1e-08); got 'x'"),
    ({"n_iterations": 0}, SpecError, "iterations must be a whole number from 1 to 1048576; got 0"),
    ({"seed": -1}, SpecError, "seed must be a whole number from 0 to 9223372036854775807; got -1"),
    ({"burn_in": 1.5}, SpecError, "burn-in must be a whole number of at least 0; got 1.5"),
    ({"n_threads": 0}, SpecError, "threads must be a whole number from 1 to 1024; got 0"),
    (
        {"options": {"zzz": 1}},
        OptionError,
        "cgs has no option 'zzz'; there are seed_words, seed_weight, partition, scan, scored, learn_alpha, alpha_form, "
        "learn_beta, learn_after, learn_every, a_alpha, b_alpha, a_beta, b_beta",
    ),
    (
        {"engine": "svb-cgs", "options": {"n_sample": 2}},
        OptionError,
        "svb-cgs has no option 'n_sample'; did you mean 'n_chains'?",
    ),
    (
        {"engine": "svb-cgs", "options": {"r": -1}},
        OptionError,
        "option 'r' of svb-cgs must be a number of at least 0 or inf; got -1",
    ),
    (
        {"engine": "svb-cgs", "options": {"r": "many"}},
        OptionError,
        "option 'r' of svb-cgs must be a number of at least 0 or inf; got 'many'",
    ),
    (
        {"engine": "svb-cgs", "options": {"n_chains": 0}},
        OptionError,
        "option 'n_chains' of svb-cgs must be a whole number of at least 1; got 0",
    ),
    (
        {"engine": "svb", "options": {"schedule": "fast"}},
        OptionError,
        "option 'schedule' of svb must be one of parallel, sequential; got 'fast'",
    ),
    (
        {"options": {"partition": 65}},
        OptionError,
        "option 'partition' of cgs must be a whole number from 1 to 64; got 65",
    ),
    (
        {"engine": "cvb-cgs", "options": {"phases": "interleaved", "partition": 2}},
        OptionError,
        "phases=interleaved goes pair by pair and needs partition=1; set it, or use two_phase",
    ),
    (
        {"engine": "svb-cgs", "options": {"phases": "interleaved"}},
        OptionError,
        "phases=interleaved needs n_chains=1 and schedule=sequential; set both, or use two_phase",
    ),
    (
        {"name": "../up"},
        SpecError,
        "a run's name begins with a letter or digit and has letters, digits and ._+=,- only; got '../up'",
    ),
]


@pytest.mark.parametrize(
    ("settings", "error", "sentence"), WRONG, ids=[str(row[0]) for row in WRONG]
)
def test_wrong_settings_get_one_sentence(train, settings, error, sentence):
    with pytest.raises(error) as caught:
        make_spec(train, **{"engine": "cgs", **settings})
    assert str(caught.value) == sentence


def test_a_run_that_ends_within_its_warm_up_is_told_of(train):
    specs = [make_spec(train, name, n_iterations=50) for name in ("svb", "svb", "cgs", "svb-cgs")]
    assert cautions(specs, train) == [
        "svb will end within its warm-up of 50 iterations, after 50; "
        "ask for more iterations, or for a smaller warm_up"
    ]
    assert not cautions([make_spec(train, "svb", n_iterations=51)], train)
    assert not cautions([make_spec(train, "svb", n_iterations=9, options={"init": "noise"})], train)


def test_threads_without_work_are_told_of_once_an_engine(thirty_documents):
    def told(engine, options=None, n_threads=2):
        train, _ = thirty_documents
        return cautions(
            [
                make_spec(train, engine, options=options, n_threads=n_threads, seed=seed)
                for seed in (0, 1)
            ],
            train,
        )

    assert told("cgs") == [
        "cgs will leave threads idle: tokens are drawn one after another; with the option partition=4 blocks go side by side, "
        "approximately"
    ]
    assert (
        told("cgs", n_threads=1) == told("cgs", {"partition": 4}) == told("svb") == told("vb") == []
    )
    for engine, options, why in (
        ("cvb", {}, "pairs are updated one after another; with the option partition=4"),
        ("cvb0", {}, "pairs are updated one after another; with the option partition=4"),
        (
            "svb",
            {"schedule": "sequential"},
            "pairs are updated one after another; schedule=parallel is not so",
        ),
        ("svb-cgs", {}, "tokens are drawn one after another; with the option partition=4"),
        (
            "cvb-cgs",
            {"phases": "interleaved"},
            "pairs are visited one after another; phases=two_phase does not need that",
        ),
        ("cv-hdp", {}, "pairs are updated one after another"),
        ("g-hdp", {}, "tokens are drawn one after another"),
    ):
        assert len(told(engine, options)) == 1
        assert told(engine, options)[0].startswith(f"{engine} will leave threads idle: {why}")
    assert told("cvb0-cgs", {"n_chains": 2}) == told("cvb0-cgs", {"partition": 2}) == []


# ---------------------------------------------------------------------- wrong names, seeds, rows, data and priors

LONGEST = 600
"""Characters of the longest sentence: a value that came has 200 of them, the rest is our own."""


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 300, "several\nlines", "a\0b"])
@pytest.mark.parametrize("use", ["open_run", "start of a sweep", "key of a grid", "engine"])
def test_a_name_that_is_long_or_of_several_lines_gets_one_sentence(train, store, name, use):
    uses = {
        "open_run": lambda: wb.open_run(name, store),
        "start of a sweep": lambda: wb.sweep(
            train, {"n_topics": [2]}, start=name, store=store, progress=False
        ),
        "key of a grid": lambda: wb.sweep(train, {name: [2]}, store=store, progress=False),
        "engine": lambda: wb.fit(train, name),
    }
    with pytest.raises(InputError) as error:
        uses[use]()
    assert "\n" not in str(error.value) and (
        use == "engine" or len(str(error.value)) < LONGEST + len(str(store))
    )


def test_seeds_may_be_integers_of_numpy(train, store):
    seeds = dict(seed=np.int64(3), split_seed=np.int32(2))
    found = wb.compare(train, "svb", n_topics=2, n_iterations=2, progress=False, **seeds)
    assert found.seed.values.tolist() == [3]
    _, _, split = prepare(train, seed=np.int64(2))
    assert type(split["seed"]) is int
    assert type(prepare_records(records_of(train), seed=np.int64(2))[2]["seed"]) is int


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


@pytest.mark.parametrize("engine", ["vb", "cgs", "cvb0", "network-gibbs"])
def test_the_largest_priors_are_finite_and_larger_ones_refused(train, engine):
    more = {"model": "lda"} if engine == "network-gibbs" else {}
    found = wb.fit(
        train, engine, n_topics=2, alpha=1e12, beta=1e12, n_iterations=2, progress=False, **more
    )
    assert all(
        np.isfinite(found[name]).all() for name in found.data_vars if found[name].dtype.kind == "f"
    )
    with pytest.raises(
        InputError,
        match=r"must be at most 1e\+12, or counts beside it are lost in rounding; got 1e\+300",
    ):
        wb.fit(train, engine, n_topics=2, alpha=1e300, n_iterations=2, progress=False, **more)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda *_: make_spec("kos", "cgs"), r"the corpus must be a Corpus .* got str"),
        (
            lambda train, *_: make_spec(train, "cgs", test=wb.Corpus.from_pairs([0], [0], [1])),
            "the test set must have the documents and the vocabulary",
        ),
        (
            lambda train, test, _: make_spec(
                train.with_pairs([0] * (train.n_documents + 1), [], []), "cgs", test=test
            ),
            "no token to learn from",
        ),
        (
            lambda train, _, store: wb.sweep(train, {"seed": ["a"]}, store=store, progress=False),
            "seed must be a whole number .*; got 'a'",
        ),
        (
            lambda train, _, store: wb.compare(train, "cgs", seed="a", store=store, progress=False),
            "seed must be a whole number .*; got 'a'",
        ),
        (lambda train, *_: prepare(train, rows=3), "must be a text such as .*; got 3"),
        (
            lambda *_: wb.compare(3, "cgs"),
            "documents are a Corpus, a name or path, .*; got 3",
        ),
        (
            lambda *_: split_options(get_engine("g-hdp"), {"alpha_total": 1e300}),
            r"from 1e-08 to 1e\+12",
        ),
        (
            lambda *_: Network(
                "twice",
                (Variable("super", 2), Variable("topic", 3)),
                (
                    Level("theta", "super", (Rows(("document",)),)),
                    Level(
                        "theta1",
                        "topic",
                        (Rows(("document", "super")),),
                        groups=("super", "super"),
                    ),
                    Level("phi", "word", (Rows(("topic",)),)),
                ),
            ),
            "'theta1' groups its priors twice by the same variable; got super, super",
        ),
    ],
)
def test_what_is_no_corpus_seed_number_or_network_is_refused(
    thirty_documents, store, call, sentence
):
    with pytest.raises(InputError, match=sentence):
        call(*thirty_documents, store)
