"""Text of an exported test: short, for readers who do not know Workbench.

Traffic is in it only as words of a comment or a docstring: escaped, shortened and wrapped, never as code.
"""

import json
import textwrap
from collections.abc import Iterator

from workbench import __version__, regex
from workbench.diff import ItemChange, ItemChangeKind, ValueDifference, compare
from workbench.formats.exporters.as_pytest._cases import ExportCase
from workbench.ir import JsonValue

TRANSCRIPT, BROKEN = "transcript.jsonl", "broken.jsonl"
VARIABLE = "WORKBENCH_TRANSCRIPT"
"""Environment variable that replaces ``TRANSCRIPT`` with another file of the folder."""

TOOLS = "tools.jsonl"
"""File of the recorded results of tool servers."""

CONTRACTS = "contracts"
"""Folder of contracts that do not ship with Workbench."""

SIGNATURE = "Needs agent-workbench[testing]. Written by Workbench"
"""Text in every exported test."""

_WIDTH = 100
_MOST_TOLD = 6
_MOST_SHOWN = 160
_QUOTES = regex.compile(r'\\|"(?=")|"\Z')


def module(case: ExportCase, *, has_contracts: bool, has_tools: bool = False) -> str:
    """The test module.

    Args:
        has_contracts: the contract is in the same folder.
        has_tools: the answers of the session's tool servers are, too.
    """
    docstring = _docstring("\n".join(_intro(case)))
    return "".join(
        (
            f'"""{docstring}\n"""\n',
            _HEAD.format(transcript=TRANSCRIPT, variable=VARIABLE, more=", own_contracts" * has_contracts),
            _places(case),
            _OWN_CONTRACTS.format(folder=CONTRACTS) if has_contracts else "",
            _TESTS,
            "" if case.is_open else _CLOSURE,
            _FINDINGS,
            _broken_test(case),
            _TOOL_TEST.format(tools=TOOLS) if has_tools else "",
        )
    )


def _intro(case: ExportCase) -> Iterator[str]:
    """Docstring lines for the reader of the test."""
    refused, provider = case.refused, case.worst.provider
    which = f"request {case.worst.number} of {TRANSCRIPT}"
    finding = refused.finding
    rules = " and ".join(case.rules)
    if finding and refused.status >= 400:
        yield f"{provider} refuses the broken request: {rules}."
    elif finding:
        yield f"{provider} accepts the broken request, but it has a fault: {rules}."
    else:
        yield f"{provider} cannot read the broken request."
    yield ""
    yield f"Broken ({_printable(case.how)}), in {which}:"
    for each in refused.findings:
        yield from _wrap(f"{each.rule} at {each.pointer or 'the root of the body'}: {each.message}")
        yield from _wrap(each.evidence) if each.evidence else ()
    if refused.status >= 400:
        yield from _wrap(f"the provider responds {refused.status}: {refused.says or '(no text)'}")
    yield ""
    yield "Fix:"
    yield from _changes(case)
    yield ""
    yield f"{TRANSCRIPT} contains the history and the fixed request, {BROKEN} the broken request."
    yield "The provider is simulated in this process from its contract: no network, no key. Run it with `pytest`;"
    yield f"`{VARIABLE}={BROKEN} pytest` runs the same tests on the broken request; they must fail."
    yield f"{SIGNATURE} {__version__} from {_printable(case.name)}."


def _changes(case: ExportCase) -> Iterator[str]:
    """Changes from the broken body to the fixed one."""
    found = compare(*case.texts())
    changes = [change for change in found.changes if change.kind is not ItemChangeKind.RESPELLED] or found.changes
    lines = [line for change in changes for line in _change(change)]
    if not found.is_read:
        lines = ["a readable body"]
    elif not lines:
        lines = ["other headers, or another URL; the bodies are the same"]
    for line in lines[:_MOST_TOLD]:
        yield from _wrap(line)
    if len(lines) > _MOST_TOLD:
        yield f"    … and {len(lines) - _MOST_TOLD} more changes"


def _change(change: ItemChange) -> Iterator[str]:
    if change.details:
        yield from map(_detail, change.details)
    else:
        where = change.after or change.before
        label = f" ({change.label})" if change.label else ""
        yield f"{change.kind}: {where}{label}" + (
            f", which was {change.before}" if change.kind is ItemChangeKind.MOVED else ""
        )


