"""What reports and figures tell of runs that learn priors, numbers of topics, and of where they began."""

import csv
import re

import numpy as np
import pytest
from comparisons import made_up, tiny_run
from views.test_inference_views import begun_from

import workbench as wb
from workbench.measures import TOPIC_NUMBERS, final, spec_of
from workbench.report.captions import definitions, settings
from workbench.report.gathering import gather
from workbench.report.tables import label_rows, move_tables, prior_rows, topic_tables, with_figures
from workbench.views import pictures

MOVES = {
    "move": [0, 1, 0, 2],
    "move_accepted": [0, 1, 0, 0],
    "move_gain": [0, 12.4, 0, -3],
    "move_from": [-1, 3, -1, 1],
    "move_to": [-1, 17, -1, 0],
    "bound": [-8, -6, -5, -4],
}


def mover(seed: int = 0):
    run = made_up("cv-hdp", [4, 3, 2, 2], seed=seed)
    return run.assign(
        {name: ("iteration", np.array(values, float)) for name, values in MOVES.items()}
    )


def learner():
    """LDA that learnt its alpha, two topics."""
    options = spec_of(made_up("cvb", [1])).options | {"learn_alpha": "maximised"}
    run = made_up("cvb", [3, 2], options=options)
    return run.assign(alpha=(("iteration", "topic"), [[0.1, 0.1], [0.25, 0.5]]))


@pytest.fixture(scope="module")
def mixed():
    return [tiny_run("cgs"), tiny_run("cv-hdp"), tiny_run("g-hdp")]


@pytest.fixture(scope="module")
def of_mixed(mixed):
    """Their pictures."""
    return [*pictures(mixed)]


@pytest.fixture
def page(undrawn, tmp_path):
    """runs → the text of their page, figures left empty."""

    def written(runs) -> str:
        return wb.write_report(runs, tmp_path / "report.html").read_text()

    return written


def rows_of(name, drawn) -> list[dict]:
    picture = next(one for one in drawn if one.name == name)
    return [dict(zip(picture.header, row, strict=True)) for row in picture.rows]


def test_each_figure_is_drawn_for_runs_with_its_variables(of_mixed):
    names = [one.name for one in of_mixed]
    assert {"perplexity-by-steps", "topic-numbers", "hyperparameters", "alphas"} <= set(names)
    assert not {"against-topics", "moves", "lineage"} & set(names)
    alone = [one.name for one in pictures([made_up("cgs", [2]), made_up("svb", [2])])]
    assert alone == [
        "ordering",
        "perplexity-by-iterations",
        "perplexity-by-seconds",
        "perplexity-by-updates",
        "state-and-average",
        "topic-sizes",
    ]
    wide = made_up("cgs", [2], model={"n_topics": 3, "alpha": 0.1, "beta": 0.1})
    more = [one.name for one in pictures([mover(), begun_from(mover()), made_up("cgs", [3]), wide])]
    assert {"against-topics", "moves", "lineage", "perplexity-by-steps"} <= set(more)


def test_the_data_behind_the_figures_are_those_of_the_runs(mixed, of_mixed):
    rows = rows_of("topic-numbers", of_mixed)
    assert len(rows) == 3 * 12
    own = [row for row in rows if row["label"] == "g-hdp"]
    assert [row["n_active_topics"] for row in own] == mixed[2]["n_active_topics"].values.tolist()
    concentrations = [
        row for row in rows_of("hyperparameters", of_mixed) if row["label"] == "cv-hdp"
    ]
    assert [row["alpha_total"] for row in concentrations] == mixed[1]["alpha_total"].values.tolist()
    assert {
        row["alpha_total"] for row in rows_of("hyperparameters", of_mixed) if row["label"] == "cgs"
    } == {""}
    alphas = [
        row
        for row in rows_of("alphas", of_mixed)
        if row["label"] == "cv-hdp" and row["iteration"] == 12
    ]
    assert [row["alpha"] for row in alphas] == mixed[1]["alpha"].values[-1].tolist()
    steps = [row for row in rows_of("perplexity-by-steps", of_mixed) if row["label"] == "cgs"]
    assert [row["steps"] for row in steps] == [4.0 * iteration for iteration in range(1, 13)]
    moved = rows_of("moves", pictures([mover()]))
    assert [
        (row["iteration"], row["move"], row["from"], row["to"], row["kept"]) for row in moved
    ] == [
        (2, "split", 3, 17, 1),
        (4, "merge", 1, 0, 0),
    ]
    wide = {"n_topics": 3, "alpha": 0.1, "beta": 0.1}
    worth = rows_of(
        "against-topics", pictures([made_up("cgs", [np.e]), made_up("cgs", [1], model=wide)])
    )
    assert [(row["topics requested"], row["log_likelihood"]) for row in worth] == [(2, -1), (3, 0)]
    parent, child = mover(), begun_from(mover())
    (edge,) = rows_of("lineage", pictures([child, parent]))
    names = child.attrs["name"], parent.attrs["name"]
    assert (edge["run"], edge["parent"], edge["iteration"]) == (*names, 7)


