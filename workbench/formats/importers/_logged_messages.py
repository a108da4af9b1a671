"""Reads conversations from loggers that keep no bodies: messages as a request, an output as a response.

Messages keep their form if a protocol has it; LangChain's form is converted to Chat Completions. These bodies were
never on a wire, and the exchange's note states it.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import WireError
from workbench.formats.importers._side_of_value import REQUEST, RESPONSE, shape_of
from workbench.formats.importers._values import as_list, fields, first, mapping, mappings, text
from workbench.ir import JsonValue
from workbench.wire import dumps, loads

LACKS = ("system", "tools", "parameters", "headers", "streaming")
PUT_TOGETHER = "reconstructed from logged messages; not the original bytes"

_PARAMETERS = ("modelparameters", "invocationparams", "optionalparams", "modelkwargs")
_TOOLS = ("tools", "tooldefinitions", "toolsavailable", "aitools")
_ABOUTS = ("metadata", "toolparams", "prompt", "config", "params")
_ROLES = {
    "human": "user",
    "humanmessage": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "system": "system",
    "systemmessage": "system",
    "tool": "tool",
    "toolmessage": "tool",
}
_MESSAGES = ("messages", "chat_history", "value")
"""Names under which loggers keep a list of messages; the last one is that of a value with its type."""

_CAMEL = {"toolCalls": "tool_calls", "toolCallId": "tool_call_id"}
_ITEMS = frozenset({"message", "function_call", "function_call_output", "reasoning", "custom_tool_call"})
_CALL_IDS = ("id", "tool_id", "tool_call_id")
_CALLS_IN_CONTENT = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})


def request_in(value: JsonValue, beside: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The request made of messages, with the logged model and parameters; None if the value has no messages.

    Args:
        beside: members of the log record, by normalised name.
    """
    name = next((name for name in _MESSAGES if isinstance(value, dict) and value.get(name) is not None), "")
    messages = value.get(name) if isinstance(value, dict) else value
    own = {k: v for k, v in value.items() if k != name and v is not None} if isinstance(value, dict) else {}
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], list):
        messages = messages[0]
    if name == "value" and set(own) <= {"type"}:
        return request_in(messages, beside)
    body = {} if isinstance(value, dict) and not name and shape_of(value) == REQUEST else _with_messages(messages)
    if body is None:
        return None
    known = {**_parameters(beside), **own}
    model = text(known.get("model")) or _model(beside)
    return {**({"model": model} if model else {}), **known, **body}


