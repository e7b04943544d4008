"""Write the command lines that reproduce a set of runs."""

import re
import shlex
from itertools import chain

from workbench.corpus.splits import rows_as_asked
from workbench.engines import get_engine
from workbench.engines.options import options_of
from workbench.models.networks.spelling import spelled
from workbench.runs.loading import named_set
from workbench.runs.settings import SETTINGS
from workbench.runs.spec import RunSpec

DEFAULT_BURN_IN = 10
DOCUMENTS, MODEL, LIKE = "DOCUMENTS", "MODEL", "RUN"
"""Placeholders for documents that are not stored, for the file of a model, and for a run on the same split."""


def commands(specs: list[RunSpec]) -> list[str]:
    """Return as few `workbench compare …` commands as can reproduce the runs.

    A run that was continued with further documents has a separate command, `workbench update …`. Runs of one command share
    corpus, model, length, split and seeds, and no two of their engines have different values of one option.
    """
    families: dict[tuple, dict[tuple, list[RunSpec]]] = {}
    separate = [spec for spec in specs if _stream(spec) or not spec.length]
    specs = [spec for spec in specs if spec not in separate]
    # the priors of the first run of each
    with_priors = {_shared(spec): _priors(spec) for spec in reversed(specs) if _priors(spec)}
    lines = list(dict.fromkeys(map(command_of, separate)))
    for spec in specs:
        shared_settings = _shared(spec)
        # alpha and beta apply to the engines whose model has them
        priors = _priors(spec) or with_priors.get(shared_settings, ())
        families.setdefault((shared_settings, priors), {}).setdefault(
            (spec.engine, _items(spec.options)), []
        ).append(spec)
    for members in families.values():
        by_seeds: dict[tuple, list[RunSpec]] = {}
        for specs_of_engine in members.values():
            for span in _spans(sorted({spec.seed for spec in specs_of_engine})):
                by_seeds.setdefault(span, []).append(specs_of_engine[0])
        for span, chosen in by_seeds.items():
            for plan in _plans(chosen):
                engines = ",".join(spec.engine for spec in plan)
                lines.append(
                    _command(["compare", plan[0].corpus, "--engines", engines], plan, *span)
                )
    return lines


def command_of(spec: RunSpec) -> str:
    """Return the command that reproduces one run: `workbench fit …`, `update …` (further documents), or `import …`."""
    if not spec.length:
        return shlex.join(["workbench", "import", MODEL, "--like", LIKE])
    if _stream(spec):
        total = spec.options["total_documents"]
        options = ["--total-documents", str(total)] if total else []
        return shlex.join(["workbench", "update", spec.start["name"], DOCUMENTS, *options])
    return _command(["fit", spec.corpus, "--engine", spec.engine], [spec], spec.seed, 1)


def missing_in_commands(specs: list[RunSpec]) -> list[str]:
    """Return sentences on what the user must add to the commands, such as the path of a file."""
    notes = []
    if any(spec.test is not None and not spec.split for spec in specs):
        notes.append("The test set was given as a corpus; the command draws another one.")
    files = sorted({spec.corpus for spec in specs if not named_set(spec.corpus)})
    if files:
        notes.append(
            f"{', '.join(files)} was read from a file or made in Python: replace its name by its path."
        )
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
        passes = (
            f", counted in each of {stream['n_passes']:,} passes"
            if stream.get("n_passes", 1) > 1
            else ""
        )
        notes.append(
            f"{DOCUMENTS} stands for the {stream['n_documents']:,} documents with which {spec.name} was continued{passes}; "
            f"they are not stored, but their counts have the hash {stream['content'][:8]}."
        )
    for warm_start in {
        spec.start["counts"]: spec.start for spec in specs if spec.start and not _stream(spec)
    }.values():
        notes.append(
            f"--start uses the current counts of {warm_start['name']}; "
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
            if all(_agree(spec, other) for other in plan):
                plan.append(spec)
                break
        else:
            plans.append([spec])
    return plans


def _agree(spec: RunSpec, other: RunSpec) -> bool:
    """Return whether one command can run both: the engines differ, and their common options have equal values."""
    return spec.engine != other.engine and all(
        _value(second.options[name]) == _value(value)
        for first, second in ((spec, other), (other, spec))
        for name, value in _changed(first).items()
        if name in second.options
    )


def _changed(spec: RunSpec) -> dict:
    """Return the options that differ from the default, as a dict."""
    defaults = {name: field.default for name, field in options_of(get_engine(spec.engine)).items()}
    return {
        name: value
        for name, value in spec.options.items()
        if _value(value) != _value(defaults.get(name))
    }


def _command(head: list[str], plan: list[RunSpec], seed: int, n_seeds: int) -> str:
    """Return the command for the runs in ``plan``, which differ only in engine and options."""
    spec, model, options = plan[0], {}, {}
    for member in plan:
        model |= member.model
        options |= _changed(member)
    split = spec.split or {}
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
        "--burn-in": spec.burn_in if spec.burn_in != DEFAULT_BURN_IN else None,
        "--start": spec.start["name"] if spec.start else None,
    }
    if spec.test is None:
        flags["--holdout"] = 0
    elif "rows" in split:
        flags["--holdout-rows"] = rows_as_asked(split["rows"])
    if flags["--holdout-per"] in ("corpus", "cell"):
        flags["--holdout-per"] = None
    words = ["workbench", *head, *_model_words(spec, model)]
    words += chain.from_iterable(
        (flag, str(value)) for flag, value in flags.items() if value is not None
    )
    for name, value in options.items():
        words += ["--option", f"{name}={_value(value)}"]
    return shlex.join(words)


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
        if name in model:
            words += [f"--{name}", _value(model[name])]
    return words


def _stream(spec: RunSpec) -> dict | None:
    """Return the spec's record of the documents with which a run was continued; None for other runs."""
    return (spec.start or {}).get("stream")


def _spans(seeds: list[int]) -> list[tuple[int, int]]:
    """Return ranges (first, length) of consecutive numbers in ascending seeds."""
    spans: list[tuple[int, int]] = []
    for seed in seeds:
        if spans and seed == sum(spans[-1]):
            spans[-1] = (spans[-1][0], spans[-1][1] + 1)
        else:
            spans.append((seed, 1))
    return spans


def _shared(spec: RunSpec) -> tuple:
    """Return the settings, except priors, in which all runs of one command must agree."""
    return (
        spec.corpus,
        spec.n_topics,
        spec.n_iterations,
        spec.burn_in,
        spec.test is None,
        _items(spec.split or {}),
        _items(spec.start or {}),
    )


def _priors(spec: RunSpec) -> tuple:
    return _items({name: value for name, value in spec.model.items() if name != "n_topics"})


def _items(values: dict) -> tuple:
    return tuple(sorted((name, repr(value)) for name, value in values.items()))


def _value(value: object) -> str:
    """Return a number, word or list as the command line writes it."""
    if isinstance(value, (list, tuple)):
        return ",".join(_value(item) for item in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)
