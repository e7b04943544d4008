"""The card *Edit the topics*: what its buttons write, and the run that it starts."""

import numpy as np
import pytest

from workbench.corpus import Corpus
from workbench.dashboard.topics.page import TopicsPage
from workbench.measures import top_words
from workbench.runs.execution.fit import fit
from workbench.runs.execution.run import Run, open_runs
from workbench.runs.execution.worker import carry_on
from workbench.views.elements import topic_colour

WORDS = "apple pear plum cherry lemon melon grape peach".split()


@pytest.fixture
def page(tmp_path, monitor, monkeypatch):
    """The page of a run of four topics; runs that are started are computed at once."""
    monkeypatch.setattr("workbench.runs.execution.run.launch", carry_on)
    rng, store = np.random.default_rng(0), tmp_path / "runs"
    texts = [" ".join(rng.choice(WORDS, 12)) for _ in range(30)]
    fit(
        Corpus.from_texts(texts), "cgs", 4, n_iterations=4, store=store, name="four", progress=False
    )
    return TopicsPage(store)


def press(editing, title: str, *topics: int) -> None:
    editing.topics.value = list(topics)
    editing.buttons[title.lower()].clicks += 1


def test_buttons_write_edits_and_a_run_continues_with_them(page):
    editing = page.editing
    assert editing.view.visible and sorted(editing.topics.options.values()) == [0, 1, 2, 3]
    press(editing, "Merge", 3, 1)
    press(editing, "Drop", 2)
    assert editing.edits.value == "merge 1 3; drop 2" and editing.topics.value == []
    editing.start.clicks += 1
    branch = next(run for run in open_runs(page.store) if run.name != "four")
    assert branch.spec.start["edits"] == ["merge 1 3", "drop 2"] and branch.spec.n_topics == 2
    assert f"Started {branch.name}" in editing.status.object
    assert f"runs=four%2C{branch.name}" in editing.status.object and editing.edits.value == ""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "Write an edit first, such as merge 3 7, or choose a word."),
        (
            "melt 1 2",
            "must be like merge 3 7, drop 5, split 2, add 1, omit said or omit-document 3; got 'melt 1 2'",
        ),
        ("drop <b>9</b>", "A topic must be a whole number from 0 to 3; got '&lt;b&gt;9&lt;/b&gt;'"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_started(page, written, said):
    page.editing.edits.value_input = written
    page.editing.start.clicks += 1
    assert said in page.editing.status.object.replace("&#x27;", "'")
    assert len(open_runs(page.store)) == 1


def test_a_name_is_text_and_no_html(page):
    four = page.store / "four"
    four.rename(four.with_name("<b>four"))
    page.tick()
    page.editing.edits.value_input = "drop 1"
    page.editing.start.clicks += 1
    assert "Started &lt;b&gt;four-" in page.editing.status.object
    assert "<b>" not in page.editing.status.object


def test_a_button_says_how_many_topics_it_needs(page):
    press(page.editing, "Merge", 3)
    assert "Choose two topics to merge." in page.editing.status.object
    press(page.editing, "Split")
    assert "Choose a topic to split." in page.editing.status.object and not page.editing.edits.value


def test_words_and_documents_are_left_out_of_the_next_run(page):
    editing = page.editing
    assert set(editing.words.options) == set(WORDS)
    few = page._topics.top[2]
    editing.topics.value = [2]
    assert editing.words.options == [*few]
    editing.words.value = ["lemon", "apple"]
    editing.topics.value = []
    assert (
        editing.words.options[:2] == ["lemon", "apple"]
        and editing.words.value == editing.words.options[:2]
    )
    for document in (7, 3):
        page.documents.document = document
        page.documents.clicked("leave-out", "")
    assert editing.documents.options == {"7 document 7": 7, "3 document 3": 3}
    assert editing.documents.value == [3, 7] and editing._of_documents.visible
    assert editing.edits_as_texts() == ["omit lemon, apple", "omit-document 3, 7"]
    editing.start.clicks += 1
    branch = next(run for run in open_runs(page.store) if run.name != "four")
    assert branch.spec.start["edits"] == ["omit lemon, apple", "omit-document 3, 7"]
    assert set(branch.dataset()["word"].values) == {*WORDS} - {"lemon", "apple"}
    assert f"run={branch.name}&with=four" in editing.status.object
    assert (
        editing.words.value == editing.documents.value == [] and not editing._of_documents.visible
    )


def test_where_nothing_may_be_changed_there_is_no_card_and_no_document_can_be_left_out(page, ruled):
    page.documents.document = 3
    assert 'data-key="leave-out"' in page.documents.table.object
    ruled(read_only=True)
    page.documents.document = 4
    assert not page.editing.view.visible
    assert 'data-key="leave-out"' not in page.documents.table.object


def test_topics_are_shown_as_edits_arrange_them_and_undone_and_redone(page):
    editing, run = page.editing, Run(page.store / "four")
    before, words = (
        run.dataset()["n_kw"].values,
        {topic: tuple(top) for topic, top in editing._top_words.items()},
    )
    assert editing.undo.disabled and editing.redo.disabled
    press(editing, "Merge", 3, 1)
    press(editing, "Drop", 2)
    editing.edits.value_input += "; order 1"
    editing.arrange.clicks += 1
    page.tick()
    assert run.edition.texts == ("merge 1 3", "hide 2", "order 1")
    assert set(editing.topics.options.values()) == {0, 1} and editing.edits.value == ""
    assert "Shown: merge 1 3; hide 2; order 1. The run stays as it is." in editing.status.object
    assert "2 topics of four, finished, as edited by hand." in page.status.object
    edited = tuple(top_words(run.edited(), len(WORDS))["word"].sel(topic=1).values)
    assert editing._top_words[1] == edited != words[1]
    press(editing, "Drop", 0)
    editing.start.clicks += 1
    assert "undo the edits that are shown first" in editing.status.object
    for _ in range(3):
        editing.undo.clicks += 1
    page.tick()
    assert set(editing.topics.options.values()) == {0, 1, 2, 3} and editing.undo.disabled
    editing.redo.clicks += 1
    page.tick()
    assert run.edition.texts == ("merge 1 3",) and not editing.redo.disabled
    np.testing.assert_array_equal(run.dataset()["n_kw"].values, before)
    assert len(open_runs(page.store)) == 1


def test_colours_and_descriptions_of_topics_are_shown_and_a_run_continues_with_them(page):
    topic, editing = page._topics.numbers[0], page.editing
    editing.edits.value_input = f"colour {topic} #123456; describe {topic} 'of <planets>'"
    editing.arrange.clicks += 1
    page.tick()
    page.map.chosen = topic
    assert page.main.stylesheets[1] == f":host {{ --topic-{topic}: #123456; }}"
    assert f"--topic: var(--topic-{topic}, {topic_colour(topic)})" in page.topics.table.object
    assert "of &lt;planets&gt;" in page.words.status.object
    (bars,) = page.words.picture.panels[0].Rectangles
    assert bars.opts.get("style", backend="matplotlib").kwargs["color"] == "#123456"
    editing.edits.value_input = "drop 1"
    editing.start.clicks += 1
    assert "Started" in editing.status.value


def test_an_edit_that_only_a_run_can_make_is_told_and_nothing_is_changed(page):
    page.editing.edits.value_input = "split 2"
    page.editing.arrange.clicks += 1
    assert "an edit is like merge 3 7, hide 5 or order 4 2" in page.editing.status.object.lower()
    assert not Run(page.store / "four").edition.edits
