"""Context: memory of the beginning of a long history, and silent trimming.

``context``: ``{"kept": tokens, "tried": tokens, "trimming": "none" | "silent" | "refused"}``; tokens are estimated.
"""

from __future__ import annotations

from collections.abc import Generator

from workbench.ir import JsonValue, Message, Text
from workbench.limits import BYTES_PER_TOKEN
from workbench.probes._drive import drive
from workbench.probes._script import Ask, Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import Toolbox
from workbench.probes.large_results import LINE
from workbench.send.loop import Limits
from workbench.wire import Exchange

SIZES = (1_000, 4_000, 16_000)
"""Estimated tokens of a history, around the default limits of small servers."""

TURN = 4_000
"""Bytes of one message of the history."""


def script(subject: Subject) -> Script:
    """A codeword, a history, and a question for the codeword."""
    largest_kept = largest_tried = 0
    trimming = "none"
    why = ""
    for size in SIZES:
        request = subject.request("What is the codeword? Answer with it alone.", messages=history(subject.nonce, size))
        title = f"a history of about {size:,} tokens"
        played = yield from drive(subject, request, title, Toolbox(subject.nonce).run, limits=Limits(1))
        largest_tried = size
        if played.is_refused:
            trimming, why = "refused", f"a history of about {size:,} tokens is refused: {played.ended.text}"
            break
        if subject.nonce not in played.text():
            if played.is_cut:
                return unclear("the response reached the token limit")
            trimming, why = "silent", f"a history of about {size:,} tokens is silently truncated at its beginning"
            if not largest_kept and not (yield from _is_known_at_once(subject)):
                return unclear(
                    "the model does not repeat the codeword without a history either, so the probe is inconclusive"
                )
            break
        largest_kept = size
    return evaluate({"kept": largest_kept, "tried": largest_tried, "trimming": trimming}, why)


def _is_known_at_once(subject: Subject) -> Generator[Ask, Exchange, bool]:
    """The model repeats the codeword without a history in between."""
    request = subject.request("What is the codeword? Answer with it alone.", messages=history(subject.nonce, 0))
    played = yield from drive(subject, request, "no history", Toolbox(subject.nonce).run, limits=Limits(1))
    return subject.nonce in played.text()


def history(nonce: str, size: int) -> tuple[Message, ...]:
    """Messages with about this many tokens, and the codeword in the first."""
    messages = [Message("user", (Text(f"The codeword is {nonce}. Keep it in mind, and say ok."),)), _ok()]
    for remaining_bytes in range(size * BYTES_PER_TOKEN, 0, -TURN):
        text = (LINE * (TURN // len(LINE) + 1))[: min(remaining_bytes, TURN)]
        messages += [Message("user", (Text(f"Read this, and say ok.\n{text}"),)), _ok()]
    return tuple(messages)


def _ok() -> Message:
    return Message("assistant", (Text("ok"),))


def evaluate(found: dict[str, JsonValue], why: str) -> Sample:
    """Verdict from the sizes and the kind of trimming."""
    if not why:
        return passed(f"after about {found['kept']:,} tokens, the model still knows the beginning", context=found)
    if not found["kept"]:
        refused = found["trimming"] == "refused"
        return unclear(why, context=found) if refused else failed(why, context=found)
    return partly(f"about {found['kept']:,} tokens are kept; {why}", context=found)


probe = Probe("context", "does the model know the beginning of a long history?", len(SIZES) + 1, script, tokens=24_000)
