"""Formulas over the columns of documents, as in R, such as ``~ party * bs(year, df=3) + place``, and their design matrices.

The `formulaic` package reads formulas. A part of a formula can call any Python function, so a formula from strangers must be
checked by `checked_formula` first.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from workbench.corpus.times import dates_of
from workbench.errors import InputError, nearest_or_all

if TYPE_CHECKING:
    import pandas as pd
    from formulaic import ModelMatrix, ModelSpec, SimpleFormula

    from workbench.corpus.corpus import Corpus

ARITHMETIC = frozenset(("I", "center", "exp", "log", "log10", "log2", "scale"))
CONTRASTS = frozenset(("Diff", "Helmert", "Poly", "Sum", "Treatment"))
SPLINES = frozenset(("bs", "cc", "cr", "cs"))
FUNCTIONS = ARITHMETIC | CONTRASTS | SPLINES | {"C", "poly"}
"""Functions that `checked_formula` allows; the size of what those besides `ARITHMETIC` return depends on whole numbers."""
NODES = {
    *(ast.Expression, ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.UnaryOp, ast.USub),
}
MOST_LETTERS, MOST_TERMS, MOST_COLUMNS, LARGEST_POWER = 300, 20_000, 100, 9
"""Limits of a checked formula: of letters, of operators ``*``, ``/``, ``^`` and ``%in%``, of a spline's columns, of a power."""


def checked_formula(formula: str, error: type[InputError]) -> str:
    """Return a formula without surrounding blanks; raise ``error`` if it is invalid or does more than arithmetic.

    It has a right side alone and an intercept. Its functions are `FUNCTIONS`, and its size is limited, so that a formula from a
    stranger neither runs other code nor needs much memory before its columns are known.
    """
    from formulaic import SimpleFormula
    from formulaic.errors import FormulaicError

    formula = " ".join(formula.split())
    if wrong := re.search(r"[<>&$\\\x00-\x1f]", formula):  # labels of runs show formulas
        raise error(
            f"a formula has no {wrong[0]!r}; rename the column, or leave it out of {formula[:60]!r}"
        )
    outside_calls = re.sub(r"`[^`]*`|\b[A-Za-z_]\w*\([^()]*\)", "x", formula)
    n_products = sum(
        2 if sign == "**" else 1 for sign in re.findall(r"\*\*|[*/]|%in%", outside_calls)
    )
    n_names = len(re.findall(r"\w+", outside_calls))
    if len(formula) > MOST_LETTERS or n_names ** (n_products + 1) > MOST_TERMS:
        raise error(
            f"a formula has at most {MOST_LETTERS} letters and few products; shorten {formula[:60]!r}"
        )
    if re.search(r"\^|\*\*\s*(?![23]\b)", outside_calls):
        raise error(f"a power of terms in a formula is **2 or **3; got {formula!r}; use another")
    try:
        terms = SimpleFormula.from_spec(formula)
    except (
        FormulaicError,
        SyntaxError,
        ValueError,
        TypeError,
        IndexError,
        RecursionError,
    ) as wrong:
        raise _no_formula(formula, wrong, error) from None
    if not isinstance(terms, SimpleFormula):
        raise error(f"a formula has its right side alone, as '~ party'; got {formula!r}")
    for factor in (factor for term in terms for factor in term.factors):
        if factor.eval_method.value == "python" and (part := _other_than_arithmetic(factor.expr)):
            raise error(
                f"a formula has columns, small numbers and the functions {', '.join(sorted(FUNCTIONS))}; {part!r} is another "
                "thing; leave it out"
            )
    if "1" not in map(str, terms):
        raise error(f"a formula of prevalence has an intercept; leave out 0 and -1 in {formula!r}")
    return formula


def _other_than_arithmetic(expression: str) -> str | None:
    """Return the part of a Python expression that is no column, number, allowed function or arithmetic; None without one."""
    nodes = [*ast.walk(ast.parse(re.sub("`[^`]*`", "x", expression), mode="eval"))]
    for node in nodes:
        if type(node) not in NODES or not (
            _is_small_operation(node) if isinstance(node, ast.BinOp) else _is_allowed_call(node)
        ):
            return ast.unparse(node) or expression
    return None


