"""Distinctiveness and saliency of words."""

import numpy as np
import xarray as xr
from scipy.special import rel_entr

from workbench.measures.selection import attributes, whole_number
from workbench.measures.topics import topic_sizes, used_topics, word_tokens


def saliency(run: xr.Dataset) -> xr.Dataset:
    """Return distinctiveness and saliency of each word, at the last snapshot.

    ::

        distinctiveness(w) = sum_k p(k|w) log( p(k|w) / p(k) )        nats, the information of w about its topic
        saliency(w)        = p(w) distinctiveness(w)

    p(k) is the topic's share of the training tokens, p(k|w) is proportional to p(k) phi_kw, and p(w) is the word's share of the
    training tokens; a word without a token has saliency 0. With one topic both are 0.

    Dim ``word``: ``saliency``, ``distinctiveness`` (nats) and ``share``, p(w).

    Chuang, Manning & Heer (2012), "Termite", section 3.
    """
    run = used_topics(run)
    p_topic, tokens = topic_sizes(run)["share"].values, word_tokens(run)
    p_word = tokens / tokens.sum()
    p_topic_given_word = run["phi"].values * p_topic[:, None]
    p_topic_given_word /= p_topic_given_word.sum(axis=0)
    # rounding may leave -1e-17
    distinctiveness = np.maximum(rel_entr(p_topic_given_word, p_topic[:, None]).sum(axis=0), 0.0)
    return xr.Dataset(
        {
            "saliency": (
                "word",
                p_word * distinctiveness,
                attributes("p(w) times distinctiveness", "nats"),
            ),
            "distinctiveness": (
                "word",
                distinctiveness,
                attributes("KL of p(topic|word) from p(topic)", "nats"),
            ),
            "share": ("word", p_word, attributes("share of the training tokens")),
        },
        {"word": run["word"].values},
    )


def salient_words(run: xr.Dataset, n: int = 30) -> xr.Dataset:
    """Return the n words of the highest saliency: dim ``rank`` (from 1); ``word`` and the variables of `saliency`.

    All words if there are fewer than n. Ties keep the order of the vocabulary.
    """
    n, table = whole_number("number of words", n), saliency(run)
    order = np.argsort(-table["saliency"].values, kind="stable")[:n]
    ranked = table.isel(word=order).rename(word="rank")
    words = ("rank", ranked["rank"].values, {"long_name": "word type"})
    return ranked.assign(word=words).assign_coords(rank=np.arange(1, len(order) + 1))
