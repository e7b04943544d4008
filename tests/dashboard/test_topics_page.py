"""The Topics page without a browser: what each card tells of a run."""

import io
import itertools
import re
import shutil
import tracemalloc
from html import unescape
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import panel as pn
import pytest
import xarray as xr
from bokeh.models import Title

from workbench import corpus_of
from workbench.corpus import Corpus
from workbench.dashboard.shared import snapshots
from workbench.dashboard.shared.background import LatestTask
from workbench.dashboard.shared.card import Card
from workbench.dashboard.shared.link import from_query, to_query
from workbench.dashboard.shared.policy import Limits
from workbench.dashboard.shared.run_monitor import RunMonitor
from workbench.dashboard.shared.shell import message
from workbench.dashboard.shared.snapshots import SnapshotKey, counts_of, snapshot_of
from workbench.dashboard.topics import (
    document_rows,
    documents,
    files,
    overview,
    recorded,
    unseen,
)
from workbench.dashboard.topics.overview import (
    map_card,
    map_of,
    sizes_card,
    topics_card,
    topics_of,
    words_card,
)
from workbench.dashboard.topics.page import TopicsPage
from workbench.dashboard.topics.unseen import infer_documents, listing_of, unseen_document
from workbench.data import blocks
from workbench.measures import (
    coherence,
    diversity,
    match_topics,
    representative_documents,
    salient_words,
    suggested_names,
    token_topics,
    top_words,
    topic_flow,
    topic_map,
    topic_sizes,
    topics_by_size,
)
from workbench.numbers import format_number
from workbench.report.drawing import WIDTHS
from workbench.runs.afterwards.infer import inference_bytes
from workbench.runs.execution.fit import fit, resume
from workbench.runs.execution.run import Run, open_run
from workbench.runs.request import RunRequest
from workbench.runs.store import counts
from workbench.runs.store.archive import get_corpus
from workbench.runs.store.layout import open_group
from workbench.runs.store.places import DATA
from workbench.views import every
from workbench.views.elements import SEARCH, TOPIC, topic_colour
from workbench.views.live import NONE


@pytest.fixture
def store(tmp_path, monitor):
    """The store of `new_run`."""
    return tmp_path / "runs"


WORDS = "apple pear plum cherry lemon melon grape peach red green blue black white brown yellow purple".split()


@pytest.fixture
def of_texts(store):
    """A run on forty texts, each with a kind."""
    rng = np.random.default_rng(0)
    texts = [
        f"The {' '.join(rng.choice(WORDS[8 * (at % 2) :][:8], 12))}.".capitalize()
        for at in range(40)
    ]
    table = pd.DataFrame(
        {"text": texts, "kind": ["fruit", "colour"] * 20, "id": [f"id-{at}" for at in range(40)]}
    )
    fit(
        corpus_of(table, id="id"),
        "cgs",
        2,
        n_iterations=20,
        store=store,
        name="of-texts",
        progress=False,
    )
    return store / "of-texts"


def snapshot(path):
    """The last snapshot of the run in a folder."""
    return snapshot_of(
        next(one for one in RunMonitor(path.parent).look().readings if one.path == path)
    )


def cells(html: str) -> list[list[str]]:
    """The text of each cell of the rows of a table."""
    rows = ElementTree.fromstring(f"<div>{html}</div>").iterfind(".//tbody/tr")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def test_topics_are_told_largest_first_with_their_sizes_and_words(new_run):
    run = open_run(path := new_run("one", "cgs"))
    topics = topics_of(snapshot(path), 0)._replace(names={2: "named"})
    told, words = cells(topics_card(topics, "", False).table), top_words(run, 6)["word"]
    assert [int(row[0]) for row in told] == list(topics.numbers) == topics_by_size(run)
    for topic, size, label, few, *scores in told:
        share = float(topic_sizes(run)["share"].sel(topic=int(topic)))
        assert size == f"{100 * share:.1f} %" and label == ("named" if topic == "2" else "")
        assert few.split() == list(words.sel(topic=int(topic)).values) and scores == ["–"] * 4


def test_words_of_a_topic_have_its_phi_and_circles_can_have_the_sizes_of_a_word(new_run):
    run = open_run(path := new_run("one", "cgs", seed=4))
    now = snapshot(path)
    picture = words_card(now, 0, 1, 5.0, 0.6).picture
    ranked = top_words(run, 5, 0.6).sel(topic=1)
    columns = dict(zip(picture.header, zip(*picture.rows, strict=True), strict=True))
    assert columns["word"] == tuple(ranked["word"].values) and set(columns["topic"]) == {1}
    assert columns["phi"] == pytest.approx(run["phi"].sel(topic=1, word=list(columns["word"])))
    word = columns["word"][0]
    picture = map_card(topics_of(now, 0), 0, "", word).picture
    shares = {row[3]: row[-2] for row in picture.rows}
    given = run["phi"].sel(word=word) * topic_sizes(run)["share"]
    assert shares == pytest.approx((given / given.sum()).to_series().to_dict())


def test_words_are_found_by_any_part_of_them_each_with_its_tokens_and_its_topics(of_texts, store):
    page, run = TopicsPage(store), open_run(of_texts)
    assert page.map.table.object == "" and page.map.status.object == ""
    page.find_words.value = "PE"
    found, counts = cells(page.map.table.object), run["n_kw"][-1].sum("topic")
    order = sorted(
        ["pear", "peach", "grape"],
        key=lambda word: (not word.startswith("pe"), -counts.sel(word=word)),
    )
    assert [word for word, *_ in found] == order
    assert "3 of 16 words contain “PE”." in page.map.status.object
    share = topic_sizes(run)["share"]
    for word, tokens, topics in found:
        given = run["phi"].sel(word=word) * share
        given = (given / given.sum()).to_series().sort_values(ascending=False)
        assert tokens == f"{int(counts.sel(word=word)):,}"
        wanted = [f"{at} {100 * part:.1f} %" for at, part in given.items() if part >= 0.01]
        assert topics == "".join(wanted)
    page.map.clicked("word", "pear")
    assert "tokens of “pear”" in page.map.picture.caption
    page.find_words.value = "xyz"
    assert page.map.table.object == "" and "No word of of-texts contains “xyz”." in (
        page.map.status.object
    )