def _is_small_operation(operation: ast.BinOp) -> bool:
    """Return whether an operation is on numbers and columns, and the exponent is a small number if it is a power."""
    sides = operation.left, operation.right
    if any(isinstance(side, ast.List | ast.Tuple) or _is_text(side) for side in sides):
        return False
    exponent = getattr(operation.right, "value", None)
    is_small = isinstance(exponent, int | float) and exponent <= LARGEST_POWER
    return is_small or not isinstance(operation.op, ast.Pow)


def _is_text(node: ast.AST) -> bool:
    return isinstance(getattr(node, "value", None), str | bytes)


def _is_allowed_call(node: ast.AST) -> bool:
    """Return whether a function that is called is allowed, and makes few columns; True for all that is no call."""
    if not isinstance(node, ast.Call):
        return True
    name = getattr(node.func, "id", "")
    settings = [*node.args[1:], *(word.value for word in node.keywords)]
    return name in ARITHMETIC or (name in FUNCTIONS and all(map(_is_small_setting, settings)))


def _is_small_setting(node: ast.AST) -> bool:
    """Return whether a setting of a function is a contrast, a text, a number that is not large, or a list of these.

    A setting that is computed could be large: ``df=9**9``.
    """
    if isinstance(node, ast.List | ast.Tuple):
        return all(isinstance(each, ast.Constant | ast.UnaryOp) for each in node.elts)
    if isinstance(node, ast.Call | ast.Name):
        return getattr(getattr(node, "func", node), "id", "") in CONTRASTS
    number = getattr(node, "value", None)
    return isinstance(node, ast.Constant) and not (
        isinstance(number, int | float) and number > MOST_COLUMNS
    )


def _no_formula(formula: str, wrong: BaseException, error: type[InputError]) -> InputError:
    """Return the error that a text is no formula, with the first line of the reason."""
    reason = str(wrong).splitlines()[0] if str(wrong) else type(wrong).__name__
    return error(
        f"a formula is like '~ party + bs(year, df=3)', of columns of the documents; {formula!r} is none: {reason}"
    )


def columns_of_corpus(corpus: Corpus, error: type[InputError]) -> pd.DataFrame:
    """Return the columns of the documents of a corpus, for formulas: label, time, year, inputs and those of its table."""
    own = {
        name: ["" if value is None else value for value in values]
        for name, values in (("label", corpus.labels), ("time", corpus.times))
        if values is not None
    }
    inputs = {name: corpus.input(name) for name in corpus.input_names}
    table = {} if corpus.table is None else corpus.table.metadata
    return typed_columns(own | inputs | table, corpus.n_documents, error)


def typed_columns(
    columns: Mapping[str, Sequence], n_documents: int, error: type[InputError]
) -> pd.DataFrame:
    """Return columns of documents as numbers or texts, with ``year`` derived from ``time``; NaN or None if missing.

    Dates become years with their fraction, and numbers in texts become numbers. If the times are no dates,
    ``attrs["year"]`` says why there is no year.
    """
    import pandas as pd

    frame = pd.DataFrame(columns, index=range(n_documents))
    if "time" in frame and "year" not in frame:
        times = [None if pd.isna(time) or time == "" else time for time in frame["time"]]
        try:
            frame["year"] = _years(dates_of(times, error))
        except error as wrong:
            frame.attrs["year"] = str(wrong)
    typed = pd.DataFrame(
        {name: _typed_column(column) for name, column in frame.items()}, frame.index
    )
    typed.attrs = frame.attrs
    return typed


def _typed_column(column: pd.Series) -> pd.Series:
    """Return a column as numbers or as texts: dates as years with their fraction, numbers in texts as numbers."""
    import pandas as pd

    if column.dtype.kind == "M":
        return pd.Series(_years(pd.DatetimeIndex(column)), column.index)
    if is_numeric(column):
        return column
    column = column.astype(object).where(column.notna() & (column != ""), None)
    known_values = column.dropna()
    if not any(isinstance(value, bool | np.bool_) for value in known_values):
        with suppress(ValueError, TypeError):
            return pd.to_numeric(column)
    return column.map(str, na_action="ignore")


def _years(dates: pd.DatetimeIndex) -> np.ndarray:
    return np.asarray(dates.year + (dates.day_of_year - 1) / 365.25, float)


