"""The author-topic model: authors, not documents, mix topics."""

from __future__ import annotations

from workbench.models.networks.levels import AUTHORS, Level, Rows, Variable
from workbench.models.networks.network import Network


def author_topic(n_topics: int = 10, alpha=0.1, beta: float = 0.1) -> Network:
    """The author-topic model: each token has one of the authors of its document, evenly; the author draws a topic, it the word.

    x ~ uniform over the document's authors, z ~ theta_x, w ~ phi_z; theta_x ~ Dirichlet(alpha), phi_z ~ Dirichlet(beta).
    ``alpha`` is per topic (a number, or one per topic), ``beta`` per word. The corpus tells the authors.

    Rosen-Zvi, Griffiths, Steyvers & Smyth (2004); Heinrich & Goesele (2009), fig. 1 b.
    """
    return Network(
        "author-topic",
        (Variable("author", AUTHORS), Variable("topic", n_topics)),
        (
            Level("authors", "author", (Rows(("document",)),), kind="observed", table=AUTHORS),
            Level("theta", "topic", (Rows(("author",)),), prior=alpha),
            Level("phi", "word", (Rows(("topic",)),), prior=beta),
        ),
    )
