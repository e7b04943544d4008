"""Diversity of topics: the share of distinct words among their top words."""

import numpy as np
import xarray as xr

from workbench.measures.selection import attributes
from workbench.measures.topics import top_words, used_topics


def diversity(run: xr.Dataset, n: int = 25) -> xr.Dataset:
    """Return the share of distinct words among the top words of all topics, at the last snapshot.

    The n top words of each topic by probability (25 as in the paper), or all words if there are fewer. Dim ``topic``:
    ``diversity``, where a word among the top words of m topics counts 1/m; its mean over topics, ``attrs["mean_diversity"]``,
    is the number of the paper: distinct words divided by all top words, from 1/K to 1.

    Dieng, Ruiz & Blei (2020), section 6.
    """
    words = top_words(used_topics(run), n)["word"]
    distinct, indices, n_topics = np.unique(
        words.values.astype(str), return_inverse=True, return_counts=True
    )
    shares = (1 / n_topics[indices]).reshape(words.shape).mean(axis=1)
    meaning = attributes(f"share of the top {words.sizes['rank']} words that no other topic shares")
    return xr.Dataset(
        {"diversity": ("topic", shares, meaning)},
        {"topic": words["topic"].values},
        {"mean_diversity": len(distinct) / words.size, "n_top_words": words.sizes["rank"]},
    )
