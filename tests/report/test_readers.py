"""The report for readers: its sections, passages with marked words, edited topics, and what other runs find again."""

import re
import shutil

import numpy as np
import pytest
from comparisons import tiny_corpus, tiny_run, with_phi
from documented import ROOT
from report.test_page import NAN, Page

import workbench as wb
from workbench.measures import MeasureError, representative_documents, token_topics
from workbench.measures.consensus import matches_in_others
from workbench.report.files import ReportError
from workbench.report.method import CITATION, agreement_of
from workbench.report.readers import LETTERS, passage
from workbench.runs.spec import SpecError

SENTENCES = {
    "sea": "The sea was rough. Ships of the fleet left the harbour. Waves hit the boats and sails.",
    "farm": "The farm was dry. Wheat of the fields grew slowly. Cows and sheep ate the hay.",
}
pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """A store with two chains, sea-0 and sea-1, on 24 texts with two categories, years and one name to be escaped."""
    folder = tmp_path_factory.mktemp("readers")
    rows = [
        f"<b>{kind}</b> {n},{1990 + n % 4},{kind},{text} Number{n} tells more. {text}"
        for n, (kind, text) in enumerate([*SENTENCES.items()] * 12)
    ]
    file = folder / "log.csv"
    file.write_text("\n".join(["name,when,kind,text", *rows]))
    corpus = wb.load_corpus(file, text="text", title="name", time="when", label="kind")
    train, test = wb.hold_out_tokens(corpus, 0.1)
    for seed in (0, 1):
        settings = {"n_iterations": 60, "seed": seed, "test": test, "progress": False}
        wb.fit(train, "cgs", 2, name=f"sea-{seed}", store=folder / "runs", **settings)
    return folder / "runs"


def page_of(runs, folder, **options) -> tuple[str, str]:
    """The HTML of a report for readers, and its text with single blanks."""
    path = wb.write_report(runs, folder / "readers.html", audience="readers", **options)
    html = path.read_text()
    return html, " ".join(Page(html).text.split())


def test_the_page_has_every_section_with_numbers_of_the_run(fleet, tmp_path):
    run = wb.Run(fleet / "sea-0")
    html, text = page_of(run, tmp_path)
    ids = ("corpus", "topics", "passages", "figures", "method", "care", "again")
    assert [name for name in ids if f'<section id="{name}">' not in html] == []
    assert not NAN.search(text) and "<b>" not in html and "<b>sea</b> " in text
    assert '<blockquote><p dir="auto">' in html and '<h1 dir="auto">' in html
    assert "in the table" not in text and "One run of each label" not in text
    dataset = run.edited()
    shares = dataset["n_k"].values[30:] / dataset["n_k"].values[30:].sum(axis=1, keepdims=True)
    for topic, share in enumerate(shares.mean(axis=0)):
        low, high = np.quantile(100 * shares[:, topic], [0.025, 0.975])
        assert f'{100 * share:.1f} %</td><td class="n">{low:,.1f} … {high:,.1f}</td>' in html
    perplexity = f"{float(dataset['test_perplexity'][-1]):.2f}"
    for words in (
        "when and kind",
        "1990 to 1993",
        f"held-out perplexity {perplexity}",
        "alpha (per topic) 0.1",
        "Collapsed Gibbs sampling, Griffiths & Steyvers (2004)",
        "There is one run here",
        "workbench report sea-0 --for readers",
        "--iterations 60 --seed 0",
        "Topics by group, kind",
    ):
        assert words in text


def test_marked_words_of_passages_are_those_of_the_topic(fleet, tmp_path):
    run = wb.Run(fleet / "sea-0")
    html, _ = page_of(run, tmp_path)
    dataset, titles = run.dataset(), list(run.dataset()["document"].values)
    train = wb.runs.store.archive.get_corpus(fleet, run.spec.train)
    n_marked = 0
    for article in re.findall(r'<article class="topic" id="topic-.*?</article>', html, re.DOTALL):
        topic = int(re.search(r"topic-(\d+)", article)[1])
        quotes = re.findall(r"<blockquote>.*?</blockquote>", article, re.DOTALL)
        assert len(quotes) == 3
        for quote in quotes:
            title = re.search("<strong>(.*?)</strong>", quote)[1]
            title = title.replace("&lt;", "<").replace("&gt;", ">")
            tokens = token_topics(dataset, train, titles.index(title))
            likely = dict(zip(tokens["word"].values, tokens["likely"].values, strict=True))
            marked = [word.lower() for word in re.findall("<mark[^>]*>(.*?)</mark>", quote)]
            plain = re.sub("<mark.*?</mark>|<cite>.*|<[^>]*>", " ", quote).lower()
            assert {likely[word] for word in marked} == {topic}
            assert not [w for w in re.findall(r"\w+", plain) if likely.get(w) == topic]
            n_marked += len(marked)
    assert n_marked > 30


