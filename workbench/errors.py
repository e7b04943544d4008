"""Errors about inputs: each is one sentence (what was expected, what was given, what to do) with the field concerned.

A sentence consists of parts, so that the command line can name the flag of a setting, and the page its label, in
place of the Python argument.
"""

from __future__ import annotations

import math
import os
import re
import signal
import traceback
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

DISTRIBUTION = "topic-workbench"
"""Name of the package for pip; on the package index `workbench` is another project."""
UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
"""Characters that end a line, or that a terminal cannot show."""
LONGEST, END = 2000, 500
"""Maximum of characters of a sentence, and how many of its end are kept when its middle is left out."""


class ALONE:
    """Sentinel for a setting that an error message names without a value; a class, so that it survives copying."""


GUESSES = {
    "n_topics": ("num_topics", "n_components", "k", "topics", "number_of_topics", "n_clusters"),
    "n_iterations": (
        "iterations",
        "num_iterations",
        "n_iter",
        "max_iter",
        "iters",
        "iter",
        "passes",
        "epochs",
        "draws",
    ),
    "seed": ("random_state", "random_seed"),
    "n_threads": ("workers", "n_jobs", "threads", "num_threads", "cores"),
    "jobs": ("n_jobs", "cores", "processes"),
    "beta": ("eta", "topic_word_prior"),
    "alpha": ("doc_topic_prior",),
    "test": ("test_corpus", "heldout"),
    "holdout": ("test_size", "test"),
    "burn_in": ("tune", "warmup"),
    "restarts": ("n_init",),
    "seeds": ("chains",),
    "cgs": ("gibbs", "collapsed_gibbs", "lda", "mcmc", "sampler"),
    "g-hdp": ("hdp", "hdp_gibbs"),
    "vb": ("variational", "vi", "batch"),
    "online-vb": ("online", "svi"),
    "sb-ctm": ("ctm",),
    "sb-dtm": ("dtm",),
    "network-gibbs": ("author_topic", "pachinko", "pam"),
    "fit": ("train", "fit_model"),
    "infer": ("transform", "predict"),
    "top_words": ("get_topic_words", "show_topic"),
    "topics": ("show_topics", "print_topics", "get_topics"),
    "open_run": ("load", "load_run", "load_model"),
    "export_run": ("save", "save_model"),
    "hold_out_tokens": ("train_test_split",),
    "sklearn.TopicModel": ("latent_dirichlet_allocation", "lda_model", "topic_model"),
    "to_arviz": ("to_inference_data",),
    "effective_samples": ("ess",),
    "measures.convergence": ("rhat", "r_hat"),
    "measures.summary": ("summarize", "describe"),
    "views.show": ("plot", "plot_topics", "plot_trace"),
}
"""Setting, engine or public name → what people who know other programs call it, in any case, with _ or -."""
LONGEST_SHOWN = 200
"""Maximum of characters of a given value in a sentence."""


def shown(text) -> str:
    """Return a value as one line of text, cut at `LONGEST_SHOWN` characters."""
    line = " ".join(str(text).split())
    return (
        line
        if len(line) <= LONGEST_SHOWN
        else f"{line[:LONGEST_SHOWN]}… ({len(line):,} characters)"
    )


def not_installed(feature: str, package: str, extra: str, alternative: str = "") -> str:
    """Return the message that ``feature`` needs a missing package, with the name of the extra that installs it."""
    message = f"{feature} need the package {package}, which is not installed; pip install '{DISTRIBUTION}[{extra}]' adds it"
    return f"{message}, {alternative}" if alternative else message


class Named(NamedTuple):
    """A setting as an error message shows it: "name", "name=value", or "with name=…" if the value is an ellipsis."""

    field: str
    value: object = ALONE
    text: str = ""  # name of the Python argument, if different

    def __str__(self) -> str:
        if self.value is ...:
            return f"with {self.field}=…"
        return self.text or (self.field if self.value is ALONE else f"{self.field}={self.value}")


class Got(NamedTuple):
    """The end of an error message that shows the value given: "; got 3"."""

    value: object

    def __str__(self) -> str:
        try:
            return f"; got {shown(repr(self.value))}"
        except ValueError:  # Python does not write out whole numbers of thousands of digits
            return f"; got a number of {self.value.bit_length():,} bits"


class OneSentence:
    """Base class of errors for which notebooks show the message and the user's own lines, but not this package's lines."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython prints for the error."""
        package_parts = f"{Path(__file__).parent}{os.sep}", f"{os.sep}IPython{os.sep}"
        frames = traceback.extract_tb(self.__traceback__)
        user_frames = [
            frame for frame in frames if not any(part in frame.filename for part in package_parts)
        ]
        lines = *traceback.format_list(user_frames), f"{type(self).__name__}: {self}"
        return "".join(lines).splitlines()


