"""Calls and control tokens that a model left in the text of its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tests.generated import Dice, Fault, Scene
from tests.siblings.wires import Wire
from workbench.ir import ToolCallIR
from workbench.toolcalls.formats import formats, get

TEXT = ("text.", "content.made-up-result", "call.unknown-tool", "args.")
THOUGHT = (*TEXT, "content.empty")
"""Behind ``</think>`` there may be nothing left to say."""
TOKENS = (
    *(
        "<tool_call>",
        "</tool_call>",
        "<function_calls>",
        "</function_calls>",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁sep｜>",
    ),
    *("[TOOL_CALLS]", "<|tool_calls_section_begin|>", "<|tool_call_argument_begin|>", "<arg_key>", "</arg_value>"),
    *(
        "<|channel|>commentary",
        "<|start|>assistant",
        "<|im_end|>",
        "<|im_start|>assistant",
        "<|eot_id|>",
        "<|python_tag|>",
    ),
    *(
        "</think>",
        "<start_function_call>",
        "<end_of_turn>",
        "<start_of_turn>model",
        "<|END_ACTION|>",
        "<minimax:tool_call>",
    ),
    *("</invoke>", "<|tool_call_end|>", "<|message|>", "<|call|>", "<tool_response>"),
)


def _said(row: str, wire: Wire, dice: Dice, scene: Scene, text: str, rules: tuple[str, ...], note: str) -> Fault:
    is_stream = dice.random() < 0.5
    answer = wire.stream(wire.events((), text)) if is_stream else wire.answer((), text)
    return Fault(row, wire, scene.asked(wire, dice), rules, answer, note=f"{note}{' streamed' if is_stream else ''}")


def halves(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Half a control token, at the end or alone on a line."""
    for token in dice.some([t for t in TOKENS if len(t) > 7], 8):
        half = token[: dice.randint(6, len(token) - 1)]
        text = dice.choice(
            (f"{dice.sentence()}\n{half}", f"{dice.sentence()} {half}", half, f"{dice.sentence()}{half}")
        )
        yield _said("6 half token", wire, dice, Scene.of(dice), text, TEXT, repr(text[-30:]))


def wholes(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A control token where none belongs."""
    for token in dice.some(TOKENS, 8):
        text = dice.choice((f"{dice.sentence()}\n{token}", f"{token}\n{dice.sentence()}", f"{dice.sentence()}{token}"))
        rules = THOUGHT if token == "</think>" else TEXT
        yield _said("6b whole token", wire, dice, Scene.of(dice), text, rules, repr(token))


def bare(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A call that no format marks, with the tool declared."""
    for _ in range(12):
        scene = Scene.of(dice)
        name, value = scene.call.name, scene.call.arguments
        text, python = json.dumps(value, ensure_ascii=False), ", ".join(f"{k}={v!r}" for k, v in value.items())
        fields = "".join(f"\n<{key}>{each}</{key}>" for key, each in value.items())
        forms = {
            "json": json.dumps({"name": name, "arguments": value}, ensure_ascii=False),
            "json parameters": json.dumps({"name": name, "parameters": value}, indent=2),
            "json tool": json.dumps({"tool": name, "input": value}),
            "json function": json.dumps({"function": {"name": name, "arguments": value}}),
            "json tool_calls": json.dumps({"tool_calls": [{"name": name, "arguments": value}]}),
            "fenced": f"```json\n{json.dumps({'name': name, 'arguments': value})}\n```",
            "python": f"{name}({python})",
            "python list": f"[{name}({python})]",
            "react": f"Thought: {dice.sentence()}\nAction: {name}\nAction Input: {text}",
            "react one line": f"Action: {name}[{next(iter(value.values()))}]",
            "by name": f"<{name}>{fields}\n</{name}>",
            "by name json": f"<{name}>{text}</{name}>",
            "tool_code": f"```tool_code\n{name}({python})\n```",
            "tool_code print": f"```tool_code\nprint(default_api.{name}({python}))\n```",
            "functools": f"functools[{json.dumps({'name': name, 'arguments': value})}]",
            "groq": f"<function={name}{text}</function>",
            "groq closed": f"<function={name}>{text}</function>",
        }
        note = dice.choice(sorted(forms))
        opening = dice.choice(
            ("", "", f"{dice.sentence()}\n\n", "I'll look that up.\n", "Let me check this for you: \n\n")
        )
        yield _said(
            "17 bare call", wire, dice, scene, opening + forms[note], TEXT, f"{note}{' after prose' if opening else ''}"
        )


def damaged(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A text format with one token dropped, doubled, swapped, cut or moved."""
    for _ in range(12):
        scene, name = Scene.of(dice), dice.choice(formats())
        call = ToolCallIR("call_0_1AB", scene.call.name, scene.call.arguments, "test")
        try:
            text = get(name).render([call])
        except Exception:
            continue
        tags = getattr(get(name).parser(), "tags", None)
        pattern = tags.pattern if tags else re.compile(r"```\w*|[\[\](){}\":,=]")
        places = [m.span() for m in pattern.finditer(text)]
        if not places:
            continue
        made, kind = _damage(text, places, dice)
        if made.strip() != text.strip() and scene.call.name in made:
            opening = dice.choice(("", f"{dice.sentence()}\n\n"))
            yield _said("18 damaged format", wire, dice, scene, opening + made, TEXT, f"{name} {kind}")


def _damage(text: str, places: list[tuple[int, int]], dice: Dice) -> tuple[str, str]:
    start, end = dice.choice(places)
    token = text[start:end]
    kind = dice.choice(("drop", "double", "cut", "end", "swap"))
    if kind == "drop":
        return text[:start] + text[end:], f"drop {token!r}"
    if kind == "double":
        return text[:end] + token + text[end:], f"double {token!r}"
    if kind == "cut":
        return text[:start] + token[: max(1, len(token) // 2)] + text[end:], f"cut {token!r}"
    if kind == "end":
        return text[:end], f"end at {token!r}"
    other_start, other_end = dice.choice(places)
    (a, b), (c, d) = sorted(((start, end), (other_start, other_end)))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else text, f"swap {token!r}"


def phantoms(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """An example in a fence that is opened and never closed, and a call behind it; a made-up result."""
    if wire.name == "cohere-v2":
        return  # beside calls it has a plan
    for n in range(3):
        scene = Scene.of(dice)
        if n == 2:
            text = f"<tool_response>\n{dice.sentence()}\n</tool_response>\n{dice.sentence()}"
            yield _said("19 phantom", wire, dice, scene, text, TEXT, "made-up result")
            continue
        text = f"{dice.sentence()} For example:\n```{dice.choice(('xml', 'json', 'bash'))}\n"
        answer = wire.stream(wire.events((scene.call,), text)) if n else wire.answer((scene.call,), text)
        yield Fault(
            "19 phantom",
            wire,
            scene.asked(wire, dice),
            ("text.phantom-call",),
            answer,
            note="streamed" if n else "whole",
        )


MAKERS = (halves, wholes, bare, damaged, phantoms)
