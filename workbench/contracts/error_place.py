"""The place in a request that an error text names: a path in any spelling, a call id, a tool, a column of the body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from workbench import regex
from workbench.contracts.contract import Contract
from workbench.errors import WireError
from workbench.ir import HISTORIES, NOTHING, ApiError, JsonValue, Part, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange, grammars, refusals
from workbench.provenance import escape, scalars
from workbench.wire import loads, value_at

_PATH = regex.compile(r"[A-Za-z_$][\w$]*(?:\.?\[[^\[\]\s]{1,80}\]|\.[\w$-]{1,80})*")
_STEP = regex.compile(r"[^.\[\]]+")
_SLASHES = regex.compile(r"(?<![\w:/.-])#?/?(?P<path>[A-Za-z_$][\w$]{0,80}(?:/[\w$~-]{1,80}){1,40})")
_ARROWS = regex.compile(r"(?P<path>[A-Za-z_$][\w$]{0,80}(?: ?(?:->|→|›) ?[\w$-]{1,80}){1,40})")
_LISTED = regex.compile(
    r"[\[(](?P<path>\s*(?:'[^']{1,80}'|\"[^\"]{1,80}\"|\d{1,6})(?:\s*,\s*(?:'[^']{1,80}'|\"[^\"]{1,80}\"|\d{1,6})){1,40})\s*,?\s*[\])]"
)
"""Paths in the forms of JSON pointers, of Python's and Perplexity's messages, and as lists of their steps (``loc``)."""
_ITEM = regex.compile(r"'([^']*)'|\"([^\"]*)\"|(\d+)")
_CONTEXT = regex.compile(
    r"\bcontext=\((?P<path>[^)]{0,400})\)|\bat path ['\"`](?P<place>[\w.$\[\]-]{1,400})", re.IGNORECASE
)
"""A place inside the schema of a tool."""
_SCHEMAS = ("function/parameters", "parameters", "parametersJsonSchema", "input_schema", "toolSpec/inputSchema/json")
_INDEXED = regex.compile(r"\b(messages?|contents?|input|tools?|functions?)\b\W{0,3}(?:(?:at|with|in)\s+)?"
                      r"(?:(?:index|position|number|no\.?)\W{0,3}|#)(\d{1,6})\b", re.IGNORECASE)  # fmt: skip
_COLUMN = regex.compile(r"\bline (\d{1,9}),? column (\d{1,9})(?: \(char (\d{1,9})\))?", re.IGNORECASE)
_CHAR = regex.compile(
    r"\b(?:char(?:acter)?|(?:at|from|near|\() ?(?:position|offset|pos))\W{0,2}(\d{1,9})\b", re.IGNORECASE
)
_QUOTED = regex.compile(r"[`'\"“‘]([^`'\"”’\s]{1,200})[`'\"”’]")
_WRONG = regex.compile(
    r"\b(?:invalid(?: value)?|unknown(?: variant)?|unexpected|unsupported|got|found|received)\b(?: value| type)?"
    r"\W{1,4}(?P<value>[A-Za-z][\w.-]{0,80})"
)
"""A value that an error text quotes as wrong."""

LONGEST = 20_000
"""Limit of characters of an error text that are searched."""

MOST_FITS = 1000
"""Limit of elements of a list that are tried if an index is beyond its end."""

SHORTEST_ID = 4
"""Minimum length in characters of an id that is recognised in a text without quotes."""


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """Place in a request that an error text names.

    Attributes:
        pointer: into the request body.
        span: its bytes; None if the request has no such place.
        how: the place as written in the text, such as ``messages.243``.
    """

    pointer: str
    span: tuple[int, int] | None
    how: str


_ID = regex.compile(
    r"(?<![\w-])(?:(?:toolu|srvtoolu|tooluse|call|chatcmpl-tool|fc|fco|ctc|cto|rs|msg|item|ws|mcp)_[A-Za-z0-9_-]{5,120}"
    r"|functions\.\w{1,80}:\d{1,4})(?![\w-]|\.{2,3}|…)"
)
"""Form of an id; a shortened one (``call_abc...xyz``) does not match."""


class NamedIds(NamedTuple):
    """The ids of calls, results and items that an error text names.

    Attributes:
        pointers: where they are in the request.
        missing: those that do not occur in it.
    """

    pointers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def named_ids(error: ApiError, decoded: DecodedExchange) -> NamedIds:
    """The ids that an error text names, and where in the request they are."""
    if decoded.request is None:
        return NamedIds()
    text = error.message[:LONGEST]
    words = _words(text)
    pointers = [
        message.absolute(part)
        for message in decoded.messages(REQUEST)
        for part in message.parts
        if (name := _id_of(part)) and len(name) >= SHORTEST_ID and name in words
    ]
    ids = (i for i in dict.fromkeys(_ID.findall(text)) if any(c.isdecimal() for c in i))  # no word, like an error code
    return NamedIds(tuple(pointers), tuple(i for i in ids if i.encode() not in decoded.request_text))


def _id_of(part: Part) -> str | None:
    return part.id if isinstance(part, ToolCallIR) else getattr(part, "tool_call_id", None)


def find_place(
    error: ApiError,
    decoded: DecodedExchange,
    contract: Contract,
    captured: Mapping[str, str] = NOTHING,
    prefers: str = "",
) -> ErrorPlace | None:
    """The deepest place in the request that an error text names; None if it names none.

    Args:
        captured: values of the variables of a template that the text matches.
        prefers: slug of the rule that the text belongs to, which decides whether an id means the call or its result.
    """
    if decoded.request is None:
        return _at_column(error.message, decoded)
    text = error.message[:LONGEST]
    try:
        body = loads(decoded.request_text)
    except WireError:
        return _at_column(text, decoded)
    complaint = refusals.complaint_of(text)
    stated_places = (error.param or "", complaint.place if complaint else "")
    paths = list(_paths(text, stated_places, body, decoded, contract))
    best = max(paths, key=lambda found: found.pointer.count("/"), default=None)
    if best and best.pointer.count("/") > 1:
        return best
    return (
        _in_schema(text, body, decoded)
        or _by_index(text, captured, body, decoded, contract)
        or _by_id(text, decoded, prefers)
        or _by_item(text, body, decoded)
        or _by_tool(text, decoded)
        or _by_role(text, body, decoded)
        or _at_column(text, decoded)
        or best
        or _absent(text, stated_places, body, decoded, contract)
    )


def _paths(
    text: str, words: Sequence[str], body: JsonValue, decoded: DecodedExchange, contract: Contract
) -> Iterator[ErrorPlace]:
    """Paths that the text spells out, or that come with it: in the field ``param``, in a validator's form."""
    quoted, grammar = set(_QUOTED.findall(text)), grammars.grammar_of(decoded.protocol or "", contract.name)
    path_texts = (found[0] for found in _PATH.finditer(text) if not _ROLE.search(text[: found.start()]))
    for path in (words[0], *path_texts, *words[1:]):
        steps = _from_zero(_STEP.findall(path))
        if not isinstance(body, dict) or not steps:
            continue
        is_bare = len(steps) == 1 and path not in words and path not in quoted and not text.startswith(f"{path}:")
        steps = _from_root(body, steps, grammar)
        pointer = None if is_bare else _walk(body, steps, decoded, contract)
        if pointer:
            yield ErrorPlace(pointer, decoded.request_index.span(pointer), path)
        if wrong := _wrong_value(body, steps, text):
            yield ErrorPlace(wrong, decoded.request_index.span(wrong), path)
    for how, steps in _in_other_forms(text):
        if isinstance(body, dict) and len(steps) > 1 and _key(body, steps[0]) is not None:
            pointer = _walk(body, steps, decoded, contract)
            yield ErrorPlace(pointer, decoded.request_index.span(pointer), how)


