"""Probes in YAML: requests, expectations for each, and facts for the profile.

version: 1
name: units                      # default: the file's name
title: whether the model keeps to metric units
requests:                        # in sequence; each begins a new conversation
- words: "How far is it from A{nonce} to Paris? Use the tool."   # {nonce}: new letters in each sample
  system: Distances are in metres.
  tools:                         # built-in (probe_echo, probe_add, probe_fail_once), or declarations
  - name: distance
    description: Tells a distance.
    schema: {type: object, properties: {place: {type: string}, unit: {type: string}}, required: [place]}
  choice: auto                   # auto, none, any, or the name of a tool
  stream: false
  thinking: "on"                 # on, off, adaptive
  params: {temperature: 0}       # names as in adapters; unsupported ones are dropped
  results: {distance: 1200 m}    # results of calls; built-in tools return their own
  turns: 4                       # requests of the conversation, 1 to 20
  expect:                        # unset keys are not checked
    status: 200
    text: "1[ ,.]?200"           # regular expression found in the last text; or a list of them
    no-text: mile
    calls: [{name: distance, arguments: {unit: m}}]   # exactly these, in order; arguments: only those named. []: no
        call
    stop: stop                   # stop, tool_calls, length, filter
    findings: []                 # exactly these rules on the exchanges; "stream.*" matches a family
facts: {keeps_units: true}       # if every expectation holds
otherwise: {keeps_units: false}  # if one does not

All requests meet their expectations: pass; some: partial; none: fail. Without ``expect.status`` a refusal fails.
Statuses that say nothing about the model (401, 429, 5xx …) are never a failure, even if the probe expects another
status.

A user's own probes: one YAML or Python file each, in ``$XDG_CONFIG_HOME/workbench/probes`` or at a given path.
A Python file defines an object named ``probe``, like the built-in ones. It is a program: it runs only when it is named.
A YAML file is data (``_written``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench import regex
from workbench.config import resources, safeyaml
from workbench.contracts import Node
from workbench.errors import ProfileError, UsageError
from workbench.ir import NOTHING, JsonValue, ToolCallIR, ToolChoice, ToolDef
from workbench.lazy_dataclass import dataclass, replace
from workbench.probes._drive import PlayedConversation, drive
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed
from workbench.probes._tools import ADD, ECHO, FAIL_ONCE, Toolbox
from workbench.protocols import PARAMS
from workbench.rules import Inspector
from workbench.send.loop import AnswerCall, CallResult, Limits
from workbench.wire.session import MemorySession

OURS = {str(tool.name): tool for tool in (ECHO, ADD, FAIL_ONCE)}
MOST_TURNS, MOST_REQUESTS = 20, 50
TOKENS = 600
"""Tokens of a request and its response, for the estimate."""

_NAME = regex.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expectations for a conversation; None, or empty for texts, if not checked."""

    status: int | None = None
    text: tuple[str, ...] = ()
    no_text: tuple[str, ...] = ()
    calls: tuple[tuple[str, Mapping[str, JsonValue]], ...] | None = None
    stop: str | None = None
    findings: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class WrittenRequest:
    """One request of a YAML probe."""

    words: str
    expected: Expectation
    system: str = ""
    tools: tuple[ToolDef, ...] = ()
    choice: ToolChoice | None = None
    stream: bool = False
    thinking: str | None = None
    params: Mapping[str, JsonValue] = NOTHING
    results: Mapping[str, str] = NOTHING
    turns: int = 4


def read(text: bytes, file: str, stem: str) -> Probe:
    """Parse a YAML probe. Raises ProfileError with file and pointer, UnreadableInput."""
    root = Node(safeyaml.load(text, name=file), file)
    if not isinstance(root.value, dict) or root.get("version").value != 1:
        raise root.fail("not a probe: it must begin with 'version: 1'")
    root.only("version", "name", "title", "requests", "facts", "otherwise")
    name = root.get("name").text(stem)
    if not _NAME.fullmatch(name):
        raise root.get("name").fail("a name may contain letters, digits, dots, dashes and underscores")
    requests = tuple(_request(node) for node in root.get("requests").items())
    if not 1 <= len(requests) <= MOST_REQUESTS:
        raise root.get("requests").fail(f"1 to {MOST_REQUESTS} requests are needed")
    facts, otherwise = (_mapping(root.get(key)) for key in ("facts", "otherwise"))
    turns = sum(request.turns for request in requests)

    def script(subject: Subject) -> Script:
        return (yield from _play(subject, requests, facts, otherwise))

    return Probe(name, root.get("title").text(f"your probe: {file}"), turns, script, tokens=turns * TOKENS)


