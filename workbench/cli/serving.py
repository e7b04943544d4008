"""The command that serves the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.flags import Store
from workbench.cli.printing import store_path

OTHERS = "Access for others"


def serve(
    port: Annotated[int, typer.Option("--port", help="Port; 0 = any free port.")] = 5006,
    store: Store = None,
    show: Annotated[bool, typer.Option("--show", help="Open the pages in a browser.")] = False,
    read_only: Annotated[
        bool,
        typer.Option(
            "--read-only", help="Visitors look and download; nothing is started or changed."
        ),
    ] = False,
    max_upload: Annotated[
        float, typer.Option("--max-upload", help="Largest upload, in MB.", metavar="MB")
    ] = 5.0,
    address: Annotated[
        str,
        typer.Option(
            "--address",
            help="Address to listen on: 127.0.0.1 = this machine only; 0.0.0.0 = all networks.",
            rich_help_panel=OTHERS,
        ),
    ] = "127.0.0.1",
    origins: Annotated[
        list[str] | None,
        typer.Option(
            "--origin",
            help="Address of the server in browsers, such as https://stats.example.org; repeatable.",
            metavar="HOST",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix",
            help="Path under which a proxy forwards requests.",
            metavar="PATH",
            rich_help_panel=OTHERS,
        ),
    ] = "",
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            help="File whose first line is the password; only you may read it.",
            metavar="FILE",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    oauth: Annotated[
        str | None,
        typer.Option(
            "--oauth",
            help="OAuth provider to sign in with: github, google, okta, generic …; its key and secret are in "
            "PANEL_OAUTH_KEY and PANEL_OAUTH_SECRET.",
            metavar="PROVIDER",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--user",
            help="Account of the provider that may sign in; repeatable.",
            metavar="NAME",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    no_password: Annotated[
        bool,
        typer.Option(
            "--no-password",
            help="Let anybody in who can reach the server.",
            rich_help_panel=OTHERS,
        ),
    ] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--data",
            help="Folder from which visitors may read corpora; repeatable.",
            metavar="DIR",
            rich_help_panel=OTHERS,
        ),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            help="Upper limit, such as topics=200: start, session, waiting (runs), pages, topics, iterations, memory (GB of "
            "all active runs); inf = no limit. Repeatable.",
            metavar="NAME=N",
            rich_help_panel=OTHERS,
        ),
    ] = None,
) -> None:
    """Serve the pages, by default to this machine only; new runs of the store appear on them."""
    from workbench.dashboard.server.serve import Serving
    from workbench.dashboard.server.serve import serve as serve_pages

    serving = Serving(
        port=port,
        address=address,
        prefix=prefix,
        origins=tuple(origins or ()),
        password_file=password_file,
        oauth=oauth,
        users=tuple(users or ()),
        no_password=no_password,
        read_only=read_only,
        data=tuple(data or ()),
        max_upload=max_upload,
        limits=tuple(limits or ()),
    )
    serve_pages(serving, store_path(store), show)
