"""RunSpec: all settings of a run, for Python, the command line, pages and JSON.

The hash of a spec identifies the run. It covers the settings that determine the results bit for bit: corpus and test set,
engine, model, options, seed, burn-in and the counts it starts from. It does not cover the number of iterations, the stop rule,
how often the run is recorded, the number of threads or the name; a run with the same hash is reopened and extended.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cached_property
from operator import attrgetter, itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from workbench.corpus import Corpus
from workbench.corpus.corpus import INT32_MAX, AnyCorpus
from workbench.data.reading import current
from workbench.engines import (
    ENGINES,
    OF_RUNS,
    STREAMING,
    any_with,
    get_engine,
    is_known,
    module_of,
)
from workbench.engines.engine import (
    NOT_INSTALLED,
    VARIATIONAL,
    Data,
    Engine,
    Options,
    WarmStart,
    warm_up_of,
)
from workbench.engines.missing import WRITER, stand_in
from workbench.engines.options import MOST_NAMED, named_options, options_of, split_options
from workbench.errors import Got, InputError, Named, nearest, shown
from workbench.models.model import Model
from workbench.models.options import OptionError
from workbench.models.word_priors import WordPrior
from workbench.runs.interventions import Intervention, interventions_of, planned, turned
from workbench.runs.settings import SETTINGS, ModelSettings, RunSettings, names
from workbench.runs.stopping import WATCHED, StopRule

IDENTITY = ("train", "test", "engine", "model", "options", "seed", "burn_in")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=,-]{0,120}")
PRIORS = ("alpha", "beta")
LONGEST_TEXT = 40
"""Maximum number of characters of an option in a label."""
MOST_NAMES = 4
"""Maximum number of words of an edit in a label."""
LACKING = {
    "bound": "has no bound to stop on; stop on perplexity",
    "steps": "counts no steps to stop on; set its iterations",
}
"""Quantity of a stop rule → the clause of the error message for an engine without it."""


class SpecError(InputError):
    """Raised for invalid settings of a run."""


@dataclass(frozen=True)
class RunSpec(RunSettings):
    """All settings of one run, including those of `RunSettings`; `make_spec` creates and checks one.

    train, test : content hashes of the training corpus and the test set; test is None if nothing is held out
    split : how the test tokens were drawn, if known
    start : the run from which this one started, with the hash of its counts
    warm_start : the counts themselves until they are in a store; never in JSON
    stop_on : the quantity that must settle for the run to end early, see `workbench.runs.stopping`
    table : hash of the texts and other columns of the training documents, if they are kept
    counted : how these texts were counted
    reading : how the training data were read and counted, see `workbench.data.reading`
    shards : number of shards of a corpus in several, since the order of sums depends on it
    module : the module of the engine if it is not in this package
    interventions : settings that are turned while the run runs, by iteration
    """

    corpus: str
    train: str
    test: str | None
    engine: str
    model: dict
    options: dict = field(default_factory=dict)
    split: dict | None = None
    start: dict | None = None
    name: str = ""
    table: str | None = None
    counted: dict | None = None
    reading: dict | None = None
    shards: int | None = None
    module: str | None = None
    interventions: tuple[Intervention, ...] = ()
    warm_start: WarmStart | None = field(default=None, repr=False, compare=False)

    @property
    def hash(self) -> str:
        """The sha256 (hex) of those settings that determine a run's results."""
        options_by_name, options = named_options(get_engine(self.engine)), {}
        # by their original names, without later options that have the value of runs before these
        for name, value in self.options.items():
            metadata = options_by_name[name].metadata if name in options_by_name else {}
            if not (metadata.get("late") and value == metadata["before"]):
                options[metadata.get("former") or name] = value
        identity = {name: getattr(self, name) for name in IDENTITY} | {"options": options}
        if self.start:
            identity["start"] = self.start["counts"]
        identity |= {
            name: getattr(self, name) for name in ("shards", "module") if getattr(self, name)
        }
        if self.table and self.parts()[1].reads_columns:
            identity["table"] = self.table
        if self.interventions:
            identity["interventions"] = [
                (intervention.iteration, plain(intervention.changes))
                for intervention in self.interventions
            ]
        return hashlib.sha256(_json(identity).encode()).hexdigest()

    @cached_property
    def _parts(self) -> tuple:
        engine = get_engine(self.engine)
        if engine.kind == NOT_INSTALLED:
            return engine, engine.model(self.model), engine.options()
        try:
            priors, options = split_options(engine, _restored(self.options))
            model = engine.model(**_restored(self.model), **priors)
            changes = [
                change
                for intervention in self.interventions
                for change in intervention.changes.items()
            ]
            if changes:  # the last of each setting holds
                model, options = turned(model, options, dict(changes))
            return engine, model, options
        except (InputError, TypeError) as error:  # settings of another version
            missing = stand_in(
                self.engine,
                OptionError(
                    f"the run has settings that {self.engine} does not take here ({error}); {WRITER}"
                ),
            )
            return missing, missing.model(self.model), missing.options()

    def __getstate__(self) -> dict:
        """Return the fields to pickle, without the cached objects of `parts`."""
        return {name: value for name, value in vars(self).items() if name != "_parts"}

    def parts(self, data: Data | None = None) -> tuple:
        """Return (engine, model, options) of the run, after all changes of settings that were made while it ran.

        With ``data``, the model also has what the data determine, such as authors.
        """
        engine, model, options = self._parts
        return engine, model if data is None else model.for_data(data), options

    def at(self, iteration: int) -> RunSpec:
        """Return the spec with the settings that hold at an iteration: without later changes of settings."""
        interventions = tuple(
            intervention
            for intervention in self.interventions
            if intervention.iteration <= iteration
        )
        return (
            self
            if interventions == self.interventions
            else replace(self, interventions=interventions)
        )

    @property
    def held_after(self) -> int:
        """The number of iterations before the last change of settings in the run takes effect; 0 without changes."""
        return self.interventions[-1].iteration - 1 if self.interventions else 0

    @property
    def end_of_burn_in(self) -> int:
        """The last iteration of burn-in, which begins anew with each intervention; p(w|d) is averaged over later iterations."""
        return self.held_after + self.burn_in

    @property
    def length(self) -> int | None:
        """The number of iterations of the run; None for a model imported from another program."""
        return self.n_iterations if self.parts()[1].course else None

    @property
    def warm_up(self) -> int:
        """The number of iterations of the engine's warm-up; 0 without one, and after a warm start."""
        return 0 if self.start else warm_up_of(self.parts()[2])

    @property
    def breaks(self) -> list[tuple[int, str]]:
        """List of (iteration, reason) at which the computation changes: end of warm-up, or settings changed."""
        ends = [(self.warm_up + 1, "the warm-up has ended")] if self.warm_up else []
        changes = [
            (
                intervention.iteration,
                ", ".join(f"{name} = {value:g}" for name, value in intervention.changes.items()),
            )
            for intervention in self.interventions
        ]
        return sorted(ends + changes, key=itemgetter(0))

    @property
    def n_topics(self) -> int | None:
        """The number of topics in the settings; None if the model has no such setting."""
        return self.model.get("n_topics")

    def refuse_missing(self) -> None:
        """Raise SpecError if the engine or its settings are unknown here, or an engine of another module has the name."""
        engine = self.parts()[0]
        if engine.kind == NOT_INSTALLED:
            raise SpecError(engine.title)
        if self.module and self.module != ENGINES.get(self.engine, self.module):
            raise SpecError(
                f"the run was computed by '{self.engine}' of the module {self.module}, and here that is an engine of "
                f"{ENGINES[self.engine]}; fit anew under another name"
            )

    @property
    def size_text(self) -> str:
        """The size of the model in the run's name and title, such as "K=10"; "" if the model has none."""
        return "=".join(map(str, self.parts()[1].size_label or ()))

    def to_json(self) -> str:
        """Return the spec as JSON text, with infinity as "inf"."""
        return _json(self.settings())

    def settings(self) -> dict:
        """Return all settings as a dict, except ``warm_start``, which JSON cannot represent."""
        interventions = [
            (intervention.iteration, plain(intervention.changes), *intervention[2:])
            for intervention in self.interventions
        ]
        values = asdict(replace(self, warm_start=None, interventions=()))
        del values["warm_start"], values["interventions"]
        if isinstance(prior := self.model.get("beta"), WordPrior):
            values["model"]["beta"] = prior.about
        return values | ({"interventions": interventions} if interventions else {})

    @classmethod
    def from_json(cls, text: str, priors: Path | None = None) -> RunSpec:
        """Return the spec in a JSON text from `to_json`; fields that this version does not know are ignored.

        priors : the folder with the numbers of a prior of words
        Raises SpecError if `to_json` cannot have written the text.
        """
        try:
            fields_by_name = json.loads(text, parse_constant=_no_number)
        except (ValueError, TypeError, RecursionError) as error:
            raise SpecError(
                f"the spec of a run is one JSON object; this is none ({error}); it is damaged"
            ) from None
        if not isinstance(fields_by_name, dict):
            raise SpecError(
                f"the spec of a run is one JSON object; this is a {type(fields_by_name).__name__}; it is damaged"
            )
        known_fields = {f.name: f for f in fields(cls) if f.name != "warm_start"}
        without_default = dict.fromkeys(
            name for name, f in known_fields.items() if f.default is f.default_factory is MISSING
        )
        stored_fields = {
            name: value for name, value in fields_by_name.items() if name in known_fields
        }
        spec = cls(**without_default | stored_fields)
        _check_types(spec)
        spec = replace(spec, interventions=interventions_of(spec.interventions))
        if isinstance(about := spec.model.get("beta"), dict):
            spec.model["beta"] = WordPrior.described(about, priors)
        if spec.module or not is_known(spec.engine):
            OF_RUNS[spec.engine] = spec.module or ""
        engine = get_engine(spec.engine)
        options_by_name = named_options(engine)
        options = {
            options_by_name[name].name if name in options_by_name else name: value
            for name, value in spec.options.items()
            if name not in engine.fixed
        }
        for name, option in options_of(engine).items():
            if option.metadata["before"] != option.default:  # of a run from before the option
                options.setdefault(name, option.metadata["before"])
        return replace(spec, options=options)

    def lasting(self, n_iterations: int, rule: StopRule | None = None) -> RunSpec:
        """Return the spec with another number of iterations and another stop rule."""
        on, tolerance = (rule.on, rule.tolerance) if rule else (None, self.stop_tolerance)
        return replace(
            self,
            n_iterations=SpecError.whole("iterations", n_iterations, 1),
            stop_on=on,
            stop_tolerance=tolerance,
        )

    @property
    def rule(self) -> StopRule | None:
        """The stop rule that may end the run early; None without one."""
        return StopRule(self.stop_on, self.stop_tolerance) if self.stop_on is not None else None

    @property
    def caption(self) -> str:
        """The label and the seed of the run, for progress bars."""
        return f"{self.label()} seed {self.seed}"

    def label(self) -> str:
        """Return the run's label for legends and tables: engine, network, non-default options, "warm" for a warm start."""
        engine, model, _ = self.parts()
        parts, options = [self.engine, model.network_name], _restored(self.options)
        for name, option in options_of(engine).items():
            value = math.inf if options.get(name) == "inf" else options.get(name, option.default)
            if name == "r" or value != option.default:
                parts.append(
                    f"{name}={value:g}"
                    if isinstance(value, float)
                    else f"{name}={_brief(str(value))}"
                )
        if len(self.interventions) == 1:
            (intervention,) = self.interventions
            parts += [f"{name}={intervention.changes[name]:g}" for name in intervention.changes]
            parts.append(f"from {intervention.iteration}")
        elif self.interventions:  # two runs that were turned differently never have the same label
            parts.append(f"turned {len(self.interventions)} times ({self.hash[:4]})")
        parts += ["warm", *edits_in_short(self.start)] if self.start else []
        return " ".join(filter(None, parts))


