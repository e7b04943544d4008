"""Top words and sizes of the topics of a run; distinctiveness and saliency of words."""

import numbers

import numpy as np
import xarray as xr
from scipy.special import rel_entr

from workbench.measures.selection import MeasureError, attributes, spec_of, whole_number
from workbench.models import topic_numbers


def top_words(run: xr.Dataset, n: int = 10, relevance: float = 1.0) -> xr.Dataset:
    """Return the most relevant words of each topic at the last snapshot.

    Dims ``topic`` (topic numbers of the run, ascending) and ``rank`` (from 1 to n, or to the number of words if smaller):
    ``word`` and its probability ``phi``. Ties keep the order of the vocabulary.

    ``relevance`` is the weight lambda of ``lambda log phi + (1 - lambda) log(phi / p(w))``, from 0 to 1, where p(w) is the
    word's share of the training tokens. 1, the default, ranks by phi alone, the usual "top words"; 0 by lift alone, which
    favours rare words; Sievert & Shirley recommend 0.6 to readers. Below 1, words without a training token come last.

    Sievert & Shirley (2014), section 3.1.
    """
    _require(run, "phi", "n_kw")
    n = whole_number("number of top words", n)
    if (
        isinstance(relevance, bool)
        or not isinstance(relevance, numbers.Real)
        or not 0 <= relevance <= 1
    ):
        raise MeasureError(
            f"relevance must be a number from 0 (lift) to 1 (probability); got {relevance!r}"
        )
    phi = run["phi"].values
    order = np.argsort(-_relevance(run, phi, float(relevance)), axis=1, kind="stable")[:, :n]
    coords = {"topic": run["topic"].values, "rank": np.arange(1, order.shape[1] + 1)}
    return xr.Dataset(
        {
            "word": (("topic", "rank"), run["word"].values[order], {"long_name": "word type"}),
            "phi": (("topic", "rank"), np.take_along_axis(phi, order, axis=1), run["phi"].attrs),
        },
        coords,
        {"relevance": float(relevance)},
    )


def topic_words(run: xr.Dataset, n: int = 10, relevance: float = 1.0) -> xr.DataArray:
    """Return the top words of each topic as one text, largest topic first: dim ``topic``, coordinate ``share``."""
    words, share = top_words(run, n, relevance)["word"], topic_sizes(run)["share"]
    order = topics_by_size(run)
    words, share = words.sel(topic=order), share.sel(topic=order)
    texts = np.array([" ".join(map(str, row)) for row in words.values], dtype=object)
    coords = {"topic": order, "share": ("topic", share.values, share.attrs)}
    ranking = "phi" if relevance == 1 else f"relevance {relevance:g}"
    return xr.DataArray(
        texts,
        coords,
        ("topic",),
        "words",
        {"long_name": f"top {words.sizes['rank']} words by {ranking}"},
    )


def topic_sizes(run: xr.Dataset) -> xr.Dataset:
    """Return (expected) tokens of each topic at the last snapshot, empty ones included, and ``share``: dim ``topic``."""
    _require(run, "phi", "n_kw")
    tokens = run["n_kw"].isel(snapshot=-1).sum("word", skipna=False).values.astype(float)
    return xr.Dataset(
        {
            "n_k": ("topic", tokens, run["n_k"].attrs),
            "share": (
                "topic",
                tokens / tokens.sum(),
                attributes("share of the training tokens"),
            ),
        },
        {"topic": run["topic"].values},
    )


def topics_by_size(run: xr.Dataset) -> list[int]:
    """Return the topic numbers of the run at the last snapshot, largest first; for an HDP only those with a token."""
    return run["topic"].values[largest_first(run, topic_sizes(run)["n_k"].values)].tolist()


def largest_first(run: xr.Dataset, n_k: np.ndarray) -> np.ndarray:
    """Return (topic,) the positions of the topics, largest first; for an HDP only those with a token."""
    order = np.argsort(-n_k, kind="stable")
    if spec_of(run).parts()[1].nonparametric:
        order = order[: max(int(topic_numbers(n_k)["n_active_topics"]), 1)]
    return order


def used_topics(run: xr.Dataset) -> xr.Dataset:
    """Return the run without empty topics of an HDP; other runs unchanged. Topics keep their numbers."""
    used = sorted(topics_by_size(run))
    return run if len(used) == run.sizes["topic"] else run.sel(topic=used)


def word_tokens(run: xr.Dataset) -> np.ndarray:
    """Return (word,) float64 training tokens of each word, rounded: responsibilities of a token sum to 1.

    For `online-vb` they are estimates of the tokens of the whole stream.
    """
    return np.rint(run["n_kw"].isel(snapshot=-1).sum("topic", skipna=False).values)


def _relevance(run: xr.Dataset, phi: np.ndarray, weight: float) -> np.ndarray:
    """Return (topic, word) the relevance of words; phi itself for weight 1, so that ties are those of phi."""
    if weight == 1:
        return phi
    tokens = word_tokens(run)
    with np.errstate(divide="ignore"):
        return np.log(phi) - (1 - weight) * np.where(
            tokens > 0, np.log(tokens / tokens.sum()), np.inf
        )


def _require(run: xr.Dataset, *names: str) -> None:
    """Raise MeasureError if the Dataset lacks a variable."""
    missing = [name for name in names if name not in run]
    if missing:
        raise MeasureError(
            f"this Dataset has no {missing[0]}: it is a comparison, or a run before its first snapshot; "
            "open the run itself with workbench.open_run"
        )


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
