"""RunSpec: everything that decides a run, for Python, command line, page and JSON alike.

The hash of a spec names the run and covers what decides its bits: corpus and test set, engine, model,
options, seed, burn-in and the counts it starts from. It does not cover how long the run is and what
stops it, how often it is recorded, how many threads it has or what it is called; an identical spec is
reopened and extended.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import re
from dataclasses import asdict, dataclass, field, fields, replace

from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import WarmStart, options_of, split_options
from workbench.runs.stopping import WATCHED, StopRule

IDENTITY = ("train", "test", "engine", "model", "options", "seed", "burn_in")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=,-]{0,120}")
PRIORS = ("alpha", "beta")
LARGEST_SEED = 2**63 - 1


class SpecError(ValueError):
    """What a run wanted, what came, and what to do, in one sentence."""


@dataclass(frozen=True)
class RunSpec:
    """The settings of one run; make one with `make_spec`, which checks them.

    ``test`` is None where nothing is held out; ``split`` says how the test tokens were drawn, if known.
    ``start`` says which run this one began from and has the hash of the counts it took; the counts themselves
    are in ``warm_start`` until they are in a store, and never in JSON. ``stop_on`` names what must settle for the run
    to end early (see `workbench.runs.stopping`).
    """

    corpus: str
    train: str
    test: str | None
    engine: str
    model: dict
    options: dict = field(default_factory=dict)
    seed: int = 0
    burn_in: int = 10
    n_iterations: int = 300
    record_every: int = 1
    snapshot_every: int = 50
    n_threads: int = 1
    split: dict | None = None
    start: dict | None = None
    stop_on: str | None = None
    stop_tolerance: float = 1e-4
    name: str = ""
    warm_start: WarmStart | None = field(default=None, repr=False, compare=False)

    @property
    def hash(self) -> str:
        """sha256 (hex) of what decides the bits of the run."""
        identity = {name: getattr(self, name) for name in IDENTITY} | {"options": self._hashed_options()}
        if self.start:
            identity["start"] = self.start["counts"]
        return hashlib.sha256(_json(identity).encode()).hexdigest()

    def _hashed_options(self) -> dict:
        """The options without those that came late and have their default."""
        about = options_of(get_engine(self.engine))
        return {
            name: value for name, value in self.options.items()
            if not (name in about and about[name].metadata["late"] and value == about[name].default)
        }

    def parts(self, data=None):
        """(engine, model, options) as objects; with ``data`` the model has what only data tell, as the names of authors."""
        engine = get_engine(self.engine)
        beliefs, options = split_options(engine, _restored(self.options))
        model = engine.model(**_restored(self.model), **beliefs)
        return engine, model if data is None else model.for_data(data), options

    @property
    def size_label(self) -> tuple[str, int] | None:
        """What the number in a run's name and title is, and the number: ("K", 10)."""
        return self.parts()[1].size_label

    def to_json(self) -> str:
        """The spec as one JSON object; infinity is the string "inf"."""
        return _json(self.settings())

    def settings(self) -> dict:
        """Name → value of everything that JSON can hold."""
        return {name: value for name, value in asdict(replace(self, warm_start=None)).items() if name != "warm_start"}

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """The spec that `to_json` wrote; fields that this version does not know are left out."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in json.loads(text).items() if name in known})

    def lasting(self, n_iterations: int, rule: StopRule | None = None) -> RunSpec:
        """The same run with another end, and this rule for an early one."""
        on, tolerance = (rule.on, rule.tolerance) if rule else (None, self.stop_tolerance)
        return replace(self, n_iterations=whole("iterations", n_iterations, 1), stop_on=on, stop_tolerance=tolerance)

    @property
    def rule(self) -> StopRule | None:
        """What ends the run early, if anything does."""
        return StopRule(self.stop_on, self.stop_tolerance) if self.stop_on is not None else None

    def label(self) -> str:
        """Engine, network, the options that differ from their defaults, and a warm start, for legends and tables."""
        engine, model, _ = self.parts()
        described = [self.engine, getattr(model, "name", None)]
        for name, about in options_of(engine).items():
            value = _restored(self.options).get(name, about.default)
            value = math.inf if value == "inf" else value
            if name == "r" or value != about.default:
                described.append(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}")
        return " ".join(filter(None, [*described, "warm" if self.start else None]))


def make_spec(
    train: Corpus, engine: str, n_topics=None, alpha=None, beta=None, n_iterations=300, seed=0, test: Corpus | None = None,
    burn_in=10, options: dict | None = None, n_threads=1, record_every=1, snapshot_every=50, split: dict | None = None,
    name=None, start: tuple[WarmStart, dict] | None = None, stop_on: str | None = None, stop_tolerance: float = 1e-4,
    model=None, sizes: dict | None = None,
) -> RunSpec:
    """A checked spec with every default filled in; ``start`` is what `workbench.runs.warm_start.warm_start_from` gives.

    ``alpha`` and ``beta`` are for models that have them, 0.1 each where they are not given; ``model`` and ``sizes`` for the
    engines of networks, see `workbench.models.networks.files.network_of`.

    Raises
    ------
    SpecError, ModelError, OptionError
        One sentence each: what was wanted, what came, what to do.
    """
    if not isinstance(train, Corpus):
        raise SpecError(f"the corpus must be a Corpus (workbench.load_corpus makes one); got {type(train).__name__}")
    if test is not None:
        if not isinstance(test, Corpus) or (test.n_documents, test.vocabulary) != (train.n_documents, train.vocabulary):
            raise SpecError(
                "the test set must have the documents and the vocabulary of the corpus; hold_out_tokens makes such a pair"
            )
        if test.n_tokens == 0:
            test = None
    if train.n_tokens == 0:
        raise SpecError("the corpus has no token to learn from; hold out fewer or choose another corpus")
    if not isinstance(options or {}, dict):
        raise SpecError(f"options must be a dict, as {{'r': 1}}; got {options!r}")
    chosen = get_engine(engine)
    beliefs, of_engine = split_options(chosen, dict(options or {}))
    model = replace(make_model(chosen, n_topics, alpha, beta, model, sizes), **beliefs)
    if start is not None and not model.warm_starts:
        raise SpecError(f"a run of network '{model.name}' cannot begin from another run; leave start out")
    model = chosen.suits(model.for_data(train))
    spec = RunSpec(
        corpus=train.name,
        train=train.content_hash,
        test=None if test is None else test.content_hash,
        engine=chosen.name,
        model=_plain(model.settings()),
        options=_plain(beliefs | asdict(of_engine)),
        seed=whole("seed", seed, 0, LARGEST_SEED),
        burn_in=whole("burn-in", burn_in, 0),
        n_iterations=whole("iterations", n_iterations, 1, 2**20),
        record_every=whole("record_every", record_every, 1),
        snapshot_every=whole("snapshot_every", snapshot_every, 1),
        n_threads=whole("threads", n_threads, 1, 1024),
        split=split,
        start=start[1] if start else None,
        stop_on=stop_on,
        stop_tolerance=stop_tolerance,
        warm_start=start[0] if start else None,
    )
    _check_rule(spec, chosen)
    if name is None:
        stem = re.sub(r"[^A-Za-z0-9._+=-]+", "-", train.name).strip("-.") or "corpus"
        size = "".join(map(str, model.size_label or ())).lower()
        name = "-".join(filter(None, [stem[:40], spec.engine, size, spec.hash[:8]]))
    if not NAME.fullmatch(name):
        raise SpecError(f"a run's name begins with a letter or digit and has letters, digits and ._+=,- only; got {name!r}")
    return replace(spec, name=name)


def idle_threads(specs: list[RunSpec]) -> list[str]:
    """One sentence for each engine that has nothing to do for more threads than one and was given them."""
    told = {}
    for spec in specs:
        engine, _, options = spec.parts()
        why = engine.idle(options) if spec.n_threads > 1 else None
        if why:
            told[f"{spec.engine} will leave threads idle: {why}"] = None
    return list(told)


def make_model(engine, n_topics=None, alpha=None, beta=None, model=None, sizes: dict | None = None):
    """The model of an engine, of what was given (not None, not empty) and its defaults.

    Raises
    ------
    SpecError, ModelError
        For a setting that the model does not have, and for what is no network.
    """
    given = {"n_topics": n_topics, "alpha": alpha, "beta": beta, "model": model, "sizes": sizes or None}
    given = {name: value for name, value in given.items() if value is not None}
    for name in (name for name in given if name not in engine.model.takes):
        if f"{name}_total" in options_of(engine):
            raise SpecError(
                f"{engine.name} has no {name} per {'topic' if name == 'alpha' else 'word'}; leave it out, and set the "
                f"option {name}_total if its total is not to be learnt"
            )
        others = ", ".join(other for other in ENGINES if name in get_engine(other).model.takes)
        raise SpecError(
            f"{engine.name} has a model of its own, so leave out {name}, or choose an engine that takes one: {others}"
        )
    return engine.model.of(**given)


def model_fields(engine) -> tuple[str, ...]:
    """The numbers among the settings that the model of an engine takes: n_topics, and the priors that it has."""
    return tuple(name for name in engine.model.takes if name in ("n_topics", *PRIORS))


def _check_rule(spec: RunSpec, engine) -> None:
    """Refuses a rule for an early end that the run cannot follow."""
    if spec.stop_on is None:
        return
    if spec.stop_on not in WATCHED:
        raise SpecError(f"stop_on must be one of {', '.join(WATCHED)}, or None; got {spec.stop_on!r}")
    if spec.stop_on == "bound" and "bound" not in engine.watches:
        raise SpecError(f"{engine.name} has no bound to stop on; stop on perplexity, or choose {_watching('bound')}")
    if spec.stop_on == "steps" and "steps" not in engine.watches:
        raise SpecError(f"{engine.name} counts no steps to stop on; set its iterations, or choose {_watching('steps')}")
    if spec.stop_on == "perplexity" and spec.test is None:
        raise SpecError("there is no test set, so no perplexity to stop on; hold out some tokens, or stop on bound")
    tolerance = spec.stop_tolerance
    if not isinstance(tolerance, numbers.Real) or isinstance(tolerance, bool) or not 0 <= tolerance < math.inf:
        raise SpecError(f"stop_tolerance must be a number of at least 0; got {tolerance!r}")
    if spec.stop_on == "steps" and tolerance < 1:
        raise SpecError(f"stop_tolerance is the number of steps to stop after, as 12000; got {tolerance:g}")


def _watching(name: str) -> str:
    """The engines that record a scalar."""
    *others, last = (other for other in ENGINES if name in get_engine(other).watches)
    return f"{', '.join(others)} or {last}"


def whole(what: str, value, low: int, high: int | None = None) -> int:
    """The value as an int within its range, or a sentence."""
    fits = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value) and value == int(value)
    if not fits or value < low or (high is not None and value > high):
        span = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise SpecError(f"{what} must be a whole number {span}; got {value!r}")
    return int(value)


def _plain(values: dict) -> dict:
    """Values that JSON can hold: infinity as "inf", tuples as lists."""
    return {
        name: "inf" if isinstance(value, float) and math.isinf(value) else list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
    }


def _restored(values: dict) -> dict:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _json(values: dict) -> str:
    return json.dumps(values, sort_keys=True, allow_nan=False)
