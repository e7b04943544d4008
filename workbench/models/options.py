"""Options of models and engines as dataclass fields with a meaning and a range of values."""

import math
import numbers
from collections.abc import Callable
from dataclasses import field, fields

from workbench.errors import Got, InputError, Named


class OptionError(InputError):
    """Raised for an unknown option, or an invalid value of an option."""


def option(
    default,
    meaning: str,
    choices: tuple = (),
    low: float | None = None,
    whole: bool = False,
    infinite: bool = False,
    late: bool = False,
    before=None,
    high: float | None = None,
    former: str | None = None,
    otherwise: Callable | None = None,
    size: bool = False,
    label: str = "",
    live: bool = False,
    example: str = "",
):
    """Return a dataclass field that declares an option: its default, meaning and range of values.

    The value is one of ``choices``, or what ``otherwise`` returns for another value (it may raise `OptionError`); True or False
    if the default is one of these; else a number from ``low`` to ``high``, ``whole`` or not, and "inf" if ``infinite``.

    A ``late`` option was added when runs without it existed: while it has the value that they had (``before``, or else the
    default), it is left out of the hash of a spec, so that these runs keep their names. A renamed option is still read, and
    hashed, by its ``former`` name. A ``size`` is a number of states or dimensions, which a server may limit. ``label`` is its
    label in forms, by default its name in words; ``example`` is shown there while the field is empty. A ``live`` option can be
    turned while a run runs.
    """
    choices = (False, True) if isinstance(default, bool) else choices
    about = {
        "help": meaning,
        "choices": choices,
        "low": low,
        "high": high,
        "whole": whole,
        "infinite": infinite,
        "otherwise": otherwise,
        "size": size,
        "label": label,
        "several": not choices,
        "example": example,
        "late": late,
        "before": default if before is None else before,
        "former": former,
        "live": live,
    }
    return field(default=default, metadata=about)


def option_fields(kind: type) -> dict:
    """Return name → dataclass field of each option of a dataclass."""
    return {f.name: f for f in fields(kind) if "infinite" in f.metadata}


def checked_option(owner: str, about, value):
    """Check the value of an option and convert it to the option's type.

    owner : the engine or model that has the option, for error messages; about : the option's dataclass field.

    Raises
    ------
    OptionError
    """
    choices, low, high = (about.metadata[name] for name in ("choices", "low", "high"))
    title = Named(about.name, text=f"option '{about.name}'")
    if choices:
        for choice in choices:
            if value is choice or (isinstance(value, str) and value.lower() == str(choice).lower()):
                return choice
        if about.metadata["otherwise"]:
            return about.metadata["otherwise"](value)
        raise OptionError(
            title,
            f" of {owner} must be one of {', '.join(map(str, choices))}",
            Got(value),
            value=value,
        )
    requirement = "a whole number" if about.metadata["whole"] else "a number"
    requirement += (
        f" from {low:g} to {high:g}"
        if high is not None
        else f" of at least {low:g}"
        if low is not None
        else ""
    )
    requirement += " or inf" if about.metadata["infinite"] else ""
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
        raise OptionError(title, f" of {owner} must be {requirement}", Got(value), value=value)
    return int(number) if about.metadata["whole"] and math.isfinite(number) else number
