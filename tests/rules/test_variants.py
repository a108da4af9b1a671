"""Variants of published breakages, and legal oddities beside them: the right rule at the right place, nothing else.

A row is (name, protocol, provider, body, expected); a dict is a request, a list the chunks of a stream. Expected are
(rule, severity, place) of every finding that is more than an info; the place is a pointer, or the blocks of the stream.
"""

from __future__ import annotations

import copy
import json

import pytest

ANTHROPIC, CHAT = "anthropic-messages", "openai-chat"
SIGNATURE = "EqQBCkYIARgCKkD1sigA"
MANUAL, ADAPTIVE = {"type": "enabled", "budget_tokens": 2048}, {"type": "adaptive"}
GO = {"role": "user", "content": "go"}


def text(said):
    return {"type": "text", "text": said}


def think(said="Which file?", **more):
    return {"type": "thinking", "thinking": said, "signature": SIGNATURE, **more}


def use(call_id, **more):
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": call_id}, **more}


def reply(call_id, **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok", **more}


def says(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def gets(*blocks):
    return {"role": "user", "content": list(blocks)}


def round_of(*ids):
    return [says(text("Reading."), *map(use, ids)), gets(*map(reply, ids))]


def claude(*messages, model="claude-sonnet-4-5", **more):
    return {"model": model, "max_tokens": 4096, **more, "messages": [GO, *messages]}


def call(call_id, **more):
    return {"id": call_id, "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}, **more}


def calls(*ids, **more):
    return {"role": "assistant", "content": None, "tool_calls": [call(i) for i in ids], **more}


def tool(call_id, content="ok"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def turn(*ids, **more):
    return [calls(*ids, **more), *map(tool, ids)]


def gpt(*messages, model="gpt-4.1", **more):
    return {"model": model, **more, "messages": [GO, *messages]}


def deepseek(*messages, model="deepseek-v4-flash", **more):
    return gpt(*messages, model=model, **more)


def chunk(delta=None, reason=None, **more):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion.chunk", "model": "gpt-4.1", "choices": [choice], **more}


def piece(index=0, call_id=None, name=None, arguments="", **more):
    found = {"index": index, "id": call_id, "type": call_id and "function", **more}
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return chunk({"tool_calls": [{**{k: v for k, v in found.items() if v is not None}, "function": function}]})


MADE = chunk(reason="tool_calls")
USAGE = {"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": {"completion_tokens": 3}}


def events(*blocks, reason="tool_use"):
    """The stream of an Anthropic answer."""
    message = {"type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    message["usage"] = {"input_tokens": 9, "output_tokens": 1}
    yield {"type": "message_start", "message": message}
    for n, block in enumerate(blocks):
        empty = {"text": "", "thinking": "", "signature": "", "input": {}}
        yield {
            "type": "content_block_start",
            "index": n,
            "content_block": {k: empty.get(k, v) for k, v in block.items()},
        }
        for kind, key in (("text", "text"), ("thinking", "thinking"), ("signature", "signature")):
            if key in block:
                yield {"type": "content_block_delta", "index": n, "delta": {"type": f"{kind}_delta", key: block[key]}}
        if "input" in block:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_delta", "index": n, "delta": delta}
        yield {"type": "content_block_stop", "index": n}
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


WHOLE = list(events(text("Reading."), use("a")))
OLD = round_of("old1", "old2")
"""A turn that is closed: what follows it stands two messages later."""

ROWS = [
    # calls and results, late in a history, in parallel, beside other blocks
    ("one of three is left open", ANTHROPIC, "anthropic",
     claude(*OLD, says(use("a"), use("b"), use("c")), gets(reply("a"), reply("c"))),
     [("closure.missing-result", "error", "/messages/3/content/1")]),
    ("all are left open and a string follows", ANTHROPIC, "anthropic",
     claude(*OLD, says(use("a")), {"role": "user", "content": "Stop."}, says(text("Fine.")), GO),
     [("closure.missing-result", "error", "/messages/3/content/0")]),
    ("the turn with the calls was summarised", ANTHROPIC, "anthropic",
     claude(*OLD, {"role": "assistant", "content": "I read it."}, gets(reply("a"))),
     [("closure.orphan-result", "error", "/messages/4/content/0")]),
    ("a picture stands before the result", ANTHROPIC, "anthropic",
     claude(says(use("a")), gets({"type": "image", "source": {"type": "url", "url": "https://x.example"}}, reply("a"))),
     [("closure.result-not-first", "error", "/messages/2/content/0")]),
    ("a typed message stands before the results", ANTHROPIC, "anthropic",
     claude(says(use("a")), GO, gets(reply("a"))), [("closure.result-not-first", "error", "/messages/2/content")]),
    ("results in two neighbouring messages", ANTHROPIC, "anthropic",
     claude(says(use("a"), use("b")), gets(reply("a")), gets(reply("b"))), []),
    ("the second result stands a message later", ANTHROPIC, "anthropic",
     claude(says(use("a")), gets(reply("a")), gets(reply("a"))),
     [("closure.duplicate-result", "error", "/messages/3/content/0/tool_use_id")]),
    ("a message of the role function", ANTHROPIC, "anthropic",
     claude(says(use("a")), {"role": "function", "name": "read", "content": "ok"}),
     [("closure.missing-result", "error", "/messages/1/content/0"),
      ("closure.wrong-role", "error", "/messages/2/role")]),
    ("results of server tools are nobody's", ANTHROPIC, "anthropic",
     claude(says({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                 {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, use("a")),
            gets(reply("a"))), []),
    ("results of every legal form", ANTHROPIC, "anthropic",
     claude(says(use("a", input={}), use("b"), use("c")),
            gets({"type": "tool_result", "tool_use_id": "c"}, reply("b", content=[], is_error=True),
                 reply("a", content=[text("x")]), text("now go on"))), []),
    ("calls of other systems", ANTHROPIC, "anthropic", claude(*round_of("call_AbC", "bash-uOQ_1")), []),
    ("calls, text, then the results of one", CHAT, "openai",
     gpt(*turn("old"), calls("a", "b"), tool("a"), {"role": "user", "content": "A picture follows."}, tool("b")),
     [("closure.not-adjacent", "error", "/messages/5")]),
    ("calls were stripped from the message", CHAT, "openai",
     gpt({"role": "assistant", "content": "Reading."}, tool("a"), tool("b")),
     [("closure.orphan-result", "error", "/messages/2"), ("closure.orphan-result", "error", "/messages/3")]),
    ("ids with a suffix on the results alone", CHAT, "openai", gpt(calls("a"), tool("a|fc_1")),
     [("closure.id-mismatch", "error", "/messages/2/tool_call_id")]),
    ("results in another order", CHAT, "openai", gpt(calls("a", "b"), tool("b"), tool("a"), GO), []),
    ("an id of null", CHAT, "openai", gpt(calls("a"), {"role": "tool", "tool_call_id": None, "content": "ok"}),
     [("closure.id-format", "error", "/messages/2/tool_call_id")]),
    ("ids used again", CHAT, "generic", gpt(*turn("call_0"), *turn("call_0"), model="local"), []),
    # reasoning
    ("later turns of a loop may have none", ANTHROPIC, "anthropic",
     claude(says(think(), use("a")), gets(reply("a")), *round_of("b"), thinking=MANUAL), []),
    ("none in the whole loop", ANTHROPIC, "anthropic", claude(*round_of("a"), *round_of("b"), thinking=MANUAL),
     [("reasoning.missing", "error", "/messages/1/content/0"),
      ("reasoning.missing", "error", "/messages/3/content/0")]),
    ("all of it dropped while adaptive", ANTHROPIC, "anthropic",
     claude(*round_of("a"), model="claude-opus-4-8", thinking=ADAPTIVE), []),
    ("a block behind the text", ANTHROPIC, "anthropic",
     claude(says(text("Hm."), think(), use("a")), gets(reply("a")), thinking=MANUAL),
     [("reasoning.order", "error", "/messages/1/content/1")]),
    ("another vendor's signature in an old turn", ANTHROPIC, "anthropic",
     claude(says(think(signature="ab12" * 8), text("A.")), GO, *round_of("a")),
     [("reasoning.foreign", "error", "/messages/1/content/0/signature")]),
    ("left out of an old turn with calls", CHAT, "deepseek",
     deepseek(*turn("a"), {"role": "assistant", "content": "A"}, GO),
     [("reasoning.missing", "error", "/messages/1")]),
    ("the same in the older era", CHAT, "deepseek:v3.2",
     deepseek(*turn("a"), {"role": "assistant", "content": "A"}, GO, model="deepseek-v3.2", thinking=MANUAL), []),
    ("null in its place", CHAT, "deepseek", deepseek(*turn("a", reasoning_content=None)),
     [("reasoning.missing", "error", "/messages/1")]),
    ("a space in its place", CHAT, "deepseek", deepseek(*turn("a", reasoning_content=" ")),
     [("reasoning.fabricated", "warning", "/messages/1/reasoning_content")]),
    # what is said
    ("an empty text between others", ANTHROPIC, "anthropic", claude(says(text("A"), text(""), text("B")), GO),
     [("content.empty", "error", "/messages/1/content/1")]),
    ("an answer begun on an old model", ANTHROPIC, "anthropic", claude(says(text("{"))), []),
    ("an answer begun on a new model", ANTHROPIC, "anthropic", claude(says(text("{")), model="claude-sonnet-5"),
     [("content.assistant-last", "error", "/messages/1")]),
    ("a line break at its end", ANTHROPIC, "anthropic", claude(says(text("A"), text("B\n"))),
     [("content.trailing-whitespace", "error", "/messages/1/content/1/text")]),
    ("a system message at the end", ANTHROPIC, "anthropic",
     claude(*round_of("a"), {"role": "system", "content": "Be brief."}, model="claude-opus-4-8"), []),
    ("a system message before a question", ANTHROPIC, "anthropic",
     claude(says(text("A")), {"role": "system", "content": "Be brief."}, GO, model="claude-opus-4-8"),
     [("content.system-position", "error", "/messages/2")]),
    # streams of servers that are right, each in its own way
    ("empty ids in later deltas", CHAT, "generic",
     [piece(0, "a", "read"), piece(0, "", None, "{}"), piece(0, "", None, ""), MADE], []),
    ("empty names in later deltas", CHAT, "generic", [piece(0, "a", "read"), piece(0, None, "", "{}"), MADE], []),
    ("the reason twice", CHAT, "openrouter",
     [piece(0, "a", "read", "{}"), MADE, chunk({"content": ""}, "tool_calls", usage={"completion_tokens": 3})], []),
    ("reasoning that begins empty", CHAT, "deepseek",
     [chunk({"content": None, "reasoning_content": ""}), chunk({"content": None, "reasoning_content": "Hm"}),
      piece(0, "a", "read", "{}"), MADE], []),
    ("usage, and nobody knows what was asked for", CHAT, "openai",
     [chunk({"content": "A"}), chunk(reason="stop"), USAGE], []),
    # and of others
    ("one index, two calls in pieces", CHAT, "openai",
     [piece(0, "a", "read"), piece(0, None, None, "{}"), piece(0, "b", "list"), piece(0, None, None, "{}"), MADE],
     [("stream.index", "error", (2,))]),
    ("the id changes with every delta", CHAT, "openai",
     [piece(0, "a", "read"), piece(0, "b", None, "{"), piece(0, "c", None, "}"), MADE],
     [("stream.id", "error", (1,)), ("stream.id", "error", (2,))]),
    ("the name in every delta", CHAT, "openai",
     [piece(0, "a", "read"), piece(0, None, "read", "{"), piece(0, None, "read", "}"), MADE],
     [("stream.name", "error", (1, 2))]),
    ("an error between the deltas", CHAT, "openai", [piece(0, "a", "read", "{"), {"error": {"message": "upstream"}}],
     [("stream.error-event", "error", (1,))]),
    ("two reasons", CHAT, "openai", [piece(0, "a", "read", "{}"), MADE, chunk(reason="stop")],
     [("stream.finish-reason", "error", (1, 2)), ("stream.finish-reason", "error", (2,))]),
    ("whole", ANTHROPIC, "anthropic", WHOLE, []),
    ("a ping and a new kind of event", ANTHROPIC, "anthropic",
     [WHOLE[0], {"type": "ping"}, {"type": "weather"}, *WHOLE[1:]], []),
    ("the call begins before the text ends", ANTHROPIC, "anthropic",
     [*WHOLE[:3], WHOLE[4], WHOLE[3], *WHOLE[5:]], [("stream.block-order", "error", (3,))]),
    ("cut in the arguments", ANTHROPIC, "anthropic", WHOLE[:6], [("stream.truncated", "error", (4, 5))]),
    ("cut between two blocks", ANTHROPIC, "anthropic", WHOLE[:4], [("stream.no-terminator", "error", (3,))]),
    ("a call, and the turn is over", ANTHROPIC, "anthropic", list(events(use("a"), reason="end_turn")),
     [("stream.finish-reason", "error", (4,))]),
]  # fmt: skip


def written(protocol, chunks, line_end):
    """The bytes of a stream."""
    done = [] if protocol == ANTHROPIC or "error" in chunks[-1] else ["data: [DONE]\n\n"]
    named = [f"event: {c['type']}\n" if protocol == ANTHROPIC else "" for c in chunks]
    blocks = [f"{name}data: {json.dumps(c)}\n\n" for name, c in zip(named, chunks, strict=True)]
    return "".join(blocks + done).replace("\n", line_end).encode()


def told(findings):
    return [(f.rule, f.severity, f.events or f.pointer) for f in findings if f.severity != "info"]


@pytest.mark.parametrize(("protocol", "provider", "body", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_variant(inspect, protocol, provider, body, expected):
    if isinstance(body, dict):
        pairs = [(body, None)]
    else:
        pairs = [(None, written(protocol, body, line_end)) for line_end in ("\n", "\r\n")]
    for request, response in pairs:
        found = inspect(request, response, protocol=protocol, provider=provider)
        assert told(found) == expected
        assert all(f.span for f in found)


@pytest.mark.parametrize("row", [r for r in ROWS if isinstance(r[3], dict)], ids=lambda row: row[0])
def test_what_came_before_moves_the_place_and_nothing_else(inspect, row):
    _, protocol, provider, body, expected = row
    owed = {"reasoning_content": "Look."} if "deepseek" in provider else {}
    before = [*(round_of("q") if protocol == ANTHROPIC else turn("q", **owed)), says(text("Done.")), GO]
    later = copy.deepcopy(body)
    later["messages"][1:1] = before
    found = told(inspect(later, None, protocol=protocol, provider=provider))
    assert [(rule, severity) for rule, severity, _ in found] == [(rule, severity) for rule, severity, _ in expected]
    for (*_, place), (*_, was) in zip(found, expected, strict=True):
        steps, expected_steps = place.split("/"), was.split("/")
        assert (int(steps[2]) - int(expected_steps[2]), steps[3:]) == (len(before), expected_steps[3:])
