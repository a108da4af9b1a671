"""New Chat Completions requests.

Facts: ``types/chat/completion_create_params.py`` and ``types/chat/chat_completion_*_param.py`` of the official
``openai`` SDK 3.54; reasoning is in the field of its carrier, as the dialects have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.ir import Carrier, JsonValue, Media, Message, ModelRequest, Part, Reasoning, Text, ToolCallIR, ToolDef
from workbench.protocols._params import write_params
from workbench.protocols.families.chat import params as _chat_params

FIELDS = {Carrier.REASONING_CONTENT: "reasoning_content", Carrier.REASONING: "reasoning"}
_CHOICES = {"auto": "auto", "none": "none", "any": "required"}


def write_request(request: ModelRequest) -> dict[str, JsonValue]:
    """The body of a request in normal form."""
    body: dict[str, JsonValue] = {} if request.model is None else {"model": request.model}
    body["messages"] = [*_system(request.system), *(m for said in request.messages for m in _messages(said))]
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.tool_choice:
        body["tool_choice"] = _choice(request)
    if request.parallel is not None:
        body["parallel_tool_calls"] = request.parallel
    if request.stream:
        body["stream"] = True
    if request.thinking == "off":
        body["reasoning_effort"] = "none"
    plain = {k: v for k, v in request.params.items() if k in _chat_params.WRITTEN}
    write_params(plain, _chat_params.WRITTEN, body)
    _chat_params.write_format(request.params, body)
    return body


def write_answer(message: Message) -> dict[str, JsonValue]:
    """A message of the model."""
    said: dict[str, JsonValue] = {"role": "assistant"}
    details, thought = list[JsonValue](), ""
    for _, reasoning in message.reasoning():
        if reasoning.carrier in FIELDS:
            said[FIELDS[reasoning.carrier]] = reasoning.text
        elif reasoning.carrier is Carrier.THINK_TEXT:
            thought += f"<think>{reasoning.text}</think>"
        else:
            details.append(write_detail(reasoning))
    if details:
        said["reasoning_details"] = details
    said["content"] = _content([p for p in message.parts if isinstance(p, Text)], thought)
    calls = [write_call(part) for part in message.parts if isinstance(part, ToolCallIR)]
    if calls:
        said["tool_calls"] = calls
    return said


def argument_text(call: ToolCallIR) -> str:
    """The text of a call's arguments, or the input of a custom tool."""
    return str(call.input) if call.format == "custom" else call.raw or ""


def _system(parts: Sequence[Part]) -> Iterator[JsonValue]:
    if parts:
        yield {"role": "system", "content": _blocks(parts)}


def _messages(message: Message) -> Iterator[JsonValue]:
    if message.role == "assistant":
        yield write_answer(message)
    elif message.role == "tool":
        for _, result in message.tool_results():
            said: dict[str, JsonValue] = {"role": "tool", "content": _blocks(result.content) if result.content else ""}
            yield said if result.tool_call_id is None else said | {"tool_call_id": result.tool_call_id}
    else:
        yield {"role": message.role, "content": _blocks(message.parts)}


def _blocks(parts: Sequence[Part]) -> JsonValue:
    """A single text as a string, else a list of parts."""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Part) -> JsonValue:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    assert isinstance(part, Media)  # normal form has nothing else here
    whole = part.url if part.data is None else f"data:{part.media_type or ''};base64,{part.data}"
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": whole}}
    if part.kind == "audio":
        form = (part.media_type or "").removeprefix("audio/")
        return {"type": "input_audio", "input_audio": {"data": part.data} | ({"format": form} if form else {})}
    where = {"file_id": part.file_id} if part.file_id is not None else {"file_data": whole}
    return {"type": "file", "file": {**part.extra.get("file", {}), **where}}


def _content(texts: Sequence[Text], thought: str) -> JsonValue:
    """The content of an answer, with what it thinks in tags before its first text; null where it says nothing."""
    if not texts:
        return thought or None
    said = [thought + texts[0].text, *(text.text for text in texts[1:])]
    return said[0] if len(said) == 1 else [{"type": "text", "text": text} for text in said]


def write_detail(reasoning: Reasoning) -> JsonValue:
    """An entry of ``reasoning_details``."""
    kind = "text" if reasoning.text is not None else "encrypted"
    held = {"text": reasoning.text, "signature": reasoning.signature, "data": reasoning.data}
    return {"type": f"reasoning.{kind}"} | {k: v for k, v in held.items() if v is not None}


def write_call(call: ToolCallIR) -> dict[str, JsonValue]:
    """A call."""
    key, text = ("custom", "input") if call.format == "custom" else ("function", "arguments")
    own = {} if call.id is None else {"id": call.id}
    named = {} if call.name is None else {"name": call.name}
    return {**own, "type": key, key: {**named, text: argument_text(call)}, **call.extra}


def _tool(tool: ToolDef) -> JsonValue:
    held: Mapping[str, JsonValue] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
    }
    key = "custom" if tool.kind == "custom" else "function"
    return {"type": key, key: {k: v for k, v in held.items() if v is not None}}


def _choice(request: ModelRequest) -> JsonValue:
    choice = request.tool_choice
    assert choice is not None
    if choice.mode != "tool":
        return _CHOICES[choice.mode]
    is_custom = any(tool.name == choice.name and tool.kind == "custom" for tool in request.tools)
    key = "custom" if is_custom else "function"
    return {"type": key, key: {"name": choice.name}}
