"""The Python of README and of the pages that show how: it runs, on small corpora and for few iterations."""

import ast
import csv
import gzip
import json
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from documented import ROOT, RUN, blocks_of
from missing import skip_without

import workbench as wb
from workbench.engines import ENGINES

FEW = {"n_iterations": 16, "n_documents": 60, "max_iter": 2, "seeds": 1}
"""What numbers of a call become, so that a page takes seconds; 16 is a few iterations more than burn-in."""
LONG = {"n_topics": 4, "n_components": 3}
"""What numbers at most become."""


class Smaller(ast.NodeTransformer):
    """Calls with fewer iterations, documents and topics."""

    def visit_Call(self, call: ast.Call) -> ast.Call:
        self.generic_visit(call)
        for word in call.keywords:
            if isinstance(word.value, ast.Constant) and isinstance(word.value.value, int):
                word.value.value = FEW.get(
                    word.arg, min(word.value.value, LONG.get(word.arg, word.value.value))
                )
        return call


def run(code: str, names: dict) -> None:
    """Runs a block with smaller numbers."""
    exec(
        compile(ast.fix_missing_locations(Smaller().visit(ast.parse(code))), "block", "exec"), names
    )


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Few iterations where a page says none, a small bundled corpus, and a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("WORKBENCH_STORE", str(tmp_path / "runs"))
    load, fit, compare, sweep, start, example = (
        wb.load_corpus,
        wb.fit,
        wb.compare,
        wb.sweep,
        wb.start,
        wb.write_example_csv,
    )

    def load_corpus(name="docstrings", **options):
        return (
            load(name, **options).of_documents(range(80))
            if name == "docstrings"
            else load(name, **options)
        )

    monkeypatch.setattr(wb, "load_corpus", load_corpus)
    for name, function in (("fit", fit), ("compare", compare), ("sweep", sweep), ("start", start)):
        monkeypatch.setattr(
            wb,
            name,
            lambda *given, function=function, **named: function(
                *given,
                **{
                    "n_iterations": 16,
                    **({} if function is start else {"progress": False}),
                    **named,
                },
            ),
        )
    monkeypatch.setattr(
        wb, "write_example_csv", lambda path, n_documents=60: example(path, n_documents)
    )
    engines = dict(ENGINES)
    yield tmp_path
    ENGINES.clear()
    ENGINES.update(engines)


def readers_own(folder: Path) -> dict:
    """The names and files that docs/how-to/python.md takes as the reader's own."""
    if find_spec("arviz") is None:
        skip_without("docs/how-to/python.md shows chains in ArviZ, of the extra 'arviz'")
    import arviz
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    texts = [
        "der alte hund schlief lange im garten",
        "die katze und der hund im haus",
        "ein haus am garten mit katze",
    ] * 4
    words = ["alte", "hund", "garten", "katze", "haus"]
    for name in ("all.txt", "today.txt"):
        (folder / name).write_text("\n".join(texts))
    for name in ("large.jsonl", "b.jsonl"):
        (folder / name).write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    (folder / "large.jsonl.gz").write_bytes(gzip.compress((folder / "large.jsonl").read_bytes()))
    with (folder / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["body"], *([text] for text in texts)])
    with (folder / "talks.csv").open("w", newline="") as file:
        rows = [
            [text, 2015 + place % 8, "ab"[place % 2], place // 2]
            for place, text in enumerate(texts)
        ]
        csv.writer(file).writerows([["text", "year", "speaker", "turn"], *rows])
    frame = pd.DataFrame({"body": texts, "key": [f"k{place}" for place in range(len(texts))]})
    own = {"frame": frame, "texts": texts, "words": words}
    return own | {"az": arviz, "make_pipeline": make_pipeline, "CountVectorizer": CountVectorizer}


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_python_of_a_page_runs(page, small):
    names = {"wb": wb, **(readers_own(small) if page.name == "python.md" else {})}
    with warnings.catch_warnings():
        # few iterations: chains that do not agree, quarters without documents
        warnings.simplefilter("ignore")
        for mark, code in blocks_of(page):
            if mark.endswith(".py"):
                (small / mark).write_text(code)
            elif mark != "illustration":
                assert mark == ""
                run(code, names)


@pytest.mark.slow
def test_readme_shows_what_its_quick_start_prints(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ((_, code),) = blocks_of(ROOT / "README.md")
    exec(compile(code, "quick start", "exec"), {})
    assert capsys.readouterr().out == re.search(r"^```text\n(.*?)^```$", text, re.M | re.S)[1]


def test_readme_has_at_most_600_words_and_2_pictures():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 600 and text.count("![") == 2


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_an_illustration_is_python_and_names_what_there_is(page):
    for _, code in blocks_of(page):
        for node in ast.walk(ast.parse(code)):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "wb"
            ):
                assert hasattr(wb, node.attr), node.attr
