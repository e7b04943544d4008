"""Options of an engine: a dataclass whose fields know what they mean and which values they take."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, fields
from difflib import get_close_matches


class OptionError(ValueError):
    """What an option wanted, what came, and what to do, in one sentence."""


@dataclass(frozen=True)
class NoOptions:
    """Options of an engine that has none."""


def option(
    default, meaning: str, choices: tuple = (), low: float | None = None, whole: bool = False, infinite: bool = False,
    late: bool = False, high: float | None = None, former: str | None = None,
):
    """A dataclass field that knows what it means and which values it takes.

    With ``choices`` it takes one of these; with a default of True or False it takes both; otherwise a
    number, at least ``low``, at most ``high``, ``whole`` or not, and "inf" too when ``infinite``. An option that
    came ``late``, after runs without it were kept, has no part in the hash of a spec while it has its default, so
    that those runs keep their names. One that was renamed is still read, and hashed, by its ``former`` name.
    """
    choices = (False, True) if isinstance(default, bool) else choices
    about = {"meaning": meaning, "choices": choices, "low": low, "high": high, "whole": whole, "infinite": infinite}
    return field(default=default, metadata=about | {"late": late, "former": former})


def named_options(engine) -> dict:
    """The fields of an engine's options by name, and by the names that some had before."""
    known = fields(engine.options)
    return {f.name: f for f in known} | {f.metadata["former"]: f for f in known if f.metadata["former"]}


def make_options(engine, given: dict):
    """The options of an engine from a plain dict, defaults filled in.

    Raises
    ------
    OptionError
        For a name that the engine does not have (the nearest is named) or a value out of range.
    """
    known, values = named_options(engine), {}
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, 1, 0.4)
            names = ", ".join(f.name for f in fields(engine.options)) or "none"
            hint = f"did you mean '{known[near[0]].name}'?" if near else f"it has {names}"
            raise OptionError(f"{engine.name} has no option '{name}'; {hint}")
        about = known[name]
        if about.name in values:
            raise OptionError(f"option '{about.name}' of {engine.name} was '{name}' before; give one of them, not both")
        values[about.name] = _checked(engine.name, about, value)
    return engine.options(**values)


def takes(engine, name: str, value) -> bool:
    """Does the engine have the option, and may it have this value?"""
    about = named_options(engine).get(name)
    try:
        return about is not None and _checked(engine.name, about, value) is not None
    except OptionError:
        return False


def _checked(engine: str, about, value):
    """The value of one option in its own type."""
    choices, low, high = (about.metadata[name] for name in ("choices", "low", "high"))
    where = f"option '{about.name}' of {engine}"
    if choices:
        for choice in choices:
            if value is choice or (isinstance(value, str) and value.lower() == str(choice).lower()):
                return choice
        raise OptionError(f"{where} must be one of {', '.join(map(str, choices))}; got {value!r}")
    wanted = "a whole number" if about.metadata["whole"] else "a number"
    wanted += f" from {low:g} to {high:g}" if high is not None else f" of at least {low:g}" if low is not None else ""
    wanted += " or inf" if about.metadata["infinite"] else ""
    try:
        number = float(value) if isinstance(value, (str, numbers.Real)) and not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if (
        math.isnan(number)
        or (low is not None and number < low)
        or (high is not None and number > high)
        or (math.isinf(number) and not about.metadata["infinite"])
        or (about.metadata["whole"] and math.isfinite(number) and number != int(number))
    ):
        raise OptionError(f"{where} must be {wanted}; got {value!r}")
    return int(number) if about.metadata["whole"] and math.isfinite(number) else number
