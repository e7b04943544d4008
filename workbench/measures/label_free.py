"""What chains of one model draw that does not depend on the numbers of topics, so that chains can be compared."""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import xarray as xr

from workbench.corpus.any_corpus import AnyCorpus
from workbench.measures.effective_samples import FEWEST, STATE, after_burn_in, chains_of
from workbench.measures.matching import responsibilities
from workbench.measures.selection import MeasureError, each_run, labels_of, spec_of, whole_number
from workbench.runs.dataset import last_snapshot, model_of

N_FIXED, N_HELD_OUT = 50, 1000
TRIES = 20
"""Documents that are looked at for each one that is wanted, as some have too few words."""
NO_TOKENS = "no corpora were given that the runs were trained and scored on"
FEW = f"the runs have fewer than {FEWEST} snapshots after burn-in in common; take them more often (snapshot_every)"
NO_TOPICS = "the model estimates no theta and phi at a snapshot"


def label_free(
    runs,
    corpora: Iterable[AnyCorpus] = (),
    n_fixed: int = N_FIXED,
    n_held_out: int = N_HELD_OUT,
    seed: int = 0,
) -> xr.Dataset:
    """The draws of chains after burn-in, of quantities that stay the same when topics change their numbers.

    Parameters
    ----------
    runs : Datasets of runs of one label on one split
        The chains, which differ in their seeds; see `each_run`. Each must have sampled tokens.
    corpora : Corpus or ShardedCorpus, any number
        Training and test tokens of the runs, found by their content. Without them there is nothing of single tokens.
    n_fixed : int
        Pairs of tokens, drawn once: two words of a document that is drawn uniformly.
    n_held_out : int
        Held-out tokens at most, drawn once, each from a document that is drawn uniformly.
    seed : int
        Of these two drawings.

    Returns
    -------
    Dataset with dims ``chain`` and ``draw``
        Each number that is recorded of the state (``log_joint``, ``test_perplexity_state``, priors that are learnt);
        ``sorted_share`` (chain, draw, rank), the share of the tokens in the largest topic, the second largest and so on;
        ``same_topic`` (chain, draw, pair), the probability that two tokens have the same topic; ``log_predictive`` (chain,
        draw, held_out), log p of a held-out token in its document. The last two come from theta and phi of a snapshot: where
        there are at least 4 in common, draws are snapshots, else recorded iterations without these two, and the attribute
        ``left_out`` says why. Coordinate ``iteration`` of each draw.

    Raises
    ------
    MeasureError
        Runs of several labels or splits; a run that samples nothing; fewer than 4 recorded iterations after burn-in.
    """
    runs = each_run(runs)
    if len(labels := dict.fromkeys(labels_of(runs))) > 1:
        raise MeasureError(
            f"chains are runs that differ in their seeds alone; got {'; '.join(labels)}"
        )
    if len({(spec_of(run).train, spec_of(run).test) for run in runs}) > 1:
        raise MeasureError(
            "chains have the same training and test tokens; these runs have several splits"
        )
    wanted = (
        whole_number("number of pairs of tokens", n_fixed),
        whole_number("number of held-out tokens", n_held_out),
    )
    chains, own = chains_of(runs), spec_of(runs[0])
    known = {corpus.content_hash: corpus for corpus in corpora}
    at, left_out = _snapshots(runs), ""
    if own.train not in known:
        left_out = NO_TOKENS
    elif not all("theta" in run and "phi" in run for run in runs):
        left_out = NO_TOPICS
    elif len(at) < FEWEST:
        left_out = FEW
    rows = chains.runs if left_out else [run.sel(iteration=at) for run in runs]
    found = _of_iterations(rows)
    if not left_out:
        rng, test = np.random.default_rng(seed), known.get(own.test)
        pairs = _two_words(known[own.train], wanted[0], rng)
        held_out = _held_out(known[own.train], test, wanted[1], rng)
        found |= _of_tokens(runs, at, known[own.train], pairs, held_out)
    iteration = rows[0]["iteration"].values
    return xr.Dataset(
        found,
        {
            "chain": np.arange(len(runs)),
            "draw": np.arange(len(iteration)),
            "iteration": ("draw", iteration),
        },
        {"runs": [run.attrs["name"] for run in runs], "left_out": left_out},
    )


def _snapshots(runs: list[xr.Dataset]) -> list[int]:
    """Iterations after burn-in of which all runs have rows and a snapshot, at the largest of their distances."""
    taken = (
        {*run["snapshot_iteration"].values} if "snapshot" in run.dims else set() for run in runs
    )
    common = set.intersection(
        *taken, *({*run["iteration"].values[after_burn_in(run, 1)]} for run in runs)
    )
    at = np.array(sorted(common))
    return [int(each) for each in at[(at[-1] - at) % np.diff(at).max() == 0]] if len(at) > 1 else []


