"""The card with a corpus as it is read before a run is started."""

from dataclasses import replace

import pytest
from toys import simulated

import workbench as wb
from workbench.corpus import ShardedCorpus
from workbench.corpus.shards import shard_writer
from workbench.dashboard.compare.page import ComparePage
from workbench.dashboard.compare.preview import preview_html

FILE = "My own data …"
ROWS = 'title,text,kind,day\none,"Red ants & <b>bees</b>",x,2020-01-31\ntwo,,y,\nthree,ants bees red!,x,2021-02-01\n'


@pytest.fixture
def page(tmp_path, monitor):
    """A page on an empty store, whose form names a file of three rows."""
    (tmp_path / "a.csv").write_text(ROWS)
    page = ComparePage(tmp_path / "runs")
    page.settings.fields["corpus"].value, page.settings.fields["path"].value = (
        FILE,
        str(tmp_path / "a.csv"),
    )
    return page


def test_a_corpus_is_shown_with_what_is_doubtful_its_documents_and_words():
    texts = ["Red ants & <b>bees</b>", "", "bees ants red", "x" * 500 + " red"]
    corpus = wb.Corpus.from_texts(texts, token_pattern=r"\w+")
    reading = {"found": {"bad_dates": "1 of 4 values of 'day' are no dates"}}
    corpus = replace(
        corpus, labels=("p", "q", "", "p"), times=("2020-01-31", None, 3, 4), reading=reading
    )
    html = preview_html(corpus)
    assert (
        "4 documents · 5 words" in html
        and "values of &#x27;day&#x27; are no dates." in html
        and "1 of 4 documents of &#x27;texts&#x27; has no word that is counted" in html
    )
    # b is a word of the first alone
    assert "has the same words as an earlier one: &#x27;document 2&#x27; as" not in html
    assert (
        "Red ants &amp; &lt;b&gt;bees&lt;/b&gt;" in html
        and "<b>" not in html
        and "<em>empty</em>" in html
    )
    assert "<td>2020-01-31</td>" in html and "x" * 239 + "…" in html and "x" * 300 not in html
    assert "red&nbsp;<small>3</small>" in html and "&amp;#x27;" not in html


def test_counts_and_records_are_shown_without_texts():
    assert ">Text</th>" not in (html := preview_html(simulated())) and "first documents" in html
    records = wb.load_records("votes")
    assert f"{records.describe()['records']:,} records" in preview_html(records)


def test_what_each_rule_leaves_out_is_counted(page):
    for name, value in {"min_letters": "4", "min_documents": "2", "max_share": "0.5"}.items():
        page.settings.fields[name].value = value
    rows = ["the red ants", "the ants bees bees", "a cow eats", "the bees eats eats"] * 2
    (path := page.store.parent / "b.csv").write_text("text\n" + "\n".join([*rows, "zebra"]))
    page.settings.fields["path"].value = str(path)
    page.settings.preview.clicks += 1
    html = page.preview.html.object
    assert "The texts have 7 words with 27 tokens; 3 words with 16 tokens are kept." in html
    for rule, words, tokens, share in (
        ("Stop words", 1, 6, "22.2 %"),
        ("Words of fewer than 4 letters", 2, 4, "14.8 %"),
        ("In fewer than 2 documents", 1, 1, "3.7 %"),
        ("In more than 50% of all documents", 0, 0, "0.0 %"),
    ):
        cells = "".join(f'<td class="n">{cell}</td>' for cell in (words, tokens, share))
        assert f'<th scope="row">{rule}</th>{cells}' in html, (rule, html)
    assert 'data-key="more_stop_words bees"' in html and 'data-key="repeated drop"' in html
    for said in ("more_stop_words bees", "more_stop_words <b>", "repeated drop", "engines x"):
        page.preview.html._handle_msg(said)
    html = page.preview.html.object
    assert page.settings.fields["more_stop_words"].value == "bees, <b>"
    assert "bees&nbsp;" not in html and "2 words with 10 tokens are kept" not in html
    assert "1 word" not in html and 'data-key="repeated drop"' not in html
    assert "4 of 9 documents" not in html and "has the same words" not in html
    page.settings.fields["more_stop_words"].value = ""
    page.settings.fields["ngrams"].value = "2"
    page.settings.preview.clicks += 1
    assert "are kept, n-grams included." in page.preview.html.object
    assert "Left out" not in preview_html(wb.load_corpus("bars:side=3:n_documents=5"))


def test_the_button_shows_the_file_of_the_form_as_it_is_read(page):
    page.settings.fields["label"].value = "kind"
    page.settings.fields["file.time"].value = "day"
    assert not page.preview.card.visible
    page.settings.preview.clicks += 1
    html = page.preview.html.object
    assert (
        page.preview.card.visible
        and "3 documents" in html
        and "<td>2020-01-31</td>" in html
        and "<td>x</td>" in html
    )
    assert "further columns: title, kind, day" in html and not page.settings.status.object
    assert not page.settings.preview.disabled and not [*page.store.glob("*")]


def test_a_folder_of_shards_is_shown_without_reading_it_as_a_whole(page, monkeypatch):
    corpus = wb.Corpus.from_texts(
        ["red ants", "bees red", "", "red bees"], titles=["one", "two", "three", "four"]
    )
    html = preview_html(replace(corpus, table=None))
    monkeypatch.setattr(shard_writer, "SHARD_PAIRS", 3)
    ShardedCorpus.write(corpus, folder := page.store.parent / "shards")
    page.settings.fields["path"].value = str(folder)
    page.settings.preview.clicks += 1
    shown = page.preview.html.object
    assert (
        page.settings.form.wrong == {}
        and "4 documents · 3 words · 6 pairs · 6 tokens · 2 shards." in shown
    )
    assert "is in shards; empty and repeated documents were not looked for" in shown
    for part in ('<div class="scroll">', "<p>Most frequent words"):
        assert html[html.index(part) :].split("</p>")[0] in shown, (
            "the same documents and words as in memory"
        )
