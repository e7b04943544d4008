"""Do chains agree? R-hat, and how many independent draws their means and their tails are worth."""

from collections.abc import Iterable

import numpy as np
import xarray as xr
from scipy.stats import rankdata

from workbench.corpus.any_corpus import AnyCorpus
from workbench.measures.effective_samples import about, chains_by_label
from workbench.measures.label_free import label_free
from workbench.measures.selection import MeasureError

NUMBERS = {
    "r_hat": "rank-normalised split R-hat: how much wider all chains together are than each; the largest of the quantity",
    "ess_bulk": "effective samples in the bulk of the distribution; the smallest of the quantity",
    "ess_tail": "effective samples in its tails, at the quantiles of 5 and 95 %; the smallest of the quantity",
}
R_HAT_LIMIT, ESS_OF_CHAIN = 1.01, 100
"""R-hat above which, and effective samples of each chain below which, Vehtari et al. would not use the draws."""
RANKED = ("log_joint", "test_perplexity_state")
"""Quantities whose ranks are drawn: the first that the chains have, or else any other."""
BINS = 20


def convergence(runs, corpora: Iterable[AnyCorpus] = ()) -> xr.Dataset:
    """R-hat, and effective samples in bulk and tails, of what does not depend on the numbers of topics.

    Runs that differ in their seeds alone are chains of one label; a label with several splits has a row for each. Of a
    quantity with many numbers (``sorted_share``, ``same_topic``, ``log_predictive``; see `label_free`, which takes
    ``corpora`` too) the worst of those that move.

    Dims ``label`` and ``quantity``: ``r_hat``, ``ess_bulk``, ``ess_tail``; NaN for what a label has not, or never changes.
    Dim ``label``: ``n_chains``, ``n_draws`` of each chain, ``left_out`` (why single tokens are left out, or "").

    A single chain has no R-hat: it cannot tell that another start would end elsewhere. Draws are commonly used where every
    R-hat is below 1.01 and there are 100 effective samples a chain.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021). Raises MeasureError as `label_free` does.
    """
    corpora = list(corpora)
    by_label = chains_by_label(runs)
    drawn = [label_free(own, corpora) for _, own in by_label]
    names = [*dict.fromkeys(name for draws in drawn for name in draws.data_vars)]
    found = np.full((len(NUMBERS), len(drawn), len(names)), np.nan)
    for row, draws in enumerate(drawn):
        for name, numbers in agreement(draws).items():
            found[:, row, names.index(name)] = numbers
    return xr.Dataset(
        {
            **{
                name: (("label", "quantity"), values, about(meaning))
                for (name, meaning), values in zip(NUMBERS.items(), found, strict=True)
            },
            "n_chains": (
                "label",
                [draws.sizes["chain"] for draws in drawn],
                about("runs that are its chains"),
            ),
            "n_draws": (
                "label",
                [draws.sizes["draw"] for draws in drawn],
                about("draws of each chain"),
            ),
            "left_out": ("label", np.array([draws.attrs["left_out"] for draws in drawn], object)),
        },
        {
            "label": np.array([label for label, _ in by_label], object),
            "quantity": np.array(names, object),
        },
    )


def agreement(draws: xr.Dataset) -> dict[str, tuple[float, float, float]]:
    """Quantity → R-hat (NaN of one chain), effective samples in the bulk and in the tails: the worst of its numbers that move.

    Of ``draws`` as `label_free` gives them; quantities that never change are left out.
    """
    found = {name: _worst(draws[name].values) for name in draws.data_vars}
    return {name: numbers for name, numbers in found.items() if np.isfinite(numbers[1])}


def rank_histograms(draws: xr.Dataset) -> xr.DataArray:
    """Counts the draws of each chain in each twentieth of the ranks of all draws, the lowest first.

    Of the log joint of ``draws`` (see `label_free`), or of another number where that is not recorded. Chains that agree have
    as many draws in each twentieth. Dims ``chain`` and ``twentieth``: counts; the attribute ``quantity`` names the number.
    """
    numbers = [name for name in draws.data_vars if draws[name].dims == ("chain", "draw")]
    if not numbers:
        raise MeasureError("the chains have recorded no number that changes from draw to draw")
    name = next((name for name in RANKED if name in numbers), numbers[0])
    ranks = rankdata(draws[name].values, method="average") - 0.5
    places = np.minimum(
        (ranks.reshape(draws[name].shape) * BINS / draws[name].size).astype(int), BINS - 1
    )
    counts = np.stack([np.bincount(own, minlength=BINS) for own in places])
    return xr.DataArray(counts, dims=("chain", "twentieth"), attrs={"quantity": name})


def _worst(draws: np.ndarray) -> tuple[float, float, float]:
    """The largest R-hat and the smallest effective samples of (chain, draw, …); NaN where nothing moves."""
    from arviz_stats.base import array_stats  # two seconds to import

    each = draws.reshape(*draws.shape[:2], -1)
    each = np.moveaxis(each[:, :, np.ptp(each, axis=1).all(axis=0)], -1, 0)
    if not len(each):
        return np.nan, np.nan, np.nan
    axes = {"chain_axis": 1, "draw_axis": 2}
    r_hat = array_stats.rhat(each, method="rank", **axes) if draws.shape[0] > 1 else np.nan
    bulk, tail = (
        array_stats.ess(each, method="bulk", **axes),
        array_stats.ess(each, method="tail", prob=0.9, **axes),
    )
    return float(np.max(r_hat)), float(np.min(bulk)), float(np.min(tail))
