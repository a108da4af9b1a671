"""Reasoning items of the Responses wire: with what they led to, and never as a mere name."""

from __future__ import annotations

import pytest

from tests.rules.conftest import brief

ASK, MORE = {"role": "user", "content": "time?"}, {"role": "user", "content": "go on"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_k", "name": "get_time", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_k", "output": "12"}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "12"}]}
UNPAIRED, REFERENCE = "reasoning.unpaired", "reasoning.by-reference"


def thought(name="rs_1", data="gAAAAAB1"):
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": data}


def without_id(item):
    return {key: value for key, value in item.items() if key != "id"}


@pytest.fixture
def responses(inspect):
    def run(*items, output=None, **params):
        body = {"model": "gpt-5-mini", **params}
        pairs = [({**body, "input": list(items)}, None)]
        if output is not None:
            answer = {"object": "response", "id": "resp_1", "status": "completed", "model": "gpt-5-mini"}
            first = {**body, "input": [ASK]}
            pairs.insert(0, (first, {**answer, "output": output, "store": params.get("store", True)}))
        return inspect(pairs, protocol="openai-responses", provider="openai")

    return run


FOLLOWERS = [
    ("its call", [ASK, thought(), CALL, OUTPUT], []),
    ("two of them, and a message", [ASK, thought(), thought("rs_2"), SAID, MORE], []),
    ("the user", [ASK, thought(), MORE], [(UNPAIRED, "error", "/input/1")]),
    ("nothing", [ASK, thought()], [(UNPAIRED, "error", "/input/1")]),
    ("a message that was made anew", [ASK, thought(), without_id(SAID), MORE], [(UNPAIRED, "error", "/input/1")]),
]


@pytest.mark.parametrize(("items", "expected"), [r[1:] for r in FOLLOWERS], ids=[r[0] for r in FOLLOWERS])
def test_what_follows_reasoning(responses, items, expected):
    assert brief(responses(*items)) == expected


def test_a_refusal_names_the_items(responses):
    (alone,) = responses(ASK, thought(), MORE)
    assert alone.refusal == "Item 'rs_1' of type 'reasoning' was provided without its required following item."
    (bare,) = responses(ASK, CALL, OUTPUT, output=[thought(), CALL])
    wanted = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."
    assert (bare.pointer, bare.refusal) == ("/input/1", wanted)
    assert bare.evidence == "received in exchange 1"


SENT_BACK = [
    ("both", [thought(), CALL, OUTPUT], []),
    ("the call alone, without its id", [without_id(CALL), OUTPUT], []),
    ("the message alone", [SAID, MORE], [UNPAIRED]),
]


@pytest.mark.parametrize(("items", "rules"), [r[1:] for r in SENT_BACK], ids=[r[0] for r in SENT_BACK])
def test_what_was_received_together(responses, items, rules):
    came = [thought(), SAID] if SAID in items else [thought(), CALL]
    assert [f.rule for f in responses(ASK, *items, output=came)] == rules


def test_nothing_is_known_of_a_call_that_nobody_saw_come(responses):
    assert not responses(ASK, CALL, OUTPUT)


def test_where_nothing_is_stored_a_pair_that_was_cut_is_a_warning(responses):
    assert brief(responses(ASK, thought(), MORE, store=False)) == [(UNPAIRED, "warning", "/input/1")]
    assert not responses(ASK, thought(), without_id(SAID), MORE, store=False)


NAMES = [
    ("with its content", thought(), False, []),
    ("by name alone", thought(data=None), False, [(REFERENCE, "error", "/input/1/encrypted_content")]),
    ("by name alone, where answers are stored", thought(data=None), True, []),
    ("without the field", without_id(thought()) | {"id": "rs_1"}, False, []),
    ("a reference", {"type": "item_reference", "id": "rs_1"}, False, [(REFERENCE, "error", "/input/1")]),
]


