from __future__ import annotations

import pytest

from workbench.rules import closure_alone

CHECKS = [("closure.result-not-first", "mixed")]
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
TEXT = {"type": "text", "text": "and?"}

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}

MIXED = [
    ("results alone", [RESULT, RESULT], None),
    ("no result", [TEXT, TEXT], None),
    ("text behind", [RESULT, TEXT], "/messages/1/content/1"),
    ("text between", [RESULT, TEXT, RESULT], "/messages/1/content/1"),
    ("text in front is told by its own rule", [TEXT, RESULT], None),
]


@pytest.mark.parametrize(("content", "pointer"), [row[1:] for row in MIXED], ids=[row[0] for row in MIXED])
def test_nothing_stands_beside_results(under, content, pointer):
    said = [{"role": "assistant", "content": [TEXT]}, {"role": "user", "content": content}]
    body = {"model": "m", "max_tokens": 9, "messages": said}
    found = under(closure_alone, {"closure.results-alone": True}, CHECKS, body, protocol="anthropic-messages")
    assert [(f.pointer, f.refusal) for f in found] == ([(pointer, "mixed")] if pointer else [])
    assert not under(closure_alone, {}, CHECKS, body, protocol="anthropic-messages")


def test_media_may_stand_beside_results_where_the_contract_says_so(under):
    said = [{"role": "assistant", "content": [TEXT]}, {"role": "user", "content": [RESULT, IMAGE, TEXT]}]
    body = {"model": "m", "max_tokens": 9, "messages": said}
    for value, pointer in ((True, "/messages/1/content/1"), ("unless-media", "/messages/1/content/2")):
        found = under(closure_alone, {"closure.results-alone": value}, CHECKS, body, protocol="anthropic-messages")
        assert [f.pointer for f in found] == [pointer]
