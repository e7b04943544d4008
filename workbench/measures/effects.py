"""Effects of columns of documents on the shares of topics: a regression that carries the uncertainty of the shares.

The share of a topic in a document is its tokens divided by all tokens of the document, without the prior, which would draw
the shares of short documents together. The variance of an effect has two parts. One is that of a regression on the mean of
several draws of the shares, which allows each document a variance of its own (HC3): short documents vary more. The other is the
uncertainty of the topics, which all documents share: the variance between regressions on each draw, less the part of it that
independent draws for each document explain. Rubin's rules would count that part, which is in the first already, twice.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from keyword import iskeyword

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import stdtrit

from workbench.corpus.document_table import DocumentTable
from workbench.corpus.formulas import check_design, design_matrix, is_numeric, typed_columns
from workbench.engines import get_engine
from workbench.engines.engine import SAMPLER
from workbench.errors import nearest_or_all
from workbench.measures.curves import LEVEL
from workbench.measures.groups import known_columns, run_with_counts
from workbench.measures.prevalence import MOST_AVERAGED, N_POINTS, effects_of_gamma, points_of
from workbench.measures.selection import MeasureError, attributes, spec_of
from workbench.measures.topics import used_topics

N_DRAWS = 20


def effects(
    run: xr.Dataset,
    formula: str | None = None,
    table: DocumentTable | pd.DataFrame | Mapping | None = None,
    seed: int = 0,
) -> xr.Dataset:
    """Return the effect of each term of a formula on the share of each topic in a document, with 95 % intervals.

    Parameters
    ----------
    run : Dataset
        With ``n_dk``, the (expected) tokens of each topic in each document.
    formula : str, optional
        The right side of a formula as in R, such as ``"~ party * bs(year, df=3) + place"``: columns of the documents, of which
        texts are factors, their first level the reference. The `formulaic` package reads it; it can call Python functions, so
        it must not come from strangers. Without it, the effects are those of the run's own formula of prevalence, from its
        draws of Gamma.
    table : DocumentTable, DataFrame or dict, optional
        Further columns, a value for each training document: ``corpus.table`` or ``Run.table``. The columns ``label``, ``time``
        and, if times are dates or years, ``year`` with its fraction are there without it. A column of numbers written as
        texts is one of numbers, one of dates is one of years, and True and False are texts.
    seed : int, default 0
        Of the draws for a run that is no sampler, and of the sticks over which effects of Gamma are averaged.

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
        For a run without ``n_dk``, an unknown column, an invalid formula, or terms that determine each other; without a
        formula for a run without ``gamma``.

    The effect of a term of Gamma is the change of the expected share, averaged over documents, per unit of the term while the
    others stay: of a term with two values from one to the other, else over one standard deviation about the term as it is. That
    of the intercept is the share where all other terms are 0. Intervals are quantiles over the snapshots after the burn-in.

    A sampler's draws are its snapshots after the burn-in, at most `N_DRAWS`. Of another run they are drawn from Dirichlet
    distributions with the expected tokens of the last snapshot as parameters. MacKinnon & White (1985), for HC3;
    Roberts et al. (2014), for the method of composition, which this replaces.
    """
    if formula is None:
        return effects_of_gamma(run, seed)
    return _Regression(run, formula, columns_of_documents(run, table), seed).effects()


def effect_curve(
    run: xr.Dataset,
    formula: str,
    column: str,
    table: DocumentTable | pd.DataFrame | Mapping | None = None,
    n_points: int = N_POINTS,
    seed: int = 0,
) -> xr.Dataset:
    """Return the mean share of each topic if all documents had one value of a column, with 95 % intervals.

    The other columns keep their values. A column of more than ``n_points`` numbers has that many values from its least to its
    largest, another all of its values. Of more than `MOST_AVERAGED` documents a random sample is averaged, without those on
    which a term rests alone.

    Returns a Dataset with the dims ``value`` and ``topic``: ``share`` and ``change``, the difference from the first value, each
    with ``_error``, ``_low`` and ``_high``. For the other parameters and errors see `effects`.
    """
    columns = columns_of_documents(run, table)
    if column not in columns:
        raise MeasureError(
            f"the documents have no column {column!r}; {nearest_or_all(column, [*columns])}"
        )
    n_points = MeasureError.whole("the number of points", n_points, 2)
    return _Regression(run, formula, columns, seed).curve(column, n_points)


def curve_beside(run: xr.Dataset, columns: pd.DataFrame, names: Sequence[str]) -> xr.Dataset:
    """Return the `effect_curve` of the first column in ``names``, in a regression on all of ``names`` without interactions.

    ``columns`` are of `columns_of_documents`. Names from a file never become a part of a formula.
    """
    aliases = {name: f"column_{number}" for number, name in enumerate(names)}
    renamed_columns = columns[[*aliases]].rename(columns=aliases)
    try:
        regression = _Regression(run, formula_of(renamed_columns), renamed_columns)
        return regression.curve("column_0", N_POINTS).assign_attrs(column=names[0])
    except MeasureError as error:
        message = re.sub("column_([0-9]+)", lambda match: names[int(match[1])], str(error))
        raise MeasureError(message.replace("`", "")) from None


class _Regression:
    """Linear regressions of the shares of a run's topics on the terms of a formula.

    ``_covariance`` is that of the coefficients of the orthonormal terms of the QR decomposition, so that no unit counts.
    """

    def __init__(self, run: xr.Dataset, formula: str, columns: pd.DataFrame, seed: int = 0):
        run = run_with_counts(run)
        self.run, self.formula, self.columns = run, formula, columns
        self.topics = used_topics(run)["topic"].values
        # all snapshots have the same documents, unless people have hidden topics
        snapshots = _snapshots_of(run) if "edition" in run.attrs else [-1]
        tokens = (
            _tokens(run["n_dk"].isel(snapshot=snapshot)).sum(axis=1) for snapshot in snapshots
        )
        has_tokens = np.all([of_document > 0 for of_document in tokens], axis=0)
        design = design_matrix(formula, columns[has_tokens], MeasureError)
        self.spec, self.terms = design.model_spec, [str(term) for term in design.columns]
        self.documents = design.index.to_numpy()
        self._fit(check_design(formula, design, MeasureError), seed)

    def _fit(self, x: np.ndarray, seed: int) -> None:
        """Set the coefficients (term, topic), which are means over draws of the shares, and their covariance."""
        n, p = x.shape
        q, r = np.linalg.qr(x)
        self._q, self._from_terms = q, np.linalg.inv(r)
        products, mean, square = [], 0.0, 0.0
        positions = np.flatnonzero(np.isin(self.run["topic"].values, self.topics))
        for shares in (each[:, positions] for each in _draws(self.run, self.documents, seed)):
            products.append(q.T @ shares)
            mean, square = mean + shares, square + shares**2
        m, products = len(products), np.stack(products)
        self.freedom, mean = n - p, mean / m
        self.about = {
            "formula": self.formula,
            "n_documents": n,
            "n_left_out": len(self.columns) - n,
            "n_draws": m,
        }
        coefficients = products.mean(axis=0)
        self.coefficients = self._from_terms @ coefficients

        def of_coefficients(weights: np.ndarray) -> np.ndarray:
            """Return the covariance (topic, term, term) of coefficients from variances (document, topic) of shares."""
            return np.stack([(q.T * each) @ q for each in weights.T])

        residual_shares = 1 - (q**2).sum(axis=1)
        self.alone = residual_shares < 1e-9  # each the one document on which a term rests
        residual_shares[self.alone] = 1.0
        self._covariance = of_coefficients(
            ((mean - q @ coefficients) / residual_shares[:, None]) ** 2
        )
        if m > 1:
            deviations = products - coefficients
            between_draws = np.einsum("mik,mjk->kij", deviations, deviations) / (m - 1)
            of_documents = of_coefficients(np.maximum(square / m - mean**2, 0.0) * m / (m - 1))
            # on what rests on several documents
            projection = np.eye(p) - q[self.alone].T @ q[self.alone]
            of_topics = projection @ (between_draws - of_documents) @ projection
            self._covariance += between_draws / m + _not_negative(of_topics)

    def effects(self) -> xr.Dataset:
        """Return the effect of each term on each topic's share, with 95 % intervals, as the function `effects` does."""
        unknown = self._rests_on_one(np.eye(len(self.terms)))
        covariance = self._from_terms @ self._covariance @ self._from_terms.T
        covariance[:, unknown] = covariance[:, :, unknown] = np.nan
        dims = "topic", "term", "other_term"
        return xr.Dataset(
            self._interval("term", np.eye(len(self.terms)), "effect", "change of the share")
            | {"covariance": (dims, covariance, attributes("covariance of the effects"))},
            {"term": self.terms, "other_term": self.terms, "topic": self.topics},
            self.about,
        )

    def curve(self, column: str, n_points: int) -> xr.Dataset:
        """Return the mean share of each topic by the value of a column, with 95 % intervals, as `effect_curve` does."""
        averaged_documents = self.documents[~self.alone]
        if len(averaged_documents) > MOST_AVERAGED:
            averaged_documents = np.random.default_rng(0).choice(
                averaged_documents, MOST_AVERAGED, replace=False
            )
        values = points_of(self.columns.loc[self.documents, column], n_points)
        rows = np.stack([self._mean_row(averaged_documents, column, value) for value in values])
        if not np.ptp(rows, axis=0).any():
            raise MeasureError(f"the formula {self.formula!r} has no column {column!r} to draw")
        return xr.Dataset(
            self._interval("value", rows, "share", "mean share if all documents had the value")
            | self._interval("value", rows - rows[0], "change", "its difference from the first"),
            {"value": values, "topic": self.topics},
            self.about | {"column": column},
        )

    def _mean_row(self, documents: np.ndarray, column: str, value) -> np.ndarray:
        """Return the mean of the formula's terms (term,) over documents, with the column at one value in all."""
        from formulaic.errors import DataMismatchWarning

        changed_columns = self.columns.loc[documents].assign(**{column: value})
        with warnings.catch_warnings(action="error", category=DataMismatchWarning):
            try:
                return np.asarray(self.spec.get_model_matrix(changed_columns), float).mean(axis=0)
            except DataMismatchWarning:
                raise MeasureError(
                    f"{column} has categories in {self.formula!r}, and more than are drawn; ask for more points"
                ) from None

    def _rests_on_one(self, rows: np.ndarray) -> np.ndarray:
        """Return whether each combination (row, term) of coefficients needs a document that alone has some term."""
        weights = np.abs(rows @ self._from_terms @ self._q.T)
        return (weights[:, self.alone] > 1e-6 * weights.max(axis=1, keepdims=True)).any(axis=1)

    def _interval(self, dim: str, rows: np.ndarray, name: str, meaning: str) -> dict:
        """Return the combinations ``rows`` (dim, term) of coefficients, with standard errors and 95 % intervals."""
        centre, of_terms = rows @ self.coefficients, rows @ self._from_terms
        variance = np.einsum("vi,kij,vj->vk", of_terms, self._covariance, of_terms)
        error = np.sqrt(np.maximum(variance, 0.0))
        error[self._rests_on_one(rows)] = np.nan
        half = stdtrit(self.freedom, (1 + LEVEL) / 2) * error
        columns = {
            name: (centre, meaning),
            f"{name}_error": (error, "standard error"),
            f"{name}_low": (centre - half, "95 % interval, low end"),
            f"{name}_high": (centre + half, "95 % interval, high end"),
        }
        return {
            each: ((dim, "topic"), values, attributes(description))
            for each, (values, description) in columns.items()
        }


