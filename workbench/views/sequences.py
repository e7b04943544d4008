"""Sequences: hidden states along one, words by their loadings, its words by their probabilities, and the gain of each sequence.

Paths are those of linear dynamical systems, state probabilities those of hidden Markov models. Gains over training frequencies
are drawn as in Linderman et al. (2015), figure 4.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from workbench.corpus import Corpus
from workbench.measures import spec_of
from workbench.measures.rows import NextWords, next_words, sequences_of
from workbench.models.stick_breaking.scores import log_bases
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.views.elements import (
    COLOURS,
    GREY,
    INK,
    RC,
    ROW,
    Look,
    axis,
    band,
    bare_panel,
    element,
    fitting,
    height_of,
    panel,
    text_labels,
)
from workbench.views.picture import (
    MOST_PANELS,
    WHOSE,
    Menu,
    Picture,
    SideBySide,
    Slider,
    View,
    file_names,
    fitting_panels,
    menu_of,
    rows_of,
)

PATHS = ("sequence", "position", "state_dim", "mean", "deviation")
CHANCES = ("sequence", "position", "hidden_state", "state_probability")
PANEL = (3.4, 1.3)
"""Width and height of a path, inches."""
MOST_CELLS = 300
"""Maximum of cells across a picture; in longer sequences each cell is the mean of several positions."""
BAND = 2.0
"""Half-width of a band, in standard deviations."""


def path_view(
    positions: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    name: str,
    colour: str = COLOURS[0],
    forecast: float | None = None,
    title: str = "",
):
    """Draw one dimension of the states along a sequence: mean (`Curve`), band (`Area`), and where forecasts begin."""
    x, y = axis("position", "position"), axis("state", name)
    edges = (positions, mean - BAND * deviation, mean + BAND * deviation)
    parts = [
        band(edges, x, y, colour),
        element("Curve", (positions, mean), x, y, color=colour, linewidth=0.9),
    ]
    if forecast is not None:
        parts.append(element("VLine", forecast, color=GREY, linewidth=0.7, linestyle="--"))
    return panel(
        parts,
        title=title,
        aspect="auto",
        fig_inches=PANEL,
        xlim=(positions[0], positions[-1]),
        fig_rcparams=RC,
    )


def state_probability_view(
    positions: np.ndarray, chances: np.ndarray, names: list[str], title: str = ""
):
    """Draw state probabilities (position, state), a row per state, coloured from 0 to 1."""
    n_per_cell = -(-len(positions) // MOST_CELLS)
    first_positions = np.arange(0, len(positions), n_per_cell)
    means = (
        np.add.reduceat(chances, first_positions, axis=0)
        / np.diff(np.append(first_positions, len(positions)))[:, None]
    )
    centres = positions[first_positions] + (n_per_cell - 1) / 2
    if len(centres) == 1:
        edges = np.array([centres[0] - 0.5, centres[0] + 0.5])
    else:
        between = (centres[1:] + centres[:-1]) / 2
        edges = np.concatenate(
            [[2 * centres[0] - between[0]], between, [2 * centres[-1] - between[-1]]]
        )
    order = np.argsort(-chances.sum(axis=0), kind="stable")
    rows = np.arange(len(order) + 1)
    mesh = element(
        "QuadMesh",
        (edges, -rows[::-1] + 0.5, means[:, order[::-1]].T),
        [axis("position", "position"), axis("state", " ")],
        vdims=axis("p", "probability"),
        cmap="Blues",
        clim=(0.0, 1.0),
    )
    return panel(
        [mesh],
        title=title,
        aspect="auto",
        show_grid=False,
        fig_inches=(3.4, 0.7 + max(1.4 * ROW * len(order), 0.8)),
        yticks=[(-place, names[state]) for place, state in enumerate(order.tolist())],
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


sequence_controls = menu_of("sequence", "Sequence", sequences_of)


def sequence_named(run: xr.Dataset, name: str | None) -> tuple[str, np.ndarray]:
    """Return (name, documents in order) of a sequence; for an unknown name, of the first sequence."""
    sequences = sequences_of(run)
    name = name if name in sequences else next(iter(sequences))
    return name, sequences[name]


def draw_paths(view: View, shown: SideBySide, sequence: str | None = None) -> Iterator[Picture]:
    """Draw the states along one sequence (by default the first) for one run per label."""
    runs, rows, chosen = shown.first("states_mean", "states_deviation", "sequence"), [], {}
    for label, run in runs.items():
        name, documents = sequence_named(run, sequence)
        positions, mean, deviation = (
            run[variable].values[documents]
            for variable in ("position", "states_mean", "states_deviation")
        )
        forecast = _start_of_forecasts(run, documents, positions, shown)
        for dim in np.argsort(-mean.var(axis=0), kind="stable").tolist():
            numbers = zip(
                positions.tolist(), mean[:, dim].tolist(), deviation[:, dim].tolist(), strict=True
            )
            rows += rows_of(label, run, [[name, position, dim, m, d] for position, m, d in numbers])
            path = positions, mean[:, dim], deviation[:, dim]
            chosen[label, dim] = (*path, f"state {dim}", shown.looks[label].colour, forecast, label)
    drawn, hidden = dict(list(chosen.items())[:MOST_PANELS]), len(chosen) - MOST_PANELS
    left_out = f" {hidden} further paths are in the table only." if hidden > 0 else ""
    panels = [path_view(*arguments) for arguments in drawn.values()]
    yield view.picture(
        f"Each dimension of the hidden states along the sequence {name}: mean over iterations ± {BAND:g} standard deviations "
        "of the draws. After a dashed line the rows are held out and the states are forecasts. Dimensions are sorted by "
        "variance. States are identified only up to a linear transformation, so only their joint path is meaningful. One run "
        f"of each label.{left_out}",
        panels,
        [*WHOSE, *PATHS],
        rows,
        legend=False,
        height=PANEL[1],
        runs=list(runs.values()),
    )


def _start_of_forecasts(
    run: xr.Dataset, documents: np.ndarray, positions: np.ndarray, shown: SideBySide
) -> float | None:
    """Return the position at which the held-out end of a sequence begins; None without one, or if unknown."""
    train = shown.corpora.get(spec_of(run).train)
    if (
        train is None
        or train.document_tokens[documents[-1]] > 0
        or not train.document_tokens[documents].any()
    ):
        return None
    return float(positions[np.flatnonzero(train.document_tokens[documents])[-1]]) + 0.5


def draw_state_probabilities(
    view: View, shown: SideBySide, sequence: str | None = None
) -> Iterator[Picture]:
    """Draw the state probabilities of hidden Markov models along one sequence."""
    runs, rows, panels, cell_note = (
        shown.first("state_probability", "emissions", "sequence"),
        [],
        [],
        "",
    )
    drawn, left_out = fitting_panels(runs)
    for label, run in runs.items():
        name, documents = sequence_named(run, sequence)
        positions = run["position"].values[documents]
        chances = (
            run["state_probability"]
            .isel(snapshot=-1)
            .transpose("document", "hidden_state")
            .values[documents]
        )
        rows += rows_of(
            label,
            run,
            [
                [name, position, state, float(chances[index, state])]
                for index, position in enumerate(positions.tolist())
                for state in range(chances.shape[1])
            ],
        )
        if len(documents) > MOST_CELLS:
            cell_note = f" Each cell is the mean of {-(-len(documents) // MOST_CELLS)} positions."
        if label in drawn:
            panels.append(state_probability_view(positions, chances, names_of_states(run), label))
    yield view.picture(
        f"Probability of each hidden state along the sequence {name}, given all training words and the last parameter draw; "
        "full colour: 1. States are named by the words with the largest excess over the mean of all states; the most frequent "
        f"state is on top.{cell_note} One run of each label.{left_out}",
        panels,
        [*WHOSE, *CHANCES],
        rows,
        legend=False,
        height=height_of(panels),
        runs=list(runs.values()),
    )


def names_of_states(run: xr.Dataset, n: int = 3, letters: int = 26) -> list[str]:
    """Return a name per hidden state: its number, and the words that distinguish it most from other states."""
    emissions = run["emissions"].isel(snapshot=-1).transpose("hidden_state", "word").values
    excess = emissions * np.log(
        np.maximum(emissions, 1e-300) / np.maximum(emissions.mean(axis=0), 1e-300)
    )
    words = run["word"].values[np.argsort(-excess, axis=1, kind="stable")[:, :n]]
    return [
        fitting(f"{state}: {' '.join(map(str, state_words))}", letters)
        for state, state_words in enumerate(words)
    ]


TEXT_COLUMNS = ("sequence", "position", "word", "probability", "held_out", "expected", "chance")
ACROSS = {1: 44, 2: 92}
"""Columns of the page → letters of a line."""
MOST_LINES, LINE_HEIGHT = 16, 0.2
"""Lines of a picture, and the height of one, inches."""
SHADES = ["#f7fbff", "#e7f0f9", "#d7e6f4", "#c6dbef", "#aecfe6", "#94c1de"]
"""From improbable to probable: the paler half of Blues, so that text is legible on all of them."""
LETTER_COLOUR = "#111111"
"""Colour of the text on these, also on a dark page."""
MARKED = "#D55E00"
"""Colour of the frame of a held-out word."""
MONOSPACED = RC | {"font.family": ["DejaVu Sans Mono"]}  # comes with matplotlib


def lines_of(words: list[str], across: int) -> list[tuple[int, int, int]]:
    """Return (line, first column, last column) of each word that fits on `MOST_LINES` lines of ``across`` letters."""
    space = int(any(len(word) > 1 for word in words))
    places, line, start = [], 0, 0
    for word in words:
        if start and start + len(word) > across:
            line, start = line + 1, 0
        if line == MOST_LINES:
            break
        places.append((line, start, min(start + len(word), across)))
        start += len(word) + space
    return places


def text_view(predictions: NextWords, words: list[str], across: int, title: str = ""):
    """Draw running text as `Polygons` and `Labels`, coloured by probability; held-out words are framed."""
    places = lines_of(words, across)
    space = 0.5 * any(len(word) > 1 for word in words)
    logs = np.log10(np.maximum(predictions.probability[: len(places)], 1e-300))
    boxes = [
        ((start - space, end + space), (-line - 0.45, -line + 0.45)) for line, start, end in places
    ]
    cells = [
        {"x": [a, b, b, a], "y": [c, c, d, d], "p": value}
        for ((a, b), (c, d)), value in zip(boxes, logs, strict=True)
    ]
    low, high = (float(np.quantile(logs, level)) for level in (0.05, 0.95))
    labels = [
        ((start + end) / 2, -line - 0.03, word[: end - start])
        for (line, start, end), word in zip(places, words, strict=False)
    ]
    look = {
        "cmap": SHADES,
        "clim": (low, max(high, low + 1e-6)),
        "edgecolor": "none",
        "linewidth": 0,
    }
    parts = [
        element("Polygons", cells, ["x", "y"], "p", **look),
        text_labels(labels, "word", 6.2, color=LETTER_COLOUR),
    ]
    frames = [
        np.array([(a, c), (b, c), (b, d), (a, d), (a, c)])
        for ((a, b), (c, d)), is_held_out in zip(boxes, predictions.held_out, strict=False)
        if is_held_out
    ]
    parts += [element("Path", frames, color=MARKED, linewidth=0.8)] if frames else []
    n_lines = places[-1][0] + 1
    return bare_panel(
        parts,
        (7.0, 0.35 + LINE_HEIGHT * n_lines),
        (-1.0, across + 1.0),
        (-n_lines + 0.4, 0.6),
        title=title,
        fig_rcparams=MONOSPACED,
    )


def text_controls(run: xr.Dataset) -> tuple[Menu | Slider, ...]:
    """Return the controls that choose a sequence, and in a long one the first word shown."""
    longest = max(map(len, sequences_of(run).values()))
    slider = (
        (Slider("first", "From word", 0.0, float(longest - 1), 1.0, 0.0),) if longest > 60 else ()
    )
    return (*sequence_controls(run), *slider)


def draw_text(
    view: View, shown: SideBySide, sequence: str | None = None, first: float = 0.0
) -> Iterator[Picture]:
    """Draw the words of one sequence for one run per label, if the corpus is available with one word per document."""
    runs = {}
    for variables in view.needs:
        runs |= {
            label: run
            for label, run in shown.first(*variables.split()).items()
            if _has_single_words(run, shown)
        }
    for (label, run), short in zip(runs.items(), file_names(runs), strict=True):
        name, documents = sequence_named(run, sequence)
        start = min(int(first), len(documents) - 1)
        most = ACROSS[shown.columns] * MOST_LINES
        predictions = next_words(run, name, shown.corpora_of(run), start, start + most)
        if not len(predictions.words):
            continue
        vocabulary, positions = [str(word) for word in run["word"].values], run["position"].values
        words = [vocabulary[word] for word in predictions.words]
        n = len(lines_of(words, ACROSS[shown.columns]))
        texts = [
            _hover_text(*word_and_prediction, vocabulary)
            for word_and_prediction in zip(
                words, *(part[:n] for part in predictions[3:]), strict=False
            )
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
                ACROSS[shown.columns],
                f"{label}, {name} from {positions[predictions.rows[0]]}",
            )
        ]
        picture = view.picture(
            f"Words of the sequence {name}; darker words are more probable given all words before them and the last parameter "
            "draw (logarithmic, relative to the words shown). Framed words were held out. On a page, hover shows the most "
            "probable words.",
            panels,
            [*WHOSE, *TEXT_COLUMNS],
            rows_of(label, run, rows),
            legend=False,
            runs=[run],
            hover={"Polygons": [texts]},
            height=0.35 + LINE_HEIGHT * (lines_of(words, ACROSS[shown.columns])[-1][0] + 1),
        )
        yield (
            picture
            if len(runs) == 1
            else replace(picture, name=f"{picture.name}-{short}", title=f"{picture.title}, {label}")
        )


def _has_single_words(run: xr.Dataset, shown: SideBySide) -> bool:
    """Return whether the training corpus is available and has at most one word per document."""
    train = shown.corpora.get(spec_of(run).train)
    return train is not None and bool((train.document_tokens <= 1).all())


def _hover_text(
    word: str, probability: float, expected: np.ndarray, chances: np.ndarray, vocabulary: list[str]
) -> str:
    """Return the tooltip of a word: its probability, and the words that were most probable instead."""
    others = "\n".join(
        f"{vocabulary[other]} {chance:.1%}" for other, chance in zip(expected, chances, strict=True)
    )
    return f"{word}: {probability:.2%}\nexpected:\n{others}"


LOADING_COLUMNS = ("word", "first_axis", "second_axis")
SIZE = 3.1
"""Height of a panel, inches."""
LETTER, LINE = 0.018, 0.035
"""Width of a letter and height of a line of the names, as shares of the panel."""
MOST_NAMES = 70
"""Maximum of names; hover shows all on a page."""


def placed_words(run: xr.Dataset) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words with a row of C, their positions (word, 2), and the share of variance on each axis (2,).

    Positions are the principal components of the rows of C times a root of the covariance of the last states: the
    variations of psi over documents, which are invariant to linear transformations of the states.
    """
    last = run.isel(snapshot=-1)
    loadings = last["loadings"].values
    covariance = np.atleast_2d(np.cov(last["states"].transpose("document", "state_dim").values.T))
    values, vectors = np.linalg.eigh(covariance)
    scaled = loadings @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    scaled = scaled - scaled.mean(axis=0)
    left, sizes, axes = np.linalg.svd(scaled, full_matrices=False)
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    places = np.zeros((len(loadings), 2))
    n = min(2, len(sizes))
    places[:, :n] = left[:, :n] * sizes[:n] * signs[:n]
    shares = np.zeros(2)
    shares[:n] = sizes[:n] ** 2 / max(float((sizes**2).sum()), 1e-300)
    order = run["stick_words"].values
    return [str(word) for word in run["word"].values[order[: len(loadings)]]], places, shares


