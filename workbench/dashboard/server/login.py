"""Sign-in to the server: with its password, or with an account of an OAuth provider.

The pages of Panel's own login are used, with our style and another comparison of passwords.
"""

import asyncio
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from weakref import WeakValueDictionary

import jinja2
import panel as pn
import platformdirs
from panel.auth import AUTH_PROVIDERS, BasicAuthProvider, BasicLoginHandler, OAuthProvider
from tornado.web import HTTPError

from workbench.dashboard.shared.shell import read_style
from workbench.errors import InputError, nearest_or_all

SHORTEST = 8
"""Minimum number of characters of a password."""
AFTER_WRONG = 1.0
"""Seconds until the next try from an address after a wrong password."""
TEMPLATE = jinja2.Environment(autoescape=True).from_string(
    Path(__file__).with_name("login.html").read_text(encoding="utf-8")
)
HERE = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""Pattern of an address of this server, to which a sign-in may redirect."""
VISITOR = "visitor"
"""The user name of everybody who signs in with the password."""
EVERYBODY = "everybody"
_QUEUES: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""Address → the lock that lets it try one password at a time."""


class ServerError(InputError):
    """The error that says in one sentence why the server cannot start."""


def read_password(path: Path) -> str:
    """Return the password in the first line of a file that only its owner can read.

    Raises
    ------
    ServerError
        The file does not exist, others can read it, or the password is too short.
    """
    path = Path(path).expanduser()
    try:
        mode, lines = path.stat().st_mode, path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise ServerError(
            f"the password cannot be read from {path}: {reason}; give a file with it as its first line",
            field="password_file",
        ) from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ServerError(
            f"others can read {path}; `chmod 600 {path}` keeps the password to you",
            field="password_file",
        )
    password = lines[0].strip() if lines else ""
    if len(password) < SHORTEST:
        raise ServerError(
            f"the password in {path} must have at least {SHORTEST} characters; it has {len(password)}",
            field="password_file",
        )
    return password


def cookie_secret(server: str) -> str:
    """Return the secret that signs the cookies of a server; it depends on the user's account and on ``server``.

    Its file lies in the user's state folder, readable only by the owner. ``server`` contains the password or the OAuth key: a
    new password ends all old sign-ins, and servers with different passwords do not accept each other's cookies.
    """
    path = platformdirs.user_state_path("workbench") / "cookie-secret"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new_file = path.with_name(f"{path.name}-{os.getpid()}")
    if not path.exists():
        with open(os.open(new_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        try:
            os.link(new_file, path)  # if two servers start at once, only one makes it
        except FileExistsError:
            pass
        finally:
            new_file.unlink()
    return hmac.new(path.read_bytes(), server.encode(), "sha256").hexdigest()


def password_provider(password: str, prefix: str, secure: bool) -> BasicAuthProvider:
    """Return the sign-in with a password; ``secure``: browsers send the cookie only over https."""
    pn.config.cookie_secret = cookie_secret(f"password {password}")
    settings = {"password": password.encode(), "start": f"{prefix}/compare", "secure": secure}

    class Provider(BasicAuthProvider):
        endpoints = property(lambda self: [(self.login_url, LoginHandler, settings)])

    return Provider()


def oauth_provider(name: str, users: tuple[str, ...]) -> OAuthProvider:
    """Return the sign-in with an OAuth provider, with key and secret in PANEL_OAUTH_KEY and PANEL_OAUTH_SECRET."""
    if name not in AUTH_PROVIDERS:
        raise ServerError(
            f"no provider of OAuth is called '{name}'; {nearest_or_all(name, AUTH_PROVIDERS)}",
            field="oauth",
        )
    if not (pn.config.oauth_key and pn.config.oauth_secret):
        raise ServerError(
            "OAuth needs the key and the secret that its provider gave; set PANEL_OAUTH_KEY and PANEL_OAUTH_SECRET",
            field="oauth",
        )
    if not users:
        raise ServerError(
            f"OAuth lets in whoever has an account with {name}; give --user for each who may, or --user {EVERYBODY}",
            field="users",
        )
    pn.config.oauth_provider = name
    pn.config.cookie_secret = cookie_secret(f"oauth {name} {pn.config.oauth_key}")

    class Provider(OAuthProvider):
        @property
        def get_user_async(self):
            get_known_user = super().get_user_async

            async def get_user(handler):
                user = await get_known_user(handler)
                if user is not None and EVERYBODY not in users and user not in users:
                    raise HTTPError(403, "this account may not come in")
                return user

            return get_user

    return Provider()


class LoginHandler(BasicLoginHandler):
    """The login page for the password; after a wrong password an address has to wait a second."""

    def initialize(self, password: bytes, start: str, secure: bool) -> None:
        self._password, self._start, self._secure = password, start, secure

    def get(self) -> None:
        self._ask()

    async def post(self) -> None:
        queue = _QUEUES.setdefault(self.request.remote_ip, asyncio.Lock())
        async with queue:
            right = hmac.compare_digest(
                self.get_body_argument("password", "", strip=False).encode(), self._password
            )
            if not right:
                await asyncio.sleep(AFTER_WRONG)
        if not right:
            self.set_status(401)
            return self._ask(wrong=True)
        self.set_current_user(VISITOR)
        address = self.get_query_argument("next", "")
        return self.redirect(address if HERE.fullmatch(address) else self._start)

    def _ask(self, wrong: bool = False) -> None:
        self.write(TEMPLATE.render(style=read_style("page.css"), wrong=wrong))

    def set_secure_cookie(self, name, value, **settings) -> None:
        super().set_secure_cookie(
            name, value, **settings | {"samesite": "Lax", "secure": self._secure}
        )
