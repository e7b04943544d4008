"""Write the command lines that reproduce a set of runs."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import fields
from itertools import chain
from pathlib import Path

from workbench.corpus.splits import format_rows
from workbench.engines import get_engine
from workbench.engines.options import options_of
from workbench.models.networks.spelling import spelled
from workbench.models.word_priors import WordPrior
from workbench.runs.loading import named_set
from workbench.runs.reading import command_words, environment, is_again, origin_of, read_words
from workbench.runs.settings import SETTINGS, RunSettings
from workbench.runs.spec import RunSpec
from workbench.runs.store.archive import data_path

APART = ("n_iterations", "seed", "n_threads")
"""Settings of `RunSettings` that a command always has, or never."""
Stores = Mapping[str, Path]
"""Hash of a run's spec → the store that the run is in."""
DOCUMENTS, MODEL, LIKE = "DOCUMENTS", "MODEL", "RUN"
"""Placeholders for documents that are not stored, for the file of a model, and for a run on the same split."""


def commands(specs: list[RunSpec], stores: Stores | None = None) -> list[str]:
    """Return commands that reproduce the runs from any folder, with several runs in each `workbench compare …` if possible.

    Data are named or read again as the spec records; where it does not, they are taken from the store of the run.

    A run that was continued with further documents has a separate command, `workbench update …`; so have one whose settings
    were turned while it ran, and one that continues another with topics edited. Runs of one command share corpus, model,
    length, split and seeds, and no two of their engines have different values of one option.
    """
    families: dict[tuple, dict[tuple, list[RunSpec]]] = {}
    stores = stores or {}
    separate = [
        spec
        for spec in specs
        if _stream(spec) or _edits(spec) or not spec.length or spec.interventions
    ]
    specs = [spec for spec in specs if spec not in separate]
    # the priors of the first run of each
    common_settings = {id(spec): _common_settings(spec, stores.get(spec.hash)) for spec in specs}
    with_priors = {
        common_settings[id(spec)]: _priors(spec) for spec in reversed(specs) if _priors(spec)
    }
    lines = list(dict.fromkeys(command_of(spec, stores.get(spec.hash)) for spec in separate))
    for spec in specs:
        # alpha and beta apply to the engines whose model has them
        priors = _priors(spec) or with_priors.get(common_settings[id(spec)], ())
        families.setdefault((common_settings[id(spec)], priors), {}).setdefault(
            (spec.engine, _hashable(spec.options)), []
        ).append(spec)
    for members in families.values():
        by_seeds: dict[tuple, list[RunSpec]] = {}
        for specs_of_engine in members.values():
            for span in _seed_spans(sorted({spec.seed for spec in specs_of_engine})):
                by_seeds.setdefault(span, []).append(specs_of_engine[0])
        for span, specs_of_span in by_seeds.items():
            for plan in _plans(specs_of_span):
                lines.append(_command("compare", plan, *span, stores.get(plan[0].hash)))
    return lines


def command_of(spec: RunSpec, store: Path | None = None) -> str:
    """Return the command that reproduces one run: `workbench fit …`, `update …`, `branch …` or `import …`."""
    if not spec.length:
        return shlex.join(["workbench", "import", MODEL, "--like", LIKE])
    if _stream(spec):
        total = spec.options["total_documents"]
        options = ["--total-documents", str(total)] if total else []
        reading = _stream(spec).get("reading") or {"files": [[DOCUMENTS, ""]]}
        options = [*(path for path, _ in reading["files"]), *options, *read_words(reading)]
        return shlex.join(["workbench", "update", _start_path(spec, store), *options])
    if edits := _edits(spec):
        return shlex.join(["workbench", "branch", _start_path(spec, store), *edits])
    return _command("fit", [spec], spec.seed, 1, store)


