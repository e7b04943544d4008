"""Every run as text."""

import json

import pytest

from workbench.dashboard.compare.table import RunTable, is_setting, row, setting_label
from workbench.dashboard.shared.link import LONGEST
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.measures.learning import every_setting
from workbench.runs.execution.run import open_run
from workbench.runs.store.notes import Notes


@pytest.fixture
def table():
    return RunTable()


def test_a_row_says_what_the_run_is_and_how_far(reading_of):
    cells = row(reading_of("a-run", n_points=5, n_topics=20, seed=7, label="svb-cgs r=1"))
    assert cells.pop("settings").items() >= {"engine": "svb-cgs", "K": 20, "seed": 7}.items()
    assert cells == {
        "name": "a-run",
        "run": ["svb-cgs r=1", "", ""],
        "label": "svb-cgs r=1",
        "engine": "svb-cgs",
        "corpus": "kos",
        "note": "",
        "tags": [],
        "K": "20",
        "seed": "7",
        "state": "running",
        "progress": "5 / 10",
        "perplexity": "25.00",
        "time": "15.0 s",
        "left": "12.0 s",
        "numbers": {
            "K": 20,
            "seed": 7,
            "progress": 0.5,
            "perplexity": 25.0,
            "time": 15.0,
            "left": 12.0,
        },
    }


def test_a_row_shows_what_people_wrote_of_the_run_on_one_line(reading_of):
    cells = row(reading_of(notes=Notes("first\nlook", ("paper", "old"))))
    assert (cells["note"], cells["tags"]) == ("first look", ["paper", "old"])
    assert cells["run"][1] == " · first look"
    assert len(row(reading_of(notes=Notes("word " * 2000)))["note"]) == LONGEST


@pytest.mark.parametrize(
    "state, message, said",
    [
        (
            "failed",
            "SpecError: too large.",
            "SpecError: too large. Fix that, choose the run and press Resume;",
        ),
        ("failed", "", "It failed. Fix that"),
        ("interrupted", "", "Its worker was killed. Choose the run and press Resume"),
        (
            "interrupted",
            "its worker ended without an error message, perhaps killed for lack of memory",
            "Its worker ended without an error message, perhaps killed for lack of memory. Choose the run and press "
            "Resume; it continues from its last checkpoint.",
        ),
        ("unreadable", "no json", "no json"),
        ("running", "", ""),
    ],
)
def test_a_run_that_cannot_go_on_says_why_and_what_to_do(state, message, said, reading_of):
    assert row(reading_of(state=state, message=message))["run"][2].startswith(said)
    assert bool(row(reading_of(state=state, message=message))["run"][2]) == bool(said)


def test_what_has_no_value_is_sorted_by_none(reading_of):
    assert row(reading_of(n_points=0, state="waiting", time_left=None))["numbers"] == {
        "K": 10,
        "seed": 0,
        "progress": 0.0,
        "perplexity": None,
        "time": None,
        "left": None,
    }


def test_what_is_found_its_order_and_its_groups_are_parts_of_the_link_and_nonsense_is_refused(
    table,
):
    parts = table.parameters()
    assert all(part.current() == part.default for part in parts.values())
    assert (
        parts["find"].take("engine:cgs k:10")
        and parts["sort"].take("-perplexity")
        and parts["group"].take("corpus")
    )
    assert (table.query, table.sort, table.group) == ("engine:cgs k:10", "-perplexity", "corpus")
    assert (
        not parts["sort"].take("nonsense")
        and not parts["group"].take("name")
        and parts["find"].take("x" * 1000)
    )
    assert not parts["columns"].take("K,nonsense") and parts["columns"].take("K,r,learn_alpha")
    assert (
        table.columns == ["K", "r", "learn_alpha"]
        and parts["columns"].current() == "K,r,learn_alpha"
    )
    assert (table.sort, table.group, len(table.query)) == ("-perplexity", "corpus", LONGEST)


