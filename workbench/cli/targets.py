"""List the targets for requests: simulators, your own targets, known providers, and servers on this machine.

  sim:CONTRACT   the embedded simulator of a contract; needs no setup
  your own       in ~/.config/workbench/targets.yaml, or $XDG_CONFIG_HOME/workbench/targets.yaml:

    targets:
      gateway:
        base_url: https://gateway.example/v1
        protocol: openai-chat                # or several: [openai-chat, anthropic-messages]
        model: my-model                      # replaces the request's model
        profile: deepseek:v4                 # contract to check requests by
        key_variable: GATEWAY_KEY            # name of the variable, never the key
        headers: {x-team: tools, x-token: "${TEAM_TOKEN}"}

  providers      by the names of their contracts; they need only a key in the environment
  --local        looks for servers on their default port on this machine: vllm 8000, sglang 30000, llama.cpp 8080,
                 ollama 11434, lm-studio 1234; these names are targets, too

A key is read from the environment when a request is sent, is sent only to the scheme, host and port that it is
configured for, and is never written. This list shows whether a key is set, never the key.

JSON output is one object:
  {"file", "simulators": [{"name", "title", "protocols", "variants"}],
   "targets": [{"name", "url", "protocols", "model", "profile", "key_variable", "key_set", "headers"}],
   "providers": [the same], "local": [{"server", "url", "protocols", "models"}] | null}
"file" is the path of targets.yaml; "headers" are names of extra headers; "server" is null if unknown; "local" is null
without --local.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.send import LocalServer, Target

NAME = "targets"
HELP = "list the targets for requests"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--local", action="store_true", help="look for servers on this machine")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the targets."""
    import asyncio

    from workbench.send import local, own_targets, providers

    own, known = own_targets.configured_targets(), providers()
    here = asyncio.run(local.find_servers()) if args.local else None
    if args.format == "json":
        _output.emit_json(_as_json(own, known, here))
    else:
        _print(own, known, here)
    return 0


def _as_json(
    own: Mapping[str, Target], known: Mapping[str, Target], here: tuple[LocalServer, ...] | None
) -> dict[str, JsonValue]:
    from workbench import contracts
    from workbench.send import own_targets

    return {
        "file": str(own_targets.path()),
        "simulators": [
            {
                "name": f"sim:{name}",
                "title": contracts.read(name).title,
                "protocols": list(contracts.protocols(name)),
                "variants": [v.name for v in contracts.read(name).variants],
            }
            for name in contracts.names()
        ],
        "targets": [_target_json(each) for each in own.values()],
        "providers": [_target_json(each) for each in known.values()],
        "local": None if here is None else [_local_json(each) for each in here],
    }


def _target_json(target: Target) -> dict[str, JsonValue]:
    from workbench.send import is_set

    return {
        "name": target.name,
        "url": target.url,
        "protocols": list(target.protocols),
        "model": target.model or None,
        "profile": target.contract or None,
        "key_variable": target.key_variable or None,
        "key_set": is_set(target.key_variable, os.environ) if target.key_variable else None,
        "headers": [name for name, _ in target.headers],
    }


def _local_json(local_server: LocalServer) -> dict[str, JsonValue]:
    return {
        "server": local_server.server or None,
        "url": local_server.url,
        "protocols": list(local_server.protocols),
        "models": list(local_server.models),
    }


def _print(own: Mapping[str, Target], known: Mapping[str, Target], here: tuple[LocalServer, ...] | None) -> None:
    from workbench import contracts
    from workbench.send import own_targets

    _output.emit("simulators (no setup needed)")
    _table((f"sim:{name}", ", ".join(contracts.variants(name)[1:]), "") for name in contracts.names())
    _output.emit()
    _output.emit(f"your own ({own_targets.path()})")
    _table(_row(each) for each in own.values()) if own else _output.emit(
        "  none: see workbench targets --help for the format"
    )
    _output.emit()
    _output.emit("providers (a key is needed)")
    _table(_row(each) for each in known.values())
    if here is not None:
        _output.emit()
        _output.emit("on this machine")
        _table((each.server or "unknown", each.url, _local_words(each)) for each in here)
        if not here:
            _output.emit("  no server responds on the default ports")


def _row(target: Target) -> tuple[str, str, str]:
    from workbench.send import is_set

    state = "set" if is_set(target.key_variable, os.environ) else "not set"
    key = f"{target.key_variable} ({state})" if target.key_variable else "no key"
    return target.name, target.url, " · ".join(filter(None, (", ".join(target.protocols), target.model, key)))


def _local_words(local_server: LocalServer) -> str:
    models = ", ".join(local_server.models[:3]) + (
        f" and {len(local_server.models) - 3} more" if len(local_server.models) > 3 else ""
    )
    return f"{', '.join(local_server.protocols)} · {models or 'no model'}"


def _table(rows: Iterable[tuple[str, str, str]]) -> None:
    listed = list(rows)
    widths = [max((len(row[n]) for row in listed), default=0) for n in (0, 1)]
    for name, where, what in listed:
        _output.emit(_output.cut(f"  {name:<{widths[0]}}  {where:<{widths[1]}}  {what}".rstrip()))