def test_a_word_stands_before_those_that_begin_with_it_and_these_before_those_that_contain_it(
    store,
):
    texts = ["art heart cart artist ART2 heart heart", "art cart artist artist heart bee bee"] * 4
    fit(
        Corpus.from_texts(texts, min_documents=1),
        "cgs",
        2,
        n_iterations=3,
        store=store,
        name="art",
        progress=False,
    )
    page = TopicsPage(store)
    page.find_words.value = "art"
    found = [word for word, *_ in cells(page.map.table.object)]
    assert found[:2] == ["art", "artist"] and found[-2:] == ["heart", "cart"]


def test_the_map_of_the_next_snapshot_lies_on_the_last_one(new_run):
    path = new_run("growing", "cgs", n_iterations=10, snapshot_every=5)
    before = map_of(snapshot(path))
    resume(path, n_iterations=12, progress=False)
    xr.testing.assert_allclose(map_of(snapshot(path)), topic_map(open_run(path), before))


def test_a_link_leads_to_the_form_with_the_settings_of_the_run(new_run, store, ruled):
    new_run("first", n_topics=3, seed=5, alpha=0.3)
    page = TopicsPage(store)
    (link,) = re.findall('href="compare[?](.*?)"', page.again.object)
    texts = dict(parse_qsl(unescape(link), keep_blank_values=True))
    request = RunRequest.from_query(texts)
    assert (request.engines, request.n_topics, request.seed) == (("svb",), 3, 5)
    assert (request.alpha, request.n_iterations) == (0.3, 12)
    (link,) = re.findall('href="sweep[?](.*?)"', page.again.object)
    assert dict(parse_qsl(unescape(link))).items() >= {"tab": "choose-k", "engine": "svb"}.items()
    assert "n_topics" not in link and f"n_iterations={request.n_iterations}" in link
    assert "Seed topic" not in page.again.object
    page.map.chosen = 2
    (link,) = re.findall('href="compare[?]([^"]*)">Seed topic 2<', page.again.object)
    request = RunRequest.from_query(dict(parse_qsl(unescape(link), keep_blank_values=True)))
    words = top_words(open_run(store / "first"), 6, topic=2)["word"].values.tolist()
    assert request.options["svb"]["seed_words"] == f"2: {' '.join(words)}"
    assert not [*request.mistakes()] and request.n_topics == 3
    new_run("second", "svb-cgs")
    page.tick()
    assert "tab=frontier&amp;engine=svb-cgs" in page.again.object
    new_run("third", "network-gibbs")  # whose number of topics the page does not choose
    page.tick()
    assert "compare?" in page.again.object and "sweep?" not in page.again.object
    ruled(read_only=True)
    page.tick()
    assert page.again.object == ""


def test_while_the_topics_of_a_run_are_read_the_page_says_so(new_run, store, monkeypatch):
    new_run("first")
    submit = LatestTask.submit
    monkeypatch.setattr(LatestTask, "submit", lambda task, *request: None)
    page = TopicsPage(store)
    assert "Reading the topics of first …" in page.status.object
    assert not page.editing.view.visible and not page.map.view.visible
    monkeypatch.setattr(LatestTask, "submit", submit)
    page.tick()
    assert "4 topics of first, finished" in page.status.object and page.editing.view.visible


def test_the_newest_run_is_shown_until_one_is_picked_and_the_link_says_which(new_run, store):
    new_run("first")
    page = TopicsPage(store)
    assert page.map.picture.name == "first-map" and len(cells(page.topics.table.object)) == 4
    new_run("second", "cgs")
    page.tick()
    assert page.map.picture.name == "second-map"
    assert "4 topics of second, finished" in page.status.object
    page.run.value = "first"
    page.map.chosen = 3
    assert page.words.picture.name == "first-words-3"
    assert page.topics.table.marked == ["topic 3"]
    told = {
        name: part.current()
        for name, part in page._parameters.items()
        if part.current() != part.default
    }
    assert told == {"run": "first", "topic": "3"}
    page.topics.clicked("topic", "3")
    assert page.map.chosen == NONE and page.words.picture.name == "first-words"


def test_a_topic_or_a_document_that_is_not_there_is_left_out_and_said_until_the_visitor_goes_on(
    new_run, store
):
    new_run("here", "cgs")
    page = TopicsPage(store)
    page._parameters["topic"].take("99")
    page._parameters["document"].take("999999")
    page.tick()
    assert (
        "There is no topic 99 with tokens in here. There is no document 999999 in here. 4 topics of here"
        in page.status.object
    )
    assert to_query(page._parameters) == "" and "Choose a topic" in page.documents.status.object
    page._parameters["document"].take("3")
    page._parameters["topic"].take("99")
    page.tick()
    assert "There is no topic 99 with tokens in here. 4 topics of here" in page.status.object
    assert to_query(page._parameters) == "?document=3" and shown(page)["document"] == 3
    page.map.chosen = 1
    assert page.status.object == message("4 topics of here, finished.")


def test_a_link_to_a_run_that_is_gone_says_so_and_shows_the_newest(new_run, store):
    new_run("here")
    page = TopicsPage(store)
    page._parameters["run"].take("gone")
    page._topics_task.reset()
    page.tick()
    assert "There is no run gone here; the newest is shown. 4 topics of here" in page.status.object


def test_cards_are_seen_once_they_have_something_to_say(new_run, store, monkeypatch):
    page = TopicsPage(store)
    page.view()
    cards = [card.view for card in (page.sizes, page.map, page.words, page.topics, page.documents)]
    assert not any(card.visible for card in cards)
    new_run("young")
    with monkeypatch.context() as patch:
        patch.setattr(overview, "counts_of", lambda moment: None)
        page.tick()
        assert "has no snapshot of its topics yet" in page.status.object
        assert [card.visible for card in cards] == [True] + [False] * 4, (
            "sizes are known before the first snapshot"
        )
    page._topics_task.reset()
    overview.topics_of.cache_clear()
    page.tick()
    assert all(card.visible for card in cards)
    Run(store / "young").remove()
    page.tick()
    assert not any(card.visible for card in cards) and "No run yet" in page.status.object


