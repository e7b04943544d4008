"""The options of the engines as the form offers them: one field for all engines that mean the same by a name."""

from __future__ import annotations

import re
from dataclasses import Field
from functools import lru_cache
from typing import NamedTuple

from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of

HYPERPARAMETERS = re.compile(r"(learn|a|b)_\w+|alpha_form|\w+_total|top_concentration")
"""Names of the options about priors: what is learnt of them, how, and their values where they are fixed."""

SPLIT = "r"
"""The option of the hybrids that stands beside the number of topics."""


class Choice(NamedTuple):
    """An option that can be chosen once for several engines."""

    key: str                    # in the form and in a link: its name, after an engine's where the name means several things
    field: Field
    engines: tuple[str, ...]    # those that have it

    @property
    def hyper(self) -> bool:
        """Is it about priors?"""
        return HYPERPARAMETERS.fullmatch(self.field.name) is not None


@lru_cache
def choices() -> tuple[Choice, ...]:
    """Every option of every engine; one of the same name with another default or other values is another choice."""
    found: dict[tuple, tuple[Field, list[str]]] = {}
    for engine in ENGINES:
        for field in options_of(get_engine(engine)).values():
            takes = {name: value for name, value in field.metadata.items() if name not in ("meaning", "late")}
            found.setdefault((field.name, field.default, *takes.items()), (field, []))[1].append(engine)
    taken, made = set(), []
    for field, engines in found.values():
        made.append(Choice(f"{engines[0]}.{field.name}" if field.name in taken else field.name, field, tuple(engines)))
        taken.add(field.name)
    return tuple(made)


def choice_of(engine: str, option: str) -> Choice | None:
    """The choice behind an option of an engine; None where it has no such option."""
    return next((one for one in choices() if one.field.name == option and engine in one.engines), None)


def grouped(hyper: bool) -> dict[tuple[str, ...], list[Choice]]:
    """Engines → the choices that they alone share, those about priors or the others but r: of most engines first."""
    groups: dict[tuple[str, ...], list[Choice]] = {}
    for one in choices():
        if one.hyper == hyper and one.key != SPLIT:
            groups.setdefault(one.engines, []).append(one)
    return dict(sorted(groups.items(), key=lambda group: -len(group[0])))
