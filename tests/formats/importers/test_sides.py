from __future__ import annotations

import pytest

from workbench.formats.importers._side_of_value import EVENT, REQUEST, RESPONSE, error_status, is_error, side_of

SIDES = [
    ({"model": "m", "messages": []}, REQUEST),
    ({"model": "m", "input": [{"role": "user"}]}, REQUEST),
    ({"model": "m", "input": "hello"}, REQUEST),
    ({"contents": [], "tools": []}, REQUEST),
    ({"prompt": "x", "max_tokens_to_sample": 5}, REQUEST),
    ({"thread": {"type": "continue"}, "messages": [], "model": "m"}, REQUEST),
    ({"choices": [{"message": {}}]}, RESPONSE),
    ({"type": "message", "role": "assistant", "content": [], "usage": {}}, RESPONSE),
    ({"object": "response", "output": [], "tools": [], "prompt": None}, RESPONSE),
    ({"candidates": []}, RESPONSE),
    ([{"candidates": []}, {"candidates": []}], RESPONSE),
    ({"output": {"message": {"role": "assistant"}}, "stopReason": "end_turn"}, RESPONSE),
    ({"model": "m", "message": {"role": "assistant"}, "done": True}, RESPONSE),
    ({"id": "x", "message": {"role": "assistant"}, "finish_reason": "COMPLETE"}, RESPONSE),
    ({"error": {"message": "no"}}, RESPONSE),
    ({"error": "model not found"}, RESPONSE),
    ({"detail": [{"loc": ["body"], "msg": "field required"}]}, RESPONSE),
    ({"type": "error", "error": {"type": "overloaded_error"}}, RESPONSE),
    ({"object": "error", "message": "bad", "code": 400}, RESPONSE),
    ({"message": "The security token is expired"}, RESPONSE),
    ({"object": "chat.completion.chunk", "choices": []}, EVENT),
    ({"choices": [{"index": 0, "delta": {}}]}, EVENT),
    ({"type": "message_start", "message": {}}, EVENT),
    ({"type": "response.created", "response": {}}, EVENT),
    ({"type": "tool-plan-delta", "delta": {}}, EVENT),
    ({"messageStart": {"role": "assistant"}}, EVENT),
    ({"event_type": "interaction.created"}, EVENT),
    ({"object": "interaction", "status": "completed", "outputs": []}, RESPONSE),
    ({"agent": "deep-research-pro", "input": "hello"}, REQUEST),
    ({"object": "chat.completion.chunk", "choices": [{"index": 0, "message": {"role": "assistant"}}]}, RESPONSE),
    ({}, None),
    ({"name": "x", "version": "1"}, None),
    ({"message": "hello", "author": "me"}, None),
    ({"role": "user", "content": "x"}, None),
    ([], None),
    ([{"role": "user", "content": "x"}], None),
    ("text", None),
    (5, None),
]


@pytest.mark.parametrize(("value", "side"), SIDES, ids=[str(v)[:50] for v, _ in SIDES])
def test_the_shape_tells_the_side(value: object, side: str | None) -> None:
    assert side_of(value) == side


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ({"error": {"code": 429}}, 429),
        ({"error": {"code": "invalid_api_key"}}, None),
        ({"error": {"code": 7}}, None),
        ({"error": {"code": True}}, None),
        ({"error": "no"}, None),
        ([], None),
    ],
)
def test_an_error_may_name_its_status(value: object, status: int | None) -> None:
    assert error_status(value) == status


def test_answers_with_an_empty_error_field_are_no_errors() -> None:
    assert not is_error({"object": "response", "error": None, "output": []})
    assert not is_error({"error": {}})
