"""Answers that are broken although they came with status 200: results that nobody gave, calls that nobody made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, takewhile

from workbench import protocols, regex
from workbench.chain import CallLine, CallState
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Message, ModelResponse, NodeRef, Text, ToolCallIR
from workbench.protocols import REQUEST, RESPONSE, last_where
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, with_related
from workbench.toolcalls.formats import TextCall, find_calls

WARNING = Severity.WARNING

MADE_UP = Rule(
    "content.made-up-result",
    WARNING,
    "A response relies on a tool result that does not exist.",
    breaks=Breaks.CONVERSATION,
)
PHANTOM = Rule("text.phantom-call", WARNING, "Text about a call was parsed as a call.", breaks=Breaks.CONVERSATION)

RULES = (MADE_UP, PHANTOM)

MOST_NAMED = 3
"""Calls that a finding names."""

_RESULT = regex.compile(
    r"<(?:\|)?(?:tool_response|tool_result|tool_output|function_results?|function_response|observation)s?(?:\|)?>"
    r"|<｜tool▁outputs?▁begin｜>|(?m:^Observation:)|^\s*tools?(?:_| underscore )outputs?\b"
)
"""Markup in which chat templates and agents pass a tool result: only clients write it. Gemini Live reads out the name
of its own (python-genai issue 789, livekit agents issue 2174)."""

_FENCE = regex.compile(r"(?m)^[ \t>]*(?:`{3,}|~{3,})[^\n`]*$")
_TICKS = regex.compile(r"`+")


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on what an answer states, and on calls that were read out of prose."""
    answer = case.decoded.answer
    if answer is not None and not answer.error and case.status < 300:
        yield from _over_open_calls(case, answer)
        yield from _written_results(case, answer)
        yield from _cut_from_quotes(case, answer)
        yield from _said_behind_calls(case, answer)
    yield from _taken_up(case)


def _over_open_calls(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """Text that follows a call whose result the model never saw."""
    if any(True for m in answer.messages for _ in m.tool_calls()):
        return
    question = last_where(case.messages, _is_question)
    lines = [
        *islice((line for line in case.closure.flawed_lines_from(question + 1) if _is_open(case, line)), MOST_NAMED)
    ]
    if not lines:
        return
    names = ", ".join(dict.fromkeys(f"{quote(line.id, 60)} of {quote(line.name, 60)}" for line in lines))
    for n, message in enumerate(answer.messages):
        for k, part in enumerate(message.parts):
            if isinstance(part, Text) and part.text.strip():
                text = f"the model answered without having seen the result of {names}"
                evidence = f"{case.pointer(lines[0].call)} of the request" if lines[0].call else ""
                yield case.at(MADE_UP, NodeRef(RESPONSE, n, k), text, evidence=evidence)
                return


def _is_open(case: RuleContext, line: CallLine) -> bool:
    """A call without a result anywhere."""
    if line.call is None or line.call.side != REQUEST or line.results or line.is_server:
        return False
    if line.state not in (CallState.MISSING, CallState.PENDING) or line.stands_for:
        return False
    turn = line.call.message
    behind = takewhile(lambda each: not each.call or each.call.message == turn, case.closure.flawed_lines_from(turn))
    return all(other.stands_for != line.call for other in behind)


def _is_question(message: Message) -> bool:
    return message.role == "user" and any(isinstance(p, Text) and p.text.strip() for p in message.parts)


def _written_results(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """The markup of a result in the text of an answer: the model wrote it, no tool did."""
    if not case.tools:
        return
    for n, message in enumerate(answer.messages):
        for k, part in enumerate(message.parts):
            found = _RESULT.search(part.text) if isinstance(part, Text) else None
            if isinstance(part, Text) and found and not _is_quoted(part.text[: found.start()]):
                text = f"the model wrote a tool result itself, {quote(found[0])}; no tool was run"
                ref = NodeRef(RESPONSE, n, k)
                yield case.within(MADE_UP, ref, "text", found.span(), text, evidence=quote(part.text[found.start() :]))


def _said_behind_calls(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """Text behind a call in one turn of blocks: these models stop after their calls, so it speaks of no result."""
    if not protocols.traits(case.decoded.protocol).ends_with_calls:
        return
    for n, message in enumerate(answer.messages):
        calls = [k for k, part in enumerate(message.parts) if isinstance(part, ToolCallIR) and not part.is_server]
        for k, part in enumerate(message.parts):
            if calls and k > calls[-1] and isinstance(part, Text) and part.text.strip():
                text = "text follows the last call of this turn: the model wrote it without the result of the call"
                yield case.at(MADE_UP, NodeRef(RESPONSE, n, k), text, evidence=quote(part.text))
                return


def _cut_from_quotes(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """A call whose text before it ends inside Markdown code: a parser took a quotation for a call."""
    text = ""
    for n, message in enumerate(answer.messages):
        if any(isinstance(part, Text) for part in message.parts):
            text = ""  # else it is a call that is an item of its own, behind the text
        for k, part in enumerate(message.parts):
            if isinstance(part, Text):
                text += part.text
            elif isinstance(part, ToolCallIR) and not part.is_server and _is_quoted(text.rstrip()):
                what = f"the text before this call to {quote(part.name, 60)} is an unclosed code block"
                words = f"{what}: the model only wrote about a call; a parser mistook the text for a call"
                yield case.at(PHANTOM, NodeRef(RESPONSE, n, k), words, evidence=quote(text[-80:]))
                break


def _taken_up(case: RuleContext) -> Iterator[Finding]:
    """A call of the history that the answer it is in holds as a quotation only."""
    if not case.earlier.answers:
        return
    exchange, answer = case.earlier.answers[-1]
    if any(True for m in answer.messages for _ in m.tool_calls()):
        return
    quoted = _quoted_calls(case, answer)
    for n, message in enumerate(case.messages) if quoted else ():
        for k, call in message.tool_calls():
            quoted_call = quoted.get(call.name or "")
            if quoted_call is not None and quoted_call.input == call.input:
                text = f"the model only quoted a call to {quote(call.name, 60)}; a parser mistook the text for a call"
                where = f"exchange {exchange + 1} quotes this tool call in a code block, but contains no tool call"
                evidence = f"{where}: {quote(quoted_call.raw)}"
                yield with_related(case.at(PHANTOM, NodeRef(REQUEST, n, k), text, evidence=evidence), [])


def _quoted_calls(case: RuleContext, answer: ModelResponse) -> Mapping[str, TextCall]:
    """Name → call that is inside Markdown code of an answer."""
    tools = tuple(case.tools.values())
    found: dict[str, TextCall] = {}
    for message in answer.messages:
        for part in message.parts:
            if isinstance(part, Text) and "`" in part.text:
                plain = {(c.name, str(c.input)) for c in find_calls(part.text, tools)}
                bare = _TICKS.sub("", _FENCE.sub("", part.text))
                found |= {c.name: c for c in find_calls(bare, tools) if c.name and (c.name, str(c.input)) not in plain}
    return found


def _is_quoted(text: str) -> bool:
    """True if the next text is in a code block or behind an open backtick."""
    if len(_FENCE.findall(text)) % 2:
        return True
    line = _FENCE.sub("", text).rpartition("\n")[2]
    return len(_TICKS.findall(line)) % 2 == 1
