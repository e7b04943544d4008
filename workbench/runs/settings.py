"""The settings of a run, each described once: default, range, flag and help text.

`RunSpec`, `workbench.fit`, the form and the flags of `fit`, `compare` and `sweep` are made from these. Nothing of the package
is imported here, so that completion in a shell is fast.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from inspect import Parameter, Signature, signature

LARGEST_SEED = 2**63 - 1
DEFAULT_ENGINE, DEFAULT_HYBRID = "cgs", "svb-cgs"
"""Default engine of a run, and of a sweep."""
DEFAULT_ENGINES = ("svb", "cvb", "cgs", "svb-cgs", "cvb-cgs", "cv-hdp")
"""Default engines of a comparison."""


def setting(
    default,
    flags: str,
    help: str,
    metavar: str | None = None,
    low: int | None = None,
    high: int | None = None,
    label: str = "",
    choices: tuple | dict = (),
    example: str = "",
    several: bool = False,
):
    """Return a dataclass field for a setting, with its flags (separated by blanks) and its help text.

    low, high : range of an integer
    label : its name in forms; by default the field's name in words
    choices : the possible values, or a dict from these to descriptions
    example : text shown in an empty field of a form
    several : whether a request may have several values of it
    """
    metavar = metavar or "|".join(map(str, choices)) or None
    return field(
        default=default,
        metadata={
            "flags": flags,
            "help": help,
            "metavar": metavar,
            "low": low,
            "high": high,
            "label": label,
            "choices": choices,
            "example": example,
            "several": several,
        },
    )


@dataclass(frozen=True)
class ModelSettings:
    """Settings of the model, with the types that the command line uses; None means the default of the model."""

    model: str | None = setting(
        None,
        "--model",
        "Network: lda, author-topic, labeled, partially-labeled, polylingual, pachinko, hpam1, hpam2, or a file (.toml, "
        ".json); for Bayesian networks a file (.toml, .json, .bif).",
        "MODEL",
        label="Network",
    )
    n_topics: int | None = setting(
        None,
        "--topics -k",
        "Number of topics K, of an engine that infers it the largest or initial number; default: 10, or that of the model.",
        label="Topics K",
        several=True,
    )
    sizes: list[str] | None = setting(  # noqa: RUF009
        None, "--size", "Size of a variable of the network, such as super=5; repeatable.", "NAME=N"
    )
    alpha: str | None = setting(
        None,
        "--alpha",
        "Dirichlet prior per topic of a document, not its total; default: 0.1.",
        "A|A1,A2,…",
        label="alpha",
        several=True,
    )
    beta: float | None = setting(
        None,
        "--beta",
        "Dirichlet prior per word of a topic, not its total; default: 0.1.",
        label="beta",
        several=True,
    )


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of the inference: seed, iterations, threads, and what is recorded."""

    n_iterations: int = setting(
        300,
        "--iterations -n",
        "Number of iterations over the corpus.",
        low=1,
        high=2**20,
        label="Iterations",
    )
    seed: int = setting(
        0,
        "--seed",
        "Inference seed; it does not change the held-out split.",
        low=0,
        high=LARGEST_SEED,
    )
    burn_in: int = setting(10, "--burn-in", "Iterations before averaging begins.", low=0)
    record_every: int = setting(1, "--record-every", "Iterations between recorded rows.", low=1)
    snapshot_every: int = setting(
        50, "--snapshot-every", "Iterations between snapshots of the counts.", low=1
    )
    stop_on: str | None = setting(
        None, "--stop-on", "Stop early once this has converged.", "bound|perplexity|steps"
    )
    stop_tolerance: float = setting(
        1e-4,
        "--stop-tolerance",
        "Relative change below which it has converged; with steps the number of steps.",
    )
    n_threads: int = setting(
        1,
        "--threads",
        low=1,
        high=1024,
        help="Threads per run; the result does not depend on them. Engines with the option partition need -o partition=4 too.",
    )


@dataclass(frozen=True)
class SplitSettings:
    """Settings of the split and of changes to the corpus before inference; see `workbench.corpus.prepare`."""

    holdout: float = setting(
        0.1, "--holdout", "Share held out for test perplexity; 0 = none.", label="Held-out share"
    )
    holdout_per: str = setting(
        "corpus",
        "--holdout-per",
        "Hold out a share of all tokens, a share of each document's tokens, or half of the tokens of a share of the "
        "documents; for records a share of all cells, or of whole records.",
        label="Hold out per",
        choices=("corpus", "document", "half", "cell", "record"),
    )
    holdout_rows: str | None = setting(
        None,
        "--holdout-rows",
        "Hold out whole documents, e.g. 'last 10' of each sequence or 'year>=2012'. Default: the data set's own "
        "split. 'none': hold out random tokens.",
        "ROWS",
        label="Hold out rows",
        example="last 10, year>=2012, year=2012,2013",
    )
    split_seed: int = setting(0, "--split-seed", "Seed of the held-out split.")
    top_words: int | None = setting(
        None,
        "--top-words",
        "Keep only the N most frequent words; applied before the split. Perplexities of different vocabularies cannot be "
        "compared.",
        "N",
        label="Vocabulary",
        example="all words",
        low=1,
    )
    merge: int = setting(
        1,
        "--merge",
        "Join every N consecutive documents into one; applied before the split.",
        "N",
        label="Documents joined",
        low=1,
    )
    repeat: int = setting(
        1,
        "--repeat",
        "Multiply every count by N; applied before the split.",
        "N",
        label="Counts repeated",
        low=1,
    )
    singletons: str = setting(
        "keep",
        "--singletons",
        "Drop words that occur once in a document, from training or from training and test (by the counts of each, or by "
        "their sum); applied after the split.",
        choices=("keep", "train", "both-own", "both-full"),
    )


@dataclass(frozen=True, kw_only=True)
class StartSettings:
    """Settings of how several runs are started."""

    seeds: int = setting(
        1,
        "--seeds",
        "Number of inference seeds, counted up from the first; all share the split.",
        label="Number of seeds",
        low=1,
        high=100,
    )
    jobs: int = setting(
        1, "--jobs -j", "Number of runs computed in parallel.", label="Parallel runs"
    )
    start: str | None = setting(
        None,
        "--start",
        "Initialise from the last counts of this run instead of at random.",
        "RUN",
        label="Initialise",
    )


SETTINGS = {
    each.name: each for kind in (ModelSettings, RunSettings, SplitSettings) for each in fields(kind)
}


def names(kind: type) -> tuple[str, ...]:
    """Return the names of the settings in a class of settings."""
    return tuple(each.name for each in fields(kind))


def select_settings(kind: type, settings: dict) -> dict:
    """Return the entries of ``settings`` whose names are settings of the class ``kind``."""
    return {name: settings[name] for name in names(kind) if name in settings}


def signature_with(
    function: Callable, *others: Callable, apart_from: Collection[str] = ()
) -> Signature:
    """Return the signature of a function with its ``**settings`` replaced by the optional parameters of other functions.

    Those ``apart_from`` are left out.
    """
    parameters = {
        name: parameter
        for name, parameter in signature(function).parameters.items()
        if parameter.kind is not Parameter.VAR_KEYWORD
    }
    for other in others:
        for name, parameter in signature(other).parameters.items():
            if parameter.default is not Parameter.empty and name not in apart_from:
                parameters.setdefault(name, parameter.replace(kind=Parameter.KEYWORD_ONLY))
    return signature(function).replace(parameters=list(parameters.values()))
