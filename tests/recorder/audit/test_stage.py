"""How long a piece is waited for."""

from __future__ import annotations

from workbench.recorder.audit.case import mark
from workbench.recorder.audit.cases import cases_of
from workbench.recorder.audit.sighting import CaseStage, PieceTimeout, Sighting
from workbench.wire.exchange import Headers


def test_patience_is_whole_until_something_was_held_and_then_as_long_as_the_gateway_is_slow() -> None:
    patience = PieceTimeout(1.0)
    patience.record(0.06)
    assert patience.seconds == 1.0
    patience.shorten()
    assert not patience.is_whole
    assert 0.2 < patience.seconds < 0.3
    patience.record(5.0)
    assert patience.seconds == 1.0


def _seen(url: str, body: bytes = b"", method: str = "POST") -> Sighting:
    seen = Sighting("upstream", method, url, Headers(), 0.0)
    seen.request_body.add(body, 0.0)
    return seen


def test_a_request_is_known_by_its_mark_and_without_one_by_being_the_first() -> None:
    case = next(case for case in cases_of("openai-chat") if case.name == "text-edges")
    stage = CaseStage(case, PieceTimeout(1.0))
    assert stage.is_of_case(_seen("http://x/anything", mark("text-edges").encode()))
    assert not stage.is_of_case(_seen("http://x/v1", mark("line-ends").encode()))
    assert not stage.is_of_case(_seen("http://x/health", method="GET"))
    assert stage.is_of_case(_seen("http://x/v1", b'{"messages":[]}'))
    stage.sightings.append(_seen("http://x/v1"))
    assert not stage.is_of_case(_seen("http://x/v1", b'{"messages":[]}'))
