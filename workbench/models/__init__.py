"""Models: assumptions about data, priors, and the variables that runs record."""

from workbench.models.hdp import HDP, topic_numbers
from workbench.models.lda import LDA
from workbench.models.model import Model, ModelError, Priors, TopicModel
from workbench.models.variables import VARIABLES, Variable

__all__ = [
    "HDP",
    "LDA",
    "VARIABLES",
    "Model",
    "ModelError",
    "Priors",
    "TopicModel",
    "Variable",
    "topic_numbers",
]
