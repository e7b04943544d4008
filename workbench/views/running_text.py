"""The words of a sequence as running text, coloured by their probability given the preceding words."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.rows import NextWords, next_words, sequences_of
from workbench.views.elements import RC, bare_panel, element, text_labels
from workbench.views.hidden_states import sequence_controls, sequence_named
from workbench.views.picture import (
    RUN_COLUMNS,
    Menu,
    Picture,
    RunsToDraw,
    Slider,
    View,
    file_names,
    rows_of,
)

COLUMNS = ("sequence", "position", "word", "probability", "held_out", "expected", "chance")
ACROSS = {1: 44, 2: 92}
"""Columns of the page → letters of a line."""
MOST_LINES, LINE = 16, 0.2
"""Lines of a picture, and the height of one, inches."""
SHADES = ["#f7fbff", "#e7f0f9", "#d7e6f4", "#c6dbef", "#aecfe6", "#94c1de"]
"""From improbable to probable: the paler half of Blues, so that text is legible on all of them."""
LETTERS = "#111111"
"""Colour of the text on these, also on a dark page."""
MARKED = "#D55E00"
"""Colour of the frame of a held-out word."""
MONOSPACED = RC | {"font.family": ["DejaVu Sans Mono"]}  # comes with matplotlib


def lines_of(words: list[str], across: int) -> list[tuple[int, int, int]]:
    """Return (line, first column, last column) of each word that fits on `MOST_LINES` lines of ``across`` letters."""
    space = int(any(len(word) > 1 for word in words))
    positions, line, start = [], 0, 0
    for word in words:
        if start and start + len(word) > across:
            line, start = line + 1, 0
        if line == MOST_LINES:
            break
        positions.append((line, start, min(start + len(word), across)))
        start += len(word) + space
    return positions


def text_view(predictions: NextWords, words: list[str], across: int, title: str = ""):
    """Draw running text as `Polygons` and `Labels`, coloured by probability; held-out words are framed."""
    positions = lines_of(words, across)
    space = 0.5 * any(len(word) > 1 for word in words)
    logs = np.log10(np.maximum(predictions.probability[: len(positions)], 1e-300))
    boxes = [
        ((start - space, end + space), (-line - 0.45, -line + 0.45))
        for line, start, end in positions
    ]
    cells = [
        {"x": [a, b, b, a], "y": [c, c, d, d], "p": value}
        for ((a, b), (c, d)), value in zip(boxes, logs, strict=True)
    ]
    low, high = (float(np.quantile(logs, level)) for level in (0.05, 0.95))
    labels = [
        ((start + end) / 2, -line - 0.03, word[: end - start])
        for (line, start, end), word in zip(positions, words, strict=False)
    ]
    look = {
        "cmap": SHADES,
        "clim": (low, max(high, low + 1e-6)),
        "edgecolor": "none",
        "linewidth": 0,
    }
    elements = [
        element("Polygons", cells, ["x", "y"], "p", **look),
        text_labels(labels, "word", 6.2, color=LETTERS),
    ]
    frames = [
        np.array([(a, c), (b, c), (b, d), (a, d), (a, c)])
        for ((a, b), (c, d)), is_held_out in zip(boxes, predictions.held_out, strict=False)
        if is_held_out
    ]
    elements += [element("Path", frames, color=MARKED, linewidth=0.8)] if frames else []
    n_lines = positions[-1][0] + 1
    return bare_panel(
        elements,
        (7.0, 0.35 + LINE * n_lines),
        (-1.0, across + 1.0),
        (-n_lines + 0.4, 0.6),
        title=title,
        fig_rcparams=MONOSPACED,
    )


def text_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """Return the controls for choosing a sequence and, if one is long, the word at which the display begins."""
    longest = max(map(len, sequences_of(run).values()))
    slider = (
        (Slider("first", "From word", 0.0, float(longest - 1), 1.0, 0.0),) if longest > 60 else ()
    )
    return (*sequence_controls(run), *slider)


def draw_text(
    view: View, selection: RunsToDraw, sequence: str | None = None, first: float = 0.0
) -> Iterator[Picture]:
    """Draw the words of one sequence for one run per label, if the corpus is available with one word per document."""
    runs = {}
    for variables in view.needs:
        runs |= {
            label: run
            for label, run in selection.first(*variables.split()).items()
            if _has_single_words(run, selection)
        }
    for (label, run), short in zip(runs.items(), file_names(runs), strict=True):
        name, documents = sequence_named(run, sequence)
        start = min(int(first), len(documents) - 1)
        most = ACROSS[selection.columns] * MOST_LINES
        predictions = next_words(run, name, selection.corpora_of(run), start, start + most)
        if not len(predictions.words):
            continue
        vocabulary, positions = [str(word) for word in run["word"].values], run["position"].values
        words = [vocabulary[word] for word in predictions.words]
        n = len(lines_of(words, ACROSS[selection.columns]))
        texts = [
            _hover_text(*word_and_prediction, vocabulary)
            for word_and_prediction in zip(
                words, *(column[:n] for column in predictions[3:]), strict=False
            )
        ]
        rows = [
            [
                name,
                int(positions[row]),
                word,
                float(p),
                int(held_out),
                vocabulary[expected_words[0]],
                float(chances[0]),
            ]
            for row, word, p, held_out, expected_words, chances in zip(
                predictions.rows[:n],
                words,
                predictions.probability,
                predictions.held_out,
                predictions.expected,
                predictions.chances,
                strict=False,
            )
        ]
        panels = [
            text_view(
                predictions,
                words,
                ACROSS[selection.columns],
                f"{label}, {name} from {positions[predictions.rows[0]]}",
            )
        ]
        picture = view.picture(
            f"Words of the sequence {name}; darker words are more probable given all words before them and the last parameter "
            "draw (logarithmic, relative to the words shown). Framed words were held out. On a page, hover shows the most "
            "probable words.",
            panels,
            [*RUN_COLUMNS, *COLUMNS],
            rows_of(label, run, rows),
            legend=False,
            runs=[run],
            hover={"Polygons": [texts]},
            height=0.35 + LINE * (lines_of(words, ACROSS[selection.columns])[-1][0] + 1),
        )
        yield (
            picture
            if len(runs) == 1
            else replace(picture, name=f"{picture.name}-{short}", title=f"{picture.title}, {label}")
        )


def _has_single_words(run: xr.Dataset, selection: RunsToDraw) -> bool:
    """Return whether the training corpus is available and has at most one word per document."""
    train = selection.corpora.get(spec_of(run).train)
    return train is not None and bool((train.document_tokens <= 1).all())


def _hover_text(
    word: str,
    probability: float,
    expected_words: np.ndarray,
    chances: np.ndarray,
    vocabulary: list[str],
) -> str:
    """Return the tooltip of a word: its probability, and the words that were most probable instead."""
    others = "\n".join(
        f"{vocabulary[other]} {chance:.1%}"
        for other, chance in zip(expected_words, chances, strict=True)
    )
    return f"{word}: {probability:.2%}\nexpected:\n{others}"
