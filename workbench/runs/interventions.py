"""Interventions: settings of a run that are turned while it runs, and the iteration from which on each holds.

A run is its spec and the log of its interventions: together they give the same bits again. What a step is computed with are the
settings of `RunSpec.at` its iteration.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from workbench.engines.engine import Engine, Options, kept
from workbench.engines.options import named_options, options_of
from workbench.errors import Got, InputError, Named, nearest, shown
from workbench.models.model import Model
from workbench.models.options import OptionError, checked_option

if TYPE_CHECKING:
    from workbench.runs.spec import RunSpec


class Intervention(NamedTuple):
    """Settings that are changed while a run runs, and the iteration from which they hold."""

    iteration: int  # the first that is computed with them
    changes: dict[str, float]
    who: str = ""
    when: str = ""  # ISO 8601, UTC


def live_settings(engine: Engine) -> tuple[str, ...]:
    """Return the names of the settings that can be changed while a run of the engine is being computed."""
    options = [name for name, option in options_of(engine).items() if option.metadata["live"]]
    return (*(() if engine.retune is kept else engine.model.live), *options)


def turned(model: Model, options: Options, changes: Mapping) -> tuple[Model, Options]:
    """Return the model and the options with the live settings in ``changes`` set to their new values."""
    option_names = {field.name for field in fields(options)}
    return (
        model.turned(
            **{name: value for name, value in changes.items() if name not in option_names}
        ),
        replace(
            options, **{name: value for name, value in changes.items() if name in option_names}
        ),
    )


def values_of(spec: RunSpec, names: Iterable[str]) -> dict[str, float]:
    """Return name → value of some settings of a run that can be changed while it runs."""
    _, model, options = spec.parts()
    return {
        name: getattr(options, name) if hasattr(options, name) else model.live_value(name)
        for name in names
    }


def turnable(spec: RunSpec) -> dict[str, float]:
    """Return name → present value of the settings that can be changed in a run, without those that the run learns."""
    values = {}
    for name, value in values_of(spec, live_settings(spec.parts()[0])).items():
        with suppress(InputError):
            checked_changes(spec, {name: value * 1.01 or 0.01})
            values[name] = value
    return values


def checked_changes(spec: RunSpec, changes: Mapping) -> dict[str, float]:
    """Check changes to settings while a run runs, given as name → value; return the changes with values as numbers.

    Raises
    ------
    OptionError
        For no change, a setting that the engine lacks or that is not live, one that the run learns, or a value out of range.
    """
    engine, model, options = spec.parts()
    live, options_by_name = live_settings(engine), named_options(engine)
    choices = f"these can be turned while it runs: {', '.join(live) or 'none'}"
    if not isinstance(changes, Mapping) or not changes:
        raise OptionError(f"give a setting and its new value; of {engine.name} {choices}")
    values = {}
    for key, value in changes.items():
        name = options_by_name[key].name if key in options_by_name else key
        if name not in live:
            raise _not_live(engine, str(name), live, choices)
        treatment = model.how_learnt(name, options)
        if treatment != "fixed":
            raise OptionError(
                f"{name} of this run is {treatment}, so a value would not last; fit another run with it fixed"
            )
        values[name] = (
            checked_option(engine.name, options_by_name[name], value)
            if name in options_by_name
            else _number(name, value)
        )
    turned(model, options, values)  # raises for what the model or other options rule out
    return values


def _number(name: str, value: object) -> float:
    try:
        number = float(value) if isinstance(value, (str, numbers.Real)) else math.nan
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise OptionError.must_be(name, "a number greater than 0", value)
    return number


def _not_live(engine: Engine, name: str, live: tuple[str, ...], choices: str) -> OptionError:
    """Return the error that a setting cannot be changed while a run runs, with advice on what to do instead.

    live : names of the settings that can be turned; choices : the clause that lists them
    """
    if name in options_of(engine) or name in engine.model.takes:
        return OptionError(
            Named(name),
            f" of {engine.name} is fixed once a run has begun; fit another with it, from this run with start=; {choices}",
        )
    suggestion = nearest(name, live)
    hint = f"did you mean '{suggestion}'?" if suggestion else choices
    return OptionError(f"{engine.name} has no setting '{shown(name)}'; {hint}")


def planned(spec: RunSpec, source: object) -> tuple[Intervention, ...]:
    """Return the checked changes of settings that a run is to make at given iterations, sorted by iteration.

    source : (iteration, changes) pairs, `Intervention` objects, or the run or spec that made them

    Raises
    ------
    OptionError
    """
    source = getattr(source, "spec", source)  # of a Run
    source = getattr(source, "interventions", source)
    try:
        if isinstance(source, (str, bytes, Mapping)):
            raise TypeError
        interventions = [Intervention(*item) for item in source]
    except TypeError:
        raise OptionError(
            "interventions are pairs (iteration, {setting: value}), as [(50, {'r': 2})]",
            Got(source),
        ) from None
    for number, intervention in enumerate(interventions):
        iteration = OptionError.whole("the iteration of an intervention", intervention.iteration, 1)
        interventions[number] = intervention._replace(iteration=iteration)
    for intervention in sorted(interventions, key=lambda intervention: intervention.iteration):
        intervention = intervention._replace(changes=checked_changes(spec, intervention.changes))
        spec = replace(spec, interventions=(*spec.interventions, intervention))
    return spec.interventions


def interventions_of(stored: object) -> tuple[Intervention, ...]:
    """Return the `Intervention` objects that a list from JSON describes; () for None.

    Raises
    ------
    OptionError
        For what `RunSpec.to_json` cannot have written.
    """
    try:
        interventions = tuple(
            Intervention(
                int(iteration),
                {str(name): float(value) for name, value in dict(changes).items()},
                *map(str, origin),
            )
            for iteration, changes, *origin in stored or ()
        )
        if all(
            a.iteration <= b.iteration for a, b in pairwise((Intervention(1, {}), *interventions))
        ):
            return interventions
    except (TypeError, ValueError):
        pass
    raise OptionError(
        f"the interventions of a run are a list in their order; got {stored!r}; it is damaged"
    )
