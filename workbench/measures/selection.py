"""Selects runs from Datasets of several, and labels each by the settings in which they differ."""

from __future__ import annotations

import numbers
from collections.abc import Iterable

import numpy as np
import xarray as xr

from workbench.corpus.experiments import IN_WORDS
from workbench.errors import InputError
from workbench.models.networks.levels import AUTHORS
from workbench.runs.spec import PRIORS, RunSpec

PAPERS_ORDER = ("svb", "vb", "cvb", "cvb0", "svb-cgs", "cvb-cgs", "cvb0-cgs", "cgs", "cv-hdp", "g-hdp")
"""Variational, hybrid, Gibbs, as Welling, Teh & Kappen (2008) list them, then those of the HDP; other engines come after."""


class MeasureError(InputError):
    """An input that a measure refuses."""


def each_run(runs) -> list[xr.Dataset]:
    """One Dataset a run, each with its own iterations and variables, in the order given.

    Parameters
    ----------
    runs : Dataset or list of Datasets
        Of a run each (`workbench.fit`, `workbench.open_run`), or side by side with a dim ``run``
        (`workbench.compare`). A run that comes twice is taken once, the longer of the two.

    Raises
    ------
    MeasureError
        No run, something else than a run, or a run of which nothing is committed yet.
    """
    given = [runs] if isinstance(runs, xr.Dataset) else list(runs) if isinstance(runs, Iterable) else [runs]
    found: dict[tuple, xr.Dataset] = {}
    for dataset in given:
        if not isinstance(dataset, xr.Dataset):
            kind = type(dataset).__name__
            raise MeasureError(f"wanted the Datasets of runs (workbench.fit, compare or open_run); got {kind}")
        for one in _parts(dataset):
            if one.sizes.get("iteration", 0) == 0:
                name = one.attrs["name"]
                raise MeasureError(f"run '{name}' has no committed iteration yet; wait for its first, or leave it out")
            spec = spec_of(one)
            key = spec.hash, spec.n_threads
            if key not in found or found[key].sizes["iteration"] < one.sizes["iteration"]:
                found[key] = one
    if not found:
        raise MeasureError("there is no run to look at; give at least one")
    return list(found.values())


def one_run(run) -> xr.Dataset:
    """The Dataset of the one run that is wanted.

    Raises
    ------
    MeasureError
        Several runs, or whatever `each_run` refuses.
    """
    runs = each_run(run)
    if len(runs) > 1:
        raise MeasureError(f"wanted one run; got {len(runs)}; choose one with workbench.open_run")
    return runs[0]


