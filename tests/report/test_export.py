"""Runs in files for other programs: what they say is what the run says, to the last digit that they hold."""

import csv
import io
import json
import os
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from comparisons import tiny_comparison, tiny_corpus, tiny_run
from zarr.storage import ZipStore

import workbench as wb
from workbench.measures import MeasureError, top_words
from workbench.report.export import FORMATS
from workbench.report.files import ReportError
from workbench.runs.store.layout import StoreError

FILES = {
    "csv": ["progress.csv", "n_k.csv", "topics.csv", "documents.csv", "spec.json"],
    "long": ["document_topics.csv"],
    "npz": ["run.npz"],
    "netcdf": ["run.nc"],
    "zarr": ["run.zarr.zip"],
    "mallet": ["doc-topics.txt", "topic-keys.txt", "word-topic-counts.txt"],
    "lda-c": ["final.beta", "final.gamma", "final.other"],
    "pyldavis": ["pyldavis.json"],
}
ENGINES = ["cgs", "svb-cgs"]
EXACT = 5e-11  # half a unit of the ten digits after the point that lda-c writes


@pytest.fixture(params=ENGINES, scope="module")
def run(request):
    """A tiny run of three snapshots, with sampled and with expected counts."""
    train, test = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)
    run = wb.fit(
        train,
        request.param,
        n_topics=4,
        n_iterations=12,
        snapshot_every=5,
        test=test,
        progress=False,
    )
    assert run.sizes["snapshot"] == 3 and (run["n_kw"][0] != run["n_kw"][-1]).any()
    return run


@pytest.fixture(scope="module")
def files(run, tmp_path_factory):
    """File name → text or bytes of the run in every format."""
    written = wb.export_run(run, tmp_path_factory.mktemp("export"), tuple(FORMATS))
    return {
        path.name: path.read_bytes() if path.suffix in (".npz", ".nc", ".zip") else path.read_text()
        for path in written
    }