def test_a_label_that_is_typed_stays_with_the_run_and_is_shown(new_run, store):
    path = new_run("one", "cgs")
    page = TopicsPage(store)
    assert not page.label.visible
    page.map.chosen = 2
    page.label.value = "  planets "
    page.tick()
    assert {row[0]: row[2] for row in cells(page.topics.table.object)}["2"] == "planets"
    assert [label.text for label in Run(path).notes.labels] == ["planets"]
    assert page.label.value == "planets"
    page.label.value_input = "plan"  # the visitor types on
    page.tick()
    assert page.label.value_input == "plan"
    page.label.value = "x" * 81
    assert "80 characters" in page.status.object
    page.label.value = ""
    page.tick()
    assert page._topics.names == {} and Run(path).notes.labels == ()


def test_a_suggested_label_is_accepted_by_a_click(of_texts, store):
    page = TopicsPage(store)
    assert not page.suggestions.visible
    page.map.chosen = topic = page._topics.numbers[0]
    run = Run(of_texts)
    names = suggested_names(run.dataset(), run.table, topic=topic)["name"].values[0]
    assert page.suggestions.visible
    assert [*page.suggested.options.values()] == [name for name in names if name]
    assert page.suggested.value is None
    page.suggested.value = words = [*page.suggested.options.values()][-1]
    page.tick()
    assert page.label.value == page.suggested.value == words
    assert [label.text for label in run.notes.labels] == [words]
    page.label.value = "typed"
    page.tick()
    assert page.suggested.value is None
    page.map.chosen = NONE
    assert not page.suggestions.visible


@pytest.mark.filterwarnings("ignore:the notes of run")
def test_labels_that_cannot_be_read_are_a_sentence_and_the_topics_are_shown(new_run, store):
    (new_run("one") / "notes.json").write_text("{")
    page = TopicsPage(store)
    assert "cannot be read" in page.status.object and len(page._topics.numbers) == 4


def test_one_topic_and_topics_of_an_hdp_without_a_token_are_shown_as_they_are(
    new_run, store, halves
):
    fit(halves[0], "cgs", 1, n_iterations=3, store=store, name="single", progress=False)
    page = TopicsPage(store)
    assert page._topics.numbers == (0,) and page.map.picture.rows[0][4:8] == [0, 0, 144, 1]
    path = new_run("many", "g-hdp", n_iterations=20)
    page.tick()
    assert list(page._topics.numbers) == topics_by_size(open_run(path))


def shown(page) -> dict:
    """The document that is shown."""
    return page.documents.content["shown"]


def test_documents_of_a_topic_are_listed_and_the_first_is_shown_with_its_words_in_colours(
    new_run, store
):
    path = new_run("one", "cgs")
    page = TopicsPage(store)
    card = page.documents
    page.map.chosen = 1
    run, corpus = open_run(path), get_corpus(store, Run(path).spec.train)
    best = representative_documents(run, 1, 12)
    assert listed_documents(page) == best["document"].values.tolist()
    assert shown(page)["document"] == int(best["document"][0])
    card.clicked("document", str(int(best["document"][2])))
    tokens = token_topics(run, corpus, card.document)
    counts = dict(zip(tokens["word"].values, tokens["n_tokens"].values.tolist(), strict=True))
    likely = dict(zip(tokens["word"].values, tokens["likely"].values.tolist(), strict=True))
    words = shown(page)["words"]
    assert [word["n"] for word in words] == sorted(counts.values(), reverse=True)
    assert {word["word"]: (word["n"], word["topic"], word["colour"]) for word in words} == {
        word: (n, likely[word], topic_colour(likely[word])) for word, n in counts.items()
    }
    theta = run["theta"].values[card.document]
    assert [one["share"] for one in shown(page)["topics"]] == pytest.approx(
        sorted(theta[theta >= 0.01], reverse=True)
    )
    assert f'title="{words[0]["told"]}' in card.table.object
    card.table._handle_msg("topic 3")
    assert page.map.chosen == 3 and card.document == NONE


def test_a_corpus_that_is_not_in_the_store_is_a_sentence_and_words_are_shown_from_memory(
    new_run, store
):
    new_run("one", "cgs")
    page = TopicsPage(store)
    for corpus in (store / ".corpora").iterdir():
        corpus.unlink()
    get_corpus.cache_clear()
    page.map.chosen = 1
    assert "corpus of this run is not in the store" in page.documents.status.object
    assert page.words.picture.name == "one-words-1"


@pytest.mark.parametrize("kind", ["stacked", "lines"])
def test_sizes_are_shares_of_each_iteration_and_thinned_with_both_ends(new_run, kind):
    path = new_run("one", "cgs", n_iterations=300)
    (drawn,), n_k = (
        sizes_card(SnapshotKey(path, "", 0, ""), 300, ((1, "named"),), kind).picture.panels[0],
        open_run(path)["n_k"],
    )
    drawn, below = drawn.split(datatype="dictionary"), 0
    assert [one[TOPIC] for one in drawn] == topics_by_size(open_run(path))
    for one in drawn:
        half = len(one["x"]) // (2 if kind == "stacked" else 1)
        x, top = one["x"][:half], one["y"][:half]
        assert (x[0], x[-1]) == (1, 300) and len(x) <= 120
        own = (n_k.sel(topic=one[TOPIC]) / n_k.sum("topic")).sel(iteration=x).values
        assert top - below == pytest.approx(own)
        below = top if kind == "stacked" else 0
    assert "topic 1: named" in [one["name"] for one in drawn]


