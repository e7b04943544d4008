"""A run over a corpus in shards: the chain, or the sums, that it stands for, whoever holds which rows."""

import json
import math

import numpy as np
import pytest
from runs_in_shards import KEPT, TIMES, differing, drawn_corpus, fitted, last

import workbench as wb
from workbench.corpus.shards import shard_writer as writing
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import from_subtrees, in_tree, subtrees
from workbench.models import HDP, LDA
from workbench.models.options import OptionError
from workbench.runs.afterwards.examine import examine
from workbench.runs.parts import part
from workbench.runs.parts.part import OwnRows

LEARNT = {"learn_alpha": "maximised", "learn_after": 2, "learn_every": 1}
SEEDS = {"seed_words": "one: w1 w2; 3: w5", "seed_weight": 2.5}
EXACT = [
    ("cgs", {"scan": "documents", **SEEDS}),
    ("cgs", {"scan": "documents"}),
    ("cgs", {"scan": "documents", **LEARNT, "learn_alpha": "sampled", "learn_beta": "maximised"}),
    ("cvb0-cgs", {"r": math.inf}),
    ("svb-cgs", {"r": math.inf, "n_chains": 1}),
    ("network-gibbs", {}),
    ("g-hdp", {}),
]
"""Sampled one token after the other: bit for bit the chain of the whole corpus."""
SUMMED = [
    ("svb", SEEDS),
    ("vb", SEEDS),
    ("cvb", SEEDS),
    ("svb-cgs", {"r": 2, **SEEDS, **LEARNT}),
    ("cvb0-cgs", {"phases": "interleaved", **SEEDS}),
    ("svb", {}),
    ("svb", {**LEARNT, "learn_beta": "maximised"}),
    ("svb", {"init": "noise"}),
    ("svb", {"schedule": "sequential"}),
    ("vb", {}),
    ("vb", LEARNT),
    ("vb", {"n_inner": 1, "topics": "point"}),
    ("vb", {"restart_documents": True}),
    ("cvb", {}),
    ("cvb0", {}),
    ("cvb0", LEARNT),
    ("svb-cgs", {"r": 1}),
    ("svb-cgs", {"r": 0}),
    ("svb-cgs", {"r": 2, **LEARNT, "learn_beta": "maximised"}),
    ("svb-cgs", {"phases": "interleaved", "schedule": "sequential"}),
    ("cvb0-cgs", {"r": 1, **LEARNT}),
    ("cvb0-cgs", {"phases": "interleaved"}),
    ("cvb-cgs", {"r": 2, "cg_second_order": True}),
    ("network-vb", {}),
    ("network-vb-ml", {}),
    ("network-hybrid", {}),
    ("network-cvb0", {}),
    ("adaptive-cgs", {"split": "counts"}),
]
"""Of sums over documents: up to rounding that of the whole corpus."""
BESIDE = [
    ("adaptive-cgs", {"refresh": 3, **SEEDS}),
    ("cgs", {"partition": 2}),
    ("cgs", {"partition": 4, **LEARNT, "learn_alpha": "sampled", "learn_beta": "maximised"}),
    ("cvb", {"partition": 4}),
    ("cvb0", {"partition": 3, "precision": "single"}),
    ("cvb0-cgs", {"partition": 3, "r": 1}),
    ("svb-cgs", {"r": 2, "n_chains": 2}),
    ("network-hybrid", {"n_chains": 2}),
    ("adaptive-cgs", {"refresh": 3}),
    ("adaptive-cgs", {"refresh": 3, "average": "cvb0"}),
]
"""Sampled or updated side by side: parts see each other's counts a step late, so it is a run of its own."""
ROUNDING = 1e-9
"""Relative: sums of the same numbers in another order, carried through a few sweeps and through `vb`'s tolerance."""


@pytest.mark.parametrize(("engine", "options"), EXACT)
def test_a_chain_over_parts_is_that_of_the_whole_corpus_bit_for_bit(
    pair, in_shards, engine, options
):
    whole, parts = fitted(*pair, engine, options), fitted(*in_shards, engine, options)
    assert not {*KEPT, "n_k"} & set(differing(whole, parts))
    numbers = [
        name for name in whole.data_vars if whole[name].dims == ("iteration",) and name not in TIMES
    ]
    for name in numbers:
        # sums over parts, in another order
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize(("engine", "options"), BESIDE)
def test_parts_side_by_side_count_every_token_and_predict_as_well(pair, in_shards, engine, options):
    whole, parts = (fitted(*corpora, engine, options, 40) for corpora in (pair, in_shards))
    n_tokens = pair[0].n_tokens
    for name in ("n_kw", "n_dk"):
        np.testing.assert_allclose(last(parts[name]).sum(), n_tokens, rtol=1e-6)
        assert last(parts[name]).min() >= 0
    assert float(parts["test_perplexity"][-1]) < 1.05 * float(whole["test_perplexity"][-1])


