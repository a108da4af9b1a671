"""Searches a text once for requests, responses and values that contain them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from workbench import regex
from workbench.formats.unwrapping import _commands, _http, _scripts
from workbench.formats.unwrapping._finds import Find, UnreadableFind, json_bytes, to_bytes
from workbench.formats.unwrapping._values import JsonTextValue, UnreadableValue, ValueReader, json_types
from workbench.lazy_dataclass import dataclass, field
from workbench.limits import MAX_UNREADABLE_FINDS

_CLIENT = r"(?:requests|httpx|session|client|s|r|http)\.(?:post|request|put|get|stream)"
_SDK = (
    r"[\w.]*\.(?:completions\.(?:create|parse|stream)|messages\.(?:create|stream|parse)"
    r"|responses\.(?:create|parse|stream)|models\.generate_?[cC]ontent\w*|chat\.complete)|(?:litellm\.)?a?completion"
)
_TRIGGERS = {
    "curl": r"(?:^|(?<=[\s;&|`('\"]))(?:curl(?:\.exe)?|wget)[ \t]+(?=-|['\"^$\\`]|https?://|localhost|[\w.-]+(?:\.\w+|:\d+)/)",
    "http": rf"(?:^[ \t]*|(?<=[}}\]])(?=HTTP))"
    rf"(?:(?:{_http.METHODS})[ \t]+(?:https?://|/|\{{\{{)\S*|HTTP/\d(?:\.\d)?[ \t]+[1-5]\d\d)(?=\s|\Z)",
    "verbose": rf"^[ \t]*(?:>[ \t](?:{_http.METHODS})[ \t]+\S+[ \t]+HTTP/\d|<[ \t]HTTP/\d)",
    "log": r"\b(?i:request[ _]?options):[ \t]*\{|\bHTTP Re(?:quest|sponse): [A-Z]|receive_response_headers\.complete"
    r"|\bsend: b['\"]|\breply: ['\"]HTTP/|\bhttps?://[^\s\"',]+ \"[A-Z]+ /",
    "httpie": r"(?:^|(?<=[$%#>] ))https?[ \t]+(?:-\S+[ \t]+)*"
    r"(?:[A-Z]+[ \t]+)?(?:https?://|:\d|localhost)\S*[ \t]+(?=\S)",
    "sse": r"^[ \t]*(?:data:[ \t]?(?:\{[ \t]*[\"}]|\[(?:DONE|[{\[]))|event:[ \t]?[\w.]+[ \t]*\r?\n[ \t]*data:)",
    "power": r"\b(?:Invoke-(?:WebRequest|RestMethod)|iwr|irm)[ \t]+(?=[-\"'$h])",
    "here": r"^[ \t]*\$\w+[ \t]*=[ \t]*@(?=['\"]\r?\n)",
    "call": rf"(?<![\w.])(?:await[ \t]+)?(?:fetch|axios(?:\.\w+)?|{_CLIENT}|{_SDK})[ \t]*\(",
    "made": r"\b[A-Z]\w{2,60}\((?=[a-z_]\w{0,60}=)",
    "fields": r"\bid='[^'\n]{0,200}',? (?=[a-z_]+=)",
    "assigned": r"^[ \t]*(?:export[ \t]+|const[ \t]+|let[ \t]+|var[ \t]+)?\$?[^\W\d]\w{0,60}"
    r"(?:[ \t]*:[ \t]*[\w\[\], .|]{1,60})?[ \t]*=[ \t]*"
    r"(?=@[{(]|[\[{(\"'`]|[rRbBuU]{1,2}['\"]|JSON\.stringify\(|json\.dumps\()",
    "value": r"[{\[](?=\s*[{\[\]}\"'\u201c\w\\/(#])",
}
"""Pattern of a readable start, by the method that reads it (``_read_…``)."""

_TRIGGER = regex.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _TRIGGERS.items()), re.MULTILINE)
_MEANT = regex.compile(
    r"[\"']?\b(?:model|messages|contents|choices|candidates|content|input|output|tools|tool_calls|prompt|generationConfig)"
    r"[\"']?\s*[:=]"
)
KEYS = frozenset(
    {
        *("model", "messages", "contents", "prompt", "input", "tools", "body", "json_data", "data", "url", "request"),
        *("choices", "candidates", "content", "output", "response", "message", "delta", "error", "type", "object"),
        *("history", "chunks", "events"),
    }
)
"""Every body, or value with a body, has one of these members."""
_SSE_LINE = regex.compile(r"[ \t]*(?:(?:data|event|id|retry):[^\n]*|:[^\n]*|\r?)(?:\n|\Z)")
_HERE = regex.compile(r"[ \t]*(\$\w+)[ \t]*=[ \t]*@(['\"])\r?\n(.*?)\r?\n[ \t]*\2@", re.DOTALL)
_LOOK_AHEAD = 600
_DULL = regex.compile(r"(?<![\w+/=-])[\w+/=-]{4096,}+", re.ASCII)
"""A run without any start, such as base64; skipped, because ``_TRIGGER`` tests thirty patterns at each character."""


@dataclass(slots=True)
class Scan:
    """Content of a text.

    Attributes:
        found: (offset, find), in order.
        unreadable: (offset, kind and reason) of unreadable finds.
    """

    text: str
    found: list[tuple[int, Find]] = field(default_factory=list)
    unreadable: list[tuple[int, UnreadableFind]] = field(default_factory=list)
    _names: dict[str, Any] = field(default_factory=dict)
    _wasted: int = 0
    _dull: deque[tuple[int, int]] = field(default_factory=deque)

    def run(self) -> Scan:
        """Search the whole text."""
        self._dull.extend(run.span() for run in _DULL.finditer(self.text))
        at, text = 0, self.text
        while at < len(text) and len(self.unreadable) < MAX_UNREADABLE_FINDS and self._wasted < 4 * len(text) + 100_000:
            trigger = self._next(at)
            if not trigger:
                break
            kind = trigger.lastgroup or ""
            start = trigger.end() - len(trigger[0].lstrip())
            try:
                pieces = list(getattr(self, f"_read_{kind}")(trigger, start))
            except UnreadableFind as unreadable:
                self.unreadable.append((start, unreadable))
                at = max(unreadable.end, self._line_end(start))
                continue
            except UnreadableValue as error:
                at = self._pass(start, error)
                continue
            self.found += ((start, piece) for piece in pieces)
            at = max([start + 1, *(piece.end for piece in pieces)])
        if any(piece.is_whole for _, piece in self.found):
            self.found = [(start, piece) for start, piece in self.found if not piece.is_assigned]
        return self

    def _next(self, at: int) -> re.Match[str] | None:
        """The next start from an offset on."""
        while self._dull:
            begin, end = self._dull[0]
            if at < begin and (trigger := _TRIGGER.search(self.text, at, begin + _LOOK_AHEAD)):
                return trigger
            at = max(at, end)
            self._dull.popleft()
        return _TRIGGER.search(self.text, at)

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return end if end >= 0 else len(self.text)

    def _pass(self, start: int, error: UnreadableValue) -> int:
        """Offset after an unreadable value; one that looks like a body is recorded as unreadable."""
        self._wasted += max(error.at - start, 0)
        if _MEANT.search(self.text, start, start + _LOOK_AHEAD) and (error.at - start > 40 or error.is_end):
            line = self.text.count("\n", 0, max(error.at, start)) + 1
            self.unreadable.append(
                (start, UnreadableFind("a value that looks like a body", f"line {line}: {error.what}"))
            )
            return max(error.at, start + 1)
        return start + 1

    def _read_curl(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        yield _commands.read(self.text, start)

    def _read_httpie(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        yield _commands.read_httpie(self.text, start)

    def _read_http(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        found = _http.START.match(self.text, start)
        if found:
            yield _http.read(self.text, start, found)

    def _read_verbose(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        yield _http.read_verbose(self.text, start)

    def _read_log(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        found = _http.LOG.match(self.text, start)
        if found:
            yield from _http.read_log(self.text, found, self._names)

    def _read_sse(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        """Consecutive lines of an event stream; blank lines that a log has dropped are restored."""
        end = start
        while end < len(self.text) and (line := _SSE_LINE.match(self.text, end)):
            end = line.end()
        block = self.text[start:end]
        if re.search(r"\n[ \t]*\r?\n", block.strip()) is None:
            block = re.sub(r"(?m)^[ \t]*(data:[^\n]*)$", r"\1\n", block)
        block = re.sub(r"(?m)^[ \t]+(?=data:|event:|id:)", "", block)
        yield Find("an event stream", to_bytes(block.rstrip() + "\n\n"), end)

    def _read_power(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        yield _scripts.read_powershell(self.text, start, self._names)

    def _read_here(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        found = _HERE.match(self.text, start)
        if found:
            self._names[found[1]] = found[3]
            yield Find("", b"", found.end())
        else:
            self._wasted += len(self.text) - start

    def _read_call(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        found = _scripts.CALL.search(self.text, start, trigger.end() + 1)
        call = _scripts.read(self.text, found, self._names) if found else None
        if call:
            yield call

    def _read_made(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        """An SDK object as Python prints it."""
        reader = ValueReader(self.text, self._names)
        value = reader.value(start)
        if isinstance(value, dict) and "role" in value and "id" not in value:
            raise UnreadableFind(
                "a single SDK message", "the request or response with this message is needed", reader.at
            )
        if isinstance(value, dict) and KEYS & value.keys():
            yield Find("an SDK object as printed by Python", json_bytes(value), reader.at, is_rebuilt=True)
        else:
            yield Find("", b"", reader.at)

    def _read_fields(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        """The same without its class name: ``id='x' choices=[…] created=1``."""
        reader, at = ValueReader(self.text), start
        value: dict[str, Any] = {}
        while name := re.compile(r",?[ \t]*([a-z_]\w{0,60})=").match(self.text, at):
            value[name[1]] = reader.value(name.end())
            at = reader.at
        is_body = bool(KEYS & value.keys())
        yield Find(
            "an SDK object as printed by Python" if is_body else "",
            json_bytes(value) if is_body else b"",
            at,
            is_rebuilt=True,
        )

    def _read_assigned(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        """A variable with a literal value, which a later call may use."""
        found = re.compile(r"[ \t]*(?:export[ \t]+|const[ \t]+|let[ \t]+|var[ \t]+)?(\$?\w+)").match(self.text, start)
        reader = ValueReader(self.text, self._names)
        value = reader.value(trigger.end())
        if found:
            self._names[found[1]] = value
        if _is_meant(value):
            yield self._find_value(value, trigger.end(), reader)._replace(is_assigned=True)
        else:
            yield Find("", b"", reader.at)

    def _read_value(self, trigger: re.Match[str], start: int) -> Iterator[Find]:
        reader = ValueReader(self.text, self._names)
        value = reader.value(start)
        if isinstance(value, dict) and (request := _http.request_of(value, "a request in a log", reader.at)):
            yield request
        elif _is_meant(value):
            yield self._find_value(value, start, reader)
        else:
            yield Find("", b"", reader.at)

    def _find_value(self, value: Any, start: int, reader: ValueReader) -> Find:
        if isinstance(value, JsonTextValue):
            value = value.value
        if reader.is_json:
            return Find("a JSON value", to_bytes(self.text[start : reader.at]), reader.at)
        return Find(
            "a value that is not valid JSON, rewritten", json_bytes(json_types(value)), reader.at, is_rebuilt=True
        )


def _is_meant(value: Any) -> bool:
    """True if it may be, or contain, a body."""
    if isinstance(value, JsonTextValue):
        value = value.value
    if isinstance(value, list):
        return (
            bool(value)
            and all(isinstance(v, dict) for v in value)
            and bool(KEYS & value[0].keys() or "role" in value[0])
        )
    return isinstance(value, dict) and bool(KEYS & value.keys())