def missing_in_commands(specs: list[RunSpec], stores: Stores | None = None) -> list[str]:
    """Return sentences on what the user must add to the commands, such as the path of a file."""
    notes = []
    unknown = [spec for spec in specs if not is_again(spec) and spec.hash not in (stores or {})]
    if any(spec.test is not None and not spec.split for spec in unknown):
        notes.append("The test set was given as a corpus; the command draws another one.")
    if files := sorted({spec.corpus for spec in unknown if origin_of(spec) is None}):
        notes.append(
            f"{', '.join(files)} was read from a file or made in Python: replace its name by its path."
        )
    if homes := {stores[spec.hash] for spec in specs if spec not in unknown and not is_again(spec)}:
        notes.append(f"The data are those of the store {', '.join(sorted(map(str, homes)))}.")
    networks = [model for spec in specs if (model := spec.parts()[1]).is_network]
    for name in sorted({network.name for network in networks if spelled(network) is None}):
        notes.append(
            f"{name}.json is the network '{name}', which is not built in: workbench.models.networks.shipped writes and "
            "reads it, and the spec of the run contains it."
        )
    if not all(spec.length for spec in specs):
        notes.append(
            f"{MODEL} stands for the file of a model of another program, and {LIKE} for a run on the same split; see "
            "'Models of other programs' in the documentation."
        )
    for engine, module in sorted({(spec.engine, spec.module) for spec in specs if spec.module}):
        notes.append(
            f"{engine} is a plug-in, of the module {module}; the command needs its package."
        )
    for spec in filter(_stream, specs):
        stream = spec.start["stream"]
        if stream.get("reading"):
            continue
        passes = (
            f", counted in each of {stream['n_passes']:,} passes"
            if stream.get("n_passes", 1) > 1
            else ""
        )
        notes.append(
            f"{DOCUMENTS} stands for the {stream['n_documents']:,} documents with which {spec.name} was continued{passes}; "
            f"they are not stored, but their counts have the hash {stream['content'][:8]}."
        )
    given = [spec.model.get("beta") for spec in specs]
    for prior in {prior: None for prior in given if isinstance(prior, WordPrior)}:
        notes.append(
            f"No flag takes a beta that is {prior}: fit such a run in Python, with the numbers of its word_prior."
        )
    for warm_start in {
        spec.start["counts"]: spec.start for spec in specs if spec.start and not _stream(spec)
    }.values():
        notes.append(
            f"{'branch' if 'edits' in warm_start else '--start'} uses the current counts of {warm_start['name']}; "
            f"here they were those of its iteration {warm_start['iteration']} (spec {warm_start['hash'][:8]})."
        )
    return notes


