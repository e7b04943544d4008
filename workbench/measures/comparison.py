"""Comparison tables of runs: final numbers, means over seeds, paired differences, time to a perplexity.

Standard errors of held-out perplexities are due to the randomness of inference, or to the sample of documents.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from workbench.engines import REFERENCE
from workbench.errors import nearest_or_all
from workbench.measures.convergence import error_of_mean
from workbench.measures.curves import (
    half_interval_over_documents,
    last_value,
    mean_and_error,
    quantity,
    t_interval,
    with_errors,
)
from workbench.measures.selection import (
    MeasureError,
    Runs,
    after_burn_in,
    attributes,
    comparison_keys,
    each_run,
    grouped,
    has_course,
    labels_of,
    last_iteration,
    replicate_of,
    same_model,
    spec_of,
)
from workbench.models import VARIABLES
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.runs.recorded import CLOCKS as COSTS
from workbench.runs.recorded import TEST_PERPLEXITIES

CLOCKS = (*COSTS, "iteration", "steps")


def final(runs: Runs) -> xr.Dataset:
    """Return the last recorded perplexities, scores, times and costs of each run.

    Dim ``run`` (names), coordinates ``label`` and ``seed``: the test perplexities (NaN if nothing is held out), further scores
    that the models of the runs declare, ``iteration``, ``n_iterations`` (the last one planned), ``elapsed``, ``cpu_time`` (s),
    ``updates`` and ``time_per_update`` (ns of ``cpu_time``, which does not grow on a busy machine), all NaN for imported
    models; ``n_active_topics``.
    """
    runs = each_run(runs)
    specs = [spec_of(run) for run in runs]
    scores = further_scores(runs)

    def last(name: str) -> tuple:
        """Return the last value of a quantity in every run, as (dim, values, attributes)."""
        attrs = scores[name] if name in scores else VARIABLES[name].attrs
        return "run", np.array([last_value(run, name) for run in runs]), attrs

    data = {name: last(name) for name in (*TEST_PERPLEXITIES, *scores, *COSTS)}
    updates = data["updates"][1]
    time_per_update = np.divide(
        1e9 * data["cpu_time"][1], updates, out=np.full(len(runs), np.nan), where=updates > 0
    )
    iteration = np.array([last_iteration(run) for run in runs])
    n_iterations = np.maximum(iteration, [spec.n_iterations for spec in specs])
    data |= {
        "time_per_update": ("run", time_per_update, attributes("CPU time per site update", "ns")),
        "n_active_topics": last("n_active_topics"),
        "iteration": ("run", iteration, attributes("last committed iteration")),
        "n_iterations": ("run", n_iterations, attributes("last planned iteration")),
    }
    return xr.Dataset(
        data,
        {
            "run": np.array([run.attrs["name"] for run in runs], dtype=object),
            "label": ("run", np.array(labels_of(runs), dtype=object)),
            "seed": ("run", [spec.seed for spec in specs]),
        },
    )


def further_scores(runs: Runs) -> dict[str, dict]:
    """Return the scores that the runs recorded besides perplexities, as name → attributes."""
    return {
        name: values.attrs
        for run in runs
        for name, values in run.data_vars.items()
        if values.attrs.get("better")
    }


def summary(
    runs: Runs, reference: str | None = None, scored: Mapping[str, Scored] | None = None
) -> xr.Dataset:
    """Return a table (`to_pandas`) of each label's means over seeds and splits, and paired differences from a reference.

    Dim ``label``. ``n_runs``; for every number of `final` its mean, and its standard error as ``…_se`` (NaN for a single run);
    and all of `paired_differences`, also for ``scored``. ``attrs["reference"]`` is the reference's label, several of them
    joined by "; ".

    ``reference`` is a label, or the name of an engine: then each label is compared with that engine's label on the same data
    with the same model. By default all labels on the same data have one reference: the label with the lowest mean perplexity,
    among those of ``cgs`` if it was run.
    """
    runs = each_run(runs)
    last = final(runs)
    rows_of_labels = rows_by_label(last)
    n_runs = [len(rows) for rows in rows_of_labels.values()]
    data = {"n_runs": ("label", n_runs, attributes("runs: seeds and splits"))}
    for name in (
        *TEST_PERPLEXITIES,
        *further_scores(runs),
        "iteration",
        *COSTS,
        "time_per_update",
        "n_active_topics",
    ):
        means = [mean_and_error(last[name].values[rows]) for rows in rows_of_labels.values()]
        data |= with_errors("label", name, means, last[name].attrs)
    table = xr.Dataset(data, {"label": np.array(list(rows_of_labels), dtype=object)})
    differences = paired_differences(runs, reference, scored=scored)
    return table.merge(differences, combine_attrs="override").assign_attrs(
        reference=differences.attrs["reference"]
    )


def paired_differences(
    runs: Runs,
    reference: str | None = None,
    measure: str = "test_perplexity",
    scored: Mapping[str, Scored] | None = None,
) -> xr.Dataset:
    """Return the differences in the final value of a measure from the reference, for runs paired by split and seed.

    Dim ``label``: ``reference`` (its label, see `summary`), ``difference`` (mean over pairs; 0 for the reference itself, NaN
    without a pair), ``difference_se`` (standard error over pairs; NaN for a single pair), ``difference_low`` and
    ``difference_high``, its 95 % interval, and ``n_pairs``. The interval is Student's over pairs, i.e. over seeds and splits.
    For a single pair and the headline perplexity, if both runs are ``scored``, it is Student's over test documents, which are
    paired. Otherwise, and for fewer than two effective documents, it is NaN.

    ``scored`` has the results of `workbench.runs.afterwards.heldout_by_document.score_documents` by the hash of a run's spec.
    """
    runs = each_run(runs)
    last = final(runs)
    MeasureError.one_of("measure", measure, last.data_vars)
    rows_of_labels = rows_by_label(last)
    reference_of = _references(runs, last, reference)
    values, replicates = last[measure].values, [replicate_of(run) for run in runs]
    rows_of_table = []
    for label, rows in rows_of_labels.items():
        counterparts_of = {replicates[row]: row for row in rows_of_labels[reference_of[label]]}
        pairs = [
            (row, counterparts_of[replicates[row]])
            for row in rows
            if replicates[row] in counterparts_of
        ]
        differences = np.array([values[row] - values[counterpart] for row, counterpart in pairs])
        use_documents = (
            scored is not None
            and measure == "test_perplexity"
            and len(pairs) == 1
            and reference_of[label] != label
        )
        interval = (
            _document_error([runs[position] for position in pairs[0]], scored)
            if use_documents
            else t_interval(differences)
        )
        rows_of_table.append((*mean_and_error(differences), *interval, len(pairs)))
    reference_labels, unit = (
        "; ".join(dict.fromkeys(reference_of.values())),
        last[measure].attrs["units"],
    )
    meanings = {
        "difference": f"paired difference of {measure} from {reference_labels}",
        "difference_se": "its standard error",
        "difference_low": "95 % interval, low",
        "difference_high": "95 % interval, high",
        "n_pairs": "pairs: same split, same seed",
    }
    columns = {
        name: (
            "label",
            list(column),
            attributes(meaning, "" if name == "n_pairs" else unit),
        )
        for (name, meaning), column in zip(
            meanings.items(), zip(*rows_of_table, strict=True), strict=True
        )
    }
    reference_column = (
        "label",
        np.array(list(reference_of.values()), dtype=object),
        {"long_name": "reference of the difference"},
    )
    return xr.Dataset(
        {"reference": reference_column} | columns,
        {"label": np.array(list(rows_of_labels), dtype=object)},
        {"reference": reference_labels, "measure": measure},
    )


def _document_error(pair: list[xr.Dataset], scored: Mapping[str, Scored]) -> tuple[float, float]:
    """Return Student's interval, over test documents, of the perplexity difference of two runs; NaN without scores."""
    scores = [scored.get(spec_of(run).hash) for run in pair]
    if None in scores:
        return np.nan, np.nan
    difference = scores[0].perplexity - scores[1].perplexity
    half = half_interval_over_documents(scores, (1, -1))
    return difference - half, difference + half


