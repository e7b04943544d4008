"""The first sentences of a report: what was compared, the result with its error, cautions, and starts with worse bounds."""

import numpy as np
import pandas as pd

from workbench.measures import data_of, labels_of, paired_differences, summary
from workbench.measures.selection import has_course, last_iteration
from workbench.measures.starts import starts_behind
from workbench.numbers import format_interval, format_number, format_with_error, join_words
from workbench.report.gathering import ReportedRun, scores
from workbench.runs.progress import decimals

MOST_NAMED = 5
"""Maximum of labels that are listed by name."""


def findings(entries: list[ReportedRun]) -> list[str]:
    """Return the sentences that begin a report: what is compared, the best held-out perplexity, and cautions."""
    runs = [entry.dataset for entry in entries]
    labels, seeds = (
        list(dict.fromkeys(labels_of(runs))),
        sorted({entry.spec.seed for entry in entries}),
    )
    labels_text = (
        join_words(labels)
        if len(labels) <= MOST_NAMED
        else f"{len(labels)} combinations of engines and settings"
    )
    corpora = join_words(list(dict.fromkeys(entry.spec.corpus for entry in entries)))
    verb = "compares" if len(labels) > 1 else "shows"
    noun = "run" if len(entries) == 1 else "runs"
    seeds_text = f" with {len(seeds)} seeds" if len(seeds) > 1 else f" with seed {seeds[0]}"
    return [
        f"This report {verb} {labels_text} on {corpora}{seeds_text}, {len(entries):,} {noun} in total.",
        *_result(entries, labels),
        *(f"Note: {sentence}." for sentence in starts_behind(runs)),
    ]


def _result(entries: list[ReportedRun], labels: list[str]) -> list[str]:
    """Return two sentences: how the best held-out perplexity compares with the next, and cautions."""
    runs = [entry.dataset for entry in entries]
    table = summary(runs).to_dataframe()
    ranking = table[np.isfinite(table["test_perplexity"])].sort_values(
        "test_perplexity", kind="stable"
    )
    if not len(ranking):
        return [
            "Nothing was held out, so predictions cannot be compared.",
            "Note: bounds of different engines are not comparable.",
        ]
    best = ranking.index[0]
    first = ranking.iloc[0]
    digits = decimals(first["test_perplexity"])
    value_text = format_with_error(first["test_perplexity"], first["test_perplexity_se"], digits)
    if len(set(data_of(runs))) > 1:
        return [
            "The data differ, and perplexities of different data cannot be compared.",
            _caution(entries, ranking),
        ]
    if len(ranking) == 1:
        return [f"The held-out perplexity of {best} is {value_text}.", _caution(entries, ranking)]
    second = ranking.index[1]
    pair = paired_differences(runs, best, scored=scores(entries)).sel(label=second)
    low, high = float(pair["difference_low"]), float(pair["difference_high"])
    interval = format_interval(low, high, digits, sign=True)
    difference = format_number(float(pair["difference"]), digits)
    difference_text = (
        f"{difference} higher on the same splits and seeds"
        if np.isfinite(float(pair["difference"]))
        else "without a common pair"
    )
    result = f"The lowest held-out perplexity is that of {best}, {value_text}; next is {second}, {difference_text}"
    result += f" (95 % {interval})." if interval else "."
    return [
        result,
        _caution(
            entries,
            ranking,
            f"{second} may be as good as {best}: the interval includes 0" if low <= 0 else "",
        ),
    ]


def _caution(entries: list[ReportedRun], ranking: pd.DataFrame, first_reason: str = "") -> str:
    """Return a sentence with one or two cautions, the most important ones."""
    ends = {last_iteration(entry.dataset) for entry in entries if has_course(entry.dataset)}
    is_unfinished = any(
        last_iteration(entry.dataset) < entry.spec.n_iterations for entry in entries
    )
    reasons = [
        first_reason,
        "some runs are not finished"
        if is_unfinished
        else "the runs have different lengths"
        if len(ends) > 1
        else "",
        "each label has one run, so the variation between seeds is unknown"
        if (ranking["n_runs"] == 1).all()
        else "",
        "the errors are over seeds; another corpus or split may change the order of the labels",
    ]
    text = "; ".join([reason for reason in reasons if reason][:2])
    return f"Note: {text}."


def without_repeats(captions: list[str]) -> list[str]:
    """Return the captions with "see above" in place of sentences that an earlier caption already has."""
    known_sentences, texts = set(), []
    for caption in captions:
        sentences = caption.split(". ")
        new_sentences = [
            sentence for sentence in sentences if sentence.rstrip(".") not in known_sentences
        ]
        known_sentences |= {sentence.rstrip(".") for sentence in sentences}
        text = ". ".join(new_sentences)
        if len(new_sentences) < len(sentences):
            text = f"{text.rstrip('.')}. For the rest see above." if new_sentences else "See above."
        texts.append(text)
    return texts