def _detail(detail: ValueDifference) -> str:
    values = {
        "added": _value(detail.after),
        "removed": _value(detail.before),
        "changed": f"{_value(detail.before)} -> {_value(detail.after)}",
    }
    return f"{detail.kind}: {detail.pointer} {values.get(detail.kind, '')}".rstrip()


def _value(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN // 2 else f"{text[: _MOST_SHOWN // 2]}… ({len(text):,} characters)"


def _wrap(text: str) -> Iterator[str]:
    """The text in a few indented lines."""
    cut = text if len(text) <= 3 * _MOST_SHOWN else f"{text[: 3 * _MOST_SHOWN]}…"
    yield from textwrap.wrap(_printable(cut), _WIDTH, initial_indent="    ", subsequent_indent="      ")


def _printable(text: str) -> str:
    """The text with unprintable characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def _docstring(text: str) -> str:
    return _QUOTES.sub(lambda found: f"\\{found[0]}", text)


def _places(case: ExportCase) -> str:
    rows = "".join(f'    {p.number}: ("{p.provider}", "{p.protocol}"),\n' for p in case.places)
    rules = ", ".join(f'"{rule}"' for rule in case.rules)
    comma = "," if len(case.rules) == 1 else ""
    return f"""
REQUESTS = {{  # number in the transcript: (contract, protocol)
{rows}}}
RULES = ({rules}{comma})  # these rules must find nothing, warnings included
"""


def _broken_test(case: ExportCase) -> str:
    refused, place = case.refused, case.worst
    reason = (
        "the provider refuses the broken request"
        if refused.status >= 400
        else "the rule finds the fault in the broken request"
    )
    checks = [f"    assert reply.status == {refused.status}"]
    for fault in refused.findings:
        rule, pointer = json.dumps(fault.rule), json.dumps(fault.pointer)
        checks.append(f"    assert ({rule}, {pointer}) in [(f.rule, f.pointer) for f in broken.found(RULES)]")
    name = "test_what_was_broken_is_refused" if refused.status >= 400 else "test_what_was_broken_is_found"
    return f'''

def {name}(strict_provider):
    """The tests above can fail: {reason}."""
    broken = recorded(HERE / "{BROKEN}", {place.number}, *REQUESTS[{place.number}])
    provider = strict_provider(broken.provider, known=broken.before)
    reply = broken.send(provider.simulator)
{chr(10).join(checks)}
'''


_HEAD = """
import os
from pathlib import Path

import pytest

from workbench.replay import Turn{more}, recorded

HERE = Path(__file__).parent
TRANSCRIPT = HERE / os.environ.get("{variable}", "{transcript}")
"""

_OWN_CONTRACTS = '''

@pytest.fixture(autouse=True)
def contract():
    """The contract does not ship with Workbench: it is next to this test."""
    with own_contracts(HERE / "{folder}"):
        yield
'''

_TESTS = '''

def body_of(turn: Turn) -> bytes:
    """The tested body: as recorded, byte for byte.

    YOUR AGENT GOES HERE. Let it build its next request from the history, and return that body instead:
    ``turn.before.exchanges`` are the requests and responses before this one, ``turn.body`` is the recorded body.
    """
    return turn.body


@pytest.fixture(params=REQUESTS, ids="request-{}".format, scope="module")
def turn(request) -> Turn:
    recorded_turn = recorded(TRANSCRIPT, request.param, *REQUESTS[request.param])
    return recorded_turn.with_body(body_of(recorded_turn))


def test_the_provider_accepts_the_request(turn, strict_provider):
    provider = strict_provider(turn.provider, known=turn.before)  # a URL on loopback
    # An agent that sends its own requests replaces the next line: my_agent.run(base_url=provider, …)
    turn.send(provider.simulator)
    assert not provider.refusals
'''

_TOOL_TEST = '''

def test_the_tool_servers_answer_as_recorded(recorded_tools):
    """No tool is run. An agent gets ``str(server)`` as the URL of its MCP server, or ``server.command`` for stdio."""
    for server in recorded_tools(HERE / "{tools}").values():
        calls = [("tools/call", {{"name": name, "arguments": given}}) for name, given, _ in server.calls]
        assert server.ask(*calls) == [response for _, _, response in server.calls]
'''

_CLOSURE = """

def test_every_call_has_its_result(turn):
    assert turn.unanswered == []
"""

_FINDINGS = """

def test_no_rule_finds_a_fault(turn):
    assert turn.findings(RULES) == []
"""
