"""Names of engines, data sets, settings and options, for editors; written by python docs/site/generated.py."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

import xarray as xr
from numpy.typing import ArrayLike

from workbench.corpus import Corpus
from workbench.models.model import Model
from workbench.runs.execution.run import Run

EngineName = Literal[
    "vb",
    "svb",
    "online-vb",
    "cvb",
    "cvb0",
    "cgs",
    "svb-cgs",
    "cvb-cgs",
    "cvb0-cgs",
    "adaptive-cgs",
    "mixed-cgs",
    "slda",
    "dmr",
    "cv-hdp",
    "g-hdp",
    "sb-ctm",
    "ln-ctm",
    "ctm-em",
    "sb-ctm-vb",
    "sb-dtm",
    "sb-ctm-lds",
    "sbm-gp",
    "lnm-gp",
    "raw-gp",
    "static",
    "sbm-lds",
    "lnm-lds",
    "raw-lds",
    "hmm",
    "network-vb",
    "network-vb-ml",
    "network-gibbs",
    "network-hybrid",
    "network-cvb0",
    "bn-vb",
    "bn-cvb0",
    "bn-em",
    "bn-gibbs",
    "bn-hybrid",
]
DataName = Literal[
    "docstrings",
    "kos",
    "nips",
    "nips17",
    "reuters395",
    "reuters_top",
    "ap",
    "news20",
    "kos500",
    "news5",
    "ap1000",
    "news1000",
    "names",
    "dna",
    "alice",
    "reuters_sequences",
    "bars",
    "zipf",
    "lda",
]
RecordName = Literal[
    "votes",
    "ability",
    "bfi",
    "bfi-n",
    "soybean",
    "words",
    "asia",
    "alarm",
    "insurance",
    "hepar2",
]

class Options(TypedDict, total=False):
    seed_words: Literal[""] | Mapping | str
    seed_weight: float
    init: Literal["dirichlet", "noise", "hard", "smooth"] | Literal["dirichlet", "noise", "hard"]
    warm_up: int
    n_inner: int
    inner_tolerance: float
    restart_documents: bool
    topics: Literal["full", "point"] | Literal["integrated", "drawn"]
    learn_alpha: Literal["fixed", "maximised", "sampled"] | bool
    alpha_form: Literal["asymmetric", "symmetric"]
    learn_beta: Literal["fixed", "maximised", "sampled"] | bool
    learn_after: int
    learn_every: int
    a_alpha: float
    b_alpha: float
    a_beta: float
    b_beta: float
    schedule: Literal["parallel", "sequential"]
    batch_size: int
    tau0: float
    kappa: float
    total_documents: int
    batches_before: int
    hold_topics: bool
    partition: int
    precision: Literal["double", "single"]
    scan: Literal["auto", "documents", "words"]
    scored: Literal["means", "sampled"]
    r: Literal["inf"] | float
    n_chains: int
    phases: Literal["two_phase", "interleaved"]
    cg_second_order: bool
    average: Literal["svb", "cvb", "cvb0"]
    budget_r: Literal["inf"] | float
    budget: float
    refresh: int
    rarer: float
    chance: float
    favour: Literal["constant", "counts", "gap"]
    halved_every: Literal["inf"] | float
    response: Literal["label"] | float | str
    response_type: Literal["auto", "categories", "numbers"]
    weight_scale: float
    prevalence: Literal[""] | float | str
    effect_scale: float
    alpha_total: float
    beta_total: float
    top_concentration: float
    learn_gamma: bool
    a_gamma: float
    b_gamma: float
    learn_tau: bool
    a_tau: float
    update: Literal["second_order", "conditional", "zeroth"]
    reorder: bool
    moves_every: int
    moves_after: int
    prior: Literal["proper", "paper"]
    order: Literal["size", "random"] | Literal["size", "vocabulary", "random"] | float | str
    order_seed: int
    start_sweeps: int
    bound: Literal["local", "paper"]
    batch: int
    tau: float
    q: float
    learn_q: bool
    a_q: float
    b_q: float
    word_alpha: float
    documents: Literal["own", "shared"]
    step_variance: float
    length_time: float
    length_space: float
    scale: float
    noise: float
    mean: Literal["empirical", "paper-code"]
    kernel: Literal["fitted", "given", "sampled"] | Literal["fitted", "given"]
    rank: Literal["1e-08", "dense"] | float | str
    predict: Literal["collapsed", "conditional"]
    average_after: int
    state_dim: int
    sigma_c2: float
    learn_sigma_c2: bool
    a_sigma_c2: float
    b_sigma_c2: float
    offset: Literal["frequencies", "uniform"]
    n_particles: int
    sweep_particles: int
    probabilities: Literal["clip", "argmax"]
    n_draws: int
    n_states: int
    alpha0: float
    network: Literal["latent-class", "hmm"]
    missing: Literal["marginalised", "imputed"]
    learn_priors: Literal["fixed", "maximised", "sampled"]
    a_prior: float
    b_prior: float
    least: float
    tables: Literal["collapsed", "drawn"]

class FitSettings(Options, total=False):
    test: Corpus | None
    options: dict | None
    split: dict | None
    name: str | None
    model: Model | str | None
    sizes: dict | None
    interventions: Iterable
    n_iterations: int
    burn_in: int
    record_every: int
    snapshot_every: int
    stop_on: str | None
    stop_tolerance: float
    n_threads: int
    text: str | None
    id: str | None
    time: str | None
    label: str | None
    vocabulary: Iterable[str] | Mapping | str | Path | None
    stop_words: str | Iterable[str] | None
    min_documents: int
    max_share: float
    max_words: int | None
    token_pattern: str
    lowercase: bool
    accents: str
    min_letters: int
    ngrams: int
    tokenizer: Callable[[str], Iterable[str]] | None
    more_stop_words: str | Iterable[str] | None
    segmenter: str | None
    phrases: str | Iterable[str] | None
    keep_text: bool

class StartSettings(Options, total=False):
    n_topics: int | None
    alpha: float | Sequence[float] | None
    beta: ArrayLike | None
    seed: int
    progress: bool
    start: Run | str | Path | xr.Dataset | None
    restarts: int
    client: object
    options: dict | None
    split: dict | None
    name: str | None
    model: Model | str | None
    sizes: dict | None
    interventions: Iterable
    n_iterations: int
    burn_in: int
    record_every: int
    snapshot_every: int
    stop_on: str | None
    stop_tolerance: float
    n_threads: int
    text: str | None
    id: str | None
    time: str | None
    label: str | None
    vocabulary: Iterable[str] | Mapping | str | Path | None
    stop_words: str | Iterable[str] | None
    min_documents: int
    max_share: float
    max_words: int | None
    token_pattern: str
    lowercase: bool
    accents: str
    min_letters: int
    ngrams: int
    tokenizer: Callable[[str], Iterable[str]] | None
    more_stop_words: str | Iterable[str] | None
    segmenter: str | None
    phrases: str | Iterable[str] | None
    keep_text: bool

class CompareSettings(Options, total=False):
    seeds: int
    seed: int
    options: dict | None
    name: str | None
    model: Model | str | None
    sizes: dict | None
    interventions: Iterable
    n_iterations: int
    burn_in: int
    record_every: int
    snapshot_every: int
    stop_on: str | None
    stop_tolerance: float
    n_threads: int
    holdout: float
    holdout_per: str
    holdout_rows: str | None
    split_seed: int
    top_words: int | None
    merge: int
    repeat: int
    singletons: str
    text: str | None
    id: str | None
    time: str | None
    label: str | None
    vocabulary: Iterable[str] | Mapping | str | Path | None
    stop_words: str | Iterable[str] | None
    min_documents: int
    max_share: float
    max_words: int | None
    token_pattern: str
    lowercase: bool
    accents: str
    min_letters: int
    ngrams: int
    tokenizer: Callable[[str], Iterable[str]] | None
    more_stop_words: str | Iterable[str] | None
    segmenter: str | None
    phrases: str | Iterable[str] | None
    keep_text: bool
    split: Literal["gap", "random", "counts"]

class SweepSettings(Options, total=False):
    n_topics: int | None
    alpha: float | Sequence[float] | None
    beta: float | None
    start: Run | str | Path | xr.Dataset | None
    seed: int
    options: dict | None
    name: str | None
    model: Model | str | None
    sizes: dict | None
    interventions: Iterable
    n_iterations: int
    burn_in: int
    record_every: int
    snapshot_every: int
    stop_on: str | None
    stop_tolerance: float
    n_threads: int
    holdout: float
    holdout_per: str
    holdout_rows: str | None
    split_seed: int
    top_words: int | None
    merge: int
    repeat: int
    singletons: str
    text: str | None
    id: str | None
    time: str | None
    label: str | None
    vocabulary: Iterable[str] | Mapping | str | Path | None
    stop_words: str | Iterable[str] | None
    min_documents: int
    max_share: float
    max_words: int | None
    token_pattern: str
    lowercase: bool
    accents: str
    min_letters: int
    ngrams: int
    tokenizer: Callable[[str], Iterable[str]] | None
    more_stop_words: str | Iterable[str] | None
    segmenter: str | None
    phrases: str | Iterable[str] | None
    keep_text: bool
    split: Literal["gap", "random", "counts"]

class CorpusSettings(TypedDict, total=False):
    part: str
    births: int
    draw: int
    windows: int
    side: int
    n_documents: int
    tokens_per_document: int
    seed: int
    alpha: float
    n_words: int
    n_topics: int
    exponent: float
    beta: float
    spread: float
    vocabulary: Iterable[str] | Mapping | str | os.PathLike | None
    format: str | None
    text: str
    title: str | None
    label: str | None
    name: str | None
    inputs: str | Iterable[str]
    sequence: str | None
    position: str | None
    document: str | Iterable[str]
    word: str
    count: str
    time: str | None
    on_bad: str
    repeated: str
    keep_text: bool
    encoding: str
    separator: str | None
    quote: str | None
    escape: str | None
    comment: str | None
    counted: Mapping | None
    stop_words: str | Iterable[str] | None
    min_documents: int
    max_share: float
    max_words: int | None
    token_pattern: str
    lowercase: bool
    accents: str
    min_letters: int
    ngrams: int
    tokenizer: Callable[[str], Iterable[str]] | None
    more_stop_words: str | Iterable[str] | None
    segmenter: str | None
    phrases: str | Iterable[str] | None

class RecordSettings(TypedDict, total=False):
    party: str
    n_records: int
    seed: int
    hidden: float
    fields: Sequence[str] | str | None
    levels: Mapping[str, Sequence] | None
    missing: Sequence[str] | str
    multiplicity: str | None
    name: str | None