@pytest.mark.parametrize(("engine", "options"), SUMMED)
def test_sums_over_shards_are_those_of_the_whole_corpus_up_to_rounding(
    pair, in_shards, engine, options
):
    whole, parts = fitted(*pair, engine, options), fitted(*in_shards, engine, options)
    for name in set(whole.data_vars) - set(TIMES):
        np.testing.assert_allclose(
            last(parts[name]), last(whole[name]), rtol=ROUNDING, atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("engine", ["cvb", "cvb0-cgs", "network-cvb0"])
def test_recounts_of_shards_in_the_fiftieth_step_are_those_of_the_whole_corpus(
    pair, in_shards, engine
):
    whole, parts = (fitted(*corpora, engine, {}, 51) for corpora in (pair, in_shards))
    for name in ("n_kw", "n_dk"):
        np.testing.assert_allclose(last(parts[name]), last(whole[name]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("engine", "options"), [*EXACT[::2], *SUMMED[::4], *BESIDE])
def test_rows_in_files_are_the_rows_in_memory(
    in_shards, engine, options, monkeypatch, tmp_path, out_of_core
):
    held = fitted(*in_shards, engine, options, 4)
    out_of_core()
    used, mapped = [], OwnRows._mapped
    monkeypatch.setattr(
        OwnRows, "_mapped", lambda self, name: used.append(name) or mapped(self, name)
    )
    assert differing(held, fitted(*in_shards, engine, options, 4)) == []
    assert used, "nothing was in files"
    assert [*(tmp_path / "scratch").iterdir()] == []


def test_rows_in_files_outlast_a_checkpoint_and_are_deleted_at_the_end(
    in_shards, tmp_path, out_of_core, every_checkpoint
):
    held = fitted(*in_shards, "svb", {})
    out_of_core()
    found = fitted(*in_shards, "svb", {}, store=tmp_path / "runs", name="run")
    assert differing(held, found) == []
    assert not [*(tmp_path / "runs" / "run").glob("*.partial")]


def test_rows_in_files_of_a_process_that_was_killed_are_deleted_by_the_next(in_shards, tmp_path):
    fitted(*in_shards, "svb", {}, 2, store=tmp_path / "runs", name="run")
    left = tmp_path / "runs" / "run" / "rows-x.partial" / "0"
    left.mkdir(parents=True)
    (left / "mean_dk.npy").write_bytes(b"left")
    wb.resume(tmp_path / "runs" / "run", 4, progress=False)
    assert not left.parent.exists()


def test_read_ahead_is_called_for_the_next_part_during_a_pass(in_shards, monkeypatch, out_of_core):
    asked = []
    monkeypatch.setattr(part, "read_ahead", asked.append)
    fitted(*in_shards, "svb", {}, 1)
    assert asked == []
    out_of_core()
    fitted(*in_shards, "svb", {}, 1)
    first_pass = [folder.name for folder in asked[: in_shards[0].n_parts - 1]]
    assert first_pass == [str(number) for number in range(1, in_shards[0].n_parts)]


def test_all_arrays_of_a_folder_are_read_ahead(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(part.os, "posix_fadvise", lambda *given: asked.append(given), raising=False)
    monkeypatch.setattr(part.os, "POSIX_FADV_WILLNEED", 3, raising=False)
    for name in ("one.npy", "average/two.npy", "none.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        np.save(tmp_path / name, np.zeros(3)) if name.endswith("npy") else (
            tmp_path / name
        ).write_text("")
    part.read_ahead(tmp_path)
    assert [given[1:] for given in asked] == [(0, 0, 3)] * 2
    monkeypatch.delattr(part.os, "posix_fadvise")
    part.read_ahead(tmp_path)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("svb", {}),
        ("vb", {}),
        ("cgs", {"partition": 4}),
        ("cvb0", {"partition": 3}),
        ("cvb0-cgs", {"partition": 3}),
        ("network-vb", {}),
    ],
)
def test_threads_change_no_bit(in_shards, engine, options):
    one = fitted(*in_shards, engine, options)
    for n_threads in (2, 3):
        assert differing(one, fitted(*in_shards, engine, options, n_threads=n_threads)) == []


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("svb", {**LEARNT, "learn_beta": "maximised"}),
        ("vb", {}),
        ("cgs", {"partition": 3}),
        ("cvb", {"partition": 2}),
        ("cvb0", {}),
        ("svb-cgs", {"partition": 3}),
        ("cvb0-cgs", {"partition": 2, "n_chains": 2}),
        ("g-hdp", {}),
        ("network-hybrid", {}),
        ("adaptive-cgs", {"refresh": 3}),
    ],
)
def test_a_run_that_goes_on_from_its_checkpoint_has_the_bits_of_an_uninterrupted_one(
    in_shards, tmp_path, engine, options
):
    straight = fitted(*in_shards, engine, options, 9)
    fitted(*in_shards, engine, options, 4, store=tmp_path / "runs")
    (folder,) = (path for path in (tmp_path / "runs").iterdir() if not path.name.startswith("."))
    assert [path.name for path in folder.glob("parts-*")] == ["parts-4"]
    again = wb.resume(folder, 9, progress=False)
    assert differing(straight, again) == []
    assert [path.name for path in folder.glob("parts-*")] == ["parts-9"]


