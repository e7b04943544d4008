"""Short labels of the runs in a figure, each different from the others."""

from collections import Counter

from workbench.dashboard.shared.run_monitor import Reading, describe_changes

SIGNS = {"α": "alpha", "β": "beta"}


def telling_labels(readings: list[Reading]) -> dict[str, str]:
    """Name → a short label: engine and options, K when it differs, and more only where two labels are the same."""
    labels = {reading.name: reading.label for reading in readings}
    specs = {reading.name: reading.spec for reading in readings if reading.spec is not None}
    if len({spec.model.get("n_topics") for spec in specs.values()}) > 1:
        labels |= {
            name: f"{labels[name]} · K={spec.model['n_topics']}" for name, spec in specs.items() if "n_topics" in spec.model
        }
    for describe in (
        lambda name, spec: f"seed {spec.seed}",
        lambda name, spec: spec.corpus,
        lambda name, spec: describe_changes(spec) or "all words",
        lambda name, spec: " ".join(f"{sign}={spec.model[name]}" for sign, name in SIGNS.items() if name in spec.model),
        lambda name, spec: name,
    ):
        for label in {label for label, number in Counter(labels.values()).items() if number > 1}:
            alike = {name: describe(name, spec) for name, spec in specs.items() if labels[name] == label}
            if len(set(alike.values())) > 1:
                labels |= {name: f"{label} · {word}" if word else label for name, word in alike.items()}
    return labels
