"""The texts of a run's documents: kept by the store once, found again, examined."""

import pytest

import workbench as wb
from workbench.corpus.document_table import SUFFIX
from workbench.runs.afterwards.examine import examine
from workbench.runs.execution.bounded_reading import read_bounded
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.archive import CORPORA, get_corpus

TEXTS = ("The red ant sees a red bee.", "A green bee!", "", "green ants, red bees")


def fitted(store, engine="cvb0", **options):
    """The run of an engine on the texts."""
    corpus = wb.Corpus.from_texts(TEXTS, **options)
    wb.fit(corpus, engine, n_topics=2, n_iterations=2, store=store, name=engine, progress=False)
    return wb.Run(store / engine)


def test_a_store_keeps_the_texts_of_all_its_runs_once(tmp_path):
    runs = [fitted(tmp_path, engine) for engine in ("cvb0", "vb")]
    assert len([*(tmp_path / CORPORA).glob(f"*{SUFFIX}")]) == 1
    for run in runs:
        assert (
            run.table.texts == TEXTS
            and RunSpec.from_json(run.spec.to_json()).table == run.spec.table
        )
        assert get_corpus(tmp_path, run.spec.train).table is None  # a worker reads no text


def test_a_run_whose_texts_are_not_kept_has_none(tmp_path):
    run = fitted(tmp_path, keep_text=False)
    assert (
        run.table is None
        and run.spec.table is None
        and not [*(tmp_path / CORPORA).glob(f"*{SUFFIX}")]
    )
    assert examine(run.path).readable[:2] == ["settings", "data"]


def test_texts_are_no_part_of_what_decides_a_run(tmp_path):
    kept, left = fitted(tmp_path / "a"), fitted(tmp_path / "b", keep_text=False)
    assert kept.spec.hash == left.spec.hash and kept.dataset()["phi"].equals(left.dataset()["phi"])


def test_damaged_texts_are_one_sentence_and_hide_nothing_else(tmp_path):
    run = fitted(tmp_path)
    assert examine(run.path) == ([], ["settings", "data", "texts", *examine(run.path).readable[3:]])
    file = next((tmp_path / CORPORA).glob(f"*{SUFFIX}"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(
        SpecError, match=rf"{file.name} is damaged .*; delete it and fit the run again"
    ):
        _ = run.table
    wrong, readable = examine(run.path)
    assert (
        len(wrong) == 1 and file.name in wrong[0] and "texts" not in readable and "data" in readable
    )
    assert run.dataset().sizes["document"] == len(TEXTS)
    file.unlink()
    with pytest.raises(
        SpecError, match="the texts of this run are not in the store; expected the file"
    ):
        _ = run.table


def test_what_a_page_reads_has_its_texts(tmp_path):
    (tmp_path / "a.csv").write_text("text,kind\nThe red ant.,x\nA green bee!,y\n")
    found = read_bounded(tmp_path / "a.csv")
    assert found.table.columns == {"text": ("The red ant.", "A green bee!"), "kind": ("x", "y")}
    assert (
        read_bounded(tmp_path / "a.csv", keep_text=False).table is None
        and read_bounded("bars").table is None
    )