class InputError(OneSentence, ValueError):
    """Raised for an input that cannot be used.

    Parameters
    ----------
    *parts : str, Named or Got
        The sentence, one part after the other.
    field : str, optional
        Name of the setting, option or argument that is wrong; by default the first that the sentence names.
    value : optional
        The value that was given.
    """

    def __init__(self, *parts: object, field: str | None = None, value: object = None):
        super().__init__(one_sentence(parts))
        self.parts, self.value = parts, value
        self.field = field or next((part.field for part in parts if isinstance(part, Named)), None)

    @classmethod
    def must_be(
        cls, setting: Named | str, requirement: str, value: object, **attributes: Any
    ) -> InputError:
        """Return the error which says that the ``setting`` must be ``requirement`` but has the value ``value``."""
        setting = Named(setting) if isinstance(setting, str) else setting
        return cls(setting, f" must be {requirement}", Got(value), value=value, **attributes)

    @classmethod
    def whole(cls, setting: Named | str, value: object, low: int, high: int | None = None) -> int:
        """Return the value as an int; raise this error unless it is a whole number of at least ``low``, at most ``high``."""
        number = isinstance(value, Real) and not isinstance(value, bool)
        is_whole = number and low <= value < math.inf and value == int(value)
        if not is_whole or (high is not None and value > high):
            span = f"of at least {low}" if high is None else f"from {low} to {high}"
            raise cls.must_be(setting, f"a whole number {span}", value)
        return int(value)

    @classmethod
    def one_of(cls, setting: Named | str, value: object, names: Collection):
        """Return the value unchanged; raise this error, which lists the ``names``, unless it is one of them."""
        if value not in names:
            raise cls.must_be(setting, f"one of {', '.join(map(str, names))}", value)
        return value

    def within(self, prefix: str) -> InputError:
        """Return the same error with ``prefix`` put in front of its message."""
        return type(self)(prefix, *self.parts, field=self.field, value=self.value)


def plain(name: object) -> str:
    """Return a name in the form in which names are compared: lower case, with hyphens."""
    return str(name)[:LONGEST_SHOWN].lower().replace("_", "-")


def called(names: Iterable) -> dict[str, str]:
    """Return a dict to known names from their `plain` forms and those of their `GUESSES`, which users write for them."""
    names = [*names]
    guesses = {plain(text): name for name in GUESSES if name in names for text in GUESSES[name]}
    return guesses | {plain(name): name for name in names}


def nearest(name: object, names: Iterable, cutoff: float = 0.6) -> str | None:
    """Return the known name that, or one of whose `GUESSES`, is the most similar to ``name``; None if none is similar."""
    name_of = called(names)
    matches = get_close_matches(plain(name), name_of, 1, cutoff) if isinstance(name, str) else []
    return name_of[matches[0]] if matches else None


def nearest_or_all(
    name: object,
    names: Iterable,
    alternative: str = "",
    cutoff: float = 0.6,
    extra_names: Iterable = (),
) -> str:
    """Return the end of an error message on an unknown name: the most similar name, else ``alternative`` or all names."""
    suggestion = nearest(name, [*names, *extra_names], cutoff)
    return (
        alternative or f"there are {', '.join(names)}"
        if suggestion is None
        else f"did you mean '{suggestion}'?"
    )


def one_sentence(parts: Iterable, to_text: Callable[[object], str] = str) -> str:
    """Join the parts of an error message into one line of bounded length; ``to_text`` converts each part to text."""
    text = "".join(map(to_text, parts))
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - END]} … {text[-END:]}"
    return UNSHOWN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class Interrupted(OneSentence, KeyboardInterrupt):
    """Raised when Ctrl-C has stopped a run; ``result`` is the function's result as far as it was computed."""

    def __init__(self, result: object = None):
        super().__init__(
            "stopped by Ctrl-C; what was computed is the attribute result of this exception"
        )
        self.result = result


class Terminated(SystemExit):
    """Raised when SIGTERM has stopped a run, as `Interrupted` is after Ctrl-C; the process ends with status 143."""

    def __init__(self, result: object = None):
        super().__init__(128 + signal.SIGTERM)
        self.result = result


class NoNameError(OneSentence, AttributeError):
    """Raised for a name that the package does not have."""


class DataError(InputError):
    """Raised for invalid data, or for a split that is impossible."""
