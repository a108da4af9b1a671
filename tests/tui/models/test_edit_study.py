"""An edited request is studied beside the recorded one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import samples
from workbench.contracts import Verdict
from workbench.edits import with_body
from workbench.edits.branches import Workspace
from workbench.errors import LocalProtocolError
from workbench.rules.inspection import Inspector
from workbench.tui.models import edit
from workbench.tui.models.edit_study import study
from workbench.views.lines import Span, plain

INSPECTOR = Inspector(samples.example(samples.LOST_REASONING))
REQUEST = INSPECTOR.detail(1).decoded.exchange.request
assert REQUEST
TEXT = REQUEST.body.raw
ROOT = Workspace(INSPECTOR.session).root(1)


def test_the_recorded_request_is_not_changed_and_judged_by_its_own_contract() -> None:
    found = study(INSPECTOR, 1, REQUEST)
    assert not found.is_changed and not list(found.changed_pointers) and found.text == TEXT
    assert (found.contract, found.told.verdict) == ("deepseek:v4", Verdict.REFUSES)
    assert found.told.refusal and found.told.refusal.status == 400
    assert edit.changed_words(found) == "unchanged"
    assert study(INSPECTOR, 1, REQUEST, "generic").told.verdict is not Verdict.REFUSES


def test_what_is_changed_is_named_by_its_place() -> None:
    found = study(
        INSPECTOR, 1, with_body(REQUEST, TEXT.replace(b"Which", b"What").replace(b'"stream": true', b'"n": 1'))
    )
    assert {"/messages/0/content", "/n"} <= set(found.changed_pointers)
    assert found.value("/n") == b"1" and found.value("/none") == b"" and found.json("/none") == b""
    assert found.json("/messages/1/tool_calls/0/function/arguments/path") == b'"."'
    assert "3 changes" in edit.changed_words(found)


@pytest.mark.parametrize("text", [b"{", b"[1]", b"{}", b""])
def test_of_what_cannot_be_read_no_verdict_is_claimed(text: bytes) -> None:
    found = study(INSPECTOR, 1, with_body(REQUEST, text))
    assert found.told.verdict is Verdict.UNKNOWN and found.meant.problem and found.elements == ()
    assert [row.pointer for row in edit.outline(found.elements, ())] == [""]
    assert "not checked" in plain(edit.study_notes(found)[0].head)
    with pytest.raises(LocalProtocolError, match="cannot be decoded"):
        found.decoded_request  # noqa: B018


def test_the_byte_where_a_body_breaks_is_known() -> None:
    assert study(INSPECTOR, 1, REQUEST).broken_at is None
    assert study(INSPECTOR, 1, with_body(REQUEST, b'{"a":,}')).broken_at == 5
    assert study(INSPECTOR, 1, with_body(REQUEST, b'{"a":1')).broken_at == 5
    assert study(INSPECTOR, 1, with_body(REQUEST, b"{}")).broken_at is None


def test_what_was_sent_elsewhere_may_speak_another_protocol() -> None:
    body = b'{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
    there = replace(with_body(REQUEST, body), url=samples.MESSAGES)
    found = study(INSPECTOR, 1, there)
    assert found.told.protocol == "anthropic-messages" and found.is_changed
    assert study(INSPECTOR, 1, replace(there, body=replace(there.body, raw=b"{"))).meant.problem


def test_a_signature_that_an_edit_unbinds_is_said() -> None:
    inspector = Inspector(samples.example(samples.TOOL_LOOP))
    request = inspector.detail(1).decoded.exchange.request
    assert request
    found = study(inspector, 1, with_body(request, request.body.raw.replace(b"What does", b"What would")))
    assert found.meant.unbound == ("/messages/1/content/0",)
    assert "1 signature unbound" in plain(edit.verdict_line(found))
    assert "signature unbound  /messages/1/content/0" in [plain(row.head)[2:] for row in edit.study_notes(found)]


@pytest.mark.parametrize(("width", "is_promised"), [(60, False), (120, True)])
def test_the_headline_says_that_it_is_an_edit_and_where_one_stands(width: int, is_promised: bool) -> None:
    lines = [plain(each) for each in edit.headline(2, ROOT, None, Span("said"), (width, 40))]
    assert lines[0].startswith(" Edit of request 2") and "as recorded" in lines[0]
    assert (edit.PROMISE in lines[0]) == is_promised
    assert lines[1:] == [" checking …", "said"]
    made = replace(ROOT, parent="x", title="text of message 1 changed", name="mine")
    title = plain(edit.headline(2, made, None, Span("said"), (width, 40))[0])
    assert "branch · mine · text of message 1 changed" in title


def test_the_deepest_row_holds_a_pointer_and_parameters_are_folded() -> None:
    found = study(INSPECTOR, 1, REQUEST)
    rows = edit.outline(found.elements, ())
    numbers = {row.pointer: n for n, row in enumerate(rows)}
    at = [
        rows[edit.deepest(numbers, p)].pointer for p in ("/messages/1/tool_calls/0/id", "/thinking/type", "/no/where")
    ]
    assert at == ["/messages/1/tool_calls/0", "/thinking", ""]
    assert next(row for row in rows if row.pointer == "/thinking").is_folded
    assert "/thinking/type" in {row.pointer for row in edit.outline(found.elements, {"/thinking"})}
    names = {row.pointer: row.name for row in rows}
    assert names["/messages/1/tool_calls/0"] == "call list_dir of message 2" and names["/messages/2"] == "message 3"
