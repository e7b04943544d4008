"""Prints the numbers of docs/perplexity.md: KOS with 20 topics, by cgs and svb; needs WORKBENCH_DATA.

``python docs/perplexity.py`` prints the table of all protocols, ``python docs/perplexity.py particles`` left-to-right estimates
of 40 unseen documents by more and more particles.
"""

import sys

import numpy as np

import workbench as wb

seen, unseen = wb.hold_out_documents(wb.load_corpus("kos"), fraction=0.1, seed=0)
train, test = wb.hold_out_tokens(seen, fraction=0.1, seed=0)


def fitted(engine: str):
    """A run of an engine on the training tokens."""
    return wb.fit(
        train, engine, n_topics=20, n_iterations=300, burn_in=100, test=test, seed=0, progress=False
    )


def table() -> None:
    """Prints a row for each protocol."""
    gibbs, variational = (
        wb.measures.perplexity_audit(fitted(engine), train, test, unseen, n_threads=2)
        for engine in ("cgs", "svb")
    )
    print("| protocol | cgs | ± | svb | ± | scored tokens |\n|---|---:|---:|---:|---:|---:|")
    for name in gibbs.index:
        numbers = [
            each.loc[name, column]
            for each in (gibbs, variational)
            for column in ("value", "standard_error")
        ]
        shown = [
            "" if number != number else f"{number:,.3f}" if abs(number) < 100 else f"{number:,.1f}"
            for number in numbers
        ]
        print(f"| `{name}` | {' | '.join(shown)} | {gibbs.loc[name, 'n_tokens']} |")


def particles() -> None:
    """Prints both left-to-right estimates by numbers of particles."""
    run, some = fitted("cgs"), unseen.of_documents(np.arange(40))
    print(
        "| particles | `left_to_right` | ± | `left_to_right_by_token` | ± |\n|---:|---:|---:|---:|---:|"
    )
    for n in (5, 20, 100, 500):
        audit = wb.measures.perplexity_audit(run, unseen=some, n_particles=n, n_threads=2)
        rows = (
            audit.loc[["left_to_right", "left_to_right_by_token"], ["value", "standard_error"]]
            .to_numpy()
            .ravel()
        )
        print(f"| {n} | " + " | ".join(f"{number:,.1f}" for number in rows) + " |")


particles() if sys.argv[1:] == ["particles"] else table()
