"""Media: acceptance and perception of a picture in a tool result.

``media_in_results``: ``seen``, ``ignored``, ``refused``, ``unsayable`` (the protocol has no pictures in results).
"""

from __future__ import annotations

import base64
import struct
import zlib

from workbench.ir import Media, Text
from workbench.probes._drive import PlayedConversation, drive, follow, without_call
from workbench.probes._script import Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ECHO, Toolbox
from workbench.send.loop import CallResult, EndReason, Limits

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
SIDE = 64
"""Pixels: some endpoints refuse smaller pictures."""


def script(subject: Subject) -> Script:
    """A call whose result is a picture of one colour, in two colours in turn: one could be guessed."""
    if "image" not in subject.adapter.capabilities.media.in_results:
        return unclear(f"{subject.protocol} does not support images in tool results", media_in_results="unsayable")
    words = (
        f"Call probe_echo with the text {subject.nonce}. Its result is a picture of one colour: red, green or blue. "
        "Then answer with the name of that colour alone."
    )
    box = Toolbox(subject.nonce)
    request = subject.request(words, (ECHO,))
    first = yield from drive(subject, request, "a call whose result is an image", box.run, limits=Limits(1))
    if not first.calls:
        return (yield from without_call(subject, first))
    order = sorted(COLOURS, key=lambda name: zlib.crc32(f"{subject.nonce}{name}".encode()))
    seen: list[bool] = []
    for colour in order[:2]:
        result = CallResult(parts=(Text("The picture:"), Media("image", "image/png", data=png(colour))))
        played = yield from follow(first.before_results(), "a picture", lambda _, result=result: result)  # type: ignore[misc]
        if played.is_refused:
            return (yield from _test_refusal(first, box, played))
        if played.ended.reason is EndReason.DONE and played.is_cut:
            return unclear("the response reached the token limit")
        response_text = played.text().lower()
        seen.append([name for name in COLOURS if name in response_text] == [colour])
    return evaluate(seen)


def _test_refusal(first: PlayedConversation, box: Toolbox, conversation: PlayedConversation) -> Script:
    """Check whether the picture causes the refusal."""
    plain = yield from follow(first.before_results(), "a text result instead of the image", box.run)
    if plain.is_refused:
        return unclear(f"a text result is also refused: {plain.ended.text}")
    return failed(f"an image in a tool result is refused: {conversation.ended.text}", media_in_results="refused")


def evaluate(seen: list[bool]) -> Sample:
    """Verdict from the answers about the pictures."""
    if all(seen):
        return passed("the model sees images in tool results", media_in_results="seen")
    return partly("an image in a tool result is accepted, but the model does not see it", media_in_results="ignored")


def png(colour: str) -> str:
    """A picture of one colour, as base64 text."""
    row = b"\0" + bytes(COLOURS[colour]) * SIDE
    pieces = (
        (b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * SIDE, 9)),
        (b"IEND", b""),
    )
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in pieces)
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


probe = Probe("media", "does the model see images in tool results?", 4, script, tokens=2000)
