"""Numbers in pictures, tables and captions against numbers that plain numpy computes from the runs."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from comparisons import made_up, tiny_corpus, tiny_run, with_phi
from toys import dense

import workbench as wb
from workbench.measures import mean_curves
from workbench.report.captions import (
    DIFFERENCE,
    ERROR,
    SCORED,
    SCORED_CELLS,
    caption,
    definitions,
    remarks,
    statistics,
)
from workbench.report.findings import findings
from workbench.report.gathering import gather
from workbench.report.tables import label_rows, prior_rows, run_rows, topic_tables
from workbench.views.every import draw_view
from workbench.views.picture import RUN_COLUMNS

pytest.importorskip("holoviews")


def column(picture, name: str) -> list:
    return [row[picture.header.index(name)] for row in picture.rows]


def test_the_table_of_words_has_shares_of_tokens_and_the_most_probable_words():
    run = tiny_run()
    (picture,) = draw_view("topic-words", [run])
    sizes, phi = run["n_kw"].values[-1].sum(axis=1), run["phi"].values
    assert len(picture.rows) == 4 * 20
    for topic, share, rank, word, p in (row[len(RUN_COLUMNS) :] for row in picture.rows):
        assert share == pytest.approx(sizes[topic] / sizes.sum(), rel=1e-12)  # float64
        assert p == pytest.approx(np.sort(phi[topic])[-rank], rel=1e-12)
        assert phi[topic][run["word"].values.tolist().index(word)] == p


def test_the_coherence_of_ten_words_is_drawn_where_the_caption_says_ten():
    run, training = tiny_run(), wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0]
    (picture,) = draw_view("coherence", [run], corpora={training.content_hash: training})
    assert "ten most probable words" in picture.caption
    has = dense(training) > 0
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
    assert all("Lower is better" in own[0][1] for own in (SCORED, SCORED_CELLS))


def test_tables_sentences_and_captions_of_a_report_have_the_numbers_of_its_runs():
    """Two seeds: the mean is half their sum, the standard error half their distance, t of one degree of freedom 12.706."""
    runs = [
        made_up("cgs", [300, 200], [1, 4]).assign(log_joint=("iteration", [-9.0, -8.0])),
        made_up("cgs", [320, 210], [3, 6], seed=1),
        made_up("svb", [250, 220], [2, 5]),
        made_up("svb", [260, 240], [3, 9], seed=1),
    ]
    reported = gather(runs)
    (cgs, svb), reference, target = label_rows(reported, None)
    if cgs["label"] == "svb":
        cgs, svb = svb, cgs
    columns = "n_runs n_pairs iteration test_perplexity test_perplexity_state difference elapsed cpu_time updates "
    columns += "time_per_update time_to"
    assert (reference, target) == ("cgs", "240")
    assert [cgs[name] for name in columns.split()] == [
        2,
        "–",
        "2",
        "205.0 ± 5.0",
        "206.0 ± 5.0",
        "reference",
        "5.00 ± 1.00",
        "10.00 ± 2.00",
        "200",
        "50,000,000.0 ± 10,000,000.0",
        "5.00 ± 1.00",
    ]
    assert [svb[name] for name in columns.split()] == [
        2,
        2,
        "2",
        "230.0 ± 10.0",
        "231.0 ± 10.0",
        "+25.0 ± 5.0",
        "7.00 ± 2.00",
        "14.00 ± 4.00",
        "200",
        "70,000,000.0 ± 20,000,000.0",
        "7.00 ± 2.00",
    ]
    columns = "label seed iteration test_perplexity test_perplexity_state test_perplexity_average elapsed cpu_time updates"
    assert [[row[name] for name in columns.split()] for row in run_rows(reported)[1:3]] == [
        ["cgs", 1, "2", "210.0", "211.0", "210.0", "6.00", "12.00", "200"],
        ["svb", 0, "2", "220.0", "221.0", "220.0", "5.00", "10.00", "200"],
    ]
    sentences = findings(reported)
    assert sentences[0].endswith("compares cgs and svb on made up with 2 seeds, 4 runs in total.")
    assert sentences[1] == (
        "The lowest held-out perplexity is that of cgs, 205.0 ± 5.0; next is svb, 25.0 higher on the same splits and seeds "
        "(95 % −38.5 … +88.5)."
    )
    assert "svb may be as good as cgs" in sentences[2]
    assert dict(definitions(reported))["log joint"].endswith("higher is better.")
    assert dict(statistics(reported)) == {"tokens (training)": "4"}
    (picture,) = draw_view("ordering", runs[:2])
    lines = caption(picture, reported[:2]).splitlines()
    assert {"topics: 2", "iterations: 2", "inference seeds: 0, 1"} <= {*lines}
    behind = gather(
        [runs[0].isel(iteration=[0]).assign_attrs(state="stopped"), made_up("cgs", [9], seed=2)]
    )
    assert "iterations: 1 of 2; 1" in caption(picture, behind).splitlines()
    assert run_rows(behind)[0]["iteration"] == "1 of 2 (stopped)"
    assert "The runs have different lengths (1 to 2 iterations)" not in " ".join(remarks(behind))
    assert "Some runs are not finished" in " ".join(remarks(behind))


def test_topics_of_a_report_have_their_shares_and_words():
    run = with_phi([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    run["n_kw"] = run["n_kw"] * [[[3.0], [1.0]]]
    run = run.assign_coords(snapshot_iteration=("snapshot", [1]))
    (table,) = topic_tables({"cgs": run})
    assert [(topic["number"], topic["share"], topic["bar"]) for topic in table["topics"]] == [
        (0, "75.0 %", "5.00"),
        (1, "25.0 %", "1.67"),
    ]
    assert [(one["word"], one["phi"], one["bar"]) for one in table["topics"][0]["words"]] == [
        ("w0", "0.5000", "2.86"),
        ("w1", "0.3000", "1.71"),
        ("w2", "0.2000", "1.14"),
    ]
    own = tiny_run("g-hdp")
    (alpha, *_) = prior_rows(gather([own]))
    assert (alpha["value"], alpha["method"]) == (
        f"{float(own['alpha_total'][-1]):.3f}",
        "learnt, sampled",
    )
