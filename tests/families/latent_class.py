"""A toy family on records, for the tests: one latent class behind the fields of a record. It has no topics and no words."""

from dataclasses import dataclass

import numpy as np

from workbench.models import Model, Variable
from workbench.models.options import option
from workbench.records import Records


@dataclass(frozen=True)
class LatentClass(Model):
    """Class c of a record ~ pi; the level of each of its fields ~ theta of the class and the field."""

    data = Records

    n_classes: int = option(2, "classes of records", low=1, high=1000, whole=True, size=True)

    @property
    def size_label(self):
        return "classes", self.n_classes

    def dims(self, records=None):
        own = (
            {}
            if records is None
            else {"record": records.n_distinct, "level": int(records.n_levels.sum())}
        )
        return {"class": self.n_classes} | own

    def coords(self, records):
        names = [
            f"{field}={name}"
            for field, names in zip(records.fields, records.levels, strict=True)
            for name in names
        ]
        return {
            "level": (names, "level of a field"),
            "class": (range(self.n_classes), "latent class"),
        }

    def recorded(self, options):
        return (
            Variable(
                "class_share", ("iteration", "class"), "", "share of the records in each class"
            ),
            Variable(
                "n_cl",
                ("snapshot", "class", "level"),
                "cells",
                "expected cells of each level in each class",
            ),
            Variable(
                "level_share",
                ("class", "level"),
                "",
                "probability of each level of a field in each class",
            ),
        )

    def estimates(self, last, records):
        counts, starts = np.asarray(last["n_cl"]) + 1e-9, np.r_[0, np.cumsum(records.n_levels)[:-1]]
        return {
            "level_share": counts
            / np.repeat(np.add.reduceat(counts, starts, axis=1), records.n_levels, axis=1)
        }

    def describe(self):
        return [("latent classes", str(self.n_classes))]

    def tiny(self, most=9):
        return Records(
            np.array([[0, 1], [1, 0]]),
            np.array([1, most or 1]),
            ("a", "b"),
            (("x", "y"), ("x", "y")),
        )
