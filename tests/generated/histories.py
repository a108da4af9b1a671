"""Faults that take a history: loops, stand-ins for reasoning, proofs of others, media in failed results."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

from tests.generated import Dice, Fault, Scene
from tests.generated.places import RESULT, put
from tests.siblings.wires import Gemini, Json, Result, Wire


def loops(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """One call again and again, to no use."""
    for make in dice.some(_OUTCOMES, 10):
        scene, count = Scene.of(dice), dice.randint(3, 6)
        said = [wire.user(dice.sentence())]
        for n in range(count):
            call = scene.call._replace(id=dice.identifier())
            said += wire.turn((call,))
            said += wire.results((Result(call.id, call.name, make(dice, n)),))
        yield Fault("8 loop", wire, wire.request(said, (scene.tool,)), ("retry.loop",), note=make(dice, 0)[:40])


def _clock(dice: Dice, n: int) -> str:
    return f"2026-05-{n + 11:02d}T09:{n + 20}:0{n}Z"


_OUTCOMES: tuple[Callable[[Dice, int], str], ...] = (
    lambda d, n: "",
    lambda d, n: "[]",
    lambda d, n: "{}",
    lambda d, n: "null",
    lambda d, n: "no matches found",
    lambda d, n: "0 results",
    lambda d, n: json.dumps({"status": 404, "path": "/x"}),
    lambda d, n: json.dumps({"exit_code": 1, "stdout": ""}),
    lambda d, n: json.dumps({"ok": False, "at": _clock(d, n)}),
    lambda d, n: json.dumps({"success": False, "code": 500 + 0 * n}),
    lambda d, n: json.dumps({"error": {"code": "ENOENT", "at": _clock(d, n)}}),
    lambda d, n: f"[{_clock(d, n)}] connection refused",
    lambda d, n: f"Error: request {1000 + n} timed out after {n}.5 s",
    lambda d, n: "找不到文件",
    lambda d, n: "Datei nicht gefunden",
    lambda d, n: "Permission denied",
    lambda d, n: f"Traceback (most recent call last):\n  File 'x.py', line {n + 3}\nKeyError: 'a'",
    lambda d, n: "command exited with code 127",
    lambda d, n: json.dumps({"results": [], "took_ms": 12 + n}),
    lambda d, n: "HTTP 503 Service Unavailable",
)

STAND_INS = (
    *("(no reasoning)", "[no content]", "(empty)", "undefined", "Called tool.", "None", "null", "N/A", "n/a", "-"),
    *(
        "[redacted]",
        "<omitted>",
        "placeholder",
        "thinking",
        "Thinking...",
        "[reasoning omitted]",
        "tool call",
        ".",
        " ",
    ),
    *(
        "无",
        "（无思考内容）",
        "思考过程省略",
        "[推理已省略]",
        "[кэш]",
        "reasoning unavailable",
        "No thinking provided.",
    ),
    *("TBD", "x", "...", "…"),
)


def stand_ins(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Words in place of reasoning."""
    rules = ("reasoning.fabricated", "reasoning.empty", "reasoning.altered")
    if wire.name == "openai-chat":
        for word in dice.some(STAND_INS, 20):
            scene = Scene.of(dice)
            body = scene.whole(wire, dice) | {"model": "deepseek-reasoner"}
            body["messages"][1]["reasoning_content"] = word
            provider = dice.choice(("deepseek", "kimi", "glm", "qwen"))
            place = "/messages/1/reasoning_content"
            yield Fault("16 stand-in", wire, body, rules, place=place, provider=provider, note=f"{provider} {word}")
    if wire.name == "anthropic-messages":
        for word in dice.some(
            ("placeholder", "dummy_signature", "fake", "skip", "sig", "xxx", "no-signature", "TODO"), 6
        ):
            scene = Scene.of(dice)
            body = scene.whole(wire, dice) | {"thinking": {"type": "enabled", "budget_tokens": 2000}}
            block = {"type": "thinking", "thinking": dice.sentence(), "signature": word}
            body["messages"][1]["content"].insert(0, block)
            rules_here = ("reasoning.fabricated", "reasoning.altered", "reasoning.foreign", "reasoning.empty")
            yield Fault("16 stand-in", wire, body, rules_here, place="/messages/1/content/0", note=word)


def _proof(kind: str, dice: Dice) -> str:
    noise = dice.randbytes(180)
    if kind == "anthropic":
        return base64.b64encode(b"\x12\xa4\x01\x0a\x48\x08\x01\x10" + noise).decode()
    if kind == "openai":
        return "gAAAAAB" + base64.urlsafe_b64encode(noise).decode()
    if kind == "gemini":
        return base64.b64encode(b"\x0a\xe4\x02\x01" + noise).decode()
    return noise.hex()


