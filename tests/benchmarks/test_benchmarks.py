"""The benchmarks measure what they say, keep what they measured, and write it down. No time is asserted."""

import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import online
import pandas as pd
import pytest
import scikit_learn
from correlated_topics import sooner, told
from ours import LeftOut, Ours
from peers import PEERS, Lda
from records import Records, conditions
from rounds import ratio, take_turns
from targets import judged
from time_to_perplexity import Progress, seconds_to, to_the_mark
from toys import CORPORA, LDA_ENGINES, simulated

from workbench.corpus import Corpus, hold_out_tokens
from workbench.engines.lda.fold_in import mixture_probability

RUN = Path(__file__).parents[2] / "benchmarks" / "run.py"
TOY = "bars:side=3:n_documents=30"
INSTALLED = [
    name
    for name, module in zip(PEERS, ("tomotopy", "lda", "sklearn", "gensim"), strict=True)
    if find_spec(module)
]
"""The peers that are on this machine: scikit-learn always, the others with the extra `bench`."""
of_peers = pytest.mark.filterwarnings("ignore")
"""What other packages warn of is not ours: tomotopy cannot even be imported where warnings are errors."""


def run(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, RUN, *arguments], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_a_run_writes_its_tables_and_goes_on_where_it_was_stopped(tmp_path):
    asked = (
        "beside_peers",
        "--corpora",
        TOY,
        "--rounds",
        "1",
        "--seconds",
        "0.05",
        "--out",
        str(tmp_path),
    )
    assert "[1/1]" in run(*asked, "--topics", "2")
    assert "[1/1] beside_peers, bars:side=3:n_documents=30 K=3" in run(*asked, "--topics", "2,3")
    written = (tmp_path / "README.md").read_text()
    rows = Records(tmp_path / "beside_peers.csv").rows
    assert set(rows["contender"]) == {*LDA_ENGINES, *PEERS} and set(rows["n_topics"]) == {2, 3}
    assert (rows["cpu"].notna() | rows["left_out"].notna()).all()
    assert "| CGS vs tomotopy, K=10 |" in written and "| scikit-learn / svb, " in written
    (tmp_path / "README.md").unlink()
    assert "[1/" not in run("--tables", "--out", str(tmp_path))
    assert (tmp_path / "README.md").read_text() == written and (
        tmp_path / "beside_peers.svg"
    ).exists()


@of_peers
@pytest.mark.long
def test_a_pass_in_batches_is_measured_of_every_contender():
    """Each has topics afterwards that predict better than words that are all alike, of nine."""
    rows = pd.DataFrame(online.measure(TOY, SimpleNamespace(rounds=1)))
    measured = rows[rows["cpu"].notna()]
    assert set(rows["contender"]) == set(online.CONTENDERS)
    assert {"online-vb", "scikit-learn, partial_fit"} <= set(measured["contender"])
    assert (measured["perplexity"] < 9).all() and (measured["cpu"] > 0).all()
    assert "| online-vb |" in online.told(rows)


@pytest.mark.long
def test_estimators_are_measured_in_the_same_pipeline():
    """Each predicts unseen documents better than words that are all alike, of nine."""
    rows = pd.DataFrame(scikit_learn.measure(TOY, SimpleNamespace(rounds=1)))
    assert set(rows["contender"]) == {*scikit_learn.PEERS, *scikit_learn.OURS}
    assert (rows["perplexity"] < 9).all() and (rows[["cpu", "cpu_transform"]] > 0).all().all()
    assert "| TopicModel, cvb0 |" in scikit_learn.told(rows)


def test_a_question_that_there_is_not_is_refused():
    told = subprocess.run([sys.executable, RUN, "grwoth"], capture_output=True, text=True)
    assert told.returncode == 2 and "beside_peers" in told.stderr


@pytest.mark.parametrize("name", LDA_ENGINES)
def test_theta_and_phi_of_an_engine_predict_as_the_engine_does(name):
    train, test = hold_out_tokens(simulated(), 0.2, 0)
    ours = Ours(name, train, 3)
    ours.sweep(2)
    wanted = ours.engine.predict(train, ours.model, ours.options, ours.state, test)
    found = mixture_probability(*ours.theta_phi(), test)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)  # float64, summed in another order


@of_peers
@pytest.mark.parametrize("name", INSTALLED)
def test_one_sweep_of_a_peer_counts_every_token_once(name):
    """Whatever is behind its topics adds up to the tokens of the corpus, sweep after sweep."""
    corpus = simulated()
    peer = PEERS[name](corpus, 3)
    peer.sweep(2)
    expected = {
        "tomotopy": lambda: sum(peer.model.get_count_by_topics()),
        "lda": lambda: peer.model.nz_.sum(),
        "scikit-learn": lambda: peer.model.components_.sum() - 0.1 * 3 * corpus.n_words,
        "gensim": lambda: peer.model.state.sstats.sum(),
    }[name]()
    assert expected == pytest.approx(corpus.n_tokens, rel=1e-9)  # rounding in float64


