"""Calls that were left in text, and control markers of a model's format that leaked into a field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from workbench import protocols, regex
from workbench.contracts import Breaks, Finding, Severity
from workbench.ir import Carrier, Message, ModelResponse, NodeRef, Reasoning, Text, ToolCallIR
from workbench.protocols import RESPONSE
from workbench.provenance import scalars
from workbench.rules._shared.body_values import values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, weaker
from workbench.toolcalls import NO_JSON, READABLE_PROBLEMS
from workbench.toolcalls.formats import TextCall, find_calls, stray_markers

ERROR = Severity.ERROR

UNPARSED = Rule(
    "text.unparsed-call", ERROR, "A call is written as text and was not recognised.", breaks=Breaks.CONVERSATION
)
MALFORMED = Rule(
    "text.malformed-call", ERROR, "A call is written as text with malformed markup.", breaks=Breaks.CONVERSATION
)
IN_REASONING = Rule(
    "text.call-in-reasoning", ERROR, "A call is hidden in the reasoning text.", breaks=Breaks.CONVERSATION
)
TOKEN = Rule(
    "text.special-token",
    ERROR,
    "A control token or tag of the model format leaks into a field.",
    breaks=Breaks.CONVERSATION,
)
UNCLOSED = Rule(
    "text.unclosed-tag", Severity.WARNING, "An opening tag in the text is never closed.", breaks=Breaks.CONVERSATION
)

RULES = (UNPARSED, MALFORMED, IN_REASONING, TOKEN, UNCLOSED)

_NO_MARKUP = "json-fence"
"""Format of calls that are JSON alone: an answer may look like one."""
MOST = 8
"""Findings of one kind in one answer: a text that repeats itself is one fault."""

_IN_NAME = regex.compile(r"<[|｜][^\s]*|</?[A-Za-z_][\w:]*>|\[(?:TOOL_CALLS|ARGS|CALL_ID)\]|to=functions\.|[｜▁]")
PARSED_CALLS = "parsed calls"
"""What a recording lacks that has the output of a model, and not what its server made of it."""

_STRUCTURE = regex.compile(
    r"<\|tool_calls?_(?:section_)?(?:begin|end)\|>|<\|tool_call_argument_begin\|>|<[|｜]tool▁\w+[|｜]>"
    r"|</?[|｜]DSML[|｜]\w+|\[(?:TOOL_CALLS|ARGS)\](?=\w|[\[{])|<\|(?:call|channel|constrain)\|>"
)
"""Tokens of the structure around arguments: what a parser missed of them is inside a value."""

_CODE_API = "default_api."
"""Module in which Gemini's code calls declared tools."""

