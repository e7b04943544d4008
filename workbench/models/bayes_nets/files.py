"""Bayesian networks in files: TOML and JSON; BIF, which `bif.py` reads.

As TOML, two hidden causes of a symptom are::

    name = "two causes"

    [[nodes]]
    name = "cause"
    states = 2

    [[nodes]]
    name = "season"
    states = ["winter", "summer"]

    [[nodes]]
    name = "symptom"
    states = ["no", "yes"]
    parents = ["cause", "season"]
    prior = 0.5

A field of the data is the node of its name; `Node` says what else a node may have.
"""

from collections.abc import Mapping
from pathlib import Path

from workbench.models.bayes_nets.bif import PUBLISHED, is_bif, published, read_bif
from workbench.models.bayes_nets.shipped import SHIPPED
from workbench.models.files import read_settings, write_settings
from workbench.models.model import ModelError


def described(given) -> tuple[str, dict]:
    """Return the network that is meant by a dict, by the path of a .toml, .json or .bif file, or by "asia", "alarm",
    "insurance" or "hepar2": the published one behind the simulated records of that name.

    Returns
    -------
    where : str
        What an error begins with: the path of a file.
    net : dict
        Its ``name`` and ``nodes``.

    Raises
    ------
    ModelError
    """
    if isinstance(given, Mapping):
        return "", _checked(given)
    if isinstance(given, str) and given in SHIPPED:
        raise ModelError(
            f"'{given}' is a shipped network; choose it with the option network={given}, and leave model out"
        )
    if not isinstance(given, (str, Path)):
        raise ModelError(
            f"a Bayesian network is a BayesNet, a table with name and nodes, or a file; got {given!r}"
        )
    if given in PUBLISHED:
        return "", read_bif(published(given))[0]
    if is_bif(given):
        return "", read_bif(given)[0]
    settings = read_settings(given, "a Bayesian network", "name and nodes")
    try:
        return f"{given}: ", _checked(settings)
    except ModelError as error:
        raise error.within(f"{given}: ") from None


def _checked(given: Mapping) -> dict:
    """Return the name and the nodes of a plain dict; raise ModelError where it has others."""
    if missing := [name for name in ("name", "nodes") if not given.get(name)]:
        raise ModelError(
            f"a Bayesian network needs '{missing[0]}'; got {', '.join(given) or 'nothing'}"
        )
    if unknown := [name for name in given if name not in ("name", "nodes")]:
        raise ModelError(f"a Bayesian network has no '{unknown[0]}'; it has name and nodes")
    if not isinstance(given["nodes"], list | tuple):
        raise ModelError(
            f"a Bayesian network: 'nodes' must be a list of tables; got {given['nodes']!r}"
        )
    return {"name": given["name"], "nodes": tuple(given["nodes"])}


def write_net(net, path) -> Path:
    """Write a network as JSON, including nodes that were generated for data; return the path.

    Raises
    ------
    ModelError
        Another ending than .json, or a place that cannot be written.
    """
    own = net if net.name else type(net)(f"{net.network} of data", net.nodes)
    return write_settings(own.settings(), path, "a Bayesian network")
