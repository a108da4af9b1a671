"""Values of a request body at the pointers that contracts name, and checks that run again only where these changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache, wraps
from typing import TypeAlias, TypeVar

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.provenance import escape
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.lasting_findings import OF_FIELDS
from workbench.rules._shared.request_keys import ENVELOPE

_ENVELOPED = regex.compile(rf"^{ENVELOPE}/contents\b")
_SHARED = ("toolConfig", "tool_config", "toolconfig", "systemInstruction", "system_instruction")
"""Keys of which the parameters of a request hold a part."""

_HELD = (
    *("model", "messages", "contents", "input", "prompt", "images", "system", "instructions", "tools", "functions"),
    *("tool_choice", "function_call", "parallel_tool_calls", "stream", "previous_response_id"),
)
"""Keys that may be in fields of the request in place of its parameters."""


_CHOICES = ("tool_choice", "function_call")
"""Keys that are absent or null where the request has no choice: most have none, and the text is not searched."""


def base(decoded: DecodedExchange) -> str:
    """The pointer of the body itself, where it may be in an envelope."""
    request = decoded.request
    pointer = request.messages[0].pointer if request and request.messages else ""
    return ENVELOPE if pointer.startswith(ENVELOPE) and _ENVELOPED.match(pointer) else ""


def values_at(decoded: DecodedExchange, pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """(pointer, value) of everything at a pointer of a contract, in which ``*`` is every element. Null is nothing.

    Keys of JSON that is mapped from messages of protocol buffers are found in both of their spellings.
    """
    if decoded.request is None:
        return
    at, (first, *steps) = base(decoded), pointer[1:].split("/")
    for key, value in top(decoded, first):
        yield from _below(value, f"{at}/{escape(key)}", steps)


def is_there(decoded: DecodedExchange, pointer: str) -> bool:
    """Something is at a pointer of a contract; of the messages nothing is read for that."""
    is_list = pointer in ("/messages", "/contents", "/input")
    return (is_list and bool(decoded.messages(REQUEST))) or any(True for _ in values_at(decoded, pointer))


def params(decoded: DecodedExchange, at: str) -> Mapping[str, JsonValue]:
    """The parameters of the request in a body that is at this pointer."""
    found = decoded.request.params if decoded.request else {}
    return found.get(at[1:], {}) if at else found


def fields(decoded: DecodedExchange) -> dict[str, JsonValue]:
    """Top-level fields of a request beside the list of its messages, as written."""
    message_key, own_fields = list_key(decoded), params(decoded, base(decoded))
    keys = (key for key in dict.fromkeys((*own_fields, *_HELD, *_SHARED)) if key != message_key)
    found = ((name, value) for key in keys for name, value in top(decoded, key) if name == key)
    return {name: value for name, value in found if value is not None or name in own_fields}


def list_key(decoded: DecodedExchange) -> str:
    """Key of the list of messages of a request; empty if it has none."""
    messages = decoded.messages(REQUEST)
    return messages[0].pointer.removeprefix(base(decoded))[1:].partition("/")[0] if messages else ""


def top(decoded: DecodedExchange, first: str) -> Iterator[tuple[str, JsonValue]]:
    """(key, value) of a top-level field, in both spellings; what was parsed already is not parsed again."""
    at = base(decoded)
    is_left_out = first in _CHOICES and decoded.request is not None and decoded.request.tool_choice is None
    fields_here = params(decoded, at)
    for key, is_shared, is_elsewhere in _spellings(first):
        if key in fields_here and not is_shared:
            yield key, fields_here[key]
        elif is_elsewhere and not is_left_out:
            yield key, _member(decoded, at, key)


def spellings(key: str) -> list[str]:
    """The spellings of a top-level key."""
    return [each for each, *_ in _spellings(key)]


def is_held(key: str) -> bool:
    """The field may be in another field of a decoded request than its parameters."""
    return key in _HELD or key in _SHARED


@lru_cache(maxsize=4096)
def _spellings(key: str) -> tuple[tuple[str, bool, bool], ...]:
    """The spellings of a top-level key, and of each: parameters hold a part of it; it may be in another field."""
    spellings = dict.fromkeys((key, _snake(key)))
    return tuple((each, each in _SHARED, is_held(each)) for each in spellings)


def _member(decoded: DecodedExchange, at: str, key: str) -> JsonValue:
    """A top-level field as written in the text; None if absent."""
    if not at:
        return decoded.request_members.get(key)
    body = decoded.request_members.get(at[1:])
    return body.get(key) if isinstance(body, Mapping) else None


def _below(value: JsonValue, at: str, steps: list[str]) -> Iterator[tuple[str, JsonValue]]:
    if not steps:
        if value is not None:
            yield at, value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(value, list):
        positions = range(len(value)) if step == "*" else range(len(value))[_nth(step)]
        for n in positions:
            yield from _below(value[n], f"{at}/{n}", rest)
    elif isinstance(value, Mapping):
        step = step.replace("~1", "/").replace("~0", "~")
        keys = list(value) if step == "*" else [k for k in dict.fromkeys((step, _snake(step))) if k in value]
        for key in keys:
            yield from _below(value[key], f"{at}/{escape(key)}", rest)


def _nth(step: str) -> slice:
    """The element that a step of a pointer names, as a slice: empty where it names none."""
    is_number = re.fullmatch("0|[1-9][0-9]{0,8}", step)
    return slice(int(step), int(step) + 1) if is_number else slice(0, 0)


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda upper: "_" + upper[1].lower(), key)


T = TypeVar("T")
Check: TypeAlias = Callable[[RuleContext], Iterable[Finding]]


def reads_fields(check: Check) -> Check:
    """Declare that a check reads these of a case and nothing else.

    The contract; the URL, the announced betas and the origin of the request; its fields beside the messages.
    """

    @wraps(check)
    def run_if_changed(case: RuleContext) -> Iterable[Finding]:
        if case.carried and case.carried.has_fields:
            return ()
        silent = case.silent_checks
        if silent is None:
            return check(case)
        return () if check in silent else _listen(check, case, silent)

    return run_if_changed


def _listen(check: Check, case: RuleContext, silent: set[object]) -> Iterator[Finding]:
    """The findings of a check, which is noted if it has none."""
    is_silent = True
    for finding in check(case):
        is_silent = False
        yield replace(finding, order=OF_FIELDS) if case.carried else finding
    if is_silent:
        silent.add(check)


def fact_of_fields(decoded: DecodedExchange, find: Callable[..., T], *terms: Hashable) -> T:
    """``find(decoded, *terms)``, computed once for requests that differ in their messages alone.

    Args:
        find: a function of a module, which reads no more of the request than its fields beside the messages.
    """
    if decoded.request_reading is None:
        return find(decoded, *terms)
    known, key = decoded.request_reading.found_of_fields, (find, terms)
    if key not in known:
        known[key] = find(decoded, *terms)
    return known[key]  # type: ignore[no-any-return]
