"""The command line. Results for programs go to stdout (``--json``), everything for people to stderr.

Exit status: 0 done, 2 wrong input (one line says what and how to mend it), 130 interrupted and
resumable, 1 anything else.
"""

from __future__ import annotations

import os
import sys
import traceback

import typer
from typer.exceptions import TyperException

from workbench.cli import about, fitting, stored
from workbench.cli.printing import wrong_input


class _Commands(typer.core.TyperGroup):
    """The commands; Ctrl-C comes out as an Abort, which typer would turn into a silent exit otherwise."""

    def invoke(self, context):
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            raise typer.Abort from None


app = typer.Typer(
    name="workbench", help="Bayesian topic models, compared live.", no_args_is_help=True, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]}, cls=_Commands,
)
for module in (fitting, stored, about):
    module.add_to(app)


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    try:
        status = typer.main.get_command(app)(args=arguments, prog_name="workbench", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except TyperException as error:
        message = error.format_message()
        return _say(message, 2) if message else 2  # empty: the help was printed
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted; what a run has committed is kept, and `workbench resume RUN` goes on", 130)
    except wrong_input() as error:
        return _say(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("WORKBENCH_DEBUG"):
            traceback.print_exc()
        return _say(f"{type(error).__name__}: {error} (WORKBENCH_DEBUG=1 shows where)", 1)


def _say(message: str, status: int) -> int:
    print("workbench: " + " ".join(message.split()), file=sys.stderr)
    return status


def entry() -> None:
    """The console script."""
    sys.exit(main())
