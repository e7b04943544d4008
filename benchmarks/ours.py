"""An engine of ours as something that sweeps, with the theta and phi of where it got to."""

from __future__ import annotations

import time

import numpy as np

from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options, takes
from workbench.kernels.simd.vectors import padded

MOST_RESPONSIBILITIES = 3e9
"""Bytes of stored responsibilities beyond which a cell is left out."""
STORES_RESPONSIBILITIES = ("cvb", "cvb0", "cvb-cgs", "cvb0-cgs")


class LeftOut(Exception):
    """Why something is not measured, for the table."""


class Ours:
    """One engine with its state, from a random start without a warm-up, whose sweeps are others; alpha = beta = 0.1.

    ``given`` are options of the engine, and may say another start. ``cpu`` are the CPU seconds of the start.
    """

    def __init__(
        self,
        name: str,
        corpus,
        n_topics: int,
        seed: int = 0,
        n_threads: int = 1,
        given: dict | None = None,
    ):
        self.corpus, self.n_threads, self.seed = corpus, n_threads, seed
        self.engine = get_engine(name)
        self.model = self.engine.model(n_topics).for_data(corpus)
        start = {"init": "dirichlet"} if takes(self.engine, "init", "dirichlet") else {}
        self.options = make_options(self.engine, start | (given or {}))
        self.samples = self.engine.samples(corpus, self.options)
        self._refuse_what_is_too_large()
        began = time.process_time()
        self.state, self.n_sweeps = (
            self.engine.init(corpus, self.model, self.options, self.context(0)),
            0,
        )
        self.cpu = time.process_time() - began

    def _refuse_what_is_too_large(self) -> None:
        if self.engine.name in STORES_RESPONSIBILITIES:
            # the hybrids sample what occurs once
            least = 1 if self.engine.name in ("cvb", "cvb0") else 2
            n_bytes = (
                8.0 * np.count_nonzero(self.corpus.counts >= least) * padded(self.model.n_topics)
            )
            if n_bytes > MOST_RESPONSIBILITIES:
                raise LeftOut(f"its responsibilities take {n_bytes / 1e9:.1f} GB")

    def context(self, step: int) -> StepContext:
        return StepContext(self.seed, step, self.n_threads)

    def sweep(self, n_sweeps: int = 1) -> None:
        for _ in range(n_sweeps):
            self.n_sweeps += 1
            context = self.context(self.n_sweeps)
            self.state, _ = self.engine.step(
                self.corpus, self.model, self.options, self.state, context
            )

    @property
    def topics(self) -> np.ndarray:
        """(token,) topics of `cgs`, in canonical order."""
        return self.state.topics

    def theta_phi(self) -> tuple[np.ndarray, np.ndarray]:
        """theta (document, topic) and phi (word, topic), as the model estimates them."""
        last = self.engine.counts(self.corpus, self.model, self.options, self.state)
        found = self.model.estimates(last, self.corpus)
        return normalised(np.asarray(found["theta"]), np.asarray(found["phi"]).T)


def normalised(theta: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each document's topics and each topic's words as probabilities; (document, topic), (word, topic)."""
    return np.ascontiguousarray(theta / theta.sum(axis=1, keepdims=True)), np.ascontiguousarray(
        phi / phi.sum(axis=0)
    )
