"""What a server has listed and a client has asked for, and what of a connection contradicts it.

Prompts with their arguments, resources, tools that run as tasks, subscriptions, the level of log messages, and requests
that are to be repeated with input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from workbench.ir import JsonValue
from workbench.protocols.mcp.revisions import STATELESS
from workbench.undo_log import Journal

T = TypeVar("T")

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Levels of log messages, the lowest first (RFC 5424)."""

_NOT_FOUND = (-32002, -32602)
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_LISTENED = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
"""Notification → the member of ``subscriptions/listen`` that asks for it, since revision 2026-07-28."""

_MOST = 4096
"""Entries of a list that are remembered."""


class CatalogueLapse(NamedTuple):
    """A message that contradicts what was listed, or asked for, before.

    Attributes:
        kind: as of a ``Lapse``.
        is_of_client: the client sent it.
        pointer: in the message.
        text: what is wrong, in words.
    """

    kind: str
    is_of_client: bool
    pointer: str
    text: str


class Catalogue:
    """Remembers lists and subscriptions of one connection.

    Args:
        journal: takes back what was learned from messages that are read again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._prompts: dict[str, Mapping[str, bool]] = {}  # name → arguments, and whether they are required
        self._resources: dict[str, None] = {}
        self._task_support: dict[str, str] = {}
        self._subscribed: dict[str, None] = {}
        self._level = {"": 0}
        self._listening: dict[str, JsonValue] = {}  # id of subscriptions/listen → its filter
        self._state: dict[tuple[str, str], tuple[JsonValue, frozenset[str], str]] = {}

    def of_request(
        self, method: str, message: Mapping[str, JsonValue], params: Mapping[str, JsonValue], server: JsonValue
    ) -> Iterator[CatalogueLapse]:
        """What a request of the client contradicts.

        Args:
            server: capabilities of the server; None if they are unknown.
        """
        if method == "prompts/get":
            yield from self._of_prompt(params)
        elif method == "tools/call":
            yield from self._of_task(params, server)
        yield from self._of_repetition(method, message, params)
        uri, level = params.get("uri"), params.get("level")
        if method == "resources/subscribe" and isinstance(uri, str):
            self._journal.put(self._subscribed, uri, None)
        elif method == "logging/setLevel" and level in LEVELS:
            self._journal.put(self._level, "", LEVELS.index(str(level)))
        elif method == "subscriptions/listen":
            self._journal.put(self._listening, repr(message.get("id")), params.get("notifications"))

    def _of_prompt(self, params: Mapping[str, JsonValue]) -> Iterator[CatalogueLapse]:
        name, arguments = params.get("name"), params.get("arguments")
        known = self._prompts.get(str(name))
        if known is None:
            if self._prompts and isinstance(name, str):
                text = f"the server lists no prompt {name!r}"
                yield CatalogueLapse("unlisted-name", True, "/params/name", text)
            return
        names = arguments if isinstance(arguments, dict) else {}
        if missing := [each for each, is_required in known.items() if is_required and each not in names]:
            text = f"the prompt {name!r} requires the argument {missing[0]!r}, which is missing"
            yield CatalogueLapse("message", True, "/params/arguments" if names else "/params", text)
        elif foreign := next((each for each in names if each not in known), ""):
            text = f"the prompt {name!r} has no argument {foreign!r}"
            yield CatalogueLapse("note", True, f"/params/arguments/{foreign}", text)

    def _of_task(self, params: Mapping[str, JsonValue], server: JsonValue) -> Iterator[CatalogueLapse]:
        support, is_task = self._task_support.get(str(params.get("name"))), "task" in params
        if support is None or not _has(server, "tasks", "requests", "tools", "call"):
            return
        if support == "required" and not is_task:
            text = f"the tool {params.get('name')!r} must be called as a task (execution.taskSupport is required)"
            yield CatalogueLapse("capability", True, "/params", text)
        elif support == "forbidden" and is_task:
            text = f"the tool {params.get('name')!r} must not be called as a task (execution.taskSupport)"
            yield CatalogueLapse("capability", True, "/params/task", text)

    def _of_repetition(
        self, method: str, message: Mapping[str, JsonValue], params: Mapping[str, JsonValue]
    ) -> Iterator[CatalogueLapse]:
        """A request that is sent again with the input for which its result asked."""
        key = method, str(params.get("name") or params.get("uri"))
        if "requestState" not in params and "inputResponses" not in params:
            return
        state, keys, id_ = self._journal.pop(self._state, key) or (None, frozenset(), "")
        responses = params.get("inputResponses")
        missing = sorted(keys - set(responses if isinstance(responses, dict) else ()))
        if id_ and params.get("requestState") != state:
            text = "requestState is not that of the result that asked for input: a client sends it back unchanged"
            yield CatalogueLapse(
                "message", True, "/params/requestState" if "requestState" in params else "/params", text
            )
        elif id_ and missing:
            text = f"the response {missing[0]!r} is missing, for which the result asked in inputRequests"
            yield CatalogueLapse("message", True, "/params", text)
        if id_ == repr(message.get("id")):
            yield CatalogueLapse("message", True, "/id", "the request is repeated with input, but has its old id")

    def of_notification(
        self,
        method: str,
        params: Mapping[str, JsonValue],
        version: str,
        request_params: Iterator[Mapping[str, JsonValue]],
    ) -> Iterator[CatalogueLapse]:
        """What a notification of the server contradicts.

        Args:
            version: that both sides use.
            request_params: parameters of the requests that are open.
        """
        level, uri = params.get("level"), params.get("uri")
        if method == "notifications/message" and version >= STATELESS:
            if not any(_LOG_LEVEL in _meta(each) for each in request_params):
                text = f"a log message is sent, but no open request asks for them with {_LOG_LEVEL}"
                yield CatalogueLapse("unasked", False, "/method", text)
        elif method == "notifications/message" and level in LEVELS and LEVELS.index(str(level)) < self._level[""]:
            text = f"a log message has the level {level}, but the client asked for {LEVELS[self._level['']]} and above"
            yield CatalogueLapse("note", False, "/params/level", text)
        elif method == "notifications/resources/updated" and version < STATELESS:
            if isinstance(uri, str) and not any(uri.startswith(each) for each in self._subscribed):
                text = f"{uri!r} is reported as updated, but the client has not subscribed to it"
                yield CatalogueLapse("unasked", False, "/params/uri", text)
        elif (name := _LISTENED.get(method)) and version >= STATELESS and not self._is_listening(name):
            text = f"{method!r} is sent, but no subscriptions/listen asks for {name}"
            yield CatalogueLapse("unasked", False, "/method", text)

    def _is_listening(self, name: str) -> bool:
        return any(isinstance(each, dict) and each.get(name) is True for each in self._listening.values())

    def of_response(
        self,
        method: str,
        request_params: Mapping[str, JsonValue],
        message: Mapping[str, JsonValue],
    ) -> Iterator[CatalogueLapse]:
        """What a response of the server contradicts.

        Args:
            request_params: parameters of its request.
        """
        result, error = message.get("result"), message.get("error")
        code, uri = (error.get("code"), request_params.get("uri")) if isinstance(error, dict) else (None, None)
        if method == "resources/read" and code in _NOT_FOUND and uri in self._resources:
            text = f"{uri!r} is in the list of resources, but cannot be read"
            yield CatalogueLapse("refused", False, "/error", text)
        if isinstance(result, dict):
            self._take_lists(method, request_params, result)
            self._take_state(method, request_params, result, repr(message.get("id")))
        if method == "subscriptions/listen":
            self._journal.pop(self._listening, repr(message.get("id")))
        elif method == "resources/unsubscribe":
            self._journal.pop(self._subscribed, str(request_params.get("uri")))

    def _take_lists(
        self, method: str, request_params: Mapping[str, JsonValue], result: Mapping[str, JsonValue]
    ) -> None:
        for entry in _entries(result, method.partition("/")[0]) if method.endswith("/list") else ():
            name, uri = entry.get("name"), entry.get("uri")
            if method == "prompts/list" and isinstance(name, str):
                self._journal.put(self._prompts, name, _arguments(entry))
            elif method == "tools/list" and isinstance(name, str):
                self._journal.put(self._task_support, name, _support(entry))
            elif method == "resources/list" and isinstance(uri, str):
                self._journal.put(self._resources, uri, None)
        self._shorten(self._prompts)
        self._shorten(self._task_support)
        self._shorten(self._resources)

    def _shorten(self, table: dict[str, T]) -> None:
        while len(table) > _MOST:
            self._journal.pop(table, next(iter(table)))

    def _take_state(
        self, method: str, request_params: Mapping[str, JsonValue], result: Mapping[str, JsonValue], id_: str
    ) -> None:
        if result.get("resultType") == "input_required":
            keys = result.get("inputRequests")
            state = result.get("requestState"), frozenset(keys if isinstance(keys, dict) else ()), id_
            self._journal.put(
                self._state, (method, str(request_params.get("name") or request_params.get("uri"))), state
            )


def _entries(result: Mapping[str, JsonValue], name: str) -> Iterator[Mapping[str, JsonValue]]:
    entries = result.get(name)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield entry


def _arguments(entry: Mapping[str, JsonValue]) -> Mapping[str, bool]:
    return {str(each.get("name")): each.get("required") is True for each in _entries(entry, "arguments")}


def _support(entry: Mapping[str, JsonValue]) -> str:
    execution = entry.get("execution")
    found = execution.get("taskSupport") if isinstance(execution, dict) else None
    return found if isinstance(found, str) else "forbidden"


def _has(value: JsonValue, *path: str) -> bool:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None and value is not False


def _meta(params: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    found = params.get("_meta")
    return found if isinstance(found, dict) else {}