_OPENED = regex.compile(r"\s*<(think|thinking|mm:think)>")


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the texts and the names in an answer."""
    answer = case.decoded.answer
    if answer is None or answer.error:
        return
    for n, message in enumerate(answer.messages):
        for k, part in enumerate(message.parts):
            ref = NodeRef(RESPONSE, n, k)
            if isinstance(part, Text):
                yield from _in_text(case, ref, part.text, answer)
            elif isinstance(part, Reasoning) and _is_apart(part, message):
                yield case.at(weaker(TOKEN), ref, _APART, evidence=quote(part.text or ""))
            elif isinstance(part, Reasoning) and part.text:
                yield from _in_reasoning(case, ref, part.text, message, answer)
                yield from _open_section(case, ref, part, message)
            elif isinstance(part, ToolCallIR):
                yield from _in_name(case, ref, part)
                yield from _in_arguments(case, ref, part)
                yield from _in_code(case, ref, part, answer)


def _in_text(case: RuleContext, ref: NodeRef, text: str, answer: ModelResponse) -> Iterator[Finding]:
    calls = find_calls(text, tuple(case.tools.values()))
    if calls and _has_output_schema(case):  # an object without markup is the answer that was asked for
        calls = tuple(call for call in calls if call.name in case.tools or call.format != _NO_MARKUP)
    if PARSED_CALLS in case.decoded.exchange.meta.get("lacks", ()):  # a server's parser reads the whole ones after this
        findings = (_left_call(case, ref, call, answer, text) for call in calls[:MOST])
        yield from (finding for finding in findings if finding.rule == MALFORMED.slug)
        return
    for call in calls[:MOST]:
        yield _copied_call(case, ref, call) if _is_parsed(call, answer) else _left_call(case, ref, call, answer, text)
    for marker in stray_markers(text, calls)[:MOST]:
        piece = (marker.start, marker.end)
        message = f"{quote(marker.text)} belongs to the model's own markup, but appears in the response text"
        yield case.within(weaker(TOKEN), ref, "text", piece, message, evidence=quote(text[marker.start :]))
    opened = _OPENED.match(text)
    if opened and f"</{opened[1]}>" not in text:
        yield case.within(UNCLOSED, ref, "text", opened.span(1), f"<{opened[1]}> has no closing tag")


def _has_output_schema(case: RuleContext) -> bool:
    """The request has a schema that the text of the response must fit."""
    places = protocols.traits(case.decoded.protocol).output_schemas
    return any(True for place in places for _ in values_at(case.decoded, place))


_APART = "the response has its reasoning in a separate field, but reasoning tags are also in the text"


def _is_apart(part: Reasoning, message: Message) -> bool:
    """Reasoning in the text, by its tags, of a message whose reasoning was taken out of the text."""
    is_tagged = part.carrier is Carrier.THINK_TEXT
    return is_tagged and any(r.text and r.carrier is not Carrier.THINK_TEXT for _, r in message.reasoning())


def _is_parsed(call: TextCall, answer: ModelResponse) -> bool:
    """The same call is among the tool calls of the answer, too."""
    parsed = (call_made for message in answer.messages for _, call_made in message.tool_calls())
    return any((call_made.name, call_made.input) == (call.name, call.input) for call_made in parsed)


def _copied_call(case: RuleContext, ref: NodeRef, call: TextCall) -> Finding:
    message = f"the call to {_call_words(call)} was parsed, but its {call.format} markup is still in the text"
    return case.within(weaker(UNPARSED), ref, "text", (call.start, call.end), message, evidence=quote(call.raw))


def _left_call(case: RuleContext, ref: NodeRef, call: TextCall, answer: ModelResponse, text: str) -> Finding:
    broken = [problem for problem in call.problems if problem not in READABLE_PROBLEMS]
    is_cut = answer.stop == "length" and "unclosed" in broken
    is_asked = _is_asked_for(case, call, text)
    is_free = is_asked and broken == [NO_JSON] and call.raw.lstrip()[:1] not in ("{", "[")  # "Action Input: 5 + 3"
    if broken and not is_cut and not is_free:
        places = zip_longest(call.problems, call.places)
        piece = next((at for problem, at in places if at and problem in broken), (call.start, call.end))
        message = f"a call to {_call_words(call)} in {call.format} markup is malformed: {', '.join(call.problems)}"
        return case.within(MALFORMED, ref, "text", piece, message, evidence=quote(call.raw))
    why = ", truncated by the output limit" if is_cut else f" ({', '.join(call.problems)})" if call.problems else ""
    form = f"{call.format} markup in plain text{why}"
    if is_asked:
        message = (
            f"the model wrote a call to {_call_words(call)} as {form}, as the prompt asks: the client must run the call"
        )
        rule = weaker(UNPARSED, Severity.INFO)
        return case.within(rule, ref, "text", (call.start, call.end), message, evidence=quote(call.raw))
    message = f"the model wrote a call to {_call_words(call)} as {form}: no client will run the call"
    message += _parser_words(case, call)
    may_be_meant = case.tools and call.name not in case.tools and call.format == _NO_MARKUP  # as an answer
    return case.within(
        weaker(UNPARSED) if may_be_meant else UNPARSED,
        ref,
        "text",
        (call.start, call.end),
        message,
        evidence=quote(call.raw),
    )


def _parser_words(case: RuleContext, call: TextCall) -> str:
    """How a server has to be started that reads this format; empty string if its contract does not say."""
    parsers = case.contract.term("answers.parsers")
    formats = parsers.get("formats") if isinstance(parsers, dict) else None
    names = formats.get(call.format) if isinstance(formats, dict) else None
    if not isinstance(parsers, dict) or not isinstance(names, list):
        return ""
    return f"; {case.contract.title} parses this format if it is started with {parsers['option']} {names[0]}"


def _is_asked_for(case: RuleContext, call: TextCall, text: str) -> bool:
    """The request declares no tools and its prompt shows this form: the client reads calls from the text itself."""
    request = case.request
    if request is None or request.tools or not call.name:
        return False
    label = text[: call.start].rpartition("\n")[2].strip()  # as of ReAct's "Action Input:"
    opening = label or f"{text[call.start : call.end].partition(call.name)[0].strip()}".rpartition("\n")[2]
    opening = opening if len(opening) >= len("call") else f"{opening}{call.name}"
    request_parts = (part for message in request.messages if message.role != "assistant" for part in message.parts)
    return any(isinstance(part, Text) and opening in part.text for part in (*request.system, *request_parts))


def _in_reasoning(
    case: RuleContext, ref: NodeRef, text: str, message: Message, answer: ModelResponse
) -> Iterator[Finding]:
    """Models think about calls; one that ends the reasoning of an answer without calls was meant."""
    yield from _end_tokens(case, ref, text)
    calls = [call for call in find_calls(text, tuple(case.tools.values())) if not text[call.end :].strip()]
    if not calls or any(True for _ in message.tool_calls()) or not answer.is_complete:
        return
    has_text = any(isinstance(part, Text) and part.text.strip() for part in message.parts)
    rule = weaker(IN_REASONING) if has_text else IN_REASONING
    for call in calls[-1:]:
        ending = f"a call to {_call_words(call)} in {call.format} markup"
        what = f"the reasoning ends with {ending}, but the response has no call"
        yield case.within(rule, ref, "text", (call.start, call.end), what, evidence=quote(call.raw))


_CONTROL = regex.compile(r"<[|｜][^<>]*[|｜]>")


def _end_tokens(case: RuleContext, ref: NodeRef, text: str) -> Iterator[Finding]:
    """A control token that ends the reasoning: the server did not take the end of the answer out of it."""
    for marker in stray_markers(text, ()):
        if not text[marker.end :].strip() and _CONTROL.fullmatch(marker.text):
            message = f"the reasoning ends with {quote(marker.text)}, which belongs to the model's own format"
            yield case.within(weaker(TOKEN), ref, "text", (marker.start, marker.end), message)


def _open_section(case: RuleContext, ref: NodeRef, part: Reasoning, message: Message) -> Iterator[Finding]:
    """Reasoning that a model wrote into its text, and that continues to the very end of it."""
    length = len(part.text or "")
    if part.carrier is not Carrier.THINK_TEXT or any(isinstance(p, Text) for p in message.parts[ref.part :]):
        return
    if not case.decoded.place_within(RESPONSE, message, part, "text", (length, length + 1)).spans:
        what = "the reasoning section is never closed: the text that should follow the reasoning is missing"
        yield case.within(UNCLOSED, ref, "text", (0, length), what, evidence=quote(part.text))


def _in_name(case: RuleContext, ref: NodeRef, call: ToolCallIR) -> Iterator[Finding]:
    found = _IN_NAME.search(call.name or "")
    if found and call.name:
        message = f"the name of a tool contains {quote(found[0], 40)}, which belongs to the model's own format"
        nearest = [name for name in case.tools if call.name.startswith(name)]
        evidence = _meant_words(nearest, call.name)
        yield case.at(TOKEN, ref, message, name="name", evidence=evidence)


def _in_arguments(case: RuleContext, ref: NodeRef, call: ToolCallIR) -> Iterator[Finding]:
    """One token of the structure in a value; a value with several shows or writes the format itself."""
    values = scalars(call.input) if call.input is not None else (("", call.raw),)
    for _, value in values:
        found = _STRUCTURE.findall(value) if isinstance(value, str) else []
        if isinstance(value, str) and len(found) == 1:
            message = f"the arguments contain {quote(found[0], 40)}, which belongs to the model's own format"
            yield case.at(weaker(TOKEN), ref, message, name="input", evidence=quote(value[value.find(found[0]) :]))
            return


def _in_code(case: RuleContext, ref: NodeRef, part: ToolCallIR, answer: ModelResponse) -> Iterator[Finding]:
    """Code for the server that calls a declared tool: a client runs only calls (python-genai issue 876)."""
    code = part.input.get("code") if part.is_server and isinstance(part.input, dict) else None
    if not isinstance(code, str) or _CODE_API not in code:
        return
    for call in find_calls(f"```tool_code\n{code}\n```", tuple(case.tools.values()))[:MOST]:
        if call.name in case.tools and not _is_parsed(call, answer):
            message = f"the model wrote a call to {_call_words(call)} as code for the server; the response has no call"
            yield case.at(weaker(UNPARSED), ref, message, name="input", evidence=quote(call.raw))


def _meant_words(declared: Sequence[str], name: str) -> str:
    return f"{quote(name)}; most likely meant: {quote(max(declared, key=len))}" if declared else quote(name)


def _call_words(call: TextCall) -> str:
    return quote(call.name, 60) if call.name else "a tool without a name"
