"""A short run of every engine, with what it came to when it was written down: ``python tests/short_runs.py`` writes it anew."""

import contextlib
import json
from pathlib import Path

from toys import data_for, dated, placed, records_of, sequenced

import workbench as wb
from workbench.corpus import Corpus
from workbench.engines import ENGINES, get_engine
from workbench.errors import InputError
from workbench.models import LDA
from workbench.models.options import option_fields
from workbench.records import Records
from workbench.runs.spec import make_model

GOLDEN = Path(__file__).parent / "golden" / "short_runs.json"
CLOCKS = ("elapsed", "cpu_time")


def with_needed(engine, corpus: Corpus) -> Corpus:
    """The corpus with what the model of an engine needs to know of a document: nothing, its year, inputs or a sequence."""
    for known in (corpus, dated(corpus), placed(corpus), sequenced(corpus)):
        with contextlib.suppress(InputError):
            make_model(engine).for_data(data_for(engine, known))
            return known
    raise AssertionError(
        f"the model of {engine.name} takes no corpus that tests/toys.py makes; "
        "write there what it needs of a document, and add it here"
    )


def short_settings(name: str) -> tuple:
    """(training data, settings) of a run of twelve iterations on twelve documents."""
    corpus, _ = LDA(4, 0.3, 0.2).simulate(12, 20, 25, 3)
    authors = tuple((f"author {d % 3}", f"author {3 + d % 2}")[: 1 + d % 2] for d in range(12))
    corpus = Corpus.from_pairs(
        corpus.documents,
        corpus.words,
        corpus.counts,
        n_documents=12,
        n_words=20,
        name="twelve",
        authors=authors,
    )
    engine = get_engine(name)
    corpus = with_needed(engine, corpus)
    if engine.model.data is Records:
        train, test = wb.hold_out_cells(records_of(corpus), fraction=0.1, seed=1)
    else:
        train, test = wb.hold_out_tokens(corpus, fraction=0.1, seed=1)
    takes = engine.model.takes
    model = ({"model": "author-topic"} if "sizes" in takes else {}) | (
        {"n_topics": 3} if "n_topics" in takes else {}
    )
    return train, dict(test=test, n_iterations=12, burn_in=3, **model)


def run_of(name: str, **more):
    """The Dataset of a short run."""
    train, settings = short_settings(name)
    return wb.fit(train, name, progress=False, **settings, **more)


def short_run(name: str) -> dict:
    """The hash of the spec of a short run from the start that was the first default, and its last numbers by name."""
    about = option_fields(get_engine(name).options)
    start = {
        option: field.metadata["before"]
        for option, field in about.items()
        if option in ("init", "start_sweeps")
    }
    run = run_of(name, options=start)
    last = run.isel(iteration=-1)
    numbers = {
        each: last[each].values.tolist()
        for each in run.data_vars
        if run[each].dims[:1] == ("iteration",)
    }
    return {
        "spec_hash": run.attrs["spec_hash"],
        "final": {each: numbers[each] for each in sorted(numbers) if each not in CLOCKS},
    }


if __name__ == "__main__":
    GOLDEN.write_text(
        "{\n" + ",\n".join(f'"{name}": {json.dumps(short_run(name))}' for name in ENGINES) + "\n}\n"
    )
