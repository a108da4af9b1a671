"""Scripts: the answers of a scripted model, turn by turn, as a YAML file.

version: 1
dials: {parallel: 2}                # for every turn, and for requests that match no turn
turns:
- match: {text: weather, turn: 1}   # part of the user's text, number of the answer; also model, tool, results
  dials: {arguments: truncated}
  answer:
    thinking: The user wants the weather.
    text: Let me look.
    calls: [{name: get_weather, arguments: {city: Paris}}]
  times: 1                          # for one request; without it for all
"""

from __future__ import annotations

from typing import Any

from workbench.config import safeyaml
from workbench.contracts import Node
from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.simulator._dials import Dials, dials_of
from workbench.simulator._model import RequestMatch, ScriptedAnswer, ScriptedCall, ScriptedModel, ScriptTurn


def read_script(text: bytes | str, name: str, base: Dials | None = None) -> ScriptedModel:
    """The model of a script.

    Args:
        text: the YAML text.
        name: for error messages.
        base: dials that the script adds to.

    Raises:
        ProfileError: it is not a script; with file and pointer.
        UnreadableInput: it is not YAML.
    """
    root = Node(safeyaml.load(text, name=name), name)
    if not isinstance(root.value, dict) or root.get("version").value != 1:
        raise root.fail("not a script: it must begin with 'version: 1'")
    root.only("version", "dials", "turns")
    dials = _dials(root.get("dials"), base or Dials())
    return ScriptedModel(dials, tuple(_turn(node, dials) for node in root.get("turns").items()))


def _turn(node: Node, base: Dials) -> ScriptTurn:
    node.only("match", "dials", "answer", "times")
    return ScriptTurn(
        match=_match(node.get("match")),
        dials=_dials(node.get("dials"), base),
        answer=_answer(node.get("answer")),
        times=_count(node.get("times")),
    )


def _dials(node: Node, base: Dials) -> Dials:
    try:
        return dials_of({key: value.value for key, value in node.members()}, base)
    except UsageError as error:
        raise node.fail(f"{error.what} ({error.hint})" if error.hint else error.what) from error


def _match(node: Node) -> RequestMatch:
    node.only("text", "model", "tool", "results", "turn")
    results = node.get("results").value
    if results is not None and not isinstance(results, bool):
        raise node.get("results").fail("neither true nor false")
    texts = {key: node.get(key).text("") for key in ("text", "model", "tool")}
    return RequestMatch(**texts, results=results, turn=_count(node.get("turn")))


def _answer(node: Node) -> ScriptedAnswer:
    node.only("text", "thinking", "calls")
    keys = (key for key in ("text", "thinking") if node.get(key).value is not None)
    texts: dict[str, Any] = {key: node.get(key).text() for key in keys}
    calls = None if node.get("calls").value is None else tuple(_call(item) for item in node.get("calls").items())
    return replace(ScriptedAnswer(calls=calls), **texts)


def _call(node: Node) -> ScriptedCall:
    node.only("name", "arguments")
    arguments: JsonValue = node.get("arguments").value
    return ScriptedCall(node.get("name").text(), arguments)


def _count(node: Node) -> int:
    count = 0 if node.value is None else node.number()
    if count < 0:
        raise node.fail("must not be negative")
    return count