@of_peers
@pytest.mark.parametrize("name", INSTALLED)
def test_theta_and_phi_of_a_peer_are_probabilities_and_predict_better_than_chance(name):
    train, test = hold_out_tokens(simulated(60, 20, 60), 0.1, 0)
    progress = Progress(PEERS[name](train, 4), test, 30)
    last = progress.until(1.0)[-1]
    theta, phi = progress.contender.theta_phi()
    assert theta.shape == (train.n_documents, 4) and phi.shape == (train.n_words, 4)
    np.testing.assert_allclose([*theta.sum(axis=1), *phi.sum(axis=0)], 1.0, rtol=1e-12)
    assert last["iteration"] == 30 and 1 < last["online"] < 0.8 * train.n_words


@of_peers
@pytest.mark.parametrize("name", INSTALLED)
def test_a_peer_takes_empty_documents_and_unused_words(name):
    corpus = CORPORA["empty_documents_and_unused_words"]
    peer = PEERS[name](corpus, 2)
    peer.sweep()
    theta, phi = peer.theta_phi()
    assert theta.shape == (corpus.n_documents, 2) and phi.shape == (corpus.n_words, 2)
    np.testing.assert_allclose(theta[0], 0.5, rtol=1e-12)  # nothing is known of an empty document


@of_peers
@pytest.mark.parametrize("name", sorted({"scikit-learn", "gensim"} & set(INSTALLED)))
def test_one_inner_step_is_not_what_a_peer_does_by_itself(name):
    once, usual = (PEERS[name](simulated(), 3, inner=inner) for inner in (1, "usual"))
    for peer in (once, usual):
        peer.sweep()
    # the same seed, so far alike
    assert np.abs(once.theta_phi()[1] - usual.theta_phi()[1]).max() > 1e-6


@of_peers
@pytest.mark.skipif("lda" not in INSTALLED, reason="lda is not installed; the extra bench has it")
def test_lda_goes_on_from_the_topics_of_cgs():
    corpus = simulated()
    ours = Ours("cgs", corpus, 3)
    ours.sweep(2)
    model = Lda(corpus, 3, topics=ours.topics).model
    np.testing.assert_array_equal(model.ndz_, ours.state.n_dk[:, :3])
    np.testing.assert_array_equal(model.nzw_.T, ours.state.n_wk[:, :3])


class Wandering:
    """A sampler whose words are equally likely in even sweeps and, but for the first, all but impossible in odd ones."""

    samples, n_sweeps = True, 0

    def sweep(self) -> None:
        self.n_sweeps += 1

    def theta_phi(self):
        first = 0.001 if self.n_sweeps % 2 else 0.5
        return np.ones((2, 1)), np.array([[1.0 - first], [first]])


def test_online_is_the_perplexity_of_the_average_after_the_tenth_sweep():
    test = Corpus.from_pairs([0, 1], [1, 1], [1, 1])
    rows = Progress(Wandering(), test, 13).until(1.0)
    assert [row["online"] for row in rows[:10]] == [row["perplexity"] for row in rows[:10]]
    wanted = [1000.0, 1 / np.mean([0.001, 0.5]), 1 / np.mean([0.001, 0.5, 0.001])]
    assert [row["online"] for row in rows[10:]] == pytest.approx(wanted, rel=1e-12)  # float64


class Counting:
    """A contender that only counts its sweeps."""

    def __init__(self):
        self.n_sweeps = 0

    def sweep(self, n: int = 1) -> None:
        self.n_sweeps += n


def too_large():
    raise LeftOut("too large")


def test_contenders_take_turns_and_one_that_is_left_out_says_why():
    first, second = Counting(), Counting()
    rows = take_turns(
        {"a": (lambda: first, 2), "b": (lambda: second, 1), "c": (too_large, 1)}, 3, 60.0
    )
    assert [row["contender"] for row in rows if "left_out" not in row] == ["a", "b"] * 3
    assert [(row["contender"], row["left_out"]) for row in rows if "left_out" in row] == [
        ("c", "too large")
    ]
    assert first.n_sweeps == 2 + sum(row["sweeps"] for row in rows if row["contender"] == "a")


def test_who_has_used_up_the_budget_sits_out_after_two_rounds():
    rows = take_turns({"a": (Counting, 1)}, 5, -1.0)
    assert [row["round"] for row in rows] == [0, 1]


def test_a_ratio_is_the_median_over_common_rounds():
    rows = pd.DataFrame(
        [
            ("a", 0, 1.0),
            ("b", 0, 2.0),
            ("a", 1, 10.0),
            ("b", 1, 50.0),
            ("a", 2, 1.0),
            ("b", 2, 3.0),
            ("a", 3, 9.0),
        ],
        columns=["contender", "round", "cpu"],
    )
    assert ratio(rows, "a", "b") == 3.0 and math.isnan(ratio(rows, "a", "c"))