def is_numeric(column: pd.Series) -> bool:
    """Return whether a column has numbers."""
    return column.dtype.kind in "fiu"


def design_matrix(formula: str, columns: pd.DataFrame, error: type[InputError]) -> ModelMatrix:
    """Return the design matrix of a formula without rows with missing values; raise ``error`` for an invalid formula."""
    from formulaic import ModelMatrix, model_matrix
    from formulaic.errors import FormulaicError

    try:
        matrix = model_matrix(formula, columns, context={})
    except (FormulaicError, SyntaxError, ValueError, TypeError, IndexError) as wrong:
        missing = re.search("`([^`]*)` is not present", str(wrong))
        if missing:
            advice = columns.attrs.get(missing[1]) or nearest_or_all(missing[1], [*columns])
            raise error(f"the documents have no column {missing[1]!r}; {advice}") from None
        raise _no_formula(formula, wrong, error) from None
    if not isinstance(matrix, ModelMatrix):
        raise error(f"a formula has its right side alone, as '~ party'; got {formula!r}")
    if not len(matrix) or not matrix.shape[1]:
        noun = "term" if len(matrix) else "document with tokens and all its columns"
        raise error(f"{formula!r} has no {noun}; use another formula")
    return matrix


def check_design(formula: str, matrix: ModelMatrix, error: type[InputError]) -> np.ndarray:
    """Return a design matrix (document, term) as numbers; raise ``error`` if a regression on it has no unique solution."""
    x, terms, (n, p) = (
        np.asarray(matrix, float),
        [str(term) for term in matrix.columns],
        matrix.shape,
    )
    if len(wrong := np.argwhere(~np.isfinite(x))):
        row, term = wrong[0]
        raise error(
            f"{terms[term]} is {x[row, term]:g} in document {matrix.index[row]}; it must be finite in all"
        )
    if n <= p:
        raise error(f"{p} terms take more than {p} documents; these are {n:,}; use fewer terms")
    r = np.linalg.qr(x / np.maximum(np.linalg.norm(x, axis=0), 1e-300), mode="r")
    dependent = np.flatnonzero(np.abs(np.diagonal(r)) < 1e-8)  # on the columns before
    if len(dependent):
        raise error(
            f"the terms of {formula!r} determine each other in these documents: {terms[dependent[0]]} follows "
            "from those before it; leave it out"
        )
    return x


