"""Settings and data at the edges of what numbers can be: ``python tests/campaigns/test_numbers.py --fits 200``.

Every engine is fitted with settings drawn at random: 1 to 2,000 topics or states, priors of 1e-8 to 1e4, each option at an
edge of its range or at its default; on documents of no token, of one, of a million, and with a count of 2^31 - 1. A fit ends
with numbers that are finite, with counts that add up to the data and rows of probabilities that add up to 1, or is refused
in one sentence.
"""

import argparse
import itertools
import random
import resource
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import pytest
from toys import dated, placed, sequenced

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import make_options, options_of
from workbench.errors import InputError
from workbench.models import HDP
from workbench.records import Records

LARGEST_COUNT, MILLION = 2**31 - 1, 10**6
SIZES = (1, 2, 17, 300, 2000)
"""Topics or states."""
PRIORS = (1e-8, 1e-4, 0.1, 1.0, 1e4)
LARGE = ("n_topics", "n_states", "state_dim")
"""Settings that are numbers of topics, states or dimensions."""
DENSE = {
    "sb-ctm": 300,
    "ln-ctm": 300,
    "sb-ctm-vb": 300,
    "ctm-em": 300,
    "sb-ctm-lds": 300,
    "sb-dtm": 300,
} | dict.fromkeys(("sbm-lds", "lnm-lds", "raw-lds", "bn-gibbs"), 17)
"""Engine → its most topics or states here: a step takes their third power of time, of `bn-gibbs` a draw for each record."""
BRIEF = (
    "n_chains",
    "n_particles",
    "sweep_particles",
    "n_draws",
    "start_sweeps",
    "n_inner",
    "learn_",
    "average_",
    "moves_",
)
"""Options, by how they begin, that only take time when they are larger, or begin after the few iterations here."""
MOST_MEMORY = 8 * 2**30
"""Bytes of address space that the long form may have: what takes more than was forecast raises MemoryError."""
ROUNDING = 1e-6
"""Of sums, relative to what they should be; single precision rounds to 6e-8 in each of the numbers."""
PROBABILITIES = {
    "theta": "topic",
    "phi": "word",
    "probability": "word",
    "first_state": "hidden_state",
    "transitions": "to_state",
    "emissions": "word",
    "state_probability": "hidden_state",
}
"""Variable → the dimension over which it adds up to 1."""
SOMETIMES_UNDEFINED = (
    "test_perplexity_average",
    "moved",
    "scan",
    "accepted",
    "length_time",
    "length_space",
    "prevalence",
)
"""NaN before there is something to average, where nothing is sampled, and where an input or a year has no documents."""


def pairs(*documents: dict[int, int]) -> Corpus:
    """A corpus of documents (word → count) over twelve words, with authors, years, inputs and sequences."""
    found = [(d, w, n) for d, document in enumerate(documents) for w, n in document.items()]
    authors = tuple((f"author {d % 3}", "another")[: 1 + d % 2] for d in range(len(documents)))
    corpus = Corpus.from_pairs(
        *np.array(found).T, n_documents=len(documents), n_words=12, name="edges", authors=authors
    )
    return sequenced(placed(dated(corpus)))


