"""Choices of an engine's options: few rows in which every allowed pair of choices stands together."""

import itertools
from dataclasses import fields

from workbench.engines.engine import make_options
from workbench.models.options import OptionError


def choices_of(engine) -> dict[str, tuple]:
    """Option → its choices; whole numbers at their default and one above; others at their default."""
    return {
        f.name: f.metadata["choices"] or ((f.default, f.default + 1) if f.metadata["whole"] else (f.default,))
        for f in fields(engine.options)
    }


def every_pair_of_choices(engine, fixed: dict | None = None) -> list[dict]:
    """Rows (option → choice), the defaults first, that together hold every pair of choices that some allowed row holds.

    fixed : options that have this value in every row.
    """
    choices = choices_of(engine) | {name: (value,) for name, value in (fixed or {}).items()}
    default = {f.name: f.default for f in fields(engine.options)} | (fixed or {})
    allowed = [default, *filter(lambda row: row != default and _allowed(engine, row), _rows(choices))]
    missing = {pair for row in allowed for pair in _pairs(row)}
    chosen = []
    while missing:
        row = default if not chosen else max(allowed, key=lambda each: len(_pairs(each) & missing))
        chosen.append(row)
        missing -= _pairs(row)
    return chosen


def _rows(choices: dict):
    return (dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values()))


def _allowed(engine, row: dict) -> bool:
    try:
        make_options(engine, row)
    except OptionError:
        return False
    return True


def _pairs(row: dict) -> set:
    return set(itertools.combinations(row.items(), 2))
