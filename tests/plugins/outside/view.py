"""A view of another package: the curves of perplexity under a title of its own."""

from workbench.views import View, perplexity_curves


def draw(view, shown):
    """Yield one picture of all runs."""
    yield view.picture("From outside.", [perplexity_curves(shown.runs)])


VIEW = View("outside", "A view from outside", ("test_perplexity",), draw)
