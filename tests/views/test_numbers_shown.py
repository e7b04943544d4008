"""Numbers in pictures, tables and captions against numbers that plain numpy computes from the runs."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from comparisons import made_up, tiny_corpus, tiny_run
from scipy.stats import t

import workbench as wb
from workbench.measures import mean_curves
from workbench.report.captions import DIFFERENCE, ERROR, SCORED
from workbench.views import differences_view
from workbench.views.every import draw_view
from workbench.views.picture import WHOSE

pytest.importorskip("holoviews")


def column(picture, name: str) -> list:
    return [row[picture.header.index(name)] for row in picture.rows]


def test_differences_and_their_intervals_are_those_of_the_pairs():
    """One label is better than the reference and one is worse, so that no sign is lost."""
    last = {"svb": [103, 110, 118], "cgs": [100, 104, 109], "cvb": [98, 99, 104]}
    runs = [
        made_up(engine, [2 * value, value], seed=seed)
        for engine, values in last.items()
        for seed, value in enumerate(values)
    ]
    (picture,) = draw_view("differences", runs)
    reference = column(picture, "reference")[0]
    expected = {
        engine: np.subtract(values, last[reference])
        for engine, values in last.items()
        if engine != reference
    }
    result = {row[0]: row for row in picture.rows}
    middles, bars = {}, []
    for part in differences_view(runs):
        if part.label in expected:
            middles[part.label] = part.dimension_values(0)[0]
        elif type(part).__name__ == "Segments":
            bars.append(part.array()[0, [0, 2]].astype(float))
    for engine, differences in expected.items():
        half = t.ppf(0.975, 2) * differences.std(ddof=1) / np.sqrt(3)
        actual = [
            result[engine][picture.header.index(name)]
            for name in ("difference", "difference_low", "difference_high")
        ]
        interval = differences.mean() + np.array([-half, half])
        assert actual == pytest.approx([differences.mean(), *interval], rel=1e-12)  # float64
        assert middles[engine] == pytest.approx(differences.mean(), rel=1e-12)
        assert any(bar == pytest.approx(interval, rel=1e-12) for bar in bars)
    assert min(each.mean() for each in expected.values()) < 0 or reference == "cvb"


def test_the_table_of_words_has_shares_of_tokens_and_the_most_probable_words():
    run = tiny_run()
    (picture,) = draw_view("topic-words", [run])
    sizes, phi = run["n_kw"].values[-1].sum(axis=1), run["phi"].values
    for topic, share, rank, word, p in (row[len(WHOSE) :] for row in picture.rows):
        assert share == pytest.approx(sizes[topic] / sizes.sum(), rel=1e-12)  # float64
        assert p == pytest.approx(np.sort(phi[topic])[-rank], rel=1e-12)
        assert phi[topic][run["word"].values.tolist().index(word)] == p


def test_the_coherence_of_ten_words_is_drawn_where_the_caption_says_ten():
    run, training = tiny_run(), wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0]
    (picture,) = draw_view("coherence", [run], corpora={training.content_hash: training})
    assert "ten most probable words" in picture.caption
    has = np.zeros((training.n_documents, training.n_words), bool)
    has[training.documents, training.words] = True
    has = has[has.any(axis=1)]

    def npmi(v, w):
        both = (has[:, v] & has[:, w]).mean()
        return np.log((both + 1e-12) / has[:, v].mean() / has[:, w].mean()) / -np.log(both + 1e-12)

    for topic, result in zip(column(picture, "topic"), column(picture, "npmi"), strict=True):
        ten = [
            w for w in np.argsort(-run["phi"].values[topic], kind="stable")[:10] if has[:, w].any()
        ]
        # sums of logarithms
        assert result == pytest.approx(
            np.mean([npmi(v, w) for v, w in combinations(ten, 2)]), rel=1e-9
        )


def test_definitions_agree_with_the_computed_measures():
    """Each number by the words of its definition; the words are pinned, so that one does not change without the other."""
    actual = dict(SCORED) | dict([DIFFERENCE, ERROR])
    assert actual["held-out perplexity"].startswith(
        "The exponential of the mean negative log p(w|d) of the tokens that were held out"
    )
    probability, test = np.array([0.5, 0.125]), SimpleNamespace(weights=np.array([1, 3]), n_items=4)
    assert wb.runs.scoring.perplexity(test, probability) == pytest.approx(
        np.exp(-(np.log(0.5) + 3 * np.log(0.125)) / 4)
    )
    assert actual["± standard error"].startswith(
        "The standard deviation (n − 1) over the runs of a label, divided by the square root of their number."
    )
    runs = [made_up("cgs", [10]), made_up("cgs", [14], seed=1), made_up("cgs", [15], seed=2)]
    (curve,) = mean_curves(runs, "test_perplexity")
    assert curve.error[0] == pytest.approx(
        np.sqrt(((np.array([10, 14, 15]) - 13) ** 2).sum() / 2) / np.sqrt(3)
    )
    assert actual["difference"].startswith(
        "The held-out perplexity minus the reference's, averaged over pairs of runs on the same split"
    )