def _brief(text: str) -> str:
    """Return the text of an option for a label; of a long one the beginning, and a hash by which it differs from others."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT - 10]}… ({hashlib.sha256(text.encode()).hexdigest()[:4]})"


def edits_in_short(start: dict) -> list[str]:
    """Return the edits with which a run began; one with many names is shortened to their number and a hash."""
    return [
        edit
        if len(names := edit.split(" ")) <= MOST_NAMES
        else f"{names[0]} {len(names) - 1} ({start['counts'][:4]})"
        for edit in start.get("edits", ())
    ]


def _check_types(spec: RunSpec) -> None:
    """Raise SpecError if a field has a value of another type than `make_spec` sets."""
    optional = {
        "test": str,
        "split": dict,
        "start": dict,
        "stop_on": str,
        "table": str,
        "counted": dict,
        "reading": dict,
        "shards": int,
        "module": str,
    }
    types = {
        "corpus": str,
        "train": str,
        "engine": str,
        "name": str,
        "model": dict,
        "options": dict,
        **optional,
    }
    for name, kind in types.items():
        if not isinstance(value := getattr(spec, name), kind) and not (
            value is None and name in optional
        ):
            raise SpecError(
                f"the spec of a run has {name} as {kind.__name__}; got {value!r}; it is damaged"
            )
    if spec.start and not isinstance(spec.start.get("counts"), str):
        raise SpecError(
            f"the spec of a run has the hash of the counts it started from; got {spec.start!r}; it is damaged"
        )
    checked({name: getattr(spec, name) for name in names(RunSettings)})
    if not isinstance(spec.stop_tolerance, numbers.Real):
        raise SpecError(
            f"the spec of a run has stop_tolerance as a number; got {spec.stop_tolerance!r}; it is damaged"
        )


def _no_number(text: str):
    raise ValueError(f"{text} is no JSON")


def make_spec(
    train: Corpus,
    engine: str,
    n_topics: int | None = None,
    alpha: float | Sequence[float] | None = None,
    beta: ArrayLike | None = None,
    *,
    test: Corpus | None = None,
    options: dict | None = None,
    split: dict | None = None,
    name: str | None = None,
    start: tuple[WarmStart, dict] | None = None,
    model: Model | str | None = None,
    sizes: dict | None = None,
    interventions: Iterable = (),
    **settings,
) -> RunSpec:
    """Return the validated spec of a run on a training corpus, with all defaults filled in.

    ``start`` is from `execution.fit.warm_start_from`. ``alpha`` and ``beta`` are for models that have them, by default 0.1
    each; ``model`` and ``sizes`` for the engines of networks, see `workbench.models.networks.network.Network.of`.
    ``interventions`` are pairs (iteration, {setting: value}) of settings that are turned while the run runs. The other
    settings are those of `RunSettings`. Raises SpecError, ModelError or OptionError.
    """
    engine_chosen = get_engine(engine)
    if engine_chosen.kind == NOT_INSTALLED:
        raise SpecError(engine_chosen.title, field="engine", value=engine)
    kind = engine_chosen.model.data
    if getattr(train, "item", None) != kind.item:
        raise SpecError(
            "the corpus must be a Corpus (workbench.load_corpus makes one)"
            if kind is Corpus
            else f"{engine} infers from {kind.__name__}",
            f"; got {type(train).__name__}",
        )
    if train.n_parts > 1:
        _refuse_in_parts(engine_chosen, train)
    if test is not None and not train.same_rows(test):
        raise SpecError(
            "the test set must have the documents and the vocabulary of the corpus; hold_out_tokens makes such a pair"
            if kind is Corpus
            else f"the test {kind.__name__} must have the rows and fields of the training data"
        )
    test = test if test is not None and test.n_items else None
    if test is not None and engine_chosen.model.whole_rows:
        _refuse_split_rows(train, test, engine_chosen.name)
    if train.n_items == 0:
        raise SpecError(
            f"the data have no {kind.item} to learn from; hold out fewer or choose other data"
        )
    if split is not None and not isinstance(split, dict):
        raise SpecError.must_be(
            "split",
            "how the test tokens were drawn, a dict; an option of this name goes into options",
            split,
        )
    beliefs, of_engine = split_options(engine_chosen, dict(options or {}))
    model = replace(make_model(engine_chosen, n_topics, alpha, beta, model, sizes), **beliefs)
    if start is not None and not model.warm_starts:
        raise SpecError(
            f"a run of network '{model.name}' cannot begin from another run; leave start out"
        )
    model = engine_chosen.suits(model.for_data(train))
    model.check_options(of_engine)
    if start is not None:
        model.check_start(start[0].n_kw, start[0].topics)
    engine_chosen.check_options(of_engine, train)
    _refuse_uncountable(engine_chosen, of_engine, train)
    warm_start, origin = start or (None, None)
    table = getattr(train, "table", None)
    spec = RunSpec(
        corpus=train.name,
        train=train.content_hash,
        test=None if test is None else test.content_hash,
        engine=engine_chosen.name,
        model=plain(model.settings()),
        options=plain(beliefs | asdict(of_engine)),
        split=split,
        start=origin,
        warm_start=warm_start,
        table=table and table.content_hash,
        counted=dict(table.counted) if table else None,
        reading=train.reading if split or test is not None else current(train),
        shards=train.n_parts if train.n_parts > 1 else None,
        module=module_of(engine_chosen.name),
        **checked(settings),
    )
    _check_rule(spec, engine_chosen)
    spec = replace(spec, interventions=planned(spec, interventions))
    if name is None:
        stem = re.sub(r"[^A-Za-z0-9._+=-]+", "-", train.name).strip("-.") or "corpus"
        size = "".join(map(str, model.size_label or ())).lower()
        name = "-".join(filter(None, [stem[:40], spec.engine, size, spec.hash[:8]]))
    if not NAME.fullmatch(name):
        raise SpecError(
            "a run's name begins with a letter or digit and has letters, digits and ._+=,- only",
            Got(name),
            field="name",
            value=name,
        )
    return replace(spec, name=name)


def _refuse_in_parts(engine: Engine, train: AnyCorpus) -> None:
    """Raise SpecError if an engine cannot infer from a corpus in shards, or the corpus has sequences of documents."""
    if not engine.in_parts:
        able = ", ".join(name for name in ENGINES if get_engine(name).in_parts)
        reason = ", visit it once with fit_stream" if engine.name == STREAMING else ""
        raise SpecError(
            f"{engine.name} needs its corpus in memory, and {train.name!r} is kept in {train.n_parts} shards; take "
            f"{able}{reason}, or, where memory holds it, load it whole: in_memory(), or workbench data convert FOLDER all.npz",
            field="engine",
            value=engine.name,
        )
    if train.sequence is not None:
        raise SpecError(
            f"the documents of {train.name!r} stand in sequences, which shards would tear apart; load it whole with "
            "in_memory()"
        )


def _refuse_uncountable(engine: Engine, options: Options, train: Data) -> None:
    """Raise SpecError if a document or word has more sampled tokens than a 32-bit count can hold."""
    if engine.model.data is not Corpus or train.n_tokens <= INT32_MAX:
        return
    if max(train.document_tokens.max(), train.word_tokens.max()) <= INT32_MAX:
        return
    of_documents, of_words = [], np.zeros(train.n_words)
    for part in train.parts():
        samples = hasattr(options, "start_sweeps") or engine.samples(part, options)
        least = getattr(options, "r", math.inf) if samples else 0
        sampled = np.where(part.counts <= least, part.counts, 0)
        of_documents.append(np.bincount(part.documents, sampled, part.n_documents))
        of_words += np.bincount(part.words, sampled, part.n_words)
    for subject, tokens, labels in (
        ("document", np.concatenate(of_documents), train.titles),
        ("word", of_words, train.vocabulary),
    ):
        if tokens.max() > INT32_MAX:
            raise SpecError(
                f"{engine.name} samples tokens, at most {INT32_MAX:,} of a {subject}, and {labels[tokens.argmax()]!r} has "
                f"{tokens.max():,.0f}; choose an engine that samples none, as vb",
                field="engine",
            )


def _refuse_split_rows(train: Corpus, test: Corpus, engine: str) -> None:
    """Raise SpecError if a row has counts in both training and test; for engines that predict whole rows."""
    both = np.intersect1d(train.documents, test.documents)
    if len(both):
        raise SpecError(
            f"{engine} predicts whole rows, and {len(both)} row(s), as {train.titles[both[0]]!r}, have counts in training "
            "and test; hold out whole rows, as 'last 10' or 'year>=2012'",
            field="holdout_rows",
        )


def cautions(specs: list[RunSpec], data) -> list[str]:
    """Return one sentence per engine that will leave some of its threads idle, or end within its warm-up, or on its data.

    data : what the runs are trained on, in memory or in shards
    """
    sentences = []
    for spec in specs:
        engine, model, options = spec.parts()
        sentences += model.cautions(data)
        idle = engine.idle(options) if spec.n_threads > 1 else None
        if idle:
            sentences.append(f"{spec.engine} will leave threads idle: {idle}")
        if spec.n_iterations <= spec.warm_up and engine.kind == VARIATIONAL:
            sentences.append(
                f"{spec.engine} will end within its warm-up of {spec.warm_up} iterations, after {spec.n_iterations}; "
                "ask for more iterations, or for a smaller warm_up"
            )
    return list(dict.fromkeys(sentences))


def make_model(
    engine: Engine,
    n_topics: int | None = None,
    alpha: float | Sequence[float] | None = None,
    beta: ArrayLike | None = None,
    model: Model | str | None = None,
    sizes: dict | None = None,
):
    """Return the model of an engine with these settings; None or empty stands for the model's default.

    Raises SpecError or ModelError for a setting that the model does not have, and for an invalid network.
    """
    settings = {
        "n_topics": n_topics,
        "alpha": alpha,
        "beta": beta,
        "model": model,
        "sizes": sizes or None,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    for name in (name for name in settings if name not in engine.model.takes):
        if f"{name}_total" in options_of(engine):
            raise SpecError(
                f"{engine.name} has no {name} per {'topic' if name == 'alpha' else 'word'}; leave it out, and set the "
                f"option {name}_total if its total is not to be learnt"
            )
        others = [
            other.name
            for other in map(get_engine, ENGINES)
            if name in other.model.takes and other.model.data is engine.model.data
        ]
        advice = f"; its options are {', '.join(options_of(engine)) or 'none'}"
        if len(others) <= MOST_NAMED:
            advice = f", or choose an engine that takes one: {', '.join(others)}"
        raise SpecError(f"{engine.name} has a model of its own, so leave out ", Named(name), advice)
    return engine.model.of(**settings)


def model_fields(engine: Engine) -> tuple[str, ...]:
    """Return the names among n_topics, alpha and beta that the engine's model has as settings."""
    return tuple(name for name in engine.model.takes if name in ("n_topics", *PRIORS))


