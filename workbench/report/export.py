"""Export of a run to files of other programs: CSV, NumPy, NetCDF, Zarr, and the formats of MALLET, lda-c and pyLDAvis."""

from __future__ import annotations

import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from workbench.corpus.corpus import INT32_MAX
from workbench.corpus.formats.mallet import one_word
from workbench.errors import DISTRIBUTION, shown
from workbench.measures import documents_table, used_topics
from workbench.report.files import ReportError, checked_formats, put_file
from workbench.report.gathering import AnyRun, ReportedRun, gather_one, table_of
from workbench.runs.recorded import priors_of
from workbench.runs.store.notes import NoteError, Notes, read_notes

if TYPE_CHECKING:
    from pyLDAvis import PreparedData


DEFAULT = ("csv", "npz")
MOST_KEYS = 20
"""Words of a topic in topic-keys.txt, as in MALLET."""
NEVER = -100.0
"""log p(w|z) of a word with probability 0, as in lda-c."""


def export_run(
    run: AnyRun,
    folder: str | os.PathLike,
    formats: str | Iterable[str] | None = None,
    store: str | os.PathLike | None = None,
) -> list[Path]:
    """Write one run for other programs; probabilities and counts are those of its last snapshot.

    ============  ====================================================================================================
    csv           ``progress.csv``: a row per iteration. ``n_k.csv`` and other variables by topic: iteration,
                  topic, value. ``topics.csv``: topic, (label,) rank, word, probability, count. ``documents.csv``:
                  a row per document with its largest topic and the columns that were read with it; see
                  `workbench.measures.documents_table`. ``tau.csv``: word, tau, where it is learnt.
                  ``spec.json``: every setting. ``notes.json``: note, tags, and labels by topic, where people wrote any.
    long          ``document_topics.csv``: document (from 0), title, topic, probability, count; a row per document and topic.
    npz           ``run.npz``: every array of the run's Dataset under its name, text as text, ``spec`` and ``attributes``
                  as JSON; nothing is pickled.
    netcdf, zarr  ``run.nc`` (NetCDF 3) and ``run.zarr.zip`` (Zarr 3): the run's Dataset, for `xarray`, R and Julia.
                  NetCDF 3 has no whole numbers beyond 32 bits: arrays with such numbers are float64 there.
    mallet        ``doc-topics.txt``, ``topic-keys.txt``, ``word-topic-counts.txt``, as MALLET's train-topics writes them;
                  expected counts are not rounded; blanks in titles and words become ``_``.
    lda-c         ``final.beta`` (log p(w|z), a line a topic), ``final.gamma`` (alpha + n_dk, a line a document),
                  ``final.other``.
    pyldavis      ``pyldavis.json``: the arguments of ``pyLDAvis.prepare`` by name.
    ============  ====================================================================================================

    Topics of an HDP without a token are left out except in ``n_k.csv``, ``alpha.csv`` and npz. Formats of other programs number
    topics by position, so the remaining topics are renumbered; their proportions are renormalised to sum to 1.

    Parameters
    ----------
    run, store
        `Run`, path, name in ``store``, or the Dataset of a run; finished or not.
    folder : path
        Created if missing; files of the same name are replaced. The same run gives the same bytes.
    formats : names, default csv and npz

    Warns
    -----
    UserWarning
        ``final.other`` has one alpha; of several the mean is written.

    Raises
    ------
    MeasureError, StoreError, ReportError
        No run or several, an unknown run or one without a committed iteration; an unknown format, or one that
        needs counts when the run comes without; a folder that cannot be written.

    Blei's lda-c (2004); McCallum's MALLET (2002), ParallelTopicModel; Sievert & Shirley (2014).
    """
    formats = checked_formats(DEFAULT if formats is None else formats, FORMATS, "runs are exported")
    if not isinstance(folder, (str, os.PathLike)):
        raise ReportError(f"wanted a folder to write to; got {type(folder).__name__}")
    entry = gather_one(
        run, store, "one run is exported at a time; call it for each with another folder"
    )
    files = {
        name: content for format in formats for name, content in FORMATS[format](entry).items()
    }
    return [put_file(Path(folder) / name, content) for name, content in files.items()]


