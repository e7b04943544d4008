"""The Compare page in a real Chromium: every control used, and its effect seen."""

import io
import json
import sys
import zipfile
from dataclasses import asdict
from urllib.parse import urlencode
from urllib.request import urlopen
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from browser.desk import (
    cells,
    download,
    field,
    figure,
    fill,
    marks,
    points,
    press,
    priors,
    row,
    state,
    type_into,
    until,
)
from browser.servers import ROOT, serving
from PIL import Image

from workbench.corpus import hold_out_tokens
from workbench.dashboard.compare.fields import FILE
from workbench.engines import get_engine
from workbench.measures import moves
from workbench.models import LDA
from workbench.runs.execution.fit import fit, start
from workbench.runs.execution.run import Run, open_run, open_runs
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.status import read_spec

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONG = 150_000
"""Iterations that no test waits for."""
HOST = "table.getRootNode().host"
"""What a table that stands in a sentence scrolls within."""


@pytest.fixture(scope="module")
def halves():
    """Training and test tokens of 300 documents: some milliseconds an iteration."""
    return hold_out_tokens(LDA(4, 0.3, 0.2).simulate(300, 200, 50, seed=3)[0], fraction=0.1, seed=0)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A CSV of 60 short texts."""
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    path.write_text(
        "text\n" + "apples pears plums apples\nred green blue red\napples red pears green\n" * 20
    )
    return path


@pytest.fixture(scope="module")
def finished(store, halves):
    """Two finished runs of 30 iterations in the store."""
    train, test = halves
    for engine in ("svb", "cgs"):
        fit(
            train,
            engine,
            4,
            test=test,
            n_iterations=30,
            store=store,
            name=f"done-{engine}",
            progress=False,
        )
    return store


def test_runs_from_a_terminal_appear_stream_and_are_paused_resumed_and_stopped(
    url, new_page, store, halves
):
    page = new_page(url)
    page.get_by_text("No run yet").wait_for()
    train, test = halves
    names = ("live-svb", "live-cgs")
    for name in names:
        start(
            train,
            engine=name.split("-")[1],
            n_topics=4,
            test=test,
            n_iterations=LONG,
            store=store,
            name=name,
        )
    try:
        for name in names:
            row(page, name).wait_for()
            until(lambda name=name: state(page, name) == "running", f"{name} is running")
        assert not page.get_by_text("No run yet").is_visible()
        before = until(
            lambda: [n for n in points(page) if n] * (sum(n > 0 for n in points(page)) == 2),
            "two runs are drawn",
        )
        until(
            lambda: all(now > then for now, then in zip(points(page), before, strict=False)),
            "both runs stream",
        )
        assert sorted(figure(page)["legend"]) == ["cgs", "svb"]
        shown = row(page, "live-cgs").inner_text()
        until(lambda: row(page, "live-cgs").inner_text() != shown, "the row goes on")

        page.get_by_label("choose live-cgs").check()
        press(page, "Pause")
        until(lambda: state(page, "live-cgs") == "paused", "the page shows the pause")
        assert (Run(store / "live-cgs").state, Run(store / "live-svb").state) == (
            "paused",
            "running",
        )
        rests = points(page)
        until(
            lambda: any(now > then for now, then in zip(points(page), rests, strict=True)),
            "the other run streams on",
        )
        rests = points(page)
        until(lambda: points(page) != rests, "the other run streams on")
        assert sum(now != then for now, then in zip(points(page), rests, strict=True)) == 1
        press(page, "Resume")
        until(lambda: state(page, "live-cgs") == "running", "the page shows that it goes on")
        page.get_by_label("choose all runs").check()
        press(page, "Stop 2")
        for name in names:
            until(
                lambda name=name: state(page, name) == "stopped",
                f"the page shows that {name} has stopped",
            )
            assert Run(store / name).state == "stopped"
    finally:
        for name in names:
            Run(store / name).stop()
        for name in names:
            Run(store / name).wait(30)
    press(page, "Remove 2")
    page.get_by_text("press again").wait_for()
    press(page, "Really remove 2")
    until(lambda: not page.locator("tr[data-run]").count(), "the rows are gone")
    assert open_runs(store) == []
    until(lambda: points(page) == [0] * 8, "the curves are gone")


def test_axis_measure_and_range_change_the_figure(url, new_page, finished):
    page = new_page(url)
    until(
        lambda: [n for n in points(page) if n] == [30, 30],
        "the newest runs are drawn without a click",
    )
    assert figure(page) | {"right": 0, "low": 0} == {
        "x": "iteration",
        "y": "held-out perplexity",
        "right": 0,
        "low": 0,
        "columns": ["iteration test_perplexity"],
        "legend": figure(page)["legend"],
    }
    for button, x, column in (
        ("Steps", "steps: topics of each iteration, summed", "steps"),
        ("Updates", "site updates", "updates"),
        ("Seconds", "seconds of inference", "elapsed"),
    ):
        right = figure(page)["right"]
        press(page, button)
        until(lambda x=x: figure(page)["x"] == x, button)
        assert figure(page)["columns"] == [f"{column} test_perplexity"]
        until(lambda right=right: figure(page)["right"] != right, "the range follows the axis")
    for button, columns in (
        ("State", ["test_perplexity_state"]),
        ("Average", ["test_perplexity_average"]),
        ("Training", ["train_perplexity"]),
        ("Both", ["test_perplexity_state", "test_perplexity_average"]),
        ("Recommended estimate", ["test_perplexity"]),
    ):
        page.get_by_role("group", name="Measure").get_by_role(
            "button", name=button, exact=True
        ).click()
        until(
            lambda columns=columns: (
                figure(page)["columns"] == [f"elapsed {column}" for column in columns]
            ),
            button,
        )
    for chart, y, column in (
        ("Bound", "bound, nats per training token", "bound_per_token"),
        ("Number of topics", "topics with at least one token", "n_active_topics"),
        ("Priors as learnt", "alpha, summed over topics", "alpha_total"),
        ("Perplexity", "held-out perplexity", "test_perplexity"),
    ):
        page.get_by_label("Show", exact=True).select_option(chart)
        until(lambda y=y: figure(page)["y"] == y, chart)
        assert figure(page)["columns"] == [f"elapsed {column}"]
        assert len(figure(page)["legend"]) == {"Bound": 1, "Priors as learnt": 0}.get(chart, 2)
        assert page.get_by_text("No run that is drawn records this.").is_visible() == (
            chart == "Priors as learnt"
        )
    low = figure(page)["low"]
    press(page, "Zoom to end")
    until(lambda: figure(page)["low"] != low, "the zoom changes the range")


def test_what_runs_learn_the_moves_they_try_and_where_they_began_are_seen(
    url, new_page, store, finished, halves
):
    train, test = halves
    begun = {"test": test, "store": store, "progress": False, "n_iterations": 24}
    fit(train, "cv-hdp", 8, name="moving", options={"moves_every": 2, "moves_after": 4}, **begun)
    fit(
        train,
        "cvb0",
        4,
        name="learning",
        options={"learn_alpha": "maximised"},
        start=store / "moving",
        **begun,
    )
    hdp = open_run(store / "moving")
    page = new_page(f"{url}?measure=bound&axis=steps&runs=moving,learning&topics_of=moving")
    until(lambda: figure(page)["columns"] == ["steps bound_per_token"], "the link tells the chart")
    kept = [move.iteration for move in moves(hdp) if move.accepted]
    until(lambda: marks(page) == kept, "moves that were kept are marked")
    page.get_by_text("moving: ").wait_for()
    assert [line[:3] for line in cells(page, "moves of moving")] == [
        [str(move.iteration), move.kind, f"{move.giver} → {move.taker}"]
        for move in reversed(moves(hdp))
    ]
    page.get_by_label("choose learning").check()
    until(
        lambda: not page.get_by_text("Splits and merges").is_visible(),
        "a run without moves has no log of them",
    )
    told = row(page, "moving").inner_text()
    assert f"learns alpha (in all {float(hdp['alpha_total'][-1]):.3g})" in told
    assert f"{int(hdp['n_active_topics'][-1])} (8)" in told
    assert "learns alpha (in all " in row(page, "learning").inner_text()
    tree = page.locator("svg[aria-label^='moving; learning from iteration 24']")
    assert [line.strip() for line in tree.locator("text").all_text_contents()] == [
        "moving",
        "learning from iteration 24",
    ]
    page.get_by_label("Show", exact=True).select_option("Priors as learnt")
    press(page, "By topic")
    wanted = sorted(open_run(store / "learning")["alpha"].values[-1].tolist(), reverse=True)
    until(
        lambda: any(seen == pytest.approx(wanted) for seen in priors(page)),
        "the priors of its topics are drawn",
    )
    until(
        lambda: figure(page)["x"] == "topics, that of the largest prior first", "along the topics"
    )
    until(
        page.get_by_role("button", name="Iterations", exact=True).is_disabled,
        "no axis is to be chosen",
    )
    until(lambda: "measure=by+topic" in page.evaluate("location.search"), "the link tells it")
    for name in ("moving", "learning"):
        Run(store / name).remove()
    until(lambda: not page.get_by_text("Warm starts").is_visible(), "the tree goes with its runs")


def test_a_gibbs_sampler_of_the_hdp_finds_topics_while_it_is_watched(
    url, new_page, store, finished, texts
):
    asked = {
        "engines": "g-hdp",
        "n_topics": 1,
        "n_iterations": LONG,
        "corpus": FILE,
        "path": texts,
        "measure": "active",
    }
    page = new_page(f"{url}?{urlencode(asked)}")
    assert not page.get_by_label("alpha", exact=True).is_visible()
    press(page, "Priors: defaults")
    page.get_by_label("gamma: shape").wait_for()
    fill(page, "gamma: shape", 40)
    page.get_by_role("button", name="Priors: gamma: shape 40", expanded=True).wait_for()
    press(page, "Start")
    page.get_by_text("1 run started,").wait_for()
    (name,) = {path.name for path in store.glob("texts-g-hdp-*")}
    try:
        assert (
            read_spec(store / name).model == {"n_topics": 1}
            and read_spec(store / name).options["a_gamma"] == 40
        )
        until(
            lambda: int(row(page, name).locator("td.K").inner_text().split(" ")[0]) > 1,
            "it has found topics",
        )
        assert (
            "learns alpha" in row(page, name).inner_text()
            and "gamma" in row(page, name).inner_text()
        )
        page.get_by_role("link", name=f"Topics of {name}").wait_for()
        before = points(page)
        until(lambda: points(page) != before, "the number of topics streams")
        assert figure(page)["columns"] == ["iteration n_active_topics"]
    finally:
        Run(store / name).stop()
        Run(store / name).wait(30)
    Run(store / name).remove()


def test_drawing_by_hand_and_the_newest_again(url, new_page, finished):
    page = new_page(url)
    until(lambda: len(figure(page)["legend"]) == 2, "both are drawn")
    page.get_by_label("draw done-svb").click()
    until(lambda: figure(page)["legend"] == ["cgs"], "one is drawn")
    until(
        lambda: page.get_by_label("draw done-svb").get_attribute("aria-pressed") == "false",
        "the swatch is empty",
    )
    press(page, "Show latest 8")
    until(lambda: len(figure(page)["legend"]) == 2, "both are drawn again")
    page.get_by_label("choose done-svb").check()
    press(page, "Show selected")
    until(lambda: figure(page)["legend"] == ["svb"], "what is chosen is drawn")
    until(lambda: "runs=done-svb" in page.evaluate("location.search"), "the link says so")


def test_the_form_starts_what_it_says_and_its_link_gives_the_same_form(
    url, new_page, store, finished, texts
):
    page = new_page(url)
    page.get_by_label("Corpus", exact=True).select_option(FILE)
    type_into(page, "path", texts)
    for engine in ("svb", "cvb", "cgs", "cvb-cgs", "cv-hdp"):
        page.get_by_label(engine, exact=True).uncheck()
    press(page, "Options: defaults")
    page.get_by_label("Schedule").select_option("sequential")
    typed = {
        "r": "inf",
        "n_chains": 2,
        "n_topics": 3,
        "alpha": 0.2,
        "beta": 0.3,
        "n_iterations": 40,
        "seed": 5,
        "seeds": 2,
        "holdout": 0.2,
    }
    for name, value in typed.items():
        type_into(page, name, value)
    press(page, "Seconds")
    press(page, "Start")
    page.get_by_text("2 runs started,").wait_for()
    made = {path.name: read_spec(path) for path in store.glob("texts-*")}
    usual = asdict(get_engine("svb-cgs").options()) | {"schedule": "sequential"}
    assert sorted(spec.seed for spec in made.values()) == [5, 6]
    for name, spec in made.items():
        assert (spec.engine, spec.model) == ("svb-cgs", {"n_topics": 3, "alpha": 0.2, "beta": 0.3})
        assert spec.options == usual | {"r": "inf", "n_chains": 2}
        assert (spec.n_iterations, spec.split["fraction"]) == (40, 0.2)
        until(lambda name=name: state(page, name) == "finished", f"{name} is finished")
        assert "40 / 40" in row(page, name).inner_text()
    press(page, "Start")
    page.get_by_text("2 runs were there already").wait_for()
    page.get_by_label("Phases").select_option("interleaved")
    typed |= {"n_chains": 1, "seeds": 1}
    for each in ("n_chains", "seeds"):
        type_into(page, each, typed[each])
    press(page, "Start")
    page.get_by_text("1 run started,").wait_for()
    (name,) = {path.name for path in store.glob("texts-*")} - set(made)
    assert read_spec(store / name).options == usual | {"r": "inf", "phases": "interleaved"}

    page.get_by_label("draw done-svb").click()
    until(lambda: "runs=" in page.evaluate("location.href"), "the choice of runs is in the link")
    link = page.evaluate("location.href")
    other = new_page(link)
    assert other.get_by_label("Corpus", exact=True).input_value() == FILE
    assert other.get_by_label("Path of the corpus").input_value() == str(texts)
    assert [
        other.get_by_label(engine, exact=True).is_checked() for engine in ("svb", "cgs", "svb-cgs")
    ] == [False, False, True]
    shown = {each: field(other, each).input_value() for each in typed}
    assert shown == {each: str(value) for each, value in typed.items()}
    until(lambda: figure(other)["legend"] == figure(page)["legend"], "the same runs are drawn")
    assert figure(other)["x"] == "seconds of inference"
    assert other.evaluate("location.href") == link


def test_the_link_is_copied(url, new_page, browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = new_page(url, context=context)
    press(page, "Updates")
    until(lambda: "axis=updates" in page.evaluate("location.href"), "the axis is in the link")
    press(page, "Copy link")
    page.get_by_role("button", name="Copied").wait_for()
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == page.evaluate("location.href")
        == f"{url}?axis=updates"
    )
    context.close()


def test_a_link_of_nonsense_is_a_page_as_usual(url, new_page, finished):
    page = new_page(f"{url}?axis=nonsense&n_topics=many&engines=none&runs=no-such-run&other=1")
    page.get_by_text("could not be used").wait_for()
    assert figure(page)["x"] == "iteration"
    assert field(page, "n_topics").input_value() == "10"


def test_the_runs_that_are_chosen_are_linked_to_their_topics(url, new_page, finished):
    page = new_page(url)
    for name in ("done-svb", "done-cgs"):
        row(page, name).locator(".label").click()
    page.get_by_role("link", name="Topics of done-svb").wait_for()
    until(
        lambda: "topics_of=done-cgs" in page.evaluate("location.href"),
        "the link names the run that was ticked last",
    )
    other = new_page(page.evaluate("location.href"))
    other.get_by_role("link", name="Topics of done-cgs").click()
    other.wait_for_url("**/topics?run=done-cgs")


def test_what_is_done_to_the_corpus_reaches_the_spec_of_the_run_and_the_link(
    url, new_page, store, finished, texts
):
    page = new_page(url)
    page.get_by_label("Corpus", exact=True).select_option(FILE)
    type_into(page, "path", texts)
    for engine in ("svb", "cvb", "svb-cgs", "cvb-cgs", "cv-hdp"):
        page.get_by_label(engine, exact=True).uncheck()
    press(page, "Preprocessing: defaults")
    page.get_by_label("Singletons").select_option("out of training")
    for name, value in {"top_words": 5, "n_topics": 2, "n_iterations": 12}.items():
        type_into(page, name, value)
    before = set(store.iterdir())
    press(page, "Start")
    page.get_by_text("1 run started,").wait_for()
    (path,) = set(store.iterdir()) - before
    assert read_spec(path).split == {
        "fraction": 0.1,
        "seed": 0,
        "per": "corpus",
        "top_words": 5,
        "singletons": "train",
    }
    assert get_corpus(store, read_spec(path).train).n_words == 5
    row(page, path.name).get_by_text(
        "the 5 most frequent words; no singletons in training"
    ).wait_for()
    until(lambda: state(page, path.name) == "finished", "it is finished")
    assert {"top_words=5", "singletons=train"} <= set(
        page.evaluate("location.search").strip("?").split("&")
    )
    other = new_page(page.evaluate("location.href"))
    assert other.get_by_label("Vocabulary").input_value() == "5"
    assert other.get_by_label("Singletons").input_value() == "out of training"

    press(page, "Options: defaults")
    page.get_by_label("Initialise").select_option(path.name)
    press(page, "Start")
    (warm,) = until(
        lambda: {one for one in store.iterdir() if not one.name.startswith(".")} - before - {path},
        "it is made",
    )
    assert read_spec(warm).start["name"] == path.name
    until(lambda: state(page, warm.name) == "finished", "it is finished")


def test_downloads_arrive_and_are_what_they_say(url, new_page, store, finished):
    page = new_page(f"{url}?runs=done-svb,done-cgs&measure=state&axis=updates")
    until(lambda: sorted(figure(page)["legend"]) == ["cgs", "svb"], "both runs are drawn")
    corpus = read_spec(store / "done-svb").corpus
    for button, suffix, begins in (
        ("SVG", "svg", b"<?xml"),
        ("PDF", "pdf", b"%PDF"),
        ("PNG", "png", b"\x89PNG"),
    ):
        name, content = download(page, button)
        assert name == f"{corpus}-state-perplexity-by-updates.{suffix}" and content.startswith(
            begins
        )
    name, content = download(page, "CSV")
    lines = content.decode().splitlines()
    assert name == f"{corpus}-state-perplexity-by-updates.csv" and len(lines) == 1 + 2 * 30
    assert lines[0] == "run,label,seed,iteration,steps,updates,elapsed,test_perplexity_state"
    name, content = download(page, "Report")
    assert name == f"report-{corpus}-2-runs.html" and b"</html>" in content
    press(page, "Download as")
    page.get_by_text("No run is ticked").wait_for()
    for engine in ("svb", "cgs"):
        page.get_by_label(f"choose done-{engine}").check()
    page.get_by_label("Format").select_option("NumPy (npz)")
    name, content = download(page, "Download as")
    assert name == "2-runs-npz.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sorted(archive.namelist()) == ["done-cgs/run.npz", "done-svb/run.npz"]
    page.get_by_text("2-runs-npz.zip").wait_for()


def test_figures_fit_one_column_or_two_and_hold_their_caption(url, new_page, store, finished):
    page = new_page(f"{url}?runs=done-svb,done-cgs&measure=state&axis=updates")
    until(lambda: sorted(figure(page)["legend"]) == ["cgs", "svb"], "both runs are drawn")
    bar = page.locator(".wb-bar", has=page.get_by_role("button", name="Report"))
    for width, wanted in (("two columns", "504pt"), ("one column", "244.8pt")):
        bar.get_by_role("button", name=width).click()
        root = ElementTree.fromstring(download(page, "SVG")[1])
        assert root.get("width") == wanted
        assert (
            "inference seeds: 0\n" in root.find("{*}desc").text
            and "--engines svb,cgs" in root.find("{*}desc").text
        )
    assert "Made by:" in Image.open(io.BytesIO(download(page, "PNG")[1])).text["Description"]
    assert b"/Title (held-out perplexity, against" in download(page, "PDF")[1]


EXPORTS = {
    "long": (
        "document_topics.csv",
        lambda file: pd.read_csv(file)["probability"].to_numpy().reshape(-1, 4),
    ),
    "MALLET": ("doc-topics.txt", lambda file: pd.read_csv(file, sep="\t", header=None).iloc[:, 2:]),
    "lda-c": (
        "final.gamma",
        lambda file: (gamma := np.loadtxt(file)) / gamma.sum(axis=1, keepdims=True),
    ),
    "pyLDAvis": ("pyldavis.json", lambda file: json.load(file)["doc_topic_dists"]),
}
"""What the page calls a format → one of its files, and the topics of documents as it tells them."""


def test_a_whole_run_comes_in_every_format(url, new_page, store, finished):
    page = new_page(url)
    page.get_by_label("choose done-cgs").check()
    for form, (file, read) in EXPORTS.items():
        page.get_by_label("Format").select_option(form)
        name, content = download(page, "Download as")
        assert name == f"done-cgs-{form.lower()}.zip"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            theta = np.array(read(archive.open(f"done-cgs/{file}")))
        # ten digits of lda-c
        np.testing.assert_allclose(theta, open_run(store / "done-cgs")["theta"], atol=1e-9)


def test_lineage_and_moves_are_taken_away(url, new_page, store, halves, finished):
    train, test = halves
    settings = {"test": test, "store": store, "progress": False}
    fit(
        train,
        "cv-hdp",
        6,
        n_iterations=8,
        options={"moves_every": 2, "moves_after": 2},
        name="tried",
        **settings,
    )
    fit(train, "svb", 4, n_iterations=5, start=store / "done-cgs", name="child", **settings)
    page = new_page(f"{url}?topics_of=tried")
    table = pd.read_csv(io.BytesIO(download(page, "Lineage as CSV")[1]))
    assert ["child", "done-cgs", 30] in table[["run", "parent", "iteration"]].values.tolist()
    root = ElementTree.fromstring(download(page, "Lineage as SVG")[1])
    assert root.get("width") == "244.8pt" and "--start done-cgs" in root.find("{*}desc").text
    name, content = download(page, "Moves as CSV")
    wanted = [move.iteration for move in moves(open_run(store / "tried"))]
    assert (
        name == "tried-moves.csv"
        and pd.read_csv(io.BytesIO(content))["iteration"].tolist() == wanted
    )
    assert (
        "--engines cv-hdp"
        in ElementTree.fromstring(download(page, "Moves as SVG")[1]).find("{*}desc").text
    )


WRONG = (
    ("n_topics", 0, "Topics must be a whole number"),
    ("alpha", -1, "Alpha must be a number greater than 0"),
    ("top_words", 0, "Vocabulary must be a whole number of at least 1"),
    ("beta", 0, "Beta must be a number greater than 0"),
    ("n_iterations", 0, "Iterations must be a whole number"),
    ("seed", -1, "Seed must be a whole number"),
    ("seeds", 0, "Number of seeds must be a whole number"),
    ("r", "often", "“r” of svb-cgs must be"),
    ("holdout", 2, "Held-out share must be"),
    ("path", "/no/such/file", "No file and no folder"),
)


def test_wrong_input_is_told_in_one_sentence_under_its_field_and_starts_nothing(
    url, new_page, store, finished
):
    page = new_page(url)
    before = {path.name for path in store.iterdir()}
    press(page, "Preprocessing: defaults")
    for name, wrong, said in WRONG:
        if name == "path":
            field(page, "corpus").select_option(FILE)
        control, sentence = field(page, name), page.get_by_text(said)
        right = control.input_value()
        type_into(page, name, wrong)
        press(page, "Start")
        sentence.wait_for()
        box = control.bounding_box()
        gap = sentence.bounding_box()["y"] - box["y"] - box["height"]
        assert 0 <= gap < 30, f"the sentence about {name} is {gap} pixels below it"
        assert page.get_by_role("button", name="Start", exact=True).is_enabled()
        type_into(page, name, right)
        sentence.wait_for(state="hidden")
    assert {path.name for path in store.iterdir()} == before


def test_the_theme_follows_the_system_and_the_button_and_is_remembered(url, new_page):
    page = new_page(url, scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert dark != light
    press(page, "Light / dark")
    until(lambda: page.evaluate(background) == light, "the button turns the light on")
    page.reload()
    page.get_by_role("button", name="Start", exact=True).wait_for()
    assert page.evaluate(background) == light
    press(page, "Light / dark")
    until(lambda: page.evaluate(background) == dark, "the button turns the light off")


LEGEND = """() => {
  const within = root =>
    [...root.querySelectorAll("*")].flatMap(one => [one, ...(one.shadowRoot ? within(one.shadowRoot) : [])])
  const legend = within(document).find(one => one.classList.contains("bk-Legend"))
  const figure = Bokeh.documents[0].get_model_by_name("curve")
  const view = Bokeh.index.find_one(figure)
  const top = view.canvas_view.el.getBoundingClientRect().top + view.frame.bbox.top
  const right = view.canvas_view.el.getBoundingClientRect().right
  const entries = [...legend.shadowRoot.querySelectorAll(".bk-item:not(.bk-hidden)")].map(one => one.getBoundingClientRect())
  return [top, right, entries.map(one => [one.bottom, one.right])]
}"""


@pytest.mark.parametrize("width", [390, 800, 1440])
def test_the_legend_stands_above_the_curves_and_takes_the_lines_that_it_needs(
    url, new_page, finished, width
):
    page = new_page(url, width=width)
    until(lambda: len(figure(page)["legend"]) >= 2, "runs are drawn")
    n_drawn = len(figure(page)["legend"])

    def apart() -> bool:
        top, right, entries = page.evaluate(LEGEND)
        return len(entries) == n_drawn and all(
            low <= top + 1 and end <= right for low, end in entries
        )

    until(apart, "no entry lies over the curves or beyond the figure")


def test_nothing_is_cut_off(url, new_page, finished):
    page = new_page(url, width=800)
    until(lambda: len(figure(page)["legend"]) >= 2, "runs are drawn")
    for width in (800, 1440, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        until(
            lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
            "the page is as wide as the window",
        )
        for name in ("n_topics", "holdout"):
            box = field(page, name).bounding_box()
            assert box["width"] > 80 and box["x"] >= 0 and box["x"] + box["width"] <= width
        assert page.locator(".wb-table").evaluate("table => table.scrollWidth <= table.clientWidth")
        right = page.locator("table[aria-label=comparison]").evaluate(
            f"table => {HOST}.getBoundingClientRect().right"
        )
        assert right <= width  # within which a long table scrolls


def test_on_a_telephone_the_page_is_as_wide_as_its_window(url, new_page, finished):
    page = new_page(url, width=390)
    until(lambda: row(page, "done-cgs").count(), "the runs are there")
    until(
        lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
        "the page is as wide as the window",
    )
    box = page.get_by_label("cgs", exact=True).bounding_box()
    assert (
        box["x"] + box["width"] <= 390
        and page.get_by_role("button", name="Joint", exact=True).is_visible()
    )


def test_the_comparison_stays_where_it_was_scrolled_to(url, new_page, finished):
    page = new_page(url, width=500)
    table = page.locator("table[aria-label=comparison]")
    table.wait_for()
    table.evaluate(f"table => {{ {HOST}.scrollLeft = 60 }}")
    against, before = page.get_by_label("Baseline"), table.inner_text()
    other = next(
        one
        for one in against.locator("option").all_inner_texts()[1:]
        if f"Difference from {one}\t" not in before
    )
    against.select_option(label=other)
    until(lambda: f"Difference from {other}" in table.inner_text(), "the table is another")
    assert table.evaluate(f"table => {HOST}.scrollLeft") == 60


def test_a_broken_run_does_not_break_the_page(url, new_page, store, finished):
    broken = store / "broken" / "data.zarr"
    broken.mkdir(parents=True)
    (broken / "zarr.json").write_text("no json")
    page = new_page(url)
    until(lambda: state(page, "broken") == "unreadable", "the broken run is listed")
    assert state(page, "done-cgs") == "finished"
    assert len(figure(page)["legend"]) >= 2


def test_the_root_leads_to_the_page(url):
    with urlopen(url.removesuffix("compare"), timeout=30) as answer:
        assert answer.url == url


def test_panel_serve_serves_the_same_page(new_page, finished):
    command = [
        sys.executable,
        "-m",
        "panel",
        "serve",
        "apps/compare.py",
        "--port",
        "0",
        "--address",
        "localhost",
    ]
    with serving(command, finished) as address:
        page = new_page(address)
        until(
            lambda: state(page, "done-svb") == "finished", "the runs of WORKBENCH_STORE are listed"
        )
        until(lambda: len(figure(page)["legend"]) >= 2, "and drawn")
        assert page.title() == "workbench · Compare"


def test_the_app_is_a_few_plain_lines():
    lines = (ROOT / "apps" / "compare.py").read_text().splitlines()
    assert len(lines) <= 20
    assert not any(line.lstrip().startswith(("def ", "class ", "for ", "while ")) for line in lines)
