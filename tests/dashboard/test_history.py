"""The log of moves, and who began from whom."""

import re

import pandas as pd
import pytest

from workbench.dashboard.compare.history import (
    family_of,
    gap_of,
    lineage_of,
    moves_of,
    priors_of,
)
from workbench.dashboard.compare.looking import RunsCard
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import gap, moves
from workbench.runs.execution.run import open_run


def test_moves_are_told_the_latest_first_with_what_became_of_them(drawn, new_run, store):
    new_run("hdp", "cv-hdp", n_iterations=8, options={"moves_every": 2, "moves_after": 2})
    new_run("lda", "cvb0", options={"learn_alpha": "maximised", "learn_after": 2})
    hdp, lda = sorted(RunMonitor(store).look().readings, key=lambda one: one.name)
    priors = RunsCard("Priors of topics", Handover(), priors_of)
    seen = ((hdp.path, 8), (lda.path, 12))
    priors.follow(seen)
    assert priors.view.visible and {row[1] for row in priors.shown.picture.rows} >= {"lda"}
    priors.follow(())
    assert not priors.view.visible
    log, tried = RunsCard("Moves", Handover(), moves_of), moves(open_run(hdp.path))
    for runs, told in ((seen[:1], f"hdp: {len(tried)} tried"), ((), None)):
        log.follow(runs)
        assert log.view.visible == (told is not None)
        assert told is None or (told in log.said.object and log.figure.objects)
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
        assert bool(card.shown.picture) == drawn and said in card.said.object
        assert card.view.visible == (drawn or bool(said))
    wanted = gap([open_run(path) for path, _ in seen])
    parts = {row[1]: float(row[2]) for row in card.shown.picture.rows}
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
    table = pd.DataFrame(card.shown.picture.rows, columns=card.shown.picture.header)
    assert table[["run", "parent", "iteration"]].values.tolist() == [
        ["orphan", "its old name", 1000],
        ["child", "parent", 50],
        ["grandchild", "child", 9],
    ]
    assert card.figure.objects and ">orphan</td>" in card.table.object
    assert [path.name for path in card.shown.paths] == ["orphan", "parent", "child", "grandchild"]