def time_to(
    runs: Runs, perplexity: float, clock: str = "elapsed", measure: str = "test_perplexity"
) -> xr.DataArray:
    """Return the time, updates or iterations that each run took until its perplexity was first at or below a threshold.

    ``clock`` is "elapsed", "cpu_time", "updates", "iteration" or "steps". Dim ``run``; NaN for runs that did not reach the
    threshold and for imported models. Not interpolated between records.
    """
    MeasureError.one_of("clock", clock, CLOCKS)
    last = final(runs := each_run(runs))
    spent = []
    for run in runs:
        timed = measure in run and has_course(run)
        hits = np.flatnonzero(run[measure].values <= perplexity) if timed else []
        spent.append(float(quantity(run, clock).values[hits[0]]) if len(hits) else np.nan)
    unit = VARIABLES[clock].unit if clock in VARIABLES else ""
    meaning = attributes(f"{clock} until {measure} is at most {perplexity:g}", unit)
    return xr.DataArray(spent, last["elapsed"].coords, ("run",), f"{clock}_to", meaning)


def reached_by_all(runs: Runs, measure: str = "test_perplexity") -> float:
    """Return the lowest perplexity that all runs reached, rounded up to three digits; NaN if a run has no perplexity.

    Imported models, whose course is unknown, are left out.
    """
    timed = [run for run in each_run(runs) if has_course(run)]
    return reached_by_each(
        [float(run[measure].min()) if measure in run else np.nan for run in timed]
    )


def reached_by_each(best: list[float]) -> float:
    """Return the lowest perplexity that all runs reached, from the lowest perplexity of each run."""
    if not best or not np.isfinite(best).all():
        return np.nan
    step = 10.0 ** (np.floor(np.log10(max(best))) - 2)
    return float(f"{np.ceil(max(best) / step) * step:.12g}")


def rows_by_label(last: xr.Dataset) -> dict[str, list[int]]:
    """Return label → indices of the runs with that label."""
    return grouped(last["label"].values.tolist(), range(last.sizes["run"]))


