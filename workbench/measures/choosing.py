"""Numbers of runs that differ in K and seed alone, side by side by K, and the K that is recommended."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.corpus.any_corpus import AnyCorpus
from workbench.measures.against_topics import finds_topics, runs_by_curve
from workbench.measures.coherence import coherence
from workbench.measures.diversity import diversity
from workbench.measures.intervals import mean_and_error
from workbench.measures.matching import match_topics
from workbench.measures.quantities import quantity
from workbench.measures.selection import MeasureError, each_run, grouped, replicate_of, spec_of
from workbench.measures.topics import used_topics
from workbench.numbers import format_number

MEANINGS = {
    "log_likelihood": ("mean log p(w|d) of the held-out tokens", "nats"),
    "test_perplexity": ("held-out perplexity", ""),
    "bound_per_token": ("variational bound divided by the training tokens", "nats"),
    "npmi": ("coherence: mean NPMI of the ten top words of a topic", ""),
    "diversity": ("share of distinct words among the 25 top words of all topics", ""),
    "n_active_topics": ("topics with a token", ""),
}
"""Numbers of each run: what they are, and their unit."""
STABILITY = "mean similarity of the topics of two seeds that are matched"
FALLS = {"npmi": ("Coherence (NPMI)", 0.02), "stability": ("Stability across seeds", 0.05)}
"""Numbers of which a fall from the next smaller K is pointed out, and how much it is at least."""

MOST_SEEDS = 5
"""Runs of one K whose topics are matched, each with each; of more the first. A pair of 100 topics of 7000 words takes 2 s."""


class RunNumbers(NamedTuple):
    """What one run brings to the table."""

    n_topics: int
    replicate: tuple  # its split and seed
    finished: bool  # is it at the iteration where it is to end?
    numbers: dict[str, float]  # of `MEANINGS`; NaN for those that it does not have


class Recommendation(NamedTuple):
    """A number of topics, a sentence of why, and what to be careful about."""

    n_topics: int
    reason: str
    cautions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.reason, *self.cautions))


def numbers_by_k(runs, corpus: Corpus | Mapping[str, Corpus] | None = None) -> xr.Dataset:
    """What runs of each number of topics K came to, at their last iterations: to choose K by, see `recommend_k`.

    ``runs`` differ in K and seed alone, be they finished or not; those of a warm sweep are taken with the runs that began it.
    ``corpus`` has the documents in which coherence looks for words: one for all, or each run's training tokens by their hash.

    Dim ``n_topics``, rising. For each of `MEANINGS` the mean over runs, and its standard error as ``…_se`` (NaN for one run):
    ``log_likelihood`` and ``bound_per_token`` (nats), ``test_perplexity``, ``npmi``, ``diversity``, ``n_active_topics``;
    NaN where no run has the number. Coherence, diversity and stability need runs with their counts (`workbench.open_run`).

    - ``stability``: mean over pairs of seeds, at most five, of `topic_similarity`, and ``stability_se`` by the jackknife over
      runs, NaN for fewer than three.
    - ``difference``: log_likelihood minus that of the best K, mean over pairs of the same split and seed, and
      ``difference_se`` over them; ``n_pairs``.
    - ``n_runs``, ``n_finished``.

    ``attrs["best"]`` is the K with the highest mean log_likelihood, where something is held out; ``attrs["label"]`` what all
    runs are. All errors are over seeds and splits, not over what was held out. Raises MeasureError for runs that differ in
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
    counted = {at: row.n_topics for at, row in enumerate(rows) if "phi" in runs[at]}
    similar = {(a, b): topic_similarity(runs[a], runs[b]) for a, b in pairs_to_match(counted)}
    return table_by_k(rows, similar, label)


def pairs_to_match(n_topics: Mapping[Any, int]) -> list[tuple]:
    """The pairs of runs whose topics are matched for the stability, of the number of topics of each run."""
    of_each = grouped(n_topics.values(), n_topics)
    return [pair for runs in of_each.values() for pair in combinations(runs[:MOST_SEEDS], 2)]


