"""Recognition of shipped networks, so that a run's spec stores their name, sizes and priors."""

from dataclasses import replace

import numpy as np

from workbench.models.networks.network import Network
from workbench.models.networks.shipped import SHIPPED


def spelled(network: Network) -> dict | None:
    """Return the arguments with which `Network.of` makes this shipped network; None for a network that is not shipped.

    The arguments are model, n_topics, sizes, alpha and beta. Point levels are treated as Dirichlet levels.
    """
    if network.name not in SHIPPED:
        return None
    variables = {variable.name: variable for variable in network.variables}
    if not variables.keys() & {"topic", "sub"}:
        return None
    stops = 1 if network.name == "hpam2" else 0
    topic = variables.get("topic") or variables["sub"]
    settings = {"model": network.name}
    if not topic.is_labelled:
        settings["n_topics"] = topic.size - stops
    elif network.name == "partially-labeled":
        settings |= {"n_topics": topic.per_label, "sizes": {"background": topic.background}}
    if "super" in variables:
        settings["sizes"] = {"super": variables["super"].size - stops}
    first = next(level for level in network.levels[:-1] if level.kind != "observed")
    priors = {"alpha": first.prior, "beta": network.levels[-1].prior}
    for arguments in (
        settings,
        settings | {name: prior for name, prior in priors.items() if np.ndim(prior) == 0},
    ):
        if _are_equal(Network.of(**arguments), network):
            return arguments
    return None


def _are_equal(one: Network, other: Network) -> bool:
    """Return whether two networks are equal except for authors, labels, and point instead of Dirichlet levels."""

    def plain(network):
        levels = [
            replace(level, kind="dirichlet" if level.kind == "point" else level.kind)
            for level in network.levels
        ]
        return [
            (variable.name, variable.per_label, variable.background)
            if network.is_author(variable.name) or variable.is_labelled
            else variable
            for variable in network.variables
        ], levels

    return plain(one) == plain(other)