def test_edited_and_labelled_topics_are_shown_and_made_again(fleet, tmp_path):
    shutil.copytree(fleet, tmp_path / "runs")
    run = wb.Run(tmp_path / "runs" / "sea-0")
    run.label(1, "<i>shore</i>")
    run.edit("hide 0", "describe 1 'what & why'", "colour 1 #123456")
    html, text = page_of(run, tmp_path)
    assert "1 · <i>shore</i> 100.0 %" in text and 'id="topic-0"' not in html and "<i>" not in html
    assert "given by a person" in text and "of the topics that are shown" in text
    assert "what & why" in text and "--topic: #123456" in html
    assert "workbench edit sea-0 'hide 0' 'describe 1" in text and "by hand: hide 0." in text
    assert "workbench label sea-0 1 '<i>shore</i>'" in text
    unedited = run.dataset()
    tokens = unedited["n_dk"].isel(snapshot=-1).values
    assert f"have at most {np.median(tokens.sum(axis=1)):.0f} counted words" in text
    best = representative_documents(unedited, 1, 3)
    for of_topic, of_all in zip(
        best["n_topic_tokens"].values, best["n_tokens"].values, strict=True
    ):
        assert f"{of_topic / of_all:.0%} of its words" in text
    _, of_dataset = page_of(run.edited(), tmp_path)
    assert "of its words in the topics shown" in of_dataset and "counted words. " not in of_dataset
    both = [run, wb.Run(tmp_path / "runs" / "sea-1")]
    both[1].edit("order 1")
    _, text = page_of(both, tmp_path)
    assert "share in all runs" not in text and "workbench edit sea-1 'order 1'" in text


def test_the_share_beside_an_interval_is_the_mean_of_its_draws(fleet, tmp_path):
    run = wb.Run(fleet / "sea-0").dataset()
    html, _ = page_of(run.assign(n_k=0 * run["n_k"] + [1, 3]), tmp_path)
    first, second = (
        html.index(f'{share} %</td><td class="n">{share} … ') for share in (75.0, 25.0)
    )
    assert first < second


def test_further_runs_say_which_topics_are_found_again(fleet, tmp_path):
    _, text = page_of([wb.Run(fleet / "sea-0"), wb.Run(fleet / "sea-1")], tmp_path)
    assert "2 are found in a further run" in text and "R-hat of the log joint is" in text
    assert "workbench report sea-0 sea-1 --for readers" in text and "share in all runs" in text


def test_only_long_chains_have_a_verdict_on_r_hat(fleet):
    runs = [wb.Run(fleet / name).dataset() for name in ("sea-0", "sea-1")]
    assert "R-hat of the log joint is" in agreement_of(runs)
    assert agreement_of([run.isel(iteration=slice(25)) for run in runs]) == ""
    apart = runs[1].assign(log_joint=runs[1]["log_joint"] + 1e4)
    assert "too short, or found different solutions" in agreement_of([runs[0], apart])
    constant = [run.assign(log_joint=0 * run["log_joint"]) for run in runs]
    assert agreement_of(constant) == ""


def test_an_imported_model_has_no_seed_and_its_own_priors(tmp_path):
    corpus = tiny_corpus()
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.ones(3), corpus.n_documents)
    phi = rng.dirichlet(np.ones(corpus.n_words), 3)
    np.savez(tmp_path / "model.npz", theta=theta, phi=phi)
    options = {"words": [*corpus.vocabulary], "alpha": 0.2, "beta": 0.3, "name": "given"}
    wb.import_run(tmp_path / "model.npz", store=tmp_path / "runs", corpus=corpus, **options)
    _, text = page_of(wb.Run(tmp_path / "runs" / "given"), tmp_path)
    assert "by another program (model.npz) and imported; no random start and no seed" in text
    assert "alpha (per topic) 0.2; beta (per word type) 0.3" in text
    assert "burn-in" not in text and "seed 0" not in text