def test_the_time_to_a_perplexity_is_that_of_the_first_iteration_there():
    peer = [("scikit-learn", i, 10.0 * i, 200.0 - i) for i in range(1, 31)]
    ours = [
        ("svb", 1, 0.5, 190.0),
        ("svb", 2, 1.0, 180.0),
        ("svb", 3, 1.5, 170.0),
        ("vb", 1, 1.0, 181.0),
    ]
    rows = pd.DataFrame(peer + ours, columns=["contender", "iteration", "cpu", "online"]).assign(
        seed=0, corpus="kos"
    )
    assert seconds_to(rows[rows["contender"] == "svb"], 185.0) == 1.0
    against = to_the_mark(rows)
    assert (
        against.loc[0, "perplexity"] == 180.0
        and against.loc[0, "svb"] == 200.0
        and math.isnan(against.loc[0, "vb"])
    )


@pytest.mark.parametrize(
    ("values", "low", "wanted"),
    [
        ([2.0, 1.7], False, "aim reached"),
        ([1.3, 1.7], False, "met"),
        ([1.3, 1.0], False, "met in 1 of 2"),
        ([1.0], False, "missed"),
        ([math.nan], False, "not measured"),
        ([1.5, math.nan], True, "met"),
        ([1.1], True, "aim reached"),
        ([1.7], True, "missed"),
    ],
)
def test_a_target_is_judged_by_all_of_its_values(values, low, wanted):
    assert judged(1.6 if low else 1.2, 1.2 if low else 1.6, values, low) == wanted


def test_what_was_measured_is_kept_and_replaced_cell_by_cell(tmp_path):
    path = tmp_path / "kept.csv"
    Records(path).put(
        "one", [{"contender": "a", "cpu": 1.0}, {"contender": "b", "left_out": "too large"}]
    )
    Records(path).put("two", [{"contender": "a", "cpu": 2.0}])
    Records(path).put("one", [{"contender": "a", "cpu": 3.0}])
    kept = Records(path)
    assert kept.has("one") and kept.has("two") and not kept.has("three")
    assert sorted(kept.rows["cpu"]) == [2.0, 3.0] and set(kept.rows) >= {
        "measured",
        "commit",
        "load",
    }


def test_what_was_measured_is_not_lost_where_its_corpus_is_missing(tmp_path):
    path = tmp_path / "kept.csv"
    Records(path).put("one", [{"contender": "a", "corpus": "kos", "cpu": 1.0}])
    assert not Records(path).put(
        "one", [{"contender": "all", "corpus": "kos", "left_out": "not on this machine"}]
    )
    assert not Records(path).put("one", [{"contender": "a", "corpus": "docstrings", "cpu": 2.0}])
    assert list(Records(path).rows["cpu"]) == [1.0]
    assert Records(path).put("one", [{"contender": "a", "corpus": "kos", "cpu": 3.0}])
    assert list(Records(path).rows["cpu"]) == [3.0]


def test_a_commit_that_looks_like_a_number_is_none(tmp_path, monkeypatch):
    for commit in ("1e85258", "0012345"):
        monkeypatch.setattr("records.commit", lambda commit=commit: commit)
        Records(tmp_path / "kept.csv").put(commit, [{"contender": "a", "cpu": 1.0}])
    assert "commit 1e85258, 0012345, load" in conditions(Records(tmp_path / "kept.csv").rows)


def test_how_much_sooner_is_the_ratio_of_cpu_times_at_the_same_perplexity():
    rows = pd.DataFrame(
        [
            {
                "contender": "CTModel",
                "size": "to",
                "iteration": i,
                "cpu": 2.0 * i,
                "perplexity": 600.0 - i,
            }
            for i in (1, 60)
        ]
        + [
            {
                "contender": "sb-ctm",
                "size": "to",
                "iteration": i,
                "cpu": 0.5 * i,
                "perplexity": 560.0 - 5 * i,
            }
            for i in (1, 4)
        ]
    )
    assert sooner(rows) == (120.0 / 2.0, 540.0)  # 540 is reached in the fourth iteration
    never = rows[(rows["contender"] == "CTModel") | (rows["iteration"] == 1)]
    assert math.isnan(sooner(never)[0])


def test_draws_are_told_in_nanoseconds_of_each():
    rows = pd.DataFrame(
        [
            {
                "contender": name,
                "size": "draws",
                "round": 0,
                "cpu": cpu,
                "n_draws": 1000,
                "iteration": None,
            }
            for name, cpu in (("PG(1, c): ours", 1e-5), ("PG(1, c): polyagamma, default", 4e-5))
        ]
    )
    assert "| PG(1, c): ours | 10 ns | 4 × PG(1, c): polyagamma, default |" in told(rows)
