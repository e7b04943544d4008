"""The card of the convergence of chains."""

import re
import shutil

import numpy as np
import pytest

from workbench.dashboard.compare.chains import convergence_of
from workbench.dashboard.compare.looking import RunsCard
from workbench.dashboard.shared.downloads import Handover
from workbench.measures import convergence
from workbench.numbers import format_number
from workbench.report.figures import table_of
from workbench.runs.execution.run import open_run


@pytest.fixture
def seen(new_run):
    """Three seeds of cgs, one of a hybrid, two of svb, as the page looks at them."""
    seeds = [("cgs", 0), ("cgs", 1), ("cgs", 2), ("svb-cgs", 0), ("svb", 0), ("svb", 1)]
    options = {"svb-cgs": {"r": 5}}
    return tuple(
        (
            new_run(
                f"{engine}-{seed}", engine, seed=seed, n_iterations=40, options=options.get(engine)
            ),
            40,
        )
        for engine, seed in seeds
    )


def test_the_table_has_a_row_for_each_label_that_samples_as_the_measures_say(seen):
    html = convergence_of(seen).table
    rows = re.findall(r"<tr style=.*?><th.*?>(.*?)</th>(.*?)</tr>", html, re.DOTALL)
    assert [label for label, _ in rows] == ["cgs", "svb-cgs r=5"]
    wanted = convergence([open_run(path) for path, _ in seen[:3]]).isel(label=0)
    for name, worst, digits in (
        ("r_hat", "max", 3),
        ("ess_bulk", "min", 0),
        ("ess_tail", "min", 0),
    ):
        number = float(getattr(np, worst)(wanted[name].values))
        assert f">{format_number(number, digits)}</td>" in rows[0][1]
    assert '<td class="n">–</td>' in rows[1][1]


def test_the_card_is_there_where_something_samples_with_ranks_of_several_chains(drawn, seen):
    card = RunsCard("Convergence of chains", Handover(), convergence_of)
    card.follow(seen[4:])  # svb
    assert not card.view.visible
    card.follow(seen[3:4])
    assert card.view.visible and not card.figure.objects
    card.files.buttons["SVG"].clicks += 1
    assert "There is no picture of this yet" in card.files.said.object
    card.follow(seen)
    assert card.figure.objects and "R-hat" in card.table.object
    told = table_of(card.shown.picture).decode().splitlines()
    assert told[0] == "label,n_chains,quantity,r_hat,ess_bulk,ess_tail"
    assert told[1].startswith("cgs,3,")


def test_a_run_that_was_removed_meanwhile_is_left_out(seen):
    shutil.rmtree(seen[0][0])
    convergence_of.cache_clear()
    assert '<td class="n">2</td>' in convergence_of(seen).table
