"""The tree of edits and sends as lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.tui import samples
from workbench.edits import with_body
from workbench.edits.branches import BranchNode, Workspace
from workbench.edits.branches.branch_session import CompactExchange, ExchangeCache
from workbench.rules.inspection import Inspector
from workbench.tui.models import branches
from workbench.views.lines import plain
from workbench.wire.exchange import Exchange, HttpRequest, HttpResponse


def held(node: BranchNode, **changes: Any) -> CompactExchange:
    """What a node holds, with something about it changed."""
    return CompactExchange(replace(node.exchange, **changes), None, ExchangeCache())


def workspace() -> tuple[Workspace, BranchNode, BranchNode, BranchNode, BranchNode]:
    work = Workspace(samples.session(samples.exchange({"messages": []}, {}, status=400)))
    root = work.root(0)
    request = root.exchange.request or HttpRequest()
    first = work.commit(root, with_body(request, b"{}"), "emptied")
    sent = work.commit_response(
        first, Exchange("s", first.exchange.request, HttpResponse(200), meta={"target": "sim:openai"})
    )
    second = work.commit(root, with_body(request, b"[]"), "a list")
    return work, root, first, sent, second


def test_what_was_made_one_of_the_other_stands_below_it_and_branches_are_set_in() -> None:
    work, root, first, sent, second = workspace()
    rows = branches.rows(work, 0)
    assert [(row.node, row.stem) for row in rows] == [(root, ""), (first, "├─ "), (sent, "│  └─ "), (second, "└─ ")]
    (title,) = (plain(each) for each in branches.headline(1, rows))
    assert "2 edits · 1 send" in title
    assert "no edits yet" in plain(branches.headline(1, rows[:1])[1])


def test_what_many_were_tried_of_is_one_row_until_it_is_opened_or_something_comes_of_one() -> None:
    work, root, *_ = workspace()
    request = root.exchange.request or HttpRequest()
    before, tip = work.size(root), work.tip(root)
    tried = [work.commit(root, with_body(request, b"{}" + b" " * n), f"what if: {n}", is_trial=True) for n in (1, 2)]
    for node, status in zip([*tried, root], (200, 400, 400), strict=True):
        work.commit_response(node, Exchange("", request, HttpResponse(status), meta={"target": "sim:x"}), is_trial=True)
    assert (work.size(root), work.tip(root), work.current(0).id) == (before + 1, tip, tip.id), "nobody moved"
    folded = branches.rows(work, 0)
    fold = folded[1]
    assert len(folded) == before + 2 and len(fold.trials) == 5
    assert "⊞ what if: 2 variants, 1 of 3 responses accepted" in plain(branches.trials_line(fold, is_open=False))
    assert "2 edits · 1 send · 3 sent by what-if" in plain(branches.headline(1, folded)[0])
    opened = branches.rows(work, 0, {root.id})
    assert opened[1] == fold and {row.node.id for row in opened[2:7]} == {node.id for node in fold.trials}
    assert branches.headline(1, opened)[0] == branches.headline(1, folded)[0]
    further = work.commit(tried[0], with_body(request, b"1"), "further")
    rows = branches.rows(work, 0)
    assert len(rows[1].trials) == 3 and [row.node for row in rows if row.node in (tried[0], further)] == [
        tried[0],
        further,
    ]


def test_a_node_says_what_became_of_it() -> None:
    _, root, first, sent, _ = workspace()
    lines = [
        plain(branches.branch_line(branches.Branch(node), "refuses", is_here=node is first, is_marked=node is sent))
        for node in (root, first, sent)
    ]
    assert "✗ 400" in lines[0] and "as recorded" in lines[0]
    assert lines[1].startswith("  ● ") and "✗ refuses" in lines[1] and "emptied" in lines[1]
    assert "* " in lines[2] and "✓ 200" in lines[2]
    unanswered = branches.Branch(replace(sent, name="mine", compact=held(sent, response=None)))
    assert "no status" in plain(branches.branch_line(unanswered, None, is_here=False, is_marked=False))
    assert branches.against(unanswered.node) == "mine"
    old = replace(first, compact=held(first, started_at=86400.0 * 365))
    assert branches.moment(old).startswith("1970-1") or branches.moment(old).startswith("1971-01-01")
    assert branches.moment(root) == ""


def test_a_verdict_is_that_of_the_contract_of_the_exchange() -> None:
    work, root, first, _, _ = workspace()
    inspector = Inspector(work.source)
    assert branches.verdict(inspector, 0, first) == "unknown"
    assert branches.verdict(inspector, 0, replace(root, compact=held(root, request=None))) == "no request"
