"""Content codings: right, wrongly labelled, cut, corrupt and hostile bodies."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import WireError
from workbench.limits import MAX_CODINGS
from workbench.wire import encoding
from workbench.wire.encoding import decode_body, decode_partial, detect_encoding
from workbench.wire.exchange import Body

TEXT = b'{"model": "m", "messages": [' + b", ".join(b'{"n": %d}' % (n * n) for n in range(20_000)) + b"]}"


def bare_deflate(text: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(text) + packer.flush()


def zstd_stream(text: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(text) + packer.flush()


PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "members": ("gzip", lambda text: gzip.compress(text[:5]) + gzip.compress(text[5:]) + b"\0" * 8),
    "zlib": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare_deflate),
    "brotli": ("br", lambda text: brotli.compress(text, quality=4)),
    "zstd": ("zstd", zstandard.compress),
    "zstd stream": ("zstd", zstd_stream),
    "zstd frames": ("zstd", lambda text: zstandard.compress(text[:5]) + zstandard.compress(text[5:])),
    "list": ("br , gzip", lambda text: gzip.compress(brotli.compress(text, quality=4))),
    "identity": ("identity", lambda text: text),
    "none": ("", lambda text: text),
}
packings = pytest.mark.parametrize(("label", "pack"), PACK.values(), ids=PACK)


@packings
@pytest.mark.parametrize("text", [TEXT, b"", b"{}", b'{"a": 1}', b"data: x\n\n", "é".encode() * 9, bytes(range(256))])
def test_decoded(label: str, pack: Callable[[bytes], bytes], text: bytes) -> None:
    assert decode_body(Body(pack(text), label)) == text


@given(st.text(max_size=700).map(str.encode), st.sampled_from([p for p in PACK.values() if p[0] != "identity"]))
def test_decoded_always(text: bytes, packing: tuple[str, Callable[[bytes], bytes]]) -> None:
    label, pack = packing
    if label:
        assert decode_body(Body(pack(text), label)) == text


@packings
@pytest.mark.parametrize("text", [TEXT, b'{"a": 1}', b"event: x\ndata: y\n\n", b" <html>", b"[1]", b": ping\n\n"])
def test_a_label_that_stayed_after_decoding(label: str, pack: Callable[[bytes], bytes], text: bytes) -> None:
    assert decode_body(Body(text, label)) == text
    assert detect_encoding(text, label) == ""


@pytest.mark.parametrize("label", ["", "br", "deflate", "gzip", "zstd", "unheard-of"])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_wrong_label(label: str, pack: Callable[[bytes], bytes]) -> None:
    assert decode_body(Body(pack(TEXT), label)) == TEXT


@pytest.mark.parametrize(
    ("raw", "header", "found"),
    [
        (gzip.compress(TEXT), "", "gzip"),
        (gzip.compress(TEXT), "br, X-gzip", "br, gzip"),
        (zstandard.compress(TEXT), "gzip", "zstd"),
        (brotli.compress(TEXT, quality=4), "br", "br"),
        (zlib.compress(TEXT), "deflate", "deflate"),
        (TEXT, "gzip, br", ""),
        (b"", "gzip", ""),
        (b"\x1f", "gzip", "gzip"),
        (b"\x01\x02", "gzip", ""),
    ],
    ids=lambda v: v if isinstance(v, str) else f"{len(v)} bytes",  # compressed bytes hold the time
)
def test_detect_encoding(raw: bytes, header: str, found: str) -> None:
    assert detect_encoding(raw, header) == found


@pytest.mark.parametrize("name", ["gzip", "zlib", "bare deflate", "brotli", "zstd stream", "list"])
def test_a_cut_body_gives_what_is_there(name: str) -> None:
    label, pack = PACK[name]
    packed = pack(TEXT)
    for keep in (len(packed) - 1, len(packed) * 2 // 3):
        body = Body(packed[:keep], label)
        decoded, problem = decode_partial(body)
        assert decoded
        assert TEXT.startswith(decoded)
        assert "body is truncated after" in problem
        with pytest.raises(WireError, match="body is truncated after") as caught:
            decode_body(body)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "label", "problem"),
    [
        (gzip.compress(TEXT)[:10] + b"\xff" * 50, "gzip", "gzip body is corrupt (invalid block type) after 0"),
        (gzip.compress(TEXT)[:-8] + b"\0" * 8, "gzip", "gzip body is corrupt (incorrect data check) after"),
        (b"\x28\xb5\x2f\xfd" + b"\xff" * 50, "zstd", "zstd body is corrupt"),
        (b"\xff" * 50, "br", "br body is corrupt after 0"),
        (b"\xff" * 50, "deflate", "deflate body is corrupt"),
        (b"\xff", "x-pack", "unknown content encoding 'x-pack'"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_broken_body_is_one_line(raw: bytes, label: str, problem: str) -> None:
    decoded, found = decode_partial(Body(raw, label))
    assert found.startswith(problem)
    assert "\n" not in found
    assert decoded in (raw, TEXT[: len(decoded)])
    with pytest.raises(WireError):
        decode_body(Body(raw, label))


@given(
    st.binary(max_size=60), st.sampled_from(["", "gzip", "br", "deflate", "zstd", "br,gzip", ",", "Ä"]), st.booleans()
)
def test_any_bytes_are_decoded_or_refused(raw: bytes, label: str, magic: bool) -> None:
    if magic:
        raw = {"gzip": b"\x1f\x8b\x08", "zstd": b"\x28\xb5\x2f\xfd"}.get(label, b"\x78\x9c") + raw
    decoded, problem = decode_partial(Body(raw, label))
    try:
        assert decode_body(Body(raw, label)) == decoded
    except WireError as error:
        assert error.what == problem
    detect_encoding(raw, label)


@pytest.mark.parametrize("name", ["gzip", "zlib", "brotli", "zstd", "zstd stream", "list"])
def test_a_bomb_stops_at_the_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MAX_DECODED_BODY", 1_000_000)
    label, pack = PACK[name]
    decoded, problem = decode_partial(Body(pack(b"\0" * 20_000_000), label))
    assert decoded == b"\0" * 1_000_000
    assert "exceeds 1,000,000 bytes" in problem
    assert decode_partial(Body(pack(b"\0" * 1_000_000), label)) == (b"\0" * 1_000_000, "")


def test_many_members_are_read_one_after_the_other() -> None:
    assert decode_body(Body(gzip.compress(b"a") * 5_000, "gzip")) == b"a" * 5_000
    assert decode_body(Body(zstandard.compress(b"a") * 5_000, "zstd")) == b"a" * 5_000


def test_codings_inside_one_another_are_counted() -> None:
    """Each of them may grow to the limit: the time for a body would be as long as its header."""
    raw = b'{"a": 1}'
    for count in range(1, 20):
        raw = gzip.compress(raw)
        decoded, problem = decode_partial(Body(raw, ", ".join(["gzip"] * count)))
        assert (decoded, problem) == (
            (b'{"a": 1}', "")
            if count <= MAX_CODINGS
            else (raw, f"{count} nested content encodings; at most {MAX_CODINGS} are decoded")
        )