def logged_response(value: JsonValue, beside: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The response made of an output: a message, a list that ends with one, choices, generations, or plain text."""
    if isinstance(value, dict):
        if shape_of(value) == RESPONSE:
            return value
        if "generations" in value:
            return _generations_response(value, beside)
        inner = next((value[k] for k in ("message", "messages", "output", "response", "value") if value.get(k)), None)
        return _message_response(value, beside) or (logged_response(inner, beside) if inner is not None else None)
    if isinstance(value, list) and value:
        items = [item for item in value if isinstance(item, dict)]
        if len(items) < len(value):
            return None
        if all(isinstance(item.get("message"), dict) for item in items):
            return {"object": "chat.completion", **_model_field(beside), "choices": value}
        if _are_items(items):
            return {"object": "response", **_model_field(beside), "output": value}
        return _message_response(items[-1], beside)
    return (
        _message_response({"role": "assistant", "content": value}, beside) if isinstance(value, str) and value else None
    )


def _with_messages(value: JsonValue) -> dict[str, JsonValue] | None:
    messages = list(mappings(value))
    if not messages or len(messages) < len(as_list(value)):
        return None
    if any(_kind(message) for message in messages):
        return {"messages": [_plain(message) or message for message in messages]}
    if any(_sdk_parts(message) or _sdk_results(message) for message in messages):
        return {"messages": [one for m in messages for one in _sdk_results(m) or [_sdk_parts(m) or m]]}
    if any("toolCalls" in message or "toolCallId" in message for message in messages):
        return _with_messages([{_CAMEL.get(name, name): v for name, v in message.items()} for message in messages])
    if any(_has_bare_calls(message) for message in messages):
        return {"messages": [one for message in messages for one in _with_functions(message)]}
    if any(isinstance(message.get("parts"), list) and "role" in message for message in messages):
        return {"contents": value}
    if _are_items(messages):
        return {"input": value}
    return {"messages": value} if all(isinstance(message.get("role"), str) for message in messages) else None


def _are_items(items: list[dict[str, JsonValue]]) -> bool:
    """True for Responses items, of which messages need no type; a list of only messages could be any protocol."""
    kinds = {text(item.get("type")) or ("" if "role" in item else "?") for item in items}
    return bool(kinds & _ITEMS) and kinds <= {*_ITEMS, ""}


def _message_response(message: dict[str, JsonValue], beside: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The response with one message."""
    if isinstance(message.get("parts"), list) and message.get("role") in ("model", None):
        return {"candidates": [{"content": message}]}
    plain = _plain(message) or _sdk_parts(message) or _with_functions(message)[0]
    if plain.get("role") != "assistant" or not {"content", "tool_calls"} & plain.keys():
        return None
    kinds = {text(block.get("type")) for block in mappings(plain.get("content"))}
    if kinds & {"tool_use", "thinking", "redacted_thinking"}:
        return {"type": "message", **_model_field(beside), **plain, "stop_reason": None, "usage": {}}
    return {"object": "chat.completion", **_model_field(beside), "choices": [{"index": 0, "message": plain}]}


def _generations_response(value: dict[str, JsonValue], beside: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The response of LangChain's ``{"generations": [[{text, message, generation_info}]], "llm_output"}``."""
    rows = value["generations"]
    last = next(
        (g for g in mappings(rows[0] if rows and isinstance(rows, list) and isinstance(rows[0], list) else rows)),
        {},
    )
    message = _plain(mapping(last.get("message"))) or {"role": "assistant", "content": text(last.get("text"))}
    about = {**mapping(value.get("llm_output"))}
    usage = mapping(about.get("token_usage") or about.get("usage"))
    reason = mapping(last.get("generation_info")).get("finish_reason")
    model = text(about.get("model_name")) or _model(beside)
    choice = {"index": 0, "message": message, **({"finish_reason": reason} if isinstance(reason, str) else {})}
    return {
        "object": "chat.completion",
        **({"model": model} if model else {}),
        "choices": [choice],
        **({"usage": usage} if usage else {}),
    }


def _sdk_parts(message: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """A message whose content has calls and results as parts (Vercel AI SDK, TensorZero), for Chat Completions."""
    parts = list(mappings(message.get("content")))
    if not any(_is_call_part(part) or _is_result_part(part) for part in parts):
        return None
    plain = {key: value for key, value in message.items() if key not in ("content", "providerOptions")}
    content = [part for part in parts if not (_is_call_part(part) or _is_result_part(part) or _is_reasoning(part))]
    reasoning = "".join(text(part.get("text")) for part in parts if _is_reasoning(part))
    if message.get("role") == "assistant":
        calls = [_call(_sdk_call(part)) for part in parts if _is_call_part(part)]
        return {
            **plain,
            "content": content or None,
            "tool_calls": calls,
            **({"reasoning_content": reasoning} if reasoning else {}),
        }
    return plain if message.get("role") != "tool" else None


def _is_call_part(part: Mapping[str, JsonValue]) -> bool:
    return part.get("type") in ("tool-call", "tool_call")


def _is_result_part(part: Mapping[str, JsonValue]) -> bool:
    return part.get("type") == "tool-result" or (part.get("type") == "tool_result" and "tool_use_id" not in part)


def _is_reasoning(part: Mapping[str, JsonValue]) -> bool:
    return part.get("type") == "reasoning"


def _sdk_call(part: dict[str, JsonValue]) -> dict[str, JsonValue]:
    named = fields(part)
    arguments = first(named, ("input", "args", "rawarguments", "arguments"))
    return {"id": first(named, ("toolcallid", "id")), "name": first(named, ("toolname", "name")), "args": arguments}


def _sdk_results(message: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Tool results in the parts of a message, one message each; then what else a user said beside them."""
    parts = list(mappings(message.get("content"))) if message.get("role") in ("tool", "user") else []
    results = [_sdk_result(part) for part in parts if _is_result_part(part)]
    others = [part for part in parts if not _is_result_part(part)]
    return [*results, {**message, "content": others}] if results and others else results


def _sdk_result(part: dict[str, JsonValue]) -> dict[str, JsonValue]:
    output = part.get("output", part.get("result"))
    value = output.get("value") if isinstance(output, dict) and "value" in output else output
    content = value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")
    return {"role": "tool", "tool_call_id": first(fields(part), ("toolcallid", "id")), "content": content}


def _has_bare_calls(message: dict[str, JsonValue]) -> bool:
    """Tool calls without the object that names a function, or results in a list, as Datadog's LLM spans have them."""
    calls = list(mappings(message.get("tool_calls")))
    return any("function" not in call and "name" in call for call in calls) or bool(message.get("tool_results"))


def _with_functions(message: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Such a message converted to Chat Completions, each result in a message of its own; others as they are."""
    if not _has_bare_calls(message):
        return [message]
    results = [
        {"role": "tool", "tool_call_id": first(result, _CALL_IDS), "content": first(result, ("result", "content"))}
        for result in mappings(message.get("tool_results"))
    ]
    plain = {key: value for key, value in message.items() if key not in ("tool_calls", "tool_results")}
    calls = [_call(call) if "function" not in call else call for call in mappings(message.get("tool_calls"))]
    return results if results and not calls else [{**plain, **({"tool_calls": calls} if calls else {})}, *results]


def _kind(message: dict[str, JsonValue]) -> str:
    """Role of a LangChain message; empty for other messages."""
    if message.get("type") == "constructor" and isinstance(message.get("id"), list) and message["id"]:
        return _ROLES.get(text(message["id"][-1]).lower(), "")
    return _ROLES.get(text(message.get("type")).lower(), "") if "role" not in message else ""


def _plain(message: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """A LangChain message converted to Chat Completions; None for other messages."""
    role = _kind(message)
    if not role:
        return None
    members = next((message[k] for k in ("kwargs", "data") if isinstance(message.get(k), dict)), message)
    more = mapping(members.get("additional_kwargs"))
    calls = more.get("tool_calls") or [_call(call) for call in mappings(members.get("tool_calls"))]
    content = members.get("content")
    if calls and isinstance(content, list):
        content = [b for b in content if not (isinstance(b, dict) and b.get("type") in _CALLS_IN_CONTENT)] or None
    plain: dict[str, JsonValue] = {"role": role, "content": content}
    if role == "assistant" and calls:
        plain["tool_calls"] = calls
    reasoning = more.get("reasoning_content")
    if role == "assistant" and isinstance(reasoning, str) and reasoning:
        plain["reasoning_content"] = reasoning
    if role == "tool":
        plain["tool_call_id"] = members.get("tool_call_id")
    return plain


def _call(call: dict[str, JsonValue]) -> dict[str, JsonValue]:
    arguments = call.get("args", call.get("arguments"))
    arguments_text = arguments if isinstance(arguments, str) else dumps(arguments).decode("utf-8", "replace")
    function: dict[str, JsonValue] = {"name": call.get("name"), "arguments": arguments_text}
    return {"id": first(call, _CALL_IDS), "type": "function", "function": function}


def _parameters(beside: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    found = mapping(first(beside, _PARAMETERS))
    tools = next(filter(None, (first(about, _TOOLS) for about in (beside, *_abouts(beside)))), None)
    return {
        **{k: v for k, v in found.items() if v is not None},
        **({"tools": [_tool(tool) for tool in tools]} if isinstance(tools, list) and tools else {}),
    }


def _tool(tool: JsonValue) -> JsonValue:
    """A tool in Chat Completions; converted if it is a bare function, with its schema under either name."""
    if not isinstance(tool, dict) or "name" not in tool or "type" in tool or not {"schema", "parameters"} & tool.keys():
        return tool
    rest = {key: value for key, value in tool.items() if key in ("name", "description") and value is not None}
    return {"type": "function", "function": {**rest, "parameters": first(tool, ("schema", "parameters"))}}


def _model(beside: Mapping[str, JsonValue]) -> str:
    model = text(first(beside, ("model", "modelname", "modelid", "aimodel")))
    names = (text(first(about, ("model", "lsmodelname", "modelname"))) for about in _abouts(beside))
    return model or next(filter(None, names), "")


def _abouts(beside: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Objects beside the messages that say more of the call, by normalised name."""
    extra = mapping(mapping(beside.get("extra")).get("metadata"))
    return [fields(about) for about in (extra, *(_object(beside.get(name)) for name in _ABOUTS)) if about]


def _object(value: JsonValue) -> dict[str, JsonValue]:
    """An object, which may be JSON text; empty for other values."""
    if not isinstance(value, str) or not value.startswith("{"):
        return mapping(value)
    try:
        return mapping(loads(value))
    except WireError:
        return {}


def _model_field(beside: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    model = _model(beside)
    return {"model": model} if model else {}
