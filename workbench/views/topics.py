"""Topics of one run: their words with probabilities, and their sizes.

Coherence or another score of each topic.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import xarray as xr

from workbench.measures import (
    MeasureError,
    coherence,
    one_run,
    spec_of,
    top_words,
    topic_labels,
    topic_sizes,
    topics_by_size,
    used_topics,
)
from workbench.views.elements import (
    COLOURS,
    INK,
    PAGE,
    RC,
    ROW,
    axis,
    bare_panel,
    dimension,
    element,
    panel,
    rows_below,
    short_text,
    text_labels,
)
from workbench.views.picture import (
    RUN_COLUMNS,
    Picture,
    RunsOfLabels,
    RunsToDraw,
    Slider,
    View,
    file_names,
    rows_of,
)

ACROSS = 5
"""Topics in a row on two columns of a page: words of 14 letters fit."""
MOST_LETTERS = 15
MOST_TOPICS, MOST_WORDS, FEWEST_WORDS, TABLE_WORDS = 40, 10, 4, 20
BASE, LENGTH = 0.5, 0.3
"""Start of the bars, and length of the longest, as shares of the width of a topic."""

GAP = 0.035
"""Space between a range and the number beside it, which it would else seem to make negative."""


def topic_words_view(
    run: xr.Dataset,
    n_words: int = 10,
    topics: Iterable[int] | None = None,
    relevance: float = 1.0,
    across: int = ACROSS,
    colour: str = COLOURS[0],
    title: str = "",
    scale: float = 1.0,
    agreement: xr.Dataset | None = None,
):
    """Draw each topic's top words with bars of their probabilities, on one scale for all topics.

    ``topics`` are numbers of the run, by default all (for an HDP those with a token), largest first; ``relevance`` from 0 to 1
    ranks the words, see `workbench.measures.top_words`; ``across`` topics are in a row. Returns an overlay of `Rectangles`
    (bars) and three `Labels`: headings (number and share of the tokens), words, probabilities; as high as `words_height`.
    ``scale``: how large the letters are. With ``agreement``, the result of `workbench.measures.consensus` in which this run is
    the nearest one, bars are means over runs, `Segments` are ranges, and headings say in how many runs a topic is.
    """
    run = one_run(run)
    if agreement is not None:
        run = run.sel(topic=agreement["topic"].values).assign(phi=agreement["phi"])
    words_of_topics, sizes = top_words(run, n_words, relevance), topic_sizes(run)
    drawn_topics = _topic_numbers(sizes, topics_by_size(run) if topics is None else topics)
    n_words, across = words_of_topics.sizes["rank"], min(across, len(drawn_topics))
    longest = float(words_of_topics["phi"].sel(topic=drawn_topics).max())
    if agreement is not None:
        high = agreement["phi_high"].sel(
            topic=words_of_topics["topic"], word=words_of_topics["word"]
        )
        longest = float(high.sel(topic=drawn_topics).max())
    bars, headings, words, numbers, ranges = [], [], [], [], []
    of_corpus = run["n_kw"].isel(snapshot=-1).sum("topic", skipna=False)
    of_corpus = of_corpus / max(float(of_corpus.sum()), 1e-300)
    for index, topic in enumerate(drawn_topics):
        left_end, top = index % across, -(index // across) * (n_words + 1.8)
        heading = f"{100 * float(sizes['share'].sel(topic=topic)):.1f} %"
        if agreement is not None:
            n_found = int(agreement["n_found"].sel(topic=topic))
            heading = f"in {n_found} of {agreement.attrs['n_runs']} runs"
        headings.append((left_end + BASE, top, f"topic {topic} · {heading}"))
        topic_words = words_of_topics.sel(topic=topic)
        for rank, (word, phi) in enumerate(
            zip(topic_words["word"].values, topic_words["phi"].values.tolist(), strict=True),
            start=1,
        ):
            middle, end = top - rank, left_end + BASE + LENGTH * phi / longest
            lift = phi / max(float(of_corpus.sel(word=word)), 1e-300)
            bars.append((left_end + BASE, middle - 0.36, end, middle + 0.36, phi, lift))
            if agreement is not None:
                of_word = agreement[["phi_low", "phi_high"]].sel(topic=topic, word=word)
                low, high = (float(of_word[name]) for name in ("phi_low", "phi_high"))
                start, end = (left_end + BASE + LENGTH * side / longest for side in (low, high))
                ranges.append((start, middle, end, middle, low, high))
                end += GAP
            words.append((left_end + BASE - 0.015, middle, short_text(str(word), MOST_LETTERS)))
            numbers.append((end + 0.015, middle, f"{phi:.3f}".lstrip("0") if phi < 1 else "1"))
    n_rows = math.ceil(len(drawn_topics) / across)
    elements = [
        element(
            "Rectangles",
            bars,
            vdims=[dimension("phi"), axis("lift", "times as in the corpus")],
            color=colour,
            linewidth=0,
            alpha=0.75,
        ),
        *(
            [
                element(
                    "Segments",
                    ranges,
                    ["x", "y", "x of end", "y of end"],
                    vdims=[axis("phi_low", "lowest"), axis("phi_high", "highest")],
                    color=INK,
                    linewidth=0.8,
                )
            ]
            if ranges
            else []
        ),
        text_labels(headings, "heading", 6.5 * scale, weight="bold"),
        text_labels(words, "word", 6 * scale, "right"),
        text_labels(numbers, "probability", 6 * scale, "left"),
    ]
    size = 1.4 * across, words_height(len(drawn_topics), n_words, across)
    return bare_panel(
        elements, size, (0, across), (-n_rows * (n_words + 1.8) + 0.6, 0.9), title=title
    )


def word_controls(run: xr.Dataset | None = None) -> tuple[Slider, ...]:
    """Return the sliders of `draw_words`, for the number of words and for the weight λ of relevance."""
    return (
        Slider("n_words", "Words", 1, 50, 1, 30),
        Slider("relevance", "Relevance λ", 0, 1, 0.05, 0.6),
    )


def draw_words(
    view: View,
    selection: RunsToDraw,
    topics: list[int] | None = None,
    n_words: int | None = None,
    relevance: float = 1.0,
    scale: float = 1.0,
    colours: Callable[[int], str] | None = None,
) -> Iterator[Picture]:
    """Draw topics with their top words for one run per label, as many topics as fit on a page.

    ``topics``: topics of a single run, by default all; ``n_words``: words in the table, and drawn if there is a single topic;
    ``relevance``: see `top_words`; ``scale``: how large the letters are; ``colours``: the colour of a single topic.
    """
    first, across = selection.first("phi", "n_kw"), ACROSS if selection.columns == 2 else 2
    columns = ["topic", "share", "rank", "word", "phi"]
    for (label, run), short in zip(first.items(), file_names(first), strict=True):
        sizes, words = topic_sizes(run), top_words(run, int(n_words or TABLE_WORDS), relevance)
        largest = topics_by_size(run) if topics is None else topics
        n_topics, n_fitting = fitting_on_a_page(len(largest), across)
        drawn_topics = largest[:n_topics]
        n_words = n_words and int(n_words)  # of a slider
        most = n_words if n_words and len(drawn_topics) == 1 else MOST_WORDS
        n_drawn = min(n_fitting, most, words.sizes["rank"])
        fewer = (
            f" The {len(drawn_topics)} largest of {len(largest)} topics are drawn; all are in the table."
            if largest != drawn_topics
            else ""
        )
        table = words.assign(share=sizes["share"]).sel(topic=largest).to_dataframe().reset_index()
        ranking = (
            "most probable words"
            if relevance == 1
            else f"words of the highest relevance (lambda = {relevance:g})"
        )
        topics_text = f"topic {', '.join(map(str, topics))}" if topics else "each topic"
        colour_of_one = (
            colours(drawn_topics[0])
            if colours and len(drawn_topics) == 1
            else selection.looks[label].colour
        )
        order_text = "" if topics else ", largest topic first,"
        yield Picture(
            f"{view.name}-{short}",
            f"{view.title}, {label}",
            f"The {ranking} of {topics_text} of one run (seed {spec_of(run).seed}) at its last snapshot{order_text} with the "
            f"topic's share of the training tokens; bars and numbers are p(word | topic), on one scale.{fewer}",
            [
                topic_words_view(
                    run, n_drawn, drawn_topics, relevance, across, colour_of_one, scale=scale
                )
            ],
            [*RUN_COLUMNS, *columns],
            rows_of(label, run, table[columns]),
            legend=False,
            height=scale * words_height(len(drawn_topics), n_drawn, across) + 0.1,
            runs=[run],
        )


def fitting_on_a_page(n_topics: int, across: int) -> tuple[int, int]:
    """Return how many topics fit on a page, ``across`` in a row, and how many words of each."""
    n_drawn = min(n_topics, MOST_TOPICS, across * int(PAGE / ROW / (FEWEST_WORDS + 1.8)))
    lines_per_topic = PAGE / ROW / math.ceil(n_drawn / across) - 1.8
    return n_drawn, max(int(lines_per_topic), FEWEST_WORDS)


def words_height(n_topics: int, n_words: int, across: int = ACROSS) -> float:
    """Return the height in inches at which the letters of `topic_words_view` are legible."""
    return ROW * math.ceil(n_topics / across) * (n_words + 1.8)


def names_of_topics(
    run: xr.Dataset, n_words: int = 3, letters: int = 30, labels: Mapping[int, str] | None = None
) -> dict[int, str]:
    """Return topic number → name with its label or top words: "3 · network layers units".

    As many words as fit into the letters, a longer label or first word is cut; for an HDP only topics with a token.
    ``labels``: number → text; by default those of the Dataset.
    """
    run = used_topics(one_run(run))
    labels, names = topic_labels(run) if labels is None else labels, {}
    for topic, words in zip(
        run["topic"].values.tolist(), top_words(run, n_words)["word"].values, strict=True
    ):
        name = f"{topic} · {labels.get(topic) or words[0]}"
        for word in words[1:] if not labels.get(topic) else ():
            if len(f"{name} {word}") > letters:
                break
            name = f"{name} {word}"
        names[topic] = short_text(name, letters)
    return names


def _topic_numbers(sizes: xr.Dataset, topics: Iterable[int]) -> list[int]:
    """Return the chosen topic numbers as a list; raise MeasureError for an unknown one, or for none."""
    known_topics, numbers = sizes["topic"].values.tolist(), list(topics)
    unknown = [topic for topic in numbers or ["none"] if topic not in known_topics]
    if unknown:
        raise MeasureError(
            f"topics are from {known_topics[0]} to {known_topics[-1]}; got {unknown[0]}"
        )
    return [int(topic) for topic in numbers]


NAMES = {
    "npmi": ("NPMI", ""),
    "u_mass": ("u_mass", "nats"),
    "c_v": ("c_v", ""),
    "diversity": ("diversity", ""),
}
MEASURES = ("npmi", "c_v", "u_mass")
MOST_SCORED, FEWEST_SCORED = 40, 8
"""Maximum of rows of a panel, and minimum if several panels share a column of a page."""
ABOVE = 0.45
"""Inches of a panel in addition to its rows."""


def coherence_view(
    scores: xr.Dataset,
    measure: str = "npmi",
    names: Mapping[int, str] | None = None,
    colour: str = COLOURS[0],
    marker: str = "o",
    title: str = "",
    most: int = MOST_SCORED,
):
    """Draw a score of each topic, highest first, and a line at the mean over topics.

    ``scores`` (topic) is the result of `workbench.measures.coherence` or `workbench.measures.diversity`, ``measure`` one of
    "npmi", "u_mass", "c_v", "diversity"; ``names`` are topic names (see `workbench.views.names_of_topics`), by default the
    numbers. Returns an overlay of `Segments` from the mean to each topic, `Scatter` (coherence, place) and a `VLine` at the
    mean; topics without a score are at the end. Of more than ``most`` topics only the best and the worst half are drawn.
    """
    MeasureError.one_of("coherence", measure, NAMES)
    values, names = scores[measure].values, names or {}
    mean = float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else 0.0
    order = np.argsort(-values, kind="stable")  # NaN last
    if len(order) > most:
        order = np.concatenate([order[: most // 2], order[-(most // 2) :]])
    x, y = axis(measure, NAMES[measure][0], NAMES[measure][1] or None), axis("place", " ")
    positions = -np.arange(len(order))
    has_score, topics = np.isfinite(values[order]), scores["topic"].values.tolist()
    bars = [
        (mean, position, values[topic], position)
        for position, topic in zip(positions[has_score], order[has_score], strict=True)
    ]
    return panel(
        [
            element(
                "Segments", bars, [x, y, "coherence", "same place"], color=colour, linewidth=1.0
            ),
            element(
                "Scatter",
                (values[order][has_score], positions[has_score]),
                x,
                y,
                color=colour,
                marker=marker,
                s=16,
                linewidth=0,
                show_grid=True,
            ),
            element("VLine", mean, color=INK, linewidth=0.8, linestyle=":"),
        ],
        yticks=[
            (
                int(position),
                names.get(topics[topic], str(topics[topic]))
                + ("" if is_scored else ", too few words"),
            )
            for position, topic, is_scored in zip(positions, order, has_score, strict=True)
        ],
        ylim=(0.5 - len(order), 0.5),
        padding=0.05,
        title=title,
        fig_inches=(3.4, ABOVE + ROW * len(order)),
        aspect="auto",
        fig_rcparams=RC | {"ytick.labelsize": 6.5},
    )


def draw_coherence(view: View, selection: RunsToDraw) -> Iterator[Picture]:
    """Draw the NPMI coherence of topics for one run per label, if its training tokens are available."""
    runs = {
        label: run
        for label, run in selection.first("phi", "n_kw").items()
        if spec_of(run).train in selection.corpora
    }
    collection, fewer = RunsOfLabels(runs), ""
    most = (
        rows_below(collection.drawn_runs, selection.columns, ABOVE, MOST_SCORED, FEWEST_SCORED)
        // 2
        * 2
    )
    letters = 16 if selection.columns == 2 and len(collection.drawn_runs) > 2 else 28
    for label, run in runs.items():
        scores = coherence(run, selection.corpora[spec_of(run).train])
        names, look = names_of_topics(run, 3, letters), selection.looks[label]
        panel = coherence_view(scores, "npmi", names, look.colour, look.marker, label, most)
        collection.add(label, scores.to_dataframe().reset_index()[["topic", *MEASURES]], [panel])
        if label in collection.drawn_runs and scores.sizes["topic"] > most:
            fewer = f" Only the {most // 2} best and the {most // 2} worst topics are drawn; the table has all."
    yield from collection.pictures(
        view,
        "Coherence of the ten most probable words of each topic in the training documents: the mean normalised pointwise "
        "mutual information of their pairs, where two words co-occur when a document has both; from -1 to 1, higher is "
        "better. A row for each topic, named by its first words, the most coherent first; the dotted line is the mean "
        f"over topics. One run of each label; the table also has c_v and u_mass (nats).{fewer}",
        ("topic", *MEASURES),
    )
