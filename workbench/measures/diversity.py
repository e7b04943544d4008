"""Diversity of topics: the share of distinct words among their top words."""

import numpy as np
import xarray as xr

from workbench.measures.topics import top_words, used_topics


def diversity(run: xr.Dataset, n: int = 25) -> xr.Dataset:
    """The share of distinct words among the top words of all topics, at the last snapshot.

    The n top words of each topic by probability, 25 as in the paper; all of them if there are fewer. Dim ``topic``:
    ``diversity``, where a top word that m topics have counts 1/m; its mean over topics, ``attrs["mean_diversity"]``, is the
    paper's number: different words divided by all top words, from 1/K to 1.

    Dieng, Ruiz & Blei (2020), section 6.
    """
    words = top_words(used_topics(run), n)["word"]
    every, place, topics = np.unique(
        words.values.astype(str), return_inverse=True, return_counts=True
    )
    own = (1 / topics[place]).reshape(words.shape).mean(axis=1)
    about = {
        "long_name": f"share of the top {words.sizes['rank']} words that is the topic's own",
        "units": "",
    }
    return xr.Dataset(
        {"diversity": ("topic", own, about)},
        {"topic": words["topic"].values},
        {"mean_diversity": len(every) / words.size, "n_top_words": words.sizes["rank"]},
    )