def _wrong_value(body: Mapping[str, JsonValue], steps: Sequence[str], text: str) -> str:
    """The only value with the steps of a path without indices that the text says is wrong; empty if there is none."""
    key = _key(body, steps[0])
    values = body[key] if key is not None else None
    if not isinstance(values, list) or len(steps) < 2 or any(step.isdecimal() for step in steps):
        return ""
    wrong = {found["value"] for found in _WRONG.finditer(text)}
    fits = [at for at, value in _below(values, f"/{key}", steps[1:]) if value in wrong] if wrong else []
    return fits[0] if len(fits) == 1 else ""


def _below(value: JsonValue, pointer: str, rest: Sequence[str]) -> Iterator[tuple[str, JsonValue]]:
    """(pointer, text) of each text below a value with the rest of a path, through lists that it does not number."""
    if isinstance(value, list):
        for n, each in enumerate(value[:MOST_FITS]):
            yield from _below(each, f"{pointer}/{n}", rest)
    elif isinstance(value, dict):
        if rest and (key := _key(value, rest[0])) is not None:
            yield from _below(value[key], f"{pointer}/{escape(key)}", rest[1:])
        for key in ("content",) if "content" in value and (not rest or rest[0] != "content") else ():
            yield from _below(value[key], f"{pointer}/{key}", rest)
    elif isinstance(value, str) and not rest:
        yield pointer, value


