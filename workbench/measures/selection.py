"""Selection of runs from Datasets, and labels for runs by the settings in which they differ."""

import re
from collections.abc import Iterable
from itertools import chain

import numpy as np
import xarray as xr

from workbench.corpus.experiments import IN_WORDS, regime_in_words
from workbench.engines import get_engine
from workbench.errors import InputError
from workbench.models.networks.levels import AUTHORS
from workbench.runs.reading import option_texts
from workbench.runs.spec import PRIORS, RunSpec

Runs = xr.Dataset | Iterable[xr.Dataset]
"""One or several runs, see `each_run`."""
NO_DATASET = (
    "wanted the Dataset of a run, from workbench.fit, compare or open_run, or run.dataset()"
)
"""What an error says of an input that is none."""


class MeasureError(InputError):
    """Raised for an input for which a measure is not defined."""


def each_run(runs: Runs) -> list[xr.Dataset]:
    """Return one Dataset per run, in the given order, each with its own iterations and variables.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        Datasets of one run (`workbench.fit`, `workbench.open_run`), or of several with a dim ``run`` (`workbench.compare`). Of
        duplicate runs the longest is kept. At least one run is needed, and each must have a committed iteration.
    """
    is_collection = isinstance(runs, Iterable) and not isinstance(runs, xr.Dataset)
    run_by_key: dict[tuple, xr.Dataset] = {}
    for dataset in runs if is_collection else [runs]:
        if not isinstance(dataset, xr.Dataset):
            raise MeasureError(f"{NO_DATASET}; got {type(dataset).__name__}")
        for run in _parts(dataset):
            if run.sizes.get("iteration", 0) == 0:
                name = run.attrs["name"]
                raise MeasureError(
                    f"run '{name}' has no committed iteration yet; wait for the first, or leave it out"
                )
            spec = spec_of(run)
            key = spec.hash, spec.n_threads
            if key not in run_by_key or run_by_key[key].sizes["iteration"] < run.sizes["iteration"]:
                run_by_key[key] = run
    if not run_by_key:
        raise MeasureError("no run was given; give at least one")
    return list(run_by_key.values())


def one_run(run: Runs) -> xr.Dataset:
    """Return the Dataset of the only run; raise MeasureError for several."""
    runs = each_run(run)
    if len(runs) > 1:
        raise MeasureError(f"wanted one run; got {len(runs)}; choose one with workbench.open_run")
    return runs[0]


def has_course(run: xr.Dataset) -> bool:
    """Return whether the run has recorded iterations, which a model imported from another program does not have."""
    return "elapsed" in run


def after_burn_in(run: xr.Dataset) -> np.ndarray:
    """Return which records of a run (iteration,) bool are after its burn-in."""
    return run["iteration"].values > spec_of(run).end_of_burn_in


