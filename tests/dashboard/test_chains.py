"""The card of the convergence of chains."""

import re
import shutil
from html import unescape

import numpy as np
import pytest

from workbench.dashboard.compare.chains import Chains, convergence_by_label, table
from workbench.dashboard.compare.curve import Drawn
from workbench.dashboard.compare.files import convergence_file
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.files import FileError
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures import convergence, label_free
from workbench.measures.convergence import rank_histograms
from workbench.runs.execution.run import open_run
from workbench.views.style import COLOURS


@pytest.fixture
def drawn(new_run):
    """Three seeds of cgs, one of a hybrid, two of svb, as they are seen on the page."""
    seeds = [
        (engine, seed)
        for engine, n in (("cgs", 3), ("svb-cgs", 1), ("svb", 2))
        for seed in range(n)
    ]
    options = {"svb-cgs": {"r": 5}}
    paths = [
        new_run(f"{engine}-{seed}", engine, seed=seed, n_iterations=40, options=options.get(engine))
        for engine, seed in seeds
    ]
    runs = tuple((path, path.name, colour) for path, colour in zip(paths, COLOURS, strict=False))
    return Drawn(runs, "iterations", "headline", (0.0, 40.0), (0.0, 40.0))


def asked(drawn):
    return tuple((path, 40) for path, *_ in drawn.runs)


def test_the_rows_are_what_the_measures_say(drawn):
    chains = [open_run(path) for path, *_ in drawn.runs[:3]]
    several, alone = convergence_by_label(asked(drawn))
    assert (several.label, alone.label) == ("cgs", "svb-cgs r=5") and several.runs == (
        "cgs-0",
        "cgs-1",
        "cgs-2",
    )
    wanted = convergence(chains).isel(label=0)
    worst = wanted.isel(quantity=np.argmax(wanted["r_hat"].values))
    assert (several.r_hat, several.of) == (worst["r_hat"], worst["quantity"])
    assert several.ess_bulk == float(wanted["ess_bulk"].min()) and several.ess_tail == float(
        wanted["ess_tail"].min()
    )
    assert several.n_draws == wanted["n_draws"] and np.array_equal(
        several.ranks, rank_histograms(label_free(chains)).values
    )


def test_the_table_has_a_row_for_each_label_that_samples_and_bars_for_several_chains(drawn):
    html = table(convergence_by_label(asked(drawn)), drawn)
    rows = re.findall(r'<tr data-runs="(.*?)">(.*?)</tr>', html, re.DOTALL)
    assert [unescape(runs) for runs, _ in rows] == ["cgs-0\ncgs-1\ncgs-2", "svb-cgs-0"]
    assert rows[0][1].count("<rect") == 3 * 20 and COLOURS[0] in rows[0][1]
    assert "<rect" not in rows[1][1] and "one chain" in rows[1][1]


def test_the_card_is_there_where_something_samples(drawn):
    known = {one.name: one for one in RunMonitor(drawn.runs[0][0].parent).look().readings}
    card = Chains(Handover())
    card.show(drawn._replace(runs=drawn.runs[4:]), known)  # svb
    assert not card.card.visible
    card.show(drawn, known)
    assert card.card.visible and "R-hat" in card.html.object


def test_a_run_that_was_removed_meanwhile_is_left_out(drawn):
    shutil.rmtree(drawn.runs[0][0])
    convergence_by_label.cache_clear()
    assert convergence_by_label(asked(drawn))[0].runs == ("cgs-1", "cgs-2")


def test_its_files(drawn):
    paths = [path for path, *_ in drawn.runs]
    told = convergence_file(paths, "csv").content.decode().splitlines()
    assert told[0] == "label,n_chains,quantity,r_hat,ess_bulk,ess_tail" and told[1].startswith(
        "cgs,3,"
    )
    assert b"<svg" in convergence_file(paths, "svg").content
    with pytest.raises(FileError, match="differ in their seeds"):
        convergence_file(paths[3:4], "svg")