def numbers_of_run(run: xr.Dataset, corpus: Corpus | None = None) -> RunNumbers:
    """The numbers of one run at its last iteration; ``corpus`` is where coherence looks for the words."""
    spec = spec_of(run)
    ends = {name: quantity(run, name) for name in MEANINGS}
    numbers = {
        name: np.nan if values is None else float(values.values[-1])
        for name, values in ends.items()
    }
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
    """How alike the topics of two runs are: 1 minus the distance of each to the one that it matches, on average.

    1: the same topics, whatever their numbers; 0: no word in common. Of runs with different numbers of topics in use those
    that are left over count 0. See `match_topics`.
    """
    distance = match_topics(a, b)["distance"].values
    most = max(used_topics(run).sizes["topic"] for run in (a, b))
    return float(np.nansum(1 - distance) / most)


def table_by_k(
    rows: list[RunNumbers], similar: Mapping[tuple[int, int], float], label: str = ""
) -> xr.Dataset:
    """`numbers_by_k` of what is known of each run, and of the similarity of pairs of them, by their places among the rows."""
    at = {
        k: [place for place, row in enumerate(rows) if row.n_topics == k]
        for k in sorted({row.n_topics for row in rows})
    }
    for k, places in at.items():
        if len({rows[place].replicate for place in places}) < len(places):
            raise MeasureError(f"two of the runs have K={k} and the same seed; give one of them")
    data = {
        name: [_known([rows[place].numbers[name] for place in places]) for places in at.values()]
        for name in MEANINGS
    }
    data["stability"] = [_jackknife(places, similar) for places in at.values()]
    means = np.array([mean for mean, _ in data["log_likelihood"]])
    best = list(at)[int(np.nanargmax(means))] if np.isfinite(means).any() else None
    apart = [
        _differences(rows, places, at[best]) if best else np.array([]) for places in at.values()
    ]
    data["difference"] = [mean_and_error(values) for values in apart]
    about = MEANINGS | {
        "stability": (STABILITY, ""),
        "difference": (f"log likelihood minus that of K={best}", "nats"),
    }
    columns = {}
    for name, (meaning, unit) in about.items():
        values, errors = zip(*data[name], strict=True)
        columns[name] = ("n_topics", list(values), {"long_name": meaning, "units": unit})
        columns[f"{name}_se"] = (
            "n_topics",
            list(errors),
            {"long_name": f"standard error of {name}", "units": unit},
        )
    counts = {
        "n_pairs": (list(map(len, apart)), "pairs: same split, same seed"),
        "n_runs": (list(map(len, at.values())), "runs: seeds and splits"),
        "n_finished": (
            [sum(rows[place].finished for place in places) for places in at.values()],
            "runs that have ended",
        ),
    }
    columns |= {
        name: ("n_topics", values, {"long_name": said, "units": ""})
        for name, (values, said) in counts.items()
    }
    named = {"long_name": "number of topics K", "units": ""}
    return xr.Dataset(
        columns,
        {"n_topics": ("n_topics", list(at), named)},
        {"label": label} | ({"best": best} if best else {}),
    )


def recommend_k(table: xr.Dataset, coming: Iterable[int] = ()) -> Recommendation:
    """The smallest K whose held-out log likelihood is within one standard error of the best, of `numbers_by_k`.

    The error is that of the paired difference from the best K; where it is not known, the best is recommended. ``coming`` are
    the K whose runs are still to come. Raises MeasureError where nothing is held out, or no run has come to its first score.

    Breiman, Friedman, Olshen & Stone (1984), section 3.4.3, who choose the size of a tree so.
    """
    if "best" not in table.attrs:
        raise MeasureError("no run has a held-out score to choose K by; hold out some tokens")
    best, ks = table.attrs["best"], table["n_topics"].values.tolist()
    within = (-table["difference"] <= table["difference_se"]).values
    k = next((k for k, near in zip(ks, within, strict=True) if near and k < best), best)
    chosen, highest = table.sel(n_topics=k), table.sel(n_topics=best)
    score = f"held-out log likelihood, {format_number(float(highest['log_likelihood']), 4)} nats per token"
    if len(ks) == 1:
        reason = f"K = {k} is the only number of topics that has a score: {score}."
    elif k != best:
        lower, error = -float(chosen["difference"]), float(chosen["difference_se"])
        reason = (
            f"K = {k} is the smallest number of topics within one standard error ({error:.4f}) of the best: K = {best} "
            f"has the highest {score}, and K = {k} is {lower:.4f} lower."
        )
    elif np.isfinite(table["difference_se"].values).all():
        smaller = (
            ", and no smaller number comes within one standard error of it" if k > ks[0] else ""
        )
        reason = f"K = {k} has the highest {score}{smaller}."
    else:
        reason = f"K = {k} has the highest {score}."
    return Recommendation(k, reason, tuple(_cautions(table, k, sorted(coming))))


