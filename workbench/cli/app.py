"""The application with all commands, and the exit status of their errors."""

import os
import sys
import traceback

import typer
from typer.exceptions import TyperException

from workbench.cli import (
    about,
    end_with,
    fitting,
    inferring,
    reproducing,
    stored,
    streaming,
)
from workbench.cli.completing import complete_values
from workbench.cli.flags import Command, unreadable


class _Commands(typer.core.TyperGroup):
    """The group of all commands; Ctrl-C raises Abort, which typer would otherwise turn into a silent exit."""

    def invoke(self, context):
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            raise typer.Abort from None


app = typer.Typer(
    name="workbench",
    help="Bayesian topic models, compared live.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    cls=_Commands,
)
PANELS = {
    "Fit": (
        fitting.fit,
        fitting.compare,
        fitting.sweep,
        fitting.resume,
        streaming.fit_stream,
        streaming.update,
    ),
    "Runs": (
        stored.runs,
        stored.show,
        stored.pause,
        stored.retune,
        stored.branch,
        stored.stop,
        stored.remove,
        stored.note,
        stored.label,
        stored.edit,
        stored.import_,
    ),
    "Results": (
        stored.topics,
        stored.documents,
        stored.figures,
        stored.report,
        stored.export,
        inferring.infer,
        inferring.bound,
        inferring.audit,
    ),
    "Papers": (reproducing.reproduce, reproducing.ledger),
    "Pages, data and installation": (about.serve, about.engines, about.doctor),
}
"""The commands of each panel of the help."""
for panel, commands in PANELS.items():
    for command in commands:
        name = command.__name__.rstrip("_").replace("_", "-")
        app.command(name, rich_help_panel=panel)(command)
app.add_typer(about.data, name="data", rich_help_panel=panel)
app.callback(no_args_is_help=True)(about.version)
complete_values(app, Command)


def run_command(arguments: list[str] | None) -> int:
    """Run one command and return its exit status; an error is one line on stderr.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C.
    """
    try:
        status = typer.main.get_command(app)(
            args=arguments, prog_name="workbench", standalone_mode=False
        )
        sys.stdout.flush()  # a reader that has gone is noticed here and not at the end of the interpreter
        return status if isinstance(status, int) else 0
    except TyperException as error:
        message = (
            unreadable(error) if isinstance(error, typer.BadParameter) else error.format_message()
        )
        return end_with(message, 2) if message else 2  # empty: the help was printed
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("WORKBENCH_DEBUG"):
            traceback.print_exc()
        return end_with(f"{type(error).__name__}: {error} (WORKBENCH_DEBUG=1 shows where)", 1)
