"""Convergence diagnostics of chains: R-hat, effective sample sizes in bulk and tails, rank histograms."""

from collections.abc import Iterable

import numpy as np
import xarray as xr
from scipy.stats import rankdata

from workbench.corpus.corpus import AnyCorpus
from workbench.measures.effective_samples import chains_by_label
from workbench.measures.label_free import label_free
from workbench.measures.selection import MeasureError, Runs, attributes

NUMBERS = {
    "r_hat": "rank-normalised split R-hat, the ratio of pooled to within-chain spread; the largest of the quantity",
    "ess_bulk": "effective samples in the bulk of the distribution; the smallest of the quantity",
    "ess_tail": "effective samples in its tails, at the quantiles of 5 and 95 %; the smallest of the quantity",
}
R_HAT_LIMIT, ESS_OF_CHAIN = 1.01, 100
"""Vehtari et al. advise against draws with R-hat above, or effective samples per chain below these."""
RANKED = ("log_joint", "test_perplexity_state")
"""Preferred quantities for rank histograms, in order."""
BINS = 20


def convergence(runs: Runs, corpora: Iterable[AnyCorpus] = ()) -> xr.Dataset:
    """Return R-hat and effective samples in bulk and tails, of quantities that do not depend on the numbering of topics.

    Runs that differ in their seeds alone are chains of one label; a label with several splits has a row for each. A quantity
    with many numbers (``sorted_share``, ``same_topic``, ``log_predictive``; see `label_free`, which also takes ``corpora``)
    has the worst value of those that vary.

    Dims ``label`` and ``quantity``: ``r_hat``, ``ess_bulk``, ``ess_tail``; NaN for a quantity that is missing or constant.
    Dim ``label``: ``n_chains``, ``n_draws`` of each chain, ``left_out`` (why quantities of single tokens are left out, or "").

    A single chain has no R-hat, since it cannot show that another start would end elsewhere. A common rule is to use draws if
    every R-hat is below 1.01 and each chain has 100 effective samples.

    Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021). Raises MeasureError as `label_free` does.
    """
    corpora = list(corpora)
    by_label = chains_by_label(runs)
    all_draws = [label_free(chains, corpora) for _, chains in by_label]
    names = [*dict.fromkeys(name for draws in all_draws for name in draws.data_vars)]
    table = np.full((len(NUMBERS), len(all_draws), len(names)), np.nan)
    for row, draws in enumerate(all_draws):
        for name, numbers in agreement(draws).items():
            table[:, row, names.index(name)] = numbers
    return xr.Dataset(
        {
            **{
                name: (("label", "quantity"), values, attributes(meaning))
                for (name, meaning), values in zip(NUMBERS.items(), table, strict=True)
            },
            "n_chains": (
                "label",
                [draws.sizes["chain"] for draws in all_draws],
                attributes("runs that are its chains"),
            ),
            "n_draws": (
                "label",
                [draws.sizes["draw"] for draws in all_draws],
                attributes("draws of each chain"),
            ),
            "left_out": (
                "label",
                np.array([draws.attrs["left_out"] for draws in all_draws], object),
            ),
        },
        {
            "label": np.array([label for label, _ in by_label], object),
            "quantity": np.array(names, object),
        },
    )


def agreement(draws: xr.Dataset) -> dict[str, tuple[float, float, float]]:
    """Return quantity → R-hat (NaN of one chain), effective samples in bulk and tails: the worst of its varying numbers.

    ``draws`` are the result of `label_free`; constant quantities are left out.
    """
    worst = {name: _worst(draws[name].values) for name in draws.data_vars}
    return {name: numbers for name, numbers in worst.items() if np.isfinite(numbers[1])}


def rank_histograms(draws: xr.Dataset) -> xr.DataArray:
    """Count the draws of each chain in each twentieth of the ranks of all draws, lowest first.

    Ranks are of the log joint in ``draws`` (see `label_free`), or of another recorded number. Chains that agree have equally
    many draws in each twentieth. Dims ``chain`` and ``twentieth``: counts; the attribute ``quantity`` names the number.
    """
    numbers = [name for name in draws.data_vars if draws[name].dims == ("chain", "draw")]
    if not numbers:
        raise MeasureError("the chains recorded no number that varies between draws")
    name = next((name for name in RANKED if name in numbers), numbers[0])
    ranks = rankdata(draws[name].values, method="average") - 0.5
    bins = np.minimum(
        (ranks.reshape(draws[name].shape) * BINS / draws[name].size).astype(int), BINS - 1
    )
    counts = np.stack([np.bincount(chain_bins, minlength=BINS) for chain_bins in bins])
    return xr.DataArray(counts, dims=("chain", "twentieth"), attrs={"quantity": name})


def _worst(draws: np.ndarray) -> tuple[float, float, float]:
    """Return the largest R-hat and smallest effective samples of (chain, draw, …); NaN if all is constant."""
    from arviz_stats.base import array_stats  # two seconds to import

    varying = draws.reshape(*draws.shape[:2], -1)
    varying = np.moveaxis(varying[:, :, np.ptp(varying, axis=1).all(axis=0)], -1, 0)
    if not len(varying):
        return np.nan, np.nan, np.nan
    axes = {"chain_axis": 1, "draw_axis": 2}
    r_hat = array_stats.rhat(varying, method="rank", **axes) if draws.shape[0] > 1 else np.nan
    bulk, tail = (
        array_stats.ess(varying, method="bulk", **axes),
        array_stats.ess(varying, method="tail", prob=0.9, **axes),
    )
    return float(np.max(r_hat)), float(np.min(bulk)), float(np.min(tail))