def test_a_run_without_a_test_set_says_that_its_perplexity_is_of_training(reading_of):
    assert row(reading_of(test=None))["perplexity"] == "40.00 (training)"


def test_a_row_says_what_was_done_to_the_corpus_and_what_the_run_started_from(reading_of):
    changed = reading_of(
        split={"fraction": 0.1, "top_words": 2000, "repeat": 3, "singletons": "train"}
    )
    assert (
        row(changed)["run"][1]
        == " · the 2,000 most frequent words alone; every count 3 times; no singletons in training"
    )
    assert (
        row(reading_of(start={"name": "first", "iteration": 40}))["run"][1]
        == " · started from iteration 40 of first"
    )
    edited = {"name": "first", "iteration": 40, "edits": ["merge 3 7", "drop 5"]}
    said = " · started from iteration 40 of first (merge 3 7, drop 5)"
    assert row(reading_of(start=edited))["run"][1] == said


def test_a_row_says_what_the_run_learns_with_the_last_values_and_how_many_topics_it_has_found(
    new_run, tmp_path
):
    hdp = new_run(
        "hdp", "cv-hdp", options={"learn_beta": True, "learn_tau": True, "learn_alpha": False}
    )
    lda = new_run(
        "lda",
        "cvb0",
        options={"learn_alpha": "maximised", "learn_beta": "maximised", "learn_after": 2},
    )
    of_hdp, of_lda = (open_run(path).isel(iteration=-1) for path in (hdp, lda))
    cells = {
        reading.name: row(reading) for reading in RunMonitor(tmp_path / "runs").look().readings
    }
    found = (float(of_hdp[name]) for name in ("beta_total", "top_concentration"))
    assert cells["hdp"]["run"][1] == (
        " · start smooth, warm-up 50 · learns beta (in all {:.3g}), gamma ({:.3g}), tau".format(
            *found
        )
    )
    found = float(of_lda["alpha"].sum()), float(of_lda["beta"])
    learnt = "alpha (in all {:.3g}), beta ({:.3g})".format(*found)
    assert cells["lda"]["run"][1] == f" · start noise · learns {learnt}"
    assert (
        cells["hdp"]["K"] == f"{float(of_hdp['n_active_topics']):.0f} (4)"
        and cells["lda"]["K"] == "4"
    )


def test_a_run_that_cannot_be_read_is_a_row_too(new_run, tmp_path):
    path = new_run("broken")
    (path / "data.zarr" / "numbers" / "zarr.json").unlink()
    cells = row(RunMonitor(tmp_path / "runs").look().readings[0])
    assert (cells["name"], cells["state"], cells["K"]) == ("broken", "unreadable", "–")


def test_only_rows_that_have_changed_are_sent(reading_of):
    table, sent = RunTable(), []
    table.param.watch(lambda *events: sent.extend(event.name for event in events), ["rows", "news"])
    a, b = reading_of("a"), reading_of("b")
    for _ in range(2):
        table.show((a, b))
    assert sent == ["rows"]
    table.show((a, reading_of("b", n_points=6)))
    assert sent == ["rows", "news"]
    (changed,) = json.loads(table.news)["rows"]
    assert set(changed) == {"name", "progress", "perplexity", "time", "numbers"}
    assert (changed["name"], changed["progress"]) == ("b", "6 / 10")
    table.show((a, b))
    assert sent == ["rows", "news", "news"] and json.loads(table.news)["number"] == 2
    table.show((b, a))
    assert sent[3:] == ["rows"] and [row["name"] for row in table.rows] == ["b", "a"]


