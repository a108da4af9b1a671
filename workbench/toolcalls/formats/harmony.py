"""Harmony (gpt-oss): every message names its channel, and a message with a recipient is a call.

Facts: openai/harmony ``docs/format.md``; the recipient may be with the role or with the channel (harmony#40);
gpt-oss's own template writes ``commentary json`` without ``<|constrain|>``. Headers that models get wrong are read as
far as they say a recipient (harmony#38, #97, #114; ggml-org/llama.cpp#27720).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import UNCLOSED
from workbench.toolcalls.formats import Prose, TextCall, TextParser
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._json_tags import StringWatch, calls_behind
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import names_of, parse_arguments, unknown

TAGS: Final = Tags(
    *(TagSpec(k, f"<|{k}|>") for k in ("start", "channel", "constrain", "message", "end", "call", "return"))
)
CHANNELS: Final = ("analysis", "commentary", "final")
_HEADER_FOLLOWS: Final = regex.compile(r"[^<\n]{0,200}<\|")
_HEADER_BEGINS: Final = regex.compile(r"[^<\n]{0,200}<?")
_RECIPIENT: Final = regex.compile(r"\bto=([^\s<]+)")
_TOKEN: Final = regex.compile(r"<\|(\w+)\|>")
_PEOPLE: Final = frozenset({"assistant", "user", "system", "developer", "all"})
_TYPES: Final = frozenset({"json", "code", "text"})


class HarmonyHeader(NamedTuple):
    """Header before ``<|message|>``.

    Attributes:
        role: empty if the text begins after it.
        channel: the first that is named; None if there is none.
        recipient: as written ("functions.read").
        type: stated type of the content ("json").
        problems: of the header.
    """

    role: str
    channel: str | None
    recipient: str | None
    type: str | None
    problems: tuple[str, ...] = ()

    @property
    def is_call(self) -> bool:
        """True if the model addresses a tool."""
        to = self.recipient
        return bool(to) and to not in _PEOPLE and self.role.partition(" ")[0] in ("", "assistant")


def header(text: str) -> HarmonyHeader:
    """Read a header: everything from the first token to ``<|message|>``, both left out or not."""
    text = text.removeprefix("<|start|>").removesuffix("<|message|>")
    parts = _TOKEN.split(text)
    found = _RECIPIENT.search(text)
    problems = list[str]()
    role = _RECIPIENT.sub("", parts[0]).split()
    named, kinds, spare = list[str](), list[str](), role[1:]
    for token, words in zip(parts[1::2], parts[2::2], strict=True):
        values = _RECIPIENT.sub("", words).split()
        if token == "channel":
            named.append(values[0] if values else "")
            kinds += [w for w in values[1:] if w in _TYPES]
            spare += [w for w in values[1:] if w not in _TYPES]
        elif token == "constrain":
            kinds += values[:1]
            spare += values[1:]
    if len(_RECIPIENT.findall(text)) > 1 or spare:
        problems.append("unexpected text in the header")
    if len(named) > 1:
        problems.append("more than one channel in the header")
    channel = next((n for n in named if n in CHANNELS), named[0] if named else None)
    if channel not in CHANNELS:
        problems.append("no channel" if not channel else "unknown channel")
    if any(k not in _TYPES for k in kinds):
        problems.append("unknown type of content")
    return HarmonyHeader(
        " ".join(role[:1]), channel, found[1] if found else None, kinds[0] if kinds else None, tuple(problems)
    )


@dataclass(slots=True)
class _HarmonyState:
    """State of one message.

    Attributes:
        message: the token before its content.
        header: the header, once it is complete.
        is_json: the content starts like JSON, so that tokens in its strings are text; None before it is known.
        place: pieces of the block before the content, and characters of the next.
        doubtful: the first closing token in a string: it counts if the string never ends.
    """

    message: Tag | None = None
    header: HarmonyHeader | None = None
    is_json: bool | None = None
    place: tuple[int, int] = (0, 0)
    strings: StringWatch = field(default_factory=StringWatch)
    doubtful: Tag | None = None
    end: Tag | None = None


def _state(block: Block) -> _HarmonyState:
    if block.state is None:
        block.state = _HarmonyState()
    state: _HarmonyState = block.state
    return state


class _HarmonyGrammar(PlainGrammar):
    tags = TAGS
    opens = frozenset({"start", "channel"})

    def accepts(self, opener: Tag, head: str) -> bool | None:
        if _HEADER_FOLLOWS.match(head):
            return True
        beginning = _HEADER_BEGINS.match(head)
        return None if beginning and beginning.end() == len(head) and len(head) < 210 else False

    def step(self, block: Block, tag: Tag) -> int:
        state = _state(block)
        if state.message is None:
            if tag.kind != "message":
                return GO_ON if tag.kind in ("channel", "constrain") and tag.end - block.start < 600 else BEFORE
            state.message = tag
            state.header = header("".join(block.pieces))
            state.place = (len(block.pieces), len(tag.text))
            return GO_ON if state.header.is_call else END
        if _is_in_string(block, state, tag):
            if tag.kind in ("call", "end", "return") and not state.doubtful:
                state.doubtful = tag
            return GO_ON
        if tag.kind in ("call", "end", "return"):
            state.end = tag
            return END
        return BEFORE if tag.kind in ("start", "channel") else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        state, text, base = _state(block), block.text(), block.start
        if state.message is None or state.header is None or not state.header.is_call:
            return []
        cut = state.doubtful if not block.is_closed and not state.end else None
        end = state.end or cut
        stop = end.start - base if end else TAGS.find_partial(text, 0)
        raw = text[state.message.end - base : stop].strip()
        call = _call(state.header, raw, end, block, tools)
        if call is None:
            return []
        if cut is None:
            return [call]
        rest = text[cut.end - base :]
        return [call, *calls_behind(self, rest, cut.end, tools, is_nested=block.is_nested)]


def _is_in_string(block: Block, state: _HarmonyState, tag: Tag) -> bool:
    """True if a token found now is in a JSON string of the content."""
    if state.is_json is None:
        beginning = "".join(block.pieces[state.place[0] :])[state.place[1] :]
        state.is_json = beginning.lstrip()[:1] in ("{", "[", '"')
        state.strings = StringWatch(*state.place)
    return state.is_json and state.strings.is_inside(block, tag)


def _call(head: HarmonyHeader, raw: str, end: Tag | None, block: Block, tools: Sequence[ToolDef]) -> TextCall | None:
    """The call of a message; None if it is prose despite its header."""
    recipient = head.recipient or ""
    name = recipient.removeprefix("functions.").strip(".,:;")
    value, problems = _value(name, recipient, head, raw, tools)
    is_function = recipient.startswith("functions.") or name in names_of(tools)
    if is_function and head.channel in ("analysis", "final"):
        if not isinstance(value, dict):
            return None  # prose with a recipient is prose (jundot/omlx#2032)
        problems.append(f"a call on the {head.channel} channel")
    problems += head.problems
    problems += unknown(name, names_of(tools))
    if end is None:
        problems.append(UNCLOSED)
    elif end.kind != "call":
        problems.append(f"ended by <|{end.kind}|>")
    stop = end.end if end else block.start + len(block.text())
    return TextCall(
        "harmony",
        name or None,
        value,
        raw,
        block.start,
        stop,
        problems=tuple(dict.fromkeys(problems)),
        is_nested=block.is_nested or head.channel == "analysis",
    )


def _value(
    name: str, recipient: str, head: HarmonyHeader, raw: str, tools: Sequence[ToolDef]
) -> tuple[JsonValue, list[str]]:
    """The arguments. Free-text tools and the built-in interpreter receive the text itself."""
    is_free = any(t.name == name and t.kind == "custom" for t in tools)
    if is_free or (recipient == "python" and not raw.startswith("{")):
        return raw, []
    found = parse_arguments(raw)
    value, problems = found.value, list(found.problems)
    if isinstance(value, dict) and value.get("name") == name and len(value) == 2:
        inner = value.get("parameters", value.get("arguments"))
        if isinstance(inner, dict):
            return inner, [*problems, "a call inside the arguments"]
    return value, problems


class HarmonyMessage(NamedTuple):
    """One message of a text.

    Attributes:
        call: what it calls; None where it is text.
        start, end: characters of its content.
    """

    header: HarmonyHeader
    text: str
    call: TextCall | None
    start: int
    end: int


def messages(text: str, tools: Sequence[ToolDef] = ()) -> list[HarmonyMessage]:
    """The messages of a whole text, each with its channel; text outside of messages is omitted."""
    parser = text_format.parser(tools)
    found, start = list[HarmonyMessage](), 0
    for finding in (*parser.feed(text), *parser.close()):
        if isinstance(finding, Prose):
            continue
        found += _texts(text, start, finding.start)
        opened = text.find("<|message|>", finding.start, finding.end)
        place = text.find(finding.raw, opened)
        found.append(
            HarmonyMessage(header(text[finding.start : opened]), finding.raw, finding, place, place + len(finding.raw))
        )
        start = finding.end
    return found + _texts(text, start, len(text))


def _texts(text: str, at: int, stop: int) -> list[HarmonyMessage]:
    """Messages without calls, in a part of the text."""
    found = list[HarmonyMessage]()
    begin, opened = -1, -1
    for token in [*TAGS.pattern.finditer(text, at, stop), None]:
        kind = TAGS.kind(token) if token else "end"
        place = token.start() if token else stop
        if kind in ("start", "channel", "end", "return", "call") and opened >= 0:
            found.append(HarmonyMessage(header(text[begin : opened - 11]), text[opened:place], None, opened, place))
            begin, opened = -1, -1
        if token and kind in ("start", "channel") and begin < 0:
            begin = place
        elif token and kind == "message" and begin >= 0 and opened < 0:
            opened = token.end()
    return found


class Harmony:
    """``<|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>OBJECT<|call|>``."""

    name = "harmony"
    title = "Harmony (gpt-oss)"
    markers: tuple[str, ...] = ("<|channel|>", "<|start|>")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return TagParser(_HarmonyGrammar(), tools, closes=frozenset({"end", "return"}))

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """One message for each call; a model stops after the first."""
        return "".join(
            f"<|start|>assistant<|channel|>commentary to=functions.{plain_name(c)} <|constrain|>json"
            f"<|message|>{json_text(arguments_of(c))}<|call|>"
            for c in calls
        )

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """One message for each result, with its header, because only that has the tool's name."""
        return "".join(
            f"<|start|>functions.{_author(r)} to=assistant<|channel|>commentary"
            f"<|message|>{json_text(result_text(r))}<|end|>"
            for r in results
        )


def _author(result: ToolResultIR) -> str:
    if not result.name:
        raise LocalProtocolError(
            "a tool result without its tool name", hint="Harmony identifies tool results by the tool name"
        )
    return result.name


text_format: Final = Harmony()
