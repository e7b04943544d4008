"""Sequences: hidden states along one, words by their loadings, its words by their probabilities, and the gain of each sequence.

Paths are those of linear dynamical systems, state probabilities those of hidden Markov models. Gains over training frequencies
are drawn as in Linderman et al. (2015), figure 4.
"""

TEXT_COLUMNS = ("sequence", "position", "word", "probability", "held_out", "expected", "chance")
LETTER_COLOUR = "#111111"
"""Colour of the text on these, also on a dark page."""


LOADING_COLUMNS = ("word", "first_axis", "second_axis")


GAIN_COLUMNS = ("sequence", "symbols", "gain_clipped", "gain_added")
MOST_BELOW_BARS = 24
"""Maximum of names of sequences below the bars."""
