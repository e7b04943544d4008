"""What models share whose topics are more or less prevalent by the columns of a document: a formula, and its terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import numpy as np

from workbench.corpus import Corpus
from workbench.corpus.formulas import Design, checked_formula, columns_of_corpus, typed_columns
from workbench.models.model import ModelError, TopicModel
from workbench.models.options import OptionError, option

COLUMN = "document_"
"""Prefix of the coordinates of a run's Dataset that are columns of documents."""


def prevalence_option(of: str):
    """Return the option ``prevalence``: the formula of what depends on columns, named by ``of``."""
    return option(
        "",
        f"formula of the columns of documents on which {of} depends, as '~ party + bs(year, df=3)'; "
        "empty: one for all documents",
        choices=("",),
        otherwise=lambda formula: checked_formula(formula, OptionError),
        late=True,
        label="Prevalence by",
        example="~ year",
    )


class ByColumns(TopicModel):
    """Base class of topic models with the fields ``prevalence``, a formula or "", and ``design``, its terms."""

    prevalence: str
    design: Design | None

    def with_terms(self, corpus: Corpus) -> Self:
        """Return the model with the terms of its formula in each document; raise ModelError if these do not suit it."""
        return self._with_design(columns_of_corpus(corpus, ModelError)) if self.prevalence else self

    def with_coords(self, coords: Mapping) -> Self:
        """Return the model with the terms of its formula in each training document, if the run's Dataset has the columns."""
        model = super().with_coords(coords)
        if "design" not in coords:
            return model
        columns = {
            str(name).removeprefix(COLUMN): values.values
            for name, values in coords.items()
            if values.dims == ("document",) and str(name).startswith(COLUMN)
        }
        stored = coords["design"].values
        model = model._with_design(typed_columns(columns, len(stored), ModelError))
        if not np.allclose(model.design.values, stored):
            raise ModelError(
                "these are some of the documents of a run, and the terms of its formula depend on all; take the whole Dataset"
            )
        return model

    def _with_design(self, columns) -> Self:
        return replace(self, design=Design.of(self.prevalence, columns, ModelError))

    @property
    def reads_columns(self) -> bool:
        """Whether the model needs the columns of the documents."""
        return bool(self.prevalence)

    def terms_of(self, corpus: Corpus) -> np.ndarray | None:
        """Return the standard terms (document, term) of the first documents, all of training; None without a formula."""
        return None if self.design is None else self.design.standard[: corpus.n_documents]

    def dims(self, data=None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        if data is None or not self.prevalence:
            return super().dims(data)
        design = self.design or self.for_data(data).design
        return super().dims(data) | {"term": len(design.terms)}

    def coords(self, data) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset, with the terms of the formula and the columns that it names."""
        if self.design is None:
            return super().coords(data)
        columns = {
            f"{COLUMN}{name}": (values.to_numpy(), f"{name} of the document", "document")
            for name, values in self.design.columns.items()
        }
        return (
            columns
            | super().coords(data)
            | {
                "term": (self.design.terms, "term of the formula of prevalence"),
                "design": (self.design.values, "terms of each document", "document", "term"),
            }
        )

    def shares_at(self, last: Mapping, terms: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return shares of topics (draw, topic) of documents with terms x (draw, term), whose means are expected shares.

        last : arrays of a snapshot, by name, with ``gamma``; normal (draw, stick or topic) : standard normal numbers, for
        models that cannot take the mean in closed form
        """
        raise NotImplementedError
