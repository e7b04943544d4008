"""The data of a run in one part, held in memory, as the loop works on them."""

from __future__ import annotations

from pathlib import Path

from workbench.runs.scoring import Average, further_scores, initial_average, perplexity, score
from workbench.runs.spec import RunSpec


class Whole:
    """Training and test data in memory with the engine of a spec: each method is a plain call of it.

    `workbench.runs.parts.laying_out.LaidOut` has the same methods for a corpus in several parts.

    Attributes
    ----------
    engine, model, options
        Of the spec, the model with what the data alone determine.
    rows : None
        Who has the rows of documents: the state itself.
    """

    rows = None

    def __init__(self, spec: RunSpec, train, test=None):
        self.train, self.test = train, test
        self.engine, self.model, self.options = spec.parts(train)

    def init(self, context, warm_start=None) -> tuple:
        """The first state, and the average before the first iteration."""
        state = self.engine.init(self.train, self.model, self.options, context, warm_start)
        return state, initial_average(self.test)

    def step(self, state, context) -> tuple:
        """The state after a step, and what the step tells."""
        return self.engine.step(self.train, self.model, self.options, state, context)

    def score(self, state, average: Average, past_burn_in: bool, context) -> tuple:
        """The average with a state taken in, the test perplexities, and what `further_scores` takes."""
        given = self.engine, self.train, self.test, self.model, self.options
        return score(*given, state, average, past_burn_in, context)

    def further_scores(self, predicted) -> dict:
        """The further scores of the model's family, by name."""
        return further_scores(self.train, self.test, self.model, predicted)

    def watch(self, state) -> dict:
        """The numbers that the engine watches."""
        return self.engine.watch(self.train, self.model, self.options, state)

    def train_perplexity(self, state, context) -> float:
        """The perplexity of the training items."""
        given = self.train, self.model, self.options, state, self.train, context
        return perplexity(self.train, self.engine.predict(*given))

    def counts(self, state) -> dict:
        """What a snapshot keeps, by name."""
        return self.engine.counts(self.train, self.model, self.options, state)

    def load(self, folder: Path) -> None:
        """Does nothing: the rows of documents are in the state."""

    def close(self) -> None:
        """Does nothing: there are no files."""