def _play(
    subject: Subject,
    requests: Sequence[WrittenRequest],
    facts: Mapping[str, JsonValue],
    otherwise: Mapping[str, JsonValue],
) -> Script:
    broken: list[str] = []
    for number, written_request in enumerate(requests):
        asking = replace(subject, thinking=written_request.thinking or subject.thinking)
        request = asking.request(
            written_request.words.replace("{nonce}", subject.nonce),
            written_request.tools,
            choice=written_request.choice,
            stream=written_request.stream,
            system=written_request.system.replace("{nonce}", subject.nonce),
            params=written_request.params,
        )
        title = f"request {number + 1} of {len(requests)}"
        limits = Limits(written_request.turns, repeats=0)
        played = yield from drive(asking, request, title, _runner(subject, written_request), limits=limits)
        wrong = wrong_of(played, written_request.expected, subject.nonce)
        broken += [f"request {number + 1}: {wrong[0]}"] if wrong else []
    return _sample(broken, len(requests), facts, otherwise)


def _sample(broken: Sequence[str], of: int, facts: Mapping[str, Any], otherwise: Mapping[str, Any]) -> Sample:
    if not broken:
        return passed("all expectations are met", **facts)
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    return (failed if len(broken) == of else partly)(broken[0] + more, **otherwise)


def _runner(subject: Subject, written_request: WrittenRequest) -> Any:
    box = Toolbox(subject.nonce)

    def run(step: AnswerCall) -> CallResult:
        result_text = written_request.results.get(step.call.name or "")
        return box.run(step) if result_text is None else CallResult(result_text.replace("{nonce}", subject.nonce))

    return run


# Expectations


def wrong_of(conversation: PlayedConversation, expected: Expectation, nonce: str) -> list[str]:
    """Unmet expectations, in words, the most important first."""
    wrong: list[str] = []
    if expected.status is None and conversation.is_refused:
        return [f"refused: {conversation.ended.text}"]
    if expected.status is not None and conversation.status != expected.status:
        wrong.append(f"status {conversation.status} instead of {expected.status}")
    calls = [call.call for call in conversation.calls]
    if expected.calls is not None and not _are(calls, expected.calls, nonce):
        wrong.append(f"the tool calls are {_call_list(calls)}")
    text = conversation.text()
    wrong += [f"the text does not match {p!r}" for p in expected.text if not re.search(_fill(p, nonce), text)]
    wrong += [f"the text matches {p!r}" for p in expected.no_text if re.search(_fill(p, nonce), text)]
    answer = conversation.answers[-1].response
    stop = answer.stop if answer else None
    if expected.stop is not None and stop != expected.stop:
        wrong.append(f"finish reason {stop!r} instead of {expected.stop!r}")
    if expected.findings is not None:
        wrong += _wrong_findings(conversation, expected.findings)
    return wrong


def _fill(pattern: str, nonce: str) -> str:
    return pattern.replace("{nonce}", nonce)


def _are(calls: Sequence[ToolCallIR], expected: Sequence[tuple[str, Mapping[str, JsonValue]]], nonce: str) -> bool:
    return len(calls) == len(expected) and all(
        call.name == name and all(_holds(call.input, key, value, nonce) for key, value in arguments.items())
        for call, (name, arguments) in zip(calls, expected, strict=True)
    )


def _holds(args: JsonValue, key: str, value: JsonValue, nonce: str) -> bool:
    expected = _fill(value, nonce) if isinstance(value, str) else value
    return isinstance(args, dict) and key in args and args[key] == expected and type(args[key]) is type(expected)


def _call_list(calls: Sequence[ToolCallIR]) -> str:
    call_texts = ", ".join(f"{call.name}({call.input!r:.80})" for call in calls[:3])
    return call_texts or "none"


def _wrong_findings(conversation: PlayedConversation, patterns: Sequence[str]) -> list[str]:
    exchanges = tuple(decoded.exchange for decoded in conversation.answers)
    found = {
        f.rule for f in Inspector(MemorySession("probe", exchanges), protocol=conversation.loop.protocol).run().findings
    }
    wrong = [f"{rule} was found" for rule in sorted(found) if not any(fnmatchcase(rule, p) for p in patterns)]
    return wrong + [f"{p} was not found" for p in patterns if not any(fnmatchcase(rule, p) for rule in found)]


# Reading


def _request(node: Node) -> WrittenRequest:
    node.only(
        *("words", "system", "tools", "choice", "stream", "thinking", "params", "results", "turns", "expect"),
    )
    tools = tuple(_tool(item) for item in node.get("tools").items())
    turns = 4 if node.get("turns").value is None else node.get("turns").number()
    if not 1 <= turns <= MOST_TURNS:
        raise node.get("turns").fail(f"1 to {MOST_TURNS} turns")
    params = _mapping(node.get("params"))
    for name in params:
        if name not in PARAMS:
            raise node.get("params").get(name).fail(f"unknown parameter; known: {', '.join(PARAMS)}")
    return WrittenRequest(
        node.get("words").text(),
        _expectation(node.get("expect")),
        node.get("system").text(""),
        tools,
        _choice(node.get("choice"), tools),
        _switch(node.get("stream")),
        _thinking(node.get("thinking")),
        params,
        {key: value.text() for key, value in node.get("results").members()},
        turns,
    )