def _check_rule(spec: RunSpec, engine: Engine) -> None:
    """Raise SpecError if the stop rule is invalid, or needs values that the run lacks."""
    if spec.stop_on is None:
        return
    if spec.stop_on not in WATCHED:
        raise SpecError.must_be("stop_on", f"one of {', '.join(WATCHED)}, or None", spec.stop_on)
    if spec.stop_on in LACKING and spec.stop_on not in engine.watches:
        raise SpecError(
            f"{engine.name} {LACKING[spec.stop_on]}, or choose {any_with(spec.stop_on)}",
            field="stop_on",
            value=spec.stop_on,
        )
    if spec.stop_on == "perplexity" and spec.test is None:
        raise SpecError(
            "there is no test set, so no perplexity to stop on; hold out some tokens, or stop on bound",
            field="stop_on",
            value=spec.stop_on,
        )
    tolerance = spec.stop_tolerance
    if (
        not isinstance(tolerance, numbers.Real)
        or isinstance(tolerance, bool)
        or not 0 <= tolerance < math.inf
    ):
        raise SpecError.must_be("stop_tolerance", "a number of at least 0", tolerance)
    if spec.stop_on == "steps" and tolerance < 1:
        raise SpecError(
            Named("stop_tolerance"),
            " is the number of steps to stop after, as 12000",
            Got(tolerance),
        )


