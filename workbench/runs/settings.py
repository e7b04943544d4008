"""The settings of a run, each described once: default, range, flag and help text.

`RunSpec`, `workbench.fit`, the form and the flags of `fit`, `compare` and `sweep` are made from these. Nothing of the
package is imported here, since a shell that completes a word waits for it.
"""

from dataclasses import dataclass, field, fields
from inspect import Parameter, Signature, signature

LARGEST_SEED = 2**63 - 1
DEFAULT_ENGINE, DEFAULT_HYBRID = "cgs", "svb-cgs"
"""Of a run, and of a sweep, unless another is chosen."""
DEFAULT_ENGINES = ("svb", "cvb", "cgs", "svb-cgs", "cvb-cgs", "cv-hdp")
"""Those of a comparison, unless others are chosen."""


def setting(
    default,
    flags: str,
    help: str,
    metavar: str | None = None,
    low: int | None = None,
    high: int | None = None,
):
    """A field with its flags (separated by blanks) and, of a whole number, its range."""
    return field(
        default=default,
        metadata={"flags": flags, "help": help, "metavar": metavar, "low": low, "high": high},
    )


@dataclass(frozen=True)
class ModelSettings:
    """Settings of the model, with the types in which the command line takes them; None: the default of the model."""

    model: str | None = setting(
        None,
        "--model",
        "Network: lda, author-topic, pachinko, hpam1, hpam2, or a file (.toml, .json); for Bayesian networks a "
        "file (.toml, .json, .bif).",
        "MODEL",
    )
    n_topics: int | None = setting(
        None, "--topics -k", "Number of topics K; default: 10, or that of the model."
    )
    sizes: list[str] | None = setting(  # noqa: RUF009
        None, "--size", "Size of a variable of the network, such as super=5; repeatable.", "NAME=N"
    )
    alpha: str | None = setting(
        None,
        "--alpha",
        "Dirichlet prior per topic: a number (0.1), or one per topic, separated by commas.",
    )
    beta: float | None = setting(None, "--beta", "Dirichlet prior per word type; default: 0.1.")


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of the inference: its seed, its length, its threads, and what is recorded."""

    n_iterations: int = setting(
        300, "--iterations -n", "Number of iterations over the corpus.", low=1, high=2**20
    )
    seed: int = setting(0, "--seed", "Inference seed.", low=0, high=LARGEST_SEED)
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
    """Settings of what is done to the corpus before inference; see `workbench.corpus.prepare`."""

    holdout: float = setting(0.1, "--holdout", "Share held out for test perplexity; 0 = none.")
    holdout_per: str = setting(
        "corpus",
        "--holdout-per",
        "Hold out a share of all tokens, a share of each document's tokens, or half of the tokens of a share of the "
        "documents; for records a share of all cells, or of whole records.",
        "corpus|document|half|cell|record",
    )
    holdout_rows: str | None = setting(
        None,
        "--holdout-rows",
        "Hold out whole documents, e.g. 'last 10' of each sequence or 'year>=2012'. Default: the data set's own "
        "split. 'none': hold out random tokens.",
        "ROWS",
    )
    split_seed: int = setting(0, "--split-seed", "Seed of the held-out split.")
    top_words: int | None = setting(
        None, "--top-words", "Keep only the N most frequent words; applied before the split.", "N"
    )
    merge: int = setting(
        1, "--merge", "Join every N consecutive documents into one; applied before the split.", "N"
    )
    repeat: int = setting(
        1, "--repeat", "Multiply every count by N; applied before the split.", "N"
    )
    singletons: str = setting(
        "keep",
        "--singletons",
        "Drop words that occur once in a document; applied after the split.",
        "keep|train|both-own|both-full",
    )


SETTINGS = {
    each.name: each for kind in (ModelSettings, RunSettings, SplitSettings) for each in fields(kind)
}


def names(kind: type) -> tuple[str, ...]:
    """The names of the settings of a kind."""
    return tuple(each.name for each in fields(kind))


def of(kind: type, settings: dict) -> dict:
    """Those of the settings that are of this kind."""
    return {name: settings[name] for name in names(kind) if name in settings}


def named(function, *others) -> Signature:
    """The signature of a function with what these others may be given, by name, instead of its ``**settings``."""
    found = {
        name: one
        for name, one in signature(function).parameters.items()
        if one.kind is not Parameter.VAR_KEYWORD
    }
    for each in others:
        for name, one in signature(each).parameters.items():
            if one.default is not Parameter.empty:
                found.setdefault(name, one.replace(kind=Parameter.KEYWORD_ONLY))
    return signature(function).replace(parameters=list(found.values()))
