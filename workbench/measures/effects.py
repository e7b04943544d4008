"""Effects of columns of documents on the shares of topics: a regression that carries the uncertainty of the shares.

The share of a topic in a document is its tokens divided by all tokens of the document, without the prior, which would draw
the shares of short documents together. The variance of an effect has two parts. One is that of a regression on the mean of
several draws of the shares, which allows each document a variance of its own (HC3): short documents vary more. The other is the
uncertainty of the topics, which all documents share: the variance between regressions on each draw, less the part of it that
independent draws for each document explain. Rubin's rules would count that part, which is in the first already, twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from keyword import iskeyword
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from scipy.special import stdtrit

from workbench.corpus.document_table import DocumentTable
from workbench.engines import get_engine
from workbench.engines.engine import SAMPLER
from workbench.errors import nearest_or_all
from workbench.measures.curves import LEVEL
from workbench.measures.groups import COLUMN, dates_of
from workbench.measures.selection import MeasureError, attributes, one_run, spec_of
from workbench.measures.topics import used_topics

if TYPE_CHECKING:
    import pandas as pd

N_DRAWS = 20
MOST_AVERAGED = 1000
"""Maximum number of documents over which a curve is averaged, evenly spaced."""


def effects(
    run: xr.Dataset,
    formula: str,
    table: DocumentTable | pd.DataFrame | Mapping | None = None,
    seed: int = 0,
) -> xr.Dataset:
    """Return the effect of each term of a formula on the share of each topic in a document, with 95 % intervals.

    Parameters
    ----------
    run : Dataset
        With ``n_dk``, the (expected) tokens of each topic in each document.
    formula : str
        The right side of a formula as in R, such as ``"~ party * bs(year, df=3) + place"``: columns of the documents, of which
        texts are factors, their first level the reference. The `formulaic` package reads it; it can call Python functions, so
        it must not come from strangers.
    table : DocumentTable, DataFrame or dict, optional
        Further columns, a value for each training document: ``corpus.table`` or ``Run.table``. The columns ``label``, ``time``
        and, if times are dates or years, ``year`` with its fraction are there without it. A column of numbers written as
        texts is one of numbers.
    seed : int, default 0
        Of the draws for a run that is no sampler.

    Returns
    -------
    Dataset
        Dims ``term`` and ``topic`` (those in use): ``effect``, ``effect_error``, ``effect_low``, ``effect_high``, and
        ``covariance`` (topic, term, other_term), which gives any contrast its error. A term that rests on one document has no
        error (NaN). Shares are from 0 to 1. In ``attrs``: ``formula``, ``n_documents``, ``n_left_out`` (documents without a
        token or with a missing value) and ``n_draws``.

    Raises
    ------
    MeasureError
        For a run without ``n_dk``, an unknown column, an invalid formula, or terms that determine each other.

    A sampler's draws are its snapshots after the burn-in, at most `N_DRAWS`. Of another run they are drawn from Dirichlet
    distributions with the expected tokens of the last snapshot as parameters. MacKinnon & White (1985), for HC3;
    Roberts et al. (2014), for the method of composition, which this replaces.
    """
    return _Regression(run, formula, table, seed).effects()


def effect_curve(
    run: xr.Dataset,
    formula: str,
    column: str,
    table: DocumentTable | pd.DataFrame | Mapping | None = None,
    n_points: int = 25,
    seed: int = 0,
) -> xr.Dataset:
    """Return the mean share of each topic if all documents had one value of a column, with 95 % intervals.

    The other columns keep their values. A column of numbers has ``n_points`` values from its least to its largest, another all
    its levels. Of more than `MOST_AVERAGED` documents an evenly spaced sample is averaged.

    Returns a Dataset with the dims ``value`` and ``topic``: ``share`` and ``change``, the difference from the first value, each
    with ``_error``, ``_low`` and ``_high``. For the other parameters and errors see `effects`.
    """
    regression = _Regression(run, formula, table, seed)
    if column not in regression.used:
        raise MeasureError(
            f"the formula {formula!r} has no column {column!r} to draw; {nearest_or_all(column, regression.used)}"
        )
    return regression.curve(column, MeasureError.whole("the number of points", n_points, 2))


class _Regression:
    """The pooled regressions of a run on the terms of a formula."""

    def __init__(self, run: xr.Dataset, formula: str, table, seed: int):
        run = one_run(run)
        if "n_dk" not in run:
            raise MeasureError(
                f"run {run.attrs['name']!r} has no topic counts of documents (n_dk); choose a topic model, and open it "
                "with its counts (workbench.open_run)"
            )
        self.run, self.formula = used_topics(run), formula
        self.columns = columns_of_documents(run, table)
        tokens = self.run["n_dk"].isel(snapshot=-1).values.sum(axis=1)
        design = _design(formula, self.columns[tokens > 0])
        self.spec, self.terms = design.model_spec, [str(term) for term in design.columns]
        self.used = sorted(map(str, self.spec.required_variables))
        self.documents = design.index.to_numpy()
        self.fit(np.asarray(design, float), seed)

    def fit(self, x: np.ndarray, seed: int) -> None:
        """Set the coefficients (term, topic), means over draws of the shares, and their covariance (topic, term, term)."""
        n, p = x.shape
        if dependent := _dependent(x):
            raise MeasureError(
                f"the terms of {self.formula!r} determine each other in these documents: {self.terms[dependent[0]]} follows "
                "from those before it; leave it out"
            )
        if n <= p:
            raise MeasureError(
                f"{p} terms take more than {p} documents; these are {n:,}; use fewer terms"
            )
        q, r = np.linalg.qr(x)
        inverse = np.linalg.solve(r, q.T)  # (term, document)
        unexplained = 1 - (q**2).sum(axis=1)
        alone = unexplained < 1e-9  # each the one document on which a term rests
        self.unknown = (np.abs(inverse[:, alone]) > 1e-12).any(axis=1)
        unexplained[alone] = 1.0
        drawn, mean, square = [], 0.0, 0.0
        for shares in _draws(self.run, self.documents, seed):
            drawn.append(inverse @ shares)
            mean, square = mean + shares, square + shares**2
        m, drawn = len(drawn), np.stack(drawn)
        self.n_draws, self.freedom, mean = m, n - p, mean / m
        self.coefficients = drawn.mean(axis=0)

        def of_coefficients(weights: np.ndarray) -> np.ndarray:
            """Return the covariance (topic, term, term) of coefficients from variances (document, topic) of shares."""
            return np.stack([(inverse * each) @ inverse.T for each in weights.T])

        self.covariance = of_coefficients(
            ((mean - x @ self.coefficients) / unexplained[:, None]) ** 2
        )
        if m > 1:
            apart = drawn - self.coefficients
            between = np.einsum("mik,mjk->kij", apart, apart) / (m - 1)
            of_documents = of_coefficients(np.maximum(square / m - mean**2, 0.0) * m / (m - 1))
            known = np.ix_(range(len(between)), ~self.unknown, ~self.unknown)
            self.covariance += between / m
            self.covariance[known] += _not_negative((between - of_documents)[known])
        self.covariance[:, self.unknown] = self.covariance[:, :, self.unknown] = np.nan

    def effects(self) -> xr.Dataset:
        """Return what `effects` returns."""
        dims = "topic", "term", "other_term"
        covariance = dims, self.covariance, attributes("covariance of the effects")
        return xr.Dataset(
            self._interval("term", np.eye(len(self.terms)), "effect", "change of the share")
            | {"covariance": covariance},
            {"term": self.terms, "other_term": self.terms, "topic": self.run["topic"].values},
            self._about(),
        )

    def curve(self, column: str, n_points: int) -> xr.Dataset:
        """Return what `effect_curve` returns."""
        every = max(1, -(-len(self.documents) // MOST_AVERAGED))
        columns = self.columns.loc[self.documents[::every]]
        known = self.columns.loc[self.documents, column]
        if known.dtype.kind in "fiu":
            values = np.linspace(known.min(), known.max(), n_points)
        else:
            values = np.array(sorted(known.unique()), object)
        rows = np.stack(
            [
                np.asarray(
                    self.spec.get_model_matrix(columns.assign(**{column: value})), float
                ).mean(axis=0)
                for value in values
            ]
        )
        return xr.Dataset(
            self._interval("value", rows, "share", "mean share if all documents had the value")
            | self._interval("value", rows - rows[0], "change", "its difference from the first"),
            {"value": values, "topic": self.run["topic"].values},
            self._about() | {"column": column},
        )

    def _interval(self, dim: str, rows: np.ndarray, name: str, meaning: str) -> dict:
        """Return combinations ``rows`` (dim, term) of the coefficients, with standard errors and intervals, by name."""
        centre = rows @ self.coefficients
        error = np.sqrt(np.einsum("vi,kij,vj->vk", rows, np.nan_to_num(self.covariance), rows))
        error[(np.abs(rows[:, self.unknown]) > 1e-12).any(axis=1)] = np.nan
        half = stdtrit(self.freedom, (1 + LEVEL) / 2) * error
        columns = {
            name: (centre, meaning),
            f"{name}_error": (error, "standard error"),
            f"{name}_low": (centre - half, "95 % interval, low end"),
            f"{name}_high": (centre + half, "95 % interval, high end"),
        }
        return {
            each: ((dim, "topic"), values, attributes(about))
            for each, (values, about) in columns.items()
        }

    def _about(self) -> dict:
        return {
            "formula": self.formula,
            "n_documents": len(self.documents),
            "n_left_out": len(self.columns) - len(self.documents),
            "n_draws": self.n_draws,
        }


def _draws(run: xr.Dataset, documents: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Yield draws of the shares (document, topic) of the topics in the tokens of some documents."""
    spec, n_dk = spec_of(run), run["n_dk"]
    if get_engine(spec.engine).kind == SAMPLER:
        iterations = run["snapshot_iteration"].values if len(n_dk) > 1 else np.array([np.inf])
        after = np.flatnonzero(iterations > spec.end_of_burn_in)
        after = after if len(after) else np.array([len(n_dk) - 1])
        for place in np.unique(np.linspace(0, len(after) - 1, N_DRAWS).round().astype(int)):
            tokens = n_dk.isel(snapshot=after[place]).values[documents]
            yield tokens / tokens.sum(axis=1, keepdims=True)
        return
    rng, tokens = np.random.default_rng(seed), n_dk.isel(snapshot=-1).values[documents]
    for _ in range(N_DRAWS):
        drawn = rng.standard_gamma(tokens)
        yield drawn / drawn.sum(axis=1, keepdims=True)


