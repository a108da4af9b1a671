from __future__ import annotations

import pytest

from workbench.contracts import Finding, Severity
from workbench.rules.inspection import InspectedExchange
from workbench.tui.models.timeline import MAX_HOP, MAX_LANES, hop_columns, lanes, row_line
from workbench.views.lines import Span, plain
from workbench.wire.exchange import ExchangeKind, Origin, State, Summary


@pytest.mark.parametrize(
    ("conversations", "expected"),
    [
        ([], []),
        ([0, 0], ["●", "●"]),
        ([0, 1, 0], ["● ", "│●", "● "]),
        ([0, None, 0], ["●", "│", "●"]),
        ([0, 1, 1, 0, 2], ["● ", "│●", "│●", "● ", "● "]),  # an ended lane is used again
    ],
)
def test_lanes(conversations: list[int | None], expected: list[str]) -> None:
    assert lanes(conversations) == expected


def test_a_column_stays_with_its_place() -> None:
    hops = ["before", "behind", "before", "behind"]
    assert lanes([0, 1, 2, 3], hops) == ["● ", " ●", "● ", " ●"]
    assert lanes([0, 1], ["", "behind"]) == ["● ", " ●"]


def test_many_conversations_share_the_last_lane() -> None:
    rows = lanes([*range(20), *range(20)])
    assert {len(row) for row in rows} == {MAX_LANES}


def summary(**more: object) -> Summary:
    known: dict[str, object] = {
        "index": 1, "id": "x", "method": "POST", "url": "https://host/v1/messages?beta=1", "status": 200,
        "state": State.COMPLETE, "kind": ExchangeKind.HTTP, "origin": Origin.IMPORTED, "request_bytes": 900,
        "response_bytes": 2200, "duration": 1.4,
    }  # fmt: skip
    return Summary(**known | more)  # type: ignore[arg-type]


def row(**more: object) -> InspectedExchange:
    known: dict[str, object] = {
        "index": 1, "summary": summary(), "protocol": "openai-chat", "protocol_from": "",
        "provider": "openai", "provider_from": "from host", "model": "gpt", "conversation": 0,
    }  # fmt: skip
    return InspectedExchange(**known | more)  # type: ignore[arg-type]


ERROR = Finding("closure.missing-result", Severity.ERROR, 1, "request", "", "")
WARNING = Finding("stream.truncated", Severity.WARNING, 1, "response", "", "")


@pytest.mark.parametrize(
    ("what", "inspected", "width", "expected"),
    [
        (summary(), None, 30, " 2 ● 200  1.4 s  …"),
        (summary(), row(calls=("ls",), has_reasoning=True), 30, " 2 ● 200  1.4 s  ◆ 1 call ∴ reasoning"),
        (summary(status=400), row(findings=(ERROR, ERROR)), 30, " 2 ● 400  1.4 s  ✗ 2 breaks"),
        (summary(), row(findings=(WARNING,)), 30, " 2 ● 200  1.4 s  ! 1 warning"),
        (summary(state=State.ABORTED, duration=None), row(), 30, " 2 ● 200           ⊘ aborted"),
        (summary(), row(protocol=None), 30, " 2 ● 200  1.4 s  POST /v1/messages"),
        (summary(), row(finish_reason="stop"), 30, " 2 ● 200  1.4 s  stop"),
        (summary(), row(conversation=None), 30, " 2 ● 200  1.4 s  · openai-chat, not decoded"),
        (summary(), row(problems=("x",)), 30, " 2 ● 200  1.4 s  ? unreadable"),
        (summary(state=State.INCOMPLETE), row(problems=("x",)), 30, " 2 ● 200  1.4 s  ⊘ damaged, not checked"),
        (summary(state=State.OPEN, duration=None), row(), 30, " 2 ● 200           ⇣ arriving"),
        (summary(branch="a to b", note="loss: x; id: y"), row(), 30, " 2 ● 200  1.4 s  └ ~2"),
        (summary(status=None), row(), 80, " 2 ● –    1.4 s    gpt  3.1 kB"),
        (summary(), row(calls=("ls", "cat", "rm", "mv")), 80, " 2 ● 200  1.4 s  ◆ ls, cat, rm …  gpt  3.1 kB"),
    ],
)
def test_row_in_words_and_signs(what: Summary, inspected: InspectedExchange | None, width: int, expected: str) -> None:
    made = row_line(what, inspected, "●", width, 2)
    text = "".join(s.text.rjust(-s.width) if s.width < 0 else s.text.ljust(s.width) for s in made)
    assert text.split() == expected.split()
    assert plain(made)


def test_a_session_of_several_places_names_them() -> None:
    assert hop_columns(["client", "client"]) == 0 and hop_columns(["", "gateway-of-long-name"]) == MAX_HOP
    made = row_line(summary(hop="client"), row(), "●", 40, 2, hop=8)
    assert Span("client", "role", 8) in made
