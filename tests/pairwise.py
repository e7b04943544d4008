"""Choices of an engine's options: few rows in which every allowed pair of choices stands together."""

import itertools

from workbench.engines.options import make_options, options_of
from workbench.models.options import OptionError

FOUND: dict[str, list[dict]] = {}
"""By engine; it takes half a second."""


def choices_of(engine) -> dict[str, tuple]:
    """Option of the engine or its model → its choices; whole numbers at their default and one above; others at the default."""
    return {
        name: f.metadata["choices"]
        or ((f.default, f.default + 1) if f.metadata["whole"] else (f.default,))
        for name, f in options_of(engine).items()
    }


def every_pair_of_choices(engine) -> list[dict]:
    """Rows (option → choice), the defaults first, that together hold every pair of choices that some allowed row holds."""
    if engine.name in FOUND:
        return FOUND[engine.name]
    choices, default = (
        choices_of(engine),
        {name: f.default for name, f in options_of(engine).items()},
    )
    rows = (
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    )
    allowed = [default, *(row for row in rows if row != default and _allowed(engine, row))]
    return FOUND.setdefault(engine.name, fewest_rows(allowed))


def fewest_rows(rows: list[dict]) -> list[dict]:
    """Few of the rows (name → value), the first among them, that together hold every pair of values that some row holds."""
    bits: dict[tuple, int] = {}
    masks = [
        sum(
            1 << bits.setdefault(pair, len(bits)) for pair in itertools.combinations(row.items(), 2)
        )
        for row in rows
    ]
    chosen, missing = rows[:1], ~masks[0] & (1 << len(bits)) - 1
    while missing:
        best = max(range(len(rows)), key=lambda at: (masks[at] & missing).bit_count())
        chosen.append(rows[best])
        missing &= ~masks[best]
    return chosen


def _allowed(engine, row: dict) -> bool:
    try:
        make_options(engine, row)
    except OptionError:
        return False
    return True
