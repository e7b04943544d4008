"""Networks in files, TOML or JSON, and those that have a name.

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
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from workbench.models.files import read_settings, write_settings
from workbench.models.model import ModelError
from workbench.models.networks.levels import no_others
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import SHIPPED


def network_of(
    given,
    n_topics: int | None = None,
    sizes: Mapping[str, int] | None = None,
    alpha=None,
    beta=None,
) -> Network:
    """The network that is meant by a Network, a dict, the name of a shipped model or the path of a file.

    Parameters
    ----------
    given : Network, dict, str or path
    n_topics : int, optional
        Size of the variable "topic"; of the hierarchical pachinko models, how many sub-topics there are.
    sizes : dict, optional
        Size of any variable by its name; of a shipped model how many "super" and "sub" topics there are, the stop not counted.
    alpha, beta : float, optional
        Prior of every Dirichlet level but the last, and of that.

    Raises
    ------
    ModelError
    """
    sizes = dict(sizes or {})
    if isinstance(given, str) and given in SHIPPED:
        return _shipped(given, n_topics, sizes).with_sizes(sizes).with_priors(alpha, beta)
    network = _found(given)
    if n_topics is not None:
        known = [each.name for each in network.variables]
        if "topic" not in known:
            raise ModelError(
                f"network '{network.name}' has no variable 'topic' for n_topics to set; set the size of one of "
                f"{', '.join(known) or 'none'} by its name"
            )
        sizes.setdefault("topic", n_topics)
    return network.with_sizes(sizes).with_priors(alpha, beta)


def _shipped(name: str, n_topics: int | None, sizes: dict[str, int]) -> Network:
    """A shipped model of these numbers of topics, sub-topics and super-topics, which are taken out of the sizes."""
    make = SHIPPED[name]
    known = {each.name for each in make().variables}
    given = {} if n_topics is None else {"n_topics": n_topics}
    for variable, parameter in (("topic", "n_topics"), ("sub", "n_topics"), ("super", "n_super")):
        if variable in sizes and variable in known:
            given[parameter] = sizes.pop(variable)
    return make(**given)


def spelled(network: Network) -> dict | None:
    """The arguments of `network_of` that give this network, if it is a shipped one: model, n_topics, sizes, alpha, beta.

    None for a network of one's own. Point estimates count as the Dirichlet rows that they were.
    """
    if network.name not in SHIPPED:
        return None
    known = {each.name: each for each in network.variables}
    stops = 1 if network.name == "hpam2" else 0
    found = {"model": network.name, "n_topics": (known.get("topic") or known["sub"]).size - stops}
    if "super" in known:
        found["sizes"] = {"super": known["super"].size - stops}
    first = next(level for level in network.levels[:-1] if level.kind != "observed")
    priors = {"alpha": first.prior, "beta": network.levels[-1].prior}
    for given in (
        found,
        found | {name: prior for name, prior in priors.items() if np.ndim(prior) == 0},
    ):
        model = {"given" if name == "model" else name: value for name, value in given.items()}
        if _alike(network_of(**model), network):
            return given
    return None


def _alike(one: Network, other: Network) -> bool:
    """Are they the same but for authors, and for rows that one of them estimates?"""

    def plain(network):
        levels = [
            replace(level, kind="dirichlet" if level.kind == "point" else level.kind)
            for level in network.levels
        ]
        return [
            each.name if network.is_author(each.name) else each for each in network.variables
        ], levels

    return plain(one) == plain(other)


def _found(given) -> Network:
    if isinstance(given, Network):
        return given
    if isinstance(given, Mapping):
        return of_dict(given)
    if isinstance(given, (str, Path)) and Path(given).suffix in (".toml", ".json"):
        return read_network(given)
    near = get_close_matches(str(given), SHIPPED, 1, 0.5)
    hint = f"did you mean '{near[0]}'? There are" if near else "there are"
    raise ModelError(
        f"no model '{given}'; {hint} {', '.join(SHIPPED)}, and files in .toml or .json"
    )


def of_dict(given: Mapping) -> Network:
    """The network of a plain dict.

    Raises
    ------
    ModelError
    """
    no_others(Network, given, "a network")
    for name in ("name", "variables", "levels"):
        if name not in given:
            raise ModelError(f"a network needs '{name}'; got {', '.join(given) or 'nothing'}")
    for name in ("variables", "levels"):
        if not isinstance(given[name], (list, tuple)):
            raise ModelError(f"a network: '{name}' must be a list of tables; got {given[name]!r}")
    return Network(**given)


def read_network(path) -> Network:
    """The network in a file, .toml or .json by its ending.

    Raises
    ------
    ModelError
        With the path: no such file, no TOML or JSON, or no network.
    """
    given = read_settings(path, "a network", "name, variables and levels")
    try:
        return of_dict(given)
    except ModelError as error:
        raise error.within(f"{path}: ") from None


def write_network(network: Network, path) -> Path:
    """Writes a network as JSON, the names of authors left out; returns where.

    Raises
    ------
    ModelError
        Another ending than .json, or a place that cannot be written.
    """
    return write_settings(network.settings(), path, "a network")
