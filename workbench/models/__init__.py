"""What is believed: priors, variables and their names."""

from workbench.models.hdp import HDP, topic_numbers
from workbench.models.lda import LDA, ModelError
from workbench.models.priors import Priors
from workbench.models.variables import VARIABLES, Variable

__all__ = ["HDP", "LDA", "VARIABLES", "ModelError", "Priors", "Variable", "topic_numbers"]
