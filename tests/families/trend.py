"""A toy family on a corpus with inputs, for the tests: the words of a year drift along a straight line of log odds."""

from dataclasses import dataclass

import numpy as np

from workbench.models import Model, Variable
from workbench.models.model import tiny_bag
from workbench.models.options import option


@dataclass(frozen=True)
class Trend(Model):
    """p(w | year) ~ exp(level_w + slope_w * (year - first) / span)."""

    rate: float = option(1.0, "step of the gradient", low=1e-6)
    first: float = 0.0
    span: float = 1.0

    def settings(self):
        return {"first": self.first, "span": self.span}

    def for_data(self, corpus):
        year = corpus.input("year")
        return Trend(self.rate, float(year.min()), float(np.ptp(year)) or 1.0)

    def recorded(self, options):
        return (
            Variable("level", ("snapshot", "word"), "", "log odds of each word in the first year"),
            Variable(
                "slope",
                ("snapshot", "word"),
                "",
                "change of the log odds of each word over all years",
            ),
            Variable(
                "word_share",
                ("time", "word"),
                "",
                "probability of each word in the first and in the last year",
            ),
        )

    def estimates(self, last, corpus):
        return {
            "word_share": self.shares(
                np.asarray(last["level"]), np.asarray(last["slope"]), np.array([0.0, 1.0])
            )
        }

    def shares(self, level, slope, time):
        raised = np.exp(level + slope * time[:, None])
        return raised / raised.sum(axis=1, keepdims=True)

    def tiny(self, most=9):
        return tiny_bag(most, inputs={"year": [2000.0, 2001.0]})
