"""Words that distinguish topics: distinctiveness and saliency."""

import numpy as np
import xarray as xr
from scipy.special import rel_entr

from workbench.measures.selection import whole_number
from workbench.measures.topics import topic_sizes, used_topics, word_tokens


def saliency(run: xr.Dataset) -> xr.Dataset:
    """Distinctiveness and saliency of each word, at the last snapshot.

    ::

        distinctiveness(w) = sum_k p(k|w) log( p(k|w) / p(k) )        nats, how far a w alone gives its topic away
        saliency(w)        = p(w) distinctiveness(w)

    p(k) is the topic's share of the training tokens, p(k|w) is proportional to p(k) phi_kw, and p(w) is the word's share
    of the training tokens: 0 for a word without one, which is then not salient at all. With one topic both are 0.

    Dim ``word``: ``saliency``, ``distinctiveness`` (nats) and ``share``, p(w).

    Chuang, Manning & Heer (2012), "Termite", section 3.
    """
    run = used_topics(run)
    of_topics, tokens = topic_sizes(run)["share"].values, word_tokens(run)
    of_words = tokens / tokens.sum()
    given = run["phi"].values * of_topics[:, None]
    given /= given.sum(axis=0)
    # rounding may leave -1e-17
    distinctiveness = np.maximum(rel_entr(given, of_topics[:, None]).sum(axis=0), 0.0)
    return xr.Dataset(
        {
            "saliency": (
                "word",
                of_words * distinctiveness,
                {"long_name": "p(w) times distinctiveness", "units": "nats"},
            ),
            "distinctiveness": (
                "word",
                distinctiveness,
                {"long_name": "KL of p(topic|word) from p(topic)", "units": "nats"},
            ),
            "share": ("word", of_words, {"long_name": "share of the training tokens", "units": ""}),
        },
        {"word": run["word"].values},
    )


def salient_words(run: xr.Dataset, n: int = 30) -> xr.Dataset:
    """The words of the highest saliency: dim ``rank`` (from 1); ``word`` and the variables of `saliency`.

    All words if there are fewer than n. Equal words keep the vocabulary's order.
    """
    n, found = whole_number("number of words", n), saliency(run)
    order = np.argsort(-found["saliency"].values, kind="stable")[:n]
    ranked = found.isel(word=order).rename(word="rank")
    words = ("rank", ranked["rank"].values, {"long_name": "word type"})
    return ranked.assign(word=words).assign_coords(rank=np.arange(1, len(order) + 1))
