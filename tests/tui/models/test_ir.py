from __future__ import annotations

import pytest

from tests.rules.test_mcp import answer, call, session
from tests.tui import samples
from workbench.contracts import Severity
from workbench.ir import Carrier, Media, Message, NodeRef, Opaque, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.rules.inspection import Inspector
from workbench.tui.models.ir import node_body, node_line
from workbench.tui.models.outline import Outline, OutlineNode
from workbench.views import part_text, preview
from workbench.views.lines import plain


def node(part: Part) -> OutlineNode:
    return OutlineNode(
        "part", "request", "/messages/0", 2, NodeRef("request", 0, 0), Message("user", (part,)), part, part_text(part)
    )


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Text("hello"), ["text", "hello"]),
        (Text(""), ["text", '""']),
        (Reasoning(Carrier.THINKING, "hm"), ["∴", "reasoning", "hm"]),
        (Reasoning(Carrier.REASONING_CONTENT, ""), ["∴", "reasoning", '""']),
        (Reasoning(Carrier.REDACTED_THINKING, None, data="xx"), ["∴", "reasoning", "not readable"]),
        (ToolCallIR("c1", "ls", {"path": "."}, "anthropic"), ["◆", "call", "ls", '{"path":', "c1"]),
        (ToolCallIR(None, None, None, "openai", raw="{bad"), ["◆", "call", "(no", "name)", "{bad", "no", "id"]),
        (ToolCallIR("", "ls", {}, "openai", is_server=True), ["◆", "server", "call", "empty"]),
        (ToolResultIR("c1", (Text("ok"),)), ["◇", "result", "ok", "c1"]),
        (ToolResultIR("c1", (Text("no"),), is_error=True), ["◇", "failed", "no"]),
        (Media("image", "image/png", data="QUJD"), ["▣", "image", "image/png", "base64"]),
        (Opaque("odd_block", {"a": 1}), ["?", "odd_block", '{"a":1}']),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else "",
)
def test_every_part_has_a_sign_and_a_word(part: Part, words: list[str]) -> None:
    text = plain(node_line(node(part)))
    assert all(word in text.replace("id ", "id ") for word in words), text


def test_members_of_a_tool_server_are_known_but_for_those_that_no_revision_has() -> None:
    lines = (call(1), answer(1, content=[{"type": "resource_link", "uri": "a:b"}], isError=False, vendor=1))
    detail = Inspector(session(*lines)).detail(1)
    shown = [plain(node_line(one)).split() for one in Outline(detail.decoded, detail.ledger).nodes if one.part]
    assert [line[:2] for line in shown if "?" in line] == [["?", "vendor"]]


def test_a_finding_takes_the_place_of_the_sign() -> None:
    made = node(ToolCallIR("c1", "ls", {}, "openai"))
    assert "✗" in plain(node_line(made, Severity.ERROR))
    assert "!" in plain(node_line(made, Severity.WARNING))


def test_line_ends_become_signs() -> None:
    assert plain(preview("a\nb\x0bc")) == "a ⏎ b\x0bc"


def test_an_open_node_says_everything() -> None:
    call = ToolCallIR("c1", "ls", None, "openai", raw='{"path": ', error="it ends inside a value")
    told = "\n".join(plain(x) for x in node_body(node(call), 40))
    assert "c1" in told
    assert "it ends inside a value" in told
    assert '{"path": ' in told


def test_the_worst_finding_marks_its_node() -> None:
    view = samples.opened(samples.LOST_RESULT, 2).contents["ir"]
    marked = [plain(view.head(n)) for n in range(view.count()) if "✗ call" in plain(view.head(n))]
    assert len(marked) == 1
    assert "run_tests" in marked[0]


def test_a_name_that_looks_like_another_is_told_from_it() -> None:
    call = ToolCallIR("call_1", "re\u0430d_file ", {}, "openai")
    node = OutlineNode("part", "response", "", part=call)
    assert '"re\u0430d_file "' in plain(node_line(node))
    assert "U+0430 CYRILLIC SMALL LETTER A" in "\n".join(plain(x) for x in node_body(node, 80))
