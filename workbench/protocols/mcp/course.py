"""The course of a connection: which message may come when, and what no earlier message allows.

It is the same over each transport: handshake, direction of each method, tokens of progress, cancellations, tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.ir import JsonValue
from workbench.protocols.mcp.catalogue import Catalogue, CatalogueLapse
from workbench.protocols.mcp.open_requests import (
    CLIENT,
    SERVER,
    VERSION,
    OpenRequest,
    OpenRequests,
    is_stateless,
    token_in,
    version_in,
)
from workbench.protocols.mcp.relations import Declarations, broken_relations
from workbench.protocols.mcp.revisions import STATELESS, Method, message_faults, revisions
from workbench.undo_log import Journal
from workbench.wire import cut, quote

_OTHER = {CLIENT: SERVER, SERVER: CLIENT}
_PROBES = ("initialize", "server/discover", "ping")
"""Methods that may come before the handshake is over, or that belong to another revision on purpose."""

_OVER = ("completed", "failed", "cancelled")
"""States of a task that are its last."""

_OF_TASK = ("tasks/get", "tasks/result", "tasks/cancel", "tasks/update")
"""Requests for one task."""

_WITH_RESULT, _WITH_TASKS = ("completed", "failed"), "2025-11-25"
"""States with a result that waits to be fetched, in the revision in which it is fetched separately."""

_DECLARED = {
    "notifications/tools/list_changed": ("tools", "listChanged"),
    "notifications/prompts/list_changed": ("prompts", "listChanged"),
    "notifications/resources/list_changed": ("resources", "listChanged"),
    "notifications/resources/updated": ("resources", "subscribe"),
    "notifications/message": ("logging",),
    "notifications/roots/list_changed": ("roots", "listChanged"),
}
"""Notification → the capability that its sender has declared, if it sends it."""

_EARLY = ("notifications/message", "notifications/progress", "notifications/cancelled")
"""Notifications that a server may send before its response to ``initialize``."""

_MOST, _MOST_TASKS = 256, 4096
"""Requests whose ids and tokens are remembered, answered, cancelled or early ones; and tasks, and cursors of lists."""


class Lapse(NamedTuple):
    """A message that comes at a wrong time, or from the wrong side, or that has a wrong form.

    Attributes:
        kind: ``"lifecycle"``, ``"progress"``, ``"message"``, ``"note"`` (of a message), ``"unknown"`` (a notification),
            ``"version"``, ``"capability"``, ``"cancelled"``, ``"cursor"``, ``"unlisted"`` (tools), ``"unlisted-name"``,
            ``"unasked"``, ``"refused"`` (what was listed), ``"answer"`` (to no request), ``"id"`` (used again),
            ``"early"``, ``"no-answer"``, ``"left"`` (without an answer, by a client that sent nothing any more) or
            ``"unfetched"`` (a result).
        sender: who sent it, or who did not send what is missing.
        place: what the caller of ``take`` said of the message.
        pointer: in the message.
        text: what is wrong, in words.
    """

    kind: str
    sender: str
    place: int
    pointer: str
    text: str


class Course:
    """What the messages of a connection allow to come next.

    Args:
        journal: undo log; takes back what was learned from messages that are read again. None if none are.
        is_alone: all its messages are of one client, so that their ids belong together.

    Attributes:
        version: that both sides agreed on; empty before they did.
        phase: of the handshake: ``""``, ``"asked"``, ``"answered"`` or ``"ready"``.
    """

    def __init__(self, journal: Journal | None = None, *, is_alone: bool = True) -> None:
        self._journal = journal or Journal()
        self._is_alone = is_alone
        self._catalogue = Catalogue(self._journal)
        self._offered: dict[str, JsonValue] = {}  # versions that server/discover offered
        self.version = ""
        self.phase = ""
        self._open = OpenRequests(self._journal)
        self._over: dict[str, str] = {}
        self._progress: dict[str, float] = {}
        self._ids: dict[tuple[str, str], None] = {}
        self._is_all = True  # no id was forgotten
        self._has_asked = False  # the client asked for something after the handshake
        self._has_asked_tools = False
        self._last = -1  # place of the last message of the client
        self._declared: dict[str, JsonValue] = {}
        self._cursors: dict[tuple[str, JsonValue], None] = {}  # that a list gave, and None for each list itself
        self._tasks: dict[str, str] = {}
        self._fetched: dict[str, None] = {}
        self._early: list[tuple[int, str]] = []

    def _set(self, name: str, value: object) -> None:
        if getattr(self, name) != value:
            self._journal.put(vars(self), name, value)

    def take(self, sender: str, message: Mapping[str, JsonValue], place: int) -> Iterator[Lapse]:
        """Lapses of the next message.

        Args:
            sender: ``CLIENT`` or ``SERVER``.
            place: of the message, for its lapses.
        """
        method = message.get("method")
        self._set("_last", place if sender == CLIENT else self._last)
        if not isinstance(method, str):
            if fault := _fault_of_kind(message):
                yield Lapse("message", sender, place, "", fault)
            yield from self._take_response(sender, message, place)
            return
        known = _method(method, self._version_in_use)
        yield from self._of_method(sender, method, known, message, place)
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if sender == CLIENT and method not in _PROBES and not method.startswith("notifications/"):
            self._set("_has_asked", True)
            self._set("_has_asked_tools", self._has_asked_tools or method.startswith("tools/"))
        if method == "tasks/result":
            self._journal.put(self._fetched, str(params.get("taskId")), None)
            self._forget_tasks()
        if "id" in message and not (known and not known.is_request):
            yield from self._of_time(sender, method, params, place)
            key = sender, repr(message["id"])
            yield from self._of_reuse(key, method, params, place)
            if sender == CLIENT:
                yield from self._of_era(method, params, place)
                found = self._catalogue.of_request(method, message, params, self._declared.get(SERVER))
                yield from _lapses(found, place)
            self._open.begin(key, OpenRequest(method, token_in(params), place, params))
            self._remember(key)
        else:
            yield from self._of_notification(sender, method, message, params, place)

    def _of_reuse(
        self, key: tuple[str, str], method: str, params: Mapping[str, JsonValue], place: int
    ) -> Iterator[Lapse]:
        """An id or a token of progress that another request of this side has, or had."""
        token = token_in(params)
        if token is not None and self._open.has_token(key[0], repr(token)) and key not in self._open:
            text = (
                f"another open request has the progressToken {cut(repr(token))}: a progress message would match "
                "both requests"
            )
            yield Lapse("progress", key[0], place, "/params/_meta/progressToken", text)
        is_used = self._is_alone and key in self._ids and key not in self._open
        if is_used and "" < self.version < STATELESS and method not in _PROBES:
            yield Lapse("id", key[0], place, "/id", f"the id {cut(key[1])} was used before on this connection")

    def _of_era(self, method: str, params: Mapping[str, JsonValue], place: int) -> Iterator[Lapse]:
        """A request of the stateless revision: it states a version, one that the server offers."""
        if self.phase or method == "initialize":
            return
        version = version_in(params)
        offered = self._offered.get("")
        if self.version >= STATELESS and version is None:
            what = f"{quote(method)} does not state its version in _meta ({VERSION})"
            text = f"{what}, as revision {cut(self.version)} requires"
            yield Lapse("message", CLIENT, place, "/params", text)
        elif version is not None and isinstance(offered, list) and version not in offered:
            versions = cut(", ".join(map(repr, offered)))
            text = f"{quote(method)} uses the version {quote(version)}, but the server offers {versions}"
            yield Lapse("version", CLIENT, place, f"/params/_meta/{VERSION.replace('/', '~1')}", text)

    @property
    def _version_in_use(self) -> str:
        """The version that both agreed on, or that open requests of the stateless revision state."""
        if self.version or self.phase:
            return self.version
        return self._open.version

    # What a message is.

    def _of_method(
        self, sender: str, method: str, known: Method | None, message: Mapping[str, JsonValue], place: int
    ) -> Iterator[Lapse]:
        name = quote(method)
        if known is None:
            if message.get("id") is None:
                text = f"no revision has the notification {name}: the other side ignores it, or reports an error"
                yield Lapse("unknown", sender, place, "/method", text)
            return
        if sender not in known.senders:
            text = f"only the {_OTHER[sender]} sends {quote(method)}, not the {sender}"
            yield Lapse("message", sender, place, "/method", text)
        elif not known.is_request and message.get("id") is not None:
            yield Lapse("message", sender, place, "/id", f"{quote(method)} is a notification, which has no id")
        elif known.is_request and message.get("id") is None:
            yield Lapse("message", sender, place, "", f"{name} is a request, but has no id, so it gets no response")
        own = revisions().get(self._version_in_use)
        if own and own.method(method) is None and method not in _PROBES and not method.startswith("tasks/"):
            text = f"revision {cut(self._version_in_use)}, on which both sides agreed, does not define {quote(method)}"
            yield Lapse("version", sender, place, "/method", text)

    # When it comes.

    def _of_time(self, sender: str, method: str, params: Mapping[str, JsonValue], place: int) -> Iterator[Lapse]:
        if sender == CLIENT and method == "initialize":
            for early, name in self._early:
                yield Lapse("lifecycle", CLIENT, early, "/method", f"{quote(name)} was sent before initialize")
            if self.phase in ("answered", "ready"):
                text = "initialize is sent again on a connection that is initialized"
                yield Lapse("lifecycle", CLIENT, place, "/method", text)
            self._set("_early", [])
            self._set("phase", "asked")
        elif method in _PROBES:
            return
        elif self.phase == "asked" or (self.phase == "answered" and sender == SERVER):
            text = f"the {sender} sent {quote(method)} before the client sent notifications/initialized"
            yield Lapse("lifecycle", sender, place, "/method", text)
        elif self.phase == "answered":
            text = (
                "the client sent no notifications/initialized after the response to initialize and before this message"
            )
            yield Lapse("lifecycle", CLIENT, place, "/method", text)
            self._set("phase", "ready")
        elif not self.phase and sender == CLIENT and not is_stateless(params) and len(self._early) < _MOST:
            self._journal.append(self._early, (place, method))

    def _of_notification(
        self, sender: str, method: str, message: Mapping[str, JsonValue], params: Mapping[str, JsonValue], place: int
    ) -> Iterator[Lapse]:
        for fault in _form(method, message, self.version):
            yield Lapse("message", sender, place, *fault)
        for relation, pointer in broken_relations(
            method, "notification", message, Declarations(self.version, asked_by=sender)
        ):
            kind = relation.rule if relation.rule in ("message", "progress") and not relation.is_note else "note"
            yield Lapse(kind, sender, place, pointer, relation.text)
        if sender == SERVER and (self.phase or self._version_in_use):
            version, is_log_wanted = self._version_in_use, self._open.is_log_wanted
            found = self._catalogue.of_notification(method, params, version, is_log_wanted=is_log_wanted)
            yield from _lapses(found, place)
            if self.phase == "asked" and method not in _EARLY:
                text = f"the server sent {quote(method)} before its response to initialize"
                yield Lapse("early", SERVER, place, "/method", text)
        if method == "notifications/initialized":
            if self.phase == "asked":
                text = "the client says that it is initialized before the response to initialize"
                yield Lapse("lifecycle", CLIENT, place, "/method", text)
            elif self.phase == "ready" and message.get("id") is None:
                yield Lapse("early", CLIENT, place, "/method", "the client says again that it is initialized")
            self._set("phase", "ready" if self.phase else "")
        elif method == "notifications/progress":
            yield from self._of_progress(sender, params, place)
        elif method == "notifications/cancelled":
            yield from self._of_cancellation(sender, params, place)
        elif method == "notifications/tasks/status":
            yield from self._of_task(sender, params, "/params", place)
        yield from self._of_capability(sender, method, place)

    def _of_progress(self, sender: str, params: Mapping[str, JsonValue], place: int) -> Iterator[Lapse]:
        token, value = repr(params.get("progressToken")), params.get("progress")
        if self._open.is_late(_OTHER[sender], token):
            return
        asked, at = self._open.has_token(_OTHER[sender], token), "/params/progressToken"
        if not asked and token in self._over:
            text = f"progress with the token {cut(token)} comes after the response to its request: clients refuse it"
            yield Lapse("progress", sender, place, at, text)
        elif not asked:
            text = f"progress with the token {cut(token)}, which no request has: clients refuse it"
            yield Lapse("progress", sender, place, at, text)
        elif isinstance(value, int | float) and value <= self._progress.get(token, value - 1):
            text = f"the progress {value} is not greater than the last value, {self._progress[token]}"
            yield Lapse("progress", sender, place, "/params/progress", text)
        if asked and isinstance(value, int | float):
            self._journal.put(self._progress, token, value)

    def _of_cancellation(self, sender: str, params: Mapping[str, JsonValue], place: int) -> Iterator[Lapse]:
        id_ = params.get("requestId")
        key = sender, repr(id_)
        asked = self._open.get(key)
        if id_ is not None and key not in self._ids and self._is_all:
            text = f"the {sender} cancels request {cut(repr(id_))}, which it has not sent"
            yield Lapse("cancelled", sender, place, "/params/requestId", text)
        elif asked and asked.method == "initialize":
            yield Lapse("lifecycle", sender, place, "/params/requestId", "initialize must not be cancelled")
        elif asked and not asked.is_cancelled:
            self._open.cancel(key)
            self._journal.pop(self._progress, repr(asked.token))

    def _of_capability(self, sender: str, method: str, place: int) -> Iterator[Lapse]:
        needed, declared = _DECLARED.get(method, ()), self._declared.get(sender)
        if not needed or declared is None:
            return
        for name in needed:
            declared = declared.get(name) if isinstance(declared, dict) else None
        if declared is None or declared is False:
            text = f"the {sender} sends {quote(method)} without having declared the capability {'.'.join(needed)!r}"
            yield Lapse("capability", sender, place, "/method", text)

    def _of_task(self, sender: str, task: Mapping[str, JsonValue], at: str, place: int) -> Iterator[Lapse]:
        id_, state = task.get("taskId"), task.get("status")
        if not isinstance(id_, str) or not isinstance(state, str):
            return
        before = self._tasks.get(id_, "")
        if before in _OVER and state != before:
            text = f"the task was {before}, a final status, and is now {state}"
            yield Lapse("lifecycle", sender, place, f"{at}/status", text)
        self._journal.put(self._tasks, id_, state)
        self._forget_tasks()
        if state in _OVER:
            asked = self._open.end_late((_OTHER[sender], f"task {id_}"))
            self._journal.pop(self._progress, repr(asked.token if asked else None))

    def _of_unknown_task(self, sender: str, asked: OpenRequest) -> Iterator[Lapse]:
        """A refused request for a task that no message of the connection named before."""
        id_ = asked.params.get("taskId")
        if isinstance(id_, str) and id_ not in self._tasks and self._is_all and self.phase and self._is_alone:
            text = f"{asked.method} asks for the task {quote(id_)}, which was not created on this connection"
            yield Lapse("lifecycle", sender, asked.place, "/params/taskId", text)

    def _forget_tasks(self) -> None:
        """The oldest of too many: no judgement on whether its result was fetched."""
        for table in (self._tasks, self._fetched):
            while len(table) > _MOST_TASKS:
                oldest = next(iter(table))
                self._journal.pop(self._tasks, oldest)
                self._journal.pop(self._fetched, oldest)

    # What is answered.

    def _take_response(self, sender: str, message: Mapping[str, JsonValue], place: int) -> Iterator[Lapse]:
        key = _OTHER[sender], repr(message.get("id"))
        asked = self._open.end(key)
        result = message.get("result")
        if asked is None:
            yield from self._of_answer(sender, key, message, place)
        elif "error" in message and asked.method in _OF_TASK:
            yield from self._of_unknown_task(_OTHER[sender], asked)
        if asked and sender == SERVER:
            yield from _lapses(self._catalogue.of_response(asked.method, asked.params, message), place)
        if asked is None or not isinstance(result, dict):
            if asked:
                self._close(asked)
            return
        stated = version_in(asked.params)
        if asked.method == "server/discover":
            self._journal.put(self._offered, "", result.get("supportedVersions"))
        if not self.phase and stated is not None and stated >= STATELESS:
            self._set("version", stated)
        if asked.method == "initialize":
            version = result.get("protocolVersion")
            self._set("version", version if isinstance(version, str) else "")
            self._set("phase", "answered")
            self._journal.put(self._declared, SERVER, result.get("capabilities"))
        yield from self._of_page(sender, asked, result, place)
        task = result.get("task")
        if isinstance(task, dict):  # its progress goes on
            self._open.begin((_OTHER[sender], f"task {task.get('taskId')}"), asked)
        else:
            self._close(asked)
        for each, at in ((task, "/result/task"), (result, "/result")):
            if isinstance(each, dict) and "taskId" in each:
                yield from self._of_task(sender, each, at, place)

    def _of_answer(
        self, sender: str, key: tuple[str, str], message: Mapping[str, JsonValue], place: int
    ) -> Iterator[Lapse]:
        """A response of the client to no request of the server; those of the server are judged with its requests."""
        is_response = "result" in message or "error" in message
        if sender != CLIENT or not is_response or not self.phase or not self._is_alone or message.get("id") is None:
            return
        if key in self._ids:
            yield Lapse("answer", sender, place, "/id", f"the client answers the request {cut(key[1])} a second time")
        elif self._is_all:
            text = f"the client answers the request {cut(key[1])}, which the server did not send"
            yield Lapse("answer", sender, place, "/id", text)

    def _of_page(
        self, sender: str, open_request: OpenRequest, result: Mapping[str, JsonValue], place: int
    ) -> Iterator[Lapse]:
        """The page of a list: its cursor has to be one that the list gave."""
        cursor, following = open_request.params.get("cursor"), result.get("nextCursor")
        if cursor is None:
            self._journal.put(self._cursors, (open_request.method, None), None)
        is_first_known = (open_request.method, None) in self._cursors
        if isinstance(cursor, str) and is_first_known and (open_request.method, cursor) not in self._cursors:
            text = f"{open_request.method} uses the cursor {quote(cursor)}, which the server never sent but accepts"
            yield Lapse("cursor", sender, place, "/params/cursor", text)
        if isinstance(following, str):
            self._journal.put(self._cursors, (open_request.method, following), None)
        while len(self._cursors) > _MOST_TASKS:  # what began a list is the oldest of it: its cursors are not judged
            self._journal.pop(self._cursors, next(iter(self._cursors)))

    def _close(self, open_request: OpenRequest) -> None:
        if open_request.token is not None:
            self._journal.put(self._over, repr(open_request.token), open_request.method)
            self._journal.pop(self._progress, repr(open_request.token))
            if len(self._over) > _MOST:
                self._journal.pop(self._over, next(iter(self._over)))

    def _remember(self, key: tuple[str, str]) -> None:
        self._journal.put(self._ids, key, None)
        if len(self._ids) > _MOST:
            self._journal.pop(self._ids, next(iter(self._ids)))
            self._set("_is_all", False)

    @property
    def is_unused(self) -> bool:
        """The server declares tools, but the client neither lists nor calls any after the handshake."""
        declared = self._declared.get(SERVER)
        is_declared = isinstance(declared, dict) and "tools" in declared
        return self.phase == "ready" and is_declared and not self._has_asked_tools

    def end(self) -> Iterator[Lapse]:
        """Lapses once nothing more comes: results and requests that the client left."""
        if self.is_unused:
            what = "no tools" if self._has_asked else "nothing"
            text = f"the server declares tools, but the client requests {what} after the handshake"
            yield Lapse("unlisted", CLIENT, self._last, "", text)
        for id_, state in self._tasks.items():
            if state in _WITH_RESULT and id_ not in self._fetched and self.version in ("", _WITH_TASKS):
                text = f"task {quote(id_)} is {state}, but the client never fetched its result with tasks/result"
                yield Lapse("unfetched", CLIENT, self._last, "", text)
        for (sender, id_), asked in self._open.items():
            if sender == SERVER and not id_.startswith("task ") and not asked.is_cancelled:
                text = f"the client never answered the request {quote(asked.method)} of the server (id {cut(id_)})"
                kind = "no-answer" if self._last > asked.place else "left"
                yield Lapse(kind, CLIENT, asked.place, "", text)


def _fault_of_kind(message: Mapping[str, JsonValue]) -> str:
    """Why a message without a method is no response, in words; empty if it is one."""
    if "result" in message and "error" in message:
        return "the response has a result and an error: clients that use one of them never see the other"
    if "result" in message or "error" in message or "jsonrpc" not in message:  # which is a fault of the line
        return ""
    return "the message has no method, no result and no error: programs that validate messages refuse it"


def _method(name: str, version: str) -> Method | None:
    """A method as the agreed revision has it, else as any other has it."""
    known = revisions()
    own = known[version].method(name) if version in known else None
    return own or next((found for each in reversed([*known.values()]) if (found := each.method(name))), None)


def _lapses(found: Iterator[CatalogueLapse], place: int) -> Iterator[Lapse]:
    for each in found:
        yield Lapse(each.kind, CLIENT if each.is_of_client else SERVER, place, each.pointer, each.text)


def _form(method: str, message: Mapping[str, JsonValue], version: str) -> Iterator[tuple[str, str]]:
    """Pointer and words of the first fault in the form of a notification."""
    found = message_faults(method, message, version)
    if found:
        yield found.faults[0].pointer, found.words()