def test_rows_have_the_settings_in_which_runs_differ_and_links_take_every_setting(reading_of):
    table, hybrid = RunTable(), reading_of("c", label="svb-cgs r=3")
    hybrid.spec.options = {"r": "inf"}
    one = reading_of("a", n_topics=10, label="svb-cgs")
    table.show((one, reading_of("b", n_topics=20, seed=3, split={"seed": 2}), hybrid))
    assert table.settings == {"engine": "Engine", "K": "K", "seed": "Seed", "r": "r"}
    assert [row["settings"] for row in table.rows] == [
        {"engine": "svb-cgs", "K": 10, "seed": 0, "r": 1.0},
        {"engine": "svb", "K": 20, "seed": 3},
        {"engine": "svb-cgs", "K": 10, "seed": 0, "r": "inf"},
    ]
    table.show((one, reading_of("b", n_topics=20, seed=3, n_points=7), hybrid))
    assert "settings" not in json.loads(table.news)["rows"][0]
    for name in (
        "engine",
        "corpus",
        "K",
        "seed",
        "split",
        "r",
        "alpha",
        "beta",
        "n_chains",
        "time_option",
    ):
        assert is_setting(name) == (name != "time_option" or "time" in every_setting()), name
    assert (
        not is_setting("perplexity")
        and setting_label("n_iterations") == "Iterations"
        and setting_label("split") == "Split"
    )


def test_a_run_that_is_gone_is_chosen_no_more(reading_of):
    table = RunTable(chosen=["a", "b"])
    table.show((reading_of("b"),))
    assert table.chosen == ["b"]


def test_only_a_name_or_a_search_comes_out_of_a_click():
    drawn = []
    table = RunTable(on_draw=drawn.append)
    for said in ({"draw": "a"}, {"draw": 3}, {"other": 1}, "text", None, {"find": "tag:x"}):
        table._handle_msg(said)
    assert (drawn, table.query, table.search.value) == (["a"], "tag:x", "tag:x")


def test_a_browser_that_missed_news_is_sent_the_rows_again(reading_of, table):
    table.show((reading_of("a"),))
    assert table.news == ""
    for number in (1, 2):
        table._handle_msg({"again": True})
        told = json.loads(table.news)
        assert told["number"] == number and [row["state"] for row in told["rows"]] == ["running"]


def test_a_colour_is_sent_to_the_row_of_its_run(table, reading_of):
    table.show((reading_of("a"), reading_of("b")))
    table.colours = {"b": "#123456"}
    assert json.loads(table.news)["rows"] == [{"name": "b", "drawn": "#123456"}]
    assert [row["drawn"] for row in table.rows] == [None, "#123456"]  # as a page that opens now


@pytest.mark.parametrize(
    "query, found",
    [
        ("engine:svb", ["b"]),
        ("-engine:svb", ["a"]),
        ("k:20", ["b"]),
        ("k:2", []),
        ("tag:pap", ["a"]),
        ('note:"first look"', ["a"]),
        ("r:1", ["a"]),
        ("state:run svb-cgs", ["a"]),
        ("engine: look", ["a"]),
        ("-r:1 -k:20", []),
    ],
)
def test_runs_are_found_by_words_and_keys(table, query, found, reading_of):
    one = reading_of("a", label="svb-cgs r=1", notes=Notes("first look", ("paper",)))
    table.show((one, reading_of("b", n_topics=20)))
    table.search.value_input = query
    assert table.found == found
    assert f"{len(found)} of 2 runs found" in table.status.object
    table.chosen = ["a", "b"]
    away = f"{2 - len(found)} of them not among those found"
    assert "2 chosen" in table.status.object and away in table.status.object
    table.search.value_input = ""
    assert table.found is None


def test_columns_and_groups_are_offered_and_chosen(table, reading_of):
    table.show((reading_of("a", label="svb-cgs r=1"), reading_of("b", n_topics=20)))
    assert {"None": "", "Engine": "engine", "K": "K"}.items() <= table.groups.options.items()
    table.groups.value, table.column_choice.value = "K", ["engine", "state"]
    assert table.group == "K" and [name for name, *_ in table.heads] == ["run", "state", "engine"]
    assert table.parameters()["columns"].current() == "engine,state"