def _tokens(n_dk: xr.DataArray) -> np.ndarray:
    """Return the tokens (document, topic) of a snapshot; 0 for topics that the snapshot does not have."""
    return np.nan_to_num(n_dk.values.astype(float))


def _snapshots_of(run: xr.Dataset) -> np.ndarray:
    """Return the indices of the snapshots of which shares are drawn: of a sampler `N_DRAWS` after burn-in, else the last."""
    spec, n_snapshots = spec_of(run), run.sizes["snapshot"]
    if get_engine(spec.engine).kind != SAMPLER or n_snapshots == 1:
        return np.array([n_snapshots - 1])
    snapshots = np.flatnonzero(run["snapshot_iteration"].values > spec.end_of_burn_in)
    snapshots = snapshots if len(snapshots) else np.array([n_snapshots - 1])
    return snapshots[np.unique(np.linspace(0, len(snapshots) - 1, N_DRAWS).round().astype(int))]


def _draws(run: xr.Dataset, documents: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """Yield draws of the shares (document, topic) of all topics in the tokens of some documents."""
    n_dk = run["n_dk"]
    if get_engine(spec_of(run).engine).kind == SAMPLER:
        for snapshot in _snapshots_of(run):
            tokens = _tokens(n_dk.isel(snapshot=snapshot))[documents]
            yield tokens / tokens.sum(axis=1, keepdims=True)
        return
    rng, tokens = np.random.default_rng(seed), _tokens(n_dk.isel(snapshot=-1))[documents]
    for _ in range(N_DRAWS):
        gamma_draws = rng.standard_gamma(tokens)
        yield gamma_draws / gamma_draws.sum(axis=1, keepdims=True)


def formula_of(columns: pd.DataFrame) -> str:
    """Return the formula of all columns without interactions: numbers as cubic splines if they have over four values.

    Raises MeasureError for a name that a formula could not tell from the formula itself.
    """
    terms = []
    for name, values in columns.items():
        if not re.fullmatch("[^`0-9 ][^`]*", name) or iskeyword(name):
            raise MeasureError(
                f"a formula cannot name the column {name!r}; rename it, such as to 'column'"
            )
        bends = is_numeric(values) and values.nunique() > 4
        terms.append(f"bs(`{name}`, df=3)" if bends else f"`{name}`")
    return "~ " + " + ".join(terms)


def _not_negative(matrices: np.ndarray) -> np.ndarray:
    """Return symmetric matrices (…, n, n) with negative eigenvalues replaced by 0."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


def columns_of_documents(run: xr.Dataset, table=None) -> pd.DataFrame:
    """Return the columns of the run's documents and of a table, with ``year`` derived from times; NaN if missing."""
    n = run.sizes["document"]
    return typed_columns(known_columns(run) | _given(table, n), n, MeasureError)


def _given(table: object, n: int) -> dict:
    """Return the columns of a table by name; raise MeasureError if they are not one value for each of ``n`` documents."""
    if table is None:
        return {}
    if isinstance(table, DocumentTable):
        table = table.metadata
    if not hasattr(table, "items"):
        raise MeasureError.must_be("the table", "a DocumentTable, a DataFrame or a dict", table)
    columns = {}
    for name, values in table.items():
        if np.ndim(values) != 1 or len(values) != n or str(name) in columns:
            raise MeasureError(
                f"the table must have columns of different names with a value for each of {n:,} training documents; "
                f"{str(name)!r} is another"
            )
        columns[str(name)] = values.array if hasattr(values, "array") else list(values)
    return columns