def late_log_states(run: xr.Dataset) -> np.ndarray:
    """Return the state's log perplexities in the last half of the records after burn-in; during burn-in the last alone."""
    states = run["test_perplexity_state"].values
    late_states = states[after_burn_in(run)]
    return np.log(late_states[len(late_states) // 2 :] if len(late_states) else states[-1:])


def last_iteration(run: xr.Dataset) -> float:
    """Return the last committed iteration, 0 before the first; NaN for an imported model."""
    return float(run["iteration"].values.max(initial=0)) if has_course(run) else np.nan


def attributes(meaning: str, unit: str = "") -> dict[str, str]:
    """Return the attributes of a variable: ``long_name`` and ``units``."""
    return {"long_name": meaning, "units": unit}


def grouped(keys: Iterable, values: Iterable) -> dict:
    """Return key → list of the values that have this key, in order of appearance."""
    groups: dict = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    return groups


def spec_of(run: xr.Dataset) -> RunSpec:
    """Return the `RunSpec` (settings) of a run."""
    return RunSpec.from_json(run.attrs["spec"])


def replicate_of(run: xr.Dataset) -> tuple:
    """Return (training hash, test hash, seed) of a run; runs in which these agree are compared as a pair."""
    spec = spec_of(run)
    return spec.train, spec.test, spec.seed


def labels_of(runs: list[xr.Dataset]) -> list[str]:
    """Return a label for each run: engine, options, and the other settings in which the runs differ, except seed and split.

    Runs of one label are repetitions of each other.
    """
    return labels_of_specs([spec_of(run) for run in runs])


def labels_of_specs(specs: list[RunSpec], apart_from: tuple[str, ...] = ()) -> list[str]:
    """Return a label for the spec of each run, without the settings in ``apart_from``, such as "K".

    Settings that they determine, such as an alpha of 50/K, are left out too.
    """
    readings = _readings(specs)
    settings = [
        _settings(spec, data) | reading
        for spec, data, reading in zip(specs, _corpora(specs, readings), readings, strict=True)
    ]

    def is_shown(name: str) -> bool:
        """Return whether runs differ in a setting whose value does not follow from those in ``apart_from``."""
        settings_with_value = [run_settings for run_settings in settings if run_settings.get(name)]
        values_by_key = grouped(
            [tuple(map(run_settings.get, apart_from)) for run_settings in settings_with_value],
            [run_settings[name] for run_settings in settings_with_value],
        )
        is_determined = apart_from and all(
            len(set(values)) == 1 for values in values_by_key.values()
        )
        # these two are compared only among the runs that have them
        compared = settings_with_value if name in ("sizes", "start") else settings
        values = {run_settings[name] for run_settings in compared if name in run_settings}
        return not is_determined and len(values) > 1

    names = [
        name
        for name in dict.fromkeys(chain(*settings))
        if name not in apart_from and is_shown(name)
    ]
    return [
        ", ".join([spec.label(), *(run_settings[name] for name in names if run_settings.get(name))])
        for spec, run_settings in zip(specs, settings, strict=True)
    ]


def data_of(runs: list[xr.Dataset]) -> list[str]:
    """Return the data of each run in words, see `data_of_specs`."""
    return data_of_specs([spec_of(run) for run in runs])


def data_of_specs(specs: list[RunSpec]) -> list[str]:
    """Return each spec's data as text: corpus, changes to it, and, where specs on it differ, reading and held-out share.

    The seed of the split is left out. Perplexities of runs on different data cannot be compared.
    """
    splits = [{name: text for name, text in _split(spec).items() if text} for spec in specs]
    readings = _readings(specs)
    changed_data = [
        ", ".join(
            [
                corpus,
                *filter(None, reading.values()),
                # what changes the corpus before inference
                *(split[name] for name in ("top_words", "regime", "singletons") if name in split),
            ]
        )
        for corpus, reading, split in zip(_corpora(specs, readings), readings, splits, strict=True)
    ]
    shares = [
        ", ".join(split[name] for name in ("held out", "per") if name in split) for split in splits
    ]
    shares_of = grouped(changed_data, shares)
    return [
        f"{data}, {share}" if share and len(set(shares_of[data])) > 1 else data
        for data, share in zip(changed_data, shares, strict=True)
    ]


def comparison_keys(runs: list[xr.Dataset]) -> list[tuple[str, dict]]:
    """Return (data, number of topics and priors) of each run; two runs can be compared if both entries agree."""
    return [
        (
            data,
            {name: value for name, value in spec.model.items() if name in ("n_topics", *PRIORS)},
        )
        for spec, data in zip(map(spec_of, runs), data_of(runs), strict=True)
    ]


def same_model(model: dict, other: dict) -> bool:
    """Return whether two models have equal values for all settings that both have."""
    return all(
        _plain({name: value}) == _plain({name: other[name]})
        for name, value in model.items()
        if name in other
    )


def in_papers_order(runs: list[xr.Dataset]) -> list[xr.Dataset]:
    """Return the runs sorted by data, then engine ``order``, then label, where K=5 comes before K=10."""
    data, labels = data_of(runs), labels_of(runs)
    engines = [get_engine(spec_of(run).engine).order for run in runs]
    ranks = zip(map(data.index, data), engines, map(by_size, labels), range(len(runs)), strict=True)
    return [runs[index] for *_, index in sorted(ranks)]


def by_size(text: str) -> list[tuple]:
    """Return a sort key for texts in which numbers are compared by size: K=5 before K=10, r=3 before r=inf."""
    parts = re.split(r"((?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?\b|\binf\b)", text)
    return [
        (0, float(part), "") if index % 2 else (1, 0.0, part) for index, part in enumerate(parts)
    ]


def _parts(dataset: xr.Dataset) -> list[xr.Dataset]:
    """Return the runs in a Dataset: the Dataset itself, or its slices along ``run`` without padding."""
    if "run" not in dataset.dims:
        if "spec" not in dataset.attrs:
            raise MeasureError(
                "the Dataset is not one of a run: it has no attrs['spec']; use workbench.open_run"
            )
        return [dataset]
    parts = []
    for index in range(dataset.sizes["run"]):
        part = dataset.isel(run=index)
        part = part.isel(iteration=np.flatnonzero(part["elapsed"].notnull().values))
        part = part.drop_vars(
            [name for name, values in part.data_vars.items() if not values.notnull().any()]
        )
        if "n_k" in part:
            part = part.isel(topic=np.flatnonzero(part["n_k"].notnull().any("iteration").values))
        attrs = {
            name: str(part[coordinate].item())
            for name, coordinate in (("name", "run"), ("spec", "spec"), ("engine", "engine"))
        }
        coords = ["run", "spec", "engine", "label", "seed"]
        parts.append(part.drop_vars(coords, errors="ignore").assign_attrs(attrs))
    return parts


def _readings(specs: list[RunSpec]) -> list[dict[str, str | None]]:
    """Return for each run option → text of the reading options that differ between corpora of the same name."""
    names = [spec.corpus for spec in specs]
    ambiguous = _ambiguous_keys(specs, names)
    texts = [option_texts(spec.reading) if spec.corpus in ambiguous else {} for spec in specs]
    corpus_texts = grouped(names, texts)
    return [
        {
            option: text
            for option, text in texts_of_run.items()
            if len({option_text[option] for option_text in corpus_texts[name]}) > 1
        }
        for name, texts_of_run in zip(names, texts, strict=True)
    ]


def _corpora(specs: list[RunSpec], readings: list[dict]) -> list[str]:
    """Return each run's corpus name, followed by a hash if other corpora have the same name and options."""
    keys = [(spec.corpus, *reading.values()) for spec, reading in zip(specs, readings, strict=True)]
    ambiguous = _ambiguous_keys(specs, keys)
    return [
        f"{spec.corpus} {spec.train[:6]}" if key in ambiguous else spec.corpus
        for spec, key in zip(specs, keys, strict=True)
    ]


def _ambiguous_keys(specs: list[RunSpec], keys: list) -> set:
    """Return the ambiguous ones of ``keys`` (one per run): those that runs share although their corpora differ."""
    facts = [
        fact
        for spec, key in zip(specs, keys, strict=True)
        for fact in (
            ((key, _plain(spec.split)), spec.train),
            ((key, None), (spec.reading or {}).get("content")),
        )
    ]
    hashes = grouped([group for group, _ in facts], [content for _, content in facts])
    return {key for (key, _), contents in hashes.items() if len(set(contents) - {None}) > 1}


def _settings(spec: RunSpec, data: str) -> dict[str, str | None]:
    """Return name → its text in a label for each setting (None: not shown) except engine, options and seeds."""
    priors = {name: value for name, value in spec.model.items() if name in PRIORS}
    n_topics, start = spec.n_topics, spec.start
    return {
        "on": f"on {data}",
        "K": None if n_topics is None else f"K={n_topics}",
        **{
            name: f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in priors.items()
        },
        "sizes": _sizes(spec),
        "burn-in": f"burn-in={spec.burn_in}",
        "threads": f"{spec.n_threads} threads" if spec.n_threads > 1 else "1 thread",
        "shards": spec.shards and f"in {spec.shards} shards",
        **_split(spec),
        "start": f"from {start['name']}, iteration {start['iteration']}" if start else None,
    }


def _split(spec: RunSpec) -> dict[str, str | None]:
    """Return the held-out split and the preprocessing of the corpus as name → text."""
    split = spec.split or {}
    fraction, per, words, rule = (
        split.get(name) for name in ("fraction", "per", "top_words", "singletons")
    )
    return {
        "held out": "held out nothing"
        if spec.test is None
        else fraction and f"held out {fraction}",
        "per": per and ("by halves of documents" if per == "half" else f"per {per}"),
        "top_words": words and f"{words} most frequent words",
        "regime": ", ".join(regime_in_words(split)),
        "singletons": rule and IN_WORDS.get(rule, f"singletons {rule}"),
    }


def _sizes(spec: RunSpec) -> str | None:
    """Return, as text, the sizes of a network's variables that neither the number of topics nor the corpus determines."""
    implied = {
        "topic",
        "sub",
        *(level["draws"] for level in spec.model.get("levels", ()) if level["table"] == AUTHORS),
    }
    sizes = [
        variable
        for variable in spec.model.get("variables", ())
        if variable["name"] not in implied and not variable["values"]
    ]
    return ", ".join(f"{variable['name']} {variable['size']}" for variable in sizes) or None


def _plain(values: dict | None) -> str:
    """Return a canonical text of a dict, to compare dicts."""
    return repr(sorted((values or {}).items()))
