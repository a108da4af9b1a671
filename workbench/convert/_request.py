"""Reduces tools, tool choice, thinking and parameters of a request to what the target accepts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from workbench.convert._parts import INPUT, fit_extra
from workbench.convert.losses import LEFT_OUT, FieldPlaces, FreeTextLoss, LossReport, UnknownKeyLoss
from workbench.convert.names import name_check, rewrite_words
from workbench.convert.normal import is_cache_point
from workbench.ir import NOTHING, JsonValue, ModelRequest, ToolChoice, ToolDef
from workbench.lazy_dataclass import replace
from workbench.protocols import Capabilities, Param
from workbench.provenance import escape

_ALLOWED = "allowed_tools"
_IMPLIED = ("function", "custom")
_NO_ARGUMENTS: Mapping[str, JsonValue] = {"type": "object", "properties": {}}
_VALUES = ("const", "default", "enum", "example", "examples")
"""Schema keywords that hold values, not schemas."""

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


def fit_params(params: tuple[Param, ...], capabilities: Capabilities, report: LossReport) -> dict[str, JsonValue]:
    """Parameters that the target has a place for, and those that it requires."""
    fields: dict[str, JsonValue] = {}
    for param in params:
        if param.value is None or param.value in ([], {}) or param.name in fields:
            continue
        if is_cache_point(param.value):
            report.lose(param.pointer, "a cache breakpoint")
        elif not param.name or param.name not in capabilities.request.params:
            report.add(UnknownKeyLoss(param.pointer, f"the parameter {_dotted_name(param)!r:.80}", LEFT_OUT))
        elif not _FORMS[param.name](param.value):
            report.lose(
                param.pointer, f"the parameter {_dotted_name(param)!r:.80}, which has a value of the wrong type"
            )
        elif param.name == "response_schema":
            fields[param.name] = _fit_schema(param, capabilities, report)
        else:
            fields[param.name] = param.value
    for name, value in capabilities.request.required.items():
        if name not in fields:
            fields[name] = value
            report.lose("", f"a request without {name!r}, which the target requires", f"written as {value!r}")
    return fields


def _dotted_name(param: Param) -> str:
    """A parameter's keys joined by dots, such as "metadata.user_id"."""
    return param.pointer[1:].replace("/", ".").replace("~1", "/").replace("~0", "~")


def _fit_schema(param: Param, capabilities: Capabilities, report: LossReport) -> dict[str, JsonValue]:
    schema = {"schema": param.value["schema"]}
    for key, value in param.value.items():
        if key in capabilities.request.schema_keys:
            schema[key] = value
        elif key != "schema":
            report.lose(f"{param.pointer}/{escape(key)}", f"the {key} of the response schema")
    for key, value in capabilities.request.schema_required.items():
        if key not in schema:
            schema[key] = value
            report.lose(
                param.pointer, f"a response schema without {key!r}, which the target requires", f"written as {value!r}"
            )
    return schema


