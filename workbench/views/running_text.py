"""The words of a sequence one after the other, each in the colour of its probability given those before it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.measures import spec_of
from workbench.measures.next_words import NextWords, next_words, sequences_of
from workbench.views.elements import bare_panel, element, text_labels
from workbench.views.hidden_states import sequence_controls, sequence_named
from workbench.views.picture import (
    WHOSE,
    Menu,
    Picture,
    SideBySide,
    Slider,
    View,
    file_names,
    rows_of,
)
from workbench.views.style import RC

COLUMNS = ("sequence", "position", "word", "probability", "held_out", "expected", "chance")
ACROSS = {1: 44, 2: 92}
"""Letters of a line, by columns of the page."""
MOST_LINES, LINE = 16, 0.2
"""Lines of a picture, and the height of one, inches."""
SHADES = ["#f7fbff", "#e7f0f9", "#d7e6f4", "#c6dbef", "#aecfe6", "#94c1de"]
"""From improbable to probable: the paler half of Blues, so that letters are read on all of them."""
LETTERS = "#111111"
"""Colour of what is written on these, on a dark page too."""
MARKED = "#D55E00"
"""Of the frame of a word that was held out."""
MONOSPACED = RC | {"font.family": ["DejaVu Sans Mono"]}  # comes with matplotlib


def lines_of(words: list[str], across: int) -> list[tuple[int, int, int]]:
    """(line, begin, end) of each word, in letters, as many as fit into `MOST_LINES`; with spaces unless all have one letter."""
    space = int(any(len(word) > 1 for word in words))
    found, line, begin = [], 0, 0
    for word in words:
        if begin and begin + len(word) > across:
            line, begin = line + 1, 0
        if line == MOST_LINES:
            break
        found.append((line, begin, min(begin + len(word), across)))
        begin += len(word) + space
    return found


def text_view(found: NextWords, words: list[str], across: int, title: str = ""):
    """The words as `holoviews.Overlay` of `Polygons` below `Labels`; those that were held out have a frame."""
    places = lines_of(words, across)
    space = 0.5 * any(len(word) > 1 for word in words)
    logs = np.log10(np.maximum(found.probability[: len(places)], 1e-300))
    boxes = [
        ((begin - space, end + space), (-line - 0.45, -line + 0.45)) for line, begin, end in places
    ]
    cells = [
        {"x": [a, b, b, a], "y": [c, c, d, d], "p": value}
        for ((a, b), (c, d)), value in zip(boxes, logs, strict=True)
    ]
    low, high = (float(np.quantile(logs, at)) for at in (0.05, 0.95))
    written = [
        ((begin + end) / 2, -line - 0.03, word[: end - begin])
        for (line, begin, end), word in zip(places, words, strict=False)
    ]
    look = {
        "cmap": SHADES,
        "clim": (low, max(high, low + 1e-6)),
        "edgecolor": "none",
        "linewidth": 0,
    }
    parts = [
        element("Polygons", cells, ["x", "y"], "p", **look),
        text_labels(written, "word", 6.2, color=LETTERS),
    ]
    frames = [
        np.array([(a, c), (b, c), (b, d), (a, d), (a, c)])
        for ((a, b), (c, d)), marked in zip(boxes, found.held_out, strict=False)
        if marked
    ]
    parts += [element("Path", frames, color=MARKED, linewidth=0.8)] if frames else []
    n_lines = places[-1][0] + 1
    return bare_panel(
        parts,
        (7.0, 0.35 + LINE * n_lines),
        (-1.0, across + 1.0),
        (-n_lines + 0.4, 0.6),
        title=title,
        fig_rcparams=MONOSPACED,
    )


def text_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """The sequence, and from which of its words on it is shown, where it is long."""
    longest = max(map(len, sequences_of(run).values()))
    further = (
        (Slider("first", "From word", 0.0, float(longest - 1), 1.0, 0.0),) if longest > 60 else ()
    )
    return (*sequence_controls(run), *further)


def draw_text(
    view: View, shown: SideBySide, sequence: str | None = None, first: float = 0.0
) -> Iterator[Picture]:
    """The words of one sequence, a picture for each label whose training words are at hand, one in each row."""
    runs = {}
    for needed in view.needs:
        runs |= {
            label: run
            for label, run in shown.first(*needed.split()).items()
            if _words_at_hand(run, shown)
        }
    for (label, run), short in zip(runs.items(), file_names(runs), strict=True):
        name, rows_there = sequence_named(run, sequence)
        begin, most, spec = (
            min(int(first), len(rows_there) - 1),
            ACROSS[shown.columns] * MOST_LINES,
            spec_of(run),
        )
        corpora = [shown.corpora[each] for each in (spec.train, spec.test) if each in shown.corpora]
        found = next_words(run, name, corpora, begin, begin + most)
        if not len(found.words):
            continue
        vocabulary, positions = [str(word) for word in run["word"].values], run["position"].values
        words = [vocabulary[word] for word in found.words]
        n = len(lines_of(words, ACROSS[shown.columns]))
        texts = [
            _text(*each, vocabulary)
            for each in zip(words, *(part[:n] for part in found[3:]), strict=False)
        ]
        rows = [
            [
                name,
                int(positions[row]),
                word,
                float(p),
                int(held_out),
                vocabulary[expected[0]],
                float(chances[0]),
            ]
            for row, word, p, held_out, expected, chances in zip(
                found.rows[:n],
                words,
                found.probability,
                found.held_out,
                found.expected,
                found.chances,
                strict=False,
            )
        ]
        panels = [
            text_view(
                found,
                words,
                ACROSS[shown.columns],
                f"{label}, {name} from {positions[found.rows[0]]}",
            )
        ]
        picture = view.picture(
            f"Words of the sequence {name}, the darker the more probable given all words before them and the parameters drawn "
            "last (logarithmic, of the words shown). A framed word was held out. On a page, the words that were expected are "
            "told under the pointer.",
            panels,
            [*WHOSE, *COLUMNS],
            rows_of(label, run, rows),
            legend=False,
            runs=[run],
            hover={"Polygons": [texts]},
            height=0.35 + LINE * (lines_of(words, ACROSS[shown.columns])[-1][0] + 1),
        )
        yield (
            picture
            if len(runs) == 1
            else replace(picture, name=f"{picture.name}-{short}", title=f"{picture.title}, {label}")
        )


def _words_at_hand(run: xr.Dataset, shown: SideBySide) -> bool:
    """Whether the training words are known, one or none in each row."""
    train = shown.corpora.get(spec_of(run).train)
    return train is not None and bool((train.document_tokens <= 1).all())


def _text(
    word: str, probability: float, expected: np.ndarray, chances: np.ndarray, vocabulary: list[str]
) -> str:
    """What a word says when it is pointed at."""
    others = "\n".join(
        f"{vocabulary[one]} {chance:.1%}" for one, chance in zip(expected, chances, strict=True)
    )
    return f"{word}: {probability:.2%}\nexpected:\n{others}"
