"""Options for the order of topics or words on a stick, which is part of a model."""

import re

import numpy as np

from workbench.errors import Got, Named
from workbench.kernels.uniforms import STICK_ORDER, draw_key
from workbench.kernels.uniforms import permutation as random_order
from workbench.models.model import ModelError
from workbench.models.options import OptionError, option

NAMED = ("size", "vocabulary", "random")
"""Names of orders; any other order is a permutation."""


def permutation(order, of: str = "topics", named_orders: str = "size, random") -> str:
    """Return a permutation, given as a list or a text, as text such as "2,0,1"; raise OptionError for anything else.

    of, named_orders : what is ordered, and the names of orders, for error messages.
    """
    text = (
        order
        if isinstance(order, str)
        else ",".join(map(str, order))
        if isinstance(order, (list, tuple))
        else ""
    )
    positions = re.split(r"[\s,-]+", text.strip())
    if sorted(positions) != sorted(map(str, range(len(positions)))):
        raise OptionError(
            Named("order", text="option 'order'"),
            f" must be {named_orders}, or each place 0, 1, … of the {of} once, as 2,0,1",
            Got(order),
            value=order,
        )
    return ",".join(positions)


def permutation_of_words(order) -> str:
    """Return a permutation of the words of a corpus as text; see `permutation`."""
    return permutation(order, of="words", named_orders="size, vocabulary, random")


def order_option():
    """Return the option ``order`` of models with topics: the order of the topics on the stick."""
    return option(
        "size",
        "order of the topics on the stick: largest first, random, or a permutation such as (2,0,1) of the order by size",
        choices=("size", "random"),
        otherwise=permutation,
        label="Order on the stick",
    )


def word_order_option():
    """Return the option ``order`` of models without topics: the order of the words on the stick."""
    return option(
        "size",
        "order of the words on the stick: most frequent first (words that training lacks come last), as in the vocabulary, "
        "random, or a permutation such as (2,0,1) of the order by frequency",
        choices=NAMED,
        otherwise=permutation_of_words,
        label="Order on the stick",
    )


class Ordered:
    """Mixin of models with the options ``order`` and ``order_seed``."""

    order: str
    order_seed: int

    @property
    def places(self) -> np.ndarray | None:
        """Rank by decreasing size of the topic or word at each stick position; None for a named order."""
        return None if self.order in NAMED else np.array(self.order.split(","), dtype=int)

    def stick_order(self, sizes: np.ndarray) -> np.ndarray:
        """Return the ids of the topics or words in stick order, given their ``sizes`` in tokens."""
        if self.order == "vocabulary":
            return np.arange(len(sizes))
        if self.order == "random":
            return random_order(np.uint64(draw_key(self.order_seed, STICK_ORDER, 0, 0)), len(sizes))
        size_order = np.argsort(-sizes, kind="stable")
        return size_order if self.places is None else size_order[self.places]

    def check_order(self, n: int, items: str) -> None:
        """Raise ModelError if the order is a permutation of another length than n, or if ``order_seed`` has no effect."""
        if self.order_seed and self.order != "random":
            raise ModelError(
                Named("order_seed", self.order_seed),
                " is without effect while ",
                Named("order", self.order),
                "; set ",
                Named("order", "random"),
                ", or leave out ",
                Named("order_seed"),
            )
        if self.places is not None and len(self.places) != n:
            raise ModelError(
                Named("order", self.order),
                f" has {len(self.places)} places, and there are {n} {items}; "
                f"give each of 0 to {n - 1} once",
            )
