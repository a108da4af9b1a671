"""Answers that are kept: found by what a client repeats of them, and forgotten in time."""

from __future__ import annotations

import pytest

from workbench.ir import Carrier, Message, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.recorder.translation.memory import RememberedResponse, ResponseMemory, content_of, context_of


def kept(name, *ids, words="Done.", context="c", thought="hm"):
    calls = tuple(ToolCallIR(id, "ls", {"path": id}, "function") for id in ids)
    parts = (Reasoning(Carrier.REASONING_CONTENT, thought), Text(words), *calls)
    return RememberedResponse(name, parts, {id: id for id in ids}, content_of(parts), context)


@pytest.fixture
def memory():
    memory = ResponseMemory()
    for one in (kept("a", "x"), kept("b", "y", "z"), kept("c", "x", words="other"), kept("d", context="d"), kept("e")):
        memory.keep(one)
    return memory


DONE = content_of([Text("Done.")])


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ((["b"], ["x"], "", ""), "b"),
        ((["gone"], ["z"], "", ""), "b"),
        (([], ["x"], kept("", "x").content, "c"), "a"),
        (([], ["x"], kept("", "x", words="other").content, "c"), "c"),
        (([], ["x"], "cut by the client", "c"), "c"),
        (([], [], DONE, "d"), "d"),
        (([], [], DONE, "c"), "e"),
        (([], [], DONE, "who knows"), None),
        (([], [], content_of([Text(" Do ne. ")]), "d"), "d"),
        (([], ["unknown"], DONE, "c"), None),
        (([], [], "", ""), None),
    ],
    ids=[
        "handle",
        "id",
        "same-id-1",
        "same-id-2",
        "latest",
        "context-1",
        "context-2",
        "either",
        "space",
        "ids",
        "none",
    ],
)
def test_what_a_client_repeats_is_found(memory, asked, found):
    one = memory.find(*asked)
    assert (one and one.name) == found


def test_one_answer_alone_is_found_whatever_it_followed():
    memory = ResponseMemory()
    memory.keep(kept("a"))
    assert memory.find([], [], DONE, "elsewhere").name == "a"


def test_what_was_not_asked_for_longest_is_forgotten():
    memory = ResponseMemory(3 * 12_000)
    for name in "abc":
        memory.keep(kept(name, name, thought="." * 9_000))
    assert memory.find([], ["a"], "", "")
    memory.keep(kept("d", "d", thought="." * 9_000))
    assert [bool(memory.find([], [name], "", "")) for name in "abcd"] == [True, False, True, True]
    memory.keep(kept("huge", "huge", thought="." * 99_000))
    assert len(memory) == 1 and memory.find([], ["huge"], "", "")


def test_a_context_is_what_was_said_and_returned():
    result = ToolResultIR("1", (Text("a b"),))
    first = context_of([Message("tool", (result,)), Message("user", (Text("go on"),))])
    assert first == context_of([Message("user", (result, Text("go  on")))])
    assert first == context_of([Message("system", (Text("s"),)), Message("user", (result, Text("go on")))])
    assert first != context_of([Message("user", (Text("go on"),))])