def test_captions_name_constant_numbers_of_topics_that_are_not_drawn(mixed, of_mixed):
    def drawn(made):
        picture = next(one for one in made if one.name == "topic-numbers")
        return [panel.Curve.values()[0].vdims[0].name for panel in picture.panels], picture.caption

    names, caption = drawn(of_mixed)
    assert "effective_topics" in names and f"by {len(names)} definitions" in caption
    flat = [
        run.assign(n_large_topics=run["n_large_topics"] * 0 + 2) if "n_large_topics" in run else run
        for run in mixed
    ]
    names, caption = drawn(pictures(flat))
    assert (
        "n_large_topics" not in names
        and "Constant, and not drawn: topics with at least a hundredth" in caption
    )
    still = [
        run.assign({name: run[name] * 0 + 2 for name in TOPIC_NUMBERS})
        for run in flat
        if "n_active_topics" in run
    ]
    names, caption = drawn(pictures(still))
    assert names == ["n_active_topics"] and "by one definition: " in caption


def test_bounds_stand_in_one_table_each_in_nats_and_for_a_token():
    both = mover().assign(collapsed_bound=("iteration", [-7.0, -5.0, -4.0, -3.0]))
    told = made_up("vb", [1]).assign(bound=("iteration", [-12.0]))
    rows = rows_of("bound", pictures([told, both]))
    assert [row["bound_per_token"] for row in rows] == [-3, -1.75, -1.25, -1, -0.75]
    assert [row["collapsed_bound"] for row in rows] == ["", -7, -5, -4, -3]


def test_the_page_tells_how_many_topics_there_are_where_a_run_finds_them(mixed, page):
    text = page(mixed)
    assert "topics with a token" in text
    rows, _, _ = label_rows(gather(mixed), None)
    assert [row["n_active_topics"] for row in rows] == [
        f"{n:.0f}" for n in final(mixed)["n_active_topics"].values
    ]
    assert "topics with a token" not in page([made_up("cgs", [2])])


def test_the_page_has_the_method_and_final_values_of_learnt_hyperparameters(mixed, page):
    text = " ".join(re.sub(r"<[^>]*>", " ", page([*mixed, learner()])).split())
    assert "3 of 4 runs learn hyperparameters (cv-hdp, g-hdp, cvb)." in text
    assert "alpha of a topic learnt, maximised 0.25 to 0.5, sum 0.750" in text
    assert (
        "learnt, prior Gamma(4, 4)" in text
        and "100, fixed" in text
        and "0.1 initially, then maximised" in text
    )
    assert "learn hyperparameters" not in page([made_up("cgs", [2])])
    assert prior_rows(gather([made_up("cgs", [2])])) == []
    rows = prior_rows(gather(mixed))
    assert [(row["label"], row["name"], row["span"]) for row in rows[:3]] == [
        ("cgs", "alpha of a topic", 2),
        ("cgs", "beta of a word", 0),
        ("cv-hdp", "alpha, sum over topics", 3),
    ]
    assert rows[2]["value"] == with_figures(mixed[1]["alpha_total"].values[-1:])


def test_numbers_have_three_figures_and_the_error_over_runs():
    assert (
        with_figures(np.array([0.012345])) == "0.0123" and with_figures(np.array([123.4])) == "123"
    )
    assert (
        with_figures(np.array([1.0, 2.0])) == "1.50 ± 0.50"
        and with_figures(np.array([2.0, 2.0])) == "2.00"
    )
    assert with_figures(np.array([0.0])) == "0.00"


def test_the_page_tells_every_move(page):
    text = page([mover()])
    assert "2 tried, 1 kept (1 split)" in text
    assert "split 3 → 17, +12.4 nats, kept" in text and "merge 1 → 0, −3.0 nats, undone" in text
    (table,) = move_tables(gather([mover()]))
    assert [move.iteration for move in table["moves"]] == [2, 4] and table["more"] == 0
    assert "Splits and merges" not in page([made_up("cgs", [2])])


def test_settings_describe_the_number_of_topics_of_each_engine(mixed):
    actual = dict(settings(gather(mixed)))
    assert actual["topics"] == "4; at most 4 (cv-hdp); 4 initially (g-hdp)"
    assert (
        actual["alpha (per topic)"] == "0.1"
        and actual["gamma (HDP)"] == "learnt, prior Gamma(7.5, 7.5)"
    )
    assert not [name for name in dict(settings(gather([made_up("cgs", [1])]))) if "HDP" in name]


def test_every_measure_that_is_shown_is_defined(mixed):
    names = [name for name, _ in definitions(gather(mixed))]
    assert {
        "topics with a token",
        "topics with at least 1 %",
        "effective topics",
        "steps",
        "gamma",
    } <= set(names)
    plain = {name for name, _ in definitions(gather([made_up("cgs", [1])]))}
    assert not {"steps", "topics with a token", "alpha of a topic"} & plain


def test_topics_without_a_token_are_in_no_table_of_an_hdp(mixed):
    run = mixed[2].copy(deep=True)
    gone = int(run["n_kw"].values[-1].sum(axis=1).argmax())
    run["n_kw"][-1, gone] = 0
    (table,) = topic_tables({"g-hdp": run})
    left = run["n_kw"].values[-1].sum(axis=1) >= 1
    assert sorted(topic["number"] for topic in table["topics"]) == np.flatnonzero(left).tolist()


@pytest.mark.slow
def test_the_figures_are_drawn_and_written(tmp_path):
    parent = mover()
    wide = made_up("cgs", [2], model={"n_topics": 3, "alpha": 0.1, "beta": 0.1})
    runs = [parent, begun_from(parent), made_up("cgs", [3]), wide]
    written = {path.name: path for path in wb.save_figures(runs, tmp_path, "svg")}
    for name in ("against-topics", "moves", "lineage"):
        assert written[f"{name}.svg"].read_text().startswith("<?xml")
        assert list(csv.reader(written[f"{name}.csv"].read_text().splitlines()))[1:]