def test_scores_are_those_of_the_measures_sorted_by_any_with_their_means(new_run, store):
    path = new_run("one", "cgs")
    page = TopicsPage(store)
    run = open_run(path)
    found, several = coherence(run, get_corpus(store, Run(path).spec.train)), diversity(run)
    found["diversity"] = several["diversity"]
    rows = {int(row[0]): row[4:] for row in cells(page.topics.table.object)}
    assert list(rows) == topics_by_size(run)
    for topic, scores in rows.items():
        wanted = found[["u_mass", "npmi", "c_v", "diversity"]].sel(topic=topic)
        assert scores == [format_number(float(one), 3) for one in wanted.values()]
    assert f"diversity {several.attrs['mean_diversity']:.3f}" in page.topics.status.object
    page.topics.clicked("sort", "-NPMI")
    order = [int(row[0]) for row in cells(page.topics.table.object)]
    assert order == found["topic"].values[np.argsort(-found["npmi"].values)].tolist()
    assert "scores=-NPMI" in to_query(page._parameters)


def test_topics_of_two_runs_are_matched_and_flow_into_each_other(drawn, new_run, store, halves):
    a = new_run("first", "cgs")
    fit(halves[0], "cgs", 6, n_iterations=12, store=store, name="second", progress=False)
    page = TopicsPage(store)
    page.run.value, page.other.value = "first", "second"
    runs = open_run(a), open_run(store / "second")
    pairs, flow = match_topics(*runs), topic_flow(*runs, get_corpus(store, Run(a).spec.train))
    rows, (_, matched, *_) = cells(page.matching.table.object), page.matching.picture.panels[0]
    assert [int(row[0]) for row in rows] == topics_by_size(runs[0])
    for topic, _, partner, distance, shared, *_ in rows:
        pair, own = pairs.sel(topic=int(topic)), flow.sel(topic=int(topic))
        assert (int(partner), distance) == (pair["matched"], f"{float(pair['distance']):.3f}")
        assert shared == f"{100 * float(own.sel(other=int(partner)) / own.sum()):.0f} %"
    partners = dict(enumerate(pairs["matched"].values.tolist()))
    for ribbon in matched.split(datatype="dictionary"):
        assert partners[ribbon[TOPIC]] == ribbon["other"]
        assert ribbon["tokens"] == float(flow.sel(topic=ribbon[TOPIC], other=ribbon["other"]))
    assert page._parameters["with"].current() == "second"
    page.matching.chosen = 2
    assert page.map.chosen == page.sizes.chosen == page.topics.chosen == 2


def test_runs_of_other_tokens_are_matched_without_a_flow(new_run, store, halves):
    new_run("first", "cgs")
    fit(halves[1], "cgs", 3, n_iterations=5, store=store, name="second", progress=False)
    page = TopicsPage(store)
    page.run.value, page.other.value = "first", "second"
    assert "different tokens" in page.matching.status.object and page.matching.picture is None
    rows = cells(page.matching.table.object)
    assert len(rows) == 4 and [row[2] for row in rows].count("–") == 1


@pytest.mark.parametrize(
    ("name", "content", "kind", "told"),
    [
        ("a text", b"  ", ".txt", "is empty"),
        ("x.pdf", b"%PDF", ".pdf", "no file of text"),
        ("long.txt", b"a" * (5 * 2**20 + 1), ".txt", "5 MB"),
        ("x.csv", b"a,b\n1,2\n", ".csv", "x.csv, line 1"),
        ("a text", b"12 34", ".txt", "word"),
        (
            "a text",
            b"zebras and unicorns",
            ".txt",
            "the run of-texts knows no word of a text, so it has no topics",
        ),
        (
            "x.csv",
            b"title,text\none,zebras\ntwo,unicorns\n",
            ".csv",
            "the run of-texts knows no word of x.csv",
        ),
    ],
)
def test_what_cannot_be_folded_in_is_a_sentence(of_texts, name, content, kind, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        infer_documents(snapshot(of_texts), name, content, kind)


def csv_of(n: int) -> bytes:
    """A file of n documents of one word."""
    return b"text\n" + n * b"plum\n"


@pytest.mark.parametrize(
    "engine, settings",
    [
        ("cgs", {"n_topics": 800}),
        ("network-vb", {"n_topics": 40, "model": "pachinko", "sizes": {"super": 20}}),
    ],
)
def test_of_many_topics_fewer_documents_are_taken_and_those_too_many_take_no_memory(
    store, engine, settings
):
    fit(
        Corpus.from_texts(WORDS),
        engine,
        n_iterations=1,
        store=store,
        name="many",
        progress=False,
        **settings,
    )
    n = 2 * unseen.MOST_BYTES // inference_bytes(open_run(store / "many"), 1)
    with pytest.raises(
        ValueError, match=r"up to 40\d MB under \d+ topics where a page takes 200 MB"
    ):
        tracemalloc.start()
        try:
            infer_documents(snapshot(store / "many"), "x.csv", csv_of(n), ".csv")
        finally:
            taken = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert taken < 20e6  # theta alone has more, of 800 topics


def test_inference_takes_no_more_than_the_server_allows_its_runs(of_texts, ruled):
    each = inference_bytes(open_run(of_texts), 1)
    ruled(limits=Limits(memory=10.5 * each / 1e9))
    assert infer_documents(snapshot(of_texts), "x.csv", csv_of(10), ".csv").corpus.n_documents == 10
    with pytest.raises(ValueError, match=r"\(10 documents\)"):
        infer_documents(snapshot(of_texts), "x.csv", csv_of(11), ".csv")


def test_what_is_shown_of_many_documents_and_of_a_long_text_is_cut(of_texts):
    long = f"title,text\n{'T' * 1000},plum\n".encode() + 300 * b"more,plum\n"
    listing = listing_of(infer_documents(snapshot(of_texts), "x.csv", long, ".csv"))["documents"]
    assert len(listing) == 200 and len(listing[0]["title"]) == 200

    types = [
        "plum",
        *("".join(word) for word in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=3)),
    ]
    found = infer_documents(snapshot(of_texts), "long", " ".join(types).encode(), ".txt")
    told = unseen_document(found, 0, NONE, {})
    assert len(told["words"]) == 400 and not told["raw"]
    assert f"the 400 most frequent of {found.corpus.n_pairs:,}" in told["note"]


