"""Pages that are made from the code: Python, command line, engines, variables, schema of the store; and types for editors.

python docs/site/generated.py writes docs/engines.md and workbench/choices.pyi again, which are in the repository.
"""

import inspect
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

PYTHON = {
    "corpora": ("Corpora and splits", ("corpus",)),
    "records": ("Records", ("records", "runs.loading")),
    "models": ("Models and engines of your own", ("models", "engines")),
    "runs": ("Fitting and runs", ("runs", "errors")),
    "results": ("Measures, reports and views", ("measures", "report", "papers", "dashboard")),
}
"""The pages of Python: title, and the modules whose public names are on it; a name is on the page that fits best."""
COMMANDS = """# Command line

`workbench COMMAND --help` prints the same. Results go to stdout, as tables or as JSON (`--json`); progress and messages go to
stderr. Exit status: 0 done, 2 wrong input, 130 interrupted and resumable,
143 the same after SIGTERM, 1 anything else.
"""
ENGINES_TABLE = """# The engines

{first_choice} [Which engine when](explanation/which_engine.md) explains the choice, and
`workbench engines ENGINE` prints the options.

This page is written by `python docs/site/generated.py`.

| name | method | when | source |
|---|---|---|---|
"""
VARIABLES = """# Variables

Every array of a run's Dataset, from `wb.VARIABLES`: dims in order, unit, and what it means.

| name | dims | unit | what it means |
|---|---|---|---|
"""
CHOICES = '''"""Names of engines, data sets, settings and options, for editors; written by python docs/site/generated.py."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

import xarray as xr
from numpy.typing import ArrayLike

from workbench.corpus import Corpus
from workbench.models.model import Model
from workbench.runs.execution.run import Run

'''


def write_pages(folder: Path) -> None:
    """Writes all pages into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        **python_pages(),
        "command_line": command_line(),
        "engines": engines(),
        "variables": variables(),
        "store": store(),
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def rst(*lines: str) -> str:
    """Lines of reStructuredText, which autodoc writes, within Markdown."""
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def public_names() -> dict[str, str]:
    """The public names of the package and the module that each is imported from."""
    import workbench

    return dict(sorted(workbench._HOME_OF.items()))


def page_of(home: str) -> str:
    """The page on which the names of a module are: the one with the longest beginning of its path."""
    path = home.removeprefix("workbench.")
    return max(
        (len(start), page)
        for page, (_, starts) in PYTHON.items()
        for start in starts
        if path.startswith(start)
    )[1]


def python_pages() -> dict[str, str]:
    """A page for each group of public names, made by autodoc, and one each for the modules that are public as a whole."""
    import workbench

    listed = {page: [] for page in PYTHON}
    for name, home in public_names().items():
        listed[page_of(home)].append(name)
    pages = {}
    for page, names in listed.items():
        head = f"# {PYTHON[page][0]}\n\nEach name is in `workbench` itself: `import workbench as wb`, then `wb.NAME`.\n\n"
        pages[f"python_{page}"] = head + "\n".join(
            documented(f"workbench.{name}") for name in modules_last(names)
        )
    for module in ("measures", "views"):
        names = [
            name
            for name in getattr(workbench, module).__all__
            if callable(getattr(getattr(workbench, module), name))
        ]
        head = f"# wb.{module}\n\n{first_line(getattr(workbench, module))}\n\n"
        pages[f"python_{module}"] = head + "\n".join(
            documented(f"workbench.{module}.{name}") for name in names
        )
    head = f"# wb.sklearn\n\n{first_line(workbench.sklearn)}\n\n"
    return pages | {"python_sklearn": head + documented("workbench.sklearn.TopicModel")}


def modules_last(names: list[str]) -> list[str]:
    """Names in their order, those of modules behind the others: each has a heading."""
    import workbench

    return sorted(names, key=lambda name: inspect.ismodule(getattr(workbench, name)))


def documented(path: str) -> str:
    """The directive of autodoc for a public name."""
    home, name = path.rsplit(".", 1)
    value = getattr(__import__(home, fromlist=[name]), name)
    if inspect.isclass(value):
        return rst(
            f".. autoclass:: {path}",
            *(("   :members:",) if not issubclass(value, BaseException) else ()),
        )
    if inspect.ismodule(value):
        return f"## wb.{name}\n\n" + rst(f".. automodule:: {value.__name__}", "   :members:")
    if callable(value):
        return rst(f".. autofunction:: {path}")
    return f"**workbench.{name}**: a {type(value).__name__}, [listed here]({name.lower()}.md).\n"


def first_line(value) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(value) or "").split("\n")[0]


def cell(text) -> str:
    """Text that can stand in a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def command_line() -> str:
    """The page of every command, its arguments and options, as typer knows them."""
    import typer

    from workbench.cli.app import app

    parts = [COMMANDS]
    group = typer.main.get_command(app)
    for name, command in commands_of(group, "workbench"):
        parts += [
            f"## {name}",
            "",
            *paragraphs(command.help),
            "",
            "```text",
            f"{name} {usage(command)}",
            "```",
            "",
        ]
        rows = [
            (parameter_name(each), cell(getattr(each, "help", "") or ""), default_of(each))
            for each in command.params
            if not getattr(each, "hidden", False) and each.name != "help"
        ]
        if rows:
            parts += ["| argument or option | what | default |", "|---|---|---|"]
            parts += [f"| {name} | {what} | {default} |" for name, what, default in rows]
            parts.append("")
    return "\n".join(parts)


