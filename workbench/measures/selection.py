"""Selects runs from Datasets of several, and labels each by the settings in which they differ."""

import numbers
import re
from collections.abc import Iterable
from itertools import chain

import numpy as np
import xarray as xr

from workbench.corpus.experiments import IN_WORDS, regime_in_words
from workbench.engines import get_engine
from workbench.errors import InputError
from workbench.models.networks.levels import AUTHORS
from workbench.runs.spec import PRIORS, RunSpec

SAID = ("sizes", "start")
"""Settings that the label of a spec tells of where a run has them: it differs in them from others that have them too alone."""
CHANGES = ("top_words", "regime", "singletons")
"""What is done to a corpus before inference, which makes other data of it."""


class MeasureError(InputError):
    """An input that a measure refuses."""


def each_run(runs) -> list[xr.Dataset]:
    """One Dataset a run, each with its own iterations and variables, in the order given.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        Of a run each (`workbench.fit`, `workbench.open_run`), or side by side with a dim ``run``
        (`workbench.compare`). A run that comes twice is taken once, the longer of the two. There must be one, and each must
        have committed something.
    """
    given = (
        [runs]
        if isinstance(runs, xr.Dataset)
        else list(runs)
        if isinstance(runs, Iterable)
        else [runs]
    )
    found: dict[tuple, xr.Dataset] = {}
    for dataset in given:
        if not isinstance(dataset, xr.Dataset):
            kind = type(dataset).__name__
            raise MeasureError(
                f"wanted the Datasets of runs (workbench.fit, compare or open_run); got {kind}"
            )
        for one in _parts(dataset):
            if one.sizes.get("iteration", 0) == 0:
                name = one.attrs["name"]
                raise MeasureError(
                    f"run '{name}' has no committed iteration yet; wait for its first, or leave it out"
                )
            spec = spec_of(one)
            key = spec.hash, spec.n_threads
            if key not in found or found[key].sizes["iteration"] < one.sizes["iteration"]:
                found[key] = one
    if not found:
        raise MeasureError("there is no run to look at; give at least one")
    return list(found.values())


def one_run(run) -> xr.Dataset:
    """The Dataset of the one run that is wanted; several are refused."""
    runs = each_run(run)
    if len(runs) > 1:
        raise MeasureError(f"wanted one run; got {len(runs)}; choose one with workbench.open_run")
    return runs[0]


def has_course(run: xr.Dataset) -> bool:
    """Return whether iterations and times of the run are known; of a model of another program they are not."""
    return "elapsed" in run


def last_iteration(run: xr.Dataset) -> float:
    """Return the last committed iteration, 0 before the first; NaN of a run without a course."""
    return float(run["iteration"].values.max(initial=0)) if has_course(run) else np.nan


