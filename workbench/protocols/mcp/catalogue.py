"""Lists of a server and wishes of a client on one connection, and the messages that contradict them.

Prompts with their arguments, resources, tools that run as tasks, subscriptions, the level of log messages, and requests
that are to be repeated with input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from workbench import regex
from workbench.ir import JsonValue
from workbench.protocols.mcp.revisions import STATELESS
from workbench.provenance import escape
from workbench.undo_log import Journal
from workbench.wire import quote

K = TypeVar("K")
T = TypeVar("T")

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Levels of log messages, the lowest first (RFC 5424)."""

_NOT_FOUND, _BAD_PARAMS = -32002, -32602
"""Code of an error for a resource that does not exist, until and since revision 2026-07-28, where it says more."""

_NOT_FOUND_TEXT = regex.compile(r"(?i)not found|unknown|no such|not exist")
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_LISTENED = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
"""Notification → the member of ``subscriptions/listen`` that asks for it, since revision 2026-07-28."""

_CHANGES = {f"notifications/{kind}/list_changed": kind for kind in ("tools", "prompts", "resources")}
"""Notification → the list that is stale from then on."""

_MOST, _MOST_OPEN = 4096, 256
"""Entries of a list that are remembered, and subscriptions or requests for input."""


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


class _AwaitedInput(NamedTuple):
    """A result that asks for input.

    Attributes:
        keys: of ``inputRequests``.
        id: of the request that it answers.
    """

    state: JsonValue
    keys: frozenset[str]
    id: str


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
        self._following: dict[str, JsonValue] = {}  # kind of a list → cursor of the next page; None once it is complete
        self._subscribed: dict[str, None] = {}
        self._level = {"": 0}  # one entry, so that the journal can take it back: the lowest level that is wanted
        self._listening: dict[str, JsonValue] = {}  # id of subscriptions/listen → its filter
        self._awaited: dict[tuple[str, str], tuple[_AwaitedInput, ...]] = {}
        self._shortened: dict[str, None] = {}  # tables that are no longer complete

    def of_request(
        self, method: str, message: Mapping[str, JsonValue], params: Mapping[str, JsonValue], server: JsonValue
    ) -> Iterator[CatalogueLapse]:
        """Lapses of a request of the client.

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
            self._shorten("subscribed", self._subscribed, _MOST_OPEN)
        elif method == "logging/setLevel" and level in LEVELS:  # a server may obey before it answers
            self._journal.put(self._level, "", min(self._level[""], LEVELS.index(str(level))))
        elif method == "subscriptions/listen":
            self._journal.put(self._listening, repr(message.get("id")), params.get("notifications"))
            self._shorten("listening", self._listening, _MOST_OPEN)

    def _of_prompt(self, params: Mapping[str, JsonValue]) -> Iterator[CatalogueLapse]:
        name, arguments = params.get("name"), params.get("arguments")
        known = self._prompts.get(name) if isinstance(name, str) else None
        if known is None:
            return
        names = arguments if isinstance(arguments, dict) else {}
        if missing := [each for each, is_required in known.items() if is_required and each not in names]:
            text = f"the prompt {quote(name)} requires the argument {quote(missing[0])}, which is missing"
            yield CatalogueLapse("message", True, "/params/arguments" if names else "/params", text)
        elif foreign := next((each for each in names if each not in known), ""):
            text = f"the prompt {quote(name)} has no argument {quote(foreign)}"
            yield CatalogueLapse("note", True, f"/params/arguments/{escape(foreign)}", text)

    def _of_task(self, params: Mapping[str, JsonValue], server: JsonValue) -> Iterator[CatalogueLapse]:
        support, is_task = self._task_support.get(_target(params)), "task" in params
        if support is None or not _has(server, "tasks", "requests", "tools", "call"):
            return
        if support == "required" and not is_task:
            text = f"the tool {quote(params.get('name'))} must be called as a task (execution.taskSupport is required)"
            yield CatalogueLapse("capability", True, "/params", text)
        elif support == "forbidden" and is_task:
            text = f"the tool {quote(params.get('name'))} must not be called as a task (execution.taskSupport)"
            yield CatalogueLapse("capability", True, "/params/task", text)

    def _of_repetition(
        self, method: str, message: Mapping[str, JsonValue], params: Mapping[str, JsonValue]
    ) -> Iterator[CatalogueLapse]:
        """A request that is sent again with the input for which its result asked."""
        if "requestState" not in params and "inputResponses" not in params:
            return
        awaited = self._awaited.get((method, _target(params)), ())
        alike = [each for each in awaited if each.state == params.get("requestState")]
        responses = params.get("inputResponses")
        given = frozenset(responses if isinstance(responses, dict) else ())
        if awaited and not alike and "awaited" not in self._shortened:
            text = (
                "'requestState' differs from that of the result that asked for input: a client must send it back "
                "unchanged"
            )
            place = "/params/requestState" if "requestState" in params else "/params"
            yield CatalogueLapse("message", True, place, text)
        elif alike and not any(each.keys <= given for each in alike):
            missing = quote(min(alike[0].keys - given))
            text = f"the response {missing} is missing, although the result asked for it in 'inputRequests'"
            yield CatalogueLapse("message", True, "/params", text)
        if any(each.id == repr(message.get("id")) for each in awaited):
            yield CatalogueLapse("message", True, "/id", "the request is repeated with input, but still has its old id")

    def of_notification(
        self,
        method: str,
        params: Mapping[str, JsonValue],
        version: str,
        *,
        is_log_wanted: bool,
    ) -> Iterator[CatalogueLapse]:
        """Lapses of a notification of the server.

        Args:
            version: that both sides use.
            is_log_wanted: an open request asks for log messages, as those of the stateless revision do.
        """
        level, uri = params.get("level"), params.get("uri")
        if method in _CHANGES:
            self._forget(_CHANGES[method])
        if method == "notifications/message" and version >= STATELESS:
            if not is_log_wanted:
                text = f"a log message is sent, but no open request asks for log messages with {LOG_LEVEL}"
                yield CatalogueLapse("unasked", False, "/method", text)
        elif method == "notifications/message" and level in LEVELS and LEVELS.index(str(level)) < self._level[""]:
            text = f"a log message has the level {level}, but the client asked for {LEVELS[self._level['']]} and above"
            yield CatalogueLapse("note", False, "/params/level", text)
        elif method == "notifications/resources/updated" and version < STATELESS:
            if isinstance(uri, str) and not self._is_subscribed(uri):
                text = f"{quote(uri)} is reported as updated, but the client has not subscribed to it"
                yield CatalogueLapse("unasked", False, "/params/uri", text)
        elif (name := _LISTENED.get(method)) and version >= STATELESS and not self._is_listening(name):
            text = f"{quote(method)} is sent, but no subscriptions/listen asks for {name}"
            yield CatalogueLapse("unasked", False, "/method", text)

    def _is_subscribed(self, uri: str) -> bool:
        is_known = uri in self._subscribed or any(uri.startswith(each) for each in self._subscribed)
        return is_known or "subscribed" in self._shortened

    def _is_listening(self, name: str) -> bool:
        filters = self._listening.values()
        is_asked = any(isinstance(each, dict) and each.get(name) is True for each in filters)
        return is_asked or "listening" in self._shortened

    def of_response(
        self,
        method: str,
        request_params: Mapping[str, JsonValue],
        message: Mapping[str, JsonValue],
    ) -> Iterator[CatalogueLapse]:
        """Lapses of a response of the server.

        Args:
            request_params: parameters of its request.
        """
        result, error = message.get("result"), message.get("error")
        if isinstance(error, dict):
            yield from self._of_refusal(method, request_params, error)
        if isinstance(result, dict):
            self._take_lists(method, request_params, result)
            self._take_state(method, request_params, result, repr(message.get("id")))
            self._take_settings(method, request_params)
        if method == "subscriptions/listen":
            self._journal.pop(self._listening, repr(message.get("id")))

    def _of_refusal(
        self, method: str, request_params: Mapping[str, JsonValue], error: Mapping[str, JsonValue]
    ) -> Iterator[CatalogueLapse]:
        """An error for what a list has, or for what it does not have."""
        uri, name = request_params.get("uri"), request_params.get("name")
        if method == "resources/read" and isinstance(uri, str) and uri in self._resources and _is_unknown(error, uri):
            yield CatalogueLapse(
                "refused", False, "/error", f"{quote(uri)} is in the list of resources, but cannot be read"
            )
        is_complete = self._following.get("prompts", "") is None and "prompts" not in self._shortened
        if method == "prompts/get" and isinstance(name, str) and is_complete and name not in self._prompts:
            text = f"the server lists no prompt {quote(name)}, but refuses the prompt that was requested"
            yield CatalogueLapse("unlisted-name", True, "/params/name", text)

    def _take_lists(
        self, method: str, request_params: Mapping[str, JsonValue], result: Mapping[str, JsonValue]
    ) -> None:
        kind, _, end = method.partition("/")
        if end != "list" or kind not in _CHANGES.values():
            return
        cursor = request_params.get("cursor")
        if cursor is None:
            self._forget(kind)
        if cursor is None or cursor == self._following.get(kind):
            self._journal.put(self._following, kind, result.get("nextCursor"))
        for entry in _entries(result, kind):
            name, uri = entry.get("name"), entry.get("uri")
            if kind == "prompts" and isinstance(name, str):
                self._journal.put(self._prompts, name, _arguments(entry))
            elif kind == "tools" and isinstance(name, str):
                self._journal.put(self._task_support, name, _support(entry))
            elif kind == "resources" and isinstance(uri, str):
                self._journal.put(self._resources, uri, None)
        self._shorten(kind, self._table_of(kind), _MOST)

    def _table_of(self, kind: str) -> dict[str, Any]:
        tables: dict[str, dict[str, Any]]
        tables = {"prompts": self._prompts, "tools": self._task_support, "resources": self._resources}
        return tables[kind]

    def _forget(self, kind: str) -> None:
        """A list begins again, or is stale."""
        table = self._table_of(kind)
        for name in [*table]:
            self._journal.pop(table, name)
        self._journal.pop(self._following, kind)
        self._journal.pop(self._shortened, kind)

    def _shorten(self, name: str, table: dict[K, T], most: int) -> None:
        while len(table) > most:
            self._journal.pop(table, next(iter(table)))
            self._journal.put(self._shortened, name, None)

    def _take_state(
        self, method: str, request_params: Mapping[str, JsonValue], result: Mapping[str, JsonValue], id_: str
    ) -> None:
        """A result: the input for which an earlier one asked was given, and this one may ask for more."""
        key = method, _target(request_params)
        awaited = [*self._awaited.get(key, ())]
        state, keys = request_params.get("requestState"), result.get("inputRequests")
        is_repeated = "requestState" in request_params or "inputResponses" in request_params
        answered = next((each for each in awaited if is_repeated and each.state == state), None)
        if answered:
            awaited.remove(answered)
        if result.get("resultType") == "input_required":
            names = frozenset(keys if isinstance(keys, dict) else ())
            awaited.append(_AwaitedInput(result.get("requestState"), names, id_))
        if len(awaited) > _MOST_OPEN:
            self._journal.put(self._shortened, "awaited", None)
        if awaited:
            self._journal.put(self._awaited, key, tuple(awaited[-_MOST_OPEN:]))
        else:
            self._journal.pop(self._awaited, key)
        self._shorten("awaited", self._awaited, _MOST_OPEN)

    def _take_settings(self, method: str, request_params: Mapping[str, JsonValue]) -> None:
        """Apply a subscription that the client ended, or a level of log messages that it set: the server has agreed."""
        level, uri = request_params.get("level"), request_params.get("uri")
        if method == "resources/unsubscribe" and isinstance(uri, str):
            self._journal.pop(self._subscribed, uri)
        elif method == "logging/setLevel" and level in LEVELS:
            self._journal.put(self._level, "", LEVELS.index(str(level)))


def _target(params: Mapping[str, JsonValue]) -> str:
    """What a request is about: the name or the URI in it."""
    return next((each for each in (params.get("name"), params.get("uri")) if isinstance(each, str)), "")


def _is_unknown(error: Mapping[str, JsonValue], uri: str) -> bool:
    """An error says that a resource does not exist, and not that something else is wrong with the request."""
    code, data, text = error.get("code"), error.get("data"), error.get("message")
    is_told = isinstance(data, dict) and data.get("uri") == uri
    is_told = is_told or (isinstance(text, str) and bool(_NOT_FOUND_TEXT.search(text)))
    return code == _NOT_FOUND or (code == _BAD_PARAMS and is_told)


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
