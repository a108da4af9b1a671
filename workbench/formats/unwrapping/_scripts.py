"""Reads requests in programs: ``fetch`` and ``axios`` as browsers copy them, ``requests``, PowerShell, SDK calls.

Only literals and values assigned to a name before are known; nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench import regex
from workbench.formats.unwrapping._commands import powershell_text
from workbench.formats.unwrapping._finds import Find, UnreadableFind, json_bytes, pasted_headers, request_find
from workbench.formats.unwrapping._values import JsonTextValue, LiteralCall, UnreadableValue, ValueReader, json_types

CALL = regex.compile(
    r"(?:(?P<fetch>fetch)|(?P<axios>axios(?:\.(?:post|request|get|put))?)"
    r"|(?P<requests>(?:requests|httpx|session|client|s|r|http)\.(?:post|request|put|get|stream))"
    r"|(?P<sdk>[\w.]*\.(?:completions\.(?:create|parse|stream)|messages\.(?:create|stream|parse)"
    r"|responses\.(?:create|parse|stream)|models\.(?:generate_content|generateContent)(?:_stream|Stream)?|chat\.complete)"
    r"|(?:litellm\.)?a?completion))[ \t]*(?=\()"
)
POWERSHELL = regex.compile(r"(?:Invoke-(?:WebRequest|RestMethod)|iwr|irm)\b[^\n]*", re.IGNORECASE)
_OF_THE_SDK = frozenset(
    {"extra_headers", "extra_query", "extra_body", "timeout", "api_key", "base_url", "api_base", "signal"}
)
_OPTION = regex.compile(r"(?<=\s)-(\w+)[ \t]+(?!-[A-Za-z])")
"""An option with a value."""


def read(text: str, found: re.Match[str], names: Mapping[str, Any]) -> Find | None:
    """Request of a call with the name ``found``; None if it is not a request with a body. Raises UnreadableFind."""
    reader = ValueReader(text, names)
    what = _what(found)
    try:
        call = reader.arguments(found.end())
    except UnreadableValue as error:
        line = text.count("\n", 0, error.at) + 1
        raise UnreadableFind(what, f"line {line}: {error.what}") from error
    if found["sdk"]:
        return _sdk(what, call, reader.at, found["sdk"])
    url, options = _url_and_options(found, call)
    body = _first(options, "body", "data", "json", "content", "json_data")
    if isinstance(body, dict) and len(body) == 1 and isinstance(body.get("json"), dict):
        body = body["json"]
    if not isinstance(url, str) or body is None:
        return None
    method = str(_first(options, "method", "type") or "POST")
    headers = pasted_headers(options.get("headers"))
    if isinstance(body, str):
        return request_find(what, reader.at, method=method, url=url, headers=headers, body=json_bytes(body))
    body = body.value if isinstance(body, JsonTextValue) else body
    return request_find(what, reader.at, method=method, url=url, headers=headers, value=body)


def _what(found: re.Match[str]) -> str:
    return next(
        what
        for group, what in (
            ("fetch", "a fetch() call"),
            ("axios", "an axios call"),
            ("requests", "a Python HTTP client call"),
            ("sdk", "an SDK call"),
        )
        if found[group]
    )


def _url_and_options(found: re.Match[str], call: LiteralCall) -> tuple[Any, Mapping[str, Any]]:
    args = list(call.args)
    options: dict[str, Any] = dict(call.named)
    if found["fetch"]:
        options |= args[1] if len(args) > 1 and isinstance(args[1], dict) else {}
        return (args[0] if args else None), options
    if found["axios"]:
        if args and isinstance(args[0], dict):
            return args[0].get("url"), args[0]
        if "." in found["axios"] and len(args) > 1:
            rest = args[2] if len(args) > 2 and isinstance(args[2], dict) else {}
            return args[0], {**rest, "data": args[1]}
        options |= args[1] if len(args) > 1 and isinstance(args[1], dict) else {}
        return (args[0] if args else None), options
    if found["requests"].endswith((".request", ".stream")) and len(args) > 1:
        options.setdefault("method", args.pop(0))
    return options.get("url", args[0] if args else None), options


def _sdk(what: str, call: LiteralCall, end: int, name: str) -> Find | None:
    options = dict(call.named)
    if call.args and isinstance(call.args[0], dict):
        options = {**call.args[0], **options}
    if not options.keys() & {"messages", "input", "contents", "prompt"}:
        return None
    body = {k: v for k, v in options.items() if k not in _OF_THE_SDK}
    extra = options.get("extra_body")
    body |= extra if isinstance(extra, dict) else {}
    if "stream" in name.rpartition(".")[2] and "generate" not in name:
        body.setdefault("stream", True)
    return request_find(what, end, url="", value=body)


def _first(options: Mapping[str, Any], *names: str) -> Any:
    return next((options[n] for n in names if options.get(n) is not None), None)


def read_powershell(text: str, at: int, names: Mapping[str, Any]) -> Find:
    """Request of ``Invoke-WebRequest`` or ``Invoke-RestMethod``; only its end without a body. Raises UnreadableFind."""
    what = "a PowerShell command"
    end = _powershell_end(text, at)
    command = text[at:end]
    options: dict[str, Any] = {}
    position = 0
    while option := _OPTION.search(command, position):
        value, position = _powershell_value(command, option.end(), names, what)
        options[option[1].lower()] = value
    url, body = options.get("uri"), options.get("body")
    if url is None:
        first = re.match(r"\S+[ \t]+[\"']?(https?://[^\s\"']+)", command)
        url = first[1] if first else None
    if not isinstance(url, str) or body is None:
        return Find("", b"", end)
    headers = dict(options["headers"]) if isinstance(options.get("headers"), dict) else {}
    if isinstance(options.get("contenttype"), str):
        headers.setdefault("Content-Type", options["contenttype"])
    method = options.get("method")
    return request_find(
        what, end, method=method if isinstance(method, str) else "POST", url=url, headers=pasted_headers(headers),
        body=json_bytes(json_types(body)) if not isinstance(body, str) else json_bytes(body),
    )  # fmt: skip


def _powershell_end(text: str, at: int) -> int:
    """End of a command: the first line end outside strings and braces and not after a backtick."""
    token = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"`]|`.|\"\")*+\"|`\r?\n|[{(]|[})]|\r?\n|[^'\"`{}()\r\n]+|.", re.DOTALL)
    depth = 0
    while found := token.match(text, at):
        word = found[0]
        if word in ("\n", "\r\n") and depth <= 0:
            return at
        depth += (word in "{(") - (word in "})") if len(word) == 1 else 0
        at = found.end()
    return at


def _powershell_value(command: str, at: int, names: Mapping[str, Any], what: str) -> tuple[Any, int]:
    wrapped = re.compile(r"\(\[System\.Text\.Encoding\]::UTF8\.GetBytes\(").match(command, at)
    at = wrapped.end() if wrapped else at
    if command.startswith('"', at):
        found = re.compile(r'"((?:[^"`]|`.|"")*+)"', re.DOTALL).match(command, at)
        if not found:
            raise UnreadableFind(what, "an unclosed quote")
        return _characters(powershell_text(found[1])), found.end()
    if command.startswith("'", at):
        found = re.compile(r"'((?:[^']|'')*+)'").match(command, at)
        if not found:
            raise UnreadableFind(what, "an unclosed quote")
        return found[1].replace("''", "'"), found.end()
    if command.startswith("@{", at):
        reader = ValueReader(command, names)
        try:
            return reader.value(at + 1), reader.at
        except UnreadableValue as error:
            raise UnreadableFind(what, error.what) from error
    word = re.compile(r"[^\s]+").match(command, at)
    if not word:
        return None, len(command)
    return names.get(word[0].rstrip(")"), word[0]), word.end()


def _characters(text: str) -> str:
    """Replace ``$([char]233)`` by the character."""
    return re.sub(r"\$\(\[char\](0x[0-9a-fA-F]{1,6}|\d{1,7})\)", lambda m: _character(int(m[1], 0)), text)


def _character(code: int) -> str:
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd"
