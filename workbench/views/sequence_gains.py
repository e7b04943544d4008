"""What the forecast of each sequence gains over the frequencies of training: bars, as figure 4 of Linderman et al. (2015)."""

from collections.abc import Iterator

import numpy as np

from workbench.corpus import Corpus
from workbench.measures import spec_of
from workbench.models.stick_breaking.scores import log_bases
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.views.elements import axis, element, panel
from workbench.views.picture import WHOSE, Picture, SideBySide, View, rows_of
from workbench.views.style import GREY, RC, Look

COLUMNS = ("sequence", "symbols", "gain_clipped", "gain_added")
BASES = ("unseen clipped at 1e-8", "0.1 added to each count")
MOST_NAMES = 24
"""Names of sequences that fit below the bars."""


def gains_by_sequence(
    scored: Scored, train: Corpus, test: Corpus
) -> dict[str, tuple[int, float, float]]:
    """By sequence with held-out symbols: how many these are, and the gain per symbol in nats over both bases of training.

    The bases are `workbench.models.stick_breaking.scores.log_bases`, clipped and with 0.1 added.
    """
    counts = np.bincount(train.words, train.counts, train.n_words)
    names, indptr, documents = test.by_sequence
    found = {}
    for at, name in enumerate(names):
        rows = documents[indptr[at] : indptr[at + 1]]
        n = int(scored.n_tokens[rows].sum())
        if n:
            pairs = np.isin(test.documents, rows)
            of_bases = [
                float(test.counts[pairs] @ base[test.words[pairs]]) for base in log_bases(counts)
            ]
            found[name] = (
                n,
                *((float(scored.log_likelihood[rows].sum()) - of_base) / n for of_base in of_bases),
            )
    return found


def gains_view(gains: dict[str, dict[str, float]], looks: dict[str, Look], title: str = ""):
    """Bars of the gain of each sequence as `holoviews.Overlay`: by label `Rectangles`, and a `Curve` along 0 for the legend."""
    names = list(dict.fromkeys(name for own in gains.values() for name in own))
    x, y = axis("sequence", "sequence"), axis("gain", "gain", "nats per symbol")
    width, parts = 0.8 / len(gains), []
    for place, (label, own) in enumerate(gains.items()):
        at = np.array([names.index(name) + (place - (len(gains) - 1) / 2) * width for name in own])
        ends = at[0] - width / 2, at[0] + width / 2
        colour = looks[label].colour
        bars = [
            (middle - width / 2, 0.0, middle + width / 2, gain)
            for middle, gain in zip(at, own.values(), strict=True)
        ]
        parts.append(
            element("Curve", (ends, (0.0, 0.0)), x, y, label=label, color=colour, linewidth=2.0)
        )
        parts.append(element("Rectangles", bars, facecolor=colour, edgecolor="none", linewidth=0))
    parts.append(element("HLine", 0.0, color=GREY, linewidth=0.6))
    spaced = range(0, len(names), -(-len(names) // MOST_NAMES))
    return panel(
        parts,
        title=title,
        xticks=[(at, names[at]) for at in spaced],
        xlim=(-0.6, len(names) - 0.4),
        xrotation=90,
        fig_rcparams=RC | {"xtick.labelsize": 6.0},
        padding=0.05,
    )


def draw_gains(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Both bases, a panel each, of one run of each label whose scores and symbols are at hand."""
    found, rows, drawn = {}, [], []
    for label, run in shown.first("test_perplexity", "sequence").items():
        spec = spec_of(run)
        if spec.hash in shown.scored and {spec.train, spec.test} <= shown.corpora.keys():
            found[label] = gains_by_sequence(
                shown.scored[spec.hash], shown.corpora[spec.train], shown.corpora[spec.test]
            )
            rows += rows_of(
                label, run, [[name, *numbers] for name, numbers in found[label].items()]
            )
            drawn.append(run)
    if found:
        panels = [
            gains_view(
                {of: {name: each[at] for name, each in own.items()} for of, own in found.items()},
                shown.looks,
                base,
            )
            for at, base in enumerate(BASES, start=1)
        ]
        yield view.picture(
            "Gain of each sequence per held-out symbol: log of its probability, mean over iterations after burn-in, given all "
            "symbols before it, less that of the training frequencies, whose unseen symbols are clipped at 1e-8 or which have "
            "0.1 added to each count. Above 0 the run forecasts better than frequencies. One run of each label.",
            panels,
            [*WHOSE, *COLUMNS],
            rows,
            runs=drawn,
        )