def test_options_of_reading_are_told_in_words(fleet, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.report.readers.MOST_TEXT", 60)
    reading = {"max_share": 0.75, "ngrams": 2, "accents": "strip"}
    corpus = wb.load_corpus(fleet.parent / "log.csv", text="text", title="name", **reading)
    settings = {"n_iterations": 3, "seed": 0, "progress": False}
    wb.fit(corpus, "svb", 2, name="told", store=tmp_path / "runs", **settings)
    html, text = page_of(wb.Run(tmp_path / "runs" / "told"), tmp_path)
    assert "max_share" not in text.rpartition("Make it again")[0]
    assert text.count("none in more than 75 % of the documents") == 3
    assert "without accents" in text and "plays a part only within the sequences" in text
    assert "gives one estimate and no draws" in text and "burn-in" not in text
    assert html.count("<mark") > 3  # of the first letters of texts that are too long


def test_found_again_counts_runs_that_share_half_of_the_first_words():
    def with_words(*first: int):
        """A run with two topics, each of twelve words in a row of 40, the first one most probable."""
        phi = np.full((2, 40), 1e-6)
        for topic, start in enumerate(first):
            phi[topic, start : start + 12] = np.arange(12, 0, -1)
        return with_phi(phi / phi.sum(axis=1, keepdims=True))

    again = matches_in_others(with_words(0, 20), [with_words(25, 0), with_words(6, 28)])
    assert again["n_found"].values.tolist() == [1, 1]  # of the second run 4 and 2 of ten words
    np.testing.assert_allclose([again["low"], again["high"]], 0.5)


def test_a_run_without_texts_has_titles_and_no_interval(tmp_path):
    _, text = page_of(tiny_run("svb"), tmp_path)
    assert "the texts of the documents were not kept" in text
    assert "The shares have no interval" in text and "95 % of draws" not in text


def test_runs_that_no_reader_can_use_are_refused(fleet, tmp_path):
    sea = wb.Run(fleet / "sea-0")
    with pytest.raises(ReportError, match="further runs .* is on another; leave it out"):
        page_of([sea, tiny_run()], tmp_path)
    with pytest.raises(MeasureError, match="no topic counts of documents"):
        page_of(tiny_run().drop_vars("n_dk"), tmp_path)
    with pytest.raises(ReportError, match="one of researchers, readers"):
        wb.write_report(sea, tmp_path / "a.html", audience="children")
    with pytest.raises(MeasureError, match="no reference 'nonsense'"):
        page_of(sea, tmp_path, reference="nonsense")
    shutil.copytree(fleet / "sea-0", tmp_path / "runs" / "sea-0")
    with pytest.raises(SpecError, match="the corpus of this run is not in the store"):
        page_of(wb.Run(tmp_path / "runs" / "sea-0"), tmp_path)


def pieces_of(text: str, words: str) -> list[dict]:
    """A text cut into pieces, with the topic 1 for each of the words and 0 for the others."""
    return [
        {"word": part, "topic": (part in words.split()) + 0 if part.strip() else None}
        for part in re.split(r"(\W+)", text)
        if part
    ]


def test_passage_is_the_stretch_with_most_different_words_of_the_topic():
    dull, rich = "sea sea sea sea one. " * 30, "The sea has waves and U.S. boats here. "
    text = f"{dull}{rich}{'None of it. ' * 60}"
    shown = passage(pieces_of(text, "sea waves boats"), 1, {"waves"})
    joined = "".join(part for part, _ in shown)
    assert len(joined) <= LETTERS + 4 and joined.startswith("… ") and joined.endswith(" …")
    assert joined.strip("… ") in text and "The sea has waves and U.S. boats here." in joined
    assert {part for part, kind in shown if kind == "listed"} == {"waves"}
    assert {"sea", "boats"} <= {part for part, kind in shown if kind == "own"}
    assert passage(pieces_of("A short one.", "none"), 1) == [("A short one.", "")]
    unbroken = passage(pieces_of("x " * 400 + "sea waves", "sea waves"), 1)
    assert [part for part, kind in unbroken if kind] == ["sea", "waves"]


def test_citation_names_the_software_as_its_file_does():
    about = (ROOT / "CITATION.cff").read_text()
    authors, title = CITATION.split(". ")
    assert f'title: "{title}"' in about and f'name: "{authors}"' in about