def _of_iterations(rows: list[xr.Dataset]) -> dict:
    """The numbers that all chains have recorded, and sorted shares of the topics."""
    found = {}
    for name in STATE:
        values = (
            np.stack([run[name].values for run in rows])
            if all(name in run for run in rows)
            else np.empty(0)
        )
        if values.size and np.isfinite(values).all() and np.ptp(values):
            found[name] = ("chain", "draw"), values, rows[0][name].attrs
    if all("n_k" in run for run in rows):
        widest = max(run["n_k"].shape[1] for run in rows)
        shares = np.zeros((len(rows), rows[0].sizes["iteration"], widest))
        for run, share in zip(rows, shares, strict=True):
            sizes = run["n_k"].values
            share[:, : sizes.shape[1]] = -np.sort(-sizes / sizes.sum(axis=1, keepdims=True), axis=1)
        about = {
            "long_name": "share of the tokens in the largest topic, the second largest and so on",
            "units": "",
        }
        found["sorted_share"] = ("chain", "draw", "rank"), shares, about
        found["rank"] = np.arange(1, widest + 1)
    return found


def _documents(corpus, n: int, rng) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Documents in random order: number, words, and the share of each among its tokens; empty ones are left out."""
    for d in rng.permutation(corpus.n_documents)[: TRIES * n].tolist():
        one = corpus.rows(d, d + 1)
        if one.n_pairs:
            yield d, one.words, one.counts / one.n_tokens


def _two_words(corpus, n: int, rng) -> list[tuple[int, int, int]]:
    """(document, word, other word) of pairs of tokens."""
    several = (
        (d, words, share) for d, words, share in _documents(corpus, n, rng) if len(words) > 1
    )
    return [
        (d, *rng.choice(words, 2, replace=False, p=share).tolist())
        for d, words, share in islice(several, n)
    ]


def _held_out(train, test, n: int, rng) -> list[tuple[int, int]]:
    """(document, word) of held-out tokens of documents that were trained on; none where other documents are held out."""
    if test is None or not train.same_rows(test):
        return []
    return [
        (d, int(rng.choice(words, p=share)))
        for d, words, share in islice(_documents(test, n, rng), n)
    ]


def _of_tokens(
    runs: list[xr.Dataset], at: list[int], train, pairs: list[tuple], held_out: list[tuple]
) -> dict:
    """The quantities of the fixed tokens at these snapshots."""
    same = np.empty((len(runs), len(at), len(pairs)))
    log_p = np.empty((len(runs), len(at), len(held_out)))
    for chain, run in enumerate(runs):
        places = np.searchsorted(run["snapshot_iteration"].values, at)
        for draw, place in enumerate(places):
            last = run.isel(snapshot=slice(0, place + 1))
            estimates = model_of(run).estimates(last_snapshot(last), train)
            phi, theta = np.asarray(estimates["phi"]), estimates["theta"]
            same[chain, draw] = _same_topic(theta, phi, pairs)
            log_p[chain, draw] = np.log(_mixed(theta, phi, held_out))
    words, titles = np.asarray(train.vocabulary, object), train.titles
    found = {
        "same_topic": (
            ("chain", "draw", "pair"),
            same,
            {"long_name": "probability that two tokens have the same topic", "units": ""},
        ),
        "pair": np.array([f"{words[w]} | {words[v]} in {titles[d]}" for d, w, v in pairs], object),
    }
    if held_out:
        found["log_predictive"] = (
            ("chain", "draw", "held_out"),
            log_p,
            {"long_name": "log p of a held-out token in its document", "units": "nats"},
        )
        found["held_out"] = np.array([f"{words[w]} in {titles[d]}" for d, w in held_out], object)
    return found


def _rows(theta, documents: np.ndarray) -> np.ndarray:
    """(given document, topic): theta of documents, read once each."""
    each, inverse = np.unique(documents, return_inverse=True)
    return (theta.rows(each) if hasattr(theta, "rows") else np.asarray(theta)[each])[inverse]


def _same_topic(theta, phi: np.ndarray, pairs: list[tuple]) -> np.ndarray:
    """(pair,): sum over k of p(k | d, w) p(k | d, v)."""
    d, w, v = np.array(pairs, int).reshape(-1, 3).T
    own, places = _rows(theta, d), np.arange(len(d))
    first, second = (responsibilities(own, phi.T, places, words) for words in (w, v))
    return (first * second).sum(axis=1)


def _mixed(theta, phi: np.ndarray, tokens: list[tuple]) -> np.ndarray:
    """(token,): sum over k of theta_dk phi_kw."""
    d, w = np.array(tokens, int).reshape(-1, 2).T
    return (_rows(theta, d) * phi[:, w].T).sum(axis=1)