def _in_other_forms(text: str) -> Iterator[tuple[str, list[str]]]:
    """(as written, its steps) of each path that is not written with dots."""
    for pattern, split in ((_SLASHES, "/"), (_ARROWS, None), (_LISTED, ",")):
        for found in pattern.finditer(text):
            path = found["path"]
            parts = (
                [next(filter(None, item), "") for item in _ITEM.findall(path)]
                if split == ","
                else (path.split(split) if split else re.split(r" ?(?:->|→|›) ?", path))
            )
            steps = [part.replace("~1", "/").replace("~0", "~") if split == "/" else part for part in parts]
            yield path, steps[1:] if steps and steps[0] in _WHOLE else steps


_WHOLE = frozenset(("body", "request"))
"""First steps that mean the whole request."""


def _in_schema(text: str, body: JsonValue, decoded: DecodedExchange) -> ErrorPlace | None:
    """A place inside the schema of a tool that the text names, or of the only tool that has it."""
    found = _CONTEXT.search(text)
    if found is None or not isinstance(body, dict):
        return None
    path = found["path"]
    steps = [a or b or c for a, b, c in _ITEM.findall(path)] if path is not None else _STEP.findall(found["place"])
    quoted = set(_QUOTED.findall(text))
    tools = list(decoded.request.tools) if decoded.request else []
    quoted_tools = [tool for tool in tools if tool.name and tool.name in quoted]
    places = [
        at
        for tool in quoted_tools or tools
        if (at := _schema_place(body, tool.pointer, steps, must_be_whole=not quoted_tools))
    ]
    return (
        ErrorPlace(places[0], decoded.request_index.span(places[0]), found[0]) if len(places) == 1 and steps else None
    )


def _schema_place(body: JsonValue, tool: str, steps: Sequence[str], *, must_be_whole: bool) -> str:
    """Pointer of the steps below the schema of a tool; empty if it has none, or not all of them."""
    for name in _SCHEMAS:
        schema, whole = _descend(body, "", [*tool.split("/")[1:], *name.split("/")])
        if whole:
            pointer, is_whole = _descend(value_at(body, schema), schema, steps)
            return pointer if is_whole or not must_be_whole else ""
    return ""


