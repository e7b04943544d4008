"""Flags that commands share; flags of run settings are generated from the descriptions of the settings."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import Field, fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from workbench.cli import end_with
from workbench.cli.completing import figure_formats
from workbench.cli.printing import say, saying_warnings
from workbench.corpus import Corpus
from workbench.corpus.quality import describe_quality
from workbench.engines import get_engine
from workbench.errors import ALONE, Got, InputError, Named, one_sentence
from workbench.runs.settings import (
    SETTINGS,
    ModelSettings,
    RunSettings,
    SplitSettings,
    StartSettings,
    names,
)


def flag_of(setting: Field):
    """Return the typer flag of a setting from its description."""
    flags, help, metavar = (setting.metadata[name] for name in ("flags", "help", "metavar"))
    return typer.Option(*flags.split(), help=help, metavar=metavar)


STARTS = {each.name: each for each in fields(StartSettings)}

CorpusName = Annotated[
    str,
    typer.Argument(metavar="CORPUS", help="A name of `workbench data list`, or a file or folder."),
]
Engine = Annotated[str, typer.Option("--engine", "-e", help="A name of `workbench engines`.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="Option of the engine, such as r=1."),
]
Seeds = Annotated[int, flag_of(STARTS["seeds"])]
Jobs = Annotated[int, flag_of(STARTS["jobs"])]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Compute the runs on the workers of a Dask cluster: tcp://host:port, or local. See 'On a cluster' in "
        "the documentation.",
    ),
]
Parts = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Share the shards of the corpus among the workers of a Dask cluster: tcp://host:port, or local. See "
        "'On a cluster' in the documentation.",
    ),
]
Inferring = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Infer the documents on the workers of a Dask cluster: tcp://host:port, or local. See 'On a cluster' in "
        "the documentation.",
    ),
]
Store = Annotated[
    Path | None,
    typer.Option("--store", help="Folder of the runs; default: $WORKBENCH_STORE or ./runs."),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="Name of a run in the store, or its path.")
]
RunNames = Annotated[
    list[str], typer.Argument(metavar="RUN…", help="Names of runs in the store, or their paths.")
]
Formats = Annotated[
    str,
    typer.Option(
        "--format",
        help="Formats, separated by commas: svg, pdf, png.",
        autocompletion=figure_formats,
    ),
]
FORMATS = "svg,pdf,png"
Threads = Annotated[int, flag_of(SETTINGS["n_threads"])]
Test = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="CORPUS",
        help="Held-out tokens of the same documents, as a file of a store; instead of a held-out share.",
    ),
]
Vocabulary = Annotated[
    Path | None, typer.Option("--vocabulary", help="Vocabulary file of a bag-of-words corpus.")
]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="NAME=VALUE",
        help="How to read the file: text=COLUMN, title=, label=, min_documents=5 …; for "
        "records fields=A,B, missing=NA, multiplicity=N.",
    ),
]
Detach = Annotated[bool, typer.Option("--detach", help="Run in the background and return at once.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
KEYWORD = Parameter.KEYWORD_ONLY
SHARED = {
    "options": (Options, None),
    "store": (Store, None),
    "start": (Annotated[str | None, flag_of(STARTS["start"])], None),
    "vocabulary": (Vocabulary, None),
    "read": (Read, None),
    "detach": (Detach, False),
    "quiet": (Quiet, False),
    "json": (Json, False),
}
"""Flags, besides settings, of every command that creates runs: their types and defaults."""
FOLLOWING = {
    "seed": ("seeds", "jobs", "options", *names(SplitSettings), "test"),
    "snapshot_every": ("store", "scheduler", "name", "restarts", "start", "warm"),
    "n_threads": ("vocabulary", "read", "detach", "quiet", "json"),
}
"""Setting of the model or of the run → the flags that follow it in the help."""


def with_settings(command: Callable, only: Collection[str] = (*SETTINGS, *SHARED)) -> Callable:
    """Return the command with ``**flags`` replaced by the run-setting and shared flags in ``only``, by default all."""
    types = get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(annotation=types[parameter.name])
        for parameter in signature(command).parameters.values()
        if parameter.name != "flags"
    ]
    for name, setting in SETTINGS.items():
        if name not in only:
            continue
        annotation = Annotated[setting.type, flag_of(setting)]
        parameters.append(Parameter(name, KEYWORD, default=setting.default, annotation=annotation))
    shared = {name: SHARED[name] for name in SHARED if name in only}
    parameters += [
        Parameter(name, KEYWORD, default=default, annotation=type)
        for name, (type, default) in shared.items()
    ]
    settings = names(ModelSettings) + names(RunSettings)
    order = [
        name
        for setting_name in settings
        for name in (setting_name, *FOLLOWING.get(setting_name, ()))
    ]
    parameters.sort(
        key=lambda parameter: order.index(parameter.name) if parameter.name in order else -1
    )
    command.__signature__ = signature(command).replace(
        parameters=[parameter.replace(kind=KEYWORD) for parameter in parameters]
    )
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def settings_of(flags: dict) -> dict:
    """Return the settings of a run as Python arguments, from the values of the flags."""
    from workbench.runs.execution.run import find_run

    return {name: flags[name] for name in SETTINGS} | {
        "alpha": parse_alpha(flags["alpha"]),
        "sizes": parse_sizes(flags["sizes"]),
        "options": parse_options(flags["options"]),
        "start": None if flags["start"] is None else find_run(flags["start"], flags["store"]),
    }


def load_documents(
    corpus: str,
    vocabulary: Path | None,
    read: list[str] | None,
    engine: str | None = None,
    counted: dict | None = None,
):
    """Load data by name or path as the flags say: records if the engine needs them, otherwise a corpus.

    ``counted``: options with which raw text is counted unless the flags say otherwise, as in the spec of a run.
    """
    from workbench.runs.loading import load_data

    kind = get_engine(engine).model.data if engine else Corpus
    options = reading_options(vocabulary, read, kind is Corpus) | (
        {"counted": counted} if counted else {}
    )
    with saying_warnings():
        return load_data(corpus, kind, **options)


def reading_options(
    vocabulary: Path | None, read: list[str] | None, of_corpus: bool = True
) -> dict:
    """Return the reading options as arguments of `load_corpus` or `load_records`."""
    options = parse_options(read, "read", lambda value: True)
    if of_corpus:  # those of records are all text
        options = {name: _scalar(value) for name, value in options.items()}
    return options | ({"vocabulary": vocabulary} if vocabulary else {})


def load_training_data(*arguments):
    """Load data as `load_documents` does; print a line about empty documents and one about duplicates."""
    data = load_documents(*arguments)
    if getattr(data, "table", None) is not None and data.table.texts is not None:
        for sentence in describe_quality(data):
            say(sentence)
    return data


def _scalar(text: str):
    """Parse a JSON number, null, or text in double quotes; return None for empty text, and other text unchanged."""
    try:
        value = json.loads(text or "null")
    except ValueError:
        return text
    return value if value is None or isinstance(value, int | float | str) else text


def split_pairs(
    pairs: list[str] | None, message: str, field: str, is_value: Callable[[str], object] = bool
) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each ``name=value`` flag; raise InputError for a flag of another form."""
    for pair in pairs or []:
        name, value = (part.strip() for part in pair.partition("=")[::2])
        if not name or not is_value(value):
            raise InputError(message, Got(pair), field=field, value=pair)
        yield name, value