def test_a_checkpoint_whose_rows_are_damaged_is_none_and_the_run_begins_anew(in_shards, tmp_path):
    straight = fitted(*in_shards, "cgs", {"partition": 2}, 6)
    fitted(*in_shards, "cgs", {"partition": 2}, 4, store=tmp_path / "runs")
    (folder,) = (path for path in (tmp_path / "runs").iterdir() if not path.name.startswith("."))
    rows = folder / "parts-4" / "1.npz"
    data = bytearray(rows.read_bytes())
    data[len(data) // 2] ^= 1
    rows.write_bytes(data)
    assert differing(straight, wb.resume(folder, 6, progress=False)) == []


def test_an_examination_reads_the_rows_of_a_checkpoint(in_shards, tmp_path):
    fitted(*in_shards, "cgs", {"partition": 2}, 4, store=tmp_path / "runs")
    (folder,) = (path for path in (tmp_path / "runs").iterdir() if not path.name.startswith("."))
    assert examine(folder).damage == [] and "checkpoint of iteration 4" in examine(folder).readable
    (folder / "parts-4" / "1.npz").unlink()
    assert examine(folder).damage == [
        "parts-4/1.npz cannot be read; a resume would begin at the first iteration"
    ]


def test_a_run_begins_from_the_counts_of_another_as_it_does_with_the_whole_corpus(pair, in_shards):
    first = fitted(*pair, "cgs", {"scan": "documents"}, 3)
    for engine, options in (("cgs", {"scan": "documents"}), ("svb-cgs", {"r": math.inf})):
        whole, parts = (
            fitted(*corpora, engine, options, 3, start=first) for corpora in (pair, in_shards)
        )
        assert not {*KEPT, "n_k"} & set(differing(whole, parts))


def test_a_corpus_in_shards_is_another_run_than_the_whole_one(pair, in_shards):
    names = {fitted(*corpora, "svb", {}, 1).attrs["spec_hash"] for corpora in (pair, in_shards)}
    assert len(names) == 2
    assert (
        json.loads(fitted(*in_shards, "svb", {}, 1).attrs["spec"])["shards"] == in_shards[0].n_parts
    )


def test_a_corpus_in_one_shard_is_the_run_of_the_whole_one(pair, tmp_path):
    one = [wb.ShardedCorpus.write(corpus, tmp_path / str(at)) for at, corpus in enumerate(pair)]
    assert one[0].n_parts == 1
    assert (
        differing(
            fitted(*pair, "cv-hdp", {}, 3), fitted(*one, "cv-hdp", {}, 3, store=tmp_path / "runs")
        )
        == []
    )


@pytest.mark.parametrize(
    "table",
    [
        [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 2], [1, 1, 0]],
        [[1, 0], [0, 1], [1, 0], [0, 1]],
    ],
)
@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("svb", {}),
        ("vb", {}),
        ("cgs", {}),
        ("g-hdp", {}),
        ("cvb0", {}),
        ("cvb", {}),
        ("svb-cgs", {}),
        ("cvb0-cgs", {}),
    ],
)
@pytest.mark.parametrize("n_topics", [1, 3])
def test_empty_documents_and_documents_of_one_token(
    tmp_path, monkeypatch, table, engine, options, n_topics
):
    monkeypatch.setattr(writing, "SHARD_PAIRS", 1)
    table = np.array(table)
    documents, words = np.nonzero(table)
    corpus = wb.Corpus.from_pairs(documents, words, table[documents, words], None, *table.shape)
    parts = wb.ShardedCorpus.write(corpus, tmp_path / "corpus")
    priors = {} if engine == "g-hdp" else {"alpha": 1e-6}
    whole, parts = (
        wb.fit(each, engine, n_topics, options=options, n_iterations=4, progress=False, **priors)
        for each in (corpus, parts)
    )
    # second-order terms over so small a prior make much of a rounding
    rtol, atol = (1e-4, 1e-4) if engine == "cvb" else (ROUNDING, 1e-12)
    np.testing.assert_allclose(last(parts["n_dk"]), last(whole["n_dk"]), rtol=rtol, atol=atol)
    np.testing.assert_allclose(parts["train_perplexity"], whole["train_perplexity"], rtol=rtol)