def whole_number(what: str, value, low: int = 1) -> int:
    """The value as an int of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        raise MeasureError(f"the {what} must be a whole number of at least {low}; got {value!r}")
    return int(value)


def grouped(keys: Iterable, values: Iterable) -> dict:
    """The values of each different key, in order of appearance."""
    found: dict = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(key, []).append(value)
    return found


def spec_of(run: xr.Dataset) -> RunSpec:
    """The settings of a run."""
    return RunSpec.from_json(run.attrs["spec"])


def replicate_of(run: xr.Dataset) -> tuple:
    """Training and test tokens, and the seed: runs that agree in these are a pair."""
    spec = spec_of(run)
    return spec.train, spec.test, spec.seed


def labels_of(runs: list[xr.Dataset]) -> list[str]:
    """Engine and options of each run, with every other setting in which the runs differ; seeds and splits are left out.

    Runs of one label are repetitions of each other.
    """
    return labels_of_specs([spec_of(run) for run in runs])


def labels_of_specs(specs: list[RunSpec], apart_from: tuple[str, ...] = ()) -> list[str]:
    """The labels of runs by their specs; ``apart_from`` names settings that are left out, as "K".

    So are those that these decide, as an alpha of 50/K.
    """
    settings = [_settings(spec, data) for spec, data in zip(specs, _corpora(specs), strict=True)]

    def shown(name: str) -> bool:
        """Do the runs that have the setting differ in it, and is it not decided by those that are left out?"""
        having = [each for each in settings if each.get(name)]
        by = grouped(
            [tuple(map(each.get, apart_from)) for each in having], [each[name] for each in having]
        )
        decided = apart_from and all(len(set(values)) == 1 for values in by.values())
        return (
            not decided
            and len(
                {
                    each[name]
                    for each in settings
                    if name in each and (each[name] or name not in SAID)
                }
            )
            > 1
        )

    names = [
        name for name in dict.fromkeys(chain(*settings)) if name not in apart_from and shown(name)
    ]
    return [
        ", ".join([spec.label(), *(each[name] for name in names if each.get(name))])
        for spec, each in zip(specs, settings, strict=True)
    ]


def data_of(runs: list[xr.Dataset]) -> list[str]:
    """The data of each run in words: its corpus and how it was changed; the seed of the split is left out.

    Perplexities of runs on different data cannot be compared.
    """
    specs = [spec_of(run) for run in runs]
    changes = [
        [text for name, text in _split(spec).items() if text and name in CHANGES] for spec in specs
    ]
    return [", ".join([corpus, *own]) for corpus, own in zip(_corpora(specs), changes, strict=True)]


def counterparts(runs: list[xr.Dataset]) -> list[tuple[tuple, dict]]:
    """(what is held out of which data, model) of each run: what runs with counterparts share, see `same_model`."""
    return [
        (
            (data, _split(spec)["held out"], _split(spec)["per"]),
            {name: value for name, value in spec.model.items() if name in ("n_topics", *PRIORS)},
        )
        for spec, data in zip(map(spec_of, runs), data_of(runs), strict=True)
    ]


def same_model(model: dict, other: dict) -> bool:
    """Do the models agree in all that both have? That of the HDP, and a network, has no alpha and beta, only topics."""
    return all(
        _plain({name: value}) == _plain({name: other[name]})
        for name, value in model.items()
        if name in other
    )


def in_papers_order(runs: list[xr.Dataset]) -> list[xr.Dataset]:
    """The runs by data, then by the ``order`` of their engine, then by label, numbers by size; else as they came."""
    data, labels = data_of(runs), labels_of(runs)
    engines = [get_engine(spec_of(run).engine).order for run in runs]
    ranks = zip(map(data.index, data), engines, map(by_size, labels), range(len(runs)), strict=True)
    return [runs[at] for *_, at in sorted(ranks)]


def by_size(text: str) -> list[tuple]:
    """A key that sorts texts with the numbers in them by size: K=5 before K=10, r=3 before r=inf."""
    parts = re.split(r"((?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?\b|\binf\b)", text)
    return [(0, float(part), "") if at % 2 else (1, 0.0, part) for at, part in enumerate(parts)]


def _parts(dataset: xr.Dataset) -> list[xr.Dataset]:
    """The runs of a Dataset: itself, or its slices along ``run`` without padding."""
    if "run" not in dataset.dims:
        if "spec" not in dataset.attrs:
            raise MeasureError(
                "wanted the Dataset of a run, with its settings in attrs['spec']; got another Dataset"
            )
        return [dataset]
    parts = []
    for at in range(dataset.sizes["run"]):
        part = dataset.isel(run=at)
        part = part.isel(iteration=np.flatnonzero(part["elapsed"].notnull().values))
        part = part.drop_vars(
            [name for name, values in part.data_vars.items() if not values.notnull().any()]
        )
        if "n_k" in part:
            part = part.isel(topic=np.flatnonzero(part["n_k"].notnull().any("iteration").values))
        attrs = {
            "name": str(part["run"].item()),
            "spec": str(part["spec"].item()),
            "engine": str(part["engine"].item()),
        }
        own = [name for name in ("run", "spec", "engine", "label", "seed") if name in part.coords]
        parts.append(part.drop_vars(own).assign_attrs(attrs))
    return parts


def _corpora(specs: list[RunSpec]) -> list[str]:
    """A name of each run's documents that does not depend on the seed of the split.

    That is the corpus' name, unless one name stands for different documents here.
    """
    seen = grouped(
        [(spec.corpus, _plain(spec.split)) for spec in specs], [spec.train for spec in specs]
    )
    unclear = {corpus for (corpus, _), trains in seen.items() if len(set(trains)) > 1}
    return [
        f"{spec.corpus} {spec.train[:6]}" if spec.corpus in unclear else spec.corpus
        for spec in specs
    ]


def _settings(spec: RunSpec, data: str) -> dict[str, str | None]:
    """What may stand in a label besides engine and options, by setting; None where a run has none. Seeds are left out."""
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
        **_split(spec),
        "start": f"from {start['name']}, iteration {start['iteration']}" if start else None,
    }


def _split(spec: RunSpec) -> dict[str, str | None]:
    """The same of what is held out and left out of the corpus."""
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
    """Sizes of the variables of a network that follow neither from its number of topics nor from its corpus."""
    known = {
        "topic",
        "sub",
        *(level["draws"] for level in spec.model.get("levels", ()) if level["table"] == AUTHORS),
    }
    sizes = [
        each
        for each in spec.model.get("variables", ())
        if each["name"] not in known and not each["values"]
    ]
    return ", ".join(f"{each['name']} {each['size']}" for each in sizes) or None


def _plain(values: dict | None) -> str:
    return repr(sorted((values or {}).items()))