def test_the_card_of_unseen_text_says_what_is_wrong_and_forgets_another_run(
    of_texts, new_run, store
):
    page = TopicsPage(store)
    card, word = page.unseen, "plum"
    card._ask("a text", bytes, ".txt")
    assert "is empty" in card.status.object and card.table.object == ""
    card._ask("a text", word.encode, ".txt")
    assert (
        "0.0 % of 1 tokens are unknown" in card.status.object
        and "<h3>a text</h3>" in card.table.object
    )
    assert card._csv().name == "of-texts-unseen.csv"
    new_run("two", "cgs")
    page.tick()
    assert "with another run" in card.status.object and card.table.object == ""
    with pytest.raises(ValueError, match="no text has been analysed yet"):
        card._csv()


@pytest.mark.slow
def test_every_figure_and_its_data_are_files(new_run, store, halves):
    a = new_run("first", "cgs")
    fit(halves[0], "svb", 3, n_iterations=5, store=store, name="second", progress=False)
    now, other, run = snapshot(a), snapshot(store / "second"), open_run(a)
    page = TopicsPage(store)
    page.run.value, page.other.value, page.map.chosen = "first", "second", 2
    for columns in (1, 2):
        for card in (page.map, page.words, page.sizes, page.matching):
            card.files.width.value = columns
            root = ElementTree.fromstring(taken(page, card, "SVG"))
            assert root.get("width") == f"{72 * WIDTHS[columns]:g}pt"
            assert "--engines cgs --topics 4" in root.find("{*}desc").text
            assert page.handover.file["name"].startswith("first-")

    def table(content):
        return pd.read_csv(io.BytesIO(content))

    places, words = (table(taken(page, card, "CSV")) for card in (page.map, page.words))
    assert places["share"].tolist() == pytest.approx(topic_sizes(run)["share"].values)
    assert words["word"].tolist() == list(top_words(run, 30, 0.6)["word"].sel(topic=2).values)
    asked = files.FileRequest(now, {1: "named, well"}, other=other)
    salient = table(files.salient_file(asked).content)["word"]
    assert salient.tolist() == list(salient_words(run, 100)["word"].values)
    sizes = table(files.sizes_file(asked).content)
    assert len(sizes) == 12 * 4 and sizes["n_k"].tolist() == run["n_k"].values.ravel().tolist()
    assert set(table(files.documents_file(asked).content)["topic"]) == {0, 1, 2, 3}
    topics = table(files.topics_file(asked).content)
    assert topics["label"][1] == "named, well" and {"npmi", "diversity", "x"} <= set(topics)
    assert "tokens shared with 2" in table(files.matching_file(asked).content)
    with pytest.raises(ValueError, match="no other run"):
        files.matching_file(asked._replace(other=None))
    with pytest.raises(ValueError, match="there is no run"):
        files.topics_file(files.FileRequest(None, {}))


def test_a_snapshot_that_goes_while_it_is_read_is_not_taken_for_zeros(new_run, store, monkeypatch):
    path = new_run("one", "cgs", n_iterations=8, snapshot_every=2)
    kept, whole = Run(path).dataset()["snapshot_iteration"].values.tolist(), Run.dataset
    iterations = open_group(path, "r+")["snapshot_iteration"]

    def dropping(run):
        monkeypatch.setattr(Run, "dataset", whole)
        found = run.dataset()
        iterations[len(kept) - 1] = 0
        for name in ("n_kw", "n_dk"):
            shutil.rmtree(path / DATA / name / "c" / str(len(kept) - 1))
        return found

    monkeypatch.setattr(Run, "dataset", dropping)
    found = counts_of(snapshot(path))
    assert (
        found["snapshot_iteration"].values.tolist() == kept[-2:-1]
        and found["n_kw"].values.sum() > 0
    )


def taken(page: TopicsPage, card: Card, form: str) -> bytes:
    """The file of a card's picture, as the browser gets it."""
    card.files.buttons[form].clicks += 1
    return page.handover.file["content"]


def test_a_run_without_topics_says_so_and_shows_what_it_recorded(new_run, store, monkeypatch):
    new_run("states")
    progress = Run.progress
    other = (
        ("iteration", "state"),
        np.linspace(0, 1, 36).reshape(12, 3),
        {"long_name": "share of each state"},
    )
    monkeypatch.setattr(
        Run,
        "progress",
        lambda run: (
            progress(run)
            .drop_vars(["n_k", "topic"])
            .assign(occupancy=other)
            .assign_coords(state=["a", "b", "c"])
        ),
    )
    monkeypatch.setattr(overview, "counts_of", lambda moment: None)
    page = TopicsPage(store)
    assert (
        "states has no topics." in page.status.object
        and "has no topics" in page.sizes.status.object
    )
    page.view()
    assert page.recorded.view.visible and "Occupancy" in page.recorded.title.options[-1]
    page.recorded.title.value = "Occupancy"
    assert "share of each state" in page.recorded.caption.object.lower()
    table = pd.read_csv(io.BytesIO(taken(page, page.recorded, "CSV")))
    assert table["occupancy"].iloc[-1] == 1 and set(table["state"]) == {"a", "b", "c"}
    page.recorded.clear()
    page.recorded.files.buttons["SVG"].clicks += 1
    assert "There is no picture of this yet" in page.recorded.files.status.object


