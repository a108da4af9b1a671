"""Rules on a tool's result as the model receives it: lost parts, other forms, marks of failure, mix-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from workbench import protocols, regex
from workbench.chain import (
    LostPart,
    RequestToolResult,
    ToolLink,
    leaves,
    says_the_same,
    string_in,
    text_for_model,
    value_in,
)
from workbench.contracts import Finding
from workbench.ir import JsonValue, Media, Part, Text
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.clients import ClientFacts
from workbench.protocols.mcp import ToolOutcome
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import (
    CANCELLED_END,
    CONTENT_SHADOWED,
    ERROR_FLAG,
    INFO,
    RESULT_ALTERED,
    RESULT_DROPPED,
    RESULT_DUPLICATED,
    RESULT_TRUNCATED,
    STRUCTURED_DROPPED,
    TIMEOUT,
    WRONG_CALL,
    make,
    member,
    texts_of,
)
from workbench.wire import dumps

_LOST = {
    "structured": STRUCTURED_DROPPED,
    "part": RESULT_DROPPED,
    "cut": RESULT_TRUNCATED,
    "shadowed": CONTENT_SHADOWED,
    "altered": RESULT_ALTERED,
}

_REPR = regex.compile(
    r"\[?(?:TextContent|ImageContent|EmbeddedResource|CallToolResult)\(|\bmeta=None\b.*\bcontent=\[|\[object Object\]"
    r"|\btype='(?:text|image|audio|resource|resource_link)'"
    r"|\"?\[Circular\]\"?|<[\w.]+ object at 0x[0-9a-f]+>"
)
"""Texts that a language makes of its objects when nobody has written one for them."""

_PRINTED = regex.compile(
    r"<[\w.]+ object at 0x[0-9A-Fa-f]+>|\[object \w+\]|<coroutine object .*>|<generator object .*>"
)
"""Texts that are nothing but a program object, as a language prints it."""

_ESCAPED = regex.compile(r'["\n\\]')
"""Characters that are escaped in a string of JSON."""

_NEAR = 256
"""Outcomes before and behind one whose result may be told in its place."""

_MOST_WRAPS = 3
"""Limit of JSON strings nested in one another."""

_CUT = regex.compile(
    r"(?i)truncat|omitted|too (?:large|long)|exceed|characters? (?:more|left)|\bcut\b|saved to|full (?:output|content)"
)
"""Words of a notice that a text was cut."""

_STOPPED = regex.compile(
    r"(?i)\babort|\bcancel|\binterrupt|\btimed? ?out\b|\btimeout\b|\brejected\b|\bdeclined\b|\bdenied by\b"
    r"|\b(?:doesn't|does not|didn't|did not) want\b|\bnot (?:approved|executed|allowed to run)\b"
)
"""Words with which a client says that a call was not carried out, or not to its end."""

_GAVE_UP = regex.compile(r"(?i)\btime[d ]*[- ]?out\b|\bdeadline\b|-32001\b|\bwithin [\d.,]+ ?(?:ms|millis|s\b|sec)")
"""Words with which a client says that it waited in vain."""

_HEAD_OF_ERROR = 400
"""Characters of a result in which its first line of error is."""

_FAILED = regex.compile(
    r"(?i)\berr(?:or)?\b|fail|exception|invalid|denied|not found|no such|missing|refused|unable|cannot|can't"
    r"|timed? ?out|traceback|unknown|forbidden|unauthori[sz]ed|is ?error"
)
"""Words by which a model can tell that something failed."""

_SPACED = regex.compile(r"([,:{}\[\]])\s+")
_LONG = 40
"""Characters of a text that nobody repeats by chance."""

_SHORT = 8
"""Characters of encoded data that are enough to find it in a text."""


def of_text_forms(decoded: DecodedExchange, result: JsonValue) -> Iterator[Finding]:
    """Findings on texts of a server that nobody meant to send: printed objects, JSON that was encoded twice."""
    for number, text in enumerate(texts_of(result)):
        pointer = f"/result/content/{number}/text"
        if _PRINTED.fullmatch(text.strip()):
            words = (
                "the text is the printed form of a program object: the server did not encode the value that its "
                "tool returned"
            )
            yield make(decoded, RESULT_ALTERED, RESPONSE, pointer, words, quote(text))
        elif text[:1] == '"' and value_in(string_in(text)) is not None:
            words = "the text is a JSON string that contains JSON: the server encoded it twice"
            yield make(decoded, RESULT_ALTERED, RESPONSE, pointer, words, quote(text), INFO)


class OutcomeTexts:
    """Texts of what tool servers returned, read once for all results in a request."""

    def __init__(self, outcomes: Sequence[ToolOutcome]) -> None:
        self._outcomes = outcomes

    @cached_property
    def _texts(self) -> Sequence[tuple[ToolOutcome, Sequence[str], int]]:
        """Each outcome that has texts, with them and their characters together."""
        read = [(one, [text.strip() for text in texts_of(one.result) if text.strip()]) for one in self._outcomes]
        return [(one, texts, sum(map(len, texts))) for one, texts in read if texts]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {one.exchange: place for place, (one, _, _) in enumerate(self._texts)}

    def told_instead(self, words: str, outcome: ToolOutcome) -> ToolOutcome | None:
        """The first other outcome near this one whose result the words are, if they are not that of this one.

        The words are a result's if they have all of its texts, and those are long enough to be no one else's.
        """
        stripped = words.strip()
        own = self._places.get(outcome.exchange)
        if own is not None and _tells(words, stripped, *self._texts[own][1:]):
            return None
        first = max(0, (own or 0) - _NEAR)
        near = self._texts[first : first + 2 * _NEAR]
        text = (one for one, texts, size in near if one is not outcome and _tells(words, stripped, texts, size))
        return next(text, None)


def _tells(words: str, stripped: str, texts: Sequence[str], size: int) -> bool:
    return (size >= _SHORT or stripped in texts) and all(text in words for text in texts)


def of_told(
    decoded: DecodedExchange,
    link: ToolLink,
    tool_result: RequestToolResult,
    outcome: ToolOutcome,
    waiting: OutcomeTexts,
    client: ClientFacts,
) -> Iterator[Finding]:
    """Findings on one result in a model's request.

    Args:
        outcome: what the server returned for its call.
        waiting: this and further outcomes that no tool result contains yet.
        client: facts about the client.
    """
    words = text_for_model(tool_result.result)
    if outcome.state == "refused":
        yield from _of_refused(decoded, link, tool_result, outcome, words)
    if outcome.state == "unanswered" and _GAVE_UP.search(words[:_HEAD_OF_ERROR]):
        text = f"the client abandoned the call in exchange {link.exchange + 1}{_wait_text(decoded, outcome)}"
        yield make(decoded, TIMEOUT, REQUEST, link.pointer, f"{text}: the server had not answered", quote(words))
    if outcome.state != "answered":
        return
    swapped = waiting.told_instead(words, outcome) if link.lost else None
    if swapped:
        text = f"this is the result of exchange {swapped.exchange + 1}, not that of exchange {link.exchange + 1}"
        yield make(decoded, WRONG_CALL, REQUEST, link.pointer, text, f"matched {link.how}")
        return
    is_stopped = bool(_STOPPED.search(words[:200])) and bool(link.lost) and outcome.result.get("isError") is not True
    if is_stopped and not any(_STOPPED.search(text) for text in texts_of(outcome.result)):
        text = (
            f"this result says that the call was stopped, but the server carried it out in exchange {link.exchange + 1}"
        )
        yield make(decoded, CANCELLED_END, REQUEST, link.pointer, f"{text}, and received no cancellation", quote(words))
        return
    yield from _of_form(decoded, link, tool_result, outcome, words)
    yield from _of_flag(decoded, link, tool_result, outcome, words, client)
    yield from _of_media(decoded, link, tool_result, outcome)
    yield from _of_about(decoded, link, outcome, words)
    yield from (_of_lost(decoded, link, lost, words, outcome, client) for lost in link.lost)


def _of_refused(
    decoded: DecodedExchange, link: ToolLink, tool_result: RequestToolResult, outcome: ToolOutcome, words: str
) -> Iterator[Finding]:
    """A JSON-RPC error of which the model hears nothing, or not what it is."""
    if not (tool_result.result.is_error or _FAILED.search(words) or (outcome.error and outcome.error in words)):
        text = (
            f"exchange {link.exchange + 1} was answered with a JSON-RPC error, but this result does not mention "
            "the error"
        )
        yield make(decoded, ERROR_FLAG, REQUEST, link.pointer, text, quote(outcome.error))
    elif outcome.error and outcome.error not in words:
        text = f"the message of the JSON-RPC error in exchange {link.exchange + 1} (/error/message) is missing here"
        yield make(decoded, RESULT_DROPPED, REQUEST, link.pointer, text, quote(outcome.error), INFO)


def _wait_text(decoded: DecodedExchange, outcome: ToolOutcome) -> str:
    """How long a client waited at most, in words; empty if that is unknown."""
    start = decoded.exchange.started_at
    return f" within {start - outcome.began:,.0f} s" if start and outcome.began and start > outcome.began else ""


def _of_lost(
    decoded: DecodedExchange, link: ToolLink, lost: LostPart, words: str, outcome: ToolOutcome, client: ClientFacts
) -> Finding:
    message = f"{lost.size:,} bytes of {lost.pointer} in exchange {link.exchange + 1} are missing from this result"
    if lost.form:
        message = f"{lost.pointer} in exchange {link.exchange + 1} reached the model in a different form: {lost.form}"
    if lost.kind == "shadowed":
        message += ": the client forwards the structured content instead"
    is_notice = lost.kind == "part" and lost.pointer.endswith("/text") and _CUT.search(words)
    rule = RESULT_TRUNCATED if is_notice else _LOST[lost.kind]
    part = "cut" if rule is RESULT_TRUNCATED else _PARTS.get(lost.kind) or _type_of(outcome.result, lost.pointer)
    evidence = f"matched {link.how}"
    if not lost.form:  # what changes a form does it by accident, not by a rule
        evidence += f"; {by_rule_of(client, part, outcome.result)}"
    return make(decoded, rule, REQUEST, link.pointer, message, evidence)


_PARTS = {"structured": "structured", "shadowed": "text", "cut": "cut"}
"""Kind of a lost part → part of a result, as the rules of clients name it."""


def _type_of(result: JsonValue, pointer: str) -> str:
    """Type of the content to which a pointer leads."""
    number = pointer.removeprefix("/result/content/").partition("/")[0]
    content = member(result, "content")
    is_there = number.isdecimal() and isinstance(content, list) and int(number) < len(content)
    part = content[int(number)] if is_there else None
    return str(member(part, "type") or "text")


def by_rule_of(client: ClientFacts, part: str, result: JsonValue) -> str:
    """Words on whether the client always withholds such a part of a result from the model."""
    rule = client.rule_for(part, result if isinstance(result, dict) else {})
    if rule and client.name:
        return f"known behaviour of {client.name}: {rule.text} ({rule.source})"
    if rule:
        return f"the client is unknown; {rule.text}, so this may be the client's own behaviour (a guess)"
    return f"no known behaviour of {client.name} explains this" if client.name else "the client is unknown"


def _of_form(
    decoded: DecodedExchange, link: ToolLink, tool_result: RequestToolResult, outcome: ToolOutcome, words: str
) -> Iterator[Finding]:
    received = dumps(outcome.result).decode("utf-8", "replace")
    form = _REPR.search(words)
    if form and form[0] not in received:
        text = (
            f"the result of exchange {link.exchange + 1} reached the model as the printed form of program objects "
            "(such as a Python repr)"
        )
        yield make(decoded, RESULT_ALTERED, REQUEST, link.pointer, text, quote(words))
    if "�" in words and "�" not in received and "\\ufffd" not in received:
        text = f"characters in the result of exchange {link.exchange + 1} are broken (U+FFFD)"
        yield make(decoded, RESULT_ALTERED, REQUEST, link.pointer, text, quote(words))
    elif _is_wrapped(outcome.result, tool_result.result.content):
        text = f"the text of exchange {link.exchange + 1} reached the model as a JSON string, with every quote escaped"
        yield make(decoded, RESULT_ALTERED, REQUEST, link.pointer, text, quote(words), INFO)
    if _tells_twice(outcome.result, words):
        text = f"the data of exchange {link.exchange + 1} appears twice here: as text, and as structured content"
        yield make(decoded, RESULT_DUPLICATED, REQUEST, link.pointer, text, severity=INFO)
    elif (twice := _repeated_text(outcome.result, words)) is not None:
        text = f"the text of exchange {link.exchange + 1} is in this result more than once"
        yield make(decoded, RESULT_DUPLICATED, REQUEST, link.pointer, text, quote(twice), INFO)
    media = dict(_media(outcome.result))
    data = [each for part in media.values() if (each := part[:_SHORT])]
    is_shown = any(isinstance(part, Media) for part in tool_result.result.content)
    if is_shown and any(
        each in part.text for each in data for part in tool_result.result.content if isinstance(part, Text)
    ):
        text = f"the data of an image or file in exchange {link.exchange + 1} appears twice here, once as text"
        yield make(decoded, RESULT_DUPLICATED, REQUEST, link.pointer, text)
    elif not is_shown and not form and (found := next((p for p, part in media.items() if part and part in words), "")):
        text = f"{found} in exchange {link.exchange + 1} was sent as encoded text, which a model cannot read"
        yield make(decoded, RESULT_ALTERED, REQUEST, link.pointer, text, quote(words))


def _of_media(
    decoded: DecodedExchange, link: ToolLink, tool_result: RequestToolResult, outcome: ToolOutcome
) -> Iterator[Finding]:
    """Images and files of which the model got some only, or under another type."""
    sent, passed = dict(_media(outcome.result)), [p for p in tool_result.result.content if isinstance(p, Media)]
    if 0 < len(passed) < len(sent):
        text = f"{len(passed)} of {len(sent)} images and files of exchange {link.exchange + 1} are in this result"
        yield make(decoded, RESULT_DROPPED, REQUEST, link.pointer, f"{text}: {list(sent)[-1]} is missing")
    content = member(outcome.result, "content")
    for part in passed:
        mime_type = next((member(one, "mimeType") for one in content or () if member(one, "data") == part.data), None)
        if isinstance(mime_type, str) and part.media_type and part.media_type.lower() != mime_type.lower():
            origin = f"the type {quote(mime_type)} of the same data in exchange {link.exchange + 1}"
            text = f"{origin} is {part.media_type!r} here"
            yield make(decoded, RESULT_ALTERED, REQUEST, link.pointer, text)


def _of_about(decoded: DecodedExchange, link: ToolLink, outcome: ToolOutcome, words: str) -> Iterator[Finding]:
    """Embedded resources whose text the model got, but not where it is from."""
    content = member(outcome.result, "content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        uri, text = member(part, "resource", "uri"), member(part, "resource", "text")
        if isinstance(uri, str) and isinstance(text, str) and text.strip() in words and uri not in words:
            text = f"/result/content/{number}/resource/uri in exchange {link.exchange + 1} is missing from this result"
            yield make(decoded, RESULT_DROPPED, REQUEST, link.pointer, text, quote(uri), INFO)


def _is_wrapped(result: JsonValue, parts: Sequence[Part]) -> bool:
    """The model got a text only as a string within JSON, maybe one that is itself within JSON."""
    texts = [text.strip() for text in texts_of(result) if _ESCAPED.search(text)]
    if not texts or member(result, "structuredContent") is not None or not all(isinstance(p, Text) for p in parts):
        return False
    passed = [part.text for part in parts if isinstance(part, Text)]
    for depth in range(_MOST_WRAPS + 1):
        if all(any(text in each for each in passed) for text in texts):
            return depth > 0
        passed = [leaf for each in passed for leaf in leaves(value_in(each)) if isinstance(leaf, str)]
    return False


def _tells_twice(result: JsonValue, words: str) -> bool:
    """The model got a text of the content, and beside it the structured content that says the same."""
    structured, texts = member(result, "structuredContent"), texts_of(result)
    if structured is None or len(texts) != 1 or not says_the_same(texts[0], structured):
        return False
    rest, value = words.replace(texts[0], "", 1), dumps(structured).decode("utf-8", "replace")
    return len(rest) < len(words) and len(value) > _SHORT and value in _without_spaces(rest)


def _repeated_text(result: JsonValue, words: str) -> str | None:
    """A text that the model got more often than the server sent it."""
    texts = texts_of(result)
    long = (text.strip() for text in texts if len(text.strip()) > _LONG)
    return next((text for text in long if words.count(text) > sum(each.count(text) for each in texts)), None)


def _without_spaces(text: str) -> str:
    """A text without spaces behind the commas and colons of JSON, as ``dumps`` writes it."""
    return _SPACED.sub(r"\1", text)


def _media(result: dict[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Pointer and encoded data of each image or audio of a result."""
    content = result.get("content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        if isinstance(part, dict) and isinstance(part.get("data"), str):
            yield f"/result/content/{number}", part["data"]


def _of_flag(
    decoded: DecodedExchange,
    link: ToolLink,
    tool_result: RequestToolResult,
    outcome: ToolOutcome,
    words: str,
    client: ClientFacts,
) -> Iterator[Finding]:
    is_failure, is_marked = outcome.result.get("isError") is True, tool_result.result.is_error
    where = f"exchange {link.exchange + 1}"
    how = f"matched {link.how}"
    if is_failure and not is_marked:
        how = f"{how}; {by_rule_of(client, 'error_flag', outcome.result)}"
        if decoded.protocol and protocols.get(decoded.protocol).capabilities.tools.error_flag:
            text = f"the result of {where} is an error (isError), but this tool result is not marked as an error"
            yield make(decoded, ERROR_FLAG, REQUEST, link.pointer, text, how)
        elif not _FAILED.search(words):
            text = f"the result of {where} is an error (isError), but the text for the model does not mention the error"
            yield make(decoded, ERROR_FLAG, REQUEST, link.pointer, text, how)
    elif is_marked and not is_failure:
        text = f"the result of {where} is a success, but is marked as an error here"
        yield make(decoded, ERROR_FLAG, REQUEST, link.pointer, text, how)
