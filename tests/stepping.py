"""Steps of an engine, one after another, as the loop of a run takes them."""

import numpy as np

from workbench.engines.engine import StepContext


def steps(engine, data, model, options, n_steps, seed=0, *, state=None, first=1, n_threads=1):
    """Yield (state, info) after each step, from a given state or from `init`; the next step may reuse the arrays."""
    if state is None:
        state = engine.init(data, model, options, StepContext(seed, 0, n_threads))
    for step in range(first, first + n_steps):
        state, info = engine.step(data, model, options, state, StepContext(seed, step, n_threads))
        yield state, info


def states(*arguments, **more):
    """Yield the state after each of these steps."""
    return (state for state, _ in steps(*arguments, **more))


def stepped(engine, data, model, options, n_steps, seed=0, *, state=None, n_threads=1, **more):
    """Return the state after the last of these steps, or where it starts after none."""
    if state is None:
        state = engine.init(data, model, options, StepContext(seed, 0, n_threads))
    more |= {"state": state, "n_threads": n_threads}
    *_, last = state, *states(engine, data, model, options, n_steps, seed, **more)
    return last


def copied(state):
    """As a checkpoint keeps it: copies of arrays, and a number of all else."""
    return type(state)(
        *(
            field.copy() if isinstance(field, np.ndarray) else np.asarray(field).item()
            for field in state
        )
    )