def _absent(
    text: str, words: Sequence[str], body: JsonValue, decoded: DecodedExchange, contract: Contract
) -> ErrorPlace | None:
    """A field that the request does not have, and that the grammar of its protocol knows."""
    grammar = grammars.grammar_of(decoded.protocol or "", contract.name)
    first = _PATH.match(text)
    before_colon = first[0] if first and text[first.end() : first.end() + 1] == ":" else ""
    for path in (*words, before_colon):
        steps = _STEP.findall(path)
        for step in steps[:2] if grammar and isinstance(body, dict) else ():  # the first may name the whole
            if _key(body, step) is not None:
                break
            if grammar and grammar.request_kind(step) is not None:
                return ErrorPlace(f"/{escape(step)}", None, path)
    return None


_ROLE = regex.compile(r"\brole:? *['\"`]?$")
"""Words before the name of a role, which could be the name of a member too: "after role 'tool'"."""


def _from_zero(steps: list[str]) -> list[str]:
    """The steps of a path; those of AWS's validator (``messages.2.member.content``) count from one."""
    if "member" not in steps:
        return steps
    return [
        str(max(int(step) - 1, 0)) if step.isdecimal() and after == "member" else step
        for step, after in zip(steps, [*steps[1:], ""], strict=True)
        if step != "member"
    ]


def _from_root(body: Mapping[str, JsonValue], steps: list[str], grammar: grammars.BodyGrammar | None) -> list[str]:
    """The steps from the body on: without the name that validators give the whole (GenerateContentRequest, session).

    A field that the body lacks is no such name: what follows it would be found elsewhere. ``item`` is the one of a
    message of a Realtime connection: the last of the conversation that it was added to.
    """
    items = body.get("input")
    if steps[0] == "item" and isinstance(items, list) and items:
        return ["input", str(len(items) - 1), *steps[1:]]
    at = int(len(steps) > 2 and _key(body, steps[1]) is not None and names_whole(body, steps[0], grammar))
    key = _key(body, steps[at]) or _key(body, f"{steps[at]}s")
    return [key or steps[at], *steps[at + 1 :]]


def names_whole(body: Mapping[str, JsonValue], step: str, grammar: grammars.BodyGrammar | None) -> bool:
    """Neither the body nor its grammar has the first step of a path as a field."""
    return _key(body, step) is None and (grammar is None or grammar.request_kind(step) is None)


def _walk(body: JsonValue, steps: Sequence[str], decoded: DecodedExchange, contract: Contract) -> str:
    """Pointer of the longest part of a path that exists. Names of union branches between its steps are left out."""
    key = _key(body, steps[0])
    if key is None:
        return ""
    value, pointer, rest = body[key], f"/{escape(key)}", list(steps[1:])
    if key in HISTORIES and rest and rest[0].isdecimal() and isinstance(value, list):
        message, remaining = _count_messages(rest, value, decoded, contract)
        if message is not None:
            value, pointer, rest = value[message], f"{pointer}/{message}", remaining
    return _descend(value, pointer, rest)[0]


def _descend(value: JsonValue, pointer: str, rest: Sequence[str]) -> tuple[str, bool]:
    """Pointer of the longest part of a path below a value, and whether all of the path is there.

    An index beyond a list counts what the request does not have (a message that a gateway added, a history that was
    cut since): the only element with the rest of the path is meant.
    """
    is_whole = True
    for n, step in enumerate(rest, 1):
        if isinstance(value, list) and step.isdecimal():
            if int(step) >= len(value):
                return _only_fit(value, pointer, rest[n:]) or (pointer, False)
            value, pointer = value[int(step)], f"{pointer}/{int(step)}"
        elif isinstance(value, dict) and (found := _key(value, step)) is not None:
            if n < len(rest) and value.get("type") == step and not isinstance(value[found], dict | list):
                continue  # the branch of a union, called like a text that it has
            value, pointer = value[found], f"{pointer}/{escape(found)}"
        elif isinstance(value, dict) and step.isdecimal() and _is_map(pointer) and int(step) < len(value):
            key = list(value)[int(step)]  # protobuf counts the entries of a map
            value, pointer = value[key], f"{pointer}/{escape(key)}"
        else:
            is_unnumbered = isinstance(value, list) and not step.isdecimal()  # Go names members without an index
            if is_unnumbered and (fit := _only_fit(value, pointer, rest[n - 1 :])):
                return fit
            is_whole = is_whole and n < len(rest) and _names_branch(value, step)
    return pointer, is_whole