def test_a_recorded_figure_follows_its_run_and_its_slider_on_the_page_and_in_the_file(
    drawn, store, monkeypatch
):
    rng = np.random.default_rng(0)
    corpus, asked = Corpus.from_texts([" ".join(rng.choice(WORDS, 12)) for _ in range(30)]), []
    monkeypatch.setattr(
        Run,
        "dataset",
        lambda run, *rest, whole=Run.dataset: asked.append(run.name) or whole(run, *rest),
    )
    monkeypatch.setattr("workbench.dashboard.topics.page.EVERY", 0)
    fit(
        corpus,
        "sb-ctm",
        3,
        n_iterations=20,
        snapshot_every=10,
        store=store,
        name="sticks",
        progress=False,
    )
    page = TopicsPage(store)
    page.view()
    assert page.recorded.view.visible and "Correlations of topics" in page.recorded.title.options
    page.recorded.title.value = "Correlations of topics"
    card, before = page.recorded, page.recorded.picture
    assert sum("correlation" in told for texts in before.hover.values() for told in texts[0]) == 9
    n_read = len(asked)
    page.tick()
    assert card.picture is before and len(asked) == n_read, "nothing is read where nothing is new"
    Run(store / "sticks").label(1, "planets")
    page.tick()
    hover = [told for texts in card.picture.hover.values() for told in texts[0]]
    assert any("planets" in told for told in hover), "a label is shown at once"
    before = card.picture
    resume(store / "sticks", n_iterations=40)
    page.tick()
    assert card.picture is not before and card.title.value == "Correlations of topics"
    table = pd.read_csv(io.BytesIO(taken(page, card, "CSV")))
    assert len(table) == 9 and {"topic", "other_topic", "correlation"} <= set(table)

    (slider,) = card.bar.select(pn.widgets.FloatSlider)
    assert slider.label == "Connect above a correlation of" and card.options == {"above": 0.1}
    slider.value = 0.95
    for _ in range(2):
        assert "beyond ±0.95" in card.figure[1].object.select_one(Title).text
        page.tick()  # kept while nothing else is chosen
    assert slider.value == 0.95 and b"beyond" in taken(page, card, "SVG")


def test_a_tap_in_a_figure_of_groups_and_times_finds_their_documents(store, drawn):
    times = [f"2024-{1 + at % 5:02}-03" for at in range(40)]
    table = pd.DataFrame(
        {
            "text": [f"{WORDS[at % 8]} {WORDS[8 + at % 3]}" for at in range(40)],
            "kind": ["a b", "a", "c", "c"] * 10,
            "name": [f'the "{at:02}"' for at in range(40)],
        }
    )
    corpus = corpus_of(table.assign(day=times), label="kind", time="day", id="name")
    fit(corpus, "cgs", 2, n_iterations=10, store=store, name="dated", progress=False)
    page = TopicsPage(store)
    page.view()
    card = page.recorded
    assert card.title.options[:2] == ["Topics over time", "Topics by group"]
    for title, kinds in (("Topics over time", "time"), ("Topics by group", "label")):
        card.title.value = title
        source = next(each for each in card._sources if SEARCH in each.data)
        for at in (1, len(source.data[SEARCH]) - 1):
            source.selected.indices = [at]
            topic = int(source.data[TOPIC][at])
            _, value = source.data[SEARCH][at].replace('"', "").split("=")
            weeks = pd.to_datetime(pd.Series(times)).dt.strftime("%G-W%V")
            of = weeks if kinds == "time" else table["kind"]
            assert page.map.chosen == page.documents.chosen == topic
            assert page.find.value == f'"{kinds}"="{value}"'
            found = {row["document"] for row in listed_of(page)}
            assert found and found == {d for d in range(40) if of[d] == value}
    card.title.value = "Map of the documents"
    source = next(each for each in card._sources if SEARCH in each.data)
    for document in (3, 39):
        source.selected.indices = [document]
        assert page.map.chosen == int(source.data[TOPIC][document])
        assert [row["document"] for row in listed_of(page)] == [document]


def listed_of(page) -> list[dict]:
    """The rows of the list of documents."""
    return page.documents.content["content"]["documents"]


def test_the_first_figure_is_drawn_before_the_others(of_texts, store, monkeypatch):
    drawn = []

    def noted(view):
        def draw(*given, by=None, group=None, of=None, **options):
            drawn.append(view.name)
            return view.draw(*given, **options)

        return view._replace(draw=draw)

    monkeypatch.setattr(every, "VIEWS", [noted(view) for view in every.VIEWS])
    now = snapshot(of_texts)
    assert recorded._figure_card(None, now, 0, 0, ()).picture.title == "Topics by group"
    assert drawn == ["topics-by-group"]
    assert (
        recorded._figure_card("Effects of a column", now, 0, 0, ()).picture.title
        == "Effects of a column"
    )
    assert drawn == ["topics-by-group", "effects"]
    assert recorded._titles(now, 0, 0, ())[1] == "Differences between groups"
    assert drawn[2:] == ["group-differences", "topic-tree", "document-map", "recorded"]


def test_a_document_shows_its_text_in_colours_and_its_columns(of_texts, store):
    page = TopicsPage(store)
    page.documents.document = 5
    one, table = shown(page), Run(of_texts).table
    assert "".join(piece["word"] for piece in one["words"]) == table.texts[5] and one["raw"]
    assert one["columns"] == [["kind", "colour"], ["id", "id-5"]] and one["title"] == "id-5"
    (html,) = re.findall('<p class="text">(.*?)</p>', page.documents.table.object)
    assert re.sub("<[^>]*>", "", html) == table.texts[5]
    tokens = token_topics(open_run(of_texts), get_corpus(store, Run(of_texts).spec.train), 5)
    likely = dict(zip(tokens["word"].values, tokens["likely"].values.tolist(), strict=True))
    coloured = [piece for piece in one["words"] if piece["topic"] is not None]
    assert {piece["word"].lower(): piece["topic"] for piece in coloured} == likely and len(
        coloured
    ) == 12
    assert "plain: what was not counted, or is held out" in one["note"]


def test_texts_are_coloured_as_they_were_counted(store):
    texts = ["Café CAFÉ café x1", "Tea x1 x2 tea", "x2 Café"] * 3
    corpus = Corpus.from_texts(
        texts, token_pattern=r"(?:^|\s)(\w+)", accents="strip", lowercase=False, stop_words=None
    )
    fit(corpus, "cgs", 2, n_iterations=5, store=store, name="odd", progress=False)
    page = TopicsPage(store)
    page.documents.document = 0
    pieces = shown(page)["words"]
    assert "".join(piece["word"] for piece in pieces) == texts[0]
    assert [piece["word"] for piece in pieces if piece["topic"] is not None] == [
        "Café",
        "CAFÉ",
        "café",
        "x1",
    ]


