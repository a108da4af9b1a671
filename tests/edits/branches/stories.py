"""A source session to edit, and the folder its edits are kept in."""

from __future__ import annotations

from pathlib import Path

from workbench.edits import with_body
from workbench.edits.branches import BranchNode, Workspace
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession

KEY = "sk-ant-api03-" + "a1B2" * 12


def exchange(n: int, said: str = "hi") -> Exchange:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "%s %d"}]}' % (said.encode(), n)
    request = HttpRequest("POST", "https://api.example/v1/chat/completions", Headers((("a", "b"),)), Body(body))
    answer = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "ho"}}]}'
    return Exchange(f"e{n}", request, HttpResponse(200, body=Body(answer)), started_at=1.0 + n)


def source(said: str = "hi", count: int = 3) -> MemorySession:
    return MemorySession("source", tuple(exchange(n, said) for n in range(count)))


def body(node: BranchNode) -> bytes:
    assert node.exchange.request
    return node.exchange.request.body.raw


def edit(workspace: Workspace, node: BranchNode, old: str, new: str) -> BranchNode:
    """An edit of a node: another text for one in its body."""
    assert node.exchange.request
    made = body(node).replace(old.encode(), new.encode())
    return workspace.commit(node, with_body(node.exchange.request, made), f"{old} is {new}")


def files(folder: Path) -> list[str]:
    """Names of what is kept, but for what SQLite has beside it."""
    return sorted(p.name for p in folder.glob("*.session"))