@dataclass(frozen=True, eq=False)
class Design:
    """The terms of a formula in each document of a corpus, and how they are computed for other documents.

    Parameters
    ----------
    terms : (term,) str
        The first is the intercept.
    values : (document, term) float64
    columns : DataFrame
        The columns of the documents that the formula names, with the same rows.
    spec : formulaic.ModelSpec
        Computes the same terms from other rows: it has the levels of factors and the knots of splines.
    """

    terms: tuple[str, ...]
    values: np.ndarray
    columns: pd.DataFrame
    spec: ModelSpec

    @classmethod
    def of(cls, formula: str, columns: pd.DataFrame, error: type[InputError]) -> Design:
        """Return the design of a checked formula; raise ``error`` for unknown columns, missing values or dependent terms."""
        from formulaic import SimpleFormula

        terms = SimpleFormula.from_spec(formula)
        factors = [factor for term in terms for factor in term.factors]
        names = {factor.expr for factor in factors}.union(
            *(_names_in(factor.expr) for factor in factors if factor.eval_method.value == "python")
        )
        names = sorted(names & {*columns})
        if (n_terms := _least_terms(terms, columns)) >= max(len(columns), 2):
            raise error(
                f"{formula!r} has {n_terms:,} terms, more than the {len(columns):,} documents tell; leave out columns that "
                "differ in nearly all documents"
            )
        for name in names:
            if n_missing := int(columns[name].isna().sum()):
                raise error(
                    f"the column {name!r} is missing in {n_missing:,} of {len(columns):,} documents, first in document "
                    f"{int(columns[name].isna().argmax())}; fill it in, or leave these documents out"
                )
        matrix = design_matrix(formula, columns, error)
        values = check_design(formula, matrix, error)
        return cls(tuple(map(str, matrix.columns)), values, columns[names], matrix.model_spec)

    @cached_property
    def centre(self) -> np.ndarray:
        """Mean of each term over the documents, (term,); 0 for the intercept."""
        return np.where(np.arange(len(self.terms)) == 0, 0.0, self.values.mean(axis=0))

    @cached_property
    def spread(self) -> np.ndarray:
        """Standard deviation of each term over the documents, (term,); 1 for the intercept."""
        return np.where(np.arange(len(self.terms)) == 0, 1.0, self.values.std(axis=0))

    @cached_property
    def standard(self) -> np.ndarray:
        """The terms (document, term) with mean 0 and standard deviation 1, except for the intercept."""
        return np.ascontiguousarray((self.values - self.centre) / self.spread)

    def coefficients(self, of_standard: np.ndarray) -> np.ndarray:
        """Return the coefficients (…, term) of the terms from those of the standard terms."""
        slopes = of_standard / self.spread
        slopes[..., 0] = of_standard[..., 0] - (slopes[..., 1:] * self.centre[1:]).sum(axis=-1)
        return slopes

    def of_documents(self, columns: pd.DataFrame) -> np.ndarray:
        """Return the terms (document, term) of other documents; NaN where a column is missing, or has an unknown level.

        Each document is read by itself, in the types of the training documents. A number in a spline is moved to the range of
        these, outside which a spline says nothing. A term that is not finite, as a log of 0, makes the document NaN.
        """
        values = np.full((len(columns), len(self.terms)), np.nan)
        if not {*self.columns} <= {*columns}:
            return values
        factors = [factor.expr for term in self.spec.formula for factor in term.factors]
        alike = columns[[*self.columns]].copy()
        for name, known_values in self.columns.items():
            functions = {
                function
                for factor in factors
                if name in (names := _names_in(factor))
                for function in names & {*SPLINES, "C"}
            }
            alike[name] = _alike(columns[name], known_values, functions)
        is_known = alike.notna().all(axis=1).to_numpy()
        if is_known.any():
            rows = alike[is_known].set_axis(np.flatnonzero(is_known))
            with np.errstate(all="ignore"):
                matrix = self.spec.get_model_matrix(rows)
            values[matrix.index] = matrix
        values[~np.isfinite(values).all(axis=1)] = np.nan
        return values


def _alike(column: pd.Series, known_values: pd.Series, functions: Collection[str]) -> pd.Series:
    """Return a column of other documents in the type and spelling of known values; NaN or None for an unknown level.

    functions : those of `SPLINES` and ``C`` that the formula applies to it
    """
    import pandas as pd

    if not is_numeric(known_values):
        spellings = {_spelling(value): value for value in known_values}
        return column.map(lambda value: spellings.get(_spelling(value))).astype(object)
    numbers = pd.to_numeric(column, errors="coerce")
    if "C" in functions:
        numbers = numbers.where(numbers.isin({*known_values}))
    return numbers.clip(known_values.min(), known_values.max()) if functions & SPLINES else numbers


def _spelling(value: object) -> str:
    """Return a level as text; a number in it as all its spellings are, "1" for "1.0"."""
    with suppress(ValueError, TypeError):
        return repr(float(value)) if not isinstance(value, bool | np.bool_) else str(value)
    return str(value)


def _names_in(factor: str) -> set[str]:
    """Return the names in a factor of a formula: of columns and of functions."""
    nodes = ast.walk(ast.parse(re.sub("`[^`]*`", "0", factor), mode="eval"))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        *re.findall("`([^`]*)`", factor)
    }


def _least_terms(terms: SimpleFormula, columns: pd.DataFrame) -> int:
    """Return about how many columns the design matrix of a formula has, from the numbers of levels of its factors."""
    n_levels = {
        name: 1 if is_numeric(values) else max(int(values.nunique()) - 1, 1)
        for name, values in columns.items()
    }

    def of_factor(expression: str) -> int:
        name = re.sub(r"^C\(\s*`?([^,`)]*)`?.*\)$", r"\1", expression)
        if name in columns and name != expression:
            return max(int(columns[name].nunique()) - 1, 1)
        return n_levels.get(name, 1)

    return sum(math.prod(of_factor(factor.expr) for factor in term.factors) for term in terms)
