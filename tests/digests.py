"""What short runs of every engine and option choice leave behind, as digests: the same bits before and after a change.

``python tests/digests.py`` writes tests/golden/digests.json, with the settings of each run in it.
"""

import hashlib
import json
import warnings
from pathlib import Path

import numpy as np
from pairwise import choices_of, every_pair_of_choices

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.models import LDA

GOLDEN = Path(__file__).parent / "golden" / "digests.json"
CLOCKS = {"elapsed", "cpu_time"}
NETWORKS = (
    {"model": "lda"}, {"model": "author-topic"}, {"model": "pachinko", "sizes": {"super": 2}},
    {"model": "hpam1", "n_topics": 5},
    {"model": "hpam2", "sizes": {"super": 2}},
)


def pair() -> tuple[Corpus, Corpus]:
    """Twelve documents by authors, and the tokens that were held out."""
    corpus, _ = LDA(4, 0.3, 0.2).simulate(12, 20, 25, 3)
    authors = tuple((f"author {d % 3}", f"author {3 + d % 2}")[: 1 + d % 2] for d in range(12))
    corpus = Corpus.from_pairs(
        corpus.documents, corpus.words, corpus.counts, n_documents=12, n_words=20, name="twelve", authors=authors
    )
    return wb.hold_out_tokens(corpus, fraction=0.1, seed=1)


def settings() -> list[dict]:
    """Settings of `wb.fit`, one for each run."""
    found = []
    for name in ENGINES:
        engine = get_engine(name)
        default = {option: about.default for option, about in options_of(engine).items()}
        rows = [{}]
        for option, values in choices_of(engine).items():
            rows += [{option: value} for value in values if value != default[option]]
        rows += [{k: v for k, v in row.items() if v != default[k]} for row in every_pair_of_choices(engine)]
        models = NETWORKS if name.startswith("network-") else ({},)
        rows += [{"r": r} for r in (0, 2, "inf")] if "r" in default else []
        for model in models:
            found += [{"engine": name, "options": row} | model for row in rows]
    seen = {json.dumps(each, sort_keys=True): each for each in found}
    return list(seen.values())


def digest(run) -> str:
    """sha256 of every array of a run but its clocks, names and dims included."""
    found = hashlib.sha256()
    for name in sorted({*run.data_vars, "snapshot_iteration"} - CLOCKS):
        values = run[name].values
        found.update(f"{name} {run[name].dims} {values.dtype} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def run_of(train, test, chosen: dict):
    """The run of settings, or None where they are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return wb.fit(train, test=test, n_iterations=12, burn_in=3, snapshot_every=5, progress=False,
                      **({"n_topics": 3} | chosen))


def main() -> None:
    train, test = pair()
    rows = []
    for chosen in settings():
        try:
            run = run_of(train, test, chosen)
        except ValueError:
            continue
        rows.append({"settings": chosen, "spec_hash": run.attrs["spec_hash"], "digest": digest(run)})
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    print(len(rows), "runs", len(settings()), "settings")


if __name__ == "__main__":
    main()
