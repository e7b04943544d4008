"""What every figure of a paper has: claims, and what starting a run costs."""

from __future__ import annotations

from dataclasses import dataclass

START = 2.0
"""Seconds that a worker takes to start."""


@dataclass(frozen=True)
class Claim:
    """What a paper says of two engines, or of two algorithms.

    ``kind`` is what is claimed of the first: its final perplexity is ``lower``, on a ``level`` with the second's
    (see `workbench.papers.verdicts.LEVEL`), its final state gives the ``same`` perplexity, or it comes to its own
    final perplexity ``sooner``, in iterations (or ``steps``, iterations times topics); test words are ``likelier``, or
    its ``bound`` is higher, per token.
    """

    says: str
    kind: str
    first: str
    second: str