def commands_of(command, name: str) -> list:
    """The commands of a group and of the groups within it, with their full names, in the order of the help."""
    if not hasattr(command, "commands"):
        return [] if command.hidden else [(name, command)]
    return [
        found
        for key, each in command.commands.items()
        for found in commands_of(each, f"{name} {key}")
    ]


def paragraphs(text: str | None) -> list[str]:
    """The help of a command as Markdown: backticks as they are, no indentation, no mark of a wrapped line."""
    return [line.strip().replace("\b", "") for line in inspect.cleandoc(text or "").splitlines()]


def usage(command) -> str:
    """What follows the name of a command: options, then arguments in their order."""
    return " ".join(command.collect_usage_pieces(command.context_class(command)))


def parameter_name(parameter) -> str:
    """Flags of an option, or the name of an argument, in code."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    return ", ".join(f"`{flag}`" for flag in [*parameter.opts, *parameter.secondary_opts])


def default_of(parameter) -> str:
    """The default of a parameter; empty where there is none, or where it is no text or number."""
    value = parameter.default
    if (
        value is None
        or value is False
        or value == []
        or value == ()
        or callable(value)
        or "Sentinel" in type(value).__name__
    ):
        return ""
    return f"`{cell(value)}`"


def engines() -> str:
    """The page of every engine: method, source, when to take it, what it samples and records, its options."""
    from workbench.engines import ENGINES, FIRST_CHOICE, get_engine

    parts = ["# Engines", "", FIRST_CHOICE, ""]
    for name in ENGINES:
        engine = get_engine(name)
        parts += [
            f"## {name}",
            "",
            f"{engine.title}. {engine.source}.",
            "",
            cell(engine.when or ""),
            "",
        ]
        if engine.watches:
            parts += [
                "Records, beside the perplexities: "
                + ", ".join(f"`{each}`" for each in engine.watches)
                + ".",
                "",
            ]
        parts += options_table(engine.options)
    return "\n".join(parts)


def engines_table() -> str:
    """The page docs/engines.md: every engine with its method, its source and when to use it."""
    from workbench.engines import ENGINES, FIRST_CHOICE, get_engine

    rows = [
        f"| `{name}` | {cell(engine.title)} | {cell(engine.when or '')} | {cell(engine.source)} |\n"
        for name, engine in ((name, get_engine(name)) for name in ENGINES)
    ]
    return ENGINES_TABLE.format(first_choice=FIRST_CHOICE) + "".join(rows)


def choices() -> str:
    """The file workbench/choices.pyi: names of engines and data sets, and what fit and others take as ``**settings``."""
    import workbench as wb
    from workbench.corpus.texts.counting import TEXT_OPTIONS
    from workbench.engines import ENGINES, get_engine
    from workbench.engines.options import options_of

    types: dict[str, dict] = {}
    for name in ENGINES:
        for option, field in options_of(get_engine(name)).items():
            types.setdefault(option, {}).update(dict.fromkeys(type_of(field.metadata)))
    options = {option: " | ".join(sorted(found)) for option, found in types.items()}
    taken = {name: settings_of(getattr(wb, name)) for name in ("fit", "start", "compare", "sweep")}
    elsewhere = {name for settings in taken.values() for name in settings} & {*options}
    named = {"EngineName": ENGINES, "DataName": wb.data_sets(), "RecordName": wb.record_sets()}
    parts = [f"{name} = {literal(values, lines=True)}" for name, values in named.items()]
    parts += typed(
        "Options(TypedDict, total=False)",
        {name: type for name, type in options.items() if name not in elsewhere},
    )
    for name, settings in taken.items():
        own = {option: options[option] for option in sorted(elsewhere) if option not in settings}
        parts += typed(f"{name.title()}Settings(Options, total=False)", settings | own)
    of_text = {name: type for name, type in taken["fit"].items() if name in TEXT_OPTIONS}
    readers = {
        "Corpus": (wb.read_corpus, of_text, wb.data_sets()),
        "Record": (wb.read_records, {}, wb.record_sets()),
    }
    for name, (reader, more, sets) in readers.items():
        of_sets = {
            option: type(default).__name__
            for data_set in sets.values()
            for option, default in data_set.options.items()
            if default is not None
        }
        of_file = optional(reader) | more
        parts += typed(f"{name}Settings(TypedDict, total=False)", of_sets | of_file)
    return CHOICES + "\n".join(parts) + "\n"


def settings_of(function) -> dict[str, str]:
    """The types of the settings that a function takes as ``**settings``, by name."""
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: type for name, type in optional(function).items() if name not in named}


def optional(function) -> dict[str, str]:
    """The types of the parameters of a function that have a default."""
    return {
        name: written(one.annotation)
        for name, one in inspect.signature(function).parameters.items()
        if one.default is not one.empty
    }


def written(annotation) -> str:
    """The text of a type, without modules that the file imports from."""
    return re.sub(r"(collections\.abc|pathlib)\.|'", "", inspect.formatannotation(annotation))


def typed(head: str, types: dict[str, str]) -> list[str]:
    """The lines of a class with these items."""
    return ["", f"class {head}:", *(f"    {name}: {type}" for name, type in types.items())]


def literal(values, lines: bool = False) -> str:
    """The type of one of some values; with one on each line."""
    texts = [f'"{value}"' for value in values]
    return (
        "\n".join(["Literal[", *(f"    {text}," for text in texts), "]"])
        if lines
        else f"Literal[{', '.join(texts)}]"
    )


def type_of(about) -> list[str]:
    """The types of an option for a type checker, Literals first."""
    if True in about["choices"]:
        return ["bool"]
    if about["choices"]:
        return [literal(about["choices"]), *of_others(about["otherwise"])]
    return ["int" if about["whole"] else "float", *['Literal["inf"]'] * about["infinite"]]


def of_others(function) -> list[str]:
    """The types of what an option may be besides its choices: of the function's parameter, or text and numbers."""
    if not inspect.isfunction(function):
        return ["str", "float"] * bool(function)
    first = next(iter(inspect.signature(function).parameters.values()))
    return ["str", "float"] if first.annotation is first.empty else [written(first.annotation)]


