"""HTTP to endpoints: proxies, certificates, redirects."""

from __future__ import annotations

import ssl

import pytest
import trustme

from tests.send.hostile import answer, hostile
from tests.send.test_sending import leaving, send, target
from workbench.cli import main


def test_redirects_are_answers():
    with (
        hostile(answer()) as elsewhere,
        hostile(answer(b"", "307 Temporary Redirect", f"Location: {elsewhere.url}/x")) as server,
    ):
        exchange, _, waits = send(leaving(target(server.url)))
    assert exchange.response.status == 307 and "not followed" in exchange.note
    assert not elsewhere.asked and not waits


def test_proxies_are_for_others(monkeypatch):
    """What is for this machine goes to no proxy; what is for others does, as the environment says."""
    with hostile(answer(b'{"by": "proxy"}')) as proxy, hostile(answer()) as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        send(leaving(target(server.url)))
        assert server.asked and not proxy.asked
        exchange, _, _ = send(leaving(target("http://models.example/v1")))
        assert proxy.asked[0][0].startswith(b"POST http://models.example/v1/chat/completions ")
        assert exchange.response.body.raw == b'{"by": "proxy"}'


def test_certificates_are_checked(tmp_path, monkeypatch):
    """One that nobody vouches for ends it at once; who vouches may be said as httpx has it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with hostile(answer(), tls=context) as server:
        with pytest.raises(OSError, match=r"cannot be reached: certificate not accepted: [^\[]*; .*SSL_CERT_FILE"):
            send(leaving(target(server.url)))
        assert not server.asked
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        exchange, _, _ = send(leaving(target(server.url)))
    assert exchange.response.status == 200 and len(server.asked) == 1


@pytest.mark.parametrize("name", ["other.example", "127.0.0.1"])
@pytest.mark.parametrize("words", ["send", "minimize", "continue"])
def test_a_wrong_certificate_is_one_line(words, name, tmp_path, capsys):
    """Of another host, or of nobody who is known. Nobody is asked twice: it will not change."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert(name).configure_cert(context)
    body = tmp_path / "a.json"
    body.write_text('{"model": "m", "messages": [{"role": "user", "content": "x"}]}')
    with hostile(answer(), tls=context) as server:
        url = server.url.replace("http://", "https://")
        status = main([words, str(body), "--target", url, "--as", "openai-chat", "--protocol", "openai-chat", "--yes"])
    out, err = capsys.readouterr()
    assert status == 4
    assert (out + err).count("cannot be reached: certificate not accepted") == 1
    assert "again in" not in err and "_ssl.c" not in out + err
