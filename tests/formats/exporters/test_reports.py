"""Reports: what a stranger finds in one, and that nothing of a session acts in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.formats.exporters.selecting import every, of
from workbench.config.resources import folder
from workbench.formats.exporters import ExportSelection, _report, html, md
from workbench.formats.importers import open_input
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession, Session

Tell: TypeAlias = Callable[[ExportSelection], _report.Report]


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Both forms tell the same report, which takes longer to make than to write."""
    made: dict[int, tuple[Session, _report.Report]] = {}

    def report(selection: ExportSelection) -> _report.Report:
        session = selection.session
        if id(session) not in made:
            made[id(session)] = session, _report.report(selection)
        return made[id(session)][1]

    for form in (html, md):
        monkeypatch.setattr(form, "report", report)
    return report


EXAMPLES = sorted(folder("sessions").glob("*.jsonl"))
HOSTILE = [
    "<script>alert(1)</script>", "</pre></details><img src=x onerror=alert(1)>", "\" onclick='x'", "&lt;b&gt;",
    "```\n# not a heading\n```", "`` ` ``", "~~~", "![x](https://evil.example/x.png)", "[x](javascript:1)",
    "</details>",
    "\x1b[2J\x07", "\u202egpj.exe", "a\u200bb\xad", "\ud800", "a\x00b", "<!--", "]]>",
    "https://evil.example", "| a | b |",
]  # fmt: skip
VOID = {"meta", "link", "br", "img", "input"}


def session(text: str, *, name: str = "it") -> MemorySession:
    """A broken request that holds a text wherever a session can hold one."""
    tool = {"type": "function", "function": {"name": text, "description": text, "parameters": {"type": "object"}}}
    call = {"id": text, "type": "function", "function": {"name": text, "arguments": text}}
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "user", "content": "x"},
    ]
    body = json.dumps({"model": text, "tools": [tool], "messages": messages}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
    heads = Headers(
        (("x-a", text.encode("utf-8", "surrogatepass").decode("latin-1")), ("content-type", "application/json"))
    )
    request = HttpRequest("POST", f"https://api.openai.com/v1/chat/completions?{text}", heads, Body(body))
    answer = HttpResponse(400, heads, Body(json.dumps({"error": {"message": text}}).encode()), reason=text)
    return MemorySession(
        name,
        (Exchange("1", request, answer, note=text),),
        damage=(text or "x",),
        about={"story": text, text or "y": "z"},
    )


@cache
def contracts_text() -> str:
    """What our contracts say: only the sources that they name are links."""
    return "".join(path.read_text() for path in folder("profiles").glob("*.yaml"))


class Page(HTMLParser):
    """Reads a page: every element is closed, and none of them does anything."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "iframe", "object", "link", "form", "base")
        for name, value in attrs:
            assert name in ("class", "id", "href", "rel", "charset", "lang", "http-equiv", "content", "name", "open"), (
                name
            )
            if name == "href" and not re.fullmatch("#[fxb][0-9]+", value or ""):
                assert value and value.startswith("https://") and value in contracts_text(), value
                assert ("rel", "noopener noreferrer") in attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def page_of(held: Session) -> str:
    data = html.write(every(held)).data.decode()
    assert not re.search(r"url\(|@import|https?:[^<]*['\"]\s*>", data.partition("</style>")[0])
    return "".join(Page(data).text)


def marked(held: Session) -> tuple[str, str]:
    """What Markdown shows as code, and what it takes for its own."""
    code, rest = list[str](), list[str]()
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(md.write(every(held)).data.decode()):
        if token.type == "html_block":
            assert set(token.content.split("\n")) <= {
                "<details>",
                "<summary>Request</summary>",
                "<summary>Response</summary>",
                "</details>",
                "",
            }
        for part in [token, *(token.children or [])]:
            assert part.type not in ("link_open", "image", "html_inline", "table_open", "strikethrough_open")
            (code if part.type in ("fence", "code_inline") else rest).append("" if part.children else part.content)
    return "\n".join(code), "\n".join(rest)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example(path: Path, told: Tell) -> None:
    held = open_input(str(path))
    made = told(every(held))
    page, (code, _) = page_of(held), marked(held)
    assert len(made.exchanges) == len(held)
    for one in made.findings:
        for said in (one.rule, one.message, one.says, one.where, *(repair.title for repair in one.repairs)):
            assert said in page
        assert one.message in code and one.says in code


def test_a_stranger_understands_what_broke() -> None:
    held = open_input(str(folder("sessions") / "deepseek-reasoning-lost.jsonl"))
    page = page_of(held)
    for said in (
        "2 exchanges: 1 error",
        "its reasoning_content was not sent back",
        "exchange 2, request /messages/1, bytes 362–544",
        "must be passed back to the API",
        "restore the reasoning from exchange 1",
        "verified against the contract only",
        "The client keeps the call but forgets the reasoning", '{"role": "assistant", "content": null',
    ):  # fmt: skip
        assert said in page


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_does_nothing(text: str) -> None:
    held = session(text, name=text)
    seen = _report.line(text)
    page, (code, rest) = page_of(held), marked(held)
    assert seen in page and seen in code
    assert not re.search(r"evil|script|onerror|not a heading", rest)
    for made in (html, md):
        data = made.write(every(held)).data.decode()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f\xad]", data)


@settings(max_examples=6)
@given(st.text(alphabet=st.sampled_from("`<>&\"'[]()!*_#|~\\\n\r\t aé\u202e\x00"), max_size=12))
def test_no_text_becomes_markup(text: str) -> None:
    held = session(text)
    assert _report.visible(text.replace("\r", "\\x0d"))[:1] in page_of(held)
    marked(held)


def test_a_report_of_thousands_stays_small_and_says_what_it_lacks() -> None:
    body = Body(json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "x" * 20_000}]}).encode())
    request = HttpRequest("POST", "https://api.openai.com/v1/chat/completions", body=body)
    said = {"index": 0, "message": {"role": "assistant", "content": "So."}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5000, "completion_tokens": 2, "total_tokens": 5002}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "usage": usage}
    answer = Body(json.dumps(whole | {"choices": [said]}).encode())
    one = Exchange("1", request, HttpResponse(200, body=answer))
    made = html.write(every(MemorySession("it", (one,) * 320)))
    assert len(made.data) < 1_000_000
    assert (
        "20 more exchanges are not listed" in made.notes and "only 40 exchanges are shown with bodies" in made.notes[-1]
    )
    assert "20,067 bytes, only the first are shown" in made.data.decode()
    assert "no rule finds a fault" in md.write(of(one)).data.decode()
