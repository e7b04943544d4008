"""Scores of runs by number of topics K, and the recommended K."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.corpus import AnyCorpus
from workbench.engines import ENGINES, get_engine
from workbench.measures.curves import (
    finds_topics,
    last_value,
    mean_and_error,
    runs_by_curve,
    with_errors,
)
from workbench.measures.matching import match_topics
from workbench.measures.selection import (
    MeasureError,
    Runs,
    attributes,
    each_run,
    grouped,
    replicate_of,
    spec_of,
)
from workbench.measures.topics import coherence, diversity, used_topics
from workbench.numbers import format_number

MEANINGS = {
    "log_likelihood": ("mean log p(w|d) of the held-out tokens", "nats"),
    "test_perplexity": ("held-out perplexity", ""),
    "bound_per_token": ("variational bound divided by the training tokens", "nats"),
    "npmi": ("coherence: mean NPMI of the ten top words of a topic", ""),
    "diversity": ("share of distinct words among the 25 top words of all topics", ""),
    "n_active_topics": ("topics with a token", ""),
}
"""Score of a run → meaning and unit."""
FALLS = {"npmi": ("Coherence (NPMI)", 0.02), "stability": ("Stability across seeds", 0.05)}
"""Score → label, and the decrease from the next smaller K to the recommended K above which a caution is given."""


MOST_SEEDS = 5
"""Maximum of runs of one K that are matched pairwise. A pair with 100 topics and 7000 words takes 2 s."""


class RunNumbers(NamedTuple):
    """The scores of one run by which K is chosen."""

    n_topics: int
    replicate: tuple  # its split and seed
    finished: bool  # whether it has reached its last iteration
    numbers: dict[str, float]  # score of `MEANINGS` → value; NaN if the run has none


class Recommendation(NamedTuple):
    """A recommended number of topics, the reason, and cautions."""

    n_topics: int
    reason: str
    cautions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.reason, *self.cautions))


@lru_cache
def warm_starts() -> dict[str, bool]:
    """Return a dict engine -> whether its runs can start from others, for engines with a fixed number of topics."""
    models = {name: get_engine(name).model for name in ENGINES}
    return {
        name: model.warm_starts
        for name, model in models.items()
        if model.data is Corpus
        and not model.nonparametric
        and "n_topics" in model.takes
        and not model.is_network
    }


def numbers_by_k(runs: Runs, corpus: Corpus | Mapping[str, Corpus] | None = None) -> xr.Dataset:
    """Return a table of scores of the runs for each number of topics K, from their last iterations; see `recommend_k`.

    ``runs`` must differ only in K and seed, and may be unfinished; runs of a warm sweep include the cold first run.
    ``corpus`` has the documents for coherence: one corpus for all runs, or a dict from hash to training tokens.

    Dim ``n_topics``, rising. For each of `MEANINGS` the mean over runs, and its standard error as ``…_se`` (NaN for one run):
    ``log_likelihood`` and ``bound_per_token`` (nats), ``test_perplexity``, ``npmi``, ``diversity``, ``n_active_topics``;
    NaN where no run has the number. Coherence, diversity and stability need runs with their counts (`workbench.open_run`).

    - ``stability``: mean over pairs of seeds, at most five, of `topic_similarity`, and ``stability_se`` by the jackknife over
      runs, NaN for fewer than three.
    - ``difference``: log_likelihood minus that of the best K, mean over pairs of the same split and seed, and
      ``difference_se`` over them; ``n_pairs``.
    - ``n_runs``, ``n_finished``.

    ``attrs["best"]`` is the K with the highest mean log_likelihood, if tokens are held out; ``attrs["label"]`` the common label
    of the runs. All errors are over seeds and splits, not over held-out tokens. Raises MeasureError for runs that differ in
    more.

    Arvesen (1969), for the jackknife over pairs.
    """
    runs = each_run(runs)
    label = _label_of(runs)
    corpora = (
        {spec_of(run).train: corpus for run in runs}
        if isinstance(corpus, AnyCorpus)
        else corpus or {}
    )
    rows = [numbers_of_run(run, corpora.get(spec_of(run).train)) for run in runs]
    n_topics = {index: row.n_topics for index, row in enumerate(rows) if "phi" in runs[index]}
    similarities = {(a, b): topic_similarity(runs[a], runs[b]) for a, b in pairs_to_match(n_topics)}
    return table_by_k(rows, similarities, label)


def pairs_to_match(n_topics: Mapping[Any, int]) -> list[tuple]:
    """Return pairs of runs with equal K, whose topics are compared for stability; ``n_topics``: run → K."""
    groups = grouped(n_topics.values(), n_topics)
    return [pair for runs in groups.values() for pair in combinations(runs[:MOST_SEEDS], 2)]


def numbers_of_run(run: xr.Dataset, corpus: Corpus | None = None) -> RunNumbers:
    """Return the scores of one run at its last iteration; ``corpus`` is used for coherence."""
    spec = spec_of(run)
    numbers = {name: last_value(run, name) for name in MEANINGS}
    if "phi" in run:
        numbers["diversity"] = diversity(run).attrs["mean_diversity"]
        numbers["npmi"] = np.nan if corpus is None else coherence(run, corpus).attrs["mean_npmi"]
    return RunNumbers(
        spec.n_topics,
        replicate_of(run),
        int(run["iteration"][-1]) >= spec.n_iterations,
        numbers,
    )


def topic_similarity(a: xr.Dataset, b: xr.Dataset) -> float:
    """Return the mean similarity (1 - distance) of the matched topics of two runs.

    1 means the same topics in any order, 0 no common words. Topics without a match count as 0. See `match_topics`.
    """
    distance = match_topics(a, b)["distance"].values
    n_topics = max(used_topics(run).sizes["topic"] for run in (a, b))
    return float(np.nansum(1 - distance) / n_topics)


def table_by_k(
    rows: list[RunNumbers], similarities: Mapping[tuple[int, int], float], label: str = ""
) -> xr.Dataset:
    """Return the table of `numbers_by_k`, given the scores of runs and the topic similarity of pairs of ``rows``."""
    positions_by_k = {
        k: [position for position, row in enumerate(rows) if row.n_topics == k]
        for k in sorted({row.n_topics for row in rows})
    }
    for k, positions in positions_by_k.items():
        if len({rows[position].replicate for position in positions}) < len(positions):
            raise MeasureError(f"two of the runs have K={k} and the same seed; give one of them")
    data = {
        name: [
            mean_and_error(
                [
                    rows[position].numbers[name]
                    for position in positions
                    if np.isfinite(rows[position].numbers[name])
                ]
            )
            for positions in positions_by_k.values()
        ]
        for name in MEANINGS
    }
    data["stability"] = [
        _jackknife(positions, similarities) for positions in positions_by_k.values()
    ]
    means = np.array([mean for mean, _ in data["log_likelihood"]])
    best = list(positions_by_k)[int(np.nanargmax(means))] if np.isfinite(means).any() else None
    differences = [
        _differences(rows, positions, positions_by_k[best]) if best else np.array([])
        for positions in positions_by_k.values()
    ]
    data["difference"] = [mean_and_error(values) for values in differences]
    meanings = MEANINGS | {
        "stability": ("mean similarity of the matched topics of two seeds", ""),
        "difference": (f"log likelihood minus that of K={best}", "nats"),
    }
    columns = {}
    for name, meaning in meanings.items():
        columns |= with_errors("n_topics", name, data[name], attributes(*meaning))
    counts = {
        "n_pairs": (list(map(len, differences)), "pairs: same split, same seed"),
        "n_runs": (list(map(len, positions_by_k.values())), "runs: seeds and splits"),
        "n_finished": (
            [
                sum(rows[position].finished for position in positions)
                for positions in positions_by_k.values()
            ],
            "runs that have ended",
        ),
    }
    columns |= {
        name: ("n_topics", values, attributes(meaning))
        for name, (values, meaning) in counts.items()
    }
    return xr.Dataset(
        columns,
        {"n_topics": ("n_topics", list(positions_by_k), attributes("number of topics K"))},
        {"label": label} | ({"best": best} if best else {}),
    )


def recommend_k(table: Runs, pending: Iterable[int] = ()) -> Recommendation:
    """Recommend the smallest K whose held-out log likelihood is within one standard error of the best.

    ``table`` is from `numbers_by_k`, or the runs for it, as those of `workbench.sweep`.

    The standard error is that of the paired difference from the best K; if it is unknown, the best K is recommended.
    ``pending`` are values of K without started runs. Raises MeasureError if nothing is held out or no run has a score.

    Breiman, Friedman, Olshen & Stone (1984), section 3.4.3, use this rule for the size of a tree.
    """
    if not isinstance(table, xr.Dataset) or "n_topics" not in table.dims:
        table = numbers_by_k(table)
    if "best" not in table.attrs:
        raise MeasureError("no run has a held-out score to choose K by; hold out some tokens")
    best, ks = table.attrs["best"], table["n_topics"].values.tolist()
    near_best = (-table["difference"] <= table["difference_se"]).values
    k = next(
        (k for k, is_within in zip(ks, near_best, strict=True) if is_within and k < best), best
    )
    choice, highest = table.sel(n_topics=k), table.sel(n_topics=best)
    score = f"held-out log likelihood, {format_number(float(highest['log_likelihood']), 4)} nats per token"
    if len(ks) == 1:
        reason = f"K = {k} is the only number of topics that has a score: {score}."
    elif k != best:
        lower, error = -float(choice["difference"]), float(choice["difference_se"])
        reason = (
            f"K = {k} is the smallest number of topics within one standard error ({error:.4f}) of the best: K = {best} "
            f"has the highest {score}, and K = {k} is {lower:.4f} lower."
        )
    else:
        is_known = k > ks[0] and np.isfinite(table["difference_se"].values).all()
        smaller = ", and no smaller number comes within one standard error of it" * bool(is_known)
        reason = f"K = {k} has the highest {score}{smaller}."
    return Recommendation(k, reason, tuple(_cautions(table, k, sorted(pending))))


def _cautions(table: xr.Dataset, k: int, pending: list[int]) -> Iterable[str]:
    """Yield the cautions about a recommended K."""
    ks, best, choice = table["n_topics"].values.tolist(), table.attrs["best"], table.sel(n_topics=k)
    n_running = int((table["n_runs"] - table["n_finished"]).sum())
    if n_running:
        yield f"{n_running} of {int(table['n_runs'].sum())} runs have not finished, so this may change."
    if pending:
        verb = "has" if len(pending) == 1 else "have"
        yield f"K = {', '.join(map(str, pending))} {verb} not been run yet, so this may change."
    if len(ks) > 1 and best == max(*ks, *pending):
        yield "The best is the largest K that was tried: try larger ones too."
    elif len(ks) > 1 and k == min(*ks, *pending) > 1:
        yield "This is the smallest K that was tried: try smaller ones too."
    pairs = int(table["n_pairs"].min())
    if pairs < 2:
        yield (
            "With one seed the standard error is unknown: run more seeds."
            if int(table["n_runs"].max()) < 2
            else "Some K have only one seed, so their standard error is unknown."
        )
    elif pairs == 2:
        yield "A standard error over two seeds is rough: three or more are better."
    # a single topic is always stable
    if (row := ks.index(k)) > 0 and ks[row - 1] > 1:
        smaller = table.isel(n_topics=row - 1)
        for name, (label, least) in FALLS.items():
            below_score, score = float(smaller[name]), float(choice[name])
            if below_score - score >= least:
                yield f"{label} falls from {format_number(below_score, 2)} at K = {ks[row - 1]} to {format_number(score, 2)}."
    if (used := float(choice["n_active_topics"])) <= k - 0.5:
        yield f"Only {used:.0f} of these {k} topics have a token."


def _label_of(runs: list[xr.Dataset]) -> str:
    """Return the label shared by all runs; raise MeasureError for runs without K, or that differ in more than K and seed."""
    for run in runs:
        spec = spec_of(run)
        if not spec.n_topics or finds_topics(spec):
            raise MeasureError(f"run '{spec.name}' of {spec.engine} has no fixed K; leave it out")
    labels = list(runs_by_curve(runs))
    if len(labels) > 1 or len({spec_of(run).corpus for run in runs}) > 1:
        raise MeasureError(
            f"the runs must differ in K and seed alone; these also differ otherwise: {'; '.join(labels)}"
        )
    return labels[0]


def _differences(rows: list[RunNumbers], positions: list[int], best: list[int]) -> np.ndarray:
    """Return the log likelihood of rows ``positions`` (one K) minus that of rows ``best``, for each seed both have."""
    best_scores = {
        rows[position].replicate: rows[position].numbers["log_likelihood"] for position in best
    }
    scores = {
        rows[position].replicate: rows[position].numbers["log_likelihood"] for position in positions
    }
    differences = np.array(
        [
            value - best_scores[replicate]
            for replicate, value in scores.items()
            if replicate in best_scores
        ]
    )
    return differences[np.isfinite(differences)]


def _jackknife(
    positions: list[int], similarities: Mapping[tuple[int, int], float]
) -> tuple[float, float]:
    """Return the mean similarity over pairs of runs (NaN: no pair) and its jackknife error (NaN: fewer than three runs)."""
    values = {
        pair: similarities[pair] for pair in combinations(positions, 2) if pair in similarities
    }
    runs = sorted({position for pair in values for position in pair})
    if not values:
        return np.nan, np.nan
    mean, n = float(np.mean(list(values.values()))), len(runs)
    if n < 3:
        return mean, np.nan
    leave_one_out = [
        np.mean([value for pair, value in values.items() if run not in pair]) for run in runs
    ]
    return mean, float(
        np.sqrt((n - 1) * np.mean((np.array(leave_one_out) - np.mean(leave_one_out)) ** 2))
    )