def test_engines_that_need_the_whole_corpus_say_so(in_shards):
    for name in ENGINES:
        if get_engine(name).model in (LDA, HDP) and not get_engine(name).in_parts:
            with pytest.raises(
                wb.SpecError,
                match=f"{name} needs its corpus in memory, and 'drawn' is kept in .* shards; take ",
            ):
                wb.fit(in_shards[0], name, 3, n_iterations=1)


@pytest.mark.parametrize(
    ("engine", "options", "instead"),
    [
        ("cgs", {"scored": "sampled"}, "scored=means"),
        ("cvb", {"learn_beta": "maximised"}, "learn_beta=fixed"),
        ("cvb0-cgs", {"learn_beta": "maximised"}, "learn_beta=fixed"),
    ],
)
def test_options_that_need_the_whole_corpus_say_what_to_use(in_shards, engine, options, instead):
    with pytest.raises(OptionError, match=f"this (corpus|one) is kept in parts; use {instead}"):
        wb.fit(in_shards[0], engine, 3, n_iterations=1, options=options)


def test_a_corpus_of_sequences_in_shards_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SHARD_PAIRS", 20)
    corpus = drawn_corpus(20)
    corpus = wb.Corpus(
        corpus.indptr,
        corpus.words,
        corpus.counts,
        corpus.vocabulary,
        corpus.titles,
        sequence=tuple(("s", d) for d in range(20)),
    )
    with pytest.raises(
        wb.SpecError,
        match="stand in sequences, which shards would tear apart; load it whole with in_memory",
    ):
        wb.fit(wb.ShardedCorpus.write(corpus, tmp_path / "corpus"), "svb", 3, n_iterations=1)


@pytest.mark.parametrize("n", range(1, 20))
def test_sums_of_subtrees_are_added_as_in_the_whole_tree(n):
    def add(a, b):
        return (a, b)

    for cut in range(n):
        ranges = [*subtrees(0, cut), *subtrees(cut, n)]
        assert [number for _, numbers in ranges for number in numbers] == [*range(n)]
        assert from_subtrees(
            [(level, in_tree(numbers, add)) for level, numbers in ranges], add
        ) == in_tree(range(n), add)


@pytest.mark.parametrize("n", range(1, 20))
def test_a_tree_adds_neighbours_first_and_everything_once(n):
    total = in_tree(((i,) for i in range(n)), lambda a, b: (a, b))

    def leaves(node):
        return (
            list(node)
            if isinstance(node[0], int)
            else [leaf for each in node for leaf in leaves(each)]
        )

    assert leaves(total if n > 1 else (total[0],)) == list(range(n))
    if n == 6:
        assert total == ((((0,), (1,)), ((2,), (3,))), ((4,), (5,)))


def test_a_stored_run_in_parts_is_read_as_any_other(in_shards, tmp_path):
    fitted(*in_shards, "cgs", {"partition": 2}, 4, store=tmp_path / "runs")
    (run,) = wb.open_runs(tmp_path / "runs")
    assert isinstance(run, wb.Run)
    ds = run.dataset()
    assert float(last(ds["n_dk"]).sum()) == in_shards[0].n_tokens
    np.testing.assert_allclose(ds["theta"].sum("topic"), 1.0)