def _names_branch(value: JsonValue, step: str) -> bool:
    """A step of a path is the kind of a value: the branch of a union, which is no step of the body."""
    kinds = (value.get("type", "custom"), value.get("role")) if isinstance(value, dict) else ()
    return step in kinds


def _only_fit(values: Sequence[JsonValue], pointer: str, rest: Sequence[str]) -> tuple[str, bool] | None:
    """The one element of a list below which the whole rest of a path is found."""
    found = (_descend(value, f"{pointer}/{n}", rest) for n, value in enumerate(values[:MOST_FITS]))
    whole = [each for each in found if each[1]]
    return whole[0] if len(whole) == 1 else None


def _is_map(pointer: str) -> bool:
    """The keys of an object are data: names of properties or definitions."""
    return pointer.rpartition("/")[2] in ("properties", "$defs", "defs", "definitions")


def _key(value: Mapping[str, JsonValue], step: str) -> str | None:
    """The member that a step means, in the body's spelling: functionResponse for function_response."""
    if step in value:
        return step
    plain_step = _plain(step)
    return next((key for key in value if _plain(key) == plain_step), None)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _count_messages(
    steps: list[str], items: Sequence[JsonValue], decoded: DecodedExchange, contract: Contract
) -> tuple[int | None, list[str]]:
    """The message that an index counts, and the steps behind it: where neighbours are merged, the index is a turn's."""
    number, rest = int(steps[0]), steps[1:]
    merged = decoded.turns
    if not contract.term("content.merges-same-role") or len(merged) != len(items):
        return (number if number < len(items) else None), rest
    inside = [n for n, (turn, _) in enumerate(merged) if turn == number]
    if not inside:
        return (number if number < len(items) else None), rest
    part = next((int(step) for step in rest[:2] if step.isdecimal()), None)
    if part is None:
        return inside[0], rest
    message = max((n for n in inside if merged[n][1] <= part), default=inside[0])
    at = next(n for n, step in enumerate(rest) if step.isdecimal())
    return message, [*rest[:at], str(part - merged[message][1]), *rest[at + 1 :]]


def _by_index(
    text: str, captured: Mapping[str, str], body: JsonValue, decoded: DecodedExchange, contract: Contract
) -> ErrorPlace | None:
    """``message at index 3``, or a number that the template of a known text counts messages or tools by."""
    found = _INDEXED.search(text)
    candidates = [(found[1], found[2], found[0])] if found else []
    candidates += [
        (name, captured[name], f"{name} {captured[name]}") for name in ("message", "tool") if name in captured
    ]
    for word, number, how in candidates:
        if not number.isdecimal():
            continue
        is_tool = word.lower().startswith(("tool", "function"))
        keys = ("tools",) if is_tool else HISTORIES
        key = next((key for key in keys if isinstance(body, dict) and isinstance(body.get(key), list)), None)
        pointer = _walk(body, [key, number], decoded, contract) if key else ""
        if pointer.count("/") > 1:
            return ErrorPlace(pointer, decoded.request_index.span(pointer), " ".join(how.split()))
    return None


def _words(text: str) -> set[str]:
    """Words of a text that may be ids."""
    words = set(re.findall(r"[\w.:\-|+/=]{4,200}", text)) | set(_QUOTED.findall(text))
    return words | {word.rstrip(".:,") for word in words}


