"""Lines of the branches screen: the tree of edits and sends of an exchange."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import clip
from workbench.views import REQUEST_SIGNS, Line, Span, count, line

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.rules import Inspector

DEEPEST = 15
"""Cells of tree lines from which on a chain is not indented."""

LABEL = 11
"""Cells of a verdict or status."""

STEM = 6 + LABEL
"""Cells before the connectors of the tree."""


class Branch(NamedTuple):
    """A row of the tree: a node, or all trials of a node as a group.

    Attributes:
        stem: tree lines in front of it.
        trials: the trials of a group; empty for a node.
    """

    node: BranchNode
    stem: str = ""
    trials: tuple[BranchNode, ...] = ()

    @property
    def key(self) -> tuple[str, bool]:
        """Identity of a row, to find it again."""
        return self.node.id, bool(self.trials)


def title_with_branch(title: Line, branch: str) -> Line:
    """A title with the name of a branch after its first words; unchanged for the recorded request."""
    return (*title[:1], Span(branch, "warning"), *title[1:]) if branch else title


def rows(workspace: Workspace, index: int, opened: Collection[str] = ()) -> list[Branch]:
    """Rows of the branch tree of an exchange. Far down, single children are not indented further.

    Args:
        opened: ids of the nodes whose trials are expanded, each in a row below the row of the group.
    """
    found = list[Branch]()
    stack = [(Branch(workspace.root(index)), "")]
    while stack:
        row, inner = stack.pop()
        found.append(row)
        below = _below(workspace, row, opened)
        if len(below) == 1 and len(inner) >= DEEPEST and not (row.trials or below[0].trials):
            stack.append((below[0]._replace(stem=inner), inner))
            continue
        for number, each in reversed(list(enumerate(below))):
            is_last = number == len(below) - 1
            stem = f"{inner}{'└─ ' if is_last else '├─ '}"
            stack.append((each._replace(stem=stem), f"{inner}{'   ' if is_last else '│  '}"))
    return found


def _below(workspace: Workspace, row: Branch, opened: Collection[str]) -> list[Branch]:
    """The rows directly below one: the group of its trials first, then the other children."""
    if row.node.is_trial and not row.trials:
        return [Branch(child) for child in workspace.children(row.node)]
    trials = workspace.trials(row.node)
    if row.trials:
        return [Branch(child) for child in trials] if row.node.id in opened else []
    whole = tuple(node for child in trials for node in workspace.subtree(child))
    branches = [Branch(child) for child in workspace.children(row.node) if child not in trials]
    return [*([Branch(row.node, trials=whole)] if whole else ()), *branches]


def headline(number: int, branches: Sequence[Branch]) -> list[Line]:
    """Number of the exchange, and counts of edits and sends."""
    folded = {node.id: node for b in branches for node in b.trials}
    nodes = [b.node for b in branches if not b.trials and b.node.id not in folded]
    sends = sum(node.is_sent for node in nodes)
    facts = [count(max(0, len(nodes) - sends - 1), "edit"), count(sends, "send")]
    if folded:
        facts.append(f"{sum(node.is_sent for node in folded.values()):,} sent by what-if")
    first = line(
        Span(f" Branches of request {number}", "strong"),
        Span(f"   {' · '.join(facts)}" if branches else "", "muted"),
    )
    return [first, line(Span(" no edits yet · enter: edit the request", "muted"))] if len(branches) == 1 else [first]


def trials_line(branch: Branch, *, is_open: bool) -> Line:
    """Number of variants and accepted responses of a what-if on a node."""
    answers = [node for node in branch.trials if node.is_sent]
    accepted = sum(is_accepted(node) for node in answers)
    variants = sum(not node.is_sent for node in branch.trials)
    counts = f"{count(variants, 'variant')}, {accepted:,} of {count(len(answers), 'response')} accepted"
    return line(
        Span("", "", STEM),
        Span(branch.stem, "muted"),
        Span(f"{'⊟' if is_open else '⊞'} what if: ", "accent strong"),
        counts,
        Span(f"  enter: {'collapse' if is_open else 'expand'}", "muted"),
    )


def is_accepted(node: BranchNode) -> bool:
    """True if a target responded with a status of success."""
    response = node.compact.bare.response
    return response is not None and response.status < 400


def branch_line(branch: Branch, verdict: str | None, *, is_here: bool, is_marked: bool) -> Line:
    """Line of a node: signs for current and marked, its verdict or status, its name, the edit, and the time."""
    node = branch.node
    return line(
        Span("* " if is_marked else "  ", "warning strong"),
        Span("● " if is_here else "○ ", "accent strong" if is_here else "muted"),
        *_verdict_line(node, verdict),
        Span(branch.stem, "muted"),
        Span(f"{node.name}  " if node.name else "", "accent strong"),
        Span(node.title.removesuffix(f" → {_status(node)}"), "strong" if is_here else ""),
        Span(f"  {moment(node)}", "muted"),
    )


def _verdict_line(node: BranchNode, verdict: str | None) -> Line:
    """HTTP status of a node that was sent or recorded; verdict of the contract for others."""
    sign, style = REQUEST_SIGNS.get(verdict or "", ("·" if verdict else " ", "muted"))
    if node.parent is not None and not node.is_sent:
        return line(Span(f"{sign} {verdict or ''} ", style, LABEL + 2))
    return line(Span("✓ ", "ok") if is_accepted(node) else Span("✗ ", "error"), Span(f"{_status(node)} ", "", LABEL))


def _status(node: BranchNode) -> str:
    response = node.compact.bare.response
    return str(response.status) if response and response.status else "no status"


def against(node: BranchNode) -> str:
    """Short name of a node, cut at 40 characters."""
    return clip(node.name or node.title, 40)


def moment(node: BranchNode) -> str:
    """Time of day when the node was made, with the date unless it is today; empty for the recorded request."""
    if node.parent is None or node.compact.bare.started_at is None:
        return ""
    then, today = time.localtime(node.compact.bare.started_at), time.localtime()
    return time.strftime("%H:%M:%S" if then[:3] == today[:3] else "%Y-%m-%d %H:%M", then)


def verdict(inspector: Inspector, index: int, node: BranchNode) -> str:
    """Verdict of the exchange's contract on a node's request. Runs in the inspector's thread."""
    from workbench.tui.models.edit_study import study

    request = node.exchange.request
    return study(inspector, index, request).told.verdict.value if request else "no request"