def fit_thinking(
    request: ModelRequest,
    params: dict[str, JsonValue],
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> str | None:
    """The thinking switch. Removes the effort from ``params`` if the target has one field for both."""
    thinking = request.thinking
    _drop_excess_measure(thinking, params, capabilities, report, places)
    if capabilities.reasoning.effort_is_switch and "effort" in params:
        if thinking == "off":
            report.lose(places.of("effort"), "the thinking budget or effort, because thinking is off")
            del params["effort"]
            return _supported_thinking(thinking, capabilities, report, places)
        if thinking not in (None, "on"):
            report.lose(places.of("thinking"), f"thinking {thinking!r:.40}", "only the thinking effort is written")
        return "on"
    if thinking == "on" and "thinking_budget" in params and capabilities.reasoning.least_budget:
        _fit_budget(request, params, capabilities, report, places)
    if thinking == "on" and capabilities.reasoning.budget_required and "thinking_budget" not in params:
        instead = "adaptive" if "adaptive" in capabilities.reasoning.switches else None
        how = f"thinking {instead!r}" if instead else "left out"
        report.lose(places.of("thinking"), "thinking without a budget, which the target requires", how)
        return instead
    if thinking != "on" and capabilities.reasoning.budget_required and "thinking_budget" in params:
        report.lose(places.of("thinking_budget"), "a thinking budget while thinking is not enabled")
        del params["thinking_budget"]
    switch = _supported_thinking(thinking, capabilities, report, places)
    if capabilities.reasoning.budget_switches and switch is None and "thinking_budget" in params:
        what = "a thinking budget without the field that turns thinking on"
        report.lose(places.of("thinking_budget"), what, "thinking is enabled")
        return "on"
    return switch


def _fit_budget(
    request: ModelRequest,
    params: dict[str, JsonValue],
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> None:
    """Move the thinking budget between the target's minimum and ``max_tokens``."""
    at, least = places.of("thinking_budget"), capabilities.reasoning.least_budget
    if params["thinking_budget"] < least:
        what = f"a thinking budget of {params['thinking_budget']}, below the target's minimum of {least}"
        report.lose(at, what, f"written as {least}")
        params["thinking_budget"] = least
    budget, most = params["thinking_budget"], params.get("max_tokens")
    if most is None or budget < most:
        return
    what = f"a thinking budget of {budget}, which must be below max_tokens ({most})"
    if "max_tokens" not in request.params:
        params["max_tokens"] = budget + most
        report.lose(at, what, f"max_tokens raised to {budget + most}")
    elif most > least:
        params["thinking_budget"] = most - 1
        report.lose(at, what, f"written as {most - 1}")
    else:
        del params["thinking_budget"]
        report.lose(at, what)


def _drop_excess_measure(
    thinking: str | None,
    params: dict[str, JsonValue],
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> None:
    """Remove the effort or budget of thinking if the target refuses it in combination with another setting."""
    if thinking == "off" and (capabilities.reasoning.effort_or_budget or capabilities.reasoning.budget_switches):
        for name in ("effort", "thinking_budget"):
            if name in params:
                report.lose(places.of(name), "the thinking budget or effort, because thinking is off")
                del params[name]
    if capabilities.reasoning.effort_or_budget and "effort" in params and "thinking_budget" in params:
        report.lose(
            places.of("effort"),
            "the thinking effort together with a thinking budget",
            "left out: the budget is more exact",
        )
        del params["effort"]


def _supported_thinking(
    thinking: str | None, capabilities: Capabilities, report: LossReport, places: FieldPlaces
) -> str | None:
    if thinking is None or thinking in capabilities.reasoning.switches:
        return thinking
    report.lose(places.of("thinking"), f"the thinking switch ({thinking!r:.40})")
    return None


def fit_tools(
    request: ModelRequest, capabilities: Capabilities, report: LossReport, places: FieldPlaces
) -> tuple[ToolDef, ...]:
    """The client's tools; ``tool_names`` handles their names."""
    return tuple(tool for tool in (_fit_tool(t, capabilities, report, places) for t in request.tools) if tool)


def _fit_tool(tool: ToolDef, capabilities: Capabilities, report: LossReport, places: FieldPlaces) -> ToolDef | None:
    kind = tool.extra.get("type")
    if tool.kind == "server":
        report.lose(tool.pointer, f"the server tool {tool.name or kind!r:.80}")
        return None
    if tool.name is None:
        report.lose(tool.pointer, "a tool without a name")
        return None
    if tool.schema is None and kind not in (None, *_IMPLIED):
        report.lose(tool.pointer, f"the tool {tool.name!r:.80}: only its provider knows the schema")
        return None
    extra = {k: v for k, v in tool.extra.items() if not (k == "type" and v in _IMPLIED)}
    fields: dict[str, Any] = {"extra": fit_extra(extra, tool.pointer, capabilities, report), "kind": tool.kind}
    if tool.strict is not None and (not capabilities.tools.strict or tool.kind == "custom"):
        if tool.strict:
            report.lose(places.inside(tool.pointer, "strict"), f"strict mode of the tool {tool.name!r:.80}")
        fields["strict"] = None
    if tool.kind == "custom" and tool.schema is not None:
        report.lose(tool.pointer, f"the schema of {tool.name!r:.80}, a free-text tool")
    if tool.kind == "custom" and capabilities.tools.custom:
        return replace(tool, schema=None, **fields)
    schema = tool.schema
    if tool.kind == "custom":
        what, instead = f"the free-text input of {tool.name!r:.80}", f"a function with one argument {INPUT!r}"
        report.add(FreeTextLoss(tool.pointer, what, instead))
        schema, fields["kind"] = _SCHEMA, "client"
    elif schema is None:
        schema = _NO_ARGUMENTS
    elif not isinstance(schema, dict):
        report.lose(
            tool.pointer,
            f"a schema of {tool.name!r:.80} that is not an object",
            "written as a schema without arguments",
        )
        schema = _NO_ARGUMENTS
    else:
        below = LossReport()
        schema = _with_named_types(schema, "", below)
        for loss in below.losses():
            report.lose(places.schema(tool.pointer) + loss.pointer, loss.what, loss.instead)
    return replace(tool, schema=dict(schema), **fields)


def _with_named_types(value: Any, pointer: str, report: LossReport) -> Any:
    """The schema without numeric types: Gemini's enumeration numbers, which no other protocol has."""
    if isinstance(value, list):
        items = [_with_named_types(item, f"{pointer}/{n}", report) for n, item in enumerate(value)]
        return value if all(map(operator.is_, items, value)) else items
    if not isinstance(value, dict):
        return value
    schema = {}
    for key, item in value.items():
        at = f"{pointer}/{escape(key)}"
        if key == "type" and isinstance(item, int | float):
            report.lose(at, f"the type {item!r:.20}, a number instead of a name")
        else:
            schema[key] = item if key in _VALUES else _with_named_types(item, at, report)
    is_same = len(schema) == len(value) and all(map(operator.is_, schema.values(), value.values()))
    return value if is_same else schema


def tool_names(request: ModelRequest, capabilities: Capabilities) -> Mapping[str, str]:
    """Tool name → name that the target accepts; empty if it accepts all."""
    if not capabilities.tools.name_pattern:
        return NOTHING
    used = [tool.name for tool in request.tools if tool.name]
    used += [call.name for message in request.messages for _, call in message.tool_calls() if call.name]
    fits = name_check(capabilities.tools.name_pattern, None)
    if all(map(fits, dict.fromkeys(used))):
        return NOTHING
    return {old: new for old, new in rewrite_words(used, fits, None).items() if old != new}


def fit_choice(
    request: ModelRequest,
    tools: tuple[ToolDef, ...],
    names: Mapping[str, str],
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> tuple[ToolChoice | None, bool | None]:
    """The tool choice, and the switch for parallel calls."""
    choice = _fit_choice(request, tools, names, capabilities, report, places)
    parallel = request.parallel
    if parallel is not None and not capabilities.tools.parallel_switch:
        if not parallel:
            report.lose(places.of("parallel"), "parallel tool calls switched off")
        return choice, None
    if parallel is not None and capabilities.tools.parallel_in_choice:
        if choice is not None and choice.mode == "none":
            if not parallel:
                report.lose(
                    places.of("parallel"), "the setting for parallel tool calls, because the tool choice forbids calls"
                )
            return choice, None
        if choice is None and parallel:
            return None, None  # parallel is the default; writing it would need a tool_choice
        choice = choice or ToolChoice("auto")
    return choice, parallel


def _fit_choice(
    request: ModelRequest,
    tools: tuple[ToolDef, ...],
    names: Mapping[str, str],
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> ToolChoice | None:
    choice = request.tool_choice
    if choice is None:
        return None
    at = places.of("tool_choice")
    if choice.mode == "other":
        choice = _fit_allowed_tools(choice, at, capabilities, report)
    if choice.mode == "tool" and request.tools and all(tool.name != choice.name for tool in tools):
        report.lose(at, f"the tool choice {choice.name!r:.80}, because its tool is left out")
        return None
    if choice.mode in capabilities.tools.choices:
        if choice.name is not None and choice.name in names:
            report.lose(at, f"the tool name {choice.name!r:.80}", f"written as {names[choice.name]!r}")
        is_named = choice.mode == "tool"
        return ToolChoice(choice.mode, names.get(choice.name or "", choice.name) if is_named else None)
    if choice.mode == "tool" and "any" in capabilities.tools.choices:
        report.lose(at, f"the tool choice {choice.name!r:.80}", "a call to any tool is required")
        return ToolChoice("any")
    if choice.mode == "auto":
        return None  # the default of every protocol
    report.lose(at, f"a tool choice of mode {_mode(choice)!r:.40}", "left out: the model decides (auto)")
    return None


def _mode(choice: ToolChoice) -> str:
    kind = choice.value.get("type") if isinstance(choice.value, dict) else choice.value
    return kind if choice.mode == "other" and isinstance(kind, str) else choice.mode


def _fit_allowed_tools(choice: ToolChoice, at: str, capabilities: Capabilities, report: LossReport) -> ToolChoice:
    """Reduce a list of allowed tools, one of which must be called, to its only tool, or to any tool.

    ``ToolChoiceAllowed`` (Responses) and ``ChatCompletionAllowedToolChoice`` of the official ``openai`` SDK 3.54.
    """
    value = choice.value if isinstance(choice.value, dict) and choice.value.get("type") == _ALLOWED else {}
    settings = value[_ALLOWED] if isinstance(value.get(_ALLOWED), dict) else value
    tools = settings.get("tools")
    if isinstance(choice.value, dict) and choice.value.get("mode") == "ANY" and "any" in capabilities.tools.choices:
        # FunctionCallingConfig
        report.lose(at, "a tool choice limited to some of the tools", "a call to any tool is required")
        return ToolChoice("any")
    if settings.get("mode") != "required" or not isinstance(tools, list) or "any" not in capabilities.tools.choices:
        return choice
    inner = [tool.get("function", tool) for tool in tools if isinstance(tool, dict)]
    names = [tool.get("name") if isinstance(tool, dict) else None for tool in inner]
    is_forced = len(tools) == 1 and bool(names) and isinstance(names[0], str) and "tool" in capabilities.tools.choices
    how = (
        (f"{names[0]!r:.80}, the only available tool, must be called")
        if is_forced
        else "a call to any tool is required"
    )
    report.lose(at, f"a tool choice of mode {_ALLOWED!r}", how)
    return ToolChoice("tool", names[0]) if is_forced else ToolChoice("any")
