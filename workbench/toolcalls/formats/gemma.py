"""Gemma: ``<start_function_call>call:NAME{key:<escape>text<escape>,n:3}<end_function_call>``.

FunctionGemma writes these tokens; Gemma 4 writes the same with ``<|tool_call>``, ``<|"|>`` and ``<tool_call|>``, and
Gemini, where its server reads no calls, with ``<ctrl42>`` and ``<ctrl43>`` (googleapis/go-genai#488). Keys
are bare, strings are between two text tokens, everything else is as in JSON. Round brackets around the arguments are
read, too (seen in NousResearch/hermes-agent#7449). Several calls follow each other directly.

Facts: https://ai.google.dev/gemma/docs/functiongemma; chat templates of functiongemma-270m-it and gemma-4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import ClassVar, Final

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import DAMAGED, NO_JSON, ROUND, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text, unambiguous
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import names_of, unknown
from workbench.wire import loads

_NAME: Final = "gemma"
CALL, CLOSE, TEXT = "call", "end", "text"
_SAYS: Final = regex.compile(r"\s{0,8}call:([\w.\-]{1,128})([^{(]{0,128})(?=[{(])")
_SAYS_BEGINS: Final = "call:"
_TEXT: Final = regex.compile(r"<escape>|<\|\"\|>")
_KEY: Final = regex.compile(r"([{,]\s*)([A-Za-z_][\w\-]*)(\s*:)")
_KEY_AT_END: Final = regex.compile(r"[A-Za-z_][\w\-]*")
ESCAPE: Final = "<escape>"


class _GemmaGrammar(PlainGrammar):
    tags: ClassVar = Tags(
        TagSpec(CALL, "<start_function_call>"),
        TagSpec(CALL, "<|tool_call>"),
        TagSpec(CALL, "<ctrl42>"),
        TagSpec(CLOSE, "<end_function_call>"),
        TagSpec(CLOSE, "<tool_call|>"),
        TagSpec(CLOSE, "<ctrl43>"),
        TagSpec(TEXT, ESCAPE),
        TagSpec(TEXT, '<|"|>'),
    )
    opens: ClassVar = frozenset((CALL,))

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if ``call:`` follows."""
        text = head.lstrip()
        if len(text) < len(_SAYS_BEGINS):
            return None if _SAYS_BEGINS.startswith(text) and len(head) < 100 else False
        return text.startswith(_SAYS_BEGINS)

    def step(self, block: Block, tag: Tag) -> int:
        """End the call at a closing tag that is in no string."""
        if tag.kind == TEXT:
            block.state = not block.state  # in a string
            return GO_ON
        if block.state and tag.kind == CLOSE:
            return GO_ON
        return END if tag.kind == CLOSE else BEFORE if tag.kind == CALL else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The one call of a block."""
        text = block.text()
        closing = block.tags[-1] if block.is_closed and block.tags and block.tags[-1].kind == CLOSE else None
        body = text[len(block.opener.text) : len(text) - (len(closing.text) if closing else 0)]
        found = _SAYS.match(body)
        if not body.strip():
            return []
        if found is None:
            return [self._call(block, text, None, body, (DAMAGED,))]
        raw = body[found.end() :]
        is_round = raw.startswith("(") and raw.rstrip().endswith(")")
        value = _arguments(f"{{{raw.rstrip()[1:-1]}}}" if is_round else raw)
        problems = (
            *(() if closing else (UNCLOSED,)),
            *((DAMAGED,) if found[2].strip() else ()),
            *((ROUND,) if is_round else ()),
            *(() if isinstance(value, dict) else (NO_JSON,)),
            *unknown(found[1], self.names),
        )
        return [self._call(block, text, found[1], raw, problems, value)]

    def _call(
        self, block: Block, text: str, name: str | None, raw: str, problems: tuple[str, ...], value: JsonValue = None
    ) -> TextCall:
        end = block.start + (len(text) if block.is_closed else len(text.rstrip()))
        arguments = value if isinstance(value, dict) else None
        return TextCall(_NAME, name, arguments, raw, block.start, end, problems=problems, is_nested=block.is_nested)


def _arguments(raw: str) -> JsonValue:
    """The arguments as a value; None if they are not readable."""
    try:
        return loads("".join(_as_json(raw)).encode("utf-8", "surrogatepass"))
    except (WireError, UnicodeEncodeError):
        return None


def _as_json(raw: str) -> Iterator[str]:
    """The arguments as JSON: pieces between text tokens are strings, in the others keys get their quotes."""
    for piece, is_text in zip(_TEXT.split(raw), cycle((False, True)), strict=False):
        yield json_text(piece) if is_text else _KEY.sub(r'\1"\2"\3', piece)


class Gemma:
    """``call:NAME{…}`` between tokens."""

    name = _NAME
    title = "FunctionGemma and Gemma 4"
    markers: tuple[str, ...] = ("<start_function_call>", "<|tool_call>", "<ctrl42>call:")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_GemmaGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """The calls with the tokens of FunctionGemma."""
        text = "".join(
            f"<start_function_call>call:{_name(c)}{_value_text(arguments_of(c))}<end_function_call>" for c in calls
        )
        return unambiguous(self, text, calls, json_text)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Responses as the template writes them."""
        return "".join(
            f"<start_function_response>response:{r.name or 'unknown'}{{value:{ESCAPE}{result_text(r)}{ESCAPE}}}"
            "<end_function_response>"
            for r in results
        )


def _name(call: ToolCallIR) -> str:
    name = name_of(call)
    if not regex.compile(r"[\w.\-]{1,128}").fullmatch(name):
        raise LocalProtocolError(f"a call to {name!r} cannot be written in this format", hint="rename the tool")
    return name


def _value_text(value: JsonValue) -> str:
    if isinstance(value, str):
        return f"{ESCAPE}{value}{ESCAPE}"
    if isinstance(value, list):
        return f"[{','.join(map(_value_text, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{_key(key)}:{_value_text(inner)}' for key, inner in value.items())}}}"
    return json_text(value)


def _key(key: str) -> str:
    if not _KEY_AT_END.fullmatch(key):
        raise LocalProtocolError(f"the key {key!r} cannot be written in this format", hint="rename the parameter")
    return key


text_format: Final = Gemma()