def wrapped(command: str, width: int = 84) -> str:
    """Return the command wrapped over several lines, in shell syntax."""
    lines = [""]
    for word in re.split(r" (?=--)", command):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("    " + word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip() if len(lines) == 1 else f"{lines[-1]} {word}"
    return " \\\n".join(lines)


def _plans(specs: list[RunSpec]) -> list[list[RunSpec]]:
    """Group runs greedily into commands; engines in one command must have equal values of their common options."""
    plans: list[list[RunSpec]] = []
    for spec in specs:
        for plan in plans:
            if all(_have_equal_data(spec, other) for other in plan):
                plan.append(spec)
                break
        else:
            plans.append([spec])
    return plans


def _have_equal_data(spec: RunSpec, other: RunSpec) -> bool:
    """Return whether one command can make both runs: the engines differ, and their common options have equal values."""
    return spec.engine != other.engine and all(
        _value(second.options[name]) == _value(value)
        for first, second in ((spec, other), (other, spec))
        for name, value in _changed_settings(first).items()
        if name in second.options
    )


def _changed_settings(spec: RunSpec) -> dict:
    """Return the options that differ from the default, as a dict."""
    defaults = {name: field.default for name, field in options_of(get_engine(spec.engine)).items()}
    return {
        name: value
        for name, value in spec.options.items()
        if _value(value) != _value(defaults.get(name))
    }


def _data_paths(spec: RunSpec, store: Path | None) -> list[str]:
    """Return the command-line arguments for a run's data, and for its test set if the data are taken from the store."""
    if is_again(spec) or store is None:
        return command_words(spec)
    paths = [
        data_path(store, content_hash, spec.shards)
        for content_hash in (spec.train, spec.test)
        if content_hash
    ]
    return [str(paths[0]), *chain.from_iterable(("--test", str(path)) for path in paths[1:])]


def _start_path(spec: RunSpec, store: Path | None) -> str:
    """Return the parent run of a warm start: its path in the store, or its name without a store."""
    return spec.start["name"] if store is None else str(store / spec.start["name"])


def _command(
    name: str, plan: list[RunSpec], seed: int, n_seeds: int, store: Path | None = None
) -> str:
    """Return the command for the runs in ``plan``, which differ only in engine and options."""
    spec, model, options = plan[0], {}, {}
    is_stored = store is not None and not is_again(spec)
    for member in plan:
        model |= member.model
        options |= _changed_settings(member)
    split = {} if is_stored else spec.split or {}
    is_drawn = spec.test is not None and bool(split) and "rows" not in split
    has_own_rows = is_drawn and getattr(named_set(spec.corpus), "held_out_rows", None)
    flags = {
        "--iterations": spec.n_iterations,
        "--seed": seed,
        "--seeds": n_seeds if n_seeds > 1 else None,
        "--holdout": _value(split.get("fraction", 0.1)) if is_drawn else None,
        "--holdout-per": split.get("per") if is_drawn else None,
        "--split-seed": split.get("seed") or None if is_drawn else None,
        "--holdout-rows": "none" if has_own_rows else None,
        **{
            SETTINGS[name].metadata["flags"]: split.get(name)
            for name in ("top_words", "merge", "repeat", "singletons")
        },
        **{
            run_setting.metadata["flags"]: value
            for run_setting in fields(RunSettings)
            if run_setting.name not in APART
            and (value := getattr(spec, run_setting.name)) != run_setting.default
        },
        "--start": _start_path(spec, store) if spec.start else None,
    }
    if spec.test is None:
        flags["--holdout"] = 0
    elif "rows" in split:
        flags["--holdout-rows"] = format_rows(split["rows"])
    if flags["--holdout-per"] in ("corpus", "cell"):
        flags["--holdout-per"] = None
    engines = ",".join(member.engine for member in plan)
    words = ["workbench", name, *_data_paths(spec, store)]
    words += [f"--engine{'s' * (name == 'compare')}", engines, *_model_words(spec, model)]
    words += chain.from_iterable(
        (flag, str(value)) for flag, value in flags.items() if value is not None
    )
    for name, value in options.items():
        words += ["--option", f"{name}={_value(value)}"]
    for intervention in spec.interventions:
        changes_text = ",".join(
            f"{setting}={_value(value)}" for setting, value in intervention.changes.items()
        )
        words += ["--turn", f"{intervention.iteration}:{changes_text}"]
    return ("" if is_stored else environment(spec)) + shlex.join(words)


def _model_words(spec: RunSpec, model: dict) -> list[str]:
    """Return the command-line arguments of the model; a user's network is given as a file named after it."""
    words = []
    if "nodes" in spec.model:
        return ["--model", f"{spec.model['name']}.json"]
    if (network := spec.parts()[1]).is_network:
        model = spelled(network)
        if model is None:
            return ["--model", f"{network.name}.json"]
        words = ["--model", model["model"]]
    if "n_topics" in model:
        words += ["--topics", _value(model["n_topics"])]
    for name, size in model.get("sizes", {}).items():
        words += ["--size", f"{name}={size}"]
    for name in ("alpha", "beta"):
        if name in model and not isinstance(model[name], WordPrior):
            words += [f"--{name}", _value(model[name])]
    return words


def _stream(spec: RunSpec) -> dict | None:
    """Return the spec's record of the documents with which a run was continued; None for other runs."""
    return (spec.start or {}).get("stream")


def _edits(spec: RunSpec) -> list[str]:
    """Return the edits of topics between a run and the one that it continues; none for other runs."""
    return (spec.start or {}).get("edits", [])


def _seed_spans(seeds: list[int]) -> list[tuple[int, int]]:
    """Return ranges (first, length) of consecutive numbers in ascending seeds."""
    spans: list[tuple[int, int]] = []
    for seed in seeds:
        if spans and seed == sum(spans[-1]):
            spans[-1] = (spans[-1][0], spans[-1][1] + 1)
        else:
            spans.append((seed, 1))
    return spans


def _common_settings(spec: RunSpec, store: Path | None) -> tuple:
    """Return the settings, except priors, in which all runs of one command must agree."""
    return (
        *_data_paths(spec, store),
        spec.n_topics,
        *(getattr(spec, setting.name) for setting in fields(RunSettings) if setting.name != "seed"),
        spec.test is None,
        _hashable(spec.split or {}),
        _hashable(spec.start or {}),
    )


def _priors(spec: RunSpec) -> tuple:
    return _hashable({name: value for name, value in spec.model.items() if name != "n_topics"})


def _hashable(values: dict) -> tuple:
    return tuple(sorted((name, repr(value)) for name, value in values.items()))


def _value(value: object) -> str:
    """Return a number, word or list as the command line writes it."""
    if isinstance(value, (list, tuple)):
        return ",".join(_value(item) for item in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)
