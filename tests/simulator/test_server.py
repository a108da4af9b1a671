"""The socket around a simulator: HTTP/1.1 as clients speak it, for this machine alone."""

from __future__ import annotations

import http.client
import json
import socket

import pytest

from tests.simulator.conftest import chat
from workbench.simulator import Dials, ScriptedModel, Simulator, serve

CHAT = "/v1/chat/completions"
PATH = CHAT.encode()
BODY = json.dumps(chat())


@pytest.fixture(scope="module")
def port(served):
    return served(Simulator("openai")).port


def raw(port, data):
    """Everything that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def head(method=b"POST", host=b"127.0.0.1:%d", path=PATH, *more):
    return b"\r\n".join((b"%s %s HTTP/1.1" % (method, path), b"Host: " + host, *more, b"", b""))


def test_a_connection_stays(port):
    client = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(3):
        client.request("POST", CHAT, BODY, {"content-type": "application/json"})
        connection = client.sock if number == 0 else connection  # noqa: F821
        answer = client.getresponse()
        assert (answer.status, answer.headers["transfer-encoding"]) == (200, "chunked")
        assert json.loads(answer.read())["choices"]
    assert client.sock is connection
    client.close()


def test_bodies_may_come_in_chunks(port):
    client = http.client.HTTPConnection("127.0.0.1", port)
    pieces = [BODY[:20].encode(), BODY[20:].encode()]
    client.request("POST", CHAT, iter(pieces), {"content-type": "application/json"}, encode_chunked=True)
    assert client.getresponse().status == 200
    client.close()


def test_an_answer_without_a_body(port):
    answer = raw(port, head(b"HEAD", b"127.0.0.1:%d" % port, b"/") + head(b"OPTIONS", b"127.0.0.1:%d" % port, b"/"))
    assert answer.startswith(b"HTTP/1.1 200 OK") and b"HTTP/1.1 204 No Content" in answer
    assert b"transfer-encoding" not in answer and answer.endswith(b"\r\n\r\n")


def test_old_clients_get_a_body_that_ends_with_the_connection(port):
    request = f"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    answer = raw(port, request.encode())
    assert b"connection: close" in answer and json.loads(answer.partition(b"\r\n\r\n")[2])["object"] == "list"


@pytest.mark.parametrize(
    ("request_of", "status"),
    [
        (lambda port: head(host=b"evil.example"), b"421"),
        (lambda port: head(b"POST", b"127.0.0.1:%d" % port, b"/", b"Origin: https://evil.example"), b"403"),
        (
            lambda port: head(b"GET", b"127.0.0.1:%d" % port, b"/", b"Connection: upgrade", b"Upgrade: websocket"),
            b"426",
        ),
        (lambda port: b"nonsense\r\n\r\n", b"400"),
        (lambda port: head(b"POST", b"127.0.0.1:%d" % port, PATH, b"Content-Length: 9") + b"{", b"400"),
    ],
)
def test_what_is_turned_away(port, request_of, status):
    assert raw(port, request_of(port)).startswith(b"HTTP/1.1 " + status)


def test_a_client_that_waits_for_leave_gets_it(port):
    waits = head(b"POST", b"127.0.0.1:%d" % port, PATH, b"Expect: 100-continue", b"Content-Length: 2")
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(waits)
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue")


def test_a_stream_that_breaks_breaks_the_connection(served):
    broken = served(Simulator("openai", model=ScriptedModel(Dials(stream="cut"))))
    client = http.client.HTTPConnection("127.0.0.1", broken.port)
    client.request("POST", CHAT, json.dumps(chat(stream=True)), {"content-type": "application/json"})
    answer = client.getresponse()
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        answer.read()
    client.close()


def test_each_request_is_told():
    told = []
    with serve(Simulator("openai"), log=told.append) as server:
        client = http.client.HTTPConnection("127.0.0.1", server.port)
        client.request("GET", "/v1/models")
        client.getresponse().read()
        client.request("POST", CHAT, "{")
        client.getresponse().read()
        client.close()
    first, second = (line.line() for line in told)
    assert first == "GET /v1/models 200"
    assert second.startswith("POST /v1/chat/completions 400 We could not parse the JSON body")


def test_a_fault_of_the_program_ends_the_request_alone(monkeypatch):
    simulator = Simulator("openai")
    with serve(simulator) as server:
        monkeypatch.setattr(Simulator, "names", lambda self: 1 / 0)
        get = head(b"GET", b"127.0.0.1:%d" % server.port, b"/v1/models")
        assert raw(server.port, get).startswith(b"HTTP/1.1 500") and raw(server.port, get).startswith(b"HTTP/1.1 500")


def test_a_server_that_is_closed_frees_its_port_and_its_clients():
    server = serve(Simulator("openai", model=ScriptedModel(Dials(latency=600.0))))
    client = http.client.HTTPConnection("127.0.0.1", server.port)
    client.request("POST", CHAT, BODY, {"content-type": "application/json"})
    answer = client.getresponse()
    server.close()
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        answer.read()
    client.close()
    with serve(Simulator("openai"), port=server.port) as again:
        assert again.port == server.port
