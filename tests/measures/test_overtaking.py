"""Where hybrids overtake Gibbs sampling: speed-ups and gains worked out by hand."""

import numpy as np
import pytest
from comparisons import made_up

from workbench.measures import MeasureError, overtaking


def run(engine, logs, elapsed, seed=0, k=2, **split):
    about = {
        "split": {"fraction": 0.1, "seed": 0, "per": "corpus"} | split,
        "train": str(sorted(split.items())) or "t",
    }
    return made_up(
        engine,
        np.exp(logs),
        elapsed,
        seed,
        model={"n_topics": k, "alpha": 0.1, "beta": 0.1},
        **about,
    )


def pair(seed=0, faster=2.0, **about):
    """Gibbs sampling, and a hybrid that predicts as well in a share of its time."""
    times = np.array([1.0, 2, 3, 4])
    return [
        run("cgs", [8, 7, 6, 5], times * faster, seed, **about),
        run("svb-cgs", [8, 7, 6, 5.5], times, seed, **about),
    ]


def test_speedup_is_the_ratio_of_times_to_the_lowest_common_perplexity():
    cells = overtaking(pair())
    assert cells["setting"].values.tolist() == ["svb-cgs r=1"] and cells[
        "n_topics"
    ].values.tolist() == [2]
    # cgs is at 5.5 or below with its fourth row
    assert cells["speedup"].item() == pytest.approx(8 / 4)
    # the hybrid ends after 8 CPU seconds, when cgs has had two rows
    assert cells["advantage"].item() == pytest.approx(7 - 5.5)
    assert cells["n_pairs"].item() == 1 and np.isnan(cells["speedup_se"].item())


def test_means_are_geometric_and_errors_are_between_pairs():
    cells = overtaking([*pair(0, 2.0), *pair(1, 8.0)])
    assert cells["speedup"].item() == pytest.approx(4) and cells["n_pairs"].item() == 2
    assert cells["speedup_se"].item() == pytest.approx(np.log(2))


def test_overtaking_has_a_cell_per_regime_and_number_of_topics_nan_without_runs():
    cells = overtaking([*pair(repeat=5), *pair(k=4), *pair(), run("svb", [8, 7], [1, 2], merge=3)])
    assert cells["repeat"].values.tolist() == [1, 5] and cells["merge"].values.tolist() == [1, 1]
    assert cells["n_topics"].values.tolist() == [2, 4]
    assert cells["n_pairs"].values.tolist() == [[[1, 1], [1, 0]]]
    assert "every count 5 times" in cells["data"].values[1] and np.isnan(
        cells["speedup"].values[0, 1, 1]
    )


def test_runs_without_a_counterpart_are_refused():
    with pytest.raises(MeasureError, match="no run has a counterpart of cgs without options"):
        overtaking([pair()[1], pair(1)[0]])
