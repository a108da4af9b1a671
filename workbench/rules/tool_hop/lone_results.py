"""Rules on a tool's result that need nothing but the result: a text that breaks off, and content that nobody reads.

They hold where only the tool server was recorded. What a result lost on its way to the model is judged with both hops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.protocols.clients import ClientFacts, every_client, facts_of
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import INFO, RESULT_TRUNCATED, STRUCTURED_DROPPED, WARNING, make, member, texts_of
from workbench.toolcalls.arguments import is_cut
from workbench.wire import dumps

_SHORT, _LONG = 8, 1 << 18
"""Characters of a text that is looked at: a shorter one shows nothing, and a longer one takes too long."""

_END = 60

_MARKS = (".", "!", "?", "。", "！", "？")
"""Characters that end a sentence."""


def of_lone_result(decoded: DecodedExchange, result: Mapping[str, JsonValue], agent: str) -> Iterator[Finding]:
    """Findings on what a server returned.

    Args:
        agent: what the client calls itself; empty if it did not say.
    """
    structured = result.get("structuredContent")
    for number, text in enumerate(texts_of(result)):
        if _SHORT <= len(text) <= _LONG:
            yield from _of_cut(decoded, f"/result/content/{number}/text", text, structured)
    if structured is not None and not result.get("content"):
        yield _of_unread(decoded, result, facts_of(agent) if agent else None)


def _of_cut(decoded: DecodedExchange, pointer: str, text: str, structured: JsonValue) -> Iterator[Finding]:
    """A text that ends too early: the structured content has more of it, or it is JSON without its end."""
    whole = next((each for each in _texts_in(structured) if len(each) > len(text) and each.startswith(text)), "")
    if not whole and structured is not None and is_cut(text) and _begins(text, structured):
        whole = dumps(structured).decode("utf-8", "replace")
    if whole and _is_sentence(text, whole):
        words = f"the text is the beginning of structuredContent ({len(text):,} of {len(whole):,} characters), up to"
        how = quote(text[-_END:])
        yield make(decoded, RESULT_TRUNCATED, RESPONSE, pointer, f"{words} the end of a sentence", how, INFO)
    elif whole:
        words = f"the text has the first {len(text):,} of {len(whole):,} characters that structuredContent has"
        yield make(decoded, RESULT_TRUNCATED, RESPONSE, pointer, words, quote(text[-_END:]))
    elif is_cut(text):
        words = "the text is JSON without its end: part of a file, or of a result that the server truncated"
        yield make(decoded, RESULT_TRUNCATED, RESPONSE, pointer, words, quote(text[-_END:]), INFO)


def _is_sentence(text: str, whole: str) -> bool:
    """A beginning ends with a sentence or a line, as a summary does: a limit of a size falls there by chance only."""
    rest = whole[len(text) :]
    ends = text[-1:] in _MARKS and rest[:1].isspace()
    return ends or text.endswith("\n") or (rest[:1] == "\n" and text[-1:].isalnum())


def _texts_in(structured: JsonValue) -> Iterator[str]:
    """Texts right in the structured content: servers in Python put the text there as ``result``."""
    for value in structured.values() if isinstance(structured, dict) else (structured,):
        if isinstance(value, str):
            yield value


def _begins(text: str, structured: JsonValue) -> bool:
    """A text is the beginning of this value as JSON, but for spaces."""
    whole = dumps(structured).decode("utf-8", "replace")
    return "".join(whole.split()).startswith("".join(text.split()))


def _of_unread(decoded: DecodedExchange, result: Mapping[str, JsonValue], client: ClientFacts | None) -> Finding:
    """Structured content alone: clients that read only the content have nothing for the model."""
    text = "content is empty, and only structuredContent has data: a server should return the same JSON as text"
    rule = client.rule_for("structured", result) if client and client.name else None
    if client and rule:
        how = f"known behaviour of {client.name}: {rule.text} ({rule.source})"
        text = f"{text}; {client.name} forwards nothing to the model"
        return make(decoded, STRUCTURED_DROPPED, RESPONSE, "/result/content", text, how, WARNING)
    names = ", ".join(each.name for each in every_client() if each.rule_for("structured", result))
    how = f"these clients do not read structuredContent: {names}"
    pointer = "/result/content" if member(result, "content") is not None else "/result"
    return make(decoded, STRUCTURED_DROPPED, RESPONSE, pointer, text, how, INFO)