def loadings_view(names: list[str], places: np.ndarray, shares: np.ndarray, title: str = ""):
    """Draw words as `Points`, with `Labels` where names do not overlap; words with the longest loadings have precedence."""
    low, high = places.min(axis=0), places.max(axis=0)
    extent = np.maximum(high - low, 1e-6) * 1.2
    labels = [
        (*places[index] + np.array([0.0, 0.03]) * extent, names[index])
        for index in readable(names, places / extent)
    ]
    points = element("Points", places, ["x", "y"], color=INK, s=6, alpha=0.45, linewidth=0)
    centre = (low + high) / 2
    limits = [
        (m - 0.5 * e, m + 0.5 * e) for m, e in zip(centre.tolist(), extent.tolist(), strict=True)
    ]
    return panel(
        [points, text_labels(labels, "word", 6.0)] if labels else [points],
        title=title,
        aspect="auto",
        fig_inches=(3.4, SIZE),
        xlim=limits[0],
        ylim=limits[1],
        xlabel=f"first axis, {shares[0]:.0%} of the variance",
        ylabel=f"second axis, {shares[1]:.0%}",
        fig_rcparams=RC,
    )


def readable(names: list[str], places: np.ndarray) -> list[int]:
    """Return the indices of words whose names do not overlap on a unit square, chosen from the outside in."""
    chosen: list[int] = []
    for index in np.argsort(-np.linalg.norm(places, axis=1), kind="stable").tolist():
        is_free = all(
            abs(places[index, 0] - places[other, 0])
            > LETTER * (len(names[index]) + len(names[other])) / 2
            or abs(places[index, 1] - places[other, 1]) > LINE
            for other in chosen
        )
        if is_free and len(chosen) < MOST_NAMES:
            chosen.append(index)
    return chosen