def formula_of(columns: pd.DataFrame, names: Iterable[str]) -> str:
    """Return the formula of some columns without interactions: numbers as cubic splines if they have over four values.

    Raises MeasureError for a name that a formula could not tell from the formula itself.
    """

    def term(name: str) -> str:
        if not re.fullmatch("[^`0-9 ][^`]*", name) or iskeyword(name):
            raise MeasureError(
                f"a formula cannot name the column {name!r}; rename it, such as to 'column'"
            )
        known = columns[name].dropna()
        bends = known.dtype.kind in "fiu" and known.nunique() > 4
        return f"bs(`{name}`, df=3)" if bends else f"`{name}`"

    return "~ " + " + ".join(map(term, names))


def _not_negative(matrices: np.ndarray) -> np.ndarray:
    """Return symmetric matrices (…, n, n) with negative eigenvalues replaced by 0."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def columns_of_documents(run: xr.Dataset, table=None) -> pd.DataFrame:
    """Return the columns of the documents that the run and a table have, and ``year``, from times; NaN if missing."""
    import pandas as pd

    known = {
        str(name).removeprefix(COLUMN): values.values
        for name, values in run.coords.items()
        if values.dims == ("document",) and str(name).startswith(COLUMN)
    }
    if isinstance(table, DocumentTable):
        table = table.metadata
    frame = pd.DataFrame(known | dict(table if table is not None else {}))
    if len(frame) != run.sizes["document"] and len(frame.columns):
        raise MeasureError(
            f"the table must have a row for each of {run.sizes['document']:,} training documents; got {len(frame):,}"
        )
    frame = frame.reindex(range(run.sizes["document"])).replace("", None)
    for name in frame:
        if frame[name].dtype.kind not in "fiu":
            with suppress(ValueError, TypeError):
                frame[name] = pd.to_numeric(frame[name])
    if "time" in frame and "year" not in frame:
        with suppress(MeasureError):
            dates = dates_of(
                [None if each is None else each for each in known.get("time", frame["time"])]
            )
            frame["year"] = dates.year + (dates.day_of_year - 1) / 365.25
    return frame


def _design(formula: str, columns: pd.DataFrame):
    """Return the design matrix of a formula, without rows that have a missing value; raise MeasureError if it is invalid."""
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    try:
        made = model_matrix(formula, columns, context={})
    except (FormulaicError, SyntaxError, ValueError, TypeError) as error:
        missing = re.search("`([^`]*)` is not present", str(error))
        if missing:
            raise MeasureError(
                f"the documents have no column {missing[1]!r}; {nearest_or_all(missing[1], [*map(str, columns)])}"
            ) from None
        reason = str(error).splitlines()[0]
        raise MeasureError(
            f"a formula is like '~ party + bs(year, df=3)', of columns of the documents; {formula!r} is none: {reason}"
        ) from None
    if not hasattr(made, "model_spec") or hasattr(made, "lhs"):
        raise MeasureError(f"a formula has its right side alone, as '~ party'; got {formula!r}")
    if not len(made):
        raise MeasureError(f"no document has tokens and all columns of {formula!r}; use others")
    return made


def _dependent(x: np.ndarray) -> list[int]:
    """Return the columns of a matrix that are linear combinations of those before them."""
    r = np.linalg.qr(x / np.maximum(np.linalg.norm(x, axis=0), 1e-300), mode="r")
    return np.flatnonzero(np.abs(np.diagonal(r)) < 1e-8).tolist()