SMALL = [
    {},
    {0: 1},
    {3: 1},
    {},
    {1: 2, 2: 3, 5: 1},
    {0: 4, 3: 2},
    {2: 1, 4: 1, 6: 1},
    {8: 3},
    {9: 1, 1: 1},
    {10: 2, 0: 1},
]
WITHOUT = "documents of no token and one"
DATA = {
    WITHOUT: pairs(*SMALL),
    "a document of a million tokens": pairs(dict.fromkeys(range(10), MILLION // 10), *SMALL),
    "a count of 2^31 - 1": pairs(
        {0: LARGEST_COUNT, 1: 1}, *SMALL, {3: LARGEST_COUNT, 4: LARGEST_COUNT}
    ),
}
"""Training data by what is special about them; those to test on are `SMALL`, in the documents that there are."""


def records_of(corpus: Corpus) -> Records:
    """A record for each document and how often it is there: the largest count of the document."""
    values = np.full((corpus.n_documents, 4), -1)
    for d, (start, end) in enumerate(itertools.pairwise(corpus.indptr)):
        values[d, corpus.words[start:end] % 4] = np.minimum(corpus.counts[start:end], 3) - 1
    often = [
        corpus.counts[start:end].max(initial=1) for start, end in itertools.pairwise(corpus.indptr)
    ]
    levels = (("one", "two", "more"),) * 4
    return Records(
        values, np.array(often), tuple(f"field {f}" for f in range(4)), levels, corpus.name
    )


def scored_words(corpus: Corpus) -> Corpus:
    """Words 0 to 11 in turns, one for each document that the data have."""
    documents = np.flatnonzero(corpus.document_tokens)
    words, ones = np.arange(len(documents)) % corpus.n_words, np.ones(len(documents), int)
    return corpus.with_pairs(
        np.searchsorted(documents, np.arange(corpus.n_documents + 1)), words, ones
    )


def drawn(engine, draw: random.Random, most: int = max(SIZES)) -> dict:
    """Settings of `wb.fit`: options that may stand together, each at an edge or at its default; topics and priors."""
    settings = {
        name: draw.choice(PRIORS) for name in ("alpha", "beta") if name in engine.model.takes
    }
    sizes = [size for size in SIZES if size <= DENSE.get(engine.name, most)]
    if "n_topics" in engine.model.takes:
        settings["n_topics"] = draw.choice(sizes)
    if "sizes" in engine.model.takes:
        settings["model"] = draw.choice(("pachinko", "author-topic", "lda"))
    return settings | {"options": options_drawn(engine, draw, sizes)}


def options_drawn(engine, draw: random.Random, sizes: list[int]) -> dict:
    """Option → value, which may stand together; drawn again until they may."""
    while True:
        found = {
            name: draw.choice(edges(name, about, sizes))
            for name, about in options_of(engine).items()
        }
        try:
            engine.check_options(make_options(engine, found), DATA[WITHOUT])
        except InputError:
            continue
        return found


def edges(name: str, about, sizes: list[int]) -> tuple:
    """Values of an option: its choices, or its default and what lies at the ends of its range."""
    low, high, whole = (about.metadata[each] for each in ("low", "high", "whole"))
    if about.metadata["choices"] or name == "order_seed":  # which is without effect in most orders
        return about.metadata["choices"] or (about.default,)
    if name in LARGE:
        return tuple(size for size in sizes if low <= size <= high)
    if whole:
        return (low, low + 1) if name.startswith(BRIEF) else (low, about.default, low + 1)
    return max(low, PRIORS[0]), about.default, min(high or PRIORS[-1], PRIORS[-1])


def check(run, train, model=None) -> None:
    """The numbers of a run are finite, its counts are those of the data, its probabilities add up to 1.

    In an HDP, theta leaves the rest of a document to topics that no token has yet.
    """
    for name, values in run.data_vars.items():
        if values.dtype.kind == "f" and name not in SOMETIMES_UNDEFINED:
            assert np.isfinite(values.values).all(), f"{name} is not finite"
        if name in PROBABILITIES and PROBABILITIES[name] in values.dims:
            assert (values.values >= 0).all(), f"{name} is negative"
            sums, new_topics = (
                values.sum(PROBABILITIES[name]).values,
                name == "theta" and model is HDP,
            )
            assert sums.max() < 1 + ROUNDING, f"a row of {name} adds up to {sums.max():g}"
            assert new_topics or sums.min() > 1 - ROUNDING, (
                f"a row of {name} adds up to {sums.min():g}"
            )
    if "n_kw" in run and isinstance(train, Corpus):
        of_words = np.bincount(train.words, train.counts, train.n_words)
        for counts, over, wanted in (
            ("n_kw", "topic", of_words),
            ("n_dk", "topic", train.document_tokens),
        ):
            assert run[counts].values.min() >= 0, f"{counts} is negative"
            worst = abs(run[counts].sum(over).values - wanted).max() / train.n_tokens
            assert worst < ROUNDING, f"{counts} is {worst:g} of the tokens off"
    assert (run["test_perplexity"].values >= 1).all() and (
        run["train_perplexity"].values >= 1 - ROUNDING
    ).all()


def fitted(engine, corpus: Corpus, settings: dict, seed: int) -> str:
    """What came of a fit: "finite", or the sentence by which it was refused; raises where it is neither."""
    train = records_of(corpus) if engine.model.data is Records else corpus
    test = train if engine.model.data is Records else scored_words(corpus)
    try:
        with warnings.catch_warnings(action="error"):
            run = wb.fit(
                train,
                engine.name,
                test=test,
                n_iterations=4,
                burn_in=1,
                seed=seed,
                progress=False,
                **settings,
            )
    except InputError as refused:
        assert len(str(refused).splitlines()) == 1, refused
        return str(refused)
    check(run, train, engine.model)
    return "finite"


def suits(engine, corpus: Corpus, settings: dict) -> bool:
    """Samplers that go from token to token take minutes for 2^31 of them, at the start of a run too, and bytes for each."""
    data, options = (
        records_of(corpus) if engine.model.data is Records else corpus,
        make_options(engine, settings["options"]),
    )
    from_tokens = (
        engine.samples(data, options) or {"start_sweeps", "n_chains"} & settings["options"].keys()
    )
    return corpus.n_tokens < LARGEST_COUNT or not from_tokens


def fits(
    name: str, n_fits: int, seed: int = 0, most: int = max(SIZES)
) -> tuple[Counter, set[str], list[str]]:
    """What came of fits of one engine, the sentences of those that were refused, and what went wrong."""
    engine, draw = get_engine(name), random.Random(f"{name} {seed}")
    came, sentences, wrong = Counter(), set(), []
    for n in range(n_fits):
        about = draw.choice([*DATA])
        settings = drawn(engine, draw, most)
        if not suits(engine, DATA[about], settings):
            about = "a document of a million tokens"
        begun = time.monotonic()
        try:
            found = fitted(engine, DATA[about], settings, n)
            came["finite" if found == "finite" else "refused"] += 1
            sentences |= {found} - {"finite"}
        except Exception as error:
            came["wrong"] += 1
            wrong.append(f"{name}, {about}, {settings}: {type(error).__name__}: {str(error)[:300]}")
        came["seconds"] = max(came["seconds"], round(time.monotonic() - begun))
    return came, sentences, wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_numbers_at_the_edges_are_finite_and_conserved_or_refused(name):
    came, _, wrong = fits(name, 2, most=17)
    assert not wrong, "\n".join(wrong)
    assert came["finite"]


def test_what_is_not_finite_or_not_conserved_is_seen():
    train = DATA[WITHOUT]
    run = wb.fit(train, "svb", 2, test=scored_words(train), n_iterations=2, progress=False)
    check(run, train)
    for name in ("n_kw", "n_dk", "theta", "phi", "test_perplexity"):
        for broken in (run[name] * 1.001, run[name] * np.nan):
            with pytest.raises(AssertionError):
                check(
                    run.assign({name: broken if name != "test_perplexity" else broken - 1e6}), train
                )


def main() -> None:
    """Prints a row for each engine, and every fit that went wrong; ends with 1 if one did."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--engines", default=",".join(ENGINES))
    asked.add_argument("--fits", type=int, default=200, help="of each engine")
    asked.add_argument("--seed", type=int, default=0)
    asked = asked.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    all_wrong = []
    print(
        "| engine | fits | finite and conserved | refused | wrong | longest, s |\n|---|---:|---:|---:|---:|---:|"
    )
    for name in asked.engines.split(","):
        came, sentences, wrong = fits(name, asked.fits, asked.seed)
        print(
            f"| {name} | {asked.fits} | {came['finite']} | {came['refused']} | {came['wrong']} | {came['seconds']} |"
        )
        for line in (*sorted(sentences), *wrong):
            print(line, file=sys.stderr, flush=True)
        all_wrong += wrong
    sys.exit(bool(all_wrong))


if __name__ == "__main__":
    main()