@pytest.mark.parametrize(("item", "store", "expected"), [r[1:] for r in NAMES], ids=[r[0] for r in NAMES])
def test_items_that_are_named(responses, item, store, expected):
    assert brief(responses(ASK, item, CALL, OUTPUT, store=store)) == expected


def test_an_answer_that_says_it_was_not_stored_cannot_be_named_later(responses, inspect):
    body = {"model": "gpt-5-mini", "input": [ASK]}
    answer = {"object": "response", "id": "resp_1", "status": "completed", "store": False}
    later = {"model": "gpt-5-mini", "input": [ASK, thought(data=None), CALL, OUTPUT]}
    pairs = [({**body, "store": False}, {**answer, "output": [thought(data=None), CALL]}), (later, None)]
    (finding,) = inspect(pairs, protocol="openai-responses", provider="openai")
    assert finding.rule == REFERENCE
    assert "exchange 1 had store false" in finding.message


IDS = [
    ("a call id in the place of the item's", {**CALL, "id": "call_k"}, "Expected an ID that begins with 'fc'."),
    ("an id with a colon", {**CALL, "id": "fc:1"}, "this value contained additional characters."),
]


@pytest.mark.parametrize(("item", "words"), [r[1:] for r in IDS], ids=[r[0] for r in IDS])
def test_ids_of_items(responses, item, words):
    (finding,) = responses(ASK, item, OUTPUT)
    assert (finding.rule, finding.pointer) == ("closure.id-format", "/input/1/id")
    assert finding.refusal.endswith(words)


def test_an_item_that_is_sent_twice(responses):
    second = {**SAID, "content": [{"type": "output_text", "text": "again"}]}
    (finding,) = responses(ASK, SAID, MORE, second, MORE)
    assert (finding.rule, finding.pointer) == ("closure.duplicate-id", "/input/3/id")
    assert finding.refusal.startswith("Duplicate item found with id msg_1.")


RESENT = "closure.duplicate-id"


@pytest.mark.parametrize(
    ("named", "items", "expected"),
    [
        ("resp_1", (CALL, OUTPUT), [("/input/0/call_id", "warning")]),
        ("resp_1", (without_id(CALL), OUTPUT), [("/input/0/call_id", "warning")]),
        ("resp_1", (SAID, OUTPUT), [("/input/0/id", "warning")]),
        ("resp_1", (OUTPUT,), []),
        ("resp_0", (CALL, OUTPUT), []),
        (None, (ASK, CALL, OUTPUT), []),
    ],
)
def test_an_item_that_is_sent_beside_the_id_of_its_response_is_told_at_any_server(inspect, named, items, expected):
    body = {"model": "m", "tools": [{"type": "function", "name": "get_time", "parameters": {"type": "object"}}]}
    answer = {"object": "response", "id": "resp_1", "status": "completed", "model": "m", "output": [SAID, CALL]}
    later = {**body, "input": list(items), **({"previous_response_id": named} if named else {})}
    pairs = [({**body, "input": [ASK]}, answer), (later, None)]
    found = inspect(pairs, protocol="openai-responses", provider="generic")
    assert [(f.pointer, f.severity.value) for f in found if f.rule == RESENT] == expected


def test_a_call_that_is_sent_again_without_the_id_of_its_item_is_no_refusal_that_a_contract_states(inspect):
    body = {"model": "gpt-4.1", "tools": [{"type": "function", "name": "get_time", "parameters": {"type": "object"}}]}
    answer = {"object": "response", "id": "resp_1", "status": "completed", "model": "gpt-4.1", "output": [CALL]}
    later = {**body, "input": [without_id(CALL), OUTPUT], "previous_response_id": "resp_1"}
    found = inspect([({**body, "input": [ASK]}, answer), (later, None)], protocol="openai-responses", provider="openai")
    assert [f.severity.value for f in found if f.rule == RESENT] == ["warning"]
