"""Settings of runs in words: what a caption and a report say so that somebody else can make them again."""

from __future__ import annotations

from workbench.report.commands import commands, unsaid
from workbench.report.gathering import Gathered

PERPLEXITY = {
    "test_perplexity_state": "The exponential of the mean negative log p(w|d) of the held-out tokens, with p(w|d) from the "
    "current state (sampled or variational) alone; lower is better.",
    "test_perplexity_average": "The same, with p(w|d) of each held-out token averaged over all iterations after "
    "burn-in; until burn-in is over it is that of the state.",
    "test_perplexity": "The headline: the running average for engines that sample, the state for those that do not.",
}


def settings(found: list[Gathered]) -> list[tuple[str, str]]:
    """(what, value) of everything that decides the runs; values in which they differ are all listed."""
    specs = [each.spec for each in found]

    def every(values) -> str:
        return "; ".join(dict.fromkeys(str(value) for value in values))

    rows = [("corpus", every(spec.corpus for spec in specs)), ("topics", every(spec.model.get("n_topics") for spec in specs))]
    for name in sorted({name for spec in specs for name in spec.model} - {"n_topics"}):
        per = {"alpha": " (per topic)", "beta": " (per word type)"}.get(name, "")
        rows.append((name + per, every(_number(spec.model[name]) for spec in specs if name in spec.model)))
    rows += [
        ("iterations", every(_reached(each) for each in found)),
        ("burn-in", every(f"{spec.burn_in} iterations" for spec in specs)),
        ("held-out tokens", every(_split(each) for each in found)),
        ("inference seeds", ", ".join(dict.fromkeys(str(spec.seed) for spec in specs))),
        ("threads", every(spec.n_threads for spec in specs)),
    ]
    return rows


def statistics(found: list[Gathered]) -> list[tuple[str, str]]:
    """(what, value) of the corpora, as far as the runs and their stores know them."""
    rows: dict[str, dict[str, None]] = {}

    def say(what, value):
        rows.setdefault(what, {})[f"{value:,}"] = None

    for each in found:
        train, test = each.corpora
        if train is not None:
            for name in ("documents", "words", "pairs", "tokens"):
                what = {"words": "word types", "pairs": "pairs (training)", "tokens": "tokens (training)"}.get(name, name)
                say(what, getattr(train, f"n_{name}"))
        else:
            for what, dim in (("documents", "document"), ("word types", "word")):
                if dim in each.dataset.sizes:
                    say(what, each.dataset.sizes[dim])
            say("tokens (training)", round(float(each.dataset["n_k"].values[-1].sum())))
        if test is not None:
            say("tokens (held out)", test.n_tokens)
    return [(what, "; ".join(values)) for what, values in rows.items()]


def remarks(found: list[Gathered]) -> list[str]:
    """What a reader must know before comparing the numbers, one sentence each."""
    notes = []
    reached = {int(each.dataset["iteration"].values[-1]) for each in found}
    if len(reached) > 1:
        span = f"{min(reached)} to {max(reached)} iterations"
        notes.append(f"The runs have different lengths ({span}); each counts as far as it got.")
    if any(int(each.dataset["iteration"].values[-1]) < each.spec.n_iterations for each in found):
        notes.append("Some runs are not finished; the numbers are those committed so far.")
    if len({each.spec.corpus for each in found}) > 1:
        notes.append("The runs are on different corpora, whose perplexities cannot be compared.")
    if all(each.spec.test is None for each in found):
        notes.append("Nothing was held out, so there is no held-out perplexity.")
    return notes + unsaid([each.spec for each in found])


def caption(text: str, found: list[Gathered]) -> str:
    """The plain-text caption of a figure: what it shows, the settings, the command."""
    lines = [text, "", *(f"{what}: {value}" for what, value in [*settings(found), *statistics(found)])]
    lines += ["", *remarks(found)] if remarks(found) else []
    return "\n".join([*lines, "", "Made by:", *(f"  {line}" for line in commands([each.spec for each in found]))]) + "\n"


def _reached(each: Gathered) -> str:
    reached = int(each.dataset["iteration"].values[-1])
    return str(reached) if reached >= each.spec.n_iterations else f"{reached} of {each.spec.n_iterations}"


def _split(each: Gathered) -> str:
    if each.spec.test is None:
        return "none"
    split = each.spec.split
    if not split:
        return "a test set handed over ready-made"
    per = split.get("per", "corpus")
    whose = "the corpus" if per == "corpus" else f"each {per}"
    share = f"{100 * split['fraction']:g} % of the tokens of {whose}" if "fraction" in split else f"some tokens of {whose}"
    return f"{share}, split seed {split.get('seed', 'unknown')}"


def _number(value) -> str:
    return ", ".join(f"{one:g}" for one in value) if isinstance(value, (list, tuple)) else f"{value:g}"