def _references(runs: list[xr.Dataset], last: xr.Dataset, reference: str | None) -> dict[str, str]:
    """Return label → label of the runs it is compared with: ``reference``, else the default that `summary` describes."""
    rows_of_labels, perplexities = rows_by_label(last), last["test_perplexity"].values
    labels, peers = list(rows_of_labels), comparison_keys(runs)
    engines = {label: spec_of(runs[rows[0]]).engine for label, rows in rows_of_labels.items()}
    peers = {label: peers[rows[0]] for label, rows in rows_of_labels.items()}
    engine = engines.get(reference) or reference or REFERENCE
    if reference is not None and engine not in engines.values():
        hint = nearest_or_all(reference, labels, f"there are {'; '.join(labels)}", 0.4)
        raise MeasureError(f"no reference '{reference}'; {hint}")
    reference_of = {}
    for label in labels:
        candidates = [candidate for candidate in labels if peers[candidate][0] == peers[label][0]]
        engine_labels = [candidate for candidate in candidates if engines[candidate] == engine]
        if reference in candidates:
            reference_of[label] = reference
        elif reference is None:
            reference_of[label] = _best(engine_labels or candidates, rows_of_labels, perplexities)
        else:
            alike = [
                candidate
                for candidate in engine_labels
                if same_model(peers[candidate][1], peers[label][1])
            ]
            engine_labels = alike or engine_labels
            if len(engine_labels) > 1 and reference not in labels:
                raise MeasureError(
                    f"reference '{reference}' is ambiguous; name one of {'; '.join(engine_labels)}"
                )
            reference_of[label] = (
                engine_labels or [_best(candidates, rows_of_labels, perplexities)]
            )[0]
    return reference_of


def _best(labels: list[str], rows_of_labels: dict[str, list[int]], values: np.ndarray) -> str:
    """Return the label whose runs have the lowest mean value; the first label if all values are NaN."""
    means = [values[rows_of_labels[label]].mean() for label in labels]
    return labels[int(np.argmin(np.nan_to_num(means, nan=np.inf)))]


CHAIN = "effective samples"


def perplexity_errors(runs: Runs, scored: Mapping[str, Scored] | None = None) -> xr.Dataset:
    """Return for each label the held-out perplexity, its Monte Carlo error and its interval over documents.

    For ``scored`` see `paired_differences`. Dim ``label``:

    - ``value``: the mean over runs of the last headline perplexity, NaN if nothing is held out.
    - ``mc_error``: its Monte Carlo standard error. For several runs (seeds, splits) it is that of their mean. For one run of a
      sampler it is that of the mean log perplexity of the *state* over the recorded iterations after burn-in, by their
      effective number, times ``value``. It is NaN for other engines, and for fewer than 100 effective iterations, whose number
      is itself too uncertain: only other seeds would show it.
    - ``source`` of mc_error: "seeds", "effective samples" or "".
    - ``low``, ``high``: Student's 95 % interval of the mean log perplexity over test documents, for fixed topics, as
      perplexities. NaN for fewer than two effective documents, and unless every run of the label is ``scored``.
    - ``n_runs``.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021); Bell & McCaffrey (2002).
    """
    runs = each_run(runs)
    last = final(runs)
    table_rows, rows_of_labels = [], rows_by_label(last)
    for rows in rows_of_labels.values():
        value, error = mean_and_error(last["test_perplexity"].values[rows])
        source = "seeds"
        if len(rows) == 1 and (chain := _state_perplexities(runs[rows[0]])) is not None:
            error, source = value * error_of_mean(np.log(chain)), CHAIN
        scores = [(scored or {}).get(spec_of(runs[row]).hash) for row in rows]
        mean, half = np.nan, np.nan
        if all(scores):
            mean = np.mean([score.perplexity for score in scores])
            half = half_interval_over_documents(scores, np.full(len(scores), 1 / len(scores)))
        table_rows.append(
            (
                value,
                error,
                source if np.isfinite(error) else "",
                *(mean * np.exp(np.array((-half, half)) / mean)),
                len(rows),
            )
        )
    meanings = {
        "value": "held-out perplexity, mean over runs",
        "mc_error": "its Monte Carlo standard error",
        "source": "source of its Monte Carlo error",
        "low": "lower end of its 95 % interval over documents",
        "high": "upper end of its 95 % interval over documents",
        "n_runs": "runs: seeds and splits",
    }
    data = {
        name: (
            "label",
            np.array(values, object if name == "source" else None),
            attributes(meaning),
        )
        for (name, meaning), values in zip(
            meanings.items(), zip(*table_rows, strict=True), strict=True
        )
    }
    return xr.Dataset(data, {"label": np.array(list(rows_of_labels), dtype=object)})


def _state_perplexities(run: xr.Dataset) -> np.ndarray | None:
    """Return the perplexities of the state recorded after burn-in; None without sampled or without held-out tokens.

    If no token is sampled, the headline equals the perplexity of the state at every iteration.
    """
    if "test_perplexity" not in run or run["test_perplexity"].equals(run["test_perplexity_state"]):
        return None
    return run["test_perplexity_state"].values[after_burn_in(run)]