@pytest.mark.slow
def test_a_pattern_that_would_hang_the_server_is_never_matched_in_it(store, monkeypatch):
    texts = ["The quick brown fox jumps over the lazy dogs again here", "red ants and bees"]
    # quick in lower case, as texts are read
    corpus = Corpus.from_texts(texts, token_pattern=r"[A-Z](?:\w+\s?)+@|[a-z]{2,}")
    fit(corpus, "cgs", 2, n_iterations=2, store=store, name="hanging", progress=False)
    page = TopicsPage(store)
    page.documents.document = 0
    one = shown(page)
    assert not one["raw"] and {piece["word"] for piece in one["words"]} == set(
        texts[0].split()
    ) & set(corpus.vocabulary)
    assert (
        "To find them in the text by their pattern takes too long: words stand by count"
        in one["note"]
    )
    page.documents.document = 1
    assert (
        shown(page)["raw"] and "".join(piece["word"] for piece in shown(page)["words"]) == texts[1]
    )
    monkeypatch.setattr(unseen, "corpus_of", None)  # it would count words here
    found = infer_documents(snapshot(store / "hanging"), "a text", b"red ants here", ".txt")
    assert found.corpus.titles == ("a text",) and set(found.corpus.vocabulary) == {"red", "ants"}


def test_new_text_is_counted_and_coloured_as_that_of_the_run(store):
    corpus = Corpus.from_texts(
        ["New York city Tea", "Tea in York"] * 3, ngrams=2, lowercase=False, stop_words=["tea"]
    )
    fit(corpus, "cgs", 2, n_iterations=5, store=store, name="pairs", progress=False)
    text = "Tea in New York, york"
    wanted = Corpus.from_texts([text], ngrams=2, lowercase=False, stop_words=["tea"])
    found = infer_documents(snapshot(store / "pairs"), "a text", text.encode(), ".txt")
    assert found.corpus.vocabulary == wanted.vocabulary and found.corpus.titles == ("a text",)
    table = f'text\n"{text}"\n'.encode()
    assert (
        infer_documents(snapshot(store / "pairs"), "new.csv", table, ".csv").corpus.vocabulary
        == wanted.vocabulary
    )
    pieces = unseen_document(found, 0, 0, {})["words"]
    assert [piece["word"] for piece in pieces if piece["topic"] not in (None, -1)] == [
        "in",
        "New",
        "York",
    ]
    own = Corpus.from_texts(["a b"], tokenizer=str.split, stop_words=None)
    fit(own, "cgs", 2, n_iterations=1, store=store, name="cut", progress=False)
    with pytest.raises(ValueError, match="cut into words by a tokenizer, which is not kept"):
        infer_documents(snapshot(store / "cut"), "a text", b"a b", ".txt")


def test_documents_are_found_sorted_by_the_topic_and_taken_away(of_texts, store):
    page = TopicsPage(store)
    page.find.value = "kind:fruit plum"
    table, content = Run(of_texts).table, page.documents.content["content"]
    wanted = [at for at in range(0, 40, 2) if "plum" in table.texts[at].lower()]
    assert [one["document"] for one in content["documents"]] == wanted
    assert f"{len(wanted)} of 40 documents have what is looked for." in page.documents.status.object
    assert shown(page)["document"] == wanted[0]
    page.map.chosen = 1
    theta = open_run(of_texts)["theta"].sel(topic=1).values
    assert listed_documents(page) == sorted(wanted, key=lambda at: -theta[at])
    assert (
        "sorted by topic 1." in page.documents.status.object
        and to_query(page._parameters).count("find=") == 1
    )
    file = files.documents_file(files.FileRequest(page.snapshot(), {}, 1, query=page.find.value))
    taken = pd.read_csv(io.BytesIO(file.content))
    assert (
        taken["document"].tolist() == listed_documents(page)
        and set(taken["kind"]) == {"fruit"}
        and taken["title"][0] == f"id-{taken['document'][0]}"
    )
    page.find.value = "kin:fruit"
    assert page.documents.content["content"] == {}
    assert "documents have no column &#x27;kin&#x27;; did you mean" in page.documents.status.object