def table(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


def numbers(rows: list[dict], column: str) -> np.ndarray:
    return np.array([float(row[column] or "nan") for row in rows])


def test_every_format_writes_its_files(files):
    assert list(files) == [name for names in FILES.values() for name in names]


def test_progress_has_every_number_of_every_iteration(run, files):
    rows = table(files["progress.csv"])
    scalars = [name for name, values in run.data_vars.items() if values.dims == ("iteration",)]
    assert list(rows[0]) == ["iteration", *scalars] and len(rows) == run.sizes["iteration"]
    for name in ("iteration", *scalars):
        assert np.array_equal(
            numbers(rows, name), run[name].values.astype(float), equal_nan=True
        ), name
    sizes = numbers(table(files["n_k.csv"]), "n_k").reshape(run["n_k"].shape)
    assert np.array_equal(sizes, run["n_k"].values)


def test_topics_are_listed_by_rank_with_probability_and_count(run, files):
    rows = table(files["topics.csv"])
    assert len(rows) == run["phi"].size
    top = top_words(run, 3)
    for topic in range(4):
        first = [row for row in rows if row["topic"] == str(topic)][:3]
        assert [row["word"] for row in first] == top["word"].values[topic].tolist()
        assert [float(row["probability"]) for row in first] == top["phi"].values[topic].tolist()
        assert [int(row["rank"]) for row in first] == [1, 2, 3]
    n_kw, words = run["n_kw"].values[-1], run["word"].values.tolist()
    assert all(
        float(row["count"]) == n_kw[int(row["topic"]), words.index(row["word"])] for row in rows
    )


def test_documents_are_listed_with_titles_and_every_topic(run, files):
    rows = table(files["document_topics.csv"])
    assert [row["title"] for row in rows[::4]] == run["document"].values.tolist()
    assert [row["document"] for row in rows[:8:4]] == ["0", "1"]
    assert np.array_equal(numbers(rows, "probability").reshape(-1, 4), run["theta"].values)
    assert np.array_equal(numbers(rows, "count").reshape(-1, 4), run["n_dk"].values[-1])
    assert json.loads(files["spec.json"]) == json.loads(run.attrs["spec"])


def test_the_archive_holds_every_array_and_nothing_pickled(run, files):
    with np.load(io.BytesIO(files["run.npz"]), allow_pickle=False) as arrays:
        assert set(arrays.files) == {*run.variables, "spec", "attributes"}
        for name, values in run.variables.items():
            kind = values.values.astype(str) if values.dtype == object else values.values
            assert np.array_equal(arrays[name], kind, equal_nan=kind.dtype.kind == "f"), name
        assert arrays["word"].dtype.kind == "U"
        assert wb.RunSpec.from_json(str(arrays["spec"])) == wb.RunSpec.from_json(run.attrs["spec"])
        assert json.loads(str(arrays["attributes"])) == run.attrs


def test_xarray_alone_reads_the_dataset_from_netcdf_and_zarr(run, files, tmp_path, monkeypatch):
    """The lines of docs/how-to/report.md."""
    (tmp_path / "export").mkdir()
    for name in ("run.nc", "run.zarr.zip"):
        (tmp_path / "export" / name).write_bytes(files[name])
    page = (Path(__file__).parents[2] / "docs/how-to/report.md").read_text()
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(import xarray.*?)```", page, re.DOTALL)[1], known := {})
    for found in (known["run"], xr.open_zarr(ZipStore("export/run.zarr.zip", mode="r"))):
        xr.testing.assert_equal(found.load(), run)
        assert found.attrs == run.attrs
    large = run.assign(updates=run["updates"] + 2**40)
    (written,) = wb.export_run(large, tmp_path, "netcdf")
    assert (xr.load_dataset(written)["updates"] == large["updates"]).all()


def test_mallet_files_have_theta_top_words_and_the_counts_of_words(run, files):
    documents = [line.split("\t") for line in files["doc-topics.txt"].splitlines()]
    assert [(int(number), name) for number, name, *_ in documents] == [
        (d, f"document_{d}") for d in range(12)
    ]
    assert np.array_equal([list(map(float, row[2:])) for row in documents], run["theta"].values)
    keys = [line.split("\t") for line in files["topic-keys.txt"].splitlines()]
    assert [(key[0], key[1]) for key in keys] == [(str(k), "0.1") for k in range(4)]
    n_kw = np.zeros((4, 20))
    for at, line in enumerate(files["word-topic-counts.txt"].splitlines()):
        number, word, *counts = line.split(" ")
        assert (int(number), word) == (at, run["word"].values[at])
        pairs = [pair.split(":") for pair in counts]
        assert [float(count) for _, count in pairs] == sorted(
            (float(count) for _, count in pairs), reverse=True
        )
        for topic, count in pairs:
            n_kw[int(topic), at] = float(count)
    # twelve digits are written
    assert np.allclose(n_kw, run["n_kw"].values[-1], rtol=1e-11, atol=0)
    for k, key in enumerate(keys):
        named = [run["word"].values.tolist().index(word) for word in key[2].split()]
        assert np.array_equal(n_kw[k, named], np.sort(n_kw[k][n_kw[k] > 0])[::-1])


def test_ldac_files_have_log_probabilities_and_gamma(run, files):
    assert re.fullmatch(r"( -\d+\.\d{10}){20}", files["final.beta"].split("\n")[0])
    beta, gamma = (
        np.loadtxt(io.StringIO(files["final.beta"])),
        np.loadtxt(io.StringIO(files["final.gamma"])),
    )
    assert np.allclose(beta, np.log(run["phi"].values), rtol=0, atol=EXACT)
    assert np.allclose(gamma, 0.1 + run["n_dk"].values[-1], rtol=0, atol=EXACT)
    assert files["final.other"] == "num_topics 4\nnum_terms 20\nalpha 0.1000000000\n"


def test_pyldavis_gets_arguments_that_fit_together(run, files):
    given = json.loads(files["pyldavis.json"])
    assert set(given) == {
        "topic_term_dists",
        "doc_topic_dists",
        "doc_lengths",
        "vocab",
        "term_frequency",
    }
    topics, documents = np.array(given["topic_term_dists"]), np.array(given["doc_topic_dists"])
    assert np.array_equal(topics, run["phi"].values) and np.array_equal(
        documents, run["theta"].values
    )
    train, _ = wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)
    assert given["doc_lengths"] == train.document_tokens.tolist() and given["vocab"] == list(
        train.vocabulary
    )
    assert given["term_frequency"] == np.bincount(train.words, train.counts, train.n_words).tolist()


def test_the_same_run_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        wb.export_run(tiny_run(), tmp_path / folder, ",".join(FORMATS))
    names = os.listdir(tmp_path / "a")
    assert len(names) == 16
    assert all(
        (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        for name in names
    )


def test_export_run_writes_notes(store, tmp_path):
    run = wb.open_runs(store)[0]
    written = wb.export_run(run.name, tmp_path / "before", "csv", store=store)
    before = {path.name for path in written}
    run.annotate("the one to show", ["paper", "übrig"])
    run.label(2, "networks")
    written = {
        path.name: path.read_text(encoding="utf-8")
        for path in wb.export_run(run, tmp_path / "after", "csv")
    }
    run.annotate("", [])
    run.label(2, "")
    assert set(written) == before | {"notes.json"}
    actual = json.loads(written["notes.json"])
    assert actual == {
        "note": "the one to show",
        "tags": ["paper", "übrig"],
        "labels": {"2": "networks"},
    }
    assert {row["topic"] for row in table(written["topics.csv"]) if row["label"] == "networks"} == {
        "2"
    }


def test_titles_and_words_with_blanks_stay_one_field_in_mallet(tmp_path):
    run = tiny_run().copy()
    run["word"] = ["new york", *run["word"].values[1:]]
    run["document"] = ["a\ttab, a line\n", *run["document"].values[1:]]
    documents, keys, types = (path.read_text() for path in wb.export_run(run, tmp_path, "mallet"))
    assert documents.startswith("0\ta_tab_a_line_\t") and types.startswith("0 new_york ")
    assert "new york" not in keys


def test_ldac_export_warns_that_it_writes_the_mean_of_several_alphas(tmp_path):
    run = tiny_run().copy()
    spec = wb.RunSpec.from_json(run.attrs["spec"])
    spec = replace(spec, model=spec.model | {"alpha": [0.1, 0.2, 0.3, 0.6]})
    run = run.assign_attrs(spec=spec.to_json())
    with pytest.warns(
        UserWarning, match=r"final\.other has one alpha; the mean of the run's 4 is written"
    ):
        _, gamma, other = wb.export_run(run, tmp_path, "lda-c")
    assert other.read_text().endswith("alpha 0.3000000000\n")
    assert np.allclose(
        np.loadtxt(gamma) - run["n_dk"].values[-1], [0.1, 0.2, 0.3, 0.6], rtol=0, atol=EXACT
    )


@pytest.mark.parametrize(
    "form, where", [("mallet", "topic-keys.txt has"), ("lda-c", "final.gamma and final.other have")]
)
def test_export_run_warns_that_it_writes_mean_shares_without_a_dirichlet_prior(
    form, where, tmp_path
):
    run = tiny_run("sb-ctm")
    with warnings.catch_warnings(record=True) as actual:
        warnings.simplefilter("always")
        files = {path.name: path for path in wb.export_run(run, tmp_path, form)}
    expected = f"theta of sb-ctm has no Dirichlet prior; instead of alpha {where} the mean share of each topic"
    assert expected in [str(each.message) for each in actual]
    if form == "mallet":
        alphas = [
            float(line.split("\t")[1]) for line in files["topic-keys.txt"].read_text().splitlines()
        ]
        assert alphas == pytest.approx(run["theta"].values.mean(axis=0), abs=1e-5)


def test_export_run_writes_the_learnt_alpha(tmp_path):
    run = tiny_run().copy()
    run["alpha"] = (
        ("iteration", "topic"),
        np.linspace(1, 2, run.sizes["iteration"])[:, None].repeat(4, 1),
    )
    _, gamma, other = wb.export_run(run, tmp_path, "lda-c")
    assert other.read_text().endswith("alpha 2.0000000000\n")
    assert np.allclose(np.loadtxt(gamma) - run["n_dk"].values[-1], 2, rtol=0, atol=EXACT)


@pytest.mark.parametrize("engine", ["cv-hdp", "g-hdp"])
def test_export_run_of_an_hdp_leaves_out_empty_topics_and_renormalises_rows(engine, tmp_path):
    run = tiny_run(engine).copy(deep=True)
    gone = int(run["n_kw"].values[-1].sum(axis=1).argmax())
    run["n_kw"][-1, gone] = 0
    kept = np.flatnonzero(run["n_kw"].values[-1].sum(axis=1) >= 1 - 1e-9)
    assert (run["theta"].values.sum(axis=1) < 1).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # final.other has one alpha
        files = {
            path.name: path
            for path in wb.export_run(run, tmp_path, ("csv", "long", "mallet", "lda-c", "pyldavis"))
        }
    theta = run["theta"].values[:, kept]
    theta = theta / theta.sum(axis=1, keepdims=True)
    actual = json.loads(files["pyldavis.json"].read_text())
    np.testing.assert_allclose(actual["doc_topic_dists"], theta, rtol=1e-14)
    np.testing.assert_array_equal(actual["topic_term_dists"], run["phi"].values[kept])
    lines = [line.split("\t")[2:] for line in files["doc-topics.txt"].read_text().splitlines()]
    np.testing.assert_allclose(np.array(lines, float), theta, rtol=1e-14)
    alphas = run["alpha"].values[-1, kept]
    assert np.allclose(
        np.loadtxt(files["final.gamma"], ndmin=2) - run["n_dk"].values[-1][:, kept],
        alphas,
        rtol=0,
        atol=EXACT,
    )
    topics = list(csv.DictReader(files["document_topics.csv"].read_text().splitlines()))
    assert {int(row["topic"]) for row in topics} == set(kept)  # under the run's own numbers
    assert float(topics[0]["probability"]) == run["theta"].values[0, kept[0]]
    assert len(files["alpha.csv"].read_text().splitlines()) == 1 + run["alpha"].size


def test_export_run_writes_a_learnt_tau_as_a_table(tmp_path):
    run = tiny_run("cv-hdp").copy()
    assert not [path for path in wb.export_run(run, tmp_path / "without") if path.name == "tau.csv"]
    run["tau"] = (("snapshot", "word"), np.linspace(0, 1, run.sizes["word"])[None])
    (table,) = (path for path in wb.export_run(run, tmp_path / "with") if path.name == "tau.csv")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["word"] for row in rows] == run["word"].values.tolist()
    assert [float(row["tau"]) for row in rows] == run["tau"].values[0].tolist()


def test_export_run_without_counts_writes_progress_and_refuses_other_formats(tmp_path):
    part = tiny_comparison().isel(run=[0])
    written = wb.export_run(part, tmp_path, ("csv", "npz"))
    assert [path.name for path in written] == ["progress.csv", "n_k.csv", "spec.json", "run.npz"]
    for format in ("mallet", "lda-c", "pyldavis"):
        with pytest.raises(
            ReportError,
            match=rf"^{format} needs the counts of run '.*', which are missing: it has no",
        ):
            wb.export_run(part, tmp_path / "none", format)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("given", "options", "error", "sentence"),
    [
        (lambda _: tiny_run(), {"formats": "csv,gml"}, ReportError,
         "runs are exported as csv, long, npz, netcdf, zarr, mallet, lda-c, pyldavis; got 'gml'"),
        (lambda _: tiny_run(), {"formats": ()}, ReportError,
         "runs are exported as csv, long, npz, netcdf, zarr, mallet, lda-c, pyldavis; got no format"),
        (lambda _: tiny_comparison(), {}, ReportError,
         "one run is exported at a time; call it for each with another folder; got 6"),
        (lambda _: "nobody", {}, StoreError, "no run 'nobody' in "),
        (lambda unfinished: unfinished, {}, MeasureError, "has no committed iteration yet"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported_is_refused_and_nothing_is_written(
    tmp_path, unfinished, given, options, error, sentence
):
    with pytest.raises(error, match=re.escape(sentence)):
        wb.export_run(given(unfinished), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
