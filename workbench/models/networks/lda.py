"""LDA as a network of two levels."""

from __future__ import annotations

from workbench.models.networks.levels import Level, Rows, Variable
from workbench.models.networks.network import Network


def generic_lda(n_topics: int = 10, alpha=0.1, beta: float = 0.1) -> Network:
    """LDA as a network of two levels: documents mix topics, topics mix words.

    ``alpha`` is per topic (a number, or one per topic), ``beta`` per word.

    Blei, Ng & Jordan (2003); Heinrich & Goesele (2009), fig. 1 a.
    """
    return Network(
        "lda",
        (Variable("topic", n_topics),),
        (
            Level("theta", "topic", (Rows(("document",)),), prior=alpha),
            Level("phi", "word", (Rows(("topic",)),), prior=beta),
        ),
    )
