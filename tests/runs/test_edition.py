"""Topics merged, hidden and put in order by hand: kept beside the run, undone, redone, and taken by all that reads it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from short_runs import run_of

import workbench as wb
from workbench.runs.recorded import last_snapshot, priors_of
from workbench.runs.store.edition import (
    FILE,
    EditionError,
    groups_of,
    read_edition,
    split_edits,
    takes_editions,
    with_edition,
)
from workbench.views import pictures

MADE = ["merge 3 1", "hide 2", "order 4"]


@pytest.fixture
def run(train, test, store):
    """A finished run of six topics, of which snapshots are kept."""
    options = dict(n_topics=6, n_iterations=6, snapshot_every=2, alpha=[1, 2, 3, 4, 5, 6])
    wb.fit(train, "cgs", test=test, store=store, name="a", progress=False, **options)
    return wb.Run(store / "a")


@pytest.mark.parametrize("engine", ["cgs", "svb", "cvb-cgs", "cv-hdp", "g-hdp"])
def test_merged_topics_have_the_sums_and_hidden_ones_are_gone(engine):
    run = run_of(engine)
    first, second, *others = run["topic"].values.tolist()
    hidden = others[-1]
    made = with_edition(run, [f"merge {second} {first}", f"hide {hidden}"])
    kept = [topic for topic in (second, *others) if topic != hidden]
    assert made["topic"].values.tolist() == kept
    for name in ("n_k", "n_kw", "n_dk", "theta"):
        both = run[name].sel(topic=[first, second]).sum("topic")
        np.testing.assert_allclose(made[name].sel(topic=second), both, rtol=1e-12)
        others_of = [topic for topic in kept if topic != second]
        np.testing.assert_array_equal(
            made[name].sel(topic=others_of), run[name].sel(topic=others_of)
        )
    tokens = run["n_kw"].isel(snapshot=-1).sum("word").sel(topic=[first, second])
    mean = (run["phi"] * tokens).sel(topic=[first, second]).sum("topic") / tokens.sum()
    np.testing.assert_allclose(made["phi"].sel(topic=second), mean, rtol=1e-9)
    np.testing.assert_allclose(made["phi"].sum("word"), 1, rtol=1e-9)


def test_parts_of_summed_arrays_are_those_of_the_whole(run):
    made = with_edition(run.dataset(), MADE)
    whole, documents = made["n_dk"].values, [7, 3, 3]
    lazy = with_edition(run.dataset(), MADE)["n_dk"]
    np.testing.assert_array_equal(lazy.isel(snapshot=-1).values, whole[-1])
    np.testing.assert_array_equal(lazy.isel(snapshot=1, document=5, topic=2).values, whole[1, 5, 2])
    some = lazy.isel(snapshot=[-1], document=documents, topic=[2, 0]).values
    np.testing.assert_array_equal(some, whole[[-1]][:, documents][..., [2, 0]])
    np.testing.assert_array_equal(lazy.isel(document=3).sel(topic=3).values, whole[:, 3, 2])


def test_edits_are_kept_undone_redone_and_the_run_stays_as_it_is(run):
    before, hash = run.dataset().load(), run.spec.hash
    assert run.edited().identical(run.dataset())
    run.edit("merge 3  1", who="ann")
    run.edit("hide 2", "order 4", who="ben")
    assert [(each.edit, each.who) for each in run.edition.edits] == [
        ("merge 3 1", "ann"), ("hide 2", "ben"), ("order 4", "ben")
    ]  # fmt: skip
    assert run.edited()["topic"].values.tolist() == [4, 0, 3, 5]
    assert run.edited().attrs["edition"] == "merge 3 1; hide 2; order 4"
    run.undo_edit()
    run.undo_edit()
    assert run.edition.texts == ("merge 3 1",)
    assert run.edited()["topic"].values.tolist() == [0, 2, 3, 4, 5]
    run.redo_edit()
    assert run.edition.texts == ("merge 3 1", "hide 2")
    run.edit("hide 5")
    with pytest.raises(EditionError, match="no edit to redo"):
        run.redo_edit()
    assert run.spec.hash == hash and run.dataset().load().identical(before)


def test_edits_colour_and_describe_topics_of_the_dataset_that_merged_topics_keep(run):
    run.edit("colour 3 #1F77B4", "describe 3 'what it, really, is about'", 'describe 0 ""')
    edited, before = run.edited(), run.dataset()
    assert edited["topic_colour"].values.tolist() == ["", "", "", "#1f77b4", "", ""]
    about = ["", "", "", "what it, really, is about", "", ""]
    assert edited["topic_description"].values.tolist() == about
    added = ["topic_colour", "topic_description"]
    assert edited.drop_vars(added).drop_attrs(deep=False).identical(before.drop_attrs(deep=False))
    run.edit("merge 3 1", "order 4", "describe 3 ''")
    edited = run.edited()
    assert edited["topic_colour"].sel(topic=[4, 3]).values.tolist() == ["", "#1f77b4"]
    assert edited.sizes["topic"] == 5 and "topic_description" not in edited.coords
    assert run.edition.texts[-1] == "describe 3 ''"


def test_an_edition_goes_to_another_run_as_a_file(run, train, test, store):
    run.edit(*MADE)
    for name, n_topics in (("b", 6), ("c", 3)):
        options = dict(n_topics=n_topics, n_iterations=2, store=store, name=name, progress=False)
        wb.fit(train, "svb", test=test, **options)
    other = wb.Run(store / "b")
    other.import_edition(run.path / FILE)
    assert other.edition == run.edition and other.edited()["topic"].values.tolist() == [4, 0, 3, 5]
    with pytest.raises(
        EditionError, match="there is no topic 3 for 'merge 3 1'; shown are 0, 1, 2"
    ):
        wb.Run(store / "c").import_edition(run.path / FILE)
    with pytest.raises(EditionError, match="there is no edit in"):
        other.import_edition(store / "nowhere.json")
    assert other.edition == run.edition


LIKE = "an edit is like merge 3 7, hide 5 or order 4 2, each topic once; got"
OTHERS = "; colour and describe are the other kinds"
HEXADECIMAL = "a colour has six hexadecimal digits"
ONE_TOPIC = "colour and describe take one topic, as colour 3 #1f77b4 or describe 3 'the news'"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ("", f"{LIKE} ''{OTHERS}"),
        ("merge 3", f"{LIKE} 'merge 3'"),
        ("merge 3 3", f"{LIKE} 'merge 3 3'"),
        ("split 3", f"{LIKE} 'split 3'{OTHERS}"),
        ("hide x", f"{LIKE} 'hide x'"),
        ("colour 3 blue", f"{HEXADECIMAL}, as colour 3 #1f77b4; got 'colour 3 blue'"),
        ("colour x #1f77b4", f"{ONE_TOPIC}; got 'colour x #1f77b4'"),
        (
            "colour 9 #1f77b4",
            "there is no topic 9 for 'colour 9 #1f77b4'; shown are 0, 1, 2, 3, 4, 5",
        ),
        (
            "describe 3 " + "x" * 1001,
            "a description may have 1,000 characters; this one has 1,001; shorten it",
        ),
        ("hide 1 -1", f"{LIKE} 'hide 1 -1'"),
        ("hide 9", "there is no topic 9 for 'hide 9'; shown are 0, 1, 2, 3, 4, 5"),
        ("hide 0 1 2 3 4 5", "no topic is left; hide fewer"),
    ],
)
def test_a_wrong_edit_is_one_sentence_and_nothing_is_written(run, edit, sentence):
    with pytest.raises(EditionError) as error:
        run.edit(edit)
    assert str(error.value) == sentence
    assert not (run.path / FILE).exists()


def test_what_is_hidden_or_merged_away_cannot_be_named_again():
    assert groups_of(range(4), ["merge 2 0", "merge 3 2"]) == {1: [1], 3: [3, 2, 0]}
    for edits in (["merge 2 0", "hide 0"], ["hide 1", "order 1"]):
        with pytest.raises(EditionError, match="shown are"):
            groups_of(range(4), edits)


@pytest.mark.parametrize("text", ["{", "[]", '{"edits": [{"edit": 3}], "undone": []}'])
def test_a_damaged_edition_is_told_with_what_to_do(run, text):
    (run.path / FILE).write_text(text)
    with pytest.raises(EditionError, match=r"the edition .*edition.json cannot be read"):
        read_edition(run.path)


@pytest.mark.slow
def test_every_picture_is_drawn_of_edited_topics():
    run = run_of("cgs")
    made = with_edition(run, ["merge 0 1"])
    assert [one.name for one in pictures([made])] == [one.name for one in pictures([run])]


def test_measures_take_edited_topics(run, train):
    run.edit("merge 3 1", "order 4")
    made = run.edited()
    by_size = wb.topics(run.dataset()).index.tolist()
    assert sorted(by_size) == [*range(6)] and sorted(wb.topics(made).index) == [0, 2, 3, 4, 5]
    assert wb.topics(made).index[0] == 4
    run.edit("order 5 2")
    assert wb.topics(run.edited()).index[:3].tolist() == [5, 2, 4]
    assert set(wb.documents_table(made)["topic"]) <= {4, 0, 2, 3, 5}
    assert wb.top_documents(made, 3, 2)["share"].is_monotonic_decreasing
    assert wb.coherence(made, train).sizes["topic"] == 5
    np.testing.assert_allclose(priors_of(made).alphas, [5, 1, 3, 6, 6])
    np.testing.assert_allclose(made["theta"], priors_of(made).means(last_snapshot(made))["theta"])


def test_topics_without_a_dirichlet_prior_are_not_merged():
    assert takes_editions(run_of("cgs")) and takes_editions(run_of("g-hdp"))
    for engine in ("network-gibbs", "sb-ctm", "hmm", "bn-vb"):
        assert not takes_editions(run_of(engine)), engine


def test_the_file_is_json_that_people_can_read(run):
    run.edit("merge 3 1", who="ann")
    values = json.loads((run.path / FILE).read_text())
    assert values["undone"] == [] and values["edits"][0]["edit"] == "merge 3 1"
    assert set(values["edits"][0]) == {"edit", "who", "when"}


def test_effects_leave_out_documents_that_have_hidden_topics_alone():
    labels = ["one", "two"] * 20
    corpus, truth = wb.LDA(3, 0.02, 0.05).simulate(40, 30, 8, seed=1)
    corpus = replace(corpus, labels=tuple(labels))
    run = wb.fit(
        corpus, "cgs", n_topics=3, n_iterations=8, burn_in=2, progress=False, snapshot_every=1
    )
    made = with_edition(run, ["hide 0"])
    tokens = made["n_dk"].sum("topic").values[2:]  # after burn-in
    assert (tokens == 0).any() and (tokens[-1] > 0)[(tokens == 0).any(axis=0)].any()
    found = wb.effects(made, "~ label")
    assert np.isfinite(found["effect_error"]).all()
    assert found.sizes["topic"] == 2


def test_edits_in_a_text_are_split_where_no_quotes_are_around():
    text = "merge 3 7; describe 3 'votes; parties'\norder 4 2;;"
    assert split_edits(text) == ["merge 3 7", "describe 3 'votes; parties'", "order 4 2"]
