"""Commands about the engine itself."""

from __future__ import annotations

from pyengine import __version__
from pyengine.protocols.gtp.client import Client, Handler
from pyengine.protocols.gtp.syntax import exactly


def _protocol_version(_: Client, _arguments: list[str]) -> str:
    return "2"


def _name(client: Client, _: list[str]) -> str:
    return client.settings.name


def _version(_: Client, _arguments: list[str]) -> str:
    return __version__


def _known_command(client: Client, arguments: list[str]) -> str:
    return str(exactly(arguments, 1)[0] in client.commands).lower()


def _list_commands(client: Client, _: list[str]) -> str:
    return "\n".join(sorted(client.commands))


def _quit(client: Client, _: list[str]) -> str:
    client.quit()
    return ""


def _stop(client: Client, _: list[str]) -> str:
    client.pondered = None  # the line itself has ended an analysis
    return ""


def _clear_cache(client: Client, _: list[str]) -> str:
    client.session.engine.clear()
    return ""


def _seconds_used(client: Client, _: list[str]) -> str:
    return f"{client.thinking_seconds:.3f}"


def _describe_engine(client: Client, _: list[str]) -> str:
    evaluator = client.session.engine.evaluator
    return f"{client.settings.name} {__version__}\n{client.game}, {evaluator!r}"


COMMANDS: dict[str, Handler] = {
    "protocol_version": _protocol_version,
    "name": _name,
    "version": _version,
    "known_command": _known_command,
    "list_commands": _list_commands,
    "quit": _quit,
    "stop": _stop,
    "clear_cache": _clear_cache,
    "cputime": _seconds_used,
    "gomill-cpu_time": _seconds_used,
    "gomill-describe_engine": _describe_engine,
}