def proofs(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A proof that somebody else issued, where the provider's own should be."""
    rules = ("reasoning.foreign", "reasoning.altered", "reasoning.fabricated")
    own = {
        "anthropic-messages": "anthropic",
        "openai-responses": "openai",
        "gemini": "gemini",
        "bedrock-converse": "anthropic",
    }
    if wire.name not in own:
        return
    kinds = [k for k in ("anthropic", "openai", "gemini", "hex") if k != own[wire.name]]
    if wire.name == "gemini":
        kinds.remove("anthropic")  # both are bare protocol buffers, and begin alike
    for kind in dice.some(kinds * 5, 10):
        scene = Scene.of(dice)
        body, proof = scene.whole(wire, dice), _proof(kind, dice)
        if wire.name == "anthropic-messages":
            body |= {"thinking": {"type": "enabled", "budget_tokens": 2000}}
            body["messages"][1]["content"].insert(
                0, {"type": "thinking", "thinking": dice.sentence(), "signature": proof}
            )
        elif wire.name == "openai-responses":
            body["model"] = "gpt-5"
            item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": proof}
            body["input"].insert(1, item)
        elif wire.name == "gemini":
            body["contents"][1]["parts"][0]["thoughtSignature"] = proof
        else:
            text = {"text": dice.sentence(), "signature": proof}
            body["messages"][1]["content"].insert(0, {"reasoningContent": {"reasoningText": text}})
        yield Fault("10 foreign proof", wire, body, rules, note=kind)


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="


def contents(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Media in failed results, results of a wrong type, blank texts."""
    rules = ("content.", "closure.", "gateway.unknown-field")
    for n in range(10):
        scene = Scene.of(dice)
        body = scene.whole(wire, dice)
        at = RESULT[wire.name]
        if wire.name == "anthropic-messages":
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
            error = {"type": "tool_result", "tool_use_id": scene.call.id, "is_error": True, "content": [image]}
            blank = {"role": "user", "content": [{"type": "text", "text": ""}]}
            body = put(body, at, error) if n % 2 else put(body, "/messages/0", blank)
        elif wire.name == "bedrock-converse":
            blank = {"role": "user", "content": [{"text": dice.choice(("", " ", "\n"))}]}
            result = {"toolUseId": scene.call.id, "content": [{"text": dice.choice(("", " "))}]}
            body = put(body, at, result) if n % 2 else put(body, "/messages/0", blank)
        elif wire.name == "openai-responses":
            kind = dice.choice(("text", "image_url", "tool_result", "output_image"))
            body["input"][0]["content"] = [{"type": kind, kind: dice.sentence()}]
        elif wire.name == "openai-chat":
            image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
            body = put(body, f"{at}/content", [image])
        elif wire.name == "gemini":
            body["contents"][2]["parts"][0]["functionResponse"]["response"] = dice.choice((dice.sentence(), [1], 5))
        else:
            return
        yield Fault("12 content", wire, body, rules, note=wire.name)


class _Gemini3(Gemini):
    model = "gemini-3-pro-preview"
    url = f"/v1beta/models/{model}:generateContent"


def thoughtless(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Turns with calls whose reasoning is not sent back, in a lone request."""
    if wire.name == "openai-chat":
        for provider, model in (("deepseek", "deepseek-v4-pro"), ("kimi", "kimi-k2.6"), ("kimi", "kimi-k2-thinking")):
            for _ in range(3):
                scene = Scene.of(dice)
                body = scene.whole(wire, dice) | {"model": model}
                if dice.random() < 0.5:
                    body["messages"] += [{"role": "assistant", "content": dice.sentence()}, wire.user(dice.sentence())]
                yield Fault("13 no reasoning", wire, body, ("reasoning.missing",), provider=provider, note=model)
    if wire.name == "anthropic-messages":
        for _ in range(3):
            body = Scene.of(dice).whole(wire, dice) | {"thinking": {"type": "enabled", "budget_tokens": 2000}}
            yield Fault("13 no reasoning", wire, body, ("reasoning.missing",), note="thinking")
    if wire.name == "gemini":
        newer = _Gemini3()
        for _ in range(3):
            body = Scene.of(dice).whole(newer, dice)
            yield Fault("13 no reasoning", newer, body, ("reasoning.missing",), note=newer.model)


def effects(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A tool with an effect is called twice with the same arguments after a failure."""
    for _ in range(2):
        scene = Scene.of(dice)
        name = f"{dice.choice(('send', 'pay', 'create', 'delete', 'book'))}_{dice.key()}"
        tool = type(scene.tool)(name, scene.tool.schema)
        said: list[Json] = [wire.user(dice.sentence())]
        for _ in range(2):
            call = scene.call._replace(id=dice.identifier(), name=name)
            said += wire.turn((call,))
            said += wire.results((Result(call.id, name, "Error: timed out"),))
        yield Fault("effect twice", wire, wire.request(said, (tool,)), ("retry.",), note=name)


MAKERS = (loops, stand_ins, proofs, contents, thoughtless, effects)
