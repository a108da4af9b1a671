"""Whole runs against gateways that do not reach us, that keep requests to themselves, that talk too much."""

from __future__ import annotations

import pytest

from tests.gateways.auditing import audited
from tests.gateways.proxy import Gateway, Message, running
from workbench.recorder.audit.card import score_card
from workbench.recorder.audit.client import read_base
from workbench.recorder.audit.run import AuditPlan, AuditResult, GatewayUnreachable, run_audit
from workbench.recorder.audit.upstream import AuditUpstream


async def _through(gateway: type[Gateway], **plan: object) -> tuple[AuditResult, AuditUpstream]:
    upstream = AuditUpstream()
    await upstream.start()
    try:
        async with running(gateway(upstream.port)) as url:
            return await run_audit(AuditPlan(read_base(url), **plan), upstream), upstream  # type: ignore[arg-type]
    finally:
        await upstream.close()


class _Closed(Gateway):
    """Answers by itself what it has no way for."""

    def request(self, message: Message) -> None:
        if "/messages" not in message.start[1]:
            message.start, message.body = ("GET", "/no-way", "HTTP/1.1"), b""


async def test_nobody_listens() -> None:
    upstream = AuditUpstream()
    await upstream.start()
    try:
        with pytest.raises(
            GatewayUnreachable, match=r"nothing accepts connections at http://127.0.0.1:1 .*start the gateway"
        ):
            await run_audit(AuditPlan(read_base("http://127.0.0.1:1")), upstream)
    finally:
        await upstream.close()


async def test_a_gateway_that_answers_by_itself_is_not_audited() -> None:
    class Refusing(Gateway):
        async def serve(self, reader, writer) -> None:  # type: ignore[no-untyped-def]
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 26\r\n\r\nbad key: sk-secret-0123456")
            writer.close()

    with pytest.raises(GatewayUnreachable, match=r"answered 401 itself: bad key.*--key-variable"):
        await _through(Refusing)


async def test_protocols_without_a_way_are_skipped_and_the_others_audited() -> None:
    audit, _ = await _through(_Closed, only=("query",))
    assert audit.ways == {"anthropic-messages": "anthropic-messages"}
    assert set(audit.skipped) == {"openai-chat", "openai-responses", "gemini"}
    assert [(v.case.name, v.damages) for v in audit.verdicts] == [("query", ())]
    assert audit.strays == ("GET /no-way",)


async def test_a_request_that_gets_lost_is_named() -> None:
    class Strict(Gateway):
        def request(self, message: Message) -> None:
            if b"ud83d" in message.body:
                message.start, message.body = ("GET", "/dropped", "HTTP/1.1"), b""

    audit, _ = await _through(Strict, protocols=("openai-chat",), only=("lone-surrogate", "text-edges"))
    found = {v.case.name: [(f.kind, f.side) for f in v.damages] for v in audit.verdicts}
    assert found == {"text-edges": [], "lone-surrogate": [("answered by the gateway", "request")]}


async def test_credentials_are_sent_and_never_shown() -> None:
    class Telling(Gateway):
        def request(self, message: Message) -> None:
            message.set("X-Echo", message.get("x-team"))
            message.drop("x-team")

    audit, _ = await _through(
        Telling, protocols=("openai-chat",), only=("query",), headers=(("X-Team", "s3cret-team-token"),)
    )
    shown = " ".join(f.words for v in audit.verdicts for f in v.damages)
    assert audit.verdicts[0].damages
    assert "s3cret-team-token" not in shown


async def test_a_score_card_counts_by_theme_and_names_the_worst_first() -> None:
    audit = await audited("sorts-keys", "openai-chat", cases=("key-order", "text-edges", "huge-number", "head"))
    found = score_card(audit)
    rows = {row.theme: (row.passed, row.of, row.elsewhere) for row in found.rows}
    assert rows["spelling"] == (0, 2, 1)
    assert rows["texts"] == (1, 1, 0)
    assert rows["path and method"] == (1, 1, 0)
    assert [entry.first.kind for entry in found.entries] == ["no JSON any more", "key order"]
    assert [v.case.name for v in found.entries[1].verdicts] == ["key-order", "huge-number", "text-edges"]
    assert (found.passed, found.of) == (1, 4)
    assert found.fails("error")
    assert not score_card(await audited("", "openai-chat", cases=("key-order",))).fails("any")
