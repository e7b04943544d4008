"""What a report says first, in three sentences: what was compared, what came out with its error, what to be careful about."""

import numpy as np

from workbench.measures import data_of, labels_of, paired_differences, summary
from workbench.measures.selection import has_course, last_iteration
from workbench.numbers import format_interval, format_number, format_with_error, join_words
from workbench.report.gathering import Gathered, scores
from workbench.runs.progress import decimals

MOST_NAMED = 5
"""Labels that are named one by one."""


def findings(found: list[Gathered]) -> list[str]:
    """The three sentences about some runs."""
    runs = [each.dataset for each in found]
    labels, seeds = list(dict.fromkeys(labels_of(runs))), sorted({each.spec.seed for each in found})
    named = (
        join_words(labels)
        if len(labels) <= MOST_NAMED
        else f"{len(labels)} combinations of engines and settings"
    )
    corpora = join_words(list(dict.fromkeys(each.spec.corpus for each in found)))
    verb = "Compared are" if len(labels) > 1 else "Shown is"
    of = f" with {len(seeds)} seeds" if len(seeds) > 1 else f" with seed {seeds[0]}"
    return [
        f"{verb} {named} on {corpora}{of}, {_times(len(found), 'run')} in all.",
        *_result(found, labels),
    ]


def _result(found: list[Gathered], labels: list[str]) -> list[str]:
    """What came out, and what to be careful about."""
    runs = [each.dataset for each in found]
    table = summary(runs).to_dataframe()
    ranked = table[np.isfinite(table["test_perplexity"])].sort_values(
        "test_perplexity", kind="stable"
    )
    if not len(ranked):
        return [
            "Nothing was held out, so no number says which predicts best.",
            "Be careful: bounds of different engines are not comparable.",
        ]
    best = ranked.index[0]
    first = ranked.iloc[0]
    digits = decimals(first["test_perplexity"])
    told = format_with_error(first["test_perplexity"], first["test_perplexity_se"], digits)
    if len(set(data_of(runs))) > 1:
        return [
            "The data differ, and perplexities of different data cannot be compared.",
            _care(found, ranked),
        ]
    if len(ranked) == 1:
        return [f"The held-out perplexity of {best} is {told}.", _care(found, ranked)]
    second = ranked.index[1]
    pair = paired_differences(runs, best, scored=scores(found)).sel(label=second)
    low, high = float(pair["difference_low"]), float(pair["difference_high"])
    interval = format_interval(low, high, digits, sign=True)
    more = format_number(float(pair["difference"]), digits)
    apart = (
        f"{more} higher on the same splits and seeds"
        if np.isfinite(float(pair["difference"]))
        else "without a common pair"
    )
    result = f"The lowest held-out perplexity is that of {best}, {told}; next is {second}, {apart}"
    result += f" (95 % {interval})." if interval else "."
    return [
        result,
        _care(
            found,
            ranked,
            f"{second} may be as good as {best}: that interval includes 0" if low <= 0 else "",
        ),
    ]


def _care(found: list[Gathered], ranked, close: str = "") -> str:
    """What to be careful about: the two weightiest reasons."""
    ends = {last_iteration(each.dataset) for each in found if has_course(each.dataset)}
    unfinished = any(last_iteration(each.dataset) < each.spec.n_iterations for each in found)
    reasons = [
        close,
        "some runs are not finished"
        if unfinished
        else "the runs have different lengths"
        if len(ends) > 1
        else "",
        "each label has one run, so nothing is known of other seeds"
        if (ranked["n_runs"] == 1).all()
        else "",
        "the errors are over seeds, and another corpus or split may order the labels otherwise",
    ]
    said = "; ".join([reason for reason in reasons if reason][:2])
    return f"Be careful: {said}."


def _times(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def once(captions: list[str]) -> list[str]:
    """The captions without the sentences that stood in one before; those that have lost some say so."""
    seen, found = set(), []
    for caption in captions:
        sentences = caption.split(". ")
        kept = [sentence for sentence in sentences if sentence.rstrip(".") not in seen]
        seen |= {sentence.rstrip(".") for sentence in sentences}
        said = ". ".join(kept)
        if len(kept) < len(sentences):
            said = f"{said.rstrip('.')}. For the rest see above." if kept else "See above."
        found.append(said)
    return found
