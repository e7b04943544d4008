"""Paired differences with their intervals, a line for each label: a forest plot."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from workbench.measures import each_run, in_papers_order, paired_differences
from workbench.views.curves import SHORT
from workbench.views.elements import axis, element, height_of, panel
from workbench.views.picture import Picture, SideBySide, View
from workbench.views.style import INK, Look, looks

ROW = 0.24
"""Height of a label, inches."""


def differences_view(
    runs,
    reference: str | None = None,
    measure: str = "test_perplexity",
    scored=None,
    title: str = "",
):
    """How much higher a number is than the reference's, pair by pair (same split, same seed), with 95 % intervals.

    For ``reference``, ``measure`` and ``scored`` see `workbench.measures.paired_differences`. An overlay of a `VLine` at 0, and
    for each label but the references, in the papers' order from the top, a `Scatter` of the mean difference over `Segments` of
    its interval, where it has one; empty where there is nothing to set apart.
    """
    found = (
        paired_differences(in_papers_order(each_run(runs)), reference, measure, scored)
        .to_dataframe()
        .reset_index("label")
    )
    style, apart = (
        looks(found["label"]),
        ~found["label"].isin(found["reference"]) & np.isfinite(found["difference"]),
    )
    pairs = found["n_pairs"].astype(int)
    found["said"] = [
        f"{label} ({n} {'pair' if n == 1 else 'pairs'})"
        for label, n in zip(found["label"], pairs, strict=True)
    ]
    return forest(found[apart], style, found["reference"], measure, title)


def forest(
    found: pd.DataFrame,
    style: dict[str, Look],
    references,
    measure: str = "test_perplexity",
    title: str = "",
):
    """Differences that are known already, one below the other; see `differences_view`.

    ``found`` has a row each: ``label``, ``said`` (what stands beside it), ``difference``, ``difference_low``,
    ``difference_high``; ``style`` is the look of each label, ``references`` what they are set against.
    """
    references = list(dict.fromkeys(references))
    against = references[0] if len(references) == 1 else "the reference"
    x, y = (
        axis("difference", f"{SHORT.get(measure, measure)}, difference from {against}"),
        axis("place", " "),
    )
    drawn, ticks = [element("VLine", 0, color=INK, linewidth=0.8, linestyle=":")], []
    for place, one in enumerate(found.itertuples()):
        ticks.append((-place, one.said))
        coloured = partial(element, color=style[one.label].colour)
        if np.isfinite(one.difference_low):
            interval = (one.difference_low, -place, one.difference_high, -place)
            drawn.append(
                coloured("Segments", [interval], [x, y, "high", "same place"], linewidth=1.6)
            )
        if np.isfinite(one.difference):
            drawn.append(
                coloured(
                    "Scatter",
                    [(one.difference, -place)],
                    x,
                    y,
                    label=one.label,
                    marker=style[one.label].marker,
                    s=30,
                    linewidth=0,
                    show_grid=True,
                )
            )
    if not ticks:
        return panel([])
    return panel(
        drawn,
        xlabel=x.pprint_label.replace(", ", ",\n"),
        ylabel=" ",
        yticks=ticks,
        ylim=(0.5 - len(ticks), 0.5),
        padding=0.08,
        title=title,
        fig_inches=(3.4, 0.65 + ROW * len(ticks)),
        aspect="auto",
    )


def draw_differences(view: View, shown: SideBySide) -> Iterator[Picture]:
    """Nothing where no difference has an interval: labels with one run each."""
    found = paired_differences(shown.runs)
    names = [
        "label",
        "reference",
        "difference",
        "difference_se",
        "difference_low",
        "difference_high",
        "n_pairs",
    ]
    if not np.isfinite(
        found["difference_low"].values[found["label"].values != found["reference"].values]
    ).any():
        return
    panels = [differences_view(shown.runs)]
    yield view.picture(
        f"How much higher the final held-out perplexity is than that of {found.attrs['reference']}, run by run on the same "
        "split with the same seed: means over these pairs with Student's 95 % interval, which is over seeds and splits, not "
        "over what was held out. Left of the dotted line is better.",
        panels,
        names,
        found.to_dataframe().reset_index()[names].to_numpy(object).tolist(),
        legend=False,
        height=height_of(panels),
    )
