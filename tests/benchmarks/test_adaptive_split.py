"""Which pairs a hybrid samples: what is measured of each choice, and what is told of it. No time is asserted."""

import adaptive_split
import pandas as pd
import pytest
from run import QUESTIONS, Plan


def test_every_choice_makes_the_updates_of_n_up_to_r_and_is_told_beside_it():
    toy = "bars:side=3:n_documents=30", 4, 3
    rows = [
        row | {"cell": "toy"} for seed in (0, 1) for row in adaptive_split.measure(*toy, seed, 6)
    ]
    frame = pd.DataFrame(rows)
    updates = frame.pivot_table(index="contender", columns="seed", values="updates")
    by_counts = updates.loc["N ≤ r, svb"]
    chosen = [label for label in updates.index if label.startswith(("gap", "random"))]
    assert len(chosen) == 9 and (updates.loc[chosen] <= by_counts + 1e-9).all(axis=None)
    assert (updates.loc["cgs"] == 1).all() and (updates.loc["cvb0"] < 1).all()
    assert (frame["perplexity"] > 1).all() and (frame["cpu"] > 0).all()
    told = adaptive_split.told(frame)
    assert "**bars:side=3:n_documents=30, counts × 4, K = 3**, r = 4, seeds: 2" in told
    assert all(f"| {label} |" in told for label in updates.index)


def test_it_is_a_question_of_the_benchmarks_with_a_cell_for_every_seed():
    plan = Plan((), (), 3, 1.0, 5, False)
    names = [name for name, _, _ in QUESTIONS["adaptive_split"].cells(plan)]
    assert len(names) == 5 * len(adaptive_split.CASES) and names[0] == "docstrings ×1 K=10 seed 0"


@pytest.mark.parametrize(
    ("given", "told"),
    [([-1.0, -3.0], "-2.0 ± 1.0"), ([2.0], "+2.0"), ([1.0, float("nan")], "+1.0")],
)
def test_a_difference_has_its_standard_error_where_there_are_several(given, told):
    assert adaptive_split.error_of(pd.Series(given)) == told