def _thinking(node: Node) -> str | None:
    """One of three words; YAML reads two of them as booleans."""
    word = {True: "on", False: "off"}.get(node.value, node.value) if isinstance(node.value, bool) else node.value
    if word not in (None, "on", "off", "adaptive"):
        raise node.fail("on, off or adaptive")
    return word


def _tool(node: Node) -> ToolDef:
    if isinstance(node.value, str):
        if node.value not in OURS:
            raise node.fail(f"no built-in tool {node.value!r}; known: {', '.join(OURS)}")
        return OURS[node.value]
    node.only("name", "description", "schema", "strict")
    schema = _mapping(node.get("schema")) or {"type": "object", "properties": {}}
    strict = None if node.get("strict").value is None else _switch(node.get("strict"))
    return ToolDef(node.get("name").text(), node.get("description").text(""), schema, strict=strict)


def _choice(node: Node, tools: Sequence[ToolDef]) -> ToolChoice | None:
    if node.value is None:
        return None
    if node.value in ("auto", "none", "any"):
        return ToolChoice(node.text())
    if node.value not in [tool.name for tool in tools]:
        raise node.fail("auto, none, any, or the name of a tool in this request")
    return ToolChoice("tool", node.text())


def _expectation(node: Node) -> Expectation:
    node.only("status", "text", "no-text", "calls", "stop", "findings")
    calls = node.get("calls")
    return Expectation(
        None if node.get("status").value is None else node.get("status").number(),
        _patterns(node.get("text")),
        _patterns(node.get("no-text")),
        None if calls.value is None else tuple(_call(item) for item in calls.items()),
        None if node.get("stop").value is None else node.get("stop").text(),
        None if node.get("findings").value is None else node.get("findings").texts(),
    )


def _patterns(node: Node) -> tuple[str, ...]:
    found = (node.text(),) if isinstance(node.value, str) else node.texts()
    for pattern in found:
        try:
            re.compile(pattern)
        except re.error as error:
            raise node.fail(f"{pattern!r:.60} is not a regular expression: {error}") from error
    return found


def _call(node: Node) -> tuple[str, Mapping[str, JsonValue]]:
    node.only("name", "arguments")
    return node.get("name").text(), _mapping(node.get("arguments"))


def _mapping(node: Node) -> Mapping[str, JsonValue]:
    return {key: value.value for key, value in node.members()}


def _switch(node: Node) -> bool:
    if node.value is not None and not isinstance(node.value, bool):
        raise node.fail("neither true nor false")
    return bool(node.value)


PYTHON = ".py"
ENDINGS = (".yaml", ".yml", PYTHON)


def own_probes() -> Mapping[str, Path]:
    """Name → file, of those in the user's folder. Nothing is read."""
    folder = resources.own_folder("probes")
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return {}
    return {path.stem: path for path in found if path.suffix in ENDINGS and not path.name.startswith((".", "_"))}


def is_path(name: str) -> bool:
    """The typed text is a file name, not the name of a probe."""
    return name.endswith(ENDINGS) or os.sep in name


def load_own(path: Path) -> Probe:
    """Load the probe of a file.

    Raises:
        UsageError: it cannot be read.
        ProfileError: it is not a probe; with file and pointer, or the line of the program.
        UnreadableInput: it is not YAML.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", hint="a probe is one YAML or Python file") from error
    return _run(path, text) if path.suffix == PYTHON else read(text, path.name, path.stem)


def _run(path: Path, text: bytes) -> Probe:
    """The object ``probe`` of a Python file."""
    module = ModuleType(f"workbench_own_probe_{path.stem}")
    module.__file__ = str(path)
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)  # noqa: S102 - the user named this program
    except (Exception, SystemExit) as error:
        line = _line(error, str(path))
        raise ProfileError(f"{type(error).__name__}: {error}"[:300], where=f"{path.name}{line}") from error
    probe = getattr(module, "probe", None)
    if not isinstance(probe, Probe):
        raise ProfileError("no object 'probe' of type workbench.probes.Probe", where=path.name)
    return probe


def _line(error: BaseException, path: str) -> str:
    """Line of the error in the file: ``:12``; empty if unknown."""
    if isinstance(error, SyntaxError):
        return f":{error.lineno}" if error.lineno else ""
    at, found = error.__traceback__, 0
    while at:
        found = at.tb_lineno if at.tb_frame.f_code.co_filename == path else found
        at = at.tb_next
    return f":{found}" if found else ""
