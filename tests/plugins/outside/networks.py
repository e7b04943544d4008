"""A network of another package: LDA under another name."""

from workbench.models.networks.network import Level, Rows, Variable


def two_levels(n_topics=10, alpha=0.1, beta=0.1):
    """Return the arguments of `Network`."""
    return dict(
        name="two-levels",
        variables=(Variable("topic", n_topics),),
        levels=(
            Level("theta", "topic", (Rows(("document",)),), prior=alpha),
            Level("phi", "word", (Rows(("topic",)),), prior=beta),
        ),
    )
