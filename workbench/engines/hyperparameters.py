"""Hyperparameters of LDA that learn (specification of LDA, A.10)."""

from __future__ import annotations


def learnt(options) -> tuple[str, ...]:
    """Which of alpha and beta may change from iteration to iteration."""
    return tuple(name for name in ("alpha", "beta") if getattr(options, f"learn_{name}", "fixed") in ("maximised", "sampled"))
