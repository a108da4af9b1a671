"""Lines of the branches screen: the tree of edits and sends of an exchange."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.lines import Line, Span, line
from workbench.tui.models.matrix import SIGNS
from workbench.tui.models.words import count
from workbench.tui.safetext import clip

if TYPE_CHECKING:
    from workbench.inspection import Inspector
    from workbench.workspace import Node, Workspace

LABEL = 11
"""Cells of a verdict or status."""


class Branch(NamedTuple):
    """A node as it is shown. ``stem``: the lines of the tree in front of it."""

    node: Node
    stem: str = ""


def entitled(title: Line, branch: str) -> Line:
    """A title with the branch that it is about behind its first words; as it is for the recorded request."""
    return (*title[:1], Span(branch, "warning"), *title[1:]) if branch else title


def rows(workspace: Workspace, index: int) -> list[Branch]:
    """The tree of an exchange. A line of nodes that were made one of the other stands straight below one another."""
    found = list[Branch]()
    left = [(workspace.root(index), "", "")]
    while left:
        node, stem, inner = left.pop()
        found.append(Branch(node, stem))
        children = workspace.children(node)
        if len(children) == 1:
            left.append((children[0], inner, inner))
            continue
        for number, child in reversed(list(enumerate(children))):
            is_last = number == len(children) - 1
            left.append((child, f"{inner}{'└─ ' if is_last else '├─ '}", f"{inner}{'   ' if is_last else '│  '}"))
    return found


def headline(number: int, found: Sequence[Branch], here: str) -> list[Line]:
    """Of which exchange, how many edits and sends, and where the person stands."""
    sends = sum(b.node.is_sent for b in found)
    edits = max(0, len(found) - sends - 1)
    told = f"   {count(edits, 'edit')} · {count(sends, 'send')}" if found else ""
    first = line(Span(f" Branches of request {number}", "accent strong"), Span(told, "muted"))
    if len(found) == 1:
        return [first, line(Span(" nothing was made of it yet: enter edits it", "muted"))]
    node = next((b.node for b in found if b.node.id == here), None)
    return [first, line(Span(" you stand at: ", "muted"), Span(node.name or node.title, "strong")) if node else ()]


def branch_line(branch: Branch, verdict: str | None, *, is_here: bool, is_marked: bool) -> Line:
    """A node: where the person stands, what is marked, its verdict or status, its name, what was done, and when."""
    node = branch.node
    return line(
        Span("● " if is_here else "  ", "accent strong"),
        Span("* " if is_marked else "  ", "warning strong"),
        Span(branch.stem, "muted"),
        *_standing(node, verdict),
        Span(f"{node.name}  " if node.name else "", "accent strong"),
        Span(node.title, "strong" if is_here else ""),
        Span(f"  {moment(node)}", "muted"),
    )


def _standing(node: Node, verdict: str | None) -> Line:
    """What was answered, for what was sent or recorded; else what the contract says."""
    sign, style = SIGNS.get(verdict or "", ("·" if verdict else " ", "muted"))
    response = node.held.bare.response
    if node.parent is not None and not node.is_sent:
        return line(Span(f"{sign} {verdict or ''} ", style, LABEL + 2))
    status = str(response.status) if response and response.status else "no answer"
    is_bad = response is None or response.status >= 400
    return line(Span("✗ " if is_bad else "✓ ", "error" if is_bad else "ok"), Span(f"{status} ", "", LABEL))


def against(node: Node) -> str:
    """What a node is called where there is little room."""
    return clip(node.name or node.title, 40)


def moment(node: Node) -> str:
    """When it was made: the time of day, with the day where that is another one."""
    if node.parent is None or node.held.bare.started_at is None:
        return ""
    made, today = time.localtime(node.held.bare.started_at), time.localtime()
    return time.strftime("%H:%M:%S" if made[:3] == today[:3] else "%Y-%m-%d %H:%M", made)


def verdict(inspector: Inspector, index: int, node: Node) -> str:
    """What the contract of the exchange makes of a node's request; in the inspector's thread."""
    from workbench.tui.models.studied import study

    request = node.exchange.request
    return study(inspector, index, request).told.verdict.value if request else "no request"
