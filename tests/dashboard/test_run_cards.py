"""Cards on what several runs recorded: how chains agree, the gap, the log of moves, and who began from whom."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest

from workbench.dashboard.compare.run_cards import (
    RunsCard,
    consensus_of,
    convergence_of,
    family_of,
    gap_of,
    lineage_of,
    moves_of,
    priors_of,
)
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import consensus, convergence, gap, moves
from workbench.numbers import format_number
from workbench.report.figures import table_of
from workbench.runs.execution.run import open_run


@pytest.fixture
def chains(new_run):
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


def test_the_table_has_a_row_for_each_label_that_samples_as_the_measures_say_of_the_runs_that_are_there(
    chains,
):
    html = convergence_of(chains).table
    rows = re.findall(r"<tr style=.*?><th.*?>(.*?)</th>(.*?)</tr>", html, re.DOTALL)
    assert [label for label, _ in rows] == ["cgs", "svb-cgs r=5"]
    wanted = convergence([open_run(path) for path, _ in chains[:3]]).isel(label=0)
    for name, worst, digits in (
        ("r_hat", "max", 3),
        ("ess_bulk", "min", 0),
        ("ess_tail", "min", 0),
    ):
        number = float(getattr(np, worst)(wanted[name].values))
        assert f">{format_number(number, digits)}</td>" in rows[0][1]
    assert '<td class="n">–</td>' in rows[1][1]
    shutil.rmtree(chains[0][0])
    convergence_of.cache_clear()
    assert '<td class="n">2</td>' in convergence_of(chains).table


def test_the_card_is_there_where_something_samples_with_ranks_of_several_chains(drawn, chains):
    card = RunsCard("Convergence of chains", Handover(), convergence_of)
    card.follow(chains[4:])  # svb
    assert not card.view.visible
    card.follow(chains[3:4])
    assert card.view.visible and not card.figure.objects
    card.files.buttons["SVG"].clicks += 1
    assert "There is no picture of this yet" in card.files.status.object
    card.follow(chains)
    assert card.figure.objects and "R-hat" in card.table.object
    told = table_of(card.card_content.picture).decode().splitlines()
    assert told[0] == "label,n_chains,quantity,r_hat,ess_bulk,ess_tail"
    assert told[1].startswith("cgs,3,")


def test_consensus_of_shows_in_how_many_finished_runs_of_a_label_topics_are(chains):
    shown = consensus_of(chains[:4])
    assert shown.sentence == "" and {row[5] for row in shown.picture.rows} == {3}
    found = consensus([open_run(path) for path, _ in chains[:3]])
    drawn = {row[3]: row[4] for row in shown.picture.rows}
    assert drawn == dict(zip(found["topic"].values, found["n_found"].values, strict=True))
    assert "draw its runs alone" in consensus_of(chains).sentence
    running = tuple((path, -1) for path, _ in chains[:2])
    assert consensus_of((*running, chains[2])).picture is None


def test_moves_are_told_the_latest_first_with_what_became_of_them(drawn, new_run, store):
    new_run("hdp", "cv-hdp", n_iterations=8, options={"moves_every": 2, "moves_after": 2})
    new_run("lda", "cvb0", options={"learn_alpha": "maximised", "learn_after": 2})
    hdp, lda = sorted(RunMonitor(store).look().readings, key=lambda one: one.name)
    priors = RunsCard("Priors of topics", Handover(), priors_of)
    seen = ((hdp.path, 8), (lda.path, 12))
    priors.follow(seen)
    assert priors.view.visible and {row[1] for row in priors.card_content.picture.rows} >= {"lda"}
    priors.follow(())
    assert not priors.view.visible
    log, tried = RunsCard("Moves", Handover(), moves_of), moves(open_run(hdp.path))
    for runs, told in ((seen[:1], f"hdp: {len(tried)} tried"), ((), None)):
        log.follow(runs)
        assert log.view.visible == (told is not None)
        assert told is None or (told in log.status.object and log.figure.objects)
    shown = moves_of(((hdp.path, 8),))
    rows = re.findall(r'<tr class="(.*?)"><th scope="row">(\d+)<', shown.table)
    assert rows == [
        ("kept" if one.accepted else "back", f"{one.iteration}") for one in reversed(tried)
    ]
    assert [row[3:7] for row in shown.picture.rows] == [list(one[:4]) for one in tried]


def test_the_gap_to_gibbs_sampling_is_divided_or_says_what_it_needs(drawn, new_run):
    card = RunsCard("Gap to Gibbs sampling", Handover(), gap_of)
    seen = tuple((new_run(name, name), 12) for name in ("cgs", "svb"))
    for runs, drawn, said in (
        (seen[:1], False, ""),
        (seen[1:], False, "Draw a finished run of cgs"),
        (seen, True, ""),
    ):
        card.follow(runs)
        assert bool(card.card_content.picture) == drawn and said in card.status.object
        assert card.view.visible == (drawn or bool(said))
    wanted = gap([open_run(path) for path, _ in seen])
    parts = {row[1]: float(row[2]) for row in card.card_content.picture.rows}
    assert parts == pytest.approx(
        dict(zip(wanted["part"].values, wanted["gap"].values[0], strict=True))
    )


def test_the_tree_has_each_run_that_began_from_another_and_whose_parent_is_gone(drawn, reading_of):
    def began(name, parent, iteration):
        return reading_of(
            name, start={"name": "its old name", "hash": parent, "iteration": iteration}
        )

    newest_first = (
        reading_of("alone"),
        began("grandchild", "child", 9),
        began("child", "parent", 50),
        reading_of("parent"),
        began("orphan", "gone", 1000),
        reading_of("broken", state="unreadable")._replace(spec=None),
    )
    card = RunsCard("Warm starts", Handover(), lineage_of)
    card.follow(family_of(newest_first[:1]))
    assert not card.view.visible
    card.follow(family_of(newest_first))
    table = pd.DataFrame(card.card_content.picture.rows, columns=card.card_content.picture.header)
    assert table[["run", "parent", "iteration"]].values.tolist() == [
        ["orphan", "its old name", 1000],
        ["child", "parent", 50],
        ["grandchild", "child", 9],
    ]
    assert card.figure.objects and ">orphan</td>" in card.table.object
    assert [path.name for path in card.card_content.paths] == [
        "orphan",
        "parent",
        "child",
        "grandchild",
    ]