def parse_options(
    pairs: list[str] | None, field: str = "options", is_value: Callable[[str], object] = bool
) -> dict[str, str]:
    """Parse ``name=value`` flags into a dict."""
    return dict(
        split_pairs(pairs, "an option is written name=value, as in --option r=1", field, is_value)
    )


def parse_turns(texts: list[str] | None) -> list[tuple[int, dict[str, str]]]:
    """Parse flags such as ``50:r=2,alpha=0.05`` into interventions: (iteration, values by setting)."""
    message, turns = "a setting is turned as iteration:name=value, as in --turn 50:r=2", []
    for text in texts or []:
        iteration, _, pairs = text.partition(":")
        if not iteration.strip().isdecimal():
            raise InputError(message, Got(text), field="interventions", value=text)
        turns.append(
            (int(iteration), dict(split_pairs(pairs.split(","), message, "interventions")))
        )
    return turns


def parse_sizes(pairs: list[str] | None) -> dict[str, int] | None:
    """Parse flags such as ``super=5`` into sizes by name; return None if there are none."""
    sizes = split_pairs(
        pairs, "a size is written name=number, as in --size super=5", "sizes", str.isdecimal
    )
    return {name: int(value) for name, value in sizes} or None


def parse_alpha(text: str | None) -> float | tuple[float, ...] | None:
    """Parse alpha: one number, or one per topic separated by commas; return None for None."""
    if text is None:
        return None
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError.must_be(
            "alpha", "a number, or one per topic separated by commas", text
        ) from None
    return values[0] if len(values) == 1 else values


class Command(typer.core.TyperCommand):
    """A command that reports wrong input in one sentence, with settings named by their flags, and exits with status 2."""

    def invoke(self, context):
        try:
            return super().invoke(context)
        except InputError as error:
            return end_with(self.worded(error), 2)

    def worded(self, error: InputError) -> str:
        """Return the message of an error with settings named by their flags."""
        flags = {
            parameter.name: parameter.opts[0]
            for parameter in self.params
            if parameter.opts[0].startswith("--")
        }

        def named(part) -> str:
            return (
                flags.get(part.field, str(part))
                if isinstance(part, Named) and part.value is ALONE
                else str(part)
            )

        return one_sentence(error.parts, named)


def unreadable(error: typer.BadParameter) -> str:
    """Return the message for a value that does not have the type of its flag or argument."""
    # of pydantic, which typer reads values with
    problems = getattr(error.__cause__, "errors", None)
    if problems is None:
        return error.format_message()
    kind, value, parameter = problems()[0]["type"], problems()[0]["input"], error.param
    expected = {"int": "a whole number", "float": "a number"}.get(
        kind.partition("_")[0], "what its help says"
    )
    flag = parameter.opts[0]
    name = flag if flag.startswith("--") else parameter.metavar.strip("[]…")
    return f"{name} must be {expected}; got {value!r}"
