"""Settings of models and engines as dataclass fields that carry their meaning and their range."""

import math
import numbers
from collections.abc import Callable
from dataclasses import field, fields

from workbench.errors import Got, InputError, Named


class OptionError(InputError):
    """An option that an engine does not have, or a value that it cannot take."""


def option(
    default,
    meaning: str,
    choices: tuple = (),
    low: float | None = None,
    whole: bool = False,
    infinite: bool = False,
    late: bool = False,
    high: float | None = None,
    former: str | None = None,
    otherwise: Callable | None = None,
    size: bool = False,
    label: str = "",
):
    """Return a dataclass field with its meaning and its range of values.

    With ``choices`` it takes one of these, or what ``otherwise`` (value → value in its own form, or an `OptionError`) makes of
    another value; with a default of True or False it takes both; otherwise a
    number, at least ``low``, at most ``high``, ``whole`` or not, and "inf" too when ``infinite``. An option that
    came ``late``, after runs without it were kept, has no part in the hash of a spec while it has its default, so
    that those runs keep their names. One that was renamed is still read, and hashed, by its ``former`` name. A ``size``
    is to states or dimensions what K is to topics: a server may limit it. ``label`` is what forms call it; without one, its
    name in words.
    """
    choices = (False, True) if isinstance(default, bool) else choices
    about = {
        "help": meaning,
        "choices": choices,
        "low": low,
        "high": high,
        "whole": whole,
        "infinite": infinite,
    }
    about |= {
        "otherwise": otherwise,
        "size": size,
        "label": label,
        "several": not choices,
        "example": "",
    }
    return field(default=default, metadata=about | {"late": late, "former": former})


def option_fields(kind: type) -> dict:
    """Return the dataclass fields that were made by `option`, by name."""
    return {f.name: f for f in fields(kind) if "infinite" in f.metadata}


def checked_option(owner: str, about, value):
    """Return the value of an option in the type of the option.

    owner : whose option it is, for the sentence; about : its dataclass field.

    Raises
    ------
    OptionError
    """
    choices, low, high = (about.metadata[name] for name in ("choices", "low", "high"))
    named = Named(about.name, text=f"option '{about.name}'")
    if choices:
        for choice in choices:
            if value is choice or (isinstance(value, str) and value.lower() == str(choice).lower()):
                return choice
        if about.metadata["otherwise"]:
            return about.metadata["otherwise"](value)
        raise OptionError(
            named,
            f" of {owner} must be one of {', '.join(map(str, choices))}",
            Got(value),
            value=value,
        )
    wanted = "a whole number" if about.metadata["whole"] else "a number"
    wanted += (
        f" from {low:g} to {high:g}"
        if high is not None
        else f" of at least {low:g}"
        if low is not None
        else ""
    )
    wanted += " or inf" if about.metadata["infinite"] else ""
    try:
        number = (
            float(value)
            if isinstance(value, (str, numbers.Real)) and not isinstance(value, bool)
            else math.nan
        )
    except (ValueError, OverflowError):
        number = math.nan
    if (
        math.isnan(number)
        or (low is not None and number < low)
        or (high is not None and number > high)
        or (math.isinf(number) and not about.metadata["infinite"])
        or (about.metadata["whole"] and math.isfinite(number) and number != int(number))
    ):
        raise OptionError(named, f" of {owner} must be {wanted}", Got(value), value=value)
    return int(number) if about.metadata["whole"] and math.isfinite(number) else number
