"""Lines of the tools screen."""

from __future__ import annotations

import pytest

from workbench.ir import ToolDef
from workbench.rules import schema_check
from workbench.tui.models import tools
from workbench.tui.models.tools import ToolDeclaration, ToolJudgement
from workbench.views.lines import LINK, plain
from workbench.wire.jsontext import JsonIndex, dumps

ONE_OF = {
    "type": "object",
    "properties": {"a": {"type": "string", "minLength": 2}},
    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
}
NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}


def judged(schema: object, dialect: str) -> schema_check.JudgedSchema:
    return next(schema_check.judge("run", schema, c, d) for c, d in schema_check.dialects() if d.name == dialect)


def declared(name: str | None) -> ToolDeclaration:
    return ToolDeclaration(ToolDef(name, None, {}, pointer="/tools/0"), "/tools/0/input_schema")


@pytest.mark.parametrize(
    ("dialects", "said"),
    [
        ((), "(no name)"),
        (("mistral",), "accepted everywhere"),
        (("anthropic", "mistral"), "1 of 2 providers needs a change"),
    ],
)
def test_a_tool_says_how_many_take_it(dialects: tuple[str, ...], said: str) -> None:
    told = ToolJudgement(tuple(judged(ONE_OF, name) for name in dialects)) if dialects else None
    assert said in plain(tools.tool_line(declared(None), told))


def test_a_row_has_what_is_refused_then_the_changes_then_the_check() -> None:
    body = dumps(ONE_OF)
    span = JsonIndex(body).span("/oneOf")
    assert span
    rows = tools.rows_of(judged(ONE_OF, "anthropic"), {"/oneOf": span})
    words = [plain(row.head).split()[1] for row in rows]
    assert words[0] == "refused" and words[-1] == "remaining"
    assert words == sorted(words, key=["refused", "ignored", "change", "remaining"].index)
    assert rows[0].pointer == "/oneOf" and rows[0].spans == (span,) and rows[0].is_keyword
    assert rows[0].source.startswith("source: ")
    assert any('"oneOf"' in text for text, _ in rows[-1].text)


@pytest.mark.parametrize(("width", "repeated"), [(200, False), (24, True)])
def test_what_the_line_says_is_said_again_only_where_it_is_cut(width: int, repeated: bool) -> None:
    row = tools.rows_of(judged(ONE_OF, "anthropic"), {})[0]
    told = " ".join(plain(made).strip() for made in tools.body(row, width))
    assert ("not allowed" in told) == repeated


@pytest.mark.parametrize("schema", [ONE_OF, NODE, "no schema", {"type": 3}], ids=str)
def test_every_dialect_has_its_lines(schema: object) -> None:
    for contract, dialect in schema_check.dialects():
        found = schema_check.judge("run", schema, contract, dialect)
        line = plain(tools.dialect_line(found, 100, is_here=False))
        assert dialect.name in line and found.verdict.removesuffix("d") in line
        assert tools.verdict_words(found).startswith("accepted" if found.verdict == "accepted" else "refused")
        for row in tools.rows_of(found, {}):
            assert tools.body(row, 40) is not None


def test_only_the_source_of_a_row_has_links() -> None:
    row = tools.DialectRow(
        (), (("see https://traffic.example", ""),), source="source: https://docs.example/tools, 2026"
    )
    styles = {span.text: span.style for made in tools.body(row, 60) for span in made}
    assert [style for style in styles.values() if LINK in style] == [f"muted {LINK}https://docs.example/tools"]
