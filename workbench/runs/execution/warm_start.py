"""Warm starts: the counts of a run that another one begins from, and the record of where they came from."""

import numpy as np

from workbench.corpus import Corpus
from workbench.engines.engine import WarmStart
from workbench.models.lda import LDA, check_topics
from workbench.runs.execution.run import open_run
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.archive import counts_hash


def warm_start_from(
    run, train: Corpus, n_topics: int | None = None, store=None
) -> tuple[WarmStart, dict]:
    """The last counts of a run (a `Run`, path, name or Dataset), to begin another one from, and the record of it.

    The words must be the same. Where the documents are the same too, each of them goes on from where it was, and
    where a sampler has seen the very same corpus, each token; otherwise only the topics are taken. A run with fewer
    topics is padded with empty ones; of a run with more the largest are taken, and the tokens of the others have no
    topic. Without ``n_topics`` there are as many as an LDA has by default. Raises SpecError, StoreError or ModelError.

    Returns
    -------
    warm_start : WarmStart
    record : dict
        ``name``, ``hash`` (of its spec), ``iteration``, ``counts`` (hash of what was taken), ``n_topics`` that it had
        and ``dropped``, the share of its tokens whose topics were not taken.
    """
    import xarray as xr

    n_topics = check_topics(LDA.n_topics if n_topics is None else n_topics)
    dataset = run if isinstance(run, xr.Dataset) else open_run(run, store)
    name = dataset.attrs.get("name", "the run")
    if "n_kw" not in dataset or not dataset.sizes.get("snapshot"):
        raise SpecError(
            f"{name} has no counts yet to start from; let it take its first snapshot, or stop it"
        )
    if tuple(dataset["word"].values) != train.vocabulary:
        raise SpecError(
            f"{name} has another vocabulary than the corpus; a run can start from one with the same words only"
        )
    spec, last = RunSpec.from_json(dataset.attrs["spec"]), dataset.isel(snapshot=-1)
    same_documents = tuple(dataset["document"].values) == train.titles
    n_kw = last["n_kw"].values.astype(np.float64)
    # each keeps its rank by number
    taken = np.sort(np.argsort(-n_kw.sum(axis=1), kind="stable")[:n_topics])
    place = np.full(len(n_kw), -1, np.int32)
    place[taken] = np.arange(len(taken))
    more = 0, n_topics - len(taken)
    n_dk = (
        np.pad(last["n_dk"].values.astype(np.float64)[:, taken], [(0, 0), more])
        if same_documents
        else None
    )
    warm_start = WarmStart(
        np.pad(n_kw[taken], [more, (0, 0)]),
        None if n_dk is None else np.ascontiguousarray(n_dk),
        place[last["token_topics"].values]
        if "token_topics" in dataset and spec.train == train.content_hash
        else None,
    )
    total = n_kw.sum()
    return warm_start, {
        "name": name,
        "hash": spec.hash,
        "iteration": int(last["snapshot_iteration"]),
        "counts": counts_hash(warm_start),
        "n_topics": int(np.count_nonzero(n_kw.sum(axis=1) > 0)),
        "dropped": round(float(1 - n_kw[taken].sum() / total), 6) if total else 0.0,
    }
