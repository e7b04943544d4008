"""Names of columns, and of data sets with options, as ``bars:side=5:seed=1``: parse, check and write them."""

import json
from collections.abc import Iterable, Mapping

from workbench.errors import DataError


def spelled(name: str | None, names: Iterable[str]) -> str | None:
    """Return the entry of ``names`` that equals ``name`` apart from case; ``name`` itself if several or none do."""
    alike = [entry for entry in names if name and entry.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else name


def with_options(name: str, options: Mapping) -> str:
    """Return a data set's name followed by its options: ``bars:side=5:seed=1``."""
    values = {
        key: f"{value:.12g}" if isinstance(value, float) else value
        for key, value in options.items()
    }
    return ":".join([name, *(f"{key}={value}" for key, value in values.items())])


def options_in(name: str, keywords: Mapping, valid_options: Mapping) -> dict:
    """Return the options in a data set's name, merged with ``keywords``; raise an error for one not in ``valid_options``."""
    name, *pairs = name.split(":")
    options = dict(keywords)
    for pair in pairs:
        option, equals, value = pair.partition("=")
        if not equals or not option or not value:
            raise DataError(f"an option in a name is written {name}:option=value; got {pair!r}")
        if option in options:
            raise DataError(
                f"the option {option!r} of {name!r} is given twice; leave one of them out"
            )
        options[option] = _scalar(value)
    unknown = [option for option in options if option not in valid_options]
    if unknown and not valid_options:
        raise DataError(
            f"the data set {name!r} is read as published, without {', '.join(unknown)}; leave the options out"
        )
    if unknown:
        raise DataError(
            f"the data set {name!r} has no option {unknown[0]!r}; there are {', '.join(valid_options)}"
        )
    return options


def _scalar(text: str):
    """Return the text as a number if it is one, else unchanged."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) else text
