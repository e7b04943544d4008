"""Top words, sizes, coherence and diversity of the topics of a run; distinctiveness and saliency of words."""

import numbers

import numpy as np
import xarray as xr
from scipy.sparse import csr_array
from scipy.special import rel_entr

from workbench.corpus.corpus import AnyCorpus
from workbench.engines.engine import SAMPLER
from workbench.errors import Got
from workbench.measures.selection import NO_DATASET, MeasureError, attributes, spec_of
from workbench.models import topic_numbers

FEWEST_DRAWS = 20
"""Smallest number of draws that have an interval."""


def top_words(
    run: xr.Dataset, n: int = 10, relevance: float = 1.0, topic: int | None = None
) -> xr.Dataset:
    """Return the n most relevant words of each topic, or of one ``topic`` alone, at the last snapshot.

    Dims ``topic`` (topic numbers of the run, ascending) and ``rank`` (from 1 to n, or to the number of words if smaller):
    ``word`` and its probability ``phi``. Ties keep the order of the vocabulary.

    ``relevance`` is the weight lambda of ``lambda log phi + (1 - lambda) log(phi / p(w))``, from 0 to 1, where p(w) is the
    word's share of the training tokens. 1, the default, ranks by phi alone, the common "top words"; 0 by lift alone, which
    favours rare words; Sievert & Shirley recommend 0.6 to readers. Below 1, words without a training token come last.

    Where the words are of several leaves, such as languages, the leaves take turns: the first word of each, then the second.

    Sievert & Shirley (2014), section 3.1.
    """
    _require(run, "phi", "n_kw")
    n = MeasureError.whole("the number of top words", n, 1)
    if (
        isinstance(relevance, bool)
        or not isinstance(relevance, numbers.Real)
        or not 0 <= relevance <= 1
    ):
        raise MeasureError(
            f"relevance must be a number from 0 (lift) to 1 (probability); got {relevance!r}"
        )
    phi = run["phi"].values
    order = np.argsort(-_relevance(run, phi, float(relevance)), axis=1, kind="stable")
    order = _in_turn(run, order)[:, :n]
    coords = {"topic": run["topic"].values, "rank": np.arange(1, order.shape[1] + 1)}
    words = xr.Dataset(
        {
            "word": (("topic", "rank"), run["word"].values[order], {"long_name": "word type"}),
            "phi": (("topic", "rank"), np.take_along_axis(phi, order, axis=1), run["phi"].attrs),
        },
        coords,
        {"relevance": float(relevance)},
    )
    return words if topic is None else words.isel(topic=place_of(run, topic))


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
    """Return the (expected) tokens and ``share`` of each topic, empty ones included, at the last snapshot."""
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