def _csv(entry: ReportedRun) -> dict[str, bytes]:
    """Return the CSV and JSON files of a run (progress, topics, documents, spec, notes), as file name → content."""
    run = entry.dataset
    scalars = [name for name, values in run.data_vars.items() if values.dims == ("iteration",)]
    files = {"progress.csv": _table(run[scalars].to_dataframe().reset_index())}
    for name, values in run.data_vars.items():
        if values.dims == ("iteration", "topic"):
            files[f"{name}.csv"] = _table(
                values.to_dataframe().reset_index()[["iteration", "topic", name]]
            )
    if "phi" in run:
        run = used_topics(run)
        n_kw = run["n_kw"].isel(snapshot=-1).values
        order = np.argsort(-run["phi"].values, axis=1, kind="stable")
        topic, rank = np.indices(order.shape).reshape(2, -1)
        labels = {"label": run["topic_label"].values[topic]} if "topic_label" in run else {}
        files["topics.csv"] = _table(
            pd.DataFrame(
                {
                    "topic": run["topic"].values[topic],
                    **labels,
                    "rank": rank + 1,
                    "word": run["word"].values[order].ravel(),
                    "probability": np.take_along_axis(run["phi"].values, order, 1).ravel(),
                    "count": np.take_along_axis(n_kw, order, 1).ravel(),
                }
            )
        )
        files["documents.csv"] = _table(documents_table(run, table_of(entry)))
    if "tau" in run:
        tau = run["tau"].isel(snapshot=-1).values
        files["tau.csv"] = _table(pd.DataFrame({"word": run["word"].values, "tau": tau}))
    return files | {"spec.json": (entry.spec.to_json() + "\n").encode()} | _notes(entry)


def _long(entry: ReportedRun) -> dict[str, bytes]:
    """Return ``document_topics.csv``, one row per document and topic, as file name → content."""
    run = _with_counts(entry, "long")
    n_dk = run["n_dk"].isel(snapshot=-1).values
    document, topic = np.indices(n_dk.shape).reshape(2, -1)
    return {
        "document_topics.csv": _table(
            pd.DataFrame(
                {
                    "document": document,
                    "title": run["document"].values[document],
                    "topic": run["topic"].values[topic],
                    "probability": run["theta"].values.ravel(),
                    "count": n_dk.ravel(),
                }
            )
        )
    }