def no_setting(settings: dict, known_names: Iterable[str]) -> SpecError:
    """Return the error that the given names are no settings; it suggests the nearest known names."""
    known_names = [*known_names]
    nearest_names = {name: nearest(name, known_names) for name in settings}
    without_nearest = [name for name, nearest_text in nearest_names.items() if nearest_text is None]
    names_text, nearest_text = (
        ", ".join(f"'{shown(name)}'" for name in group)
        for group in (without_nearest or nearest_names, nearest_names.values())
    )
    hint = (
        f"there are {', '.join(known_names)}"
        if without_nearest
        else f"did you mean {nearest_text}?"
    )
    first = (without_nearest or [*nearest_names])[0]
    return SpecError(f"no setting {names_text}; {hint}", field=first, value=settings[first])


def checked(settings: dict) -> dict:
    """Return settings of `RunSettings` with whole numbers as int; raise SpecError if one is out of range."""
    values = {}
    for name, value in settings.items():
        if name not in names(RunSettings):
            raise no_setting({name: value}, [*names(ModelSettings), *names(RunSettings)])
        flags, low, high = (SETTINGS[name].metadata[key] for key in ("flags", "low", "high"))
        values[name] = (
            value
            if low is None
            else SpecError.whole(
                Named(name, text=flags.split()[0].removeprefix("--")), value, low, high
            )
        )
    return values


def plain(values: dict) -> dict:
    """Return the values in a form that JSON can represent: infinity as "inf", tuples as lists."""
    return {
        name: "inf"
        if isinstance(value, float) and math.isinf(value)
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in values.items()
    }


def _restored(values: dict) -> dict:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }


def _json(values: dict) -> str:
    return json.dumps(values, sort_keys=True, allow_nan=False, default=attrgetter("about"))