def _by_item(text: str, body: JsonValue, decoded: DecodedExchange) -> ErrorPlace | None:
    """The id of an item that is neither call nor result: reasoning, a reference."""
    words = _words(text)
    for pointer, value in scalars(body):
        if isinstance(value, str) and pointer.endswith("/id") and len(value) >= SHORTEST_ID and value in words:
            at = pointer.rpartition("/")[0]
            return ErrorPlace(at, decoded.request_index.span(at), value)
    return None


def _by_id(text: str, decoded: DecodedExchange, prefers: str) -> ErrorPlace | None:
    """A call id: where a result with it is, if the rule is about results, else its call; the last of several."""
    tidied = _words(text)
    kinds = (
        (ToolResultIR, ToolCallIR) if "result" in prefers and "missing" not in prefers else (ToolCallIR, ToolResultIR)
    )
    for kind in kinds:
        for message in reversed(decoded.messages(REQUEST)):
            for part in reversed(message.parts):
                name = _id_of(part)
                if isinstance(part, kind) and name and len(name) >= SHORTEST_ID and name in tidied:
                    return ErrorPlace(message.absolute(part), decoded.place_of(REQUEST, message, part).span, name)
    return None


def _by_tool(text: str, decoded: DecodedExchange) -> ErrorPlace | None:
    """The name of a declared tool, in quotes."""
    quoted = set(_QUOTED.findall(text))
    for tool in decoded.request.tools if decoded.request else ():
        if tool.name and tool.name in quoted:
            return ErrorPlace(tool.pointer, decoded.request_index.span(tool.pointer), tool.name)
    return None


_NO_ROLE = regex.compile(
    r"\brole:? ?['\"`]?(?P<before>[a-z]{4,12})['\"`]?(?: role)?,? (?:is |are |was )?(?:not |un|invalid|disallowed)"
    r"|\b(?:unsupported|unknown|invalid|unexpected|unrecogni[sz]ed|disallowed)(?: message)? role:? ?['\"`]?"
    r"(?P<after>[a-z]{4,12})\b(?!.? (?:after|before|in|at)\b)",
    re.IGNORECASE,
)
"""A role that an error text says is not accepted."""


def _by_role(text: str, body: JsonValue, decoded: DecodedExchange) -> ErrorPlace | None:
    """The first message of the role that a text refuses."""
    found = _NO_ROLE.search(text)
    role = next(filter(None, found.groups()), "").lower() if found else ""
    for key in HISTORIES if role and isinstance(body, dict) else ():
        items = body[key] if isinstance(body.get(key), list) else []
        for n, item in enumerate(items):
            if isinstance(item, dict) and str(item.get("role", "")).lower() == role:
                at = f"/{key}/{n}/role"
                return ErrorPlace(at, decoded.request_index.span(at), f"role {role}")
    return None


def _at_column(text: str, decoded: DecodedExchange) -> ErrorPlace | None:
    """A line and column, or a character, of the body: the innermost value there, and its byte."""
    body = decoded.request_text
    place, char = _COLUMN.search(text), _CHAR.search(text)
    if place and place[3] is None:
        how, offset = place[0], _byte_of_line(body, int(place[1]), int(place[2]))
    elif found := place or char:
        how, offset = found[0], _byte_of_char(body, int(found[found.lastindex or 0]))
    else:
        return None
    if offset is None:
        return None
    offset = min(offset, max(len(body) - 1, 0))
    try:
        pointer = decoded.request_index.pointer_at(offset)
    except WireError:
        pointer = ""
    return ErrorPlace(pointer, (offset, min(offset + 1, len(body))), how)


def _byte_of_line(body: bytes, line: int, column: int) -> int | None:
    """Lines and columns count from one."""
    lines = body.split(b"\n")
    if not 0 < line <= len(lines) or column > len(lines[line - 1]) + 1:
        return None
    return sum(len(before) + 1 for before in lines[: line - 1]) + max(column - 1, 0)


def _byte_of_char(body: bytes, number: int) -> int | None:
    whole = body.decode("utf-8", "replace")
    return len(whole[:number].encode("utf-8", "replace")) if number <= len(whole) else None
