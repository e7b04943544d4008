"""The Topics page without a browser: what each card tells of a run."""

import pytest

from workbench.dashboard import readings
from workbench.dashboard.pages.topics import TopicsPage
from workbench.dashboard.readings import Readings
from workbench.dashboard.snapshots import moment_of, topic_colour
from workbench.dashboard.topics_page.overview import NONE, map_of, topics_told, words_told
from workbench.measures import salient_words, top_words, topic_map, topic_sizes, topics_by_size
from workbench.runs.fit import resume
from workbench.runs.run import Run, open_run


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The store of `new_run`, with readings of its own that look when they are asked."""
    own = Readings(tmp_path / "runs")
    monkeypatch.setattr(own, "latest", lambda patience=0.0: own.look())
    monkeypatch.setattr(readings, "_READINGS", {(tmp_path / "runs").resolve(): own})
    return tmp_path / "runs"


def moment(path):
    """The last snapshot of the run in a folder."""
    return moment_of(next(one for one in Readings(path.parent).look().readings if one.path == path))


def test_topics_are_told_largest_first_with_their_places_and_words(new_run):
    path = new_run("one", "cgs")
    run = open_run(path)
    told = topics_told(moment(path), {2: "named"})
    assert [one["topic"] for one in told] == topics_by_size(run)
    places, words = topic_map(run), top_words(run, 6)["word"]
    for one in told:
        assert one["share"] == pytest.approx(float(topic_sizes(run)["share"].sel(topic=one["topic"])))
        assert (one["x"], one["y"]) == pytest.approx(
            (float(places["x"].sel(topic=one["topic"])), float(places["y"].sel(topic=one["topic"]))), abs=1e-5
        )
        assert one["words"] == list(words.sel(topic=one["topic"]).values)
        assert one["label"] == ("named" if one["topic"] == 2 else "")


def test_words_of_a_topic_have_its_phi_their_share_and_the_topics_they_lie_in(new_run):
    path = new_run("one", "cgs")
    run, now = open_run(path), moment(path)
    told = words_told(now, 1, 5, 0.6)
    ranked = top_words(run, 5, 0.6).sel(topic=1)
    assert (told["of"], [row["word"] for row in told["rows"]]) == (1, list(ranked["word"].values))
    share, order = topic_sizes(run)["share"], topics_by_size(run)
    for row in told["rows"]:
        phi = run["phi"].sel(word=row["word"]).values
        given = phi * share.values / (phi @ share.values)
        assert row["bar"] == pytest.approx(phi[1])
        assert row["spread"] == pytest.approx(given[order], abs=1e-4) and sum(row["spread"]) == pytest.approx(1, abs=1e-3)
        assert row["share"] == pytest.approx(float(run["n_kw"][-1].sel(word=row["word"]).sum() / run["n_kw"][-1].sum()))


def test_without_a_topic_the_most_salient_words_are_told(new_run):
    path = new_run("one", "cgs")
    told, found = words_told(moment(path), NONE, 4, 0.6), salient_words(open_run(path), 4)
    assert told["of"] == NONE and [row["word"] for row in told["rows"]] == list(found["word"].values)
    assert [row["bar"] for row in told["rows"]] == pytest.approx(found["saliency"].values)
    assert words_told(moment(path), 99, 4, 0.6) == told


def test_the_map_of_the_next_snapshot_lies_on_the_last_one(new_run):
    path = new_run("growing", "cgs", n_iterations=10, snapshot_every=5)
    before = topic_map(open_run(path))
    map_of(moment(path))
    resume(path, n_iterations=12, progress=False)
    told, laid = topics_told(moment(path), {}), topic_map(open_run(path), before)
    assert [one["topic"] for one in told] == topics_by_size(open_run(path))
    for one in told:
        at = laid.sel(topic=one["topic"])
        assert (one["x"], one["y"]) == pytest.approx((float(at["x"]), float(at["y"])), abs=1e-5)


def test_a_topic_keeps_its_colour_and_the_first_hundred_differ():
    colours = [topic_colour(topic) for topic in range(100)]
    assert len(set(colours)) == 100 and all(len(colour) == 7 for colour in colours)


def test_the_newest_run_is_shown_until_one_is_picked_and_the_link_says_which(new_run, store):
    new_run("first")
    page = TopicsPage(store)
    assert page.explorer.view.run == "first" and len(page.explorer.view.topics) == 4
    new_run("second", "cgs")
    page.tick()
    assert page.explorer.view.run == "second" and "4 topics of second, finished" in page.said.object
    page.run.value = "first"
    page.explorer.view.chosen = 3
    assert page.explorer.view.run == "first" and page.explorer.view.words["of"] == 3
    told = {name: part.now() for name, part in page._parts.items() if part.now() != part.usual}
    assert told == {"run": "first", "topic": "3"}
    page.explorer.view.chosen = NONE
    assert page.explorer.view.words["of"] == NONE


def test_a_link_to_a_run_and_a_topic_is_followed_and_nonsense_is_refused(new_run, store):
    new_run("wanted")
    new_run("newest")
    page = TopicsPage(store)
    assert page._parts["run"].take("wanted") and page._parts["topic"].take("2") and not page._parts["topic"].take("-2x")
    page.tick()
    assert (page.explorer.view.run, page.explorer.view.words["of"]) == ("wanted", 2)
    assert page._parts["topic"].take("77")
    page.tick()
    assert page.explorer.view.chosen == NONE


def test_an_empty_store_says_what_to_do_next(store):
    page = TopicsPage(store)
    assert "No run yet" in page.said.object and "workbench fit" in page.said.object
    assert page.explorer.view.topics == []


def test_a_label_that_is_typed_stays_with_the_run_and_is_shown(new_run, store):
    path = new_run("one", "cgs")
    page = TopicsPage(store)
    page.explorer.view._handle_msg({"label": "  planets ", "topic": 2})
    page.tick()
    assert {one["topic"]: one["label"] for one in page.explorer.view.topics}[2] == "planets"
    assert [label.text for label in Run(path).notes.labels] == ["planets"]
    page.explorer.view._handle_msg({"label": "x" * 81, "topic": 2})
    assert "80 characters" in page.explorer.view.wrong
    page.explorer.view._handle_msg({"label": "", "topic": 2})
    page.tick()
    assert page.explorer.view.wrong == "" and not any(one["label"] for one in page.explorer.view.topics)


@pytest.mark.filterwarnings("ignore:the notes of run")
def test_labels_that_cannot_be_read_are_a_sentence_and_the_topics_are_shown(new_run, store):
    (new_run("one") / "notes.json").write_text("{")
    page = TopicsPage(store)
    assert "cannot be read" in page.said.object and len(page.explorer.view.topics) == 4


def test_one_topic_and_topics_of_an_hdp_without_a_token_are_shown_as_they_are(new_run, store, halves):
    from workbench.runs.fit import fit

    fit(halves[0], "cgs", 1, n_iterations=3, store=store, name="single", progress=False)
    page = TopicsPage(store)
    assert [(one["topic"], one["x"], one["y"], one["share"]) for one in page.explorer.view.topics] == [(0, 0, 0, 1)]
    assert all(row["spread"] == [1] for row in page.explorer.view.words["rows"])
    path = new_run("many", "g-hdp", n_iterations=20)
    page.tick()
    assert [one["topic"] for one in page.explorer.view.topics] == topics_by_size(open_run(path))
