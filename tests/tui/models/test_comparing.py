"""Lines of the Compare screen."""

from __future__ import annotations

import pytest

from workbench.diff.damage import Damage, DamageKind, damages_between
from workbench.protocols.decode import DecodedExchange
from workbench.tui.models import comparing
from workbench.tui.models.comparing import REQUEST, RESPONSE, ComparedTurn, Pairing
from workbench.views.lines import plain
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse

HOPS = Pairing("client", "upstream", are_places=True)
DROPPED = Damage(DamageKind.FIELD_DROPPED, REQUEST, "/a", "/a", "it was 1", 3, 12, False, 14, ("/b",))
ORDER = Damage(DamageKind.KEY_ORDER, REQUEST, "", "", "", 1, 4, True, 4)


def decoded(index: int, path: str, body: bytes, answer: bytes, *headers: tuple[str, str]) -> DecodedExchange:
    request = HttpRequest("POST", f"https://{index}.example{path}", Headers(headers), Body(body))
    return DecodedExchange(index, Exchange(str(index), request, HttpResponse(200, Headers(headers), Body(answer))))


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([], "nothing to compare"),
        ([ComparedTurn(0, 1)], "= identical, byte for byte"),
        ([ComparedTurn(0, 1), ComparedTurn(2, 3, (ORDER,))], "= first divergence: key order · same meaning"),
        ([ComparedTurn(0, 1, (DROPPED, ORDER))], "≠ first divergence: dropped · request /a, byte 12"),
        ([ComparedTurn(0, 1), ComparedTurn(4, None)], "≠ first divergence: exchange 5 is only in client"),
        ([ComparedTurn(None, 4)], "≠ first divergence: exchange 5 is only in upstream"),
    ],
)
def test_the_headline_says_where_they_part_first(turns: list[ComparedTurn], told: str) -> None:
    title, verdict = comparing.headline(HOPS, turns, is_over=True)
    assert plain(title).startswith(" client → upstream")
    assert plain(verdict).strip().startswith(told)


def test_what_is_noticed_is_named_beside_a_first_divergence_that_is_not() -> None:
    """A gateway that writes all JSON anew differs at once, and what it drops is what one looks for."""
    header = Damage(DamageKind.HEADER_DROPPED, RESPONSE, "/headers/x", "/headers/x", "", 1, None, False)
    turns = [ComparedTurn(0, 1, (ORDER, header)), ComparedTurn(2, 3, (ORDER, DROPPED))]
    _, first, meant = (plain(told).strip() for told in comparing.headline(HOPS, turns, is_over=True))
    assert first.startswith("≠ first divergence: key order")
    assert meant == "≠ first change of meaning: dropped · exchanges 3 – 4, request /a, byte 12"
    assert "header dropped" in plain(comparing.headline(HOPS, turns[:1], is_over=True)[2])


def test_a_change_is_told_with_its_bytes_on_either_side() -> None:
    """A request goes from left to right, the answer back."""
    turn = ComparedTurn(0, 1, (DROPPED,), outer="before")
    told = [plain(made).strip() for made in comparing.damage_body(DROPPED, turn, HOPS, 70)]
    assert told == [
        "it was 1",
        "first at byte 14 in client, 12 in upstream",
        "also at /b and 1 more",
    ]
    answer = Damage(DamageKind.FIELD_DROPPED, RESPONSE, "/a", "/a", "", 1, 12, False, 14)
    assert "byte 12 in client, 14 in upstream" in plain(comparing.damage_body(answer, turn, HOPS, 70)[-1])
    assert plain(comparing.turn_line(turn._replace(tries=(1, 2)), HOPS)) == "≠ 1 – 2  dropped · 2 attempts"


def test_every_change_has_its_place_on_both_sides() -> None:
    before = decoded(
        0, "/v1/chat/completions?a=1", b'{"model":"m","top_k":7,"messages":[]}', b"yes", ("x-request-id", "1")
    )
    after = decoded(1, "/v1/chat/completions", b'{"model":"m","messages":[]}', b"no", ("authorization", "k"))
    damages = damages_between(before, after)
    found = comparing.places(before, after, damages)
    turn = ComparedTurn(0, 1, damages, outer="before")
    at = {damage: comparing.place_of(damage, found, turn) for damage in damages}
    seen = {(damage.kind, damage.side): found[where].row.kind for damage, where in at.items() if where is not None}
    assert seen[DamageKind.QUERY_CHANGED, REQUEST] == "line"
    assert seen[DamageKind.FIELD_DROPPED, REQUEST] == "bytes"
    assert seen[DamageKind.HEADER_ADDED, REQUEST] == "header authorization"
    assert len(seen) == len(damages)
    dropped = next(place for place in found if place.row.kind == "bytes")
    assert dropped.bodies and dropped.before and dropped.after
    old, new = (body[slice(*span)] for body, span in zip(dropped.bodies, (dropped.before, dropped.after), strict=True))
    assert b"top_k" in old and b"top_k" not in new


def test_sides_stand_beside_one_another_where_there_is_room() -> None:
    before, after = (decoded(n, "/v1", b'{"a":%d}' % n, b"") for n in range(2))
    turn = ComparedTurn(0, 1, damages_between(before, after), outer="before")
    (place,) = comparing.places(before, after, turn.damages)
    rows = comparing.BodyRows()
    assert [" │ " in plain(made) for made in comparing.place_body(place, 100, rows)] == [True]
    assert [plain(made).split()[0] for made in comparing.place_body(place, 60, rows)] == ["-", "+"]
    heads = [plain(comparing.sides_title(HOPS, turn, (before, after), width)) for width in (100, 60)]
    assert [" │ " in head for head in heads] == [True, False] and heads[1].startswith(" - client, exchange 1")
