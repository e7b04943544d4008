"""Networks by name, made for the fields of the records that they are to explain."""

from workbench.models.bayes_nets.nodes import Node
from workbench.models.model import ModelError


def latent_class(records, n_states: int, alpha: float, beta: float) -> tuple[Node, ...]:
    """Return a latent class model, with fields that are independent given it: class c ~ pi, field x_f ~ theta_f[c].

    Lazarsfeld & Henry (1968), "Latent structure analysis".
    """
    _refuse_taken(records, "latent-class", "class")
    fields = zip(records.fields, records.levels, strict=True)
    return (
        Node("class", n_states, (), alpha),
        *(Node(field, names, ("class",), beta) for field, names in fields),
    )


def hidden_markov(records, n_states: int, alpha: float, beta: float) -> tuple[Node, ...]:
    """Return a hidden Markov model of sequences: a record's fields are its symbols in order, missing after its end.

    s_1 ~ start, s_t ~ transition[s_{t-1}], x_t ~ emission[s_t]. A symbol is the same in every field: by its name.

    Rabiner (1989), "A tutorial on hidden Markov models and selected applications in speech recognition".
    """
    symbols = tuple(dict.fromkeys(name for names in records.levels for name in names))
    nodes = []
    for at, field in enumerate(records.fields):
        state = f"state@{at + 1}"
        _refuse_taken(records, "hmm", state)
        before = (f"state@{at}",) if at else ()
        nodes += [
            Node(state, n_states, before, alpha, "transition" if at else "start"),
            Node(field, symbols, (state,), beta, "emission"),
        ]
    return tuple(nodes)


def _refuse_taken(records, network: str, name: str) -> None:
    if name in records.fields:
        raise ModelError(
            f"'{name}' is a hidden node of '{network}', and a field of {records.name!r}; rename the field"
        )


SHIPPED = {"latent-class": latent_class, "hmm": hidden_markov}
"""Networks by the names that ``model=`` takes."""