def draw_loadings(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw the map of words by their loadings for one run per label."""
    runs, rows, panels, hover = shown.first("loadings", "states", "stick_words"), [], [], []
    drawn, left_out = fitting_panels(runs)
    for label, run in runs.items():
        names, places, shares = placed_words(run)
        rows += rows_of(
            label, run, [[name, *place] for name, place in zip(names, places.tolist(), strict=True)]
        )
        if label in drawn:
            panels.append(loadings_view(names, places, shares, label))
            hover.append(names)
    yield view.picture(
        "Words by the effect of the hidden states on their probabilities: the two principal axes of the last draw of the "
        "loadings C, scaled by the variation of the states. Words that are close rise and fall together. With stick-breaking "
        "the effect on a word is relative to the words after it on the stick; the last word has no loading. One run of each "
        f"label.{left_out}",
        panels,
        [*WHOSE, *LOADING_COLUMNS],
        rows,
        legend=False,
        height=SIZE,
        runs=list(runs.values()),
        hover={"Points": hover},
    )


GAIN_COLUMNS = ("sequence", "symbols", "gain_clipped", "gain_added")
BASES = ("unseen clipped at 1e-8", "0.1 added to each count")
MOST_BELOW_BARS = 24
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
    width, parts = 0.8 / len(gains), []
    for place, (label, sequence_gains) in enumerate(gains.items()):
        centres = np.array(
            [names.index(name) + (place - (len(gains) - 1) / 2) * width for name in sequence_gains]
        )
        ends = centres[0] - width / 2, centres[0] + width / 2
        colour = looks[label].colour
        bars = [
            (middle - width / 2, 0.0, middle + width / 2, gain)
            for middle, gain in zip(centres, sequence_gains.values(), strict=True)
        ]
        parts.append(
            element("Curve", (ends, (0.0, 0.0)), x, y, label=label, color=colour, linewidth=2.0)
        )
        parts.append(element("Rectangles", bars, facecolor=colour, edgecolor="none", linewidth=0))
    parts.append(element("HLine", 0.0, color=GREY, linewidth=0.6))
    spaced = range(0, len(names), -(-len(names) // MOST_BELOW_BARS))
    return panel(
        parts,
        title=title,
        xticks=[(centres, names[centres]) for centres in spaced],
        xlim=(-0.6, len(names) - 0.4),
        xrotation=90,
        fig_rcparams=RC | {"xtick.labelsize": 6.0},
        padding=0.05,
    )


def draw_gains(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Draw each sequence's gain over each baseline for one run per label, if scores and corpora are available."""
    gains_by_label, rows, drawn_runs = {}, [], []
    for label, run in shown.first("test_perplexity", "sequence").items():
        spec = spec_of(run)
        if spec.hash in shown.scored and {spec.train, spec.test} <= shown.corpora.keys():
            gains_by_label[label] = gains_by_sequence(
                shown.scored[spec.hash], shown.corpora[spec.train], shown.corpora[spec.test]
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
                shown.looks,
                base,
            )
            for column, base in enumerate(BASES, start=1)
        ]
        yield view.picture(
            "Gain of each sequence per held-out symbol: log of its probability given all symbols before it, mean over "
            "iterations after burn-in, minus that of the training frequencies, with unseen symbols clipped at 1e-8 or 0.1 "
            "added to each count. Above 0 the forecast is better than frequencies. One run of each label.",
            panels,
            [*WHOSE, *GAIN_COLUMNS],
            rows,
            runs=drawn_runs,
        )
