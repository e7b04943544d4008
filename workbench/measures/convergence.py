"""Convergence of chains: draws of quantities invariant to the numbering of topics, R-hat, effective samples, ranks.

Effective sample sizes are counted in total and per second.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import xarray as xr

from workbench.corpus.corpus import AnyCorpus
from workbench.engines import get_engine
from workbench.measures.matching import responsibilities
from workbench.measures.selection import (
    MeasureError,
    Runs,
    attributes,
    each_run,
    grouped,
    labels_of,
    spec_of,
)
from workbench.models import VARIABLES
from workbench.models.stick_breaking.scores import GAINS, HITS
from workbench.runs.recorded import last_snapshot, model_of

AVERAGED = (
    "test_perplexity",
    "test_perplexity_average",
    "test_perplexity_by_document",
    "test_perplexity_joint",
)
"""Perplexities of running averages, which depend on all earlier iterations and so are no draws of a chain."""
NO_STATE = (
    *AVERAGED,
    "elapsed",
    "cpu_time",
    "updates",
    "steps",
    "scan",
    "change",
    "move",
    "move_accepted",
    "move_gain",
    "move_from",
    "move_to",
    *(variable.name for scores in (GAINS, HITS) for variable in scores.variables),
)
"""Recorded numbers that are no functions of the sampled state."""
STATE = tuple(
    name
    for name, variable in VARIABLES.items()
    if variable.dims == ("iteration",) and name not in NO_STATE
)
"""Recorded numbers that are functions of the sampled state alone."""
FEWEST = 4
"""Smallest number of draws of a chain, as estimates compare its halves."""


def effective_samples(runs: Runs) -> xr.Dataset:
    """Return the effective sample sizes of recorded quantities after burn-in, in total and per CPU second, by label.

    Runs of one label with the same training and test tokens are chains of one estimate for quantities that do not depend on the
    numbering of topics. They are cut to the shortest chain; chains that disagree have fewer effective samples. A label with
    several splits has a row for each.

    Dims ``label`` and ``quantity`` (``log_joint``, ``test_perplexity_state`` and other recorded numbers of the state):

    - ``effective_samples``: NaN for a quantity that is not recorded or constant.
    - ``per_second``: the same divided by the CPU seconds of inference after burn-in of all chains (``cpu_time``).
    - ``n_chains``; ``n_draws``, the recorded iterations of each chain; ``iterations_between`` two of them. The iterations
      between records count for the time alone.

    Dims ``run`` and ``topic``:

    - ``of_topic``: effective samples of the tokens of each topic (``n_k``), separately for each run, as topic 3 of one chain is
      not topic 3 of another; NaN for a topic of constant size.

    The number is too high for a chain that stays in one mode; only several seeds show this. Raises MeasureError for a run
    without sampled tokens, or with fewer than 4 recorded iterations after burn-in.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), section 3.2: of the mean, by autocorrelations of split chains.
    """
    runs = each_run(runs)
    chains_of_labels = chains_by_label(runs)
    rows, spacings, seconds = zip(
        *(chains_of(chains) for _, chains in chains_of_labels), strict=True
    )
    names = [name for name in STATE if any(name in run for run in runs)]
    table = np.array(
        [
            [
                _effective(np.stack([run[name].values for run in row]))
                if name in row[0]
                else np.nan
                for name in names
            ]
            for row in rows
        ]
    )
    seconds = np.array(seconds)[:, None]
    topic_ess = np.full(
        (len(runs), max(run["n_k"].shape[1] if "n_k" in run else 0 for run in runs)), np.nan
    )
    for row_index, run in enumerate(runs):
        if "n_k" in run:
            sizes = run["n_k"].values[sampled_iterations(run, spec_of(run).record_every)].T
            topic_ess[row_index, : len(sizes)] = [
                _effective(topic_draws[None]) for topic_draws in sizes
            ]
    return xr.Dataset(
        {
            "effective_samples": (
                ("label", "quantity"),
                table,
                attributes("effective samples of its mean"),
            ),
            "per_second": (
                ("label", "quantity"),
                np.divide(table, seconds, out=np.full_like(table, np.nan), where=seconds > 0),
                attributes("effective samples for each CPU second after burn-in", "1/s"),
            ),
            "n_chains": (
                "label",
                [len(row) for row in rows],
                attributes("runs that are its chains"),
            ),
            "n_draws": (
                "label",
                [row[0].sizes["iteration"] for row in rows],
                attributes("recorded iterations after burn-in of each chain"),
            ),
            "iterations_between": (
                "label",
                list(spacings),
                attributes("iterations from one recorded to the next"),
            ),
            "of_topic": (
                ("run", "topic"),
                topic_ess,
                attributes("effective samples of the tokens of a topic"),
            ),
        },
        {
            "label": np.array([label for label, _ in chains_of_labels], dtype=object),
            "quantity": np.array(names, dtype=object),
            "run": np.array([run.attrs["name"] for run in runs], dtype=object),
            "topic": np.arange(topic_ess.shape[1]),
        },
    )


def chains_by_label(runs: Runs) -> list[tuple[str, list[xr.Dataset]]]:
    """Yield (label, runs) for each group of runs that have one label and the same training and test tokens."""
    runs = each_run(runs)
    keys = [
        (label, spec_of(run).train, spec_of(run).test)
        for label, run in zip(labels_of(runs), runs, strict=True)
    ]
    return [(label, chains) for (label, *_), chains in grouped(keys, runs).items()]


def chains_of(runs: list[xr.Dataset]) -> tuple[list[xr.Dataset], int, float]:
    """Return the runs at common, evenly spaced iterations after burn-in, the spacing, and the CPU seconds of all runs.

    The spacing is in iterations. The CPU seconds are from the end of burn-in to the last of the common iterations, added over
    the runs.
    """
    spacing = int(np.lcm.reduce([spec_of(run).record_every for run in runs]))
    evenly_spaced = [run.isel(iteration=sampled_iterations(run, spacing)) for run in runs]
    n = min(run.sizes["iteration"] for run in evenly_spaced)
    chains = [run.isel(iteration=slice(n)) for run in evenly_spaced]
    return (
        chains,
        spacing,
        sum(_seconds(run, chain) for run, chain in zip(runs, chains, strict=True)),
    )


def sampled_iterations(run: xr.Dataset, spacing: int) -> np.ndarray:
    """Return the indices of the iterations after burn-in that are multiples of ``spacing``."""
    spec, name, iteration = spec_of(run), run.attrs["name"], run["iteration"].values
    # a hybrid that records ``moved`` may have sampled no token
    sampled = (
        run["moved"].notnull().any()
        if "moved" in run
        else get_engine(spec.engine).samples(None, None)
    )
    if not sampled:
        raise MeasureError(
            f"run '{name}' of {spec.engine} samples no token; effective samples need a sampler, such as cgs or sb-ctm"
        )
    positions = np.flatnonzero((iteration > spec.end_of_burn_in) & (iteration % spacing == 0))
    if len(positions) < FEWEST:
        raise MeasureError(
            f"effective samples need at least {FEWEST} recorded iterations after burn-in; run '{name}' has {len(positions)} "
            f"after its burn-in of {spec.burn_in}; let it run longer, or record more often"
        )
    return positions


def _seconds(run: xr.Dataset, chain: xr.Dataset) -> float:
    """Return the CPU seconds between the end of burn-in, interpolated, and the last iteration of ``chain``."""
    iteration, spent = ([0, *run[name].values] for name in ("iteration", "cpu_time"))
    return float(
        chain["cpu_time"].values[-1] - np.interp(spec_of(run).end_of_burn_in, iteration, spent)
    )


def _effective(draws: np.ndarray) -> float:
    """Return the effective sample size of draws (chain, draw); NaN for constant or missing values."""
    from arviz_stats.base import array_stats  # two seconds to import

    if not np.isfinite(draws).all() or not np.ptp(draws, axis=1).any():
        return np.nan
    return float(array_stats.ess(draws, method="mean", chain_axis=0, draw_axis=1))


def error_of_mean(draws: np.ndarray) -> float:
    """Return the Monte Carlo standard error of the mean of a chain (draw,); NaN for fewer than 100 effective samples.

    Of fewer the effective sample size is itself too uncertain, and most often too high. Vehtari et al. (2021).
    """
    effective = _effective(draws[None]) if len(draws) >= ESS_OF_CHAIN else 0
    return (
        float(np.std(draws, ddof=1) / np.sqrt(effective)) if effective >= ESS_OF_CHAIN else np.nan
    )


N_FIXED, N_HELD_OUT = 50, 1000
TRIES = 20
"""Maximum of documents read per document needed, as some have too few words."""


def label_free(
    runs: Runs,
    corpora: Iterable[AnyCorpus] = (),
    n_fixed: int = N_FIXED,
    n_held_out: int = N_HELD_OUT,
    seed: int = 0,
) -> xr.Dataset:
    """Return the draws of chains after burn-in for quantities that do not depend on the numbering of topics.

    Parameters
    ----------
    runs : Datasets of runs of one label on one split
        The chains, which differ in their seeds; see `each_run`. Each must have sampled tokens.
    corpora : Corpus or ShardedCorpus, any number
        Training and test tokens of the runs, identified by content. Without them quantities of single tokens are left out.
    n_fixed : int
        Pairs of tokens, drawn once: two words of a uniformly drawn document.
    n_held_out : int
        Maximum of held-out tokens, drawn once, each from a uniformly drawn document.
    seed : int
        Seed of these draws.

    Returns
    -------
    Dataset with dims ``chain`` and ``draw``
        The recorded numbers of the state (``log_joint``, ``test_perplexity_state``, learnt priors); ``sorted_share`` (chain,
        draw, rank), the share of the tokens in the largest topic, the second largest and so on; ``same_topic`` (chain, draw,
        pair), the probability that two tokens have the same topic; ``log_predictive`` (chain, draw, held_out), log p of a
        held-out token in its document. The last two need theta and phi of a snapshot: with at least 4 common snapshots the
        draws are snapshots, else recorded iterations without these two, and the attribute ``left_out`` gives the reason.
        Coordinate ``iteration`` of each draw.

    Raises
    ------
    MeasureError
        Runs of several labels or splits; a run that samples nothing; fewer than 4 recorded iterations after burn-in.
    """
    runs = each_run(runs)
    if len(labels := dict.fromkeys(labels_of(runs))) > 1:
        raise MeasureError(
            f"chains are runs that differ in their seeds alone; got {'; '.join(labels)}"
        )
    if len({(spec_of(run).train, spec_of(run).test) for run in runs}) > 1:
        raise MeasureError(
            "chains have the same training and test tokens; these runs have several splits"
        )
    n_fixed = MeasureError.whole("the number of pairs of tokens", n_fixed, 1)
    n_held_out = MeasureError.whole("the number of held-out tokens", n_held_out, 1)
    (chains, *_), spec = chains_of(runs), spec_of(runs[0])
    corpus_by_hash = {corpus.content_hash: corpus for corpus in corpora}
    train, test = corpus_by_hash.get(spec.train), corpus_by_hash.get(spec.test)
    snapshot_iterations, left_out = _snapshots(runs), ""
    if train is None:
        left_out = "the corpora of the runs were not given"
    elif not all("theta" in run and "phi" in run for run in runs):
        left_out = "the model estimates no theta and phi at a snapshot"
    elif len(snapshot_iterations) < FEWEST:
        left_out = f"the runs have fewer than {FEWEST} common snapshots after burn-in; save them more often (snapshot_every)"
    rows = chains if left_out else [run.sel(iteration=snapshot_iterations) for run in runs]
    variables = _iteration_quantities(rows)
    if not left_out:
        rng = np.random.default_rng(seed)
        pairs = _two_words(train, n_fixed, rng)
        held_out = _held_out(train, test, n_held_out, rng)
        variables |= _token_quantities(runs, snapshot_iterations, train, pairs, held_out)
    iteration = rows[0]["iteration"].values
    return xr.Dataset(
        variables,
        {
            "chain": np.arange(len(runs)),
            "draw": np.arange(len(iteration)),
            "iteration": ("draw", iteration),
        },
        {"runs": [run.attrs["name"] for run in runs], "left_out": left_out},
    )


def _snapshots(runs: list[xr.Dataset]) -> list[int]:
    """Return evenly spaced iterations after burn-in that all runs have recorded and kept as snapshots."""
    snapshots_of_runs = (
        {*run["snapshot_iteration"].values} if "snapshot" in run.dims else set() for run in runs
    )
    common = set.intersection(
        *snapshots_of_runs,
        *({*run["iteration"].values[sampled_iterations(run, 1)]} for run in runs),
    )
    iterations = np.array(sorted(common), int)
    if len(iterations) < 2:
        return []
    return iterations[(iterations[-1] - iterations) % np.diff(iterations).max() == 0].tolist()


def _iteration_quantities(rows: list[xr.Dataset]) -> dict:
    """Return name → draws (chain, draw, …) of recorded scalars and of the sorted topic proportions."""
    variables = {}
    for name in (name for name in STATE if all(name in run for run in rows)):
        values = np.stack([run[name].values for run in rows])
        if np.isfinite(values).all() and np.ptp(values):
            variables[name] = ("chain", "draw"), values, rows[0][name].attrs
    if all("n_k" in run for run in rows):
        widest = max(run["n_k"].shape[1] for run in rows)
        shares = np.zeros((len(rows), rows[0].sizes["iteration"], widest))
        for run, share in zip(rows, shares, strict=True):
            sizes = run["n_k"].values
            share[:, : sizes.shape[1]] = -np.sort(-sizes / sizes.sum(axis=1, keepdims=True), axis=1)
        meaning = attributes(
            "share of the tokens in the largest topic, the second largest and so on"
        )
        variables["sorted_share"] = ("chain", "draw", "rank"), shares, meaning
        variables["rank"] = np.arange(1, widest + 1)
    return variables


def _documents(
    corpus: AnyCorpus, n: int, rng: np.random.Generator
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield (index, words, proportion of each word) of non-empty documents among `TRIES` · n drawn at random."""
    for d in rng.permutation(corpus.n_documents)[: TRIES * n].tolist():
        document = corpus.rows(d, d + 1)
        if document.n_pairs:
            yield d, document.words, document.counts / document.n_tokens


