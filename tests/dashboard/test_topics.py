"""The topics of one run as a table."""

import re
from html import unescape

import numpy as np
import pytest

from workbench.dashboard.compare import topic_table as topics
from workbench.dashboard.compare.topic_table import MOST_WORDS, Topics, table_of
from workbench.dashboard.shared import snapshots
from workbench.dashboard.shared.run_monitor import Readings
from workbench.measures import top_words, topic_sizes, topics_by_size
from workbench.runs.execution.fit import resume
from workbench.runs.execution.run import open_run
from workbench.runs.store.archive import get_corpus


def cells(html: str) -> list[tuple[int, float, list[str]]]:
    """(topic, percent, words) of each row of a table."""
    rows = re.findall(r'<tr><th scope="row">(\d+)</th>.*?</span></span>([\d.]+) %</td>.*?words">(.*?)</td></tr>', html)
    return [
        (int(topic), float(share), [unescape(word) for word in re.findall("<span.*?>(.*?)</span>", words)])
        for topic, share, words in rows
    ]


@pytest.fixture
def card(tmp_path):
    """The card, and a function that shows it what the store holds now."""
    made, store = Topics(), Readings(tmp_path / "runs")

    def look():
        made.show(store.look().readings)
        made.refresh()

    return made, look


def test_a_row_has_a_topic_with_its_share_and_top_words_the_largest_first(new_run, card):
    topics_of, look = card
    run = open_run(new_run("one", "cgs"))
    topics_of.n_words.value = 4
    look()
    share, words = topic_sizes(run)["share"], top_words(run, 4)["word"]
    assert cells(topics_of.table.object) == [
        (int(topic), round(100 * float(share[topic]), 1), list(words[topic].values)) for topic in np.argsort(-share.values)
    ]
    assert "iteration 12 of one" in topics_of.said.object


def test_relevance_ranks_the_words_anew_without_reading_the_run_again(new_run, card, monkeypatch):
    topics_of, look = card
    run = open_run(new_run("one"))
    look()
    monkeypatch.setattr(snapshots, "Run", lambda path: pytest.fail("read again"))
    topics_of.relevance.value = 0.0
    seen = {topic: words for topic, _, words in cells(topics_of.table.object)}
    by_lift = top_words(run, 10, relevance=0.0)["word"]
    assert seen == {topic: list(by_lift[topic].values) for topic in range(4)}
    assert seen != {topic: list(words.values) for topic, words in enumerate(top_words(run, 10)["word"])}
    assert "by lift" in topics_of.said.object


def test_the_newest_run_is_shown_until_one_is_picked_which_stays(new_run, card):
    topics_of, look = card
    new_run("first")
    look()
    new_run("second")
    look()
    assert (topics_of.run.value, topics_of.picked) == ("", "") and "of second" in topics_of.said.object
    topics_of.run.value = "second"
    new_run("third")
    look()
    assert topics_of.picked == "second" and "of second" in topics_of.said.object
    topics_of.run.value = ""
    assert topics_of.picked == "" and "of third" in topics_of.said.object


def test_a_run_that_a_link_names_is_shown_when_it_is_there(new_run, card):
    topics_of, look = card
    topics_of.pick("late")
    new_run("other")
    look()
    assert "of other" in topics_of.said.object
    new_run("late")
    new_run("newest")
    look()
    assert topics_of.run.value == "late" and "of late" in topics_of.said.object


def test_the_table_follows_the_snapshots_and_rests_in_between(new_run, card, monkeypatch):
    topics_of, look = card
    path = new_run("growing", "cgs", n_iterations=12, snapshot_every=5)
    look()
    read = []
    told = topics._told
    monkeypatch.setattr(topics, "_told", lambda *wanted: read.append(wanted[0].iteration) or told(*wanted))
    look()
    assert read == []
    resume(path, n_iterations=15, progress=False)
    look()
    assert read == [15] and "iteration 15 of growing" in topics_of.said.object


def test_a_run_without_a_snapshot_says_so(reading_of, monkeypatch):
    topics_of = Topics()
    monkeypatch.setattr(topics, "counts_of", lambda moment: None)
    topics_of.show((reading_of("young"),))
    topics_of.refresh()
    assert "young has no snapshot of its topics yet" in topics_of.said.object and topics_of.table.object == ""
    topics_of.show(())
    topics_of.refresh()
    assert "when there is a run" in topics_of.said.object


def test_counts_that_cannot_be_read_are_a_sentence(new_run, card, tmp_path):
    topics_of, look = card
    new_run("one")
    for corpus in (tmp_path / "runs" / ".corpora").iterdir():
        corpus.unlink()
    get_corpus.cache_clear()
    look()
    assert "corpus of this run is not in the store" in topics_of.said.object and topics_of.table.object == ""


def test_topics_of_an_hdp_without_a_token_are_left_out_and_it_is_said(new_run, card):
    topics_of, look = card
    run = open_run(new_run("many", "g-hdp", n_iterations=20))
    look()
    n_k = topic_sizes(run)["n_k"].values
    assert [topic for topic, *_ in cells(topics_of.table.object)] == topics_by_size(run)
    n_empty = int(np.sum(n_k == 0))
    assert (f"{n_empty} of {len(n_k)} topics hold no token" in topics_of.said.object) == (n_empty > 0)
    emptied = run.load().copy()
    emptied["n_kw"] = emptied["n_kw"].where(emptied["topic"] != topics_by_size(run)[0], 0.0)
    assert topics_by_size(run)[0] not in [topic for topic, *_ in cells(table_of(emptied, 5, 1.0, "many"))]


def test_words_are_text_whatever_is_in_them(new_run):
    run = open_run(new_run("one")).load()
    run = run.assign_coords(word=np.array([f"<script>{at}&" for at in range(run.sizes["word"])], dtype=object))
    html = table_of(run, MOST_WORDS, 1.0, '"><script>')
    assert "<script>" not in html
    assert all(word.startswith("<script>") for *_, words in cells(html) for word in words)