def whole_number(what: str, value, low: int = 1) -> int:
    """The value as an int of at least ``low``.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        raise MeasureError(f"the {what} must be a whole number of at least {low}; got {value!r}")
    return int(value)


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
    names = [name for name in dict.fromkeys(name for each in settings for name in each) if name not in apart_from]
    differing = [name for name in names if _differs(name, settings) and not _decided(name, apart_from, settings)]
    return [
        ", ".join([spec.label(), *(_format(name, each[name]) for name in differing if each.get(name) is not None)])
        for spec, each in zip(specs, settings, strict=True)
    ]


def data_of(runs: list[xr.Dataset]) -> list[str]:
    """The data of each run in words: its corpus and how it was changed; the seed of the split is left out.

    Perplexities of runs on different data cannot be compared.
    """
    specs = [spec_of(run) for run in runs]
    found = []
    for spec, corpus in zip(specs, _corpora(specs), strict=True):
        split = spec.split or {}
        changes = [_format(name, split[name]) for name in ("top_words", "singletons") if split.get(name) is not None]
        found.append(", ".join([corpus, *changes]))
    return found


def counterparts(runs: list[xr.Dataset]) -> list[tuple[tuple, dict]]:
    """(what is held out of which data, model) of each run: what runs with counterparts share, see `same_model`."""
    specs = [spec_of(run) for run in runs]
    found = []
    for spec, data in zip(specs, data_of(runs), strict=True):
        settings = _settings(spec, data)
        model = {name: value for name, value in spec.model.items() if name in ("n_topics", *PRIORS)}
        found.append(((data, settings["held out"], settings["per"]), model))
    return found


def same_model(model: dict, other: dict) -> bool:
    """Do the models agree in all that both have? That of the HDP, and a network, has no alpha and beta, only topics."""
    return all(_plain({name: value}) == _plain({name: other[name]}) for name, value in model.items() if name in other)


def in_papers_order(runs: list[xr.Dataset]) -> list[xr.Dataset]:
    """The runs by data and then by engine, in the order of `PAPERS_ORDER`; otherwise as they came."""
    data, labels, engines = data_of(runs), labels_of(runs), [spec_of(run).engine for run in runs]

    def rank(at: int) -> tuple:
        engine = PAPERS_ORDER.index(engines[at]) if engines[at] in PAPERS_ORDER else len(PAPERS_ORDER)
        return data.index(data[at]), engine, labels.index(labels[at])

    return [runs[at] for at in sorted(range(len(runs)), key=rank)]


def _parts(dataset: xr.Dataset) -> list[xr.Dataset]:
    """The runs of a Dataset: itself, or its slices along ``run`` without padding."""
    if "run" not in dataset.dims:
        if "spec" not in dataset.attrs:
            raise MeasureError("wanted the Dataset of a run, with its settings in attrs['spec']; got another Dataset")
        return [dataset]
    parts = []
    for at in range(dataset.sizes["run"]):
        part = dataset.isel(run=at)
        part = part.isel(iteration=np.flatnonzero(part["elapsed"].notnull().values))
        part = part.drop_vars([name for name, values in part.data_vars.items() if not values.notnull().any()])
        if "n_k" in part:
            part = part.isel(topic=np.flatnonzero(part["n_k"].notnull().any("iteration").values))
        attrs = {"name": str(part["run"].item()), "spec": str(part["spec"].item()), "engine": str(part["engine"].item())}
        own = [name for name in ("run", "spec", "engine", "label", "seed") if name in part.coords]
        parts.append(part.drop_vars(own).assign_attrs(attrs))
    return parts


def _corpora(specs: list[RunSpec]) -> list[str]:
    """A name of each run's documents that does not depend on the seed of the split.

    That is the corpus' name, unless one name stands for different documents here.
    """
    seen: dict[tuple, set] = {}
    drawn = [(spec.corpus, _plain(spec.split)) for spec in specs]
    for spec, key in zip(specs, drawn, strict=True):
        seen.setdefault(key, set()).add(spec.train)
    unclear = {corpus for (corpus, _), trains in seen.items() if len(trains) > 1}
    return [f"{spec.corpus} {spec.train[:6]}" if spec.corpus in unclear else spec.corpus for spec in specs]


def _settings(spec: RunSpec, data: str) -> dict:
    """All settings that may stand in a label besides engine and options; seeds are not among them."""
    split = {name: value for name, value in (spec.split or {}).items() if name != "seed"}
    return {
        "on": data, "K": spec.model.get("n_topics"),
        **{name: value for name, value in spec.model.items() if name in PRIORS}, "sizes": _sizes(spec),
        "burn-in": spec.burn_in, "threads": spec.n_threads,
        "held out": "nothing" if spec.test is None else split.get("fraction"),
        "per": split.get("per"), "top_words": split.get("top_words"), "singletons": split.get("singletons"),
        "start": f"{spec.start['name']}, iteration {spec.start['iteration']}" if spec.start else None,
    }


def _sizes(spec: RunSpec) -> str | None:
    """Sizes of the variables of a network that follow neither from its number of topics nor from its corpus."""
    known = {"topic", "sub", *(level["draws"] for level in spec.model.get("levels", ()) if level["table"] == AUTHORS)}
    sizes = [each for each in spec.model.get("variables", ()) if each["name"] not in known and not each["values"]]
    return ", ".join(f"{each['name']} {each['size']}" for each in sizes) or None


def _differs(name: str, settings: list[dict]) -> bool:
    return len({repr(each.get(name)) for each in settings if _has(name, each)}) > 1


def _decided(name: str, by: tuple[str, ...], settings: list[dict]) -> bool:
    """Do these settings decide the named one, wherever it is there?"""
    found: dict[tuple, set] = {}
    for each in settings:
        if each.get(name) is not None:
            found.setdefault(tuple(repr(each.get(other)) for other in by), set()).add(repr(each[name]))
    return bool(by) and all(len(values) == 1 for values in found.values())


def _has(name: str, settings: dict) -> bool:
    """Does a run have the setting, so that it may differ? An absent start or size is in the label of its spec."""
    return name in settings and (name not in ("start", "sizes") or settings[name] is not None)


def _format(name: str, value) -> str:
    match name:
        case "sizes":
            return value
        case "on":
            return f"on {value}"
        case "held out" | "per":
            return f"{name} {value}"
        case "threads":
            return f"{value} threads" if value > 1 else "1 thread"
        case "top_words":
            return f"{value} most frequent words"
        case "singletons":
            return IN_WORDS.get(value, f"singletons {value}")
        case "start":
            return f"from {value}"
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


def _plain(values: dict | None) -> str:
    return repr(sorted((values or {}).items()))
