"""The options of a run: those of its model, and those of its engine."""

import re
from dataclasses import Field, fields

from workbench.engines import ENGINES, get_engine
from workbench.errors import nearest, shown
from workbench.models.options import OptionError, checked_option, option_fields


def options_of(engine) -> dict:
    """Return option name → dataclass field: the options of the model, then those of the engine."""
    beliefs = {
        name: f for name, f in option_fields(engine.model).items() if name not in engine.fixed
    }
    return beliefs | option_fields(engine.options)


def named_options(engine) -> dict:
    """Return option name → dataclass field as `options_of` does, and the former names of renamed options too."""
    declared = options_of(engine)
    return declared | {f.metadata["former"]: f for f in declared.values() if f.metadata["former"]}


def split_options(engine, values_given: dict) -> tuple[dict, object]:
    """Return the model's options by name and the engine's options as an object, with defaults filled in.

    Raises
    ------
    OptionError
        For a name that neither has (the nearest is named) or a value out of range.
    """
    declared, values = named_options(engine), {}
    for name, value in values_given.items():
        if name not in declared:
            raise no_option([engine], name)
        about = declared[name]
        if about.name in values:
            raise OptionError(
                f"option '{about.name}' of {engine.name} was '{name}' before; give one of them, not both"
            )
        values[about.name] = checked_option(engine.name, about, value)
    engine_options = {f.name for f in fields(engine.options)}
    beliefs = {
        name: values.get(name, f.default)
        for name, f in options_of(engine).items()
        if name not in engine_options
    }
    if beliefs:
        engine.model(**beliefs)  # raises where some of them contradict others
    return beliefs, engine.options(
        **{name: value for name, value in values.items() if name in engine_options}
    )


MOST_NAMED = 6
"""Limit of the number of engines that an error message lists."""


def no_option(engines: list, name: object) -> OptionError:
    """Return the error for an option that none of the engines has; its text names engines that do, or options alike."""
    declared = {text: field for engine in engines for text, field in named_options(engine).items()}
    having = [
        engine_name for engine_name in ENGINES if name in named_options(get_engine(engine_name))
    ]
    nearest_name = nearest(name, declared, 0.6 if having else 0.4)
    hints = [
        f"it is an option of {', '.join(having[:MOST_NAMED])}{', …' * (len(having) > MOST_NAMED)}"
    ]
    hints = hints * bool(having) + (
        [] if nearest_name is None else [f"did you mean '{declared[nearest_name].name}'?"]
    )
    names = ", ".join(dict.fromkeys(field.name for field in declared.values()))
    engine_names, verb = (
        ", ".join(engine.name for engine in engines),
        "have" if engines[1:] else "has",
    )
    sentence = f"{engine_names} {verb} no option '{shown(name)}'; {'; '.join(hints) or f'there are {names}'}"
    return OptionError(sentence, field=str(name))


def make_options(engine, values: dict):
    """Return the options of an engine from a plain dict; defaults are filled in."""
    return split_options(engine, values)[1]


def takes(engine, name: str, value) -> bool:
    """Return whether the engine or its model has an option of this name that allows this value."""
    about = named_options(engine).get(name)
    try:
        return about is not None and checked_option(engine.name, about, value) is not None
    except OptionError:
        return False


HYPERPARAMETERS = re.compile(r"(learn|a|b|seed)_\w+|alpha_form|\w+_total|top_concentration")
"""Names of the options about priors: which are learnt and how, and the values of fixed ones."""


def is_hyperparameter(option: str) -> bool:
    """Return whether an option is about priors: a fixed value, or whether and how a prior is learnt; see `HYPERPARAMETERS`."""
    return HYPERPARAMETERS.fullmatch(option) is not None


def shared_options() -> dict[str, tuple[Field, tuple[str, ...]]]:
    """Return option name, as forms and page addresses have it → (field, names of the engines that have the option).

    Equal options of several engines come once. One name with different defaults or ranges comes twice, the second
    time prefixed with the name of an engine.
    """
    alike: dict[tuple, tuple[Field, list[str]]] = {}
    for engine in ENGINES:
        for field in options_of(get_engine(engine)).values():
            values = [
                field.metadata[name]
                for name in field.metadata
                if name not in ("help", "label", "late", "before", "live")
            ]
            alike.setdefault((field.name, field.default, *values), (field, []))[1].append(engine)
    options_by_name: dict[str, tuple[Field, tuple[str, ...]]] = {}
    for field, having in alike.values():
        key = f"{having[0]}.{field.name}" if field.name in options_by_name else field.name
        options_by_name[key] = field, tuple(having)
    return options_by_name