def _cautions(table: xr.Dataset, k: int, coming: list[int]) -> Iterable[str]:
    ks, best, chosen = table["n_topics"].values.tolist(), table.attrs["best"], table.sel(n_topics=k)
    n_going = int((table["n_runs"] - table["n_finished"]).sum())
    if n_going:
        yield f"{n_going} of {int(table['n_runs'].sum())} runs have not come to their ends, so this may change."
    if coming:
        yield f"K = {', '.join(map(str, coming))} {'is' if len(coming) == 1 else 'are'} still to come, so this may change."
    if len(ks) > 1 and best == max(*ks, *coming):
        yield "The best is the largest K that was tried: try larger ones too."
    elif len(ks) > 1 and k == min(*ks, *coming) > 1:
        yield "This is the smallest K that was tried: try smaller ones too."
    pairs = int(table["n_pairs"].min())
    if pairs < 2:
        yield (
            "With one seed the error is not known: run more seeds."
            if int(table["n_runs"].max()) < 2
            else ("Of some K only one seed is there, so its error is not known.")
        )
    elif pairs == 2:
        yield "An error over two seeds is rough: three or more are better."
    # a single topic is stable whatever the documents are
    if (at := ks.index(k)) > 0 and ks[at - 1] > 1:
        below = table.isel(n_topics=at - 1)
        for name, (said, least) in FALLS.items():
            before, now = float(below[name]), float(chosen[name])
            if before - now >= least:
                yield f"{said} falls from {format_number(before, 2)} at K = {ks[at - 1]} to {format_number(now, 2)}."
    if (used := float(chosen["n_active_topics"])) <= k - 0.5:
        yield f"Only {used:.0f} of these {k} topics have a token."


def _label_of(runs: list[xr.Dataset]) -> str:
    """What all runs are. Refuses runs without a K, and runs that differ in more than K and seed."""
    for run in runs:
        spec = spec_of(run)
        if "n_topics" not in spec.model or finds_topics(spec):
            raise MeasureError(
                f"run '{spec.name}' of {spec.engine} has no K to choose; leave it out"
            )
    labels = list(runs_by_curve(runs))
    if len(labels) > 1 or len({spec_of(run).corpus for run in runs}) > 1:
        raise MeasureError(
            f"the runs may differ in K and seed alone, and these differ in more: {'; '.join(labels)}"
        )
    return labels[0]


def _known(values: list[float]) -> tuple[float, float]:
    """Mean and standard error of the values that are known."""
    return mean_and_error([value for value in values if np.isfinite(value)])


def _differences(rows: list[RunNumbers], places: list[int], best: list[int]) -> np.ndarray:
    """log_likelihood minus that of the best K, of each pair in which both are known."""
    theirs = {rows[place].replicate: rows[place].numbers["log_likelihood"] for place in best}
    own = {rows[place].replicate: rows[place].numbers["log_likelihood"] for place in places}
    apart = np.array(
        [value - theirs[replicate] for replicate, value in own.items() if replicate in theirs]
    )
    return apart[np.isfinite(apart)]


def _jackknife(places: list[int], similar: Mapping[tuple[int, int], float]) -> tuple[float, float]:
    """Mean over pairs of runs and its standard error when each run is left out once; NaN for fewer than two, three runs."""
    known = {pair: similar[pair] for pair in combinations(places, 2) if pair in similar}
    runs = sorted({place for pair in known for place in pair})
    if not known:
        return np.nan, np.nan
    mean, n = float(np.mean(list(known.values()))), len(runs)
    if n < 3:
        return mean, np.nan
    without = [np.mean([value for pair, value in known.items() if run not in pair]) for run in runs]
    return mean, float(np.sqrt((n - 1) * np.mean((np.array(without) - np.mean(without)) ** 2)))