def options_table(options) -> list[str]:
    """The options of an engine as a table; a sentence where it has none."""
    from workbench.models.options import option_fields

    found = option_fields(options)
    if not found:
        return ["No options.", ""]
    rows = ["| option | default | values | what |", "|---|---|---|---|"]
    rows += [
        f"| `{name}` | `{cell(field.default)}` | {values_of(field.metadata)} | {cell(field.metadata['help'])} |"
        for name, field in found.items()
    ]
    return [*rows, ""]


def values_of(about) -> str:
    """Which values an option takes."""
    if about["choices"]:
        return ", ".join(f"`{each}`" for each in about["choices"])
    limits = [
        f"{words} {about[end]}"
        for words, end in (("at least", "low"), ("at most", "high"))
        if about[end] is not None
    ]
    return ", ".join(
        [
            "whole number" if about["whole"] else "number",
            *limits,
            *(["or inf"] if about["infinite"] else []),
        ]
    )


def variables() -> str:
    """The page of all named arrays of a run."""
    import workbench

    named = workbench.VARIABLES.values()
    rows = [
        (f"`{each.name}`", ", ".join(each.dims), each.unit or "none", cell(each.meaning))
        for each in named
    ]
    return VARIABLES + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def store() -> str:
    """The page of the files of a run, from the docstring of the module that writes them."""
    return "# Schema of the store\n\n" + rst(
        ".. automodule:: workbench.runs.store.layout", "   :no-members:"
    )


if __name__ == "__main__":
    (ROOT / "docs" / "engines.md").write_text(engines_table(), encoding="utf-8")
    (ROOT / "workbench" / "choices.pyi").write_text(choices(), encoding="utf-8")