def _two_words(corpus: AnyCorpus, n: int, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    """Draw up to n documents and two words of each; return (document, word, other word)."""
    documents = (
        (d, words, share) for d, words, share in _documents(corpus, n, rng) if len(words) > 1
    )
    return [
        (d, *rng.choice(words, 2, replace=False, p=share).tolist())
        for d, words, share in islice(documents, n)
    ]


def _held_out(
    train: AnyCorpus,
    test: AnyCorpus | None,
    n: int,
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Draw up to n held-out tokens of training documents, as (document, word); [] if whole documents are held out."""
    if test is None or not train.same_rows(test):
        return []
    return [
        (d, int(rng.choice(words, p=share)))
        for d, words, share in islice(_documents(test, n, rng), n)
    ]


def _token_quantities(
    runs: list[xr.Dataset],
    iterations: list[int],
    train: AnyCorpus,
    pairs: list[tuple],
    held_out: list[tuple],
) -> dict:
    """Return ``same_topic`` of token pairs and ``log_predictive`` of held-out tokens at the snapshots of ``iterations``."""
    same_topic = np.empty((len(runs), len(iterations), len(pairs)))
    log_predictive = np.empty((len(runs), len(iterations), len(held_out)))
    for chain, run in enumerate(runs):
        positions = np.searchsorted(run["snapshot_iteration"].values, iterations)
        for draw, position in enumerate(positions):
            run_until = run.isel(snapshot=slice(0, position + 1))
            estimates = model_of(run).estimates(last_snapshot(run_until), train)
            phi, theta = np.asarray(estimates["phi"]), estimates["theta"]
            same_topic[chain, draw] = _same_topic(theta, phi, pairs)
            d, w = np.array(held_out, int).reshape(-1, 2).T
            log_predictive[chain, draw] = np.log((_rows(theta, d) * phi[:, w].T).sum(axis=1))
    words, titles = np.asarray(train.vocabulary, object), train.titles
    variables = {
        "same_topic": (
            ("chain", "draw", "pair"),
            same_topic,
            attributes("probability that two tokens have the same topic"),
        ),
        "pair": np.array([f"{words[w]} | {words[v]} in {titles[d]}" for d, w, v in pairs], object),
    }
    if held_out:
        variables["log_predictive"] = (
            ("chain", "draw", "held_out"),
            log_predictive,
            attributes("log p of a held-out token in its document", "nats"),
        )
        variables["held_out"] = np.array(
            [f"{words[w]} in {titles[d]}" for d, w in held_out], object
        )
    return variables


def _rows(theta, documents: np.ndarray) -> np.ndarray:
    """Return the rows ``documents`` of theta (row, topic), reading each distinct document only once."""
    distinct, inverse = np.unique(documents, return_inverse=True)
    return (theta.rows(distinct) if hasattr(theta, "rows") else np.asarray(theta)[distinct])[
        inverse
    ]


def _same_topic(theta, phi: np.ndarray, pairs: list[tuple]) -> np.ndarray:
    """Return the probability (pair,) that two tokens have the same topic, sum_k p(k | d, w) p(k | d, v)."""
    d, w, v = np.array(pairs, int).reshape(-1, 3).T
    theta_rows, positions = _rows(theta, d), np.arange(len(d))
    first, second = (responsibilities(theta_rows, phi.T, positions, words) for words in (w, v))
    return (first * second).sum(axis=1)


NUMBERS = {
    "r_hat": "rank-normalised split R-hat, the ratio of pooled to within-chain spread; the largest of the quantity",
    "ess_bulk": "effective samples in the bulk of the distribution; the smallest of the quantity",
    "ess_tail": "effective samples in its tails, at the quantiles of 5 and 95 %; the smallest of the quantity",
}
R_HAT_LIMIT, ESS_OF_CHAIN = 1.01, 100
"""Limits for the use of draws by Vehtari et al.: largest R-hat, smallest number of effective samples per chain."""
RANKED = ("log_joint", "test_perplexity_state")
"""Preferred quantities for rank histograms, in order."""
BINS = 20


def convergence(runs: Runs, corpora: Iterable[AnyCorpus] = ()) -> xr.Dataset:
    """Return R-hat and effective sample sizes (bulk, tails) of quantities that do not depend on the numbering of topics.

    Runs that differ in their seeds alone are chains of one label; a label with several splits has a row for each. A quantity
    with many numbers (``sorted_share``, ``same_topic``, ``log_predictive``; see `label_free`, also for ``corpora``) has the
    worst value of those that are not constant.

    Dims ``label`` and ``quantity``: ``r_hat``, ``ess_bulk``, ``ess_tail``; NaN for a quantity that is missing or constant.
    Dim ``label``: ``n_chains``, ``n_draws`` of each chain, ``left_out`` (why quantities of single tokens are left out, or "").

    A single chain has no R-hat, since it cannot show that another start would end elsewhere. A common rule is to use draws if
    every R-hat is below 1.01 and each chain has 100 effective samples.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021). Raises MeasureError as `label_free` does.
    """
    corpora = list(corpora)
    chains_of_labels = chains_by_label(runs)
    all_draws = [label_free(chains, corpora) for _, chains in chains_of_labels]
    names = [*dict.fromkeys(name for draws in all_draws for name in draws.data_vars)]
    table = np.full((len(NUMBERS), len(all_draws), len(names)), np.nan)
    for row, draws in enumerate(all_draws):
        for name, numbers in agreement(draws).items():
            table[:, row, names.index(name)] = numbers
    return xr.Dataset(
        {
            **{
                name: (("label", "quantity"), values, attributes(meaning))
                for (name, meaning), values in zip(NUMBERS.items(), table, strict=True)
            },
            "n_chains": (
                "label",
                [draws.sizes["chain"] for draws in all_draws],
                attributes("runs that are its chains"),
            ),
            "n_draws": (
                "label",
                [draws.sizes["draw"] for draws in all_draws],
                attributes("draws of each chain"),
            ),
            "left_out": (
                "label",
                np.array([draws.attrs["left_out"] for draws in all_draws], object),
            ),
        },
        {
            "label": np.array([label for label, _ in chains_of_labels], object),
            "quantity": np.array(names, object),
        },
    )


def agreement(draws: xr.Dataset) -> dict[str, tuple[float, float, float]]:
    """Return quantity → (R-hat, bulk ESS, tail ESS), each the worst over the components of the quantity.

    ``draws`` are the result of `label_free`; R-hat is NaN for one chain; constant quantities are left out.
    """
    worst = {name: _worst(draws[name].values) for name in draws.data_vars}
    return {name: numbers for name, numbers in worst.items() if np.isfinite(numbers[1])}


def rank_histograms(draws: xr.Dataset) -> xr.DataArray:
    """Count each chain's draws in twenty bins of their ranks among all draws, lowest first.

    Ranks are of the log joint in ``draws`` (see `label_free`), or of another recorded number. Chains that agree have equally
    many draws in each twentieth. Dims ``chain`` and ``twentieth``: counts; the attribute ``quantity`` names the number.
    """
    numbers = [name for name in draws.data_vars if draws[name].dims == ("chain", "draw")]
    if not numbers:
        raise MeasureError("the chains recorded no number that varies between draws")
    name = next((name for name in RANKED if name in numbers), numbers[0])
    from scipy.stats import rankdata  # as slow to import as all else of measures

    ranks = rankdata(draws[name].values, method="average") - 0.5
    bins = np.minimum(
        (ranks.reshape(draws[name].shape) * BINS / draws[name].size).astype(int), BINS - 1
    )
    counts = np.stack([np.bincount(chain_bins, minlength=BINS) for chain_bins in bins])
    return xr.DataArray(counts, dims=("chain", "twentieth"), attrs={"quantity": name})


def _worst(draws: np.ndarray) -> tuple[float, float, float]:
    """Return the largest R-hat and the smallest bulk and tail ESS over the components of draws (chain, draw, …)."""
    from arviz_stats.base import array_stats  # two seconds to import

    varying = draws.reshape(*draws.shape[:2], -1)
    varying = np.moveaxis(varying[:, :, np.ptp(varying, axis=1).all(axis=0)], -1, 0)
    if not len(varying):
        return np.nan, np.nan, np.nan
    axes = {"chain_axis": 1, "draw_axis": 2}
    r_hat = array_stats.rhat(varying, method="rank", **axes) if draws.shape[0] > 1 else np.nan
    bulk = array_stats.ess(varying, method="bulk", **axes)
    tail = array_stats.ess(varying, method="tail", prob=(0.05, 0.95), **axes)
    return float(np.max(r_hat)), float(np.min(bulk)), float(np.min(tail))
