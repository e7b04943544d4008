"""Networks in files, TOML or JSON, and those that have a name, as arguments of `Network`.

As TOML, LDA is::

    name = "lda"
    variables = [{ name = "topic", size = 10 }]

    [[levels]]
    name = "theta"
    draws = "topic"
    rows = [{ by = ["document"] }]

    [[levels]]
    name = "phi"
    draws = "word"
    rows = [{ by = ["topic"] }]
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from workbench.models.files import read_settings
from workbench.models.model import ModelError
from workbench.models.networks.shipped import SHIPPED


def described(given) -> tuple[str, Mapping]:
    """Return the description of a network that is meant by a dict or the path of a file, .toml or .json by its ending.

    With it comes what an error in it begins with: the path of the file.

    Raises
    ------
    ModelError
        No such file, or no TOML or JSON.
    """
    if isinstance(given, Mapping):
        return "", given
    if isinstance(given, (str, Path)) and Path(given).suffix in (".toml", ".json"):
        return f"{given}: ", read_settings(given, "a network", "name, variables and levels")
    near = get_close_matches(str(given), SHIPPED, 1, 0.5)
    hint = f"did you mean '{near[0]}'? There are" if near else "there are"
    raise ModelError(
        f"no model '{given}'; {hint} {', '.join(SHIPPED)}, and files in .toml or .json"
    )


def shipped(name: str, n_topics: int | None, sizes: dict[str, int]) -> dict:
    """Return a shipped network of these numbers of topics, sub-topics and super-topics, which are taken out of the sizes."""
    make = SHIPPED[name]
    known = {each.name for each in make()["variables"]}
    given = {} if n_topics is None else {"n_topics": n_topics}
    for variable, parameter in (("topic", "n_topics"), ("sub", "n_topics"), ("super", "n_super")):
        if variable in sizes and variable in known:
            given[parameter] = sizes.pop(variable)
    return make(**given)
