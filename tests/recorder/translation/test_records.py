"""What was done stands with the exchange it was done to, and that with the one it came of."""

from __future__ import annotations

from tests.recorder.translation.bridging import Heard
from workbench.recorder.breakpoints.intercepted_events import hop_behind
from workbench.recorder.events import ExchangeEnded, RequestBytes, RequestEnded, RequestHead, RequestStarted
from workbench.recorder.translation.changes import TranslationChange
from workbench.recorder.translation.records import MARK, TurnRecords
from workbench.wire.exchange import Headers, State


def began(filing, key, hop, number="", body=b"{}"):
    headers = Headers((("host", "x"), *((("connection", MARK), (MARK, number)) if number else ())))
    url = "http://127.0.0.1:1/v1/messages" if hop.startswith("client") else "http://127.0.0.1:2/v1/chat/completions"
    head = RequestHead("POST", "/x", url, headers, "HTTP/1.1", hop)
    filing.on_event(RequestStarted(key, 0.0, "default", head))
    filing.on_event(RequestBytes(key, 0.0, body))
    filing.on_event(RequestEnded(key, 0.0))


def test_a_turn_is_filed_under_the_request_it_came_of():
    heard = Heard()
    filing = TurnRecords(heard, "client")
    began(filing, 1, "client", body=b"one")
    began(filing, 2, "client", body=b"two")
    filing.start_turn("t", "/v1/messages", b"two", "a to b")
    began(filing, 3, "upstream", "t", b"else")
    assert heard.heads[3].parent == 2 and heard.heads[3].branch == "a to b"
    assert heard.heads[3].headers.items == (("host", "x"),)
    filing.on_event(ExchangeEnded(3, 1.0, State.COMPLETE, ""))
    assert 3 not in heard.ends
    filing.end_turn("t", [TranslationChange("handle", "h"), TranslationChange("loss", "l")])
    filing.on_event(ExchangeEnded(2, 1.0, State.COMPLETE, ""))
    filing.on_event(ExchangeEnded(1, 1.0, State.ABORTED, "the client hung up"))
    assert heard.ends[3] == (State.COMPLETE, "handle: h; loss: l")
    assert heard.ends[1] == (State.ABORTED, "the client hung up") and heard.ends[2] == (State.COMPLETE, "")
    assert filing.counts == {"handle": 1, "loss": 1}


def test_a_turn_of_a_request_that_was_edited_is_filed_under_what_went_on():
    heard = Heard()
    filing = TurnRecords(heard, "client")
    began(filing, 1, "client", body=b"one")
    began(filing, 2, hop_behind("client"), body=b"edited")
    filing.start_turn("t", "/v1/messages", b"edited", "a to b")
    began(filing, 3, "upstream", "t")
    assert heard.heads[3].parent == 2


def test_a_turn_that_is_over_first_is_filed_at_its_end():
    heard = Heard()
    filing = TurnRecords(heard, "client")
    filing.start_turn("t", "/v1/messages", b"", "a to b")
    began(filing, 1, "upstream", "t")
    filing.end_turn("t", [TranslationChange("note", "n")])
    filing.on_event(ExchangeEnded(1, 1.0, State.ABORTED, "hung up"))
    assert heard.heads[1].parent == 0 and heard.ends[1] == (State.ABORTED, "hung up; note: n")


def test_a_turn_that_never_began_is_forgotten():
    filing = TurnRecords(Heard(), "client")
    filing.start_turn("t", "/", b"", "")
    filing.end_turn("t", [])
    assert not filing._turns


def test_what_is_answered_here_is_noted_at_the_client():
    heard = Heard()
    filing = TurnRecords(heard, "client")
    began(filing, 1, "client")
    filing.record_own_reply("/v1/messages", b"{}", [TranslationChange("note", "n")])
    filing.on_event(ExchangeEnded(1, 1.0, State.COMPLETE, ""))
    assert heard.ends[1] == (State.COMPLETE, "note: n")


def test_the_same_request_twice_is_filed_in_order():
    heard = Heard()
    filing = TurnRecords(heard, "client")
    for key in (1, 2):
        began(filing, key, "client")
    for key in (3, 4):
        filing.start_turn(f"t{key}", "/v1/messages", b"{}", "")
        began(filing, key, "upstream", f"t{key}")
    assert [heard.heads[key].parent for key in (3, 4)] == [1, 2]
