"""What a figure that was made again consists of, and what every one of them says of itself."""

from __future__ import annotations

from typing import NamedTuple

from workbench.papers.figures import Extent, PaperFigure
from workbench.papers.generic import GenericExtent, GenericFigure
from workbench.papers.hdp import HdpExtent, HdpFigure
from workbench.papers.verdicts import Verdict
from workbench.runs.execution.grid import Cell
from workbench.runs.execution.run import Run


class Reproduction(NamedTuple):
    """A figure with what it was made from."""

    figure: PaperFigure | HdpFigure | GenericFigure
    quick: bool
    extent: Extent | HdpExtent | GenericExtent  # what was run of it
    cells: list[Cell]
    runs: list[Run]              # one a cell
    reduced: list[str]           # what was left out of what is published, a clause each
    failures: list[str]          # a sentence for each run that failed
    files: list                  # of Path
    verdicts: list[Verdict]

    @property
    def title(self) -> str:
        return f"{self.figure.name}: {self.figure.what}."

    @property
    def left_out(self) -> list[str]:
        """What was left out and which runs failed, in sentences; nothing where it is all there."""
        return ([f"Not the published extent: {'; '.join(self.reduced)}."] if self.reduced else []) + self.failures

    @property
    def command(self) -> str:
        """What makes it again."""
        base = self.figure.quick if self.quick else self.figure.full
        words = ["workbench reproduce", self.figure.name] + ["--quick"] * self.quick
        words += [f"--seeds {self.extent.n_seeds}"] if self.extent.n_seeds != base.n_seeds else []
        if isinstance(self.extent, Extent) and self.extent.n_iterations != base.n_iterations:
            words.append(f"--iterations {self.extent.n_iterations}")
        if isinstance(self.extent, (HdpExtent, GenericExtent)) and self.extent.n_topics != base.n_topics:
            words.append(f"--topics {','.join(map(str, self.extent.n_topics))}")
        return " ".join(words)

    @property
    def verdict_text(self) -> str:
        """The verdicts with their title and what was left out."""
        return "\n".join([self.title, *self.left_out, "", *verdict_lines(self.verdicts)]) + "\n"


def verdict_lines(verdicts: list[Verdict]) -> list[str]:
    """Each claim with its outcome and the numbers behind it, a line each."""
    return [f"{verdict.outcome}: {verdict.claim.says}; {verdict.measured}" for verdict in verdicts]