def _notes(entry: ReportedRun) -> dict[str, bytes]:
    """Return ``notes.json`` with note, tags and labels of the current topics, as file name → content."""
    try:
        notes = read_notes(entry.path) if entry.path is not None else Notes()
    except NoteError:  # reported by `gather`
        return {}
    if notes == Notes():
        return {}
    topics = entry.dataset["topic"].values.tolist()
    labels = (
        entry.dataset["topic_label"].values.tolist()
        if "topic_label" in entry.dataset
        else [""] * len(topics)
    )
    content = {
        "note": notes.note,
        "tags": notes.tags,
        "labels": {t: text for t, text in zip(topics, labels, strict=True) if text},
    }
    return {"notes.json": (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()}


def _table(frame: pd.DataFrame) -> bytes:
    """Return a DataFrame as CSV with all digits; missing values are empty."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _npz(entry: ReportedRun) -> dict[str, bytes]:
    """Return ``run.npz`` with every array and coordinate of the Dataset, as file name → content."""
    run = entry.dataset
    arrays = {str(name): values.values for name, values in run.variables.items()}
    arrays = {
        name: array.astype(np.str_) if array.dtype == object else array
        for name, array in arrays.items()
    }
    file = io.BytesIO()
    np.savez_compressed(
        file,
        **arrays,
        spec=np.array(entry.spec.to_json()),
        attributes=np.array(json.dumps(run.attrs)),
    )
    return {"run.npz": file.getvalue()}


def _netcdf(entry: ReportedRun) -> dict[str, bytes]:
    """Return ``run.nc`` with the Dataset, whole numbers of more than 32 bits as floats, as file name → content."""
    run = entry.dataset
    large = [
        name
        for name, values in run.variables.items()
        if values.dtype.kind in "iu" and abs(values).max(initial=0) > INT32_MAX
    ]
    run = run.assign({name: run[name].astype(float) for name in large})
    return {"run.nc": bytes(run.to_netcdf(engine="scipy"))}


def _zarr(entry: ReportedRun) -> dict[str, bytes]:
    """Return ``run.zarr.zip`` with the Dataset, as file name → content."""
    stored_values, file = {}, io.BytesIO()
    with (
        warnings.catch_warnings()
    ):  # consolidated metadata are an extension of Zarr 3; xarray looks for them first
        warnings.simplefilter("ignore")
        entry.dataset.drop_encoding().to_zarr(stored_values)
    with zipfile.ZipFile(file, "w") as archive:
        for name in sorted(stored_values):
            archive.writestr(zipfile.ZipInfo(name), stored_values[name].to_bytes())
    return {"run.zarr.zip": file.getvalue()}


def _mallet(entry: ReportedRun) -> dict[str, bytes]:
    """Return files as MALLET's --output-doc-topics, --output-topic-keys and --word-topic-counts-file write them."""
    run = _with_counts(entry, "mallet")
    _warn_of_means(run, "topic-keys.txt has")
    words = ["_".join(word.split()) for word in run["word"].values]
    documents = [
        "\t".join([str(d), one_word(title), *map(repr, theta)])
        for d, (title, theta) in enumerate(
            zip(run["document"].values, _theta(run).tolist(), strict=True)
        )
    ]
    n_kw = run["n_kw"].isel(snapshot=-1).values
    keys = []
    for k, (alpha, counts) in enumerate(zip(priors_of(run).alphas, n_kw, strict=True)):
        top_words = [
            word_id
            for word_id in np.argsort(-counts, kind="stable")[:MOST_KEYS]
            if counts[word_id] > 0
        ]
        keys.append(
            f"{k}\t{f'{alpha:.5f}'.rstrip('0').rstrip('.')}\t{''.join(words[word_id] + ' ' for word_id in top_words)}"
        )
    types = [
        " ".join(
            [
                str(word_id),
                word,
                *(
                    f"{k}:{counts[k]:.12g}"
                    for k in np.argsort(-counts, kind="stable")
                    if counts[k] > 0
                ),
            ]
        )
        for word_id, (word, counts) in enumerate(zip(words, n_kw.T, strict=True))
    ]
    return {
        f"{name}.txt": "".join(f"{line}\n" for line in lines).encode()
        for name, lines in (
            ("doc-topics", documents),
            ("topic-keys", keys),
            ("word-topic-counts", types),
        )
    }


def _ldac(entry: ReportedRun) -> dict[str, bytes]:
    """Return the three files in which lda-c stores a model, as file name → content."""
    run = _with_counts(entry, "lda-c")
    _warn_of_means(run, "final.gamma and final.other have")
    alphas, phi = priors_of(run).alphas, run["phi"].values
    beta = np.log(phi, out=np.full(phi.shape, NEVER), where=phi > 0)
    gamma = run["n_dk"].isel(snapshot=-1).values + alphas
    if len(set(alphas.tolist())) > 1:
        warnings.warn(
            f"final.other has one alpha; the mean of the run's {len(alphas)} is written",
            stacklevel=3,
        )
    other = f"num_topics {phi.shape[0]}\nnum_terms {phi.shape[1]}\nalpha {alphas.mean():5.10f}\n"
    beta, gamma = _lines(beta, " %5.10f", ""), _lines(gamma, "%5.10f", " ")
    return {"final.beta": beta, "final.gamma": gamma, "final.other": other.encode()}


def _warn_of_means(run: xr.Dataset, place: str) -> None:
    """Warn if theta has no Dirichlet prior, so that the files have mean topic proportions in place of alpha."""
    if not priors_of(run).of_shares:
        warnings.warn(
            f"theta of {run.attrs['engine']} has no Dirichlet prior; instead of alpha {place} the mean share of each topic",
            stacklevel=4,
        )


def _lines(values: np.ndarray, form: str, separator: str) -> bytes:
    """Return a matrix as text with one line per row."""
    file = io.BytesIO()
    np.savetxt(file, values, form, separator)
    return file.getvalue()


def pyldavis_arguments(entry: ReportedRun) -> dict[str, list]:
    """Return the required arguments of ``pyLDAvis.prepare`` by name.

    A model of another program can have words outside the corpus; its phi is renormalised over the words of the corpus.
    """
    run = _with_counts(entry, "pyldavis")
    tokens = {
        dim: run[name].isel(snapshot=-1).sum("topic").values
        for dim, name in (("document", "n_dk"), ("word", "n_kw"))
    }
    phi = run["phi"].values
    sums = phi.sum(axis=1, keepdims=True)
    return {
        "topic_term_dists": (phi / np.where(np.isclose(sums, 1.0), 1.0, sums)).tolist(),
        "doc_topic_dists": _theta(run).tolist(),
        "doc_lengths": np.rint(tokens["document"])
        .astype(int)
        .tolist(),  # responsibilities sum to whole tokens
        "vocab": run["word"].values.tolist(),
        "term_frequency": np.rint(tokens["word"]).astype(int).tolist(),
    }


def _with_counts(entry: ReportedRun, format: str):
    """Return a run's Dataset without an HDP's empty topics; raise ReportError if it has no counts."""
    if "phi" not in entry.dataset:
        raise ReportError(
            f"{format} needs the counts of run '{entry.dataset.attrs['name']}', which are missing: it has no snapshot yet, is "
            "part of a comparison, or its corpus is missing; open the run itself, or export csv"
        )
    return used_topics(entry.dataset)


def _theta(run: xr.Dataset) -> np.ndarray:
    """Return theta (document, topic) with rows that sum to 1 over the exported topics."""
    theta = run["theta"].values
    return theta / theta.sum(axis=1, keepdims=True) if "alpha_total" in run else theta


FORMATS = {
    "csv": _csv,
    "long": _long,
    "npz": _npz,
    "netcdf": _netcdf,
    "zarr": _zarr,
    "mallet": _mallet,
    "lda-c": _ldac,
    "pyldavis": lambda entry: {
        "pyldavis.json": (
            json.dumps(pyldavis_arguments(entry), ensure_ascii=False, allow_nan=False) + "\n"
        ).encode()
    },
}


def to_pyldavis(run: AnyRun, store: str | os.PathLike | None = None, **settings) -> PreparedData:
    """Return the result of ``pyLDAvis.prepare`` for the last snapshot; show it by ``pyLDAvis.display``.

    Parameters
    ----------
    run, store
        `Run`, path, name in ``store``, or the Dataset of a run of a topic model, finished or not.
    **settings
        Of ``pyLDAvis.prepare``, as ``R=20``, ``mds="tsne"`` or ``sort_topics=False``; its defaults except ``n_jobs=1``.

    Raises
    ------
    ReportError, MeasureError, StoreError
        No pyLDAvis (the extra ``pyldavis`` has it), several runs, a run without topics or with fewer than two; a setting that
        pyLDAvis refuses.

    Sievert & Shirley (2014).
    """
    try:
        import pyLDAvis
    except ImportError as error:
        message = f"pyLDAvis cannot be imported ({shown(error)}); pip install '{DISTRIBUTION}[pyldavis]' adds it"
        raise ReportError(message) from error
    arguments = pyldavis_arguments(
        gather_one(run, store, "pyLDAvis shows one run at a time; give one of them")
    )
    if len(arguments["topic_term_dists"]) < 2:
        raise ReportError("pyLDAvis needs at least two topics; this run has one")
    settings = {"n_jobs": 1} | settings
    try:
        return pyLDAvis.prepare(
            **{name: np.array(values) for name, values in arguments.items()}, **settings
        )
    except (TypeError, ValueError) as error:
        message = f"pyLDAvis cannot show the run ({shown(error)}); check the settings {', '.join(settings)}"
        raise ReportError(message) from error
