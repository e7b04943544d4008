"""What is believed: priors, variables and their names."""

from workbench.models.lda import LDA, ModelError
from workbench.models.variables import VARIABLES, Variable

__all__ = ["LDA", "VARIABLES", "ModelError", "Variable"]
