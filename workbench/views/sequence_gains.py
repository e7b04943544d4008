"""Bars of how much the forecast of each sequence gains over training frequencies, as in Linderman et al. (2015), figure 4."""

from collections.abc import Iterator

import numpy as np

from workbench.corpus import Corpus
from workbench.measures import spec_of
from workbench.models.stick_breaking.scores import log_bases
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.views.elements import GREY, RC, Look, axis, element, panel
from workbench.views.picture import RUN_COLUMNS, Picture, RunsToDraw, View, rows_of

COLUMNS = ("sequence", "symbols", "gain_clipped", "gain_added")
BASES = ("unseen clipped at 1e-8", "0.1 added to each count")
MOST_NAMES = 24
"""Maximum of names of sequences below the bars."""


def gains_by_sequence(
    scored: Scored, train: Corpus, test: Corpus
) -> dict[str, tuple[int, float, float]]:
    """Return sequence → (number of held-out symbols, gain per symbol in nats over each of two baselines).

    The baselines are training frequencies, clipped and with 0.1 added; see `workbench.models.stick_breaking.scores.log_bases`.
    """
    counts = np.bincount(train.words, train.counts, train.n_words)
    names, indptr, documents = test.by_sequence
    gains = {}
    for index, name in enumerate(names):
        rows = documents[indptr[index] : indptr[index + 1]]
        n = int(scored.n_tokens[rows].sum())
        if n:
            pairs = np.isin(test.documents, rows)
            base_scores = [
                float(test.counts[pairs] @ base[test.words[pairs]]) for base in log_bases(counts)
            ]
            gains[name] = (
                n,
                *(
                    (float(scored.log_likelihood[rows].sum()) - base_score) / n
                    for base_score in base_scores
                ),
            )
    return gains


def gains_view(gains: dict[str, dict[str, float]], looks: dict[str, Look], title: str = ""):
    """Draw each sequence's gain for each label as bars (`Rectangles`), with a `Curve` per label for the legend."""
    names = list(
        dict.fromkeys(name for sequence_gains in gains.values() for name in sequence_gains)
    )
    x, y = axis("sequence", "sequence"), axis("gain", "gain", "nats per symbol")
    width, elements = 0.8 / len(gains), []
    for index, (label, sequence_gains) in enumerate(gains.items()):
        centres = np.array(
            [names.index(name) + (index - (len(gains) - 1) / 2) * width for name in sequence_gains]
        )
        ends = centres[0] - width / 2, centres[0] + width / 2
        colour = looks[label].colour
        bars = [
            (middle - width / 2, 0.0, middle + width / 2, gain)
            for middle, gain in zip(centres, sequence_gains.values(), strict=True)
        ]
        elements.append(
            element("Curve", (ends, (0.0, 0.0)), x, y, label=label, color=colour, linewidth=2.0)
        )
        elements.append(
            element("Rectangles", bars, facecolor=colour, edgecolor="none", linewidth=0)
        )
    elements.append(element("HLine", 0.0, color=GREY, linewidth=0.6))
    tick_range = range(0, len(names), -(-len(names) // MOST_NAMES))
    return panel(
        elements,
        title=title,
        xticks=[(centres, names[centres]) for centres in tick_range],
        xlim=(-0.6, len(names) - 0.4),
        xrotation=90,
        fig_rcparams=RC | {"xtick.labelsize": 6.0},
        padding=0.05,
    )


def draw_gains(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw each sequence's gain over each baseline for one run per label, if scores and corpora are available."""
    gains_by_label, rows, drawn_runs = {}, [], []
    for label, run in selection.first("test_perplexity", "sequence").items():
        spec = spec_of(run)
        if spec.hash in selection.scored and {spec.train, spec.test} <= selection.corpora.keys():
            gains_by_label[label] = gains_by_sequence(
                selection.scored[spec.hash],
                selection.corpora[spec.train],
                selection.corpora[spec.test],
            )
            rows += rows_of(
                label, run, [[name, *numbers] for name, numbers in gains_by_label[label].items()]
            )
            drawn_runs.append(run)
    if gains_by_label:
        panels = [
            gains_view(
                {
                    gain_label: {
                        name: numbers_of_sequence[column]
                        for name, numbers_of_sequence in sequence_gains.items()
                    }
                    for gain_label, sequence_gains in gains_by_label.items()
                },
                selection.looks,
                base,
            )
            for column, base in enumerate(BASES, start=1)
        ]
        yield view.picture(
            "Gain of each sequence per held-out symbol: log of its probability given all symbols before it, mean over "
            "iterations after burn-in, minus that of the training frequencies, with unseen symbols clipped at 1e-8 or 0.1 "
            "added to each count. Above 0 the forecast is better than frequencies. One run of each label.",
            panels,
            [*RUN_COLUMNS, *COLUMNS],
            rows,
            runs=drawn_runs,
        )
