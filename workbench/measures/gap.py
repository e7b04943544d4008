"""The gap in held-out perplexity between a variational engine and long Gibbs chains, in its parts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
import xarray as xr

from workbench.engines import REFERENCE
from workbench.measures.curves import mean_and_error
from workbench.measures.selection import (
    MeasureError,
    Runs,
    attributes,
    each_run,
    grouped,
    labels_of,
    late_log_states,
    spec_of,
)
from workbench.measures.starts import options_but_start, same_but_start
from workbench.runs.spec import PRIORS, RunSpec

PARTS = {
    "start": "the engine's own optimum minus its best one",
    "approximation": "the engine's best optimum minus the state of cgs",
    "averaging": "the state of cgs minus its running average",
    "priors": "what of the approximation is gone where the engine and cgs each have their best priors",
}
"""Part of a gap → which difference of perplexities it is."""


def gap(runs: Runs) -> xr.Dataset:
    """Return by how much each variational engine's held-out perplexity exceeds that of Gibbs sampling, part by part.

    The gap of a label is O - A, in points of perplexity, and the sum of these parts:

    - ``start``, O - B: what a bad optimum costs, compared with the best one that is known;
    - ``approximation``, B - S: what the best optimum loses to a single state of the chain; it can be negative;
    - ``averaging``, S - A: what a chain gains by averaging p(w|d) over its states, which no single optimum has;
    - ``priors``: how much of B - S is gone where the engine and ``cgs`` each have the alpha and beta with the lowest mean
      perplexity on the other splits of the corpus, among the runs; taken out of ``approximation``. It takes runs of both
      with several priors on several splits: NaN for a label without them, and absent if no label has them.

    O is the mean of the final perplexity over the runs of the label. B is the final perplexity of the run with the highest
    final ``bound`` among all runs of the engine that differ in the seed, ``init``, ``warm_up`` and the counts they start from,
    but in no other option. A and S are means over the finished runs of ``cgs``: A of the final running average, S of the
    exponential of the mean log perplexity of the state over the second half of the iterations after burn-in, as a single state
    is noisy, and early ones are still far away. Chains that are scored by drawn topics (``scored="sampled"``) and runs that
    have not finished are left out.

    Only runs on the same training and held-out tokens are compared, with the same number of topics, alpha and beta, both
    fixed or learnt in both. Runs on several splits are compared separately for each split, and the parts averaged over the
    runs of a label. Labels without ``bound`` or without ``cgs`` beside them are left out. So are hybrids: they record
    no bound that ranks their optima, and their perplexity is itself an average.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        Runs with held-out tokens.

    Returns
    -------
    xarray.Dataset
        Dims ``label`` and ``part``: ``gap`` and ``gap_error``. Dim ``label``: ``total``, the sum of the parts; ``n_runs``;
        ``best_run``, the name of the run of B; ``reference``, the names of the runs of cgs. Names of several splits are joined
        by "; "; those of all labels are in ``attrs``.

        ``gap_error`` is a standard error over seeds, of ``start`` over the runs of the label, of ``approximation`` and
        ``averaging`` over the runs of ``cgs``; NaN for one run, and of ``priors``. B is one run and has none, so the errors
        hold for this B: with more tries it may change.

    Raises
    ------
    MeasureError
        If no run of a variational engine has a run of cgs to be compared with.
    """
    runs = each_run(runs)
    scored = [
        (label, spec_of(run), run)
        for label, run in zip(labels_of(runs), runs, strict=True)
        if "test_perplexity" in run and not run.attrs.get("unfinished")
    ]
    chains = [
        (_problem(spec), run)
        for _, spec, run in scored
        if spec.engine == REFERENCE and spec.options.get("scored") != "sampled"
    ]
    references = {
        problem: _reference([run for _, run in group])
        for problem, group in grouped([problem for problem, _ in chains], chains).items()
    }
    attempts = [
        (label, same_but_start(spec), run)
        for label, spec, run in scored
        if "bound" in run and np.isfinite(run["bound"][-1]) and _problem(spec) in references
    ]
    if not attempts:
        engines = ", ".join(dict.fromkeys(spec_of(run).engine for run in runs))
        raise MeasureError(
            f"a gap is between a variational engine, whose runs record a bound, and a finished run of {REFERENCE} on the same "
            f"split with the same number of topics and priors; got runs of {engines} without such a pair; run what is missing"
        )
    best = {
        key: max((run for _, _, run in group), key=lambda run: float(run["bound"][-1]))
        for key, group in grouped([key for _, key, _ in attempts], attempts).items()
    }
    closed = _gap_decreases(best, [run for _, run in chains], references)
    rows = {}
    for label, members in grouped([label for label, _, _ in attempts], attempts).items():
        runs_by_key = grouped([key for _, key, _ in members], [run for _, _, run in members])
        numbers, errors, names = zip(
            *(
                _parts(group, best[key], *references[_problem(spec_of(group[0]))])
                for key, group in runs_by_key.items()
            ),
            strict=True,
        )
        weights = np.array([len(group) for group in runs_by_key.values()]) / len(members)
        spread = np.sqrt(weights**2 @ np.square(errors))
        prior_gaps = weights @ [closed[key] for key in runs_by_key]
        start, approximation, averaging = weights @ numbers
        parts = start, approximation - np.nan_to_num(prior_gaps), averaging, prior_gaps
        best_runs = _join(best[key].attrs["name"] for key in runs_by_key)
        rows[label] = parts, [*spread, np.nan], len(members), best_runs, _join(names)
    numbers, errors, n_runs, best_runs, names = zip(*rows.values(), strict=True)
    columns = {
        "gap": (np.array(numbers), "part of the perplexity above the average of cgs", "perplexity"),
        "gap_error": (np.array(errors), "its standard error over seeds", "perplexity"),
        "total": (np.nansum(numbers, 1), "perplexity above the average of cgs", "perplexity"),
        "n_runs": (np.array(n_runs), "runs: seeds and splits"),
        "best_run": (np.array(best_runs, object), "the engine's run with the highest bound"),
        "reference": (np.array(names, object), "runs of cgs"),
    }
    return xr.Dataset(
        {
            name: (("label", "part")[: values.ndim], values, attributes(*about))
            for name, (values, *about) in columns.items()
        },
        {"label": np.array(list(rows), object), "part": np.array(list(PARTS), object)},
        {"best_run": _join(best_runs), "reference": _join(names)},
    ).dropna("part", how="all", subset=["gap"])


def _problem(spec: RunSpec) -> str:
    """Return what runs must share to be compared, as text: data, number of topics, priors, and which of these are learnt."""
    model = [spec.model.get(name) for name in ("name", "n_topics", *PRIORS)]
    return repr((spec.train, spec.test, model, _learning_flags(spec)))


def _learning_flags(spec: RunSpec) -> list[bool]:
    """Return whether alpha and beta are learnt."""
    return [spec.options.get(f"learn_{name}", "fixed") != "fixed" for name in PRIORS]


def _gap_decreases(
    best: Mapping[str, xr.Dataset], chains: list[xr.Dataset], references: Mapping[str, tuple]
) -> dict[str, float]:
    """Return key of ``best`` → decrease of the gap to cgs if both engines had their `best_priors`; NaN if unknown."""
    engine_perplexities, chain_perplexities = (
        defaultdict(lambda: defaultdict(dict)) for _ in range(2)
    )
    for spec in map(spec_of, chains):
        split, priors, task = _separate_priors(spec)
        chain_perplexities[task][split][priors] = references[_problem(spec)][0]
    positions = {}
    for key, run in best.items():
        spec = spec_of(run)
        split, priors, task = _separate_priors(spec)
        run_perplexities = engine_perplexities[task, spec.engine, repr(options_but_start(spec))]
        run_perplexities[split][priors] = float(run["test_perplexity"][-1])
        positions[key] = split, priors, run_perplexities, chain_perplexities[task]
    closed = {}
    for key, (split, priors, run_perplexities, chain) in positions.items():
        priors_pair = best_priors(run_perplexities, split), best_priors(chain, split)
        closed[key] = np.nan
        if None not in priors_pair:
            best_gap = run_perplexities[split][priors_pair[0]] - chain[split][priors_pair[1]]
            closed[key] = run_perplexities[split][priors] - chain[split][priors] - best_gap
    return closed


def _separate_priors(spec: RunSpec) -> tuple[tuple, tuple, str]:
    """Return the split of a run, its priors, and as text its corpus with the rest of the model."""
    rest = {name: value for name, value in spec.model.items() if name not in PRIORS}
    priors = tuple(repr(spec.model.get(name)) for name in PRIORS)
    return (spec.train, spec.test), priors, repr((spec.corpus, rest, _learning_flags(spec)))


def best_priors(perplexities: Mapping, split) -> tuple | None:
    """Return the priors of lowest mean perplexity on splits other than ``split``; None without other splits or priors.

    perplexities : split → priors → perplexity
    """
    other_splits = [
        split_perplexities for other, split_perplexities in perplexities.items() if other != split
    ]
    common_priors = [
        priors
        for priors in perplexities[split]
        if all(priors in split_perplexities for split_perplexities in other_splits)
    ]
    if not other_splits or len(common_priors) < 2:
        return None
    return min(
        common_priors,
        key=lambda priors: np.mean(
            [split_perplexities[priors] for split_perplexities in other_splits]
        ),
    )


def _join(names: Iterable[str]) -> str:
    """Return names as one text, each once."""
    return "; ".join(dict.fromkeys(names))


def _reference(chains: list[xr.Dataset]) -> tuple[float, float, list[float], str]:
    """Return the chains' mean perplexities of state and average, errors of the first and of the difference, and names."""
    averages = np.array([float(run["test_perplexity_average"][-1]) for run in chains])
    # the last state is that of a chain in its burn-in
    states = np.array([np.exp(late_log_states(run).mean()) for run in chains])
    errors = [mean_and_error(states)[1], mean_and_error(states - averages)[1]]
    names = _join(run.attrs["name"] for run in chains)
    return float(states.mean()), float(averages.mean()), errors, names


def _parts(
    runs: list[xr.Dataset],
    best: xr.Dataset,
    state: float,
    average: float,
    errors: list[float],
    names: str,
) -> tuple[list[float], list[float], str]:
    """Return the three parts of the perplexity gap of a label's runs on one split, their errors, and chains' names."""
    perplexity, error = mean_and_error([float(run["test_perplexity"][-1]) for run in runs])
    optimum = float(best["test_perplexity"][-1])
    return [perplexity - optimum, optimum - state, state - average], [error, *errors], names