@pytest.fixture
def of_columns(store):
    """A run on 130 texts with an id, a kind, and a number that some lack."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "text": [" ".join(rng.choice(WORDS[8 * (at % 2) :][:8], 12)) for at in range(130)],
            "kind": ["b", "a"] * 65,
            "id": [f"item {at}" for at in rng.permutation(130)],
            "weight": [None if at % 10 == 3 else str((7 * at) % 130 - 40) for at in range(130)],
        }
    )
    fit(
        corpus_of(table, id="id", label="kind"),
        "cgs",
        3,
        n_iterations=20,
        store=store,
        name="of-columns",
        progress=False,
    )
    return store / "of-columns"


def listed_documents(page) -> list[int]:
    return [one["document"] for one in page.documents.content["content"]["documents"]]


def test_the_file_of_documents_has_all_pages_of_the_list_with_all_columns(of_columns, store):
    Run(of_columns).label(1, "named, well")
    page, run = TopicsPage(store), open_run(of_columns)
    ranked = representative_documents(run, 1, 130).to_dataframe().set_index("document")
    names = {"theta": "topic 1", "n_topic_tokens": "n_topic_tokens", "score": "score"}
    for topic, query, sort in (NONE, "", "-weight"), (1, "", ""), (1, "label:a", ""):
        page.map.chosen, page.find.value, page.documents.sort = topic, query, sort
        table = pd.read_csv(io.BytesIO(taken(page, page.documents, "CSV")))
        listed = []
        for number in range(1, page.documents.content["content"]["pages"] + 1):
            page.documents.page = number
            listed += listed_documents(page)
        assert len(listed) > 50 and table["document"].tolist() == listed
        of_topic = () if topic == NONE else names.values()
        assert list(table) == [
            *("document", "title", "label", "topic", "topic_label", "share", *of_topic, "n_tokens"),
            *("kind", "id", "weight"),
        ]
        if topic != NONE:
            known = table.set_index("document").loc[lambda rows: rows.index.isin(ranked.index)]
            for name, column in names.items():
                wanted = ranked[name][known.index]
                np.testing.assert_allclose(known[column], wanted, rtol=1e-12)
        if topic != NONE and not query:
            assert table["score"].is_monotonic_decreasing


def test_documents_are_sorted_by_any_column_and_by_the_share_of_any_topic(of_columns, store):
    page, run = TopicsPage(store), open_run(of_columns)
    table, documents = Run(of_columns).table.columns, page.documents
    documents.page, documents.sort = 2, "title"
    assert documents.page == 1 and [
        one["title"] for one in documents.content["content"]["documents"]
    ] == [f"item {at}" for at in range(50)]
    documents.sort = "-weight"
    weights = [None if weight is None else int(weight) for weight in table["weight"]]
    there = [at for at in range(130) if weights[at] is not None]
    assert listed_documents(page) == sorted(there, key=lambda at: -weights[at])[:50]
    for sort in ("-weight", "weight"):
        documents.sort = sort
        documents.page = 3
        assert listed_documents(page)[-13:] == [at for at in range(130) if weights[at] is None], (
            "those without a number come last"
        )
    documents.sort = "kind"
    assert listed_documents(page) == list(range(1, 101, 2))
    documents.sort = "-topic 2"
    theta = run["theta"].sel(topic=2).values
    order = np.argsort(-theta, kind="stable").tolist()
    assert listed_documents(page) == order[:50] and documents.content["content"]["columns"][1][
        :2
    ] == (
        "topic 2",
        "Topic 2",
    )
    assert [one["share"] for one in documents.content["content"]["documents"]] == pytest.approx(
        theta[order[:50]]
    )
    page.find.value = "kind:a"
    assert (
        listed_documents(page) == [at for at in order if at % 2][:50]
        and documents.content["content"]["total"] == 65
    )
    documents.sort = "loudness"
    assert "There is no column &#x27;loudness&#x27; to sort by." in documents.status.object
    other = TopicsPage(store)
    assert from_query("?order=-weight&page=2&topic=1", other._parameters) == []
    assert (
        from_query("?page=0", other._parameters)
        == from_query("?page=x", other._parameters)
        == ["page"]
    )
    other.tick()
    assert (
        other.documents.content["content"]["page"] == 2
        and other.documents.content["content"]["columns"][1].heading == "Topic 1"
    )


def test_damaged_texts_are_told_of_and_words_are_shown(of_texts, store):
    (file,) = (store / ".corpora").glob("*.documents.json.gz")
    file.write_bytes(file.read_bytes()[:-20])
    page = TopicsPage(store)
    page.map.chosen = 1
    assert (
        "is damaged" in page.documents.status.object
        and not shown(page)["raw"]
        and shown(page)["words"]
    )


@pytest.fixture
def of_large_runs(monkeypatch):
    """From when it is called on, every run is read as a large one: theta and n_dk stay on the disk, in blocks of a few rows."""

    def begin() -> None:
        monkeypatch.setattr(snapshots, "IN_MEMORY", 0)
        monkeypatch.setattr(blocks, "NUMBERS", 16)
        for kept in (
            snapshots._counts_and_shares_of,
            document_rows.columns_of,
            document_rows._ranks_by,
            document_rows._largest_topics_of,
            document_rows.shares_of,
            document_rows.ranked_documents_of,
        ):
            kept.cache_clear()

    return begin


def test_documents_of_a_large_run_are_those_of_a_small_one(new_run, of_large_runs):
    now = snapshot(new_run("one", "cgs"))
    asked = [
        (topic, document, {}, query, sort)
        for topic in (NONE, 1)
        for document in (NONE, 2)
        for query in ("", "document")
        for sort in ("", "title", "-title", "topic", "-share", "n_tokens", "topic 2")
    ]
    small = [documents._documents_now(now, *each) for each in asked]
    files_of_small = [
        files.documents_file(files.FileRequest(now, {}, 1, query=query))
        for query in ("", "document")
    ]
    of_large_runs()
    assert [documents._documents_now(now, *each) for each in asked] == small
    assert [
        files.documents_file(files.FileRequest(now, {}, 1, query=query))
        for query in ("", "document")
    ] == files_of_small


def test_a_page_of_documents_reads_their_rows_alone(new_run, of_large_runs, monkeypatch):
    path, n_read, read = new_run("one", "cgs"), [], counts.read
    of_large_runs()

    def seen(path, array, selection):
        found = read(path, array, selection)
        if array.path == "n_dk":
            n_read.append(found.shape[-2] if found.ndim > 1 else 1)
        return found

    monkeypatch.setattr(counts, "read", seen)
    monkeypatch.setattr("workbench.dashboard.topics.documents.PER_PAGE", 3)
    content = documents._documents_now(snapshot(path), NONE, NONE, {}, "")["content"]
    # for the counts, and for theta
    assert len(content["documents"]) == 3 < content["total"] and 0 < sum(n_read) <= 6


def test_the_file_of_documents_reads_each_block_of_a_large_run_at_one_place(
    of_columns, of_large_runs, monkeypatch
):
    rows_read, read = [], counts.read
    of_large_runs()

    def seen(path, array, selection):
        if array.path == "n_dk":
            rows_read.append(np.arange(130)[selection[1]])
        return read(path, array, selection)

    monkeypatch.setattr(counts, "read", seen)
    monkeypatch.setattr("workbench.measures.documents.rows_at_once", lambda values: 16)
    files.documents_file(files.FileRequest(snapshot(of_columns), {}, sort="-weight"))
    assert len(rows_read) > 2 and all(np.ptp(rows) < 16 for rows in rows_read)


def test_a_figure_of_a_large_run_is_of_a_sample_of_documents_and_says_so(
    new_run, of_large_runs, monkeypatch
):
    run = open_run(new_run("one", "cgs"))
    n, n_topics = run.sizes["document"], run.sizes["topic"]
    assert recorded._sample(run) == (run, "")
    monkeypatch.setattr(recorded, "IN_MEMORY", n * n_topics // 3)
    some, said = recorded._sample(run)
    assert some.sizes["document"] <= -(-n // 3) and said.startswith(
        f" Of a sample of {some.sizes['document']} of {n} "
    )
    np.testing.assert_array_equal(
        some["theta"], run["theta"][:: n // some.sizes["document"]][: some.sizes["document"]]
    )
