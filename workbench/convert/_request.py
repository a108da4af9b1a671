"""What stands beside the messages of a request, cut down to what a target takes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbench.convert._caching import is_mark
from workbench.convert._parts import INPUT, fit_extra
from workbench.convert.losses import Ledger
from workbench.convert.names import fitting, rewritten
from workbench.convert.places import Places
from workbench.ir import NOTHING, JsonValue, ModelRequest, ToolChoice, ToolDef
from workbench.leaves import escape
from workbench.protocols import Capabilities, Param

_ALLOWED = "allowed_tools"
_IMPLIED = ("function", "custom")
_NO_ARGUMENTS: Mapping[str, JsonValue] = {"type": "object", "properties": {}}
_VALUES = ("const", "default", "enum", "example", "examples")
"""Keywords of a schema that hold values, and no schemas."""

FREE_TEXT = "the free text that"
"""Begins the loss of a tool that takes free text."""

_SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {INPUT: {"type": "string"}},
    "required": [INPUT],
}


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _are_texts(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_schema(value: JsonValue) -> bool:
    return isinstance(value, dict) and isinstance(value.get("schema"), dict)


_FORMS: Mapping[str, Callable[[JsonValue], bool]] = {
    **dict.fromkeys(("temperature", "top_p", "frequency_penalty", "presence_penalty"), _is_number),
    **dict.fromkeys(("max_tokens", "top_k", "seed", "thinking_budget", "count"), _is_whole),
    **dict.fromkeys(("effort", "user", "service_tier"), _is_text),
    "stop": _are_texts,
    "response_schema": _is_schema,
    "response_json": lambda value: value is True,
}


def fit_params(params: tuple[Param, ...], capabilities: Capabilities, ledger: Ledger) -> dict[str, JsonValue]:
    """Parameters that the target has a place for, and those it cannot be without."""
    held: dict[str, JsonValue] = {}
    for param in params:
        if param.value is None or param.value in ([], {}) or param.name in held:
            continue
        if is_mark(param.value):
            ledger.lose(param.pointer, "a cache marker")
        elif not param.name or param.name not in capabilities.params:
            ledger.lose(param.pointer, f"the parameter {_as_sent(param)!r:.80}")
        elif not _FORMS[param.name](param.value):
            ledger.lose(param.pointer, f"the parameter {_as_sent(param)!r:.80}, whose value is of another type")
        elif param.name == "response_schema":
            held[param.name] = _fit_schema(param, capabilities, ledger)
        else:
            held[param.name] = param.value
    for name, value in capabilities.required.items():
        if name not in held:
            held[name] = value
            ledger.lose("", f"a request without {name!r}, which the target refuses", f"{value!r} is written")
    return held


def _as_sent(param: Param) -> str:
    """A parameter by the keys it stands at: "metadata.user_id"."""
    return param.pointer[1:].replace("/", ".").replace("~1", "/").replace("~0", "~")


def _fit_schema(param: Param, capabilities: Capabilities, ledger: Ledger) -> dict[str, JsonValue]:
    held = {"schema": param.value["schema"]}
    for key, value in param.value.items():
        if key in capabilities.schema_keys:
            held[key] = value
        elif key != "schema":
            ledger.lose(f"{param.pointer}/{escape(key)}", f"the {key} of the schema of the answer")
    for key, value in capabilities.schema_required.items():
        if key not in held:
            held[key] = value
            ledger.lose(
                param.pointer, f"a schema of the answer without {key!r}, which the target refuses", f"{value!r}"
            )
    return held


def fit_thinking(
    request: ModelRequest, params: dict[str, JsonValue], capabilities: Capabilities, ledger: Ledger, places: Places
) -> str | None:
    """The switch of thinking; may take the effort out of ``params`` where the target says both in one place."""
    thinking = request.thinking
    _one_measure(thinking, params, capabilities, ledger, places)
    if capabilities.effort_is_thinking and "effort" in params:
        if thinking == "off":
            ledger.lose(places.of("effort"), "how much to think, since thinking is off")
            del params["effort"]
            return _sayable(thinking, capabilities, ledger, places)
        if thinking not in (None, "on"):
            ledger.lose(places.of("thinking"), f"thinking {thinking!r:.40}", "the effort alone says how much to think")
        return "on"
    if thinking == "on" and "thinking_budget" in params and capabilities.least_budget:
        _fit_budget(request, params, capabilities, ledger, places)
    if thinking == "on" and capabilities.budget_required and "thinking_budget" not in params:
        instead = "adaptive" if "adaptive" in capabilities.thinking else None
        said = f"thinking {instead!r}" if instead else "left out"
        ledger.lose(places.of("thinking"), "thinking without a budget, which the target asks for", said)
        return instead
    if thinking != "on" and capabilities.budget_required and "thinking_budget" in params:
        ledger.lose(places.of("thinking_budget"), "a budget of thinking, which is not switched on")
        del params["thinking_budget"]
    switch = _sayable(thinking, capabilities, ledger, places)
    if capabilities.budget_switches and switch is None and "thinking_budget" in params:
        what = "a budget of thinking without the switch, which the target asks for"
        ledger.lose(places.of("thinking_budget"), what, "thinking is switched on")
        return "on"
    return switch


def _fit_budget(
    request: ModelRequest, params: dict[str, JsonValue], capabilities: Capabilities, ledger: Ledger, places: Places
) -> None:
    """The budget of thinking, between the least that the target takes and the most tokens of the answer."""
    at, least = places.of("thinking_budget"), capabilities.least_budget
    if params["thinking_budget"] < least:
        what = f"a budget of thinking of {params['thinking_budget']}, below the {least} that the target asks for"
        ledger.lose(at, what, f"{least} is written")
        params["thinking_budget"] = least
    budget, most = params["thinking_budget"], params.get("max_tokens")
    if most is None or budget < most:
        return
    what = f"a budget of thinking of {budget}, which has to be below the {most} tokens of the answer"
    if "max_tokens" not in request.params:
        params["max_tokens"] = budget + most
        ledger.lose(at, what, f"{budget + most} tokens of the answer are allowed")
    elif most > least:
        params["thinking_budget"] = most - 1
        ledger.lose(at, what, f"{most - 1} is written")
    else:
        del params["thinking_budget"]
        ledger.lose(at, what)


def _one_measure(
    thinking: str | None, params: dict[str, JsonValue], capabilities: Capabilities, ledger: Ledger, places: Places
) -> None:
    """Take out what says how much to think, where the target has no place for it beside something else."""
    if thinking == "off" and (capabilities.effort_or_budget or capabilities.budget_switches):
        for name in ("effort", "thinking_budget"):
            if name in params:
                ledger.lose(places.of(name), "how much to think, since thinking is off")
                del params[name]
    if capabilities.effort_or_budget and "effort" in params and "thinking_budget" in params:
        ledger.lose(places.of("effort"), "the effort of thinking beside its budget", "left out: the budget is exact")
        del params["effort"]


def _sayable(thinking: str | None, capabilities: Capabilities, ledger: Ledger, places: Places) -> str | None:
    if thinking is None or thinking in capabilities.thinking:
        return thinking
    ledger.lose(places.of("thinking"), f"the switch of thinking ({thinking!r:.40})")
    return None


def fit_tools(request: ModelRequest, capabilities: Capabilities, ledger: Ledger, places: Places) -> tuple[ToolDef, ...]:
    """Tools of the client; their names are left to ``tool_names``."""
    return tuple(tool for tool in (_fit_tool(t, capabilities, ledger, places) for t in request.tools) if tool)


def _fit_tool(tool: ToolDef, capabilities: Capabilities, ledger: Ledger, places: Places) -> ToolDef | None:
    kind = tool.extra.get("type")
    if tool.kind == "server":
        ledger.lose(tool.pointer, f"the server tool {tool.name or kind!r:.80}")
        return None
    if tool.name is None:
        ledger.lose(tool.pointer, "a tool without a name")
        return None
    if tool.schema is None and kind not in (None, *_IMPLIED):
        ledger.lose(tool.pointer, f"the tool {tool.name!r:.80}, whose schema only its provider knows")
        return None
    extra = {k: v for k, v in tool.extra.items() if not (k == "type" and v in _IMPLIED)}
    fields: dict[str, Any] = {"extra": fit_extra(extra, tool.pointer, capabilities, ledger), "kind": tool.kind}
    if tool.strict is not None and (not capabilities.strict or tool.kind == "custom"):
        if tool.strict:
            ledger.lose(places.inside(tool.pointer, "strict"), f"strict decoding of the arguments of {tool.name!r:.80}")
        fields["strict"] = None
    if tool.kind == "custom" and tool.schema is not None:
        ledger.lose(tool.pointer, f"the schema of {tool.name!r:.80}, which takes free text")
    if tool.kind == "custom" and capabilities.custom_tools:
        return replace(tool, schema=None, **fields)
    schema = tool.schema
    if tool.kind == "custom":
        ledger.lose(tool.pointer, f"{FREE_TEXT} {tool.name!r:.80} takes", f"a tool with the argument {INPUT!r}")
        schema, fields["kind"] = _SCHEMA, "client"
    elif schema is None:
        schema = _NO_ARGUMENTS
    elif not isinstance(schema, dict):
        ledger.lose(tool.pointer, f"a schema of {tool.name!r:.80} that is no object", "a schema without arguments")
        schema = _NO_ARGUMENTS
    else:
        schema = _with_words(schema, places.schema(tool.pointer), ledger)
    return replace(tool, schema=dict(schema), **fields)


def _with_words(value: Any, pointer: str, ledger: Ledger) -> Any:
    """A schema without types that are no words: numbers of an enumeration that nobody else has."""
    if isinstance(value, list):
        made = [_with_words(item, f"{pointer}/{n}", ledger) for n, item in enumerate(value)]
        return value if all(map(operator.is_, made, value)) else made
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        at = f"{pointer}/{escape(key)}"
        if key == "type" and isinstance(item, int | float):
            ledger.lose(at, f"the type {item!r:.20}, which has no name")
        else:
            kept[key] = item if key in _VALUES else _with_words(item, at, ledger)
    is_same = len(kept) == len(value) and all(map(operator.is_, kept.values(), value.values()))
    return value if is_same else kept


def tool_names(request: ModelRequest, capabilities: Capabilities) -> Mapping[str, str]:
    """Name of a tool → name that the target takes; empty where all do."""
    if not capabilities.tool_name_pattern:
        return NOTHING
    used = [tool.name for tool in request.tools if tool.name]
    used += [call.name for message in request.messages for _, call in message.tool_calls() if call.name]
    fits = fitting(capabilities.tool_name_pattern, None)
    if all(map(fits, dict.fromkeys(used))):
        return NOTHING
    return {old: new for old, new in rewritten(used, fits, None).items() if old != new}


def fit_choice(
    request: ModelRequest,
    tools: tuple[ToolDef, ...],
    names: Mapping[str, str],
    capabilities: Capabilities,
    ledger: Ledger,
    places: Places,
) -> tuple[ToolChoice | None, bool | None]:
    """The choice of a tool, and the switch of parallel calls."""
    choice = _fit_choice(request, tools, names, capabilities, ledger, places)
    parallel = request.parallel
    if parallel is not None and not capabilities.parallel_switch:
        if not parallel:
            ledger.lose(places.of("parallel"), "parallel calls switched off")
        return choice, None
    if parallel is not None and capabilities.parallel_in_choice:
        if choice is not None and choice.mode == "none":
            if not parallel:
                ledger.lose(places.of("parallel"), "the switch of parallel calls, beside a choice that forbids calls")
            return choice, None
        if choice is None and parallel:
            return None, None  # the default, which would take a choice to say
        choice = choice or ToolChoice("auto")
    return choice, parallel


def _fit_choice(
    request: ModelRequest,
    tools: tuple[ToolDef, ...],
    names: Mapping[str, str],
    capabilities: Capabilities,
    ledger: Ledger,
    places: Places,
) -> ToolChoice | None:
    choice, at = request.tool_choice, places.of("tool_choice")
    if choice is None:
        return None
    if choice.mode == "other":
        choice = _allowed(choice, at, capabilities, ledger)
    if choice.mode == "tool" and request.tools and all(tool.name != choice.name for tool in tools):
        ledger.lose(at, f"the choice of {choice.name!r:.80}, a tool that is left out")
        return None
    if choice.mode in capabilities.choices:
        if choice.name is not None and choice.name in names:
            ledger.lose(at, f"the tool name {choice.name!r:.80}", f"written as {names[choice.name]!r}")
        is_named = choice.mode == "tool"
        return ToolChoice(choice.mode, names.get(choice.name or "", choice.name) if is_named else None)
    if choice.mode == "tool" and "any" in capabilities.choices:
        ledger.lose(at, f"the choice of {choice.name!r:.80}", "some tool has to be called")
        return ToolChoice("any")
    if choice.mode == "auto":
        return None  # what every protocol does unasked
    ledger.lose(
        at, f"a choice of tools of mode {_mode(choice)!r:.40}", "left out: the model is free to call tools (auto)"
    )
    return None


def _mode(choice: ToolChoice) -> str:
    kind = choice.value.get("type") if isinstance(choice.value, dict) else choice.value
    return kind if choice.mode == "other" and isinstance(kind, str) else choice.mode


def _allowed(choice: ToolChoice, at: str, capabilities: Capabilities, ledger: Ledger) -> ToolChoice:
    """A list of allowed tools of which one has to be called: the only one of them, else any tool.

    ``ToolChoiceAllowed`` (Responses) and ``ChatCompletionAllowedToolChoice`` of the official ``openai`` SDK 3.54.
    """
    value = choice.value if isinstance(choice.value, dict) and choice.value.get("type") == _ALLOWED else {}
    held = value[_ALLOWED] if isinstance(value.get(_ALLOWED), dict) else value
    tools = held.get("tools")
    if isinstance(choice.value, dict) and choice.value.get("mode") == "ANY" and "any" in capabilities.choices:
        ledger.lose(at, "a choice among some of the tools", "any tool has to be called")  # FunctionCallingConfig
        return ToolChoice("any")
    if held.get("mode") != "required" or not isinstance(tools, list) or "any" not in capabilities.choices:
        return choice
    inner = [tool.get("function", tool) for tool in tools if isinstance(tool, dict)]
    names = [tool.get("name") if isinstance(tool, dict) else None for tool in inner]
    is_forced = len(tools) == 1 and bool(names) and isinstance(names[0], str) and "tool" in capabilities.choices
    how = f"{names[0]!r:.80}, the only one, has to be called" if is_forced else "any tool has to be called"
    ledger.lose(at, f"a choice of tools of mode {_ALLOWED!r}", how)
    return ToolChoice("tool", names[0]) if is_forced else ToolChoice("any")