def share_intervals(run: xr.Dataset) -> xr.Dataset | None:
    """Return ``low`` and ``high`` (topic) of 95 % of the shares that a sampler drew; None if the run has too few draws.

    The draws are the recorded iterations after burn-in in the second half of the run, ``attrs["n_draws"]``. None also for
    engines that do not sample every token, or that renumber topics.
    """
    spec = spec_of(run)
    engine = spec.parts()[0]
    if engine.kind != SAMPLER or engine.grows or "n_k" not in run:
        return None
    iteration = run["iteration"].values
    drawn = iteration > max(spec.end_of_burn_in, iteration[-1] // 2)
    if np.count_nonzero(drawn) < FEWEST_DRAWS:
        return None
    sizes = run["n_k"].values[drawn]
    low, high = np.quantile(sizes / sizes.sum(axis=1, keepdims=True), [0.025, 0.975], axis=0)
    ends = {"low": ("topic", low), "high": ("topic", high)}
    return xr.Dataset(ends, {"topic": run["topic"].values}, {"n_draws": len(sizes)})


def topic_labels(run: xr.Dataset) -> dict[int, str]:
    """Return topic number → label, "" where a topic has none; empty if no topic has one."""
    if "topic_label" not in run:
        return {}
    labels = map(str, run["topic_label"].values)
    return dict(zip(run["topic"].values.tolist(), labels, strict=True))


def topic_descriptions(run: xr.Dataset) -> dict[int, str]:
    """Return topic number → description, of the topics that people described (see `workbench.runs.store.edition`)."""
    if "topic_description" not in run.coords:
        return {}
    pairs = zip(run["topic"].values.tolist(), run["topic_description"].values, strict=True)
    return {topic: str(text) for topic, text in pairs if text}


def place_of(run: xr.Dataset, topic: int) -> int:
    """Return the index of a topic, given its number; raise MeasureError for an unknown number."""
    topic_numbers = topic_sizes(run)["topic"].values
    matches = (
        np.flatnonzero(topic_numbers == topic)
        if isinstance(topic, numbers.Integral) and not isinstance(topic, bool)
        else []
    )
    if not len(matches):
        raise MeasureError(
            f"there is no topic {topic!r}; the run has {topic_numbers.min()} to {topic_numbers.max()}"
        )
    return int(matches[0])


def topics_by_size(run: xr.Dataset) -> list[int]:
    """Return topic numbers at the last snapshot, largest first; for an HDP, of topics with tokens only.

    Topics that people put first (attribute ``first`` of an edited Dataset, see `workbench.runs.store.edition`) precede.
    """
    order = run["topic"].values[largest_first(run, topic_sizes(run)["n_k"].values)].tolist()
    first = [
        topic for topic in np.atleast_1d(run.attrs.get("first", [])).tolist() if topic in order
    ]
    return [*dict.fromkeys([*first, *order])]


def largest_first(run: xr.Dataset, n_k: np.ndarray) -> np.ndarray:
    """Return topic indices (topic,), largest topic first; for an HDP, of topics with tokens only."""
    order = np.argsort(-n_k, kind="stable")
    if spec_of(run).parts()[1].nonparametric:
        order = order[: max(int(topic_numbers(n_k)["n_active_topics"]), 1)]
    return order


def used_topics(run: xr.Dataset) -> xr.Dataset:
    """Return the run without an HDP's empty topics; topics keep their numbers."""
    used = sorted(topics_by_size(run))
    return run if len(used) == run.sizes["topic"] else run.sel(topic=used)


def word_tokens(run: xr.Dataset) -> np.ndarray:
    """Return the number of training tokens (word,) float64 of each word, from the rounded expected counts.

    For `online-vb` they are estimates of the tokens of the whole stream.
    """
    return np.rint(run["n_kw"].isel(snapshot=-1).sum("topic", skipna=False).values)


def topics_of_word(run: xr.Dataset, word: str) -> xr.DataArray:
    """Return p(topic | word) of the topics at the last snapshot, (topic,)."""
    if "word_leaf" in run.coords:  # of the tokens of a topic those of the same leaf count
        run = run.sel(word=run["word_leaf"] == run["word_leaf"].sel(word=word).item())
    share = run["phi"].sel(word=word, drop=True) * topic_sizes(run)["share"]
    return share / max(float(share.sum()), 1e-300)


def _relevance(run: xr.Dataset, phi: np.ndarray, weight: float) -> np.ndarray:
    """Return the relevance (topic, word) of words to topics; phi itself for weight 1."""
    if weight == 1:
        return phi
    tokens = word_tokens(run)
    with np.errstate(divide="ignore"):
        return np.log(phi) - (1 - weight) * np.where(
            tokens > 0, np.log(tokens / tokens.sum()), np.inf
        )


def _in_turn(run: xr.Dataset, order: np.ndarray) -> np.ndarray:
    """Return the order of words (topic, word) in which the leaves of a network take turns; unchanged if it has one leaf."""
    if "word_leaf" not in run.coords:
        return order
    leaves, of_words = np.unique(run["word_leaf"].values.astype(str), return_inverse=True)
    of_ranks, turns = of_words[order], np.zeros(order.shape, int)
    for leaf in range(len(leaves)):
        turns += (of_ranks == leaf) * np.cumsum(of_ranks == leaf, axis=1)
    return np.take_along_axis(order, np.argsort(turns, axis=1, kind="stable"), axis=1)


def _require(run: xr.Dataset, *names: str) -> None:
    """Raise MeasureError if this is no Dataset, or lacks any of the variables ``names``."""
    if not isinstance(run, xr.Dataset):
        raise MeasureError(f"{NO_DATASET}; got {type(run).__name__}")
    missing = [name for name in names if name not in run]
    if missing:
        if "spec" in run.attrs:
            spec_of(run).refuse_missing()
        raise MeasureError(
            f"this Dataset has no {missing[0]}: it is a comparison, or a run before its first snapshot; "
            "open the run itself with workbench.open_run"
        )


def saliency(run: xr.Dataset) -> xr.Dataset:
    """Return the distinctiveness and the saliency of each word at the last snapshot.

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
    """Return the n most salient words: dim ``rank`` (from 1); ``word`` and the variables of `saliency`.

    All words if there are fewer than n. Ties keep the order of the vocabulary.
    """
    n, table = MeasureError.whole("the number of words", n, 1), saliency(run)
    order = np.argsort(-table["saliency"].values, kind="stable")[:n]
    ranked = table.isel(word=order).rename(word="rank")
    words = ("rank", ranked["rank"].values, {"long_name": "word type"})
    return ranked.assign(word=words).assign_coords(rank=np.arange(1, len(order) + 1))


EPSILON = 1e-12
"""Added to the probability that two words share a document, so that log 0 never occurs (Röder et al. 2015)."""
MEANINGS = {
    "u_mass": "mean of log((D(v, w) + 1) / D(w)) over pairs of top words",
    "npmi": "mean normalised pointwise mutual information over pairs of top words",
    "c_v": "mean cosine between each top word's vector of NPMI and their sum",
}


def coherence(
    run: xr.Dataset, corpus: AnyCorpus | None = None, n: int = 10, relevance: float = 1.0
) -> xr.Dataset:
    """Return the coherence of each topic of the last snapshot: how often its n top words occur in the same documents.

    A bag of words has no order, so two words co-occur when a document has both: the window is the document. (c_v and NPMI are
    often reported for windows of 110 and 10 words of running text; those are other numbers.) D counts documents, and p is D
    over the documents with a token.

    ::

        u_mass = mean over l < m of log( (D(w_m, w_l) + 1) / D(w_l) )             w_1 the first of the topic
        npmi   = mean over l < m of log( (p(w_m, w_l) + e) / (p(w_m) p(w_l)) ) / -log( p(w_m, w_l) + e )       e = 1e-12
        c_v    = mean over m of cos( v_m, sum_l v_l )                              v_m the NPMI of w_m with every top word

    u_mass is at most about 0, the others at most 1; higher is better in each. Two words that are both in every document have
    NPMI 0. A word that is in no document is left out; a topic with fewer than two words left has NaN.

    ``corpus`` has the training tokens of the run or any other documents, in memory or in shards, which are read in turn; words
    are matched by spelling. ``n`` is the number of top words of each topic, at least 2 (the papers use 10), ranked by
    ``relevance`` (see `top_words`).

    Dim ``topic``: ``u_mass`` (nats), ``npmi``, ``c_v`` and ``n_words``, the top words that the corpus has. Attributes
    ``mean_u_mass``, ``mean_npmi`` and ``mean_c_v`` over topics without NaN; ``n_documents`` with a token.

    Mimno et al. (2011), eq. 1, a sum there; Bouma (2009) and Lau, Newman & Baldwin (2014); Röder, Both & Hinneburg
    (2015), whose window is one of text. One process; a matrix of documents by top words, so 20,000 documents take a second.
    """
    if not isinstance(corpus, AnyCorpus):
        raise MeasureError(
            "coherence counts the words of topics in documents; give a Corpus, as coherence(run, train)",
            Got(corpus),
        )
    n = MeasureError.whole("the number of top words", n, 2)
    words = top_words(used_topics(run), n, relevance)["word"]
    distinct, positions = np.unique(words.values.astype(str), return_inverse=True)
    co_documents, n_documents = _co_documents(distinct.tolist(), corpus)
    known_words = [rows[co_documents[rows, rows] > 0] for rows in positions.reshape(words.shape)]
    columns = np.array(
        [_topic_coherence(co_documents[np.ix_(rows, rows)], n_documents) for rows in known_words]
    ).T
    n_words = [len(rows) for rows in known_words], attributes("top words that the corpus has")
    table = xr.Dataset(
        {
            name: ("topic", column, attributes(meaning, "nats" if name == "u_mass" else ""))
            for (name, meaning), column in zip(MEANINGS.items(), columns, strict=True)
        }
        | {"n_words": ("topic", *n_words)},
        {"topic": words["topic"].values},
        {"n_documents": n_documents, "n_top_words": n},
    )
    return table.assign_attrs({f"mean_{name}": float(table[name].mean()) for name in MEANINGS})


def _co_documents(words: list[str], corpus: AnyCorpus) -> tuple[np.ndarray, int]:
    """Return the number of documents that contain both words (word, word), and that of non-empty documents."""
    positions = {word: position for position, word in enumerate(words)}
    columns = np.array([positions.get(word, -1) for word in corpus.vocabulary], np.int64)
    totals = 0.0
    for documents in corpus.parts():
        column = columns[documents.words]
        is_top = column >= 0
        cells = documents.documents[is_top], column[is_top]
        # words spelt alike add up
        incidence = csr_array((np.ones(len(cells[0])), cells), (documents.n_documents, len(words)))
        incidence.data[:] = 1.0
        totals = totals + (incidence.T @ incidence).toarray()
    return totals, int(np.count_nonzero(corpus.document_tokens))


def _topic_coherence(co_documents: np.ndarray, n_documents: int) -> tuple[float, float, float]:
    """Return the u_mass, NPMI and c_v coherence of one topic's top words, from document co-occurrences."""
    if len(co_documents) < 2:
        return np.nan, np.nan, np.nan
    documents, pairs = np.diag(co_documents), np.tril_indices(len(co_documents), -1)
    u_mass = np.log((co_documents[pairs] + 1) / documents[pairs[1]]).mean()
    log, share = np.log(co_documents / n_documents + EPSILON), documents / n_documents
    npmi = np.divide(
        log - np.log(np.outer(share, share)),
        -log,
        out=np.zeros_like(log),  # of words that are both in every document
        where=co_documents / n_documents < 1,
    )
    total = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(total)
    cosines = np.divide(npmi @ total, lengths, out=np.zeros(len(total)), where=lengths > 0)
    return float(u_mass), float(npmi[pairs].mean()), float(cosines.mean())


def diversity(run: xr.Dataset, n: int = 25) -> xr.Dataset:
    """Return topic diversity: the share of distinct words among all topics' top words, at the last snapshot.

    The n top words of each topic by probability (25 as in the paper), or all words if there are fewer. Dim ``topic``:
    ``diversity``, where a word among the top words of m topics counts 1/m; its mean over topics, ``attrs["mean_diversity"]``,
    is the number of the paper: distinct words divided by all top words, from 1/K to 1.

    Dieng, Ruiz & Blei (2020), section 6.
    """
    words = top_words(used_topics(run), n)["word"]
    distinct, indices, n_topics = np.unique(
        words.values.astype(str), return_inverse=True, return_counts=True
    )
    shares = (1 / n_topics[indices]).reshape(words.shape).mean(axis=1)
    meaning = attributes(f"share of the top {words.sizes['rank']} words that no other topic shares")
    return xr.Dataset(
        {"diversity": ("topic", shares, meaning)},
        {"topic": words["topic"].values},
        {"mean_diversity": len(distinct) / words.size, "n_top_words": words.sizes["rank"]},
    )
